//! The notes as a server has them: jobs that write and jobs that find, each kind one after another on a thread that exists
//! only while there is something to do. A slow disk holds up nobody but those who ask for notes.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gix_hash::ObjectId;
use tokio::sync::oneshot;

use super::index::{Hit, Index, IndexError};
use super::library::Library;
use super::sync::{Meetings, News, Patience};
use super::team::{Found, Team, TeamError};
use super::watch::Watch;
use crate::floor::error::Chain;
use crate::floor::paths::Site;
use crate::floor::worker::Worker;

/// Why a job was not done.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// There is no folder to keep notes in.
    #[error("there is no checkout to keep notes for")]
    NoPlace,
    /// The folder cannot be made.
    #[error("the folder of the notes cannot be made")]
    Folder(#[source] io::Error),
    /// It failed.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// The system gives no thread to do it on.
    #[error("the system gives no thread to work on: {0}")]
    NoThread(io::ErrorKind),
    /// The job panicked, or the process is ending.
    #[error("the notes are not worked on any more")]
    Gone,
}

struct Place {
    site: Site,
    folder: PathBuf,
    team: Mutex<Team>,
    watch: Mutex<Watch>,
    /// With a connection of its own: to index many notes takes seconds, and no write waits for it.
    finder: Mutex<Finder>,
}

/// What finds notes.
struct Finder {
    team: Team,
    index: Index,
    /// One that ends with this process, as long as the other one cannot be used, and why not.
    spare: Option<(Index, String)>,
}

impl Finder {
    /// An index that has all that `tip` has. Where the one on the disk cannot be used, as on a disk that is full, one is made
    /// in memory of the notes themselves: whoever reads waits for that, and is answered.
    fn index(&mut self, library: &Library, tip: ObjectId) -> Result<&mut Index, TeamError> {
        match self.index.catch_up(library, tip) {
            Ok(_) => {
                self.spare = None;
                Ok(&mut self.index)
            }
            Err(IndexError::Database(error)) => {
                let why = Chain(&error).to_string();
                tracing::warn!(error = why, "notes are looked through without their index");
                let made = self.spare.take().map(|(spare, _)| spare);
                let spare = made.unwrap_or_else(Index::in_memory);
                let (spare, _) = self.spare.insert((spare, why));
                spare.catch_up(library, tip)?;
                Ok(spare)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The notes of one repository. Cheap to clone; nothing is opened before the first job.
#[derive(Clone)]
pub struct Memory {
    place: Option<Arc<Place>>,
    worker: Worker,
    finder: Worker,
    sync: Option<Meetings>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

impl Memory {
    /// Describes the notes of a checkout's repository; without one there are none.
    #[must_use]
    pub fn of(site: Option<&Site>) -> Self {
        Self::with(site, Patience::Server, Arc::new(|_| {}))
    }

    /// The same, and tells `news` of each note that a meeting with the team changed here.
    #[must_use]
    pub fn telling(site: Option<&Site>, news: News) -> Self {
        Self::with(site, Patience::Server, news)
    }

    /// Describes the notes of a checkout's repository for a process that ends when its one call is done.
    #[must_use]
    pub fn errand(site: &Site) -> Self {
        Self::with(Some(site), Patience::Errand, Arc::new(|_| {}))
    }

    fn with(site: Option<&Site>, patience: Patience, news: News) -> Self {
        let place = site.map(|site| {
            let folder = site.notes_dir();
            let team = || Team::at(&folder, site.writes());
            Arc::new(Place {
                team: Mutex::new(team()),
                watch: Mutex::new(Watch::new(site.writes())),
                finder: Mutex::new(Finder {
                    team: team(),
                    index: Index::at(&folder),
                    spare: None,
                }),
                site: site.clone(),
                folder,
            })
        });
        Self {
            place,
            worker: Worker::new("notes"),
            finder: Worker::new("recall"),
            sync: site.map(|site| Meetings::of(site, patience, news)),
        }
    }

    /// The meetings with the team's remote; none where there are no notes.
    #[must_use]
    pub fn sync(&self) -> Option<&Meetings> {
        self.sync.as_ref()
    }

    /// Whether something happened to the file of what was written that nobody was told of.
    #[must_use]
    pub fn has_news(&self) -> bool {
        let place = self.place.as_ref();
        place.is_some_and(|place| place.watch().is_news())
    }

    /// What happened to the file of what was written, once.
    #[must_use]
    pub fn happened(&self) -> Option<String> {
        self.place.as_ref()?.watch().take()
    }

    /// Runs a job that writes: the folder is made if it is not there.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    ///
    /// # Errors
    /// Where the job cannot be begun, and whatever it fails with.
    pub async fn write<T, F>(&self, job: F) -> Result<T, MemoryError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Team, &Site) -> Result<T, TeamError> + Send + 'static,
    {
        self.run(move |place| {
            crate::floor::fs::make_directory(&place.folder, 0o700).map_err(MemoryError::Folder)?;
            place.with(job)
        })
        .await
    }

    /// Runs a job that makes nothing.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    ///
    /// # Errors
    /// Where the job cannot be begun, and whatever it fails with.
    pub async fn read<T, F>(&self, job: F) -> Result<T, MemoryError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Team, &Site) -> Result<T, TeamError> + Send + 'static,
    {
        self.run(move |place| place.with(job)).await
    }

    /// Runs a job that finds notes in an index that has all that is committed, and answers those notes.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    ///
    /// # Errors
    /// Where the job cannot be begun, the index cannot be used, and whatever it fails with.
    pub async fn find<F>(&self, job: F) -> Result<Vec<Found>, MemoryError>
    where
        F: FnOnce(&mut Index) -> Result<Vec<Hit>, IndexError> + Send + 'static,
    {
        let place = self.place.clone().ok_or(MemoryError::NoPlace)?;
        run(&self.finder, move || {
            // What a panic left behind is whole: files are closed, and opened again.
            let mut finder = place.finder.lock().unwrap_or_else(PoisonError::into_inner);
            // What is kept is found, also where another process, or this one, could not commit it.
            if let Err(error) = finder.team.commit() {
                tracing::warn!(error = %Chain(&error), "a note is saved, and could not be committed");
            }
            let Some((library, tip)) = finder.team.look().map_err(TeamError::from)? else {
                return Ok(Vec::new());
            };
            let index = finder.index(&library, tip)?;
            let hits = job(index).map_err(TeamError::from)?;
            Ok(finder.team.load(&library, tip, &hits)?)
        })
        .await
    }

    /// Why notes are found without the index on the disk, if they are.
    #[must_use]
    pub fn without_index(&self) -> Option<String> {
        let finder = self.place.as_ref()?.finder.lock();
        let finder = finder.unwrap_or_else(PoisonError::into_inner);
        finder.spare.as_ref().map(|(_, why)| why.clone())
    }

    /// Runs a job that touches no note, and that may take too long for whoever answers others meanwhile.
    ///
    /// Cancel safety: dropping the future does not stop the job.
    ///
    /// # Errors
    /// Where the job cannot be begun.
    pub async fn aside<T, F>(&self, job: F) -> Result<T, MemoryError>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        run(&self.worker, move || Ok(job())).await
    }

    async fn run<T, F>(&self, job: F) -> Result<T, MemoryError>
    where
        T: Send + 'static,
        F: FnOnce(&Place) -> Result<T, MemoryError> + Send + 'static,
    {
        let place = self.place.clone().ok_or(MemoryError::NoPlace)?;
        run(&self.worker, move || job(&place)).await
    }
}

async fn run<T, F>(worker: &Worker, job: F) -> Result<T, MemoryError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, MemoryError> + Send + 'static,
{
    let (tell, told) = oneshot::channel();
    worker.submit(Box::new(move |thread| {
        let done = thread.map_err(MemoryError::NoThread).and_then(|()| job());
        // Nobody waits any more: the work is done all the same.
        drop(tell.send(done));
    }));
    told.await.unwrap_or(Err(MemoryError::Gone))
}

impl Place {
    fn with<T>(
        &self,
        job: impl FnOnce(&mut Team, &Site) -> Result<T, TeamError>,
    ) -> Result<T, MemoryError> {
        // What a panic left behind is whole: files are closed, and opened again.
        let mut team = self.team.lock().unwrap_or_else(PoisonError::into_inner);
        self.watch().look();
        let done = job(&mut team, &self.site);
        self.watch().look();
        Ok(done?)
    }

    fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
