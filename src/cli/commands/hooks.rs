//! `majordomus hooks`: what clients run by themselves for this checkout, and `install` and `uninstall` of one part of it.
//!
//! The files of clients are changed as `init` changes them ([`super::init::carry`]), with a record of its own of what they
//! were before. With the hooks of notes goes one word in the client's entry: its own hooks send notes, so the server does not.

mod person;
mod plan;

use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::cli::arguments::Json;
use crate::cli::commands::init::carry::{self, Wish};
use crate::cli::commands::init::plan::File;
use crate::cli::commands::init::record::Record;
use crate::cli::commands::{generate, init};
use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::clients::hooks::{HOSTS, Host, Part};
use crate::floor::paths::Site;

/// What may be typed.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What to do; without it, the hooks are listed
    #[command(subcommand)]
    pub action: Option<Action>,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// What to do with hooks.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Have the clients in use run the hooks of a part
    Install(Change),
    /// Take back what was installed
    Uninstall(Change),
}

/// What may be typed after `install` and `uninstall`.
#[derive(Debug, clap::Args)]
pub struct Change {
    /// What the hooks are for
    #[arg(value_name = "PART", value_parser = PossibleValuesParser::new(Part::ALL.iter().map(|part| part.as_str())))]
    pub part: String,

    /// For whom, and how
    #[command(flatten)]
    pub agreed: Agreed,
}

/// For which clients hooks change, and whether somebody agreed.
#[derive(Debug, clap::Args)]
pub struct Agreed {
    /// Only for this client, in use or not; may be given several times
    #[arg(long, value_name = "CLIENT", value_parser = PossibleValuesParser::new(HOSTS.iter().map(|host| host.word)))]
    pub client: Vec<String>,

    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,

    /// How to print; without `--yes` nothing is written
    #[command(flatten)]
    pub form: Json,
}

/// Lists the hooks, or shows what would change, asks, and writes it.
///
/// # Errors
/// When the executable is not in `PATH`, nobody is there to ask, or a file cannot be written.
pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.action {
        None => list(args.form, &context.checkout()?, context),
        Some(Action::Install(change)) => write(change, false, context),
        Some(Action::Uninstall(change)) => write(change, true, context),
    }
}

/// Installs the hooks of stores, or takes them back; `store` has these words too.
///
/// # Errors
/// As [`run`].
pub fn of_stores(agreed: &Agreed, back: bool, context: &Context) -> Outcome {
    person::run(Part::Stores, back, agreed, context)
}

fn write(change: &Change, back: bool, context: &Context) -> Outcome {
    let Some(part) = Part::by_word(&change.part) else {
        return Ok(Exit::Usage);
    };
    if part.is_of_person() {
        return person::run(part, back, &change.agreed, context);
    }
    let (change, site) = (&change.agreed, &context.checkout()?);
    if generate::is_source_tree(site.root()) {
        return Err(failures::SOURCE_TREE.fill(&[]));
    }
    if !back {
        init::executable(context)?;
        init::is_a_project(site, context)?;
    }
    let hosts = wanted(change, back, site, context);
    let plan = || {
        if back {
            let record = Record::read(site.hooks_record());
            plan::uninstall(part, &hosts, site.root(), &record)
        } else {
            plan::install(part, &hosts, site.root())
        }
    };
    let wish = Wish {
        yes: change.yes,
        json: change.form.json,
        back,
    };
    let (files, written) = carry::out(plan, wish, &site.hooks_record(), site, context)?;
    let left: Vec<String> = files.iter().filter_map(File::left).collect();
    if !left.is_empty() {
        return Err(failures::LEFT_ALONE.each(left).hint(format!(
            "majordomus hooks install {} --json, which has the entries to add by hand",
            part.as_str()
        )));
    }
    if written && !back && !change.form.json {
        next(&hosts, site, context);
    }
    Ok(Exit::Done)
}

/// The clients of this call: those that were named, else those in use, else all of them; to take back, all of them.
fn wanted(change: &Agreed, back: bool, site: &Site, context: &Context) -> Vec<&'static Host> {
    if !change.client.is_empty() {
        let named = |host: &&Host| change.client.iter().any(|word| word == host.word);
        return HOSTS.iter().filter(named).collect();
    }
    let in_use: Vec<_> = HOSTS
        .iter()
        .filter(|host| {
            let client = host.client();
            client.is_some_and(|client| init::is_in_use(client, site.root(), context))
        })
        .collect();
    if back || in_use.is_empty() {
        return HOSTS.iter().collect();
    }
    in_use
}

/// Says what each client asks for, and where notes would still be sent twice or not at all.
fn next(hosts: &[&'static Host], site: &Site, context: &Context) {
    for host in hosts {
        let Some(client) = host.client() else {
            continue;
        };
        context
            .screen
            .note(&format!("{} {}", client.title, host.gate));
        if plan::has_no_entry(site.root(), client) {
            context.screen.note(&format!(
                "{} names no server of ours: majordomus init --client {}, then the same command again",
                client.path, client.word
            ));
        }
    }
}

/// The file of a part's hooks, as people write it.
fn path(part: Part, host: &Host) -> String {
    let home = if part.is_of_person() { "~/" } else { "" };
    format!("{home}{}", host.path)
}

fn list(form: Json, site: &Site, context: &Context) -> Outcome {
    let found: Vec<_> = Part::ALL
        .iter()
        .flat_map(|part| HOSTS.iter().map(move |host| (*part, host)))
        .filter_map(|(part, host)| Some((part, host, host.client()?)))
        .map(|(part, host, client)| {
            let state = if part.is_of_person() {
                person::state(part, host, context)
            } else {
                plan::state(part, host, site.root())
            };
            (part, host, client, state)
        })
        .collect();
    if form.json {
        let hooks: Vec<_> = found
            .iter()
            .map(|(part, host, client, state)| {
                json!({
                    "part": part.as_str(),
                    "client": client.title,
                    "path": path(*part, host),
                    "state": state.as_ref().map_or("unreadable", |state| state.as_str()),
                    "reason": state.as_ref().err(),
                })
            })
            .collect();
        context.screen.json(&json!({ "hooks": hooks }))?;
        return Ok(Exit::Done);
    }
    let lines = found.iter().map(|(part, host, client, state)| {
        let state = match state {
            Ok(state) => state.words().to_owned(),
            Err(reason) => format!("{} {reason}", path(*part, host)),
        };
        format!(
            "{}  {:<12} {:<22} {state}\n",
            part.as_str(),
            client.title,
            path(*part, host)
        )
    });
    context.screen.print(&lines.collect::<String>())?;
    if found
        .iter()
        .filter(|(part, ..)| *part == Part::Memory)
        .all(|(.., state)| state != &Ok(plan::State::Installed))
    {
        context.screen.note("hint: majordomus hooks install memory");
    }
    Ok::<_, Failure>(Exit::Done)
}
