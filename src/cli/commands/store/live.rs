//! What a server may do for whoever types: the status and the meeting of stores. The checkout's owner is asked first; where
//! there is none, or no checkout, it is done here, under the same locks and with the same answer.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{Doing, NOTHING, print, surroundings};
use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::errand;
use crate::cli::owner::block_on;
use crate::cli::report::{Exit, Failure, Outcome};
use crate::cli::screen::clean;
use crate::floor::clock::now_ms;
use crate::link::handshake;
use crate::stores::error::StoreError;
use crate::stores::last::{Last, Way, keep_troubles};
use crate::stores::place::{Place, Surroundings};

/// The words of the meeting, by which its capability is found.
pub const SYNC: &[&str] = &["store", "sync"];
/// The words of the status.
pub const STATUS: &[&str] = &["store", "status"];

/// What a link carries of where somebody's stores are; nothing where a path is no text.
#[must_use]
pub fn carried(around: &Surroundings) -> Option<handshake::Stores> {
    Some(handshake::Stores {
        data: around.mnemon.to_str()?.to_owned(),
        folder: around.folder.to_str()?.to_owned(),
        host: around.label.clone(),
        state: around.state.to_str()?.to_owned(),
        most: around.most,
    })
}

/// The arguments that say which stores are meant: whoever types has an environment of their own.
fn arguments(store: Option<&str>, around: &Surroundings) -> Result<Map<String, Value>, Failure> {
    let mut arguments = Map::new();
    if let Some(name) = store {
        around.place(name)?;
        arguments.insert("store".to_owned(), name.into());
    }
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    arguments.insert("data".to_owned(), text(&around.mnemon).into());
    arguments.insert("state".to_owned(), text(&around.state).into());
    Ok(arguments)
}

fn asked(
    store: Option<&str>,
    way: Way,
    dry_run: bool,
    around: &Surroundings,
) -> Result<Value, Failure> {
    let mut arguments = arguments(store, around)?;
    let word = match way {
        Way::Import => "import",
        Way::Export => "export",
        Way::Both => "both",
    };
    arguments.insert("direction".to_owned(), word.into());
    arguments.insert("dry_run".to_owned(), dry_run.into());
    arguments.insert("host".to_owned(), around.label.clone().into());
    Ok(Value::Object(arguments))
}

/// Meets the stores, and says what came of it.
pub(super) fn meet(doing: &Doing, way: Way, context: &Context) -> Outcome {
    if let Some(seconds) = doing.hook {
        return Ok(hook(doing, way, Duration::from_secs(seconds), context));
    }
    let around = surroundings(context)?;
    let arguments = asked(doing.which.store.as_deref(), way, doing.dry_run, &around)?;
    let site = context.site()?;
    let answer = block_on(errand::ask_or_do_anywhere(SYNC, &arguments, site.as_ref()))?;
    let stores = list(&answer, "stores");
    let text = if stores.is_empty() {
        NOTHING.to_owned()
    } else {
        stores
            .iter()
            .map(|report| sentence(report, doing.dry_run))
            .collect()
    };
    print(&answer, &text, doing.which.form, context)?;
    let in_trouble = stores
        .iter()
        .any(|report| !list(report, "troubles").is_empty());
    Ok(if in_trouble { Exit::Failed } else { Exit::Done })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let found = value.get(key).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn sentence(report: &Value, dry_run: bool) -> String {
    let would = if dry_run { " (nothing was done)" } else { "" };
    let number = |key: &str| report.get(key).and_then(Value::as_u64).unwrap_or_default();
    let mut text = format!(
        "{}: {} changed here, {} taken in, {} written, {} sent{would}\n",
        word(report, "store"),
        number("changed_here"),
        number("taken_in"),
        number("written"),
        number("sent")
    );
    if report.get("restored") == Some(&Value::Bool(true)) {
        text.push_str("  a backup stands in its place: what differs there is no edit\n");
    }
    append(&mut text, list(report, "troubles"), "");
    text
}

/// A line for each trouble.
fn append(text: &mut String, troubles: &[Value], before: &str) {
    for trouble in troubles {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {before}{}", trouble.as_str().unwrap_or_default());
    }
}

/// Says what is known of the stores.
pub(super) fn tell(store: Option<&str>, form: Json, context: &Context) -> Outcome {
    let around = surroundings(context)?;
    let mut arguments = arguments(store, &around)?;
    if let Some(most) = around.most {
        arguments.insert("most".to_owned(), most.into());
    }
    let arguments = Value::Object(arguments);
    let site = context.site()?;
    let answer = block_on(errand::ask_or_do_anywhere(
        STATUS,
        &arguments,
        site.as_ref(),
    ))?;
    let mut text = String::new();
    for one in list(&answer, "stores") {
        let number = |key: &str| one.get(key).and_then(Value::as_u64).unwrap_or_default();
        let _ = writeln!(
            text,
            "{}: {} insights, {} edges; {} to send, {} waiting; {}",
            word(one, "store"),
            number("insights"),
            number("edges"),
            number("unsent"),
            number("waiting"),
            one.get("git")
                .and_then(Value::as_str)
                .unwrap_or(word(one, "folder"))
        );
        for peer in list(one, "peers") {
            let _ = writeln!(text, "  {} ({})", word(peer, "label"), word(peer, "device"));
        }
        append(&mut text, list(one, "troubles"), "");
        append(&mut text, list(one, "advice"), "");
        for way in ["import", "export"] {
            if let Some(run) = one.get("last").and_then(|last| last.get(way)) {
                append(
                    &mut text,
                    list(run, "troubles"),
                    &format!("the last {way}: "),
                );
            }
        }
    }
    if text.is_empty() {
        NOTHING.clone_into(&mut text);
    }
    print(&answer, &text, form, context)
}

/// Meets the stores within a time, as a client's hook: without a word, and it always ends well. What was in the way is kept,
/// and said in one line when the next session starts. A client takes what a hook prints for an order or shows it to nobody;
/// a `systemMessage` is what both clients show to their person.
fn hook(doing: &Doing, way: Way, bound: Duration, context: &Context) -> Exit {
    let Ok(around) = surroundings(context) else {
        return Exit::Done;
    };
    let mut places = around.enabled();
    if let Some(name) = &doing.which.store {
        places.retain(|place| place.name == *name);
    }
    if places.is_empty() {
        return Exit::Done;
    }
    let met = asked(doing.which.store.as_deref(), way, false, &around).and_then(|arguments| {
        let site = context.site().unwrap_or_default();
        block_on(async {
            let meeting = errand::ask_or_do_anywhere(SYNC, &arguments, site.as_ref());
            Ok(timeout(bound, meeting).await.ok())
        })
    });
    let trouble = match met {
        Ok(Some(Ok(_))) => None,
        Ok(Some(Err(failure))) if is_elsewhere(&failure, &places) => None,
        Ok(Some(Err(failure))) | Err(failure) => Some(failure.causes.join("; ")),
        Ok(None) => Some(format!("not done within {} s", bound.as_secs())),
    };
    if let Some(trouble) = trouble {
        for place in &places {
            keep_troubles(place, way, vec![trouble.clone()], true, now_ms());
        }
    }
    if way.imports()
        && let Some(line) = said(&places)
    {
        let message = json!({ "systemMessage": line });
        // Nobody can be told that nobody can be told.
        drop(context.screen.print(&format!("{message}\n")));
    }
    Exit::Done
}

/// Whether all that happened is that another process is at a store.
fn is_elsewhere(failure: &Failure, places: &[Place]) -> bool {
    let mut busy = places
        .iter()
        .map(|place| StoreError::Busy(place.name.clone()).to_string());
    busy.any(|busy| failure.causes.contains(&busy))
}

/// One line of what was in the way of the last runs.
fn said(places: &[Place]) -> Option<String> {
    let troubles: Vec<String> = places
        .iter()
        .flat_map(|place| {
            let last = Last::of(place);
            let each = last.troubles().map(|(way, trouble)| {
                format!(
                    "the last {way} of the store {}: {}",
                    place.name,
                    clean(trouble)
                )
            });
            each.collect::<Vec<_>>()
        })
        .collect();
    let first = troubles.first()?;
    let more = match troubles.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!(
        "majordomus: {first}{more} (majordomus store status)"
    ))
}

/// A store that is enabled for whoever types, and which of its last runs were in trouble.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub store: String,
    /// `import` and `export`.
    pub in_trouble: Vec<&'static str>,
}

/// The stores that are enabled, for what else is told of a machine; no store is opened.
#[must_use]
pub fn rows(context: &Context) -> Vec<Row> {
    let places = surroundings(context).map(|around| around.enabled());
    let row = |place: Place| {
        let last = Last::of(&place);
        let mut in_trouble: Vec<_> = last.troubles().map(|(way, _)| way).collect();
        in_trouble.dedup();
        Row {
            store: place.name,
            in_trouble,
        }
    };
    places.unwrap_or_default().into_iter().map(row).collect()
}
