//! What may be typed.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::commands::{
    announce, bug_report, call, capabilities, completions, demo, describe, doctor, generate, hooks,
    init, logs, man, mcp, notes, open, peers, recall, remember, serve, status, stop, store, sync,
    validate,
};
use super::context::Context;
use super::report::Outcome;
use crate::floor::log;

/// One shared MCP server per checkout: coding agents see each other and stay out of each other's way.
#[derive(Debug, Parser)]
#[command(
    name = "majordomus",
    version,
    propagate_version = true,
    after_help = "Data goes to standard output, everything else to standard error.\n\
                  Exit codes: 0 done, 1 failed, 2 usage, 3 conflict, 10 contract not met."
)]
pub struct Arguments {
    /// Where to look for the checkout, in place of the working directory
    #[arg(long, global = true, value_name = "PATH")]
    pub repo: Option<PathBuf>,

    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The `--json` of a command.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Json {
    /// Print one JSON value
    #[arg(long)]
    pub json: bool,
}

/// The commands, in the order of the help.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve one MCP client on standard input and output, through the checkout's shared server
    Mcp(mcp::Args),
    /// Run the checkout's shared server without a client of its own
    Serve(serve::Args),
    /// Tell the clients in use how to start this checkout's server, or take that back
    Init(init::Args),
    /// List what clients run by themselves for this checkout; install it, or take it back
    Hooks(hooks::Args),
    /// Watch three clients meet, and two go on after a kill, in a throwaway checkout
    Demo(demo::Args),
    /// Walk the whole path from the checkout to a client's answer, and say where it breaks
    Doctor(doctor::Args),
    /// Print what the servers of this checkout logged
    Logs(logs::Args),
    /// Print what somebody who helps needs to know, without secrets and paths
    BugReport(bug_report::Args),
    /// Show the checkout's server, or what was found in its place
    Status(status::Args),
    /// End a `serve` server; with clients attached, hand ownership to one of them
    Stop(stop::Args),
    /// List who works in this checkout, on what, and where they meet
    Peers(peers::Args),
    /// Tell the others what you are about to do, and on which paths
    Announce(announce::Args),
    /// Write one fact down for every agent and person of this repository
    Remember(remember::Args),
    /// Find what was written down
    Recall(recall::Args),
    /// List the notes of this repository, or print one
    Notes(notes::Args),
    /// Take in what the team has written down, and send what it does not have yet
    Sync(sync::Args),
    /// Merge the stores of mnemon, an agent's memory, across your machines
    Store(store::Args),
    /// List everything the server can do
    Capabilities(capabilities::Args),
    /// Show one capability: schemas, names, examples
    Describe(describe::Args),
    /// Call a capability of the running server
    Call(call::Args),
    /// Open the API page, signed in, in a browser
    Open(open::Args),
    /// Write the files that are projections of the source: OpenAPI, reference, client files, completions
    Generate(generate::Args),
    /// Check the registry and every projection of it
    Validate(validate::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print a manual page
    Man(man::Args),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// Whatever the command fails with.
    pub fn run(&self, context: &Context) -> Outcome {
        let level = match self {
            Self::Mcp(args) if !args.inspect => tracing::level_filters::LevelFilter::INFO,
            Self::Serve(_) => tracing::level_filters::LevelFilter::INFO,
            Self::Sync(args) if args.hook.is_some() => tracing::level_filters::LevelFilter::OFF,
            _ => tracing::level_filters::LevelFilter::WARN,
        };
        log::start(context.settings.log.as_deref(), level);
        match self {
            Self::Mcp(args) => mcp::run(args, context),
            Self::Serve(args) => serve::run(args, context),
            Self::Init(args) => init::run(args, context),
            Self::Hooks(args) => hooks::run(args, context),
            Self::Demo(args) => demo::run(args, context),
            Self::Doctor(args) => doctor::run(args, context),
            Self::Logs(args) => logs::run(args, context),
            Self::BugReport(args) => bug_report::run(args, context),
            Self::Status(args) => status::run(args, context),
            Self::Stop(args) => stop::run(args, context),
            Self::Peers(args) => peers::run(args, context),
            Self::Announce(args) => announce::run(args, context),
            Self::Remember(args) => remember::run(args, context),
            Self::Recall(args) => recall::run(args, context),
            Self::Notes(args) => notes::run(args, context),
            Self::Sync(args) => sync::run(args, context),
            Self::Store(args) => store::run(args, context),
            Self::Capabilities(args) => capabilities::run(args, context),
            Self::Describe(args) => describe::run(args, context),
            Self::Call(args) => call::run(args, context),
            Self::Open(args) => open::run(args, context),
            Self::Generate(args) => generate::run(args, context),
            Self::Validate(args) => validate::run(args, context),
            Self::Completions(args) => completions::run(args, context),
            Self::Man(args) => man::run(args, context),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::{Arguments, Command};

    #[test]
    fn the_declarations_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_prints_json_on_request() {
        for command in Arguments::command().get_subcommands() {
            let takes = command
                .get_arguments()
                .any(|argument| argument.get_long() == Some("json"));
            // Scripts and manual pages are no JSON values, and `serve` prints no data.
            let exempt = ["completions", "man", "serve"].contains(&command.get_name());
            assert_eq!(takes, !exempt, "{}", command.get_name());
        }
    }

    #[test]
    fn the_checkout_may_be_named_before_or_after_the_command() {
        for words in [
            ["majordomus", "--repo", "x", "status"],
            ["majordomus", "status", "--repo", "x"],
        ] {
            let arguments = Arguments::try_parse_from(words).unwrap();
            assert!(matches!(arguments.command, Command::Status(_)));
            assert_eq!(arguments.repo.unwrap().to_str(), Some("x"));
        }
    }
}
