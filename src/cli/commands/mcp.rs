//! `majordomus mcp`: one client's server on standard input and output.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli::commands::capabilities;
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::reference::contract;
use crate::cli::report::{Exit, Outcome};
use crate::cli::screen::{Mark, Screen, clean, columns};
use crate::cli::serving::{self, Wanted};
use crate::floor::paths::Site;
use crate::host;
use crate::http::Auth;
use crate::registry::catalog::Registry;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print what would be served, and go: no port, no lease, nothing written
    #[arg(long, conflicts_with_all = ["standalone", "port", "conformance"])]
    pub inspect: bool,

    /// Serve this client alone: no port, no lease, no peers, nothing written
    #[arg(long, conflicts_with = "port")]
    pub standalone: bool,

    /// Serve at this port, in place of the checkout's own
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,

    /// Serve the fixtures of the protocol's conformance suite as well
    #[arg(long, hide = true)]
    pub conformance: bool,

    /// With `--inspect`: print one JSON value
    #[arg(long, requires = "inspect")]
    pub json: bool,
}

/// Serves, or inspects.
///
/// # Errors
/// When nothing can be served at all.
pub fn run(args: &Args, context: &Context) -> Outcome {
    if args.inspect {
        return inspect(args, context);
    }
    let settings = serving::settings(
        context,
        Wanted {
            port: args.port,
            auth: Auth::Bearer,
            standalone: args.standalone,
            conformance: args.conformance,
        },
    )?;
    match host::run(&settings) {
        Ok(end) => serving::finish(end),
        Err(error) => Err((&error).into()),
    }
}

fn inspect(args: &Args, context: &Context) -> Outcome {
    let site = context.site()?;
    let registry = offline::registry(site.as_ref())?;
    let violations = contract::violations(&registry);
    if args.json {
        context
            .screen
            .json(&value(site.as_ref(), &registry, &violations))?;
    } else {
        let text = render(site.as_ref(), &registry, &violations, context.screen);
        context.screen.print(&text)?;
    }
    Ok(if violations.is_empty() {
        Exit::Done
    } else {
        Exit::Contract
    })
}

fn preferred_url(site: &Site) -> String {
    format!("http://127.0.0.1:{}", host::preferred_port(site))
}

fn value(site: Option<&Site>, registry: &Registry, violations: &[String]) -> Value {
    let list: Vec<Value> = registry.all().iter().map(capabilities::brief).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "registry": **registry.digest(),
        "checkout": site.map(Site::name),
        "preferred_url": site.map(preferred_url),
        "tools": registry.tools(),
        "tool_tokens": registry.tokens(),
        "resources": registry.resources(),
        "resource_templates": registry.templates(),
        "capabilities": list,
        "diagnostics": violations,
    })
}

fn render(
    site: Option<&Site>,
    registry: &Registry,
    violations: &[String],
    screen: Screen,
) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let checkout = site.map_or_else(
        || "no checkout: this client would be served alone".to_owned(),
        |site| format!("checkout {} · {}", clean(&site.name()), preferred_url(site)),
    );
    let _ = writeln!(
        text,
        "majordomus {} · {checkout}",
        env!("CARGO_PKG_VERSION")
    );
    let _ = writeln!(
        text,
        "tools/list: {} tools, about {} tokens\n",
        registry.tools().len(),
        registry.tokens()
    );
    let _ = writeln!(text, "{}", screen.mark(Mark::Bold, "capabilities"));
    text.push_str(&columns(&capabilities::rows(registry.all())));
    let _ = writeln!(text, "\n{}", screen.mark(Mark::Bold, "diagnostics"));
    for violation in violations {
        let _ = writeln!(text, "{}: {violation}", screen.mark(Mark::Red, "error"));
    }
    if violations.is_empty() {
        text.push_str("none\n");
    }
    text
}
