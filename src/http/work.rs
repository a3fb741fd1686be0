//! Calls that outlive the connection they came by.
//!
//! A command must not stop half way because its client hung up, so it runs as a task of its own and the connection
//! only waits for it. No task outlives the release of the lease (I4): the host calls [`Work::abort`] first.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The running tasks of one server.
#[derive(Debug, Default)]
pub struct Work {
    tasks: Mutex<JoinSet<()>>,
}

impl Work {
    /// Runs `task` to its end, whether or not the returned future is still polled; `None` if it was aborted.
    pub(crate) fn run<T, F>(&self, task: F) -> impl Future<Output = Option<T>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (tx, rx) = oneshot::channel();
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            // Nobody waits any more: the work was done all the same.
            let _unheard = tx.send(task.await);
        });
        async move { rx.await.ok() }
    }

    /// Returns how many tasks have not ended.
    #[must_use]
    pub fn running(&self) -> usize {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.len()
    }

    /// Aborts every task; each stops at its next await.
    pub fn abort(&self) {
        self.tasks().abort_all();
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
