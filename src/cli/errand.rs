//! What a command has done by the checkout's owner, and does itself where there is none.
//!
//! *Errand*: one call of a capability in this very process, on services of its own. It takes no lease and opens no port; what
//! it touches has locks of its own, which every process of the repository takes, so an owner that comes up meanwhile is in
//! nobody's way.
//!
//! Whoever holds the lease and does not answer is still the owner: nothing is done in its place.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::absence::Absence;
use super::context::Context;
use super::offline;
use super::owner::{Owner, block_on};
use super::report::{Failure, failures};
use crate::capabilities::{self, Services};
use crate::floor::paths::Site;
use crate::lease::document::State;
use crate::registry::Call;
use crate::registry::capability::Kind;

/// How long a server that is just starting is waited for.
const STARTS: Duration = Duration::from_secs(2);
/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(20);

/// Has the owner do what the command of these words stands for; where there is no owner, does it here.
///
/// # Errors
/// When the owner does not answer, or whoever does it refuses.
pub fn run(words: &[&str], arguments: &Value, context: &Context) -> Result<Value, Failure> {
    let site = context.checkout()?;
    block_on(ask_or_do(words, arguments, &site))
}

/// The same, in a future.
///
/// # Errors
/// As [`run`].
pub async fn ask_or_do(words: &[&str], arguments: &Value, site: &Site) -> Result<Value, Failure> {
    match reach(site).await {
        Ok(mut owner) => {
            let registry = offline::registry(Some(site))?;
            let capability = offline::by_words(&registry, words)?;
            owner.call(capability, arguments).await
        }
        Err(absence) if is_nobody(&absence) => {
            let registry = capabilities::registry(&Services::errand(site))
                .map_err(|error| failures::CONTRACT.told(&error))?;
            let capability = offline::by_words(&registry, words)?;
            if capability.kind == Kind::Command && site.checkout().is_none() {
                // Without git, notes lie in the private folder, which has to be there and to be ignored.
                site.prepare().map_err(|error| Failure::from(&error))?;
            }
            let call = Call::plain(arguments.clone(), None);
            Ok(registry.call(capability, call).await?)
        }
        Err(absence) => Err(absence.into()),
    }
}

/// The same for what belongs to the person and not to the checkout, and has locks of its own: it is done here too where the
/// owner cannot be asked, whyever.
///
/// # Errors
/// Whatever it is refused for.
pub async fn ask_or_do_anywhere(
    words: &[&str],
    arguments: &Value,
    site: Option<&Site>,
) -> Result<Value, Failure> {
    let owner = match site {
        Some(site) => reach(site).await.ok(),
        None => None,
    };
    if let Some(mut owner) = owner {
        let registry = offline::registry(site)?;
        let capability = offline::by_words(&registry, words)?;
        return owner.call(capability, arguments).await;
    }
    let registry = capabilities::registry(&Services::nowhere())
        .map_err(|error| failures::CONTRACT.told(&error))?;
    let capability = offline::by_words(&registry, words)?;
    let call = Call::plain(arguments.clone(), None);
    Ok(registry.call(capability, call).await?)
}

/// Reaches the owner; one that is starting is waited for.
async fn reach(site: &Site) -> Result<Owner, Absence> {
    let until = Instant::now() + STARTS;
    loop {
        match Owner::reach(site).await {
            Err(Absence::NotReady(State::Starting)) if Instant::now() < until => sleep(LOOK).await,
            reached => return reached,
        }
    }
}

/// Whether nobody owns here, as far as can be told without taking the lease. An owner that is silent, that runs where this
/// process cannot reach it, or whose token cannot be read is somebody.
fn is_nobody(absence: &Absence) -> bool {
    match absence {
        Absence::NoDocument
        | Absence::Unreadable(_)
        | Absence::OtherCheckout
        | Absence::NotReady(State::Draining)
        | Absence::Unreachable(_)
        | Absence::Unproven => true,
        Absence::NotReady(_)
        | Absence::OtherScope
        | Absence::Forbidden
        | Absence::Silent(_)
        | Absence::NoToken(_) => false,
    }
}
