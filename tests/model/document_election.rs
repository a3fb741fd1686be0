//! A control: the election that everybody writes first, by the document itself.
//!
//! Create the document exclusively, and you own. It exists: read it, ask whether its owner answers, and if not, *judge* it
//! stale, unlink it, and create again. Reading and unlinking are two steps, so what is unlinked may be another document than
//! the one that was judged.

use stateright::{Model, Property};

/// So many processes, one of whose predecessors died and left its document.
#[derive(Debug)]
pub(crate) struct DocumentElection {
    pub(crate) processes: u8,
}

/// Whose document it is: a process's, or the dead predecessor's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Owner {
    Dead,
    Process(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    Create,
    Read,
    Judge(Judged),
    Unlink,
    Owns,
    Attached,
}

/// What a process has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Judged(Owner);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    document: Option<Owner>,
    phases: Vec<Phase>,
}

impl Model for DocumentElection {
    type State = State;
    type Action = (u8, Phase);

    fn init_states(&self) -> Vec<State> {
        vec![State {
            document: Some(Owner::Dead),
            phases: vec![Phase::Create; usize::from(self.processes)],
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Self::Action>) {
        for (who, phase) in (0..).zip(&state.phases) {
            if !matches!(phase, Phase::Owns | Phase::Attached) {
                actions.push((who, *phase));
            }
        }
    }

    fn next_state(&self, last: &State, (who, phase): Self::Action) -> Option<State> {
        let mut state = last.clone();
        state.phases[usize::from(who)] = match phase {
            Phase::Create if state.document.is_none() => {
                state.document = Some(Owner::Process(who));
                Phase::Owns
            }
            Phase::Create => Phase::Read,
            Phase::Read => match state.document {
                Some(owner) => Phase::Judge(Judged(owner)),
                None => Phase::Create,
            },
            Phase::Judge(Judged(Owner::Dead)) => Phase::Unlink,
            Phase::Judge(Judged(Owner::Process(_))) => Phase::Attached,
            Phase::Unlink => {
                state.document = None;
                Phase::Create
            }
            Phase::Owns | Phase::Attached => return None,
        };
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("one owns", |_, state: &State| {
            let owners = state.phases.iter();
            owners.filter(|phase| **phase == Phase::Owns).count() <= 1
        })]
    }
}
