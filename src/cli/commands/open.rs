//! `majordomus open [docs]`: a page of the server in a browser, signed in.
//!
//! The one-time code stands in the URL's fragment, which no browser sends. The URL itself reaches the browser through a
//! private redirect file and never as a process argument, which every user of the machine can read (I14).

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::owner::{Owner, block_on};
use crate::cli::report::{Exit, Outcome, failures};
use crate::floor::fs;
use crate::floor::paths::Site;

/// A page of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Page {
    /// The API, to read and to try
    Docs,
}

impl Page {
    /// Its path below the server's root.
    fn path(self) -> &'static str {
        match self {
            Self::Docs => "/docs/",
        }
    }
}

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The page
    #[arg(value_enum, default_value = "docs")]
    pub page: Page,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Opens the page, or prints the file that opens it.
///
/// # Errors
/// When there is no owner to ask, or the redirect file cannot be written.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let (base, code) = block_on(async {
        let mut owner = Owner::reach(&site).await?;
        let code = owner.sign_in_code().await?;
        Ok((owner.base(), code))
    })?;
    let file = page_file(&site);
    let html = redirect(&format!("{base}{}#code={code}", args.page.path()));
    let written = site.place(&file);
    let written = written.and_then(|place| fs::replace(&place, html.as_bytes()));
    written.map_err(|error| {
        let shown = site.shown(&file);
        failures::NOT_WRITTEN
            .fill(&[&shown, &error])
            .hint(format!("ls -ld {shown}"))
    })?;
    let opened = context
        .settings
        .opener()
        .is_some_and(|opener| start(&opener, &file));
    if args.form.json {
        context.screen.json(&json!({
            "page": format!("{base}{}", args.page.path()),
            "file": file.to_string_lossy(),
            "opened": opened,
        }))?;
    } else if opened {
        context
            .screen
            .print(&format!("opened {base}{}\n", args.page.path()))?;
    } else {
        context.screen.print(&format!("{}\n", file.display()))?;
        context
            .screen
            .note("hint: open this file in a browser within two minutes");
    }
    Ok(Exit::Done)
}

/// Where the redirect file of a checkout is.
#[must_use]
pub fn page_file(site: &Site) -> PathBuf {
    site.redirect()
}

/// A page that goes on to `url` at once; `url` is quoted for a script and for HTML.
fn redirect(url: &str) -> String {
    let quoted = Value::from(url).to_string().replace('<', "\\u003c");
    let html = url
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;");
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>majordomus</title>\n<script>location.replace({quoted})</script>\n\
         <p><a href=\"{html}\">Go on to majordomus</a></p>\n"
    )
}

/// Starts the opener on `file`, apart from this terminal; says whether it could be started.
fn start(opener: &Path, file: &Path) -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "a browser needs the user's environment, and is no git"
    )]
    let mut command = std::process::Command::new(opener);
    command
        .process_group(0)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::redirect;

    #[test]
    fn the_redirect_cannot_be_broken_out_of() {
        let html = redirect("http://127.0.0.1:1/docs/#code=\"</script>&");
        assert_eq!(html.matches("</script>").count(), 1);
        assert!(html.contains("&quot;"));
    }
}
