//! `majordomus stop [--all]`: ends the checkout's server in order.
//!
//! A `serve` server without clients ends. With clients attached it only gives ownership up: one of their processes
//! takes over, and the command says which. `--all` sends every client's process an orderly end. Nothing is signalled:
//! a pid from a document proves nothing.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::owner::{Owner, block_on};
use crate::cli::report::{Exit, Outcome, failures};
use crate::floor::paths::Site;
use crate::lease::document::{Reading, State};
use crate::lease::sign;

/// The words of the command, by which its capability is found.
pub const WORDS: &[&str] = &["stop"];

/// How long the command waits to see the outcome.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it looks at the document meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End every client's process in this checkout as well
    #[arg(long)]
    pub all: bool,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// What became of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// Nobody serves any more.
    Stopped,
    /// A client's process took over.
    TakenOver { pid: u32, url: Option<String> },
    /// It still stands in the document.
    Unsure,
}

/// Stops the server.
///
/// # Errors
/// When there is none to stop, it refuses, or it is still there after five seconds.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let registry = offline::registry(Some(&site))?;
    let capability = offline::by_words(&registry, WORDS)?;
    let (instance, end) = block_on(async {
        let mut owner = Owner::reach(&site).await?;
        owner.call(capability, &json!({ "all": args.all })).await?;
        let instance = owner.document.instance.clone();
        let end = watch(&site, &instance).await;
        Ok((instance, end))
    })?;
    if args.form.json {
        context.screen.json(&value(&instance, &end))?;
    } else if end != End::Unsure {
        context.screen.print(&format!("{}\n", words(&end)))?;
    }
    if end == End::Unsure {
        return Err(failures::NOT_STOPPED.fill(&[]));
    }
    Ok(Exit::Done)
}

/// Waits until the document shows what became of `instance`.
async fn watch(site: &Site, instance: &str) -> End {
    let deadline = Instant::now() + PATIENCE;
    let mut last = End::Unsure;
    while Instant::now() < deadline {
        match sign::read(site).reading {
            Reading::Document(document) if document.instance != instance => {
                if document.state == State::Ready {
                    return End::TakenOver {
                        pid: document.pid,
                        url: document.url,
                    };
                }
            }
            // A leaving owner keeps its document, as draining, while somebody is expected to take over.
            Reading::Document(document) if document.state == State::Draining => {
                last = End::Stopped;
            }
            Reading::Document(_) => {}
            Reading::Absent | Reading::Empty | Reading::Corrupt(_) => return End::Stopped,
        }
        sleep(LOOK).await;
    }
    last
}

fn words(end: &End) -> String {
    match end {
        End::Stopped => "stopped".to_owned(),
        End::TakenOver { pid, url } => format!(
            "gave up ownership: process {pid} has taken over{}",
            url.as_ref()
                .map(|url| format!(" at {url}"))
                .unwrap_or_default()
        ),
        End::Unsure => "the server was told to stop, and is still there after 5 s".to_owned(),
    }
}

fn value(instance: &str, end: &End) -> Value {
    let (stopped, successor) = match end {
        End::Stopped => (true, Value::Null),
        End::TakenOver { pid, url } => (true, json!({ "pid": pid, "url": url })),
        End::Unsure => (false, Value::Null),
    };
    json!({ "instance": instance, "stopped": stopped, "successor": successor })
}
