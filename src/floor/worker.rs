//! Blocking work of one kind, done one piece after another on a thread that exists only while there is any.
//!
//! Not the runtime's pool: that panics where the system gives no thread, and keeps the work for ever.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Is told why where there is no thread to do it on.
pub type Job = Box<dyn FnOnce(Result<(), io::ErrorKind>) + Send>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    running: bool,
}

/// Whoever does the work. Cheap to clone.
#[derive(Clone)]
pub struct Worker {
    name: &'static str,
    queue: Arc<Mutex<Queue>>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Worker {
    /// Makes one, without a thread yet, which will have this name.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        let queue = Arc::default();
        Self { name, queue }
    }

    /// Gives it a job. They run in the order in which they were given, and one that panics takes no other with it.
    pub fn submit(&self, job: Job) {
        let mut queue = self.lock();
        queue.jobs.push_back(job);
        if queue.running {
            return;
        }
        queue.running = true;
        drop(queue);
        let worker = self.clone();
        let thread = thread::Builder::new().name(self.name.to_owned());
        if let Err(error) = thread.spawn(move || worker.drain()) {
            self.give_up(error.kind());
        }
    }

    /// Whether it has nothing to do.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        !self.lock().running
    }

    /// Tells every job that there is no thread for it; the next one asks for a thread again.
    fn give_up(&self, why: io::ErrorKind) {
        tracing::warn!(worker = self.name, %why, "the system gives no thread to work on");
        let mut queue = self.lock();
        queue.running = false;
        let jobs = std::mem::take(&mut queue.jobs);
        drop(queue);
        for job in jobs {
            job(Err(why));
        }
    }

    fn drain(&self) {
        loop {
            let mut queue = self.lock();
            let Some(job) = queue.jobs.pop_front() else {
                queue.running = false;
                return;
            };
            drop(queue);
            if catch_unwind(AssertUnwindSafe(|| job(Ok(())))).is_err() {
                tracing::error!(worker = self.name, "a job panicked");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // What a panic left behind is whole: every holder changes it in one step.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
