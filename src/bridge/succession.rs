//! From one owner to the next: when a bridge looks, when it stands for election, and what it carries over.

use std::time::Duration;

use tokio::time::Instant;

use super::alone::Alone;
use super::attach::{Far, Link};
use super::ledger::LinkEnd;
use super::opening::PATIENCE;
use super::quest::{self, Again, Find, Quest};
use super::watch::{Tick, Watch};
use super::{Bridge, Turn};
use crate::floor::limits::{CALL_WITHOUT_OWNER, DRAIN, OUTBOUND_BYTES, SILENT_CLIENT};
use crate::link::line::{Line, Verb};
use crate::mcp::failure;

/// How long a process whose host was told to hand over leaves the lease to others.
const GIVE_WAY: Duration = Duration::from_millis(100);

/// How long a client whose input ended may take to read what it is still told.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(500);

impl Bridge {
    /// Does what the state asks for by itself; `Some` when it needs another module.
    pub(super) async fn settle(&mut self) -> Option<Turn> {
        if let Some(ended) = self.input_ended {
            let drained = !self.ledger.is_waiting() && self.output.pending() == 0;
            // Without a server the time to find one comes first: a client may say all it has in one breath.
            let patience = if self.link.is_none() {
                DRAIN + CALL_WITHOUT_OWNER
            } else {
                DRAIN
            };
            if drained || ended.elapsed() >= patience + LAST_WORDS {
                return Some(Turn::Gone);
            }
            if ended.elapsed() >= patience {
                let left = self.ledger.abandon(failure::UNANSWERED);
                if !left.is_empty() {
                    tracing::warn!(
                        requests = left.len(),
                        "the client left, and requests have no answer"
                    );
                }
                for (seq, answer) in left {
                    self.deliver(seq, &answer);
                }
            }
        }
        self.send_unsent();
        if self.link.is_some() {
            return None;
        }
        self.waiting_since = match (self.waiting_since, self.ledger.is_waiting()) {
            (since, true) => Some(since.unwrap_or_else(Instant::now)),
            (_, false) => None,
        };
        if self.quest.is_none() && !self.waits_for_host {
            let silent = self.is_silent() && self.started.elapsed() >= SILENT_CLIENT;
            if self.site.is_none() {
                return (self.ledger.is_waiting() || silent)
                    .then_some(Turn::Alone(Alone::NoCheckout));
            }
            if self.stands || silent || self.ledger.wants_owner() {
                self.stands = true;
                self.quest = self.stand(Duration::ZERO, LinkEnd::Broke);
            } else {
                self.answer_opening().await;
            }
        }
        // Once it has answered, what of the opening comes next need not wait again.
        let begun = self.opening.has_begun();
        let due = |since: Instant| begun || since.elapsed() >= PATIENCE;
        if self.waiting_since.is_some_and(due) {
            self.answer_opening().await;
        }
        None
    }

    /// Ends the link from this side: what was at its other end is not to be trusted any more.
    pub fn cut(&mut self, cause: &str) {
        self.on_link_end(cause);
    }

    /// The link is gone: what it did not answer goes to the next owner, and the search for one begins at once (I7).
    pub(super) fn on_link_end(&mut self, cause: &str) {
        let Some(link) = self.link.take() else { return };
        let drained = self.draining;
        tracing::info!(
            cause,
            drained,
            "the server is gone, looking for the next one"
        );
        let end = if drained {
            LinkEnd::Drained
        } else {
            LinkEnd::Broke
        };
        self.lose(end);
        self.stands = true;
        if matches!(link.far, Far::Alone) || self.quest.is_none() {
            // A host of this process that ended in order gave way to another one: it gets a moment to take over.
            let gives_way = matches!(link.far, Far::Own) && drained;
            let after = if gives_way { GIVE_WAY } else { Duration::ZERO };
            self.quest = self.stand(after, end);
        }
    }

    pub(super) fn on_found(&mut self, find: Find) -> Option<Turn> {
        self.quest = None;
        match find {
            Find::Attached(link) => {
                self.leave_alone();
                self.take(*link);
                None
            }
            Find::Elected(ownership) => {
                self.leave_alone();
                self.waits_for_host = true;
                Some(Turn::Elected(ownership))
            }
            Find::Nobody => None,
            Find::Alone(reason) => {
                self.quest = self.search_on(Again::Soon);
                // Already alone: the search just goes on.
                self.link.is_none().then_some(Turn::Alone(reason))
            }
        }
    }

    pub(super) fn on_tick(&mut self) -> Option<Turn> {
        let link = self.link.as_mut();
        let watched = link.filter(|link| matches!(link.far, Far::Owner(_)))?;
        if !self.ledger.is_waiting() || self.output.pending() > OUTBOUND_BYTES {
            self.watch.heard();
            return None;
        }
        match self.watch.tick() {
            Tick::Early => None,
            Tick::Ask => {
                watched.writer.queue(Line::bare(0, Verb::Ping));
                None
            }
            Tick::Stalled => {
                let pid = self.site.as_ref().and_then(quest::named_owner);
                self.link = None;
                self.lose(LinkEnd::Drained);
                self.quest = self.search_on(Again::Soon);
                Some(Turn::Alone(Alone::Stalled { pid }))
            }
        }
    }

    /// Takes a link in the place of the one before: soft state first, then what has no answer, then new frames.
    pub fn take(&mut self, mut link: Link) {
        for line in self.ledger.opening() {
            link.writer.queue(line);
        }
        if !matches!(link.far, Far::Alone) {
            self.quest = None;
        } else if self.quest.is_none() {
            // It was elected, and its host could not serve: others may, so the search goes on (I3).
            self.quest = self.search_on(Again::Later);
        }
        self.link = Some(link);
        self.opening.end();
        self.watch = Watch::default();
        self.draining = false;
        self.write_broken = false;
        self.waits_for_host = false;
        self.stands = true;
        self.waiting_since = None;
    }

    /// Leaves the server of this process's own for one that is shared: what runs there goes along.
    fn leave_alone(&mut self) {
        if self.link.take().is_some() {
            self.lose(LinkEnd::Drained);
        }
    }

    fn lose(&mut self, end: LinkEnd) {
        for (seq, answer) in self.ledger.lost(end) {
            self.deliver(seq, &answer);
        }
        self.draining = false;
        self.write_broken = false;
    }

    fn stand(&self, after: Duration, end: LinkEnd) -> Option<Quest> {
        let site = self.site.as_ref()?;
        Some(Quest::stand(site, self.identity.clone(), after, end))
    }

    fn search_on(&self, first: Again) -> Option<Quest> {
        let site = self.site.as_ref()?;
        Some(Quest::again(site, self.identity.clone(), first))
    }
}
