//! News of changes in a folder, from the system.
//!
//! The library's watcher has a thread of its own and does not look whether it got one: without it, it panics at its first
//! use, and once more when it is put away. What it was to tell goes with that thread, and that shows here.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use notify::{Event, RecommendedWatcher};

/// Makes a watcher that calls `tell` for each event; it watches nothing yet.
///
/// # Errors
/// In one line, when the system gives no such watcher, or no thread for it.
pub fn watcher(
    tell: impl Fn(notify::Result<Event>) + Send + 'static,
) -> Result<RecommendedWatcher, String> {
    let token = Arc::new(());
    let held = Arc::clone(&token);
    let watcher = notify::recommended_watcher(move |event| {
        let _ = &held;
        tell(event);
    })
    .map_err(|error| error.to_string())?;
    if Arc::strong_count(&token) == 1 {
        // Its thread would have the other half. It is not put away either, which would panic.
        let _forgotten = ManuallyDrop::new(watcher);
        return Err("the watcher has no thread".to_owned());
    }
    Ok(watcher)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use notify::{RecursiveMode, Watcher as _};

    use super::watcher;

    #[test]
    fn a_change_in_a_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let (tell, news) = mpsc::channel();
        let mut watcher = watcher(move |event| {
            let _gone = tell.send(event.is_ok());
        })
        .unwrap();
        watcher
            .watch(folder.path(), RecursiveMode::NonRecursive)
            .unwrap();
        std::fs::write(folder.path().join("a"), "b").unwrap();
        assert!(news.recv_timeout(Duration::from_secs(30)).unwrap());
    }
}
