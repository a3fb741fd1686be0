//! Three clients of rmcp in one checkout: the owner's, a bridge's and one over HTTP; then the owner is killed.
//!
//! Run as `majordomus-outside-rmcp BINARY`.

mod client;
mod place;
mod scenario;

use std::error::Error;
use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use tokio::time::timeout;

use client::Era;
use place::Place;

pub type Failure = Box<dyn Error + Send + Sync>;
pub type Outcome<T> = Result<T, Failure>;

/// How long a scenario may take.
const BOUND: Duration = Duration::from_secs(60);

/// Fails with the evidence unless the condition holds.
pub fn expect(holds: bool, what: &str, evidence: &dyn Debug) -> Outcome<()> {
    if holds {
        return Ok(());
    }
    Err(format!("{what}: {evidence:?}").into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let binary: PathBuf = std::env::args_os().nth(1).ok_or("usage: BINARY")?.into();
    let legacy = [
        ProtocolVersion::V_2024_11_05,
        ProtocolVersion::V_2025_03_26,
        ProtocolVersion::V_2025_06_18,
        ProtocolVersion::V_2025_11_25,
    ];
    let eras = legacy.map(Era::Legacy).into_iter();
    for era in eras.chain([Era::Modern, Era::Auto]) {
        let place = Place::new(&binary).await?;
        let outcome = match timeout(BOUND, scenario::three_clients(&place, &era)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(format!("not within {BOUND:?}").into()),
        };
        if let Err(failure) = outcome {
            println!("FAILED - {era:?}; what the servers said:\n{}", place.said());
            return Err(failure);
        }
        println!("ok - {era:?}: owner, bridge and direct HTTP");
    }
    Ok(())
}
