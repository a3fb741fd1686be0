//! The pages of the reference.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::markdown::{self, code, table};
use crate::cli::report::Exit;
use crate::cli::settings::{Reader, VARIABLES};
use crate::floor::limits;
use crate::http::problem;
use crate::registry::call::RefusalCode;
use crate::registry::capability::Capability;
use crate::registry::catalog::Registry;

/// `openapi.json`.
#[must_use]
pub fn openapi(registry: &Registry) -> String {
    format!("{:#}\n", registry.openapi(&super::contract::about()))
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
        ("capabilities.md", "everything that the server can do, and under which names"),
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

/// `capabilities.md`: the exposure table, then each capability.
#[must_use]
pub fn capabilities(registry: &Registry) -> String {
    let mut text = markdown::page(
        "Capabilities",
        "One typed declaration each; tools, resources, routes and commands are projections of it. \
         The kind decides the method: `query` and `resource` are read (GET), `command` changes something (POST). \
         The retry class says what a resend after the owner's death does.",
    );
    let rows: Vec<Vec<String>> = registry.all().iter().map(exposure_row).collect();
    text.push_str(&table(
        &["id", "kind", "retry", "tool", "resource", "route", "CLI"],
        &rows,
    ));
    for capability in registry.all() {
        text.push_str(&capability_section(capability));
    }
    text.trim_end().to_owned() + "\n"
}

fn exposure_row(capability: &Capability) -> Vec<String> {
    let exposure = &capability.exposure;
    let route = exposure
        .route
        .map(|route| format!("{} {route}", capability.kind.method()));
    let words = exposure
        .cli
        .map(|words| format!("majordomus {}", words.join(" ")));
    vec![
        format!("[`{}`](#{})", capability.id, anchor(capability.id)),
        capability.kind.as_str().to_owned(),
        capability.retry.as_str().to_owned(),
        code(exposure.tool),
        code(exposure.resource),
        code(route.as_deref()),
        code(words.as_deref()),
    ]
}

/// How Markdown readers name the heading of an id.
fn anchor(id: &str) -> String {
    id.chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_')
        .collect::<String>()
        .to_lowercase()
}

fn capability_section(capability: &Capability) -> String {
    let mut text = format!(
        "## {}\n\n**{}.** {}\n\n",
        capability.id, capability.title, capability.description
    );
    for (title, schema) in [("Input", &capability.input), ("Output", &capability.output)] {
        let _ = write!(text, "{title}:\n\n");
        text.push_str(&markdown::block("json", &format!("{schema:#}")));
    }
    for example in &capability.examples {
        let _ = write!(text, "Example, {}:\n\n", lower_first(example.title));
        text.push_str(&markdown::block("json", &format!("{:#}", example.arguments)));
    }
    text
}

fn lower_first(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().collect::<String>() + chars.as_str()
    })
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
    text.push_str(&table(&["variable", "read by", "effect", "without it"], &rows));
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
        .map(|(word, status, title)| {
            vec![code(Some(word)), status.to_string(), title.to_owned()]
        })
        .collect();
    text.push_str(&table(&["code", "status", "title"], &rows));
    text.trim_end().to_owned() + "\n"
}

/// What `tools/list` costs a model, as JSON bytes and as tokens of four bytes (I10).
#[must_use]
pub fn tool_cost(registry: &Registry) -> (usize, usize) {
    let bytes = Value::from(registry.tools()).to_string().len();
    (bytes, bytes.div_ceil(4))
}

#[cfg(test)]
mod tests {
    use super::{anchor, lower_first};

    #[test]
    fn anchors_are_those_of_markdown_readers() {
        assert_eq!(anchor("peers.list"), "peerslist");
    }

    #[test]
    fn a_title_begins_in_lower_case_inside_a_sentence() {
        assert_eq!(lower_first("Who is here"), "who is here");
        assert_eq!(lower_first(""), "");
    }
}
