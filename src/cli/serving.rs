//! From the command line to the host, and from the host's end to the process's.

use super::commands::store;
use super::context::Context;
use super::report::{Exit, Failure, Outcome, failures};
use crate::capabilities::Provider;
use crate::host::{End, Settings};
use crate::http::Auth;

/// What the host is told beside the context.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// `--port`.
    pub port: Option<u16>,
    /// Whether requests need the token.
    pub auth: Auth,
    /// `--standalone`.
    pub standalone: bool,
    /// `--conformance`.
    pub conformance: bool,
}

/// Puts together what the host needs to know.
///
/// # Errors
/// When `--repo` names no checkout.
pub fn settings(context: &Context, wanted: Wanted) -> Result<Settings, Failure> {
    Ok(Settings {
        site: context.site()?,
        port: wanted.port,
        auth: wanted.auth,
        standalone: wanted.standalone,
        provider: if wanted.conformance {
            Provider::Conformance
        } else {
            Provider::Product
        },
        share: context.settings.share.clone(),
        hooked: context.settings.hooked,
        // Whoever has no home has no stores.
        stores: store::surroundings(context)
            .ok()
            .and_then(|around| store::live::carried(&around)),
    })
}

/// Ends the process as the host ended: after a signal by that very signal, so that whoever started it sees which.
///
/// # Errors
/// When the signal's own end is refused.
pub fn finish(end: End) -> Outcome {
    match end {
        End::Done => Ok(Exit::Done),
        End::Signal(signal) => match signal_hook::low_level::emulate_default_handler(signal) {
            Ok(()) => Ok(Exit::Done),
            Err(error) => Err(failures::NO_SIGNAL.fill(&[&error])),
        },
    }
}
