//! `majordomus demo`: three clients in a throwaway checkout, with real processes, told line by line as it happens.
//!
//! They start, announce, meet; the process that hosts the server is killed; the others go on. Everything is asked of the
//! servers by the tools that agents use, and nothing is told that was not seen. The folder goes when the command ends.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{announce, peers};
use crate::cli::arguments::Json;
use crate::cli::client::{Client, ClientError};
use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::owner::block_on;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::cli::screen::Mark;
use crate::floor::git;
use crate::floor::paths::{Explicit, Site};
use crate::lease::document::Reading;
use crate::lease::sign;

/// The clients, in the order of their start.
const NAMES: [&str; 3] = ["first", "second", "third"];

/// How long a survivor may take to come to the new owner; it takes milliseconds.
const SETTLED: Duration = Duration::from_secs(5);

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Tells the story.
///
/// # Errors
/// When there is no folder to play in, or anything does not go as the story says.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let folder = tempfile::Builder::new()
        .prefix("majordomus-demo-")
        .tempdir()
        .map_err(|error| failures::NO_PLAYGROUND.fill(&[&error]))?;
    let root = folder.path().join("checkout");
    let site = checkout(&root)?;
    let mut teller = Teller {
        begun: Instant::now(),
        context,
        steps: args.form.json.then(Vec::new),
    };
    block_on(play(&site, &mut teller))?;
    if let Some(steps) = teller.steps {
        context.screen.json(&json!({ "steps": steps }))?;
    }
    Ok(Exit::Done)
}

/// A repository where there is git, else a folder that counts as a checkout.
fn checkout(root: &Path) -> Result<Site, Failure> {
    let failed = |what: String| failures::BAD_PLAYGROUND.fill(&[&what]);
    std::fs::create_dir(root).map_err(|error| failed(error.to_string()))?;
    let made = git::command(root)
        .args(["init", "--quiet", "--initial-branch=main"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !made.is_ok_and(|status| status.success()) {
        std::fs::create_dir(root.join(".ai")).map_err(|error| failed(error.to_string()))?;
    }
    Site::discover(root, Explicit::Yes)
        .map_err(|error| failed(error.to_string()))?
        .ok_or_else(|| failed("it is gone".to_owned()))
}

/// Tells what happens, when it happens.
struct Teller<'a> {
    begun: Instant,
    context: &'a Context,
    /// What was told, where a program reads it at the end.
    steps: Option<Vec<Value>>,
}

impl Teller<'_> {
    fn tell(&mut self, who: &str, what: &str, facts: Value) -> Result<(), Failure> {
        let at = self.begun.elapsed();
        if let Some(steps) = &mut self.steps {
            let mut step = json!({ "at_ms": at.as_millis(), "who": who, "what": what });
            if let (Value::Object(step), Value::Object(facts)) = (&mut step, facts) {
                step.extend(facts);
            }
            steps.push(step);
            return Ok(());
        }
        let screen = self.context.screen;
        let time = screen.mark(Mark::Dim, &format!("{:6.3} s", at.as_secs_f64()));
        let who = screen.mark(Mark::Bold, &format!("{who:>7}"));
        screen.print(&format!("{time}  {who}  {what}\n"))
    }
}

/// The names of the two tools, as the registry has them.
struct Tools {
    announce: &'static str,
    peers: &'static str,
}

impl Tools {
    fn new(site: &Site) -> Result<Self, Failure> {
        let registry = offline::registry(Some(site))?;
        let tool = |words| {
            offline::by_words(&registry, words)?
                .exposure
                .tool
                .ok_or_else(|| failures::CONTRACT.fill(&[&"a tool of the demo is missing"]))
        };
        Ok(Self {
            announce: tool(announce::WORDS)?,
            peers: tool(peers::WORDS)?,
        })
    }
}

async fn play(site: &Site, teller: &mut Teller<'_>) -> Result<(), Failure> {
    let tools = Tools::new(site)?;
    let program =
        std::env::current_exe().map_err(|error| failures::NO_EXECUTABLE.fill(&[&error]))?;
    let mut clients = Vec::new();
    for name in NAMES {
        let mut client = Client::start(&program, site.root()).map_err(|error| astray(&error))?;
        client
            .initialize(name)
            .await
            .map_err(|error| astray(&error))?;
        call(&mut client, tools.peers, json!({})).await?;
        let owner = owner(site)?;
        let role = if client.pid() == owner.pid {
            format!(
                "starts; nobody is here, so its process hosts the server: {}docs/",
                owner.url
            )
        } else {
            format!(
                "starts; its process {} is a bridge to process {}",
                client.pid(),
                owner.pid
            )
        };
        teller.tell(
            name,
            &role,
            json!({ "pid": client.pid(), "owner": owner.pid }),
        )?;
        clients.push(client);
    }
    announced(
        &mut clients[1],
        NAMES[1],
        &tools,
        teller,
        "rename the parser",
        "src/parser/**",
    )
    .await?;
    announced(
        &mut clients[2],
        NAMES[2],
        &tools,
        teller,
        "faster tokens",
        "src/parser/tokens.rs",
    )
    .await?;

    let mut killed = clients.remove(0);
    let pid = killed.pid();
    killed.kill();
    teller.tell(
        "kill -9",
        &format!("process {pid}, which hosted the server"),
        json!({ "killed": pid }),
    )?;
    let begun = Instant::now();
    let mut list = call(&mut clients[0], tools.peers, json!({})).await?;
    let took = begun.elapsed().as_millis();
    let owner = owner(site)?;
    teller.tell(
        NAMES[1],
        &format!(
            "asks who is here, and is answered in {took} ms: process {} took over",
            owner.pid
        ),
        json!({ "owner": owner.pid, "gap_ms": took }),
    )?;
    // The list says itself when somebody who may still come has not come yet.
    let until = Instant::now() + SETTLED;
    while list.get("complete") != Some(&Value::Bool(true)) && Instant::now() < until {
        list = call(&mut clients[0], tools.peers, json!({})).await?;
    }
    let here = list.get("peers").and_then(Value::as_array);
    for peer in here.into_iter().flatten() {
        let word = |key: &str| peer.get(key).and_then(Value::as_str).unwrap_or_default();
        let intent = peer
            .pointer("/announcements/0/intent")
            .and_then(Value::as_str);
        let what = format!("is still here: \"{}\"", intent.unwrap_or("no announcement"));
        teller.tell(word("name"), &what, json!({ "id": word("id") }))?;
    }
    for client in clients {
        client.close().await;
    }
    let left = match sign::read(site).reading {
        Reading::Absent => "have left, and no process and no document stays behind",
        _ => {
            return Err(failures::DEMO_LEFTOVER.fill(&[]));
        }
    };
    teller.tell("all", left, json!({}))
}

/// Announces, and tells whom it meets.
async fn announced(
    client: &mut Client,
    name: &str,
    tools: &Tools,
    teller: &mut Teller<'_>,
    intent: &str,
    scope: &str,
) -> Result<(), Failure> {
    let arguments = json!({ "intent": intent, "scope": [scope] });
    let answer = call(client, tools.announce, arguments).await?;
    let what = format!("announces \"{intent}\" on {scope}");
    teller.tell(name, &what, json!({ "intent": intent }))?;
    let collisions = answer.get("collisions").and_then(Value::as_array);
    for collision in collisions.into_iter().flatten() {
        let word = |key: &str| {
            collision
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let what = format!(
            "is told at once: {} works on {}, to \"{}\"",
            word("name"),
            word("theirs"),
            word("intent")
        );
        teller.tell(name, &what, json!({ "collision": collision }))?;
    }
    Ok(())
}

/// Calls a tool; an answer without the shared server is not what the story is about.
async fn call(client: &mut Client, tool: &str, arguments: Value) -> Result<Value, Failure> {
    let mut answer = client
        .call(tool, arguments)
        .await
        .map_err(|error| astray(&error))?;
    if let Some(reason) = answer
        .pointer("/_meta/majordomus~1degraded")
        .and_then(Value::as_str)
    {
        return Err(failures::DEMO_ALONE.fill(&[&reason]));
    }
    Ok(answer
        .get_mut("structuredContent")
        .map(Value::take)
        .unwrap_or_default())
}

/// Who hosts the server now.
struct Owner {
    pid: u32,
    url: String,
}

fn owner(site: &Site) -> Result<Owner, Failure> {
    match sign::read(site).reading {
        Reading::Document(document) => Ok(Owner {
            pid: document.pid,
            url: document
                .url
                .map(|url| format!("{}/", url.trim_end_matches('/')))
                .unwrap_or_default(),
        }),
        _ => Err(failures::DEMO_NOBODY.fill(&[])),
    }
}

fn astray(error: &ClientError) -> Failure {
    failures::DEMO_ASTRAY.fill(&[error])
}
