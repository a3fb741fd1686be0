//! `majordomus serve`: the shared server without a client of its own.

use std::io::{self, Read as _};
use std::thread;

use nix::sys::stat::{SFlag, fstat};
use tokio::sync::oneshot;

use super::hosting::{Hosting, Stop};
use super::signals::{self, Ends};
use super::{End, HostError, Settings};
use crate::bridge::attach;
use crate::floor::limits::{CALL_WITHOUT_OWNER, LINK_HANDSHAKE};
use crate::lease::document::Document;
use crate::lease::{self, Outcome, ProbeFailure, Token};

/// How `serve` came out.
#[derive(Debug, PartialEq, Eq)]
pub enum Served {
    /// It served, and ended so.
    Ended(End),
    /// A server is running already, at this URL.
    Deferred(Option<String>),
}

/// Serves until a signal, an order, or the end of a stdin that is a pipe. Never ends by idling (I11).
///
/// # Errors
/// What keeps it from serving.
pub fn serve(settings: &Settings) -> Result<Served, HostError> {
    signals::raise_file_limit();
    let ends = Ends::listen().map_err(HostError::Runtime)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(HostError::Runtime)?;
    let served = runtime.block_on(live(settings, ends));
    runtime.shutdown_background();
    served
}

async fn live(settings: &Settings, mut ends: Ends) -> Result<Served, HostError> {
    let site = settings.site.clone().ok_or(HostError::NoCheckout)?;
    let probe = |document: Document| {
        let site = site.clone();
        async move {
            let token = Token::read(&site).map_err(|_| ProbeFailure::Unproven)?;
            let proven = attach::verify(&document, site.root_id(), &token, LINK_HANDSHAKE).await;
            proven
                .map(|_| document.url.clone())
                .map_err(ProbeFailure::from)
        }
    };
    let end_of_pipe = end_of_pipe();
    tokio::pin!(end_of_pipe);
    loop {
        let ownership = match lease::attach_or_own(&site, CALL_WITHOUT_OWNER, &probe).await {
            Outcome::Attached(url) => return Ok(Served::Deferred(url)),
            Outcome::Alone(reason) => return Err(HostError::Alone(reason.to_string())),
            Outcome::Elected(ownership) => ownership,
        };
        let (hosting, _) = Hosting::start(ownership, settings, None).await?;
        let end = tokio::select! {
            signal = ends.first() => {
                hosting.stop(Stop::Signal).await;
                End::Signal(signal)
            }
            () = &mut end_of_pipe => {
                hosting.stop(Stop::ClientGone).await;
                End::Done
            }
            () = hosting.ended() => {
                if hosting.was_ordered() {
                    End::Done
                } else {
                    // Its lock file was replaced; it stands for election again, as a bridge would (I5).
                    continue;
                }
            }
            // What it held is free already, and nothing of it can be waited for.
            () = hosting.severed() => return Ok(Served::Ended(End::Done)),
        };
        hosting.send_last().await;
        return Ok(Served::Ended(end));
    }
}

/// Waits for the end of stdin if it is a pipe; a terminal, a file or `/dev/null` says nothing about who started us.
async fn end_of_pipe() {
    let stat = fstat(io::stdin()).ok();
    let form = stat.map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT);
    if !matches!(form, Some(SFlag::S_IFIFO | SFlag::S_IFSOCK)) {
        return std::future::pending().await;
    }
    let (ended, end) = oneshot::channel();
    let drain = move || {
        let mut scratch = [0; 4096];
        while io::stdin()
            .lock()
            .read(&mut scratch)
            .is_ok_and(|read| read > 0)
        {}
        let _nobody = ended.send(());
    };
    if thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(drain)
        .is_err()
        || end.await.is_err()
    {
        std::future::pending::<()>().await;
    }
}
