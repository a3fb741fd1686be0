//! `majordomus store`: mnemon's memory, merged across one person's machines. What a server may do is in [`live`].

pub mod live;

mod past;
mod peers;

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::commands::hooks::{self, Agreed};
use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::cli::screen::clean;
use crate::floor::clock::now_ms;
use crate::floor::remote::address::without_secrets;
use crate::stores::error::StoreError;
use crate::stores::last::Way;
use crate::stores::place::{Place, Surroundings};
use crate::stores::progress;
use crate::stores::session::{Plan, Session};
use crate::stores::status::{status, twins};

/// What may be typed.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// What else to do
    #[command(subcommand)]
    pub action: Option<Action>,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// One store.
#[derive(Debug, clap::Args)]
pub struct One {
    /// The store's name
    #[arg(value_name = "STORE")]
    pub store: String,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// One store, and how it is merged.
#[derive(Debug, clap::Args)]
pub struct Enable {
    /// Which
    #[command(flatten)]
    pub one: One,

    /// Merge it through a remote of git: https://, ssh, a folder, or http:// on this machine. With `MNEMON_SYNC_DIR` set,
    /// through the folder too
    #[arg(long, value_name = "URL")]
    pub git: Option<String>,
}

/// One store, or all that are enabled.
#[derive(Debug, clap::Args)]
pub struct Chosen {
    /// The store's name; all that are enabled here without one
    #[arg(value_name = "STORE")]
    pub store: Option<String>,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// The same, where something is done.
#[derive(Debug, clap::Args)]
pub struct Doing {
    /// Which
    #[command(flatten)]
    pub which: Chosen,

    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// As a client's hook: end after this many seconds, say nothing but what was in the way, and never fail
    #[arg(long, value_name = "SECONDS", hide = true, conflicts_with_all = ["json", "dry_run"])]
    pub hook: Option<u64>,
}

/// Another machine of a store.
#[derive(Debug, clap::Args)]
pub struct Peer {
    /// Its label, its id, or how the id begins
    #[arg(value_name = "PEER")]
    pub peer: String,

    /// Which store; needed where more than one is enabled
    #[arg(long, value_name = "STORE")]
    pub store: Option<String>,

    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// A machine that does not come back.
#[derive(Debug, clap::Args)]
pub struct Retire {
    /// Which
    #[command(flatten)]
    pub which: Peer,

    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// A run of a store.
#[derive(Debug, clap::Args)]
pub struct Undo {
    /// The store's name
    #[arg(value_name = "STORE")]
    pub store: String,

    /// The run's number in `store log`; without it, the last one that wrote something
    #[arg(long, value_name = "NUMBER")]
    pub run: Option<u64>,

    /// How to print
    #[command(flatten)]
    pub form: Json,

    /// Say what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What is done with stores.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Agree that a store of this machine is merged through the folder, or a remote of git
    Enable(Enable),
    /// Take that back; nothing is removed
    Disable(One),
    /// Write what is new here into the folder
    Export(Doing),
    /// Merge what the folder has into the store
    Import(Doing),
    /// Import, then export
    Sync(Doing),
    /// Say what another machine and this one do not have of each other
    Diff(Peer),
    /// Say what was done with a store, the newest first
    Log(One),
    /// Take back what a run wrote to a store
    Undo(Undo),
    /// Take over what a machine wrote that does not come back, and remove its segments
    Retire(Retire),
    /// Say what is known of the stores that are enabled here
    Status(Chosen),
    /// Compare each store with its registers, change nothing, and print the digest that other machines print too
    Verify(Chosen),
    /// As `hooks install stores`: clients import when a session starts, and export when a turn ends
    InstallHooks(Agreed),
    /// As `hooks uninstall stores`
    UninstallHooks(Agreed),
}

/// Does what is asked of the stores of this machine.
///
/// # Errors
/// Where a store is not enabled, somebody else merges it, or a file cannot be used.
pub fn run(args: &Args, context: &Context) -> Outcome {
    if io::stderr().is_terminal() {
        progress::tell_by(|store, how, done| {
            // Nobody is there any more who could be told that nobody is.
            let _gone = writeln!(io::stderr(), "{store}: {done} {how}");
        });
    }
    let around = || surroundings(context);
    match &args.action {
        None => live::tell(None, args.form, context),
        Some(Action::Status(some)) => live::tell(some.store.as_deref(), some.form, context),
        Some(Action::Verify(some)) => verify(some, context, &around()?),
        Some(Action::Enable(asked)) => enable(asked, context, &around()?),
        Some(Action::Disable(one)) => {
            around()?.place(&one.store)?.disable()?;
            let answer = json!({ "store": one.store, "enabled": false });
            let text = format!("the store {} is not merged any more\n", one.store);
            print(&answer, &text, one.form, context)
        }
        Some(Action::Export(doing)) => live::meet(doing, Way::Export, context),
        Some(Action::Import(doing)) => live::meet(doing, Way::Import, context),
        Some(Action::InstallHooks(agreed)) => hooks::of_stores(agreed, false, context),
        Some(Action::UninstallHooks(agreed)) => hooks::of_stores(agreed, true, context),
        Some(Action::Sync(doing)) => live::meet(doing, Way::Both, context),
        Some(Action::Diff(other)) => peers::diff(other, context, &around()?),
        Some(Action::Retire(other)) => peers::retire(other, context, &around()?),
        Some(Action::Log(one)) => past::log(one, context, &around()?),
        Some(Action::Undo(undo)) => past::undo(undo, context, &around()?),
    }
}

fn enable(asked: &Enable, context: &Context, around: &Surroundings) -> Outcome {
    let (store, git) = (&asked.one.store, asked.git.as_deref());
    let place = around.place(store)?;
    let through_folder = git.is_none() || context.settings.sync_dir.is_some();
    let folder = around.enable(&place, through_folder, git)?;
    Session::open(&place)?.make_again()?;
    let folder = folder.map(|folder| folder.display().to_string());
    let git = git.map(without_secrets);
    let answer = json!({ "store": store, "enabled": true, "folder": folder, "git": git });
    let through: Vec<String> = folder.into_iter().chain(git).collect();
    let text = format!(
        "the store {store} is merged through {}\n",
        through.join(" and ")
    );
    print(&answer, &text, asked.one.form, context)
}

/// Where the stores of whoever types are, as their environment says; paths are absolute.
///
/// # Errors
/// Where nobody's home is known.
pub fn surroundings(context: &Context) -> Result<Surroundings, Failure> {
    let settings = &context.settings;
    let home = settings
        .home
        .clone()
        .ok_or_else(|| failures::NO_HOME.fill(&[]))?;
    let mnemon = settings
        .mnemon
        .clone()
        .unwrap_or_else(|| home.join(".mnemon"));
    let state = settings
        .state_home
        .clone()
        .unwrap_or_else(|| home.join(".local/state"));
    let host = || {
        nix::unistd::gethostname()
            .ok()
            .and_then(|name| name.into_string().ok())
    };
    // A server that is asked stands in another folder.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let mnemon = absolute(mnemon);
    Ok(Surroundings {
        state: absolute(state).join("majordomus"),
        folder: absolute(
            settings
                .sync_dir
                .clone()
                .unwrap_or_else(|| mnemon.join("sync")),
        ),
        mnemon,
        most: settings.most_insights,
        label: settings.sync_host.clone().or_else(host).unwrap_or_default(),
        claude_settings: settings
            .claude_settings
            .clone()
            .unwrap_or_else(|| home.join(".claude/settings.json")),
    })
}

fn chosen(name: Option<&str>, around: &Surroundings) -> Result<Vec<Place>, Failure> {
    match name {
        Some(name) => Ok(vec![around.place(name)?]),
        None => Ok(around.enabled()),
    }
}

fn print(answer: &Value, text: &str, form: Json, context: &Context) -> Outcome {
    if form.json {
        context.screen.json(answer)?;
    } else {
        context.screen.print(&clean_lines(text))?;
    }
    Ok(Exit::Done)
}

/// Other people's words cannot move the cursor, and lines stay lines.
fn clean_lines(text: &str) -> String {
    text.lines()
        .fold(String::new(), |all, line| all + &clean(line) + "\n")
}

const NOTHING: &str = "no store is enabled on this machine (majordomus store enable STORE)\n";

fn verify(some: &Chosen, context: &Context, around: &Surroundings) -> Outcome {
    let plan = Plan {
        import: false,
        export: false,
        dry_run: true,
        now_ms: now_ms(),
    };
    let (mut found, mut text, mut is_same) = (Vec::new(), String::new(), true);
    for place in chosen(some.store.as_deref(), around)? {
        let report = Session::open(&place)?.run(plan)?;
        let known = status(&place)?;
        let same = twins(&place)?;
        for ids in &same {
            let _ = writeln!(text, "  say the same: {}", ids.join(", "));
        }
        is_same &= report.changed_here == 0 && report.troubles.is_empty();
        let _ = writeln!(
            text,
            "{}: {} differ from the registers; {}",
            place.name, report.changed_here, known.digest
        );
        found.push(
            json!({ "store": place.name, "differ": report.changed_here, "waiting": known.waiting,
            "digest": known.digest, "same": same, "troubles": report.troubles }),
        );
    }
    if found.is_empty() {
        NOTHING.clone_into(&mut text);
    }
    print(&json!({ "stores": found }), &text, some.form, context)?;
    Ok(if is_same { Exit::Done } else { Exit::Failed })
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let kind = match &error {
            StoreError::Name(_) => failures::NO_STORE_NAME,
            StoreError::Off(_) => failures::STORE_OFF,
            StoreError::Busy(_) => failures::STORE_BUSY,
            StoreError::Absent(_) => failures::NO_STORE,
            StoreError::NoRun(_) => failures::NO_STORE_RUN,
            StoreError::NoPeer(_) => failures::NO_STORE_PEER,
            StoreError::Removed(_) => failures::REMOVED_STORE,
            StoreError::Url(_) => failures::STORE_URL,
            StoreError::Folder(_) => failures::STORE_FOLDER,
            StoreError::ForeignHooks(_) => failures::FOREIGN_STORE_HOOKS,
            StoreError::Strange { .. } => failures::STRANGE_STORE,
            StoreError::Io { .. } => failures::UNUSABLE_STORE_FILE,
            StoreError::Sqlite { .. } => failures::STORE_SQLITE,
            StoreError::Shadow => failures::UNUSABLE_SHADOW,
            StoreError::Damaged(_) => failures::DAMAGED_SHADOW,
        };
        kind.told(&error)
    }
}
