//! `majordomus serve`: the checkout's shared server, without a client of its own.

use crate::cli::context::Context;
use crate::cli::report::{Exit, Outcome};
use crate::cli::serving::{self, Wanted};
use crate::host::{self, Served};
use crate::http::Auth;

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
pub fn run(args: &Args, context: &Context) -> Outcome {
    let auth = match args.auth {
        Authentication::Token => Auth::Bearer,
        Authentication::Off => Auth::Off,
    };
    let settings = serving::settings(
        context,
        Wanted {
            port: args.port,
            auth,
            standalone: false,
            conformance: args.conformance,
        },
    )?;
    match host::serve(&settings) {
        Ok(Served::Ended(end)) => serving::finish(end),
        Ok(Served::Deferred(url)) => {
            let place = url.map_or_else(String::new, |url| format!(" at {url}"));
            context.screen.note(&format!(
                "a server of this checkout is running already{place}"
            ));
            Ok(Exit::Done)
        }
        Err(error) => Err((&error).into()),
    }
}
