//! `majordomus status`: the checkout's server, or what was found in its place, and every file that it touches.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::cli::absence::Absence;
use crate::cli::arguments::Json;
use crate::cli::commands::open;
use crate::cli::commands::store::live;
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::owner::{Owner, block_on};
use crate::cli::report::{Exit, Failure, Outcome};
use crate::cli::screen::{Mark, Screen, clean, columns};
use crate::floor::paths::{Files, Site};
use crate::lease::document::Reading;
use crate::lease::sign;
use crate::memory::team::Team;

/// The version of the program that runs the command.
const OURS: &str = env!("CARGO_PKG_VERSION");

/// The words of the command, by which its capability is found.
pub const WORDS: &[&str] = &["status"];

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Shows the status; exit 1 when there is no server.
///
/// # Errors
/// Where there is no checkout.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let registry = offline::registry(Some(&site))?;
    let capability = offline::by_words(&registry, WORDS)?;
    let asked = block_on(async {
        let mut owner = match Owner::reach(&site).await {
            Ok(owner) => owner,
            Err(absence) => return Ok(Err(absence)),
        };
        // A server of another build may refuse; what the document says still stands.
        Ok(Ok(owner.call(capability, &json!({})).await.ok()))
    })?;
    let (answer, absence) = match asked {
        Ok(answer) => (answer, None),
        Err(absence) => (None, Some(absence)),
    };
    let mut status = status(&site, answer, absence.as_ref());
    let stores = stores(context);
    if let Value::Object(fields) = &mut status
        && !stores.is_empty()
    {
        fields.insert("stores".to_owned(), stores.into());
    }
    if args.form.json {
        context.screen.json(&status)?;
    } else if let Some(absence) = absence {
        context.screen.print(&render(&status, context.screen))?;
        return Err(Failure::from(absence));
    } else {
        context.screen.print(&render(&status, context.screen))?;
    }
    Ok(if absence_of(&status) {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// The stores that are merged on this machine, and which of their last runs were in trouble.
fn stores(context: &Context) -> Vec<Value> {
    let row = |row: live::Row| json!({ "store": row.store, "in_trouble": row.in_trouble });
    live::rows(context).into_iter().map(row).collect()
}

fn absence_of(status: &Value) -> bool {
    status.get("found").is_some()
}

/// Puts together what the document, the server and the disk say.
fn status(site: &Site, answer: Option<Value>, absence: Option<&Absence>) -> Value {
    let mut status = Map::new();
    let sign = sign::read(site);
    let document = match sign.reading {
        Reading::Document(document) => serde_json::to_value(document).unwrap_or_default(),
        _ => Value::Null,
    };
    let state = absence.map_or("ready", Absence::as_str);
    status.insert("state".to_owned(), state.into());
    status.insert("checkout".to_owned(), site.name().into());
    if let Some(absence) = absence {
        status.insert("found".to_owned(), absence.to_string().into());
        status.insert("hint".to_owned(), absence.hint().into());
    }
    // The server's own words win over the document's, and both are kept whole.
    for source in [Some(document), answer].into_iter().flatten() {
        if let Value::Object(fields) = source {
            for (key, value) in fields {
                if key == "state" && absence.is_some() {
                    status.insert("document_state".to_owned(), value);
                } else {
                    status.insert(key, value);
                }
            }
        }
    }
    let others: Vec<Value> = sign::others(site)
        .into_iter()
        .map(|document| serde_json::to_value(document).unwrap_or_default())
        .collect();
    if !others.is_empty() {
        status.insert("others".to_owned(), others.into());
    }
    let left: Vec<Value> = Team::at(&site.notes_dir(), site.writes())
        .left()
        .iter()
        .map(|left| left.told(&site.shown(&left.path)).into())
        .collect();
    if !left.is_empty() {
        status.insert("left".to_owned(), left.into());
    }
    status.insert("command_version".to_owned(), OURS.into());
    status.insert("files".to_owned(), files(site).into());
    Value::Object(status)
}

/// Every file that a server or a command may touch here (ADR 0006), and whether it is there.
#[must_use]
pub fn files(site: &Site) -> Vec<Value> {
    let beside = |path: PathBuf, suffix: &str| {
        let mut name = path.into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    };
    let list = [
        (site.document(Files::Common), "the lease document"),
        (site.lock(Files::Common), "the lock that the owner holds"),
        (
            site.document(Files::Scope),
            "the document of an owner beside",
        ),
        (site.lock(Files::Scope), "the lock of this scope"),
        (site.log(), "the owner's log"),
        (beside(site.log(), ".1"), "the log before it was rotated"),
        (open::page_file(site), "the last page that `open` made"),
        (
            site.root().join(".ai/local/.gitignore"),
            "keeps all of this out of git",
        ),
        (site.token(), "the checkout's token"),
    ];
    let mut boards = vec![site.board(Files::Common), site.board(Files::Scope)];
    boards.dedup();
    let boards = boards.into_iter().flat_map(|board| {
        [
            (board.clone(), "announcements and once-keys"),
            (beside(board.clone(), "-wal"), "the board's write-ahead log"),
            (beside(board, "-shm"), "the board's index of that log"),
        ]
    });
    list.into_iter()
        .chain(boards)
        .map(|(path, what)| {
            let found = std::fs::symlink_metadata(&path).ok();
            json!({
                "path": site.shown(&path),
                "what": what,
                "exists": found.is_some(),
                "bytes": found.as_ref().map(std::fs::Metadata::len),
                "mode": found.map(|found| format!("{:04o}", found.permissions().mode() & 0o7777)),
            })
        })
        .collect()
}

/// An owner of another scope, who cannot be asked.
fn other(document: &Value) -> Vec<String> {
    let word = |key: &str| clean(document.get(key).and_then(Value::as_str).unwrap_or("-"));
    let pid = document.get("pid").map(Value::to_string);
    vec![
        format!("process {}", pid.unwrap_or_default()),
        word("state"),
        format!("since {}", word("started_at")),
        format!("scope {}", word("scope")),
    ]
}

/// A row for each version that bridges run, where they do not all run the server's.
fn builds(status: &Value) -> Vec<Vec<String>> {
    let builds = status.get("builds").and_then(Value::as_array);
    let builds = builds.map_or(&[][..], Vec::as_slice);
    if builds
        .iter()
        .all(|build| build["version"] == status["version"])
    {
        return Vec::new();
    }
    let row = |build: &Value| {
        let version = clean(build["version"].as_str().unwrap_or_default());
        vec![
            "links of".to_owned(),
            format!("{version}: {}", build["links"]),
        ]
    };
    builds.iter().map(row).collect()
}

fn render(status: &Value, screen: Screen) -> String {
    let mut text = String::new();
    let mut rows = Vec::new();
    for (key, value) in status.as_object().into_iter().flatten() {
        let shown = match value {
            Value::String(words) => clean(words),
            Value::Null | Value::Array(_) | Value::Object(_) => continue,
            other => other.to_string(),
        };
        if matches!(key.as_str(), "schema" | "found" | "hint") {
            continue;
        }
        rows.push(vec![key.replace('_', " "), shown]);
    }
    rows.extend(builds(status));
    let stores = status.get("stores").and_then(Value::as_array);
    rows.extend(stores.into_iter().flatten().map(|store| {
        let name = clean(store["store"].as_str().unwrap_or_default());
        let ways = store["in_trouble"].as_array().into_iter().flatten();
        let ways: Vec<&str> = ways.filter_map(Value::as_str).collect();
        let state = match &*ways.join(" and ") {
            "" => "merged".to_owned(),
            ways => format!("the last {ways} was in trouble: majordomus store status"),
        };
        vec![format!("store {name}"), state]
    }));
    text.push_str(&columns(&rows));
    let others = status.get("others").and_then(Value::as_array);
    let rows: Vec<Vec<String>> = others.into_iter().flatten().map(other).collect();
    if !rows.is_empty() {
        let title = "in other containers or machines, as their documents say";
        let _ = writeln!(text, "\n{}", screen.mark(Mark::Bold, title));
        text.push_str(&columns(&rows));
    }
    let left = status.get("left").and_then(Value::as_array);
    for left in left.into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(text, "\n{}", clean(left));
    }
    let _ = writeln!(text, "\n{}", screen.mark(Mark::Bold, "files"));
    let files = status.get("files").and_then(Value::as_array);
    let rows: Vec<Vec<String>> = files
        .into_iter()
        .flatten()
        .filter(|file| file.get("exists") == Some(&Value::Bool(true)))
        .map(|file| {
            let word = |key: &str| file.get(key).and_then(Value::as_str).unwrap_or_default();
            vec![
                word("mode").to_owned(),
                file.get("bytes").map(Value::to_string).unwrap_or_default(),
                clean(word("path")),
                word("what").to_owned(),
            ]
        })
        .collect();
    if rows.is_empty() {
        text.push_str("none\n");
    }
    text.push_str(&columns(&rows));
    text
}
