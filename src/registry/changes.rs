//! News that a resource or a list changed, from whoever changes it to whoever asked to be told.

use tokio::sync::broadcast;

use crate::floor::limits::NEWS_WAITING;

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
    pub fn listen(&self) -> broadcast::Receiver<News> {
        self.0.subscribe()
    }

    fn tell(&self, news: News) {
        // An error only means that no session is open.
        drop(self.0.send(news));
    }
}
