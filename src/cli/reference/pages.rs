//! The pages of the reference.

use std::fmt::Write as _;

use serde_json::json;

use super::markdown::{self, code, table};
use crate::cli::report::Exit;
use crate::cli::settings::{Reader, VARIABLES};
use crate::floor::limits;
use crate::http::problem;
use crate::registry::call::RefusalCode;
use crate::registry::catalog::Registry;

/// `openapi.json`.
#[must_use]
pub fn openapi(registry: &Registry) -> String {
    format!("{:#}\n", super::contract::openapi_document(registry))
}

/// `tools.json`: the answer to `tools/list`.
#[must_use]
pub fn tools(registry: &Registry) -> String {
    format!("{:#}\n", json!({ "tools": registry.tools() }))
}

/// `README.md` of the reference.
#[must_use]
pub fn index() -> String {
    let mut text = markdown::page(
        "Reference",
        "What the source declares, page by page. `majordomus generate --check` fails when one of them is stale.",
    );
    for (file, what) in [
        (
            "capabilities.md",
            "everything that the server can do, and under which names",
        ),
        ("cli.md", "the command line"),
        ("environment.md", "every environment variable"),
        ("errors.md", "every error code, on every transport"),
        ("exit-codes.md", "how a command ends"),
        ("limits.md", "every bound, and what happens past it"),
        ("openapi.json", "the HTTP API, OpenAPI 3.1"),
        ("tools.json", "the tools as a model sees them"),
    ] {
        let _ = writeln!(text, "- [{file}]({file}): {what}.");
    }
    text
}

/// `capabilities.md`: the exposure table, then each capability, as the registry tells it.
#[must_use]
pub fn capabilities(registry: &Registry) -> String {
    let told = registry.reference();
    let body = told.split_once("\n\n").map_or("", |(_, body)| body);
    let text = markdown::page(
        "Capabilities",
        "One typed declaration each; tools, resources, routes and commands are projections of it. \
         The kind decides the method: `query` and `resource` are read (GET), `command` changes something (POST). \
         The retry class says what a resend after the owner's death does.",
    );
    format!("{text}{}\n", body.trim_end())
}

/// `environment.md`.
#[must_use]
pub fn environment() -> String {
    let mut text = markdown::page(
        "Environment",
        "Every variable that is read, declared once in the source. An empty value counts as unset.",
    );
    let rows: Vec<Vec<String>> = VARIABLES
        .iter()
        .map(|variable| {
            let reader = match variable.reader {
                Reader::Executable => "`majordomus`",
                Reader::Launcher => "`bin/majordomus-mcp`",
            };
            vec![
                code(Some(variable.name)),
                reader.to_owned(),
                variable.effect.to_owned(),
                variable.default.to_owned(),
            ]
        })
        .collect();
    text.push_str(&table(
        &["variable", "read by", "effect", "without it"],
        &rows,
    ));
    text.trim_end().to_owned() + "\n"
}

/// `exit-codes.md`.
#[must_use]
pub fn exit_codes() -> String {
    let mut text = markdown::page("Exit codes", "The same for every command.");
    let rows: Vec<Vec<String>> = Exit::ALL
        .iter()
        .map(|exit| vec![exit.code().to_string(), exit.meaning().to_owned()])
        .collect();
    text.push_str(&table(&["code", "meaning"], &rows));
    text.push_str(
        "`mcp` and `serve` that end by a signal die of that signal, so a shell shows 128 and its number.\n",
    );
    text
}

/// `limits.md`.
#[must_use]
pub fn limits() -> String {
    let mut text = markdown::page(
        "Limits",
        "Input and output are bounded everywhere, identically on standard input and over HTTP.",
    );
    let rows: Vec<Vec<String>> = limits::TABLE
        .iter()
        .map(|limit| {
            [limit.what, limit.bound, limit.past]
                .map(str::to_owned)
                .to_vec()
        })
        .collect();
    text.push_str(&table(&["what", "bound", "past it"], &rows));
    text.trim_end().to_owned() + "\n"
}

/// `errors.md`.
#[must_use]
pub fn errors() -> String {
    let mut text = markdown::page(
        "Errors",
        "A call that is refused carries a machine word, the same on every transport: \
         `isError` with the word over MCP, problem+json (RFC 9457) with `code` over HTTP, \
         `error: …` and an exit code on the command line.",
    );
    let rows: Vec<Vec<String>> = RefusalCode::ALL
        .iter()
        .map(|refusal| {
            vec![
                code(Some(refusal.as_str())),
                Exit::of(*refusal).code().to_string(),
            ]
        })
        .collect();
    text.push_str("## Refused calls\n\n");
    text.push_str(&table(&["code", "exit"], &rows));
    text.push_str("## HTTP\n\n");
    let rows: Vec<Vec<String>> = problem::table()
        .map(|(word, status, title)| vec![code(Some(word)), status.to_string(), title.to_owned()])
        .collect();
    text.push_str(&table(&["code", "status", "title"], &rows));
    text.trim_end().to_owned() + "\n"
}
