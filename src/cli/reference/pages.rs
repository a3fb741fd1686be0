//! The pages of the reference.

use std::fmt::Write as _;

use serde_json::json;

use super::markdown::{self, code, table};
use crate::bridge::alone::Alone;
use crate::cli::report::{Exit, failures};
use crate::cli::settings::{Reader, VARIABLES};
use crate::floor::jsonrpc::faults;
use crate::floor::{gaps, limits};
use crate::http::problem::{self, causes};
use crate::mcp::{ErrorCode, Revision, failure};
use crate::registry::call::RefusalCode;
use crate::registry::catalog::Registry;
use crate::registry::refusal;

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
        "What the source declares, page by page.\n`majordomus generate --check` fails when one of them is stale.",
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
        "One typed declaration each; tools, resources, routes and commands are projections of it.\n\
         The kind decides the method: `query` and `resource` are read (GET), `command` changes something (POST).\n\
         The retry class says what a resend after the owner's death does.",
    );
    format!("{text}{}\n", body.trim_end())
}

/// `environment.md`.
#[must_use]
pub fn environment() -> String {
    let mut text = markdown::page(
        "Environment",
        "Every variable that is read, declared once in the source.\nAn empty value counts as unset.",
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
        "A call that is refused carries a machine word, the same on every transport.\n\
         Over MCP it is a tool result with `isError`, over HTTP a problem (RFC 9457) with `code`, \
         on the command line `error: …` and an exit code.\n\
         A request that reaches no capability is answered with a code of its transport.\n\
         Each comes with a hint: its own, or else the one that stands here.",
    );
    text.push_str("## Refused calls\n\n");
    let rows: Vec<Vec<String>> = RefusalCode::ALL
        .iter()
        .map(|refusal| {
            vec![
                code(Some(refusal.as_str())),
                refusal.meaning().to_owned(),
                refusal.hint().to_owned(),
                Exit::of(*refusal).code().to_string(),
            ]
        })
        .collect();
    text.push_str(&table(&["code", "meaning", "hint", "exit"], &rows));
    text.push_str("`…` stands for what only the moment knows; a hint then names it too.\n\n");
    let rows: Vec<Vec<String>> = refusal::ALL
        .iter()
        .map(|reason| {
            let word = code(Some(reason.code().as_str()));
            vec![word, reason.text().to_owned(), reason.hint().to_owned()]
        })
        .collect();
    text.push_str(&table(&["code", "text", "hint"], &rows));
    text.push_str("## JSON-RPC\n\n");
    let rows: Vec<Vec<String>> = ErrorCode::ALL.iter().map(|each| json_rpc(*each)).collect();
    text.push_str(&table(&["code", "meaning", "hint"], &rows));
    let frames = faults::ALL.iter().map(|fault| {
        let number = (fault.code() as i64).to_string();
        vec![number, fault.text().to_owned(), fault.hint().to_owned()]
    });
    let rows: Vec<Vec<String>> = frames
        .chain(failure::ALL.iter().map(|fault| {
            let number = json_rpc(fault.code()).swap_remove(0);
            // The hint of a text that has its own on a second line is not said twice.
            let said = fault.text().lines().next().unwrap_or_default();
            vec![number, said.to_owned(), fault.hint().to_owned()]
        }))
        .collect();
    text.push_str(&table(&["code", "text", "hint"], &rows));
    text.push_str("## HTTP\n\n");
    let rows: Vec<Vec<String>> = problem::table()
        .map(|(word, status, title, hint)| {
            vec![
                code(Some(word)),
                status.to_string(),
                title.to_owned(),
                hint.to_owned(),
            ]
        })
        .collect();
    text.push_str(&table(&["code", "status", "title", "hint"], &rows));
    let rows: Vec<Vec<String>> = causes::ALL
        .iter()
        .map(|cause| {
            let word = code(Some(cause.code().as_str()));
            vec![word, cause.text().to_owned(), cause.hint().to_owned()]
        })
        .collect();
    text.push_str(&table(&["code", "text", "hint"], &rows));
    text.push_str("## Commands\n\n");
    text.push_str("`…` stands for what only the moment knows; a hint then names it too.\n\n");
    let rows: Vec<Vec<String>> = failures::ALL
        .iter()
        // What another table has is passed on as it is.
        .filter(|kind| kind.text() != String::from(gaps::GAP))
        .map(|kind| {
            let exit = kind.exit().code().to_string();
            vec![exit, kind.text().to_owned(), kind.hint().to_owned()]
        })
        .collect();
    text.push_str(&table(&["exit", "text", "hint"], &rows));
    text.push_str("## Served alone\n\n");
    text.push_str(
        "What `mcp` says on standard error, and in each answer that it gives alone, \
         while its client is not served together with the others.\n\n",
    );
    let rows: Vec<Vec<String>> = Alone::table()
        .map(|(text, hint)| vec![text.to_owned(), hint.to_owned()])
        .collect();
    text.push_str(&table(&["text", "hint"], &rows));
    text.trim_end().to_owned() + "\n"
}

/// One JSON-RPC code, and the other number that an older revision has for it.
fn json_rpc(each: ErrorCode) -> Vec<String> {
    let [oldest, .., newest] = Revision::ALL;
    let number = each.number(newest);
    let older = each.number(oldest);
    let shown = if number == older {
        number.to_string()
    } else {
        format!("{number}; {older} before {}", newest.as_str())
    };
    vec![shown, each.meaning().to_owned(), each.hint().to_owned()]
}
