//! Agreeing in a chat where the notes go: first what it comes to, then, with the code of that, it is done.

use super::answers::{Changed, Sharing};
use super::arguments::ChangeNote;
use super::refusals;
use crate::capabilities::declare::answer;
use crate::capabilities::services::Services;
use crate::memory::consent::{DEFAULT_REFERENCE, Proposal, ProposalError, propose};
use crate::memory::remote::Openness;
use crate::registry::{Answer, Refusal, refusal};

/// What a job makes of a proposal.
type Proposed = Result<(Proposal, bool), Refusal>;

pub(super) async fn share(services: Services, asked: ChangeNote) -> Answer {
    let Some(site) = services.site.clone() else {
        return Err(refusal::NO_CHECKOUT.fill(&[]));
    };
    let job = move || -> Proposed {
        let Some(checkout) = site.checkout() else {
            return Err(refusal::NO_CHECKOUT.fill(&[]));
        };
        let refused = |error: ProposalError| refusal::UNSHARED.fill(&[&error]);
        let proposal =
            propose(site.root(), &asked.remote, DEFAULT_REFERENCE, false).map_err(refused)?;
        let Some(code) = &asked.code else {
            return Ok((proposal, false));
        };
        if *code != proposal.code() {
            return Err(refusal::OTHER_CODE.fill(&[]));
        }
        proposal
            .carry_out(site.root(), &checkout.common_dir)
            .map_err(refused)?;
        Ok((proposal, true))
    };
    let done = services.memory.aside(job).await;
    let (proposal, done) = done.map_err(|error| refusals::not_saved(&error))??;
    answer(&Changed::sharing(Sharing {
        message: told(&proposal, done),
        code: (!done).then(|| proposal.code()),
        remote: proposal.identity,
        reference: proposal.reference,
        done,
    }))
}

/// What it comes to, in words for the person.
fn told(proposal: &Proposal, done: bool) -> String {
    let Proposal {
        identity,
        reference,
        openness,
        ..
    } = proposal;
    if done {
        return format!(
            "Notes of this repository go to {identity} from now on. Commit .ai/majordomus.toml, so that the team's other checkouts know of it."
        );
    }
    let readers = match openness {
        Openness::Open => {
            "Strangers can read that remote, so everybody in the world can read the notes; a person will have to promote each note that an agent writes."
        }
        Openness::Closed => "Strangers cannot read that remote.",
        Openness::Unknown => "Whether strangers can read that remote is not known.",
    };
    format!(
        "The notes of this repository, also those that were written before, would go to {identity} at {reference}, where all who can read that remote can read them. \
         {readers} What was pushed stays in the remote's history. It is written into .ai/majordomus.toml, for the whole team. Nothing is done yet: ask the \
         person you work for, and call this again with the code if they agree."
    )
}
