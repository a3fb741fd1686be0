//! News that a resource or a list changed, from whoever changes it to whoever asked to be told.
//!
//! Each piece of news wakes everybody who listens, and behind most of them a process: a thousand clients that announce
//! would keep each other awake. So a [`Listener`] hears at once of what changes after a silence, and of what changes soon
//! after that a little later, once for all of it: the more listen, the later.

use std::collections::VecDeque;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::{Instant, sleep_until};

use crate::floor::limits::{NEWS_APART, NEWS_WAITING};

/// What a client lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum List {
    /// `tools/list`.
    Tools,
    /// `resources/list` and `resources/templates/list`.
    Resources,
    /// `prompts/list`.
    Prompts,
}

impl List {
    /// Every list.
    pub const ALL: [Self; 3] = [Self::Tools, Self::Resources, Self::Prompts];
}

/// One piece of news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The resource with this URI changed.
    Resource(String),
    /// A list changed.
    List(List),
}

/// A cheap, cloneable bus of news.
#[derive(Debug, Clone)]
pub struct Changes(broadcast::Sender<News>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(NEWS_WAITING).0)
    }
}

impl Changes {
    /// Says that the resource `uri` changed. Nobody listening is fine.
    pub fn changed(&self, uri: &str) {
        self.tell(News::Resource(uri.to_owned()));
    }

    /// Says that a list changed.
    pub fn list_changed(&self, list: List) {
        self.tell(News::List(list));
    }

    /// Listens from now on.
    #[must_use]
    pub fn listen(&self) -> Listener {
        Listener {
            news: self.0.subscribe(),
            all: self.0.downgrade(),
            heard: VecDeque::new(),
            silent_until: None,
        }
    }

    /// Every single piece of news from now on.
    #[cfg(test)]
    pub(crate) fn each(&self) -> broadcast::Receiver<News> {
        self.0.subscribe()
    }

    fn tell(&self, news: News) {
        // An error only means that no session is open.
        drop(self.0.send(news));
    }
}

/// One of those who listen.
#[derive(Debug)]
pub struct Listener {
    news: broadcast::Receiver<News>,
    /// Tells how many listen.
    all: broadcast::WeakSender<News>,
    /// What was heard and is not passed on yet, each once.
    heard: VecDeque<News>,
    /// Nothing is listened to until then.
    silent_until: Option<Instant>,
}

impl Listener {
    /// Waits for the next piece of news; the same one twice in a row of changes comes once. Cancel safe.
    ///
    /// # Errors
    /// `Lagged` when more happened than is kept: everything may have changed. `Closed` when nothing more will come.
    pub async fn recv(&mut self) -> Result<News, RecvError> {
        if let Some(news) = self.heard.pop_front() {
            return Ok(news);
        }
        if let Some(then) = self.silent_until {
            sleep_until(then).await;
            self.silent_until = None;
        }
        let first = self.news.recv().await;
        let listeners = self.all.upgrade().map_or(1, |all| all.receiver_count());
        let listeners = u32::try_from(listeners).unwrap_or(u32::MAX);
        self.silent_until = Some(Instant::now() + NEWS_APART.saturating_mul(listeners));
        let first = first?;
        loop {
            match self.news.try_recv() {
                Ok(next) if next == first || self.heard.contains(&next) => {}
                Ok(next) => self.heard.push_back(next),
                Err(TryRecvError::Lagged(missed)) => {
                    self.heard.clear();
                    return Err(RecvError::Lagged(missed));
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Ok(first),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::time::{Instant, advance};

    use super::{Changes, List, News};
    use crate::floor::limits::{NEWS_APART, NEWS_WAITING};

    const MANY: u32 = 100;

    fn resource(uri: &str) -> News {
        News::Resource(uri.to_owned())
    }

    /// Guards I15.
    #[tokio::test(start_paused = true)]
    async fn who_listens_hears_at_once_after_a_silence_and_else_once_for_all_that_changed() {
        let changes = Changes::default();
        let mut listeners: Vec<_> = (0..MANY).map(|_| changes.listen()).collect();
        changes.changed("a");
        for listener in &mut listeners {
            let heard = listener.recv().now_or_never();
            assert_eq!(heard, Some(Ok(resource("a"))), "at once");
        }
        for _ in 0..50 {
            changes.changed("a");
            changes.changed("b");
        }
        changes.list_changed(List::Tools);
        let begin = Instant::now();
        for listener in &mut listeners {
            assert_eq!(listener.recv().now_or_never(), None, "not yet");
        }
        for listener in &mut listeners {
            for expected in [resource("a"), resource("b"), News::List(List::Tools)] {
                assert_eq!(listener.recv().await, Ok(expected));
            }
            assert_eq!(listener.recv().now_or_never(), None, "each once");
        }
        assert_eq!(begin.elapsed(), MANY * NEWS_APART);
        advance(MANY * NEWS_APART).await;
        changes.changed("c");
        let heard = listeners[0].recv().now_or_never();
        assert_eq!(heard, Some(Ok(resource("c"))), "after a silence");
    }

    /// Guards I15.
    #[tokio::test(start_paused = true)]
    async fn who_hears_too_late_is_told_that_it_lagged() {
        let changes = Changes::default();
        let mut listener = changes.listen();
        for number in 0..=NEWS_WAITING {
            changes.changed(&number.to_string());
        }
        assert!(listener.recv().await.is_err(), "one was lost");
        drop(changes);
        for _ in 0..NEWS_WAITING {
            assert!(listener.recv().await.is_ok());
        }
        assert!(listener.recv().await.is_err(), "closed");
    }
}
