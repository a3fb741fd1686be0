//! Every file that is a projection of the source: rendered here, written and compared by `generate`.
//!
//! Rendering is pure and deterministic: no clock, no environment, no checkout, no width of a terminal.

pub mod commands;
pub mod contract;
pub mod markdown;
pub mod pages;

use super::commands::{completions, man};
use super::report::Failure;
use crate::clients;
use crate::registry::catalog::Registry;

/// One generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Where it is, from the root of the source tree.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Renders every generated file, in the order of their paths.
///
/// # Errors
/// When a projection cannot be made.
pub fn files(registry: &Registry) -> Result<Vec<Generated>, Failure> {
    let mut files = vec![
        generated("docs/reference/openapi.json", pages::openapi(registry)),
        generated("docs/reference/tools.json", pages::tools(registry)),
        generated(
            "docs/reference/capabilities.md",
            pages::capabilities(registry),
        ),
        generated("docs/reference/cli.md", commands::page()),
        generated("docs/reference/environment.md", pages::environment()),
        generated("docs/reference/errors.md", pages::errors()),
        generated("docs/reference/exit-codes.md", pages::exit_codes()),
        generated("docs/reference/limits.md", pages::limits()),
        generated("docs/reference/README.md", pages::index()),
    ];
    for (shell, name) in completions::SHELLS {
        files.push(generated(
            &format!("share/completions/{name}"),
            completions::script(*shell),
        ));
    }
    for (name, text) in man::pages() {
        files.push(generated(&format!("share/man/{name}"), text));
    }
    for file in clients::launcher::files() {
        files.push(generated(file.path, file.text));
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn generated(path: &str, text: String) -> Generated {
    Generated {
        path: path.to_owned(),
        text,
    }
}
