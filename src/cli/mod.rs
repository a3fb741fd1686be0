//! The command line: arguments, settings, and one file a command.
//!
//! *Command*: a word after `majordomus`; it takes a [`context::Context`] and returns an exit or a failure. Data goes
//! to standard output, everything else to standard error; `--json` prints one JSON value. Exit codes stand in
//! [`report::Exit`], environment variables in [`settings::VARIABLES`], and the reference is generated from both and
//! from the declarations below, so that no page can say something else.
//!
//! The story: [`run`] parses, starts logging, and hands over to the command. `mcp` and `serve` go on in
//! [`crate::host`]; the others are done in milliseconds and either ask the owner through [`owner`], which sends the
//! token to nobody who has not proven to know it, or do the work themselves through [`offline`]. Those about notes do
//! either, through [`errand`]: they ask the owner, and do it themselves where there is none.
//!
//! What is absent: a command never signals a process, and never takes the lease to look at it.

pub mod absence;
pub mod agree;
pub mod arguments;
pub mod client;
pub mod commands;
pub mod context;
pub mod duration;
pub mod errand;
pub mod journal;
pub mod offline;
pub mod owner;
pub mod query;
pub mod reference;
pub mod report;
pub mod screen;
pub mod serving;
pub mod settings;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use signal_hook::consts::SIGXFSZ;

use self::arguments::Arguments;
use self::context::Context;
use self::report::Exit;
use self::screen::Screen;
use self::settings::Settings;

/// Runs the command line of this process.
#[must_use]
pub fn run() -> ExitCode {
    // A write past `ulimit -f` then fails as on a full disk, and ends nobody.
    drop(signal_hook::flag::register(SIGXFSZ, Arc::default()));
    let settings = Settings::read();
    let screen = Screen::new(&settings);
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            if error.use_stderr() {
                drop(error.print());
                return Exit::Usage.into();
            }
            // Help and version are no errors, and are data like any other.
            return match screen.written(error.print()) {
                Ok(()) => Exit::Done.into(),
                Err(failure) => {
                    screen.fail(&failure);
                    failure.exit.into()
                }
            };
        }
    };
    let context = Context::new(&arguments, settings, screen);
    match arguments.command.run(&context) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            screen.fail(&failure);
            failure.exit.into()
        }
    }
}
