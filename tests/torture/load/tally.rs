//! What was asked, answered and broken, by phase.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::support::rounds::Times;

/// Where in the load an answer belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Phase {
    #[default]
    Opening,
    Control,
    Warming,
    Judged,
    Closing,
}

/// The numbers of one load.
#[derive(Debug, Default)]
pub(super) struct Tally {
    phase: Cell<Phase>,
    times: RefCell<BTreeMap<(String, Phase), Vec<Duration>>>,
    news: Cell<usize>,
    busy: Cell<usize>,
    degraded: RefCell<BTreeMap<Phase, usize>>,
    /// The first broken promises.
    broken: RefCell<Vec<String>>,
    breaches: Cell<usize>,
}

/// How many broken promises are told in full.
const TOLD: usize = 10;

/// What of a message matters here.
#[derive(Debug, Deserialize)]
pub(super) struct Seen {
    pub(super) id: Option<u64>,
    method: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    result: Option<Outcome>,
}

#[derive(Debug, Deserialize)]
struct Outcome {
    #[serde(default, rename = "isError")]
    is_error: bool,
    #[serde(default, rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Debug, Deserialize)]
struct Meta {
    #[serde(rename = "majordomus/degraded")]
    degraded: Option<IgnoredAny>,
}

impl Seen {
    /// Whether it says something that nobody asked for.
    pub(super) fn is_news(&self) -> bool {
        self.method.is_some()
    }

    /// Whether it was given without an owner.
    pub(super) fn is_degraded(&self) -> bool {
        let meta = self.result.as_ref().and_then(|result| result.meta.as_ref());
        meta.is_some_and(|meta| meta.degraded.is_some())
    }

    fn is_refusal(&self) -> bool {
        self.error.is_some() || self.result.as_ref().is_some_and(|result| result.is_error)
    }
}

impl Tally {
    /// From here on it is this phase.
    pub(super) fn enter(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// A request of this kind begins now; counts with its answer.
    pub(super) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// A request got its answer.
    pub(super) fn answered(
        &self,
        who: &str,
        kind: &str,
        phase: Phase,
        time: Duration,
        seen: &Seen,
    ) {
        if seen.is_degraded() {
            *self.degraded.borrow_mut().entry(phase).or_default() += 1;
        } else if seen.is_refusal() {
            self.breach(format!("{who} was refused: {kind}"));
        }
        let side = if who.starts_with("session") {
            "http"
        } else {
            "stdio"
        };
        let mut times = self.times.borrow_mut();
        times
            .entry((format!("{side} {kind}"), phase))
            .or_default()
            .push(time);
    }

    /// Somebody heard something.
    pub(super) fn heard(&self) {
        self.news.set(self.news.get() + 1);
    }

    /// A request was refused for want of a place, to be sent again.
    pub(super) fn busy(&self) {
        self.busy.set(self.busy.get() + 1);
    }

    /// A promise was broken.
    pub(super) fn breach(&self, what: String) {
        self.breaches.set(self.breaches.get() + 1);
        let mut broken = self.broken.borrow_mut();
        if broken.len() < TOLD {
            broken.push(what);
        }
    }

    /// Panics if a promise was broken.
    pub(super) fn judge(&self) {
        let broken = self.broken.borrow();
        assert!(
            broken.is_empty(),
            "{} broken promises, among them:\n{}",
            self.breaches.get(),
            broken.join("\n")
        );
    }

    pub(super) fn calls(&self) -> usize {
        self.times.borrow().values().map(Vec::len).sum()
    }

    pub(super) fn news(&self) -> usize {
        self.news.get()
    }

    pub(super) fn degraded(&self) -> usize {
        self.degraded.borrow().values().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = self.times.borrow();
        let of = |kind: &str, phase| -> Times {
            let mut sorted = Times::default();
            let known = times.get(&(kind.to_owned(), phase));
            sorted.extend(known.into_iter().flatten().copied());
            sorted
        };
        let mut kinds: Vec<&str> = times.keys().map(|(kind, _)| kind.as_str()).collect();
        kinds.dedup();
        writeln!(f, "     without slow readers, then beside them")?;
        for kind in kinds {
            let (without, beside) = (of(kind, Phase::Control), of(kind, Phase::Judged));
            if beside.percentile(100) > Duration::ZERO {
                writeln!(f, "     {kind:<16} {without}; {beside}")?;
            }
        }
        write!(
            f,
            "     {} pieces of news, answered alone {:?}, sent again for want of a place {}",
            self.news(),
            self.degraded.borrow(),
            self.busy.get()
        )
    }
}
