//! Notices at once when somebody replaces or removes the lease's files (I5).
//!
//! The system tells of changes in the state folder; nothing here looks at it on its own. Where there is no such news,
//! the next session or command still finds out.

use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::floor::paths::Site;
use crate::floor::watch;
use crate::mcp::Admission;

/// How long the folder is left alone after a change: whoever removes it is to finish, and must not find it made anew
/// under its hands.
const QUIET: Duration = Duration::from_millis(300);

/// Watches the site's state folder; cancels `lost` when the lease does not admit any more. Returns only then.
pub(super) async fn watch(site: Site, admission: Admission, lost: CancellationToken) {
    let (changed, mut changes) = mpsc::channel(1);
    let tell = move |event: notify::Result<Event>| {
        if event.as_ref().is_ok_and(|event| event.kind.is_access()) {
            return;
        }
        // Full means that a look is due already.
        let _full = changed.try_send(());
    };
    let watcher = watched(&site, tell);
    if let Err(why) = &watcher {
        tracing::debug!(
            why,
            "no news of the state folder; the next session or command looks"
        );
    }
    // What changed between the publication and this watch is told to nobody.
    if !admission.admits() {
        sleep(QUIET).await;
        lost.cancel();
        return;
    }
    while changes.recv().await.is_some() {
        sleep(QUIET).await;
        if !admission.admits() {
            lost.cancel();
            return;
        }
    }
    drop(watcher);
    std::future::pending::<()>().await;
}

/// Watches the folders of the lease and of the token.
fn watched(
    site: &Site,
    tell: impl Fn(notify::Result<Event>) + Send + 'static,
) -> Result<RecommendedWatcher, String> {
    let mut watcher = watch::watcher(tell)?;
    let told = |error: notify::Error| error.to_string();
    watcher
        .watch(&site.state_dir(), RecursiveMode::NonRecursive)
        .map_err(told)?;
    if let Some(folder) = site.token().parent() {
        watcher
            .watch(folder, RecursiveMode::NonRecursive)
            .map_err(told)?;
    }
    Ok(watcher)
}
