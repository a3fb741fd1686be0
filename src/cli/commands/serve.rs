//! `majordomus serve`: the checkout's shared server, without a client of its own.

use crate::cli::context::Context;
use crate::cli::report::{Exit, Failure, Outcome};

/// Whether requests need the checkout's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Authentication {
    /// Every request needs the token
    Token,
    /// None does; anybody on this machine can call everything
    Off,
}

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Serve at this port, in place of the checkout's own
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,

    /// Who may call; `off` is for tools that cannot send a header, and is warned of in the log
    #[arg(long, value_name = "WHO", value_enum, default_value = "token")]
    pub auth: Authentication,

    /// Serve the fixtures of the protocol's conformance suite as well
    #[arg(long, hide = true)]
    pub conformance: bool,
}

/// Serves until a signal, or the end of a standard input that is a pipe.
///
/// # Errors
/// When nothing can be served.
pub fn run(_args: &Args, _context: &Context) -> Outcome {
    Err(Failure::new(Exit::Failed, "no host yet"))
}
