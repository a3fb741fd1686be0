//! `majordomus notes promote|reject|forget|supersede|edit`: what becomes of a note that is there.

use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::{CHANGE, WORDS, is_id};
use crate::cli::agree;
use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::errand;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::cli::screen::clean;
use crate::floor::git;
use crate::memory::note::{Kind, Note};

/// What may be typed after `promote`, `reject` and `forget`.
#[derive(Debug, clap::Args)]
pub struct One {
    /// The note
    #[arg(value_name = "ID")]
    pub id: String,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// What may be typed after `supersede`.
#[derive(Debug, clap::Args)]
pub struct Supersede {
    /// The note that holds no more
    #[arg(value_name = "ID")]
    pub id: String,

    /// The note that takes its place
    #[arg(long, value_name = "ID")]
    pub by: String,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// What may be typed after `edit`; nothing but the note opens your editor.
#[derive(Debug, clap::Args)]
pub struct Edit {
    /// The note
    #[arg(value_name = "ID")]
    pub id: String,

    /// The fact in one line
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,

    /// The whole text
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,

    /// How things stand
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,

    /// A word to find it by, in place of those it has; may be given again
    #[arg(long = "tag", value_name = "WORD")]
    pub tags: Vec<String>,

    /// A path or glob that it is about, in place of those it has; may be given again
    #[arg(long = "path", value_name = "PATH")]
    pub paths: Vec<String>,

    /// What was refused as a secret is none
    #[arg(long)]
    pub not_secret: bool,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Does one thing to a note, after it was shown and agreed to.
///
/// # Errors
/// When there is no owner to ask, it refuses, or nobody agrees.
pub(super) fn one(action: &str, question: &str, args: &One, context: &Context) -> Outcome {
    is_id(&args.id)?;
    let shown = errand::run(WORDS, &json!({ "id": args.id }), context)?;
    if !args.form.json {
        context
            .screen
            .print(&super::render(&shown, true, context.screen))?;
    }
    agree(question, args, context)?;
    tell(
        &json!({ "action": action, "id": args.id }),
        args.form,
        context,
    )
}

/// Asks, unless that is answered already.
pub(super) fn agree(question: &str, args: &One, context: &Context) -> Result<(), Failure> {
    if args.yes || agree::agreed(question, context)? {
        return Ok(());
    }
    Err(failures::NOT_CHANGED.fill(&[]))
}

/// Says whose place a note takes.
///
/// # Errors
/// When there is no owner to ask, or it refuses.
pub(super) fn supersede(args: &Supersede, context: &Context) -> Outcome {
    is_id(&args.id)?;
    is_id(&args.by)?;
    let asked = json!({ "action": "supersede", "id": args.id, "by": args.by });
    tell(&asked, args.form, context)
}

/// Corrects a note, as the flags say or as the editor leaves it.
///
/// # Errors
/// When there is no owner to ask, it refuses, or the editor fails.
pub(super) fn edit(args: &Edit, context: &Context) -> Outcome {
    is_id(&args.id)?;
    let mut asked = Map::new();
    let said = [
        ("title", &args.title),
        ("body", &args.body),
        ("status", &args.status),
    ];
    for (name, value) in said {
        if let Some(value) = value {
            asked.insert(name.to_owned(), json!(value));
        }
    }
    for (name, values) in [("tags", &args.tags), ("paths", &args.paths)] {
        if !values.is_empty() {
            asked.insert(name.to_owned(), json!(values));
        }
    }
    if asked.is_empty() {
        return in_editor(args, context);
    }
    let (_, version) = shown(args, context)?;
    send(asked, version, args, context)
}

fn send(mut asked: Map<String, Value>, version: Value, args: &Edit, context: &Context) -> Outcome {
    asked.insert("version".to_owned(), version);
    asked.insert("action".to_owned(), json!("edit"));
    asked.insert("id".to_owned(), json!(args.id));
    asked.insert("not_secret".to_owned(), json!(args.not_secret));
    tell(&Value::Object(asked), args.form, context)
}

fn tell(asked: &Value, form: Json, context: &Context) -> Outcome {
    let answer = errand::run(CHANGE, asked, context)?;
    print(&answer, form, context)?;
    Ok(Exit::Done)
}

/// Prints what came of it.
pub(super) fn print(answer: &Value, form: Json, context: &Context) -> Result<(), Failure> {
    if form.json {
        return context.screen.json(answer);
    }
    let said = answer.pointer("/sync/message").and_then(Value::as_str);
    context
        .screen
        .print(&format!("{}\n", clean(said.unwrap_or_default())))
}

/// Opens a note in a person's editor and sends what they make of it. What they typed outlives every failure.
fn in_editor(args: &Edit, context: &Context) -> Outcome {
    let (before, version) = shown(args, context)?;
    let folder = tempfile::tempdir().map_err(|error| failures::NO_EDITOR.fill(&[&error]))?;
    let file = folder.path().join("note.md");
    let text = before.render();
    std::fs::write(&file, &text).map_err(|error| failures::NO_EDITOR.fill(&[&error]))?;
    // What somebody else changed while the editor was open is merged with it.
    let done = typed(&before, &file, context).and_then(|asked| send(asked, version, args, context));
    done.map_err(|failure| match std::fs::read(&file) {
        Ok(left) if left != text.as_bytes() => failure.kept_in(&folder.keep().join("note.md")),
        _ => failure,
    })
}

/// The note, and the version that this is.
fn shown(args: &Edit, context: &Context) -> Result<(Note, Value), Failure> {
    let shown = errand::run(WORDS, &json!({ "id": args.id }), context)?;
    let shown = &shown["notes"][0];
    Ok((read(shown), shown["version"].clone()))
}

/// What a person's editor makes of the note in a file: the fields that are others afterwards.
fn typed(before: &Note, file: &Path, context: &Context) -> Result<Map<String, Value>, Failure> {
    let site = context.checkout()?;
    let mut asked = git::command(site.root());
    asked.args(["var", "GIT_EDITOR"]);
    if !agree::is_somebody_there() {
        // Git then names no editor that needs a screen, but one that somebody chose.
        asked.env("TERM", "dumb").env_remove("VISUAL");
    }
    let editor = asked
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    if editor.is_empty() {
        return Err(failures::NO_TERMINAL.fill(&[]));
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "an editor needs the user's environment, and is no git"
    )]
    let ended = Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("editor")
        .arg(file)
        .status();
    match ended {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(failures::NO_EDITOR.fill(&[&format!("`{editor}`: {status}")])),
        Err(error) => return Err(failures::NO_EDITOR.fill(&[&error])),
    }
    let bytes = std::fs::read(file).map_err(|error| failures::NO_EDITOR.fill(&[&error]))?;
    let (after, faults) = Note::parse(before.kind, before.id, &bytes);
    if let Some(fault) = faults.first() {
        return Err(failures::UNREAD_EDIT.fill(&[fault]));
    }
    let asked = changed(before, &after);
    if asked.is_empty() {
        return Err(failures::NOT_CHANGED.fill(&[]));
    }
    Ok(asked)
}

/// The fields in which a note is another one afterwards.
fn changed(before: &Note, after: &Note) -> Map<String, Value> {
    let mut asked = Map::new();
    if after.title != before.title {
        asked.insert("title".to_owned(), json!(after.title));
    }
    if after.body != before.body {
        asked.insert("body".to_owned(), json!(after.body));
    }
    if after.status != before.status {
        let status = after.status();
        asked.insert("status".to_owned(), json!(status.as_str()));
    }
    if after.tags != before.tags {
        asked.insert("tags".to_owned(), json!(after.tags));
    }
    if after.paths != before.paths {
        asked.insert("paths".to_owned(), json!(after.paths));
    }
    asked
}

/// A note of an answer, as far as it can be corrected.
fn read(shown: &Value) -> Note {
    let word = |key: &str| shown[key].as_str().unwrap_or_default().to_owned();
    let words = |key: &str| -> Vec<String> {
        let all = shown[key].as_array().map_or(&[][..], Vec::as_slice);
        all.iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let kind = Kind::parse(&word("kind")).unwrap_or(Kind::Memory);
    Note {
        status: word("status").parse().ok(),
        tags: words("tags"),
        paths: words("paths"),
        ..Note::new(
            kind,
            word("id").parse().unwrap_or_default(),
            word("title"),
            word("text"),
        )
    }
}
