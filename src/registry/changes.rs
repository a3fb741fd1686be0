//! News that a resource changed, from whoever changes it to whoever subscribed.

use tokio::sync::broadcast;

/// How many pieces of news wait for a slow reader before it is told that it lagged; it then treats every subscribed
/// resource as changed.
const WAITING: usize = 256;

/// A cheap, cloneable bus of changed resource URIs.
#[derive(Debug, Clone)]
pub struct Changes(broadcast::Sender<String>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(WAITING).0)
    }
}

impl Changes {
    /// Says that the resource `uri` changed. Nobody listening is fine.
    pub fn changed(&self, uri: &str) {
        // An error only means that no session is open.
        drop(self.0.send(uri.to_owned()));
    }

    /// Listens from now on.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<String> {
        self.0.subscribe()
    }
}
