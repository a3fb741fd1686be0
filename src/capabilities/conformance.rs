//! Capabilities that only tests call, behind a hidden flag: one of each retry class, one that is slow, one that is
//! large, one that panics, and one that takes the whole process with it.
//!
//! `conformance.keyed` appends a line to a file below the shared folder, and proves I6: the row and the once-key are one
//! transaction, and the file is a projection of the rows that is completed under the same write lock. A kill before the
//! commit leaves nothing, one after it leaves the row, and the resend then finds the key and completes the file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;
use utoipa::ToSchema;

use super::declare::{Nothing, answer, query, read};
use super::server::Mode;
use super::services::Services;
use crate::board::{Effect, StoreError};
use crate::floor::limits::FRAME_BYTES;
use crate::registry::{
    Answer, Ask, Call, Capability, Exposure, Handler, Kind, Progress, Refusal, Retry, Wish, refusal,
};

/// The folder of the files, below the shared one.
pub const FOLDER: &str = "conformance";
/// Between two reports of progress.
const STEP: Duration = Duration::from_millis(20);

/// How long.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Slow {
    /// Milliseconds.
    #[schema(maximum = 600_000)]
    ms: u32,
}

/// How much.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Large {
    /// Bytes of text.
    #[schema(maximum = 15_000_000)]
    bytes: u32,
}

/// When to ask.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// Milliseconds before it asks.
    #[schema(maximum = 600_000)]
    ms: u32,
    /// How large its question is, in MiB.
    #[schema(nullable = false, maximum = 15)]
    megabytes: Option<u32>,
}

/// A line for a file.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    /// A plain name: letters, digits, `.`, `_` and `-`.
    #[schema(min_length = 1, max_length = 64)]
    file: String,
    /// One line.
    #[schema(max_length = 1000)]
    text: String,
}

/// A line for a file, and how long to go on after it is written.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Once {
    #[schema(nullable = false, max_length = 64)]
    file: Option<String>,
    #[serde(default)]
    #[schema(max_length = 1000)]
    text: String,
    /// Milliseconds after the effect until the answer; 1000 if not given.
    #[schema(nullable = false, maximum = 600_000)]
    ms: Option<u32>,
}

/// Anything.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    value: Value,
}

/// What happened.
#[derive(Debug, Serialize, ToSchema)]
struct Done {
    /// The process that did it.
    pid: u32,
    /// The line's number, where one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    line: Option<u64>,
}

/// A lot of text.
#[derive(Debug, Serialize, ToSchema)]
struct Text {
    text: String,
}

/// Declares the group.
pub fn capabilities(services: &Services) -> Vec<Capability> {
    let (keyed, once) = (services.clone(), services.clone());
    let reads = [
        query::<Nothing, Done>(
            "conformance.safe",
            "Safe",
            "Answers.",
            Handler::inline(|_| done(None)),
        ),
        query::<Slow, Done>(
            "conformance.slow",
            "Slow",
            "Answers late.",
            Handler::task(slow),
        ),
        query::<Large, Text>(
            "conformance.large",
            "Large",
            "Answers much.",
            Handler::inline(large),
        ),
        query::<Echo, Echo>(
            "conformance.echo",
            "Echo",
            "Answers what it was given.",
            Handler::inline(|call| Ok(call.arguments.clone())),
        ),
        query::<Question, Echo>(
            "conformance.ask",
            "Ask",
            "Asks its client, and takes a refusal in its stride.",
            Handler::task(ask),
        ),
        query::<Nothing, Done>(
            "conformance.panic",
            "Panic",
            "Panics.",
            Handler::inline(|_| panics()),
        ),
        query::<Nothing, Done>(
            "conformance.abort",
            "Abort",
            "Ends the process at once.",
            Handler::inline(|_| std::process::abort()),
        ),
    ];
    let mut writes = [
        query::<Line, Done>(
            "conformance.keyed",
            "Keyed",
            "Appends a line, once for each request.",
            Handler::task(move |call| append_keyed(keyed.clone(), call)),
        ),
        query::<Once, Done>(
            "conformance.once",
            "Once",
            "Appends a line each time it runs.",
            Handler::task(move |call| append_once(once.clone(), call)),
        ),
    ];
    for (capability, retry) in writes.iter_mut().zip([Retry::Keyed, Retry::Once]) {
        capability.kind = Kind::Command;
        capability.retry = retry;
    }
    let mut all: Vec<Capability> = reads.into_iter().chain(writes).collect();
    for capability in &mut all {
        capability.exposure = exposure(capability.id);
        capability.logs = capability.id == "conformance.ask";
    }
    all
}

fn exposure(id: &str) -> Exposure {
    let (tool, route) = match id {
        "conformance.safe" => ("conformance_safe", "/api/v1/conformance/safe"),
        "conformance.slow" => ("conformance_slow", "/api/v1/conformance/slow"),
        "conformance.large" => ("conformance_large", "/api/v1/conformance/large"),
        "conformance.echo" => ("conformance_echo", "/api/v1/conformance/echo"),
        "conformance.ask" => ("conformance_ask", "/api/v1/conformance/ask"),
        "conformance.panic" => ("conformance_panic", "/api/v1/conformance/panic"),
        "conformance.abort" => ("conformance_abort", "/api/v1/conformance/abort"),
        "conformance.keyed" => ("conformance_keyed", "/api/v1/conformance/keyed"),
        "conformance.once" => ("conformance_once", "/api/v1/conformance/once"),
        _ => return Exposure::default(),
    };
    Exposure {
        tool: Some(tool),
        prompt: None,
        resource: None,
        route: Some(route),
        cli: None,
    }
}

fn done(line: Option<u64>) -> Answer {
    answer(&Done {
        pid: std::process::id(),
        line,
    })
}

#[expect(
    clippy::panic,
    reason = "a test asks what happens when a capability panics"
)]
fn panics() -> Answer {
    panic!("asked to panic")
}

fn large(call: &Call) -> Answer {
    let Large { bytes } = read(call.arguments.clone())?;
    let bytes = usize::try_from(bytes)
        .unwrap_or(usize::MAX)
        .min(FRAME_BYTES);
    answer(&Text {
        text: "x".repeat(bytes),
    })
}

async fn slow(call: Call) -> Answer {
    let Slow { ms } = read(call.arguments)?;
    let end = Instant::now() + Duration::from_millis(ms.into());
    let wait = report_until(end, ms, &call.progress);
    tokio::select! {
        () = call.cancel.cancelled() => Err(refusal::CANCELLED.fill(&[])),
        () = wait => done(None),
    }
}

/// Waits, and tells how much of it is done.
async fn report_until(end: Instant, ms: u32, progress: &Progress) {
    let total = f64::from(ms);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            progress.report(total, Some(total), None);
            return;
        }
        progress.report(
            (total - left.as_secs_f64() * 1000.0).max(0.0),
            Some(total),
            None,
        );
        tokio::time::sleep(left.min(STEP)).await;
    }
}

async fn ask(call: Call) -> Answer {
    let Question { ms, megabytes } = read(call.arguments)?;
    tokio::time::sleep(Duration::from_millis(ms.into())).await;
    let message = "?".repeat(1 + megabytes.unwrap_or_default() as usize * (1 << 20));
    let ask = Ask {
        key: "answer",
        wish: Wish::Elicitation,
        params: json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}}),
    };
    let value = match call.client.ask(ask).await {
        Ok(said) => said["action"].clone(),
        Err(refusal) => json!(refusal.message),
    };
    answer(&Echo { value })
}

async fn append_keyed(services: Services, call: Call) -> Answer {
    services.writes("conformance.keyed")?;
    if services.status.status().mode == Mode::Alone {
        // The rows would be in memory, and the file would count lines that no later owner knows.
        return Err(refusal::NOT_ALONE.fill(&[]));
    }
    let line: Line = read(call.arguments)?;
    let path = path(&services, &line.file)?;
    check_text(&line.text)?;
    let file = line.file.clone();
    let first = services
        .board
        .once(call.key, move |effect| {
            let number = effect.append_line(&line.file, &line.text)?;
            Ok(json!({"pid": std::process::id(), "line": number}))
        })
        .await?;
    // Also after a resend: the owner may have died between the row and the file.
    services
        .board
        .once(None, move |effect| {
            complete(effect, &file, &path).map(|()| Value::Null)
        })
        .await?;
    Ok(first)
}

async fn append_once(services: Services, call: Call) -> Answer {
    services.writes("conformance.once")?;
    let asked: Once = read(call.arguments)?;
    if let Some(file) = asked.file {
        let path = path(&services, &file)?;
        check_text(&asked.text)?;
        let text = asked.text;
        tokio::task::spawn_blocking(move || append(&path, &format!("{text}\n")))
            .await
            .map_err(|_| refusal::GIVEN_UP.fill(&[]))?
            .map_err(|error| unavailable(&error))?;
    }
    let wait = tokio::time::sleep(Duration::from_millis(asked.ms.unwrap_or(1000).into()));
    tokio::select! {
        () = call.cancel.cancelled() => Err(refusal::CANCELLED.fill(&[])),
        () = wait => done(None),
    }
}

fn path(services: &Services, file: &str) -> Result<PathBuf, Refusal> {
    let plain = !file.starts_with('.')
        && file
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    if !plain {
        return Err(refusal::NO_PLAIN_NAME.fill(&[]));
    }
    match &services.site {
        Some(site) => Ok(site.shared_dir().join(FOLDER).join(file)),
        None => Err(refusal::NOWHERE.fill(&[])),
    }
}

fn check_text(text: &str) -> Result<(), Refusal> {
    if text.chars().any(char::is_control) {
        return Err(refusal::CONTROL.fill(&[]));
    }
    Ok(())
}

/// Brings the file up to the rows: cuts a line that a kill left half written, and appends what is missing.
fn complete(effect: &Effect<'_>, file: &str, path: &Path) -> Result<(), StoreError> {
    let written = whole_lines(path).map_err(|error| StoreError::Refused(unavailable(&error)))?;
    let mut missing = String::new();
    for text in effect.lines_after(file, written)? {
        missing.push_str(&text);
        missing.push('\n');
    }
    append(path, &missing).map_err(|error| StoreError::Refused(unavailable(&error)))
}

/// Counts the whole lines of a file, and cuts what follows the last one.
fn whole_lines(path: &Path) -> io::Result<u64> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let (count, whole) = ends.fold((0, 0), |(count, _), (at, _)| (count + 1, at + 1));
    if whole < bytes.len() {
        OpenOptions::new()
            .write(true)
            .open(path)?
            .set_len(whole as u64)?;
    }
    Ok(count)
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.flush()
}

fn unavailable(error: &io::Error) -> Refusal {
    refusal::UNWRITTEN.fill(&[&error.kind()])
}
