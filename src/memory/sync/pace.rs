//! How often the team's remote is asked beside somebody who reads: the more often it failed in a row, the less often, and not
//! at all where trying again helps nobody.

use std::time::{Duration, Instant};

use crate::floor::limits::{NOTES_APART, NOTES_APART_MOST};

/// How a meeting went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    /// The two met.
    Well,
    /// Something that passes by itself: no network, a remote that is slow, a full disk.
    Wrong,
    /// Something that somebody has to change: no access, no credentials, a rule of the remote, a rewritten ref.
    Nowhere,
}

/// When the remote was asked last, and how long it is left alone since.
#[derive(Debug)]
pub(super) struct Pace {
    asked: Option<Instant>,
    apart: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            asked: None,
            apart: NOTES_APART,
        }
    }
}

impl Pace {
    /// Whether it may be asked on the side again.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.asked
            .is_none_or(|asked| now.saturating_duration_since(asked) >= self.apart)
    }

    /// Notes that it is asked.
    pub(super) fn ask(&mut self, now: Instant) {
        self.asked = Some(now);
    }

    /// Notes how that went. A write and `majordomus sync` ask whenever they come, so what was given up goes on with either.
    pub(super) fn note(&mut self, went: Went) {
        self.apart = match went {
            Went::Well => NOTES_APART,
            Went::Wrong => self.apart.saturating_mul(2).min(NOTES_APART_MOST),
            Went::Nowhere => Duration::MAX,
        };
    }
}

/// Asking what the team has, and sending what it does not have: who may read need not be let to write.
#[derive(Debug, Default)]
pub(super) struct Paces {
    /// Taking in.
    pub(super) pull: Pace,
    /// Sending.
    pub(super) push: Pace,
}

/// What is done on the side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// It is too soon.
    Nothing,
    /// Only what the team has is taken in.
    Pull,
    /// Both.
    Both,
}

impl Paces {
    /// Notes that both are asked.
    pub(super) fn ask(&mut self, now: Instant) {
        self.pull.ask(now);
        self.push.ask(now);
    }

    /// What is to be done now, which is noted.
    pub(super) fn beside(&mut self, now: Instant) -> Beside {
        match (self.pull.is_due(now), self.push.is_due(now)) {
            (false, _) => Beside::Nothing,
            (true, false) => {
                self.pull.ask(now);
                Beside::Pull
            }
            (true, true) => {
                self.ask(now);
                Beside::Both
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Beside, NOTES_APART, NOTES_APART_MOST, Pace, Paces, Went};

    /// For how long a remote that was just asked is left alone.
    fn rest(pace: &mut Pace) -> Option<Duration> {
        let now = Instant::now();
        pace.ask(now);
        assert!(!pace.is_due(now));
        let steps = (1..=60).map(|step| NOTES_APART * step);
        steps.into_iter().find(|after| pace.is_due(now + *after))
    }

    #[test]
    fn a_remote_that_fails_is_asked_less_and_less_and_one_that_refuses_not_on_the_side() {
        let mut pace = Pace::default();
        assert!(pace.is_due(Instant::now()));
        assert_eq!(rest(&mut pace), Some(NOTES_APART));
        let mut rests = Vec::new();
        for _ in 0..6 {
            pace.note(Went::Wrong);
            rests.push(rest(&mut pace).unwrap());
        }
        assert!(rests.is_sorted() && rests[0] > NOTES_APART, "{rests:?}");
        assert_eq!(rests.last(), Some(&NOTES_APART_MOST));
        pace.note(Went::Nowhere);
        assert_eq!(rest(&mut pace), None);
        pace.note(Went::Wrong);
        assert_eq!(rest(&mut pace), Some(NOTES_APART_MOST));
        pace.note(Went::Well);
        assert_eq!(rest(&mut pace), Some(NOTES_APART));
    }

    #[test]
    fn a_remote_that_takes_nothing_is_still_asked_for_what_the_team_has() {
        let mut paces = Paces::default();
        let mut now = Instant::now();
        assert_eq!(paces.beside(now), Beside::Both);
        assert_eq!(paces.beside(now), Beside::Nothing);
        paces.push.note(Went::Nowhere);
        now += NOTES_APART;
        assert_eq!(paces.beside(now), Beside::Pull);
        assert_eq!(paces.beside(now), Beside::Nothing);
        paces.push.note(Went::Well);
        now += NOTES_APART;
        assert_eq!(paces.beside(now), Beside::Both);
        paces.pull.note(Went::Nowhere);
        now += NOTES_APART_MOST * 2;
        assert_eq!(paces.beside(now), Beside::Nothing);
    }
}
