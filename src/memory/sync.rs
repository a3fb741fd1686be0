//! When the notes of this machine meet those of the team: after a write, and beside a read.
//!
//! Each meeting is one job on a thread of its own, one after another, with its own connection to the outbox: neither a slow
//! remote nor one that hangs holds up a write, a read or anybody else. Who waits for a job waits for a bounded time, and the
//! job goes on without them.

mod pace;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gix_hash::ObjectId;
use tokio::sync::oneshot;
use tokio::time::timeout;
use uuid::Uuid;

use self::pace::{Beside, Paces, Went};
use super::consent::{Consent, consent};
use super::index::Index;
use super::library::{Library, LibraryError, sweep_new};
use super::outcome::Outcome;
use super::place;
use super::remote::{self, Deadline, Remote, RemoteError, TIDY};
use super::team::{FOLDER, SyncError, Team, TeamError};
use crate::floor::error::Chain;
use crate::floor::git;
use crate::floor::limits::{NOTES_SENT, NOTES_WAIT};
use crate::floor::paths::Site;
use crate::floor::worker::Worker;

/// How long whoever asks for a meeting stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// A server: who waits does so for a bounded time, and the work goes on beside everything else.
    Server,
    /// A process that ends with its call, and every meeting with it: it waits to the end, and begins none on the side.
    Errand,
}

/// Told of a note that changed here by a meeting.
pub type News = Arc<dyn Fn(Uuid) + Send + Sync>;

/// How many notes of one meeting are told of: who takes in thousands reads none of them one by one.
const TOLD: usize = 100;

/// What a meeting does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Takes in what the team has.
    Pull,
    /// Sends what the team does not have.
    Publish,
    /// Takes in what the team has, and sends the rest.
    Both,
    /// Takes what the team has now for all that it has, and sends the rest.
    Adopt,
    /// Takes a note out of the history.
    Purge(Uuid),
}

struct Inner {
    site: Site,
    folder: PathBuf,
    writes: PathBuf,
    news: News,
    /// How often the remote is asked on the side.
    paces: Mutex<Paces>,
    /// Calls off the packing of the repository: whoever waits for a meeting does not wait for that.
    tidying: Mutex<Option<Deadline>>,
}

/// The meetings of one repository. Cheap to clone.
#[derive(Clone)]
pub struct Meetings {
    inner: Arc<Inner>,
    worker: Worker,
    patience: Patience,
}

impl std::fmt::Debug for Meetings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meetings").finish_non_exhaustive()
    }
}

impl Meetings {
    /// Describes the meetings of a checkout's repository; nothing is started.
    pub(super) fn of(site: &Site, patience: Patience, news: News) -> Self {
        let inner = Inner {
            site: site.clone(),
            folder: site.notes_dir(),
            writes: site.writes(),
            news,
            paces: Mutex::default(),
            tidying: Mutex::new(None),
        };
        Self {
            inner: Arc::new(inner),
            worker: Worker::new("sync"),
            patience,
        }
    }

    /// Sends what the team does not have, and waits for it as long as a write may.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    pub async fn publish(&self) -> Outcome {
        self.meet(What::Publish).await
    }

    /// Takes in what the team has, and waits for it as long as a write may.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    pub async fn pull(&self) -> Outcome {
        self.meet(What::Pull).await
    }

    /// Takes in what the team has and sends the rest, and waits for it as long as a write may.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    pub async fn both(&self) -> Outcome {
        self.inner.paces().ask(Instant::now());
        self.meet(What::Both).await
    }

    /// Takes what the team has now for all that it has, after its notes were removed or rewritten, and sends the rest.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    pub async fn adopt(&self) -> Outcome {
        self.meet(What::Adopt).await
    }

    /// The same as [`Meetings::both`] beside whoever reads, who does not wait for it; at most once in a while, and less often
    /// where the remote fails. A remote that takes nothing from us is still asked for what the team has.
    pub fn beside(&self) {
        if self.patience == Patience::Errand {
            return;
        }
        let what = match self.inner.paces().beside(Instant::now()) {
            Beside::Nothing => return,
            Beside::Pull => What::Pull,
            Beside::Both => What::Both,
        };
        let inner = Arc::clone(&self.inner);
        self.worker.submit(Box::new(move |thread| {
            if thread.is_ok() {
                let outcome = inner.run(what);
                tracing::debug!(outcome = outcome.word(), "notes were synced beside a read");
            }
        }));
    }

    /// Packs what many writes left, beside everything else; for a server that starts.
    pub fn tidy(&self) {
        let folder = self.inner.folder.join(FOLDER);
        let until = Deadline::after(TIDY);
        *self.tidying() = Some(until.clone());
        // Not in the queue of the meetings: none waits for it.
        Worker::new("tidy").submit(Box::new(move |thread| {
            if thread.is_err() {
                return;
            }
            sweep_new(folder.parent().unwrap_or(&folder));
            match remote::tidy(&folder, &until) {
                Ok(false) => {}
                Ok(true) => tracing::info!("the repository of the notes was packed"),
                Err(error) => tracing::info!(%error, "the repository of the notes is not packed"),
            }
        }));
    }

    fn tidying(&self) -> MutexGuard<'_, Option<Deadline>> {
        let tidying = self.inner.tidying.lock();
        tidying.unwrap_or_else(PoisonError::into_inner)
    }

    async fn meet(&self, what: What) -> Outcome {
        if let Some(tidying) = self.tidying().take() {
            tidying.call_off();
        }
        let (tell, told) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        self.worker.submit(Box::new(move |thread| {
            let outcome = match thread {
                Ok(()) => inner.run(what),
                Err(why) => failed_here("no-thread", format!("the system gives no thread ({why})")),
            };
            // Nobody waits any more: the work was done all the same.
            drop(tell.send(outcome));
        }));
        let wait = match self.patience {
            Patience::Server => NOTES_WAIT,
            // The work has its own bound, and says which.
            Patience::Errand => NOTES_SENT + NOTES_WAIT,
        };
        match timeout(wait, told).await {
            Err(_) => Outcome::TimedOut,
            Ok(Err(_)) => failed_here("ended", "the server is ending".to_owned()),
            Ok(Ok(outcome)) => outcome,
        }
    }
}

/// Takes a note out of the history, here and of the team, and waits for it: a person does so, and sees what comes of it.
#[must_use]
pub fn purge(site: &Site, id: Uuid) -> Outcome {
    let inner = Meetings::of(site, Patience::Errand, Arc::new(|_| {})).inner;
    let outcome = inner.purge(id);
    // Its words are in there too.
    Index::remove(&inner.folder);
    outcome
}

impl Inner {
    fn purge(&self, id: Uuid) -> Outcome {
        let team = Team::at(&self.folder, self.writes.clone());
        if let Some(left) = team.left_with(id) {
            let file = self.site.shown(&left);
            let why = format!("the note is in {file} too, which is of another boot or machine");
            let (word, hint) = ("left", "majordomus notes recover".to_owned());
            return Outcome::Failed { word, why, hint };
        }
        let outcome = self.run(What::Purge(id));
        let (why, hint) = match &outcome {
            Outcome::NotShared { why, hint } => (why.clone(), hint.clone()),
            Outcome::NoRemote => (String::new(), String::new()),
            _ => return outcome,
        };
        let mut team = Team::at(&self.folder, self.writes.clone());
        match team.is_shared() {
            // What the team has would come back with its next note.
            Ok(true) => {
                let why = format!("the team has these notes, and {why}");
                let word = "not-shared";
                Outcome::Failed { word, why, hint }
            }
            Ok(false) => match team.purge(id, None) {
                Ok(_) => outcome,
                Err(error) => told(&error),
            },
            Err(error) => told(&error.into()),
        }
    }

    fn run(&self, what: What) -> Outcome {
        let Some(checkout) = self.site.checkout() else {
            return Outcome::NotShared {
                why: "there is no git here".to_owned(),
                hint: "git init".to_owned(),
            };
        };
        let consent = consent(self.site.root(), &checkout.common_dir);
        if matches!(consent, Consent::Unconfigured) && !has_remote(self.site.root()) {
            return Outcome::NoRemote;
        }
        let Consent::Given {
            push_url,
            remote: name,
            reference,
            protocols,
            ..
        } = &consent
        else {
            return Outcome::NotShared {
                why: consent.to_string(),
                hint: consent
                    .hint()
                    .unwrap_or("majordomus notes share")
                    .to_owned(),
            };
        };
        // What is allowed beyond https and ssh stands in the user's own configuration.
        let local = protocols.contains("file") || protocols.split(':').any(|one| one == "http");
        let before = self.tip();
        let met = self.meet(push_url, reference, local, what);
        self.tell(before);
        match met {
            Ok(()) => {
                let remote = name.clone();
                match what {
                    What::Pull => Outcome::TakenIn { remote },
                    _ => Outcome::Published { remote },
                }
            }
            Err(error) => told(&error),
        }
    }

    /// Where the notes stand here.
    fn tip(&self) -> Option<(Library, ObjectId)> {
        let team = Team::at(&self.folder, self.writes.clone());
        team.look().ok().flatten()
    }

    /// Tells of the notes that changed since. It is a favour: whoever cannot tell which they are tells nothing.
    fn tell(&self, before: Option<(Library, ObjectId)>) {
        let Some((library, after)) = self.tip() else {
            return;
        };
        let before = before.map(|(_, tip)| tip);
        if before == Some(after) {
            return;
        }
        let Ok(changed) = library.differences(before, after) else {
            return;
        };
        for difference in changed.notes.iter().take(TOLD) {
            if let Some((_, id)) = place::parse(&difference.path) {
                (self.news)(id);
            }
        }
    }

    fn meet(&self, url: &str, reference: &str, local: bool, what: What) -> Result<(), SyncError> {
        let mut team = Team::at(&self.folder, self.writes.clone());
        let library = team.library_folder()?;
        let remote = Remote::new(&library, self.site.root(), url, reference, local)?;
        let until = Deadline::after(NOTES_SENT);
        let pull = |team: &mut Team| {
            let pulled = team.pull(&remote, &until);
            self.paces().pull.note(went(&pulled));
            pulled
        };
        match what {
            What::Pull => return pull(&mut team),
            What::Publish => {}
            What::Both => pull(&mut team)?,
            What::Adopt => return team.adopt(&remote, &until),
            What::Purge(id) => return team.purge(id, Some((&remote, &until))).map(drop),
        }
        let published = team.publish(&remote, &until);
        self.paces().push.note(went(&published));
        published
    }

    fn paces(&self) -> MutexGuard<'_, Paces> {
        self.paces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a meeting says of the next one.
fn went(met: &Result<(), SyncError>) -> Went {
    match met {
        Ok(()) => Went::Well,
        Err(SyncError::Rewritten) => Went::Nowhere,
        Err(SyncError::Remote(error)) if !error.is_passing() => Went::Nowhere,
        Err(SyncError::Remote(_) | SyncError::Contended | SyncError::Team(_)) => Went::Wrong,
    }
}

/// Whether the user has any remote here.
fn has_remote(checkout: &Path) -> bool {
    let said = git::command(checkout).arg("remote").output();
    // Who cannot tell is not told that there is none.
    said.map_or(true, |output| {
        !output.status.success() || !output.stdout.is_empty()
    })
}

fn told(error: &SyncError) -> Outcome {
    tracing::info!(error = %Chain(error), "notes were not synced");
    match error {
        SyncError::Rewritten => Outcome::Rewritten,
        SyncError::Contended => Outcome::Deferred,
        SyncError::Remote(error) => match error {
            RemoteError::Lock => Outcome::Deferred,
            error => Outcome::Failed {
                word: error.word(),
                why: error.to_string(),
                hint: error.hint().to_owned(),
            },
        },
        // What is missing here is no full disk, and no fault of the network's.
        SyncError::Team(TeamError::Library(
            cause @ (LibraryError::Read(_) | LibraryError::Headless),
        )) => {
            let what = RemoteError::Broken(Chain(cause).to_string());
            failed_here(what.word(), what.to_string())
        }
        SyncError::Team(error) => failed_here("disk", Chain(error).to_string()),
    }
}

fn failed_here(word: &'static str, why: String) -> Outcome {
    let hint = "majordomus doctor".to_owned();
    Outcome::Failed { word, why, hint }
}
