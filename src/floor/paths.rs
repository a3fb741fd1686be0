//! Where a checkout keeps its files: the one place that knows every path of the product.
//!
//! A *site* is one checkout: its canonical root, its identity, and the two folders that the product writes to. The *state
//! folder* `.ai/local/state/mcp` belongs to this checkout; the *shared folder* `<git common dir>/majordomus` belongs to the
//! repository with all its worktrees and is out of reach of `git clean`. Where there is no git, or its folder cannot be
//! written, `.ai/local/state` takes the shared folder's place.
//!
//! The story: [`Site::discover`] only reads, so that a process may look around in any folder it is started in; [`Site::prepare`]
//! makes the folders, and is called by whoever is about to write. The *root id* says which checkout this is and changes when
//! it is copied; the *scope* says who can share a lock and a loopback address with us: one boot of one kernel, one network
//! namespace. The lease's files are there twice: the *common* ones, and those of a scope whose server stands beside them.

mod case;
mod identity;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::unistd::AccessFlags;

use super::fs::{PRIVATE_DIRECTORY, create_once, is_full, make_directory, sweep_folder};
use super::git::Checkout;
use super::mount;
use super::place::Place;
use super::text::is_hidden;

/// The state folder, relative to the root.
const STATE: &str = ".ai/local/state/mcp";
/// What takes the shared folder's place, relative to the root.
const SHARED_FALLBACK: &str = ".ai/local/state";
/// The shared folder, relative to the git common dir.
const SHARED: &str = "majordomus";
/// The board that owners with the common files share, in the shared folder.
pub const COMMON_BOARD: &str = "board.db";

/// Whether a person named the folder to start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explicit {
    /// `--repo`: a folder that is not there is an error, and a folder without git and `.ai/` is a root of its own.
    Yes,
    /// The working directory, wherever the client happened to start us: what is no checkout is left alone.
    No,
}

/// Whose files of the lease: an owner serves from one of these sets (ADR 0012).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Files {
    /// `server.json` and `server.lock`, where every scope begins.
    Common,
    /// `server.<scope>.json` and `server.<scope>.lock`, beside an owner of another scope.
    Scope,
}

/// Everything about one checkout that does not change while a process lives. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Site(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    root_id: String,
    scope: String,
    checkout: Option<Checkout>,
    /// The common dir turned out not to be writable.
    without_common: AtomicBool,
}

/// Why a checkout cannot be found or its folders cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The folder given by `--repo` cannot be used.
    #[error("{} is not a folder that can be opened", path.display())]
    Start {
        /// The folder as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder of ours cannot be made.
    #[error("cannot make {path}")]
    Make {
        /// The folder, relative to the root.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The root is not where it was.
    #[error("the checkout was moved or removed")]
    Gone,
    /// A folder of ours leads out of the checkout.
    #[error("{path} is a symbolic link out of the checkout")]
    Escape {
        /// The link, relative to the root.
        path: String,
    },
}

impl SiteError {
    /// Returns the command to try next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Gone => "start its clients again in the folder where it is now".to_owned(),
            Self::Start { .. } => "majordomus --repo PATH status".to_owned(),
            Self::Make { path: _, source } if is_full(source) => "df -h".to_owned(),
            Self::Make { path, .. } => format!("ls -ld {path}"),
            Self::Escape { path } => format!("rm {path}"),
        }
    }
}

impl Site {
    /// Finds the checkout that holds `start`: git's top level, else the nearest folder with `.ai/`, else, if the start is
    /// [`Explicit::Yes`], `start` itself. `None` means: serve alone and write nothing. Writes nothing itself.
    ///
    /// `GIT_DIR` is ignored, and symbolic links are resolved.
    ///
    /// # Errors
    /// [`SiteError::Start`], only for an explicit start.
    pub fn discover(start: &Path, start_is_explicit: Explicit) -> Result<Option<Self>, SiteError> {
        let opened = start.canonicalize().and_then(|canonical| {
            if canonical.is_dir() {
                Ok(canonical)
            } else {
                Err(io::ErrorKind::NotADirectory.into())
            }
        });
        let start = match (opened, start_is_explicit) {
            (Ok(canonical), _) => canonical,
            (Err(_), Explicit::No) => return Ok(None),
            (Err(source), Explicit::Yes) => {
                let path = start.to_path_buf();
                return Err(SiteError::Start { path, source });
            }
        };
        let checkout = Checkout::find(&start);
        let root = match (&checkout, start_is_explicit) {
            (Some(checkout), _) => checkout.top.clone(),
            (None, explicit) => match start.ancestors().find(|at| at.join(".ai").is_dir()) {
                Some(root) => root.to_path_buf(),
                None if explicit == Explicit::Yes => start,
                None => return Ok(None),
            },
        };
        let root = case::as_listed(&root);
        let Ok(found) = fs::metadata(&root) else {
            return Ok(None);
        };
        let without_common = match &checkout {
            Some(checkout) => !can_hold_shared(&checkout.common_dir),
            None => true,
        };
        Ok(Some(Self(Arc::new(Inner {
            root_id: identity::root_id(&root, found.dev(), found.ino()),
            scope: identity::scope(),
            root,
            checkout,
            without_common: AtomicBool::new(without_common),
        }))))
    }

    /// Returns the canonical top folder.
    pub fn root(&self) -> &Path {
        &self.0.root
    }

    /// Returns 32 hexadecimal digits that name this checkout: a hash of its canonical path, device and inode.
    pub fn root_id(&self) -> &str {
        &self.0.root_id
    }

    /// Returns the root's last component, for people: other than UTF-8 and control characters are replaced.
    pub fn name(&self) -> String {
        let last = self.0.root.file_name().unwrap_or(self.0.root.as_os_str());
        last.to_string_lossy()
            .chars()
            .map(|c| if is_hidden(c) { '\u{fffd}' } else { c })
            .collect()
    }

    /// Returns the branch that is checked out now; `None` when detached, unknown or without git.
    pub fn branch(&self) -> Option<String> {
        self.0.checkout.as_ref()?.branch()
    }

    /// Returns the commit that is checked out now, in hexadecimal.
    pub fn head(&self) -> Option<String> {
        self.0.checkout.as_ref()?.head()
    }

    /// Returns git's view of the checkout; `None` without git.
    pub fn checkout(&self) -> Option<&Checkout> {
        self.0.checkout.as_ref()
    }

    /// Returns the folder of this checkout's lease and log.
    pub fn state_dir(&self) -> PathBuf {
        self.0.root.join(STATE)
    }

    /// Returns the lease document, `server.json`.
    pub fn lease_document(&self) -> PathBuf {
        self.state_dir().join("server.json")
    }

    /// Returns the lock file, `server.lock`.
    pub fn lease_lock(&self) -> PathBuf {
        self.state_dir().join("server.lock")
    }

    /// Returns the lease document of these files.
    pub fn document(&self, files: Files) -> PathBuf {
        match files {
            Files::Common => self.lease_document(),
            Files::Scope => self
                .state_dir()
                .join(format!("server.{}.json", self.scope())),
        }
    }

    /// Returns the lock file of these files.
    pub fn lock(&self, files: Files) -> PathBuf {
        match files {
            Files::Common => self.lease_lock(),
            Files::Scope => self
                .state_dir()
                .join(format!("server.{}.lock", self.scope())),
        }
    }

    /// Returns the log file, `server.log`.
    pub fn log(&self) -> PathBuf {
        self.state_dir().join("server.log")
    }

    /// Returns one of our paths as a place to write to or to remove from, which lies in the checkout or in git's folder,
    /// whatever somebody has put there since.
    ///
    /// # Errors
    /// As [`Place::of`].
    pub fn place(&self, path: &Path) -> io::Result<Place> {
        let common = self.0.checkout.as_ref().map(|c| c.common_dir.as_path());
        let within: Vec<_> = [self.root()].into_iter().chain(common).collect();
        Place::of(path, &within)
    }

    /// Whether nothing is at the root any more: the checkout was moved or removed under its processes.
    pub fn is_gone(&self) -> bool {
        fs::symlink_metadata(&self.0.root)
            .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Returns the page that `open` makes for the browser to go on from.
    pub fn redirect(&self) -> PathBuf {
        self.state_dir().join("open.html")
    }

    /// Returns the file in which `init` keeps what client files were before.
    pub fn init_record(&self) -> PathBuf {
        self.state_dir().join("init.json")
    }

    /// Returns the file in which `hooks` keeps what client files were before.
    pub fn hooks_record(&self) -> PathBuf {
        self.state_dir().join("hooks.json")
    }

    /// Returns the folder that all worktrees share, or what takes its place.
    pub fn shared_dir(&self) -> PathBuf {
        match &self.0.checkout {
            Some(checkout) if !self.0.without_common.load(Ordering::Relaxed) => {
                checkout.common_dir.join(SHARED)
            }
            _ => self.0.root.join(SHARED_FALLBACK),
        }
    }

    /// Returns the folder of the notes: git's, also where it cannot be written, since a second place would hide what is in the
    /// first; without git, that of the state.
    pub fn notes_dir(&self) -> PathBuf {
        match &self.0.checkout {
            Some(checkout) => checkout.common_dir.join(SHARED),
            None => self.0.root.join(SHARED_FALLBACK),
        }
    }

    /// Returns the token's file: the one that exists, looked for first in the git common dir and then in the checkout, else
    /// where it would be made. So a process that cannot write the common dir still agrees with those that can.
    pub fn token(&self) -> PathBuf {
        let common = self.0.checkout.as_ref().map(|c| c.common_dir.join(SHARED));
        let fallback = self.0.root.join(SHARED_FALLBACK);
        common
            .into_iter()
            .chain([fallback])
            .map(|folder| folder.join("token"))
            .find(|path| fs::symlink_metadata(path).is_ok())
            .unwrap_or_else(|| self.shared_dir().join("token"))
    }

    /// Returns the board's file of an owner at these files: `board.db`, or `board.<scope>.db` of one that serves beside, or
    /// whose file system another kernel may use: two kernels must never share SQLite's write-ahead log.
    pub fn board(&self, files: Files) -> PathBuf {
        let folder = self.shared_dir();
        if files == Files::Common && !mount::is_shared(&folder) {
            return folder.join(COMMON_BOARD);
        }
        folder.join(format!("board.{}.db", self.scope()))
    }

    /// Returns the file of the notes that are not published yet: `writes.db`, or one of this scope where another kernel may
    /// use the file system.
    pub fn writes(&self) -> PathBuf {
        let folder = self.notes_dir();
        if mount::is_shared(&folder) {
            return folder.join(format!("writes.{}.db", self.scope()));
        }
        folder.join("writes.db")
    }

    /// Counts the boards of other scopes: owners beside, other boots, other kernels.
    ///
    /// They are counted and never removed. What would prove that nobody uses one is the scope's lock, and that is each
    /// worktree's own: a lock that is free here says nothing of the other worktrees, which share the board.
    pub fn other_boards(&self) -> usize {
        let entries = fs::read_dir(self.shared_dir()).into_iter().flatten();
        let names = entries.flatten().map(|entry| entry.file_name());
        let is_other = |name: &str| {
            let scope = name.strip_prefix("board.");
            scope
                .and_then(|rest| rest.strip_suffix(".db"))
                .is_some_and(|scope| {
                    scope.len() == 16
                        && scope.bytes().all(|digit| digit.is_ascii_hexdigit())
                        && scope != self.scope()
                })
        };
        names
            .filter(|name| name.to_str().is_some_and(is_other))
            .count()
    }

    /// Whether others of this repository have a board in git's folder, which this process cannot write: it then has one of
    /// its own, and knows nothing of what theirs holds.
    pub fn has_foreign_board(&self) -> bool {
        let common = self.0.checkout.as_ref().map(|c| c.common_dir.join(SHARED));
        common
            .is_some_and(|common| common != self.shared_dir() && common.join(COMMON_BOARD).exists())
    }

    /// Whether an owner of another scope may live although its lock is free: another kernel's locks may not be seen from here.
    pub fn hides_other_scopes(&self) -> bool {
        // Elsewhere than on Linux all processes of this machine are of one scope, so another one is another kernel's.
        cfg!(not(target_os = "linux")) || mount::is_shared(&self.0.root)
    }

    /// Returns 16 hexadecimal digits that name this boot and network namespace.
    pub fn scope(&self) -> &str {
        &self.0.scope
    }

    /// Renders one of our paths for a log or an answer, without the absolute part: relative to the root, or to git's folder.
    pub fn shown(&self, path: &Path) -> String {
        if let Ok(relative) = path.strip_prefix(&self.0.root) {
            return relative.display().to_string();
        }
        let common = self.0.checkout.as_ref().map(|c| &c.common_dir);
        match common.and_then(|common| path.strip_prefix(common).ok()) {
            Some(relative) => Path::new(".git").join(relative).display().to_string(),
            None => "a path outside the checkout".to_owned(),
        }
    }

    /// Makes the folders (0700) and `.ai/local/.gitignore`, and leaves what is there as it is, but for what killed processes
    /// were writing aside.
    ///
    /// A common dir that refuses is given up for `.ai/local/state`, for the rest of this process.
    ///
    /// # Errors
    /// [`SiteError::Make`] and [`SiteError::Escape`], both about the checkout's own folders.
    pub fn prepare(&self) -> Result<(), SiteError> {
        if self.is_gone() {
            return Err(SiteError::Gone);
        }
        let mut path = self.0.root.clone();
        for (component, mode) in [
            (".ai", 0o777),
            ("local", PRIVATE_DIRECTORY),
            ("state", PRIVATE_DIRECTORY),
            ("mcp", PRIVATE_DIRECTORY),
        ] {
            path.push(component);
            self.make(&path, mode)?;
        }
        let ignore = self.0.root.join(".ai/local/.gitignore");
        if fs::symlink_metadata(&ignore).is_err() {
            let made = self.place(&ignore);
            let made = made.and_then(|place| create_once(&place, b"*\n"));
            made.map_err(|source| SiteError::Make {
                path: self.shown(&ignore),
                source,
            })?;
        }
        let shared = self.shared_dir();
        if !shared.starts_with(self.0.root.join(SHARED_FALLBACK))
            && make_directory(&shared, PRIVATE_DIRECTORY).is_err()
        {
            self.0.without_common.store(true, Ordering::Relaxed);
        }
        let root = &self.0.root;
        for folder in [
            root.join(".ai"),
            root.join(".ai/local"),
            self.state_dir(),
            self.shared_dir(),
        ] {
            if let Ok(any) = self.place(&folder.join("any")) {
                sweep_folder(any.folder());
            }
        }
        Ok(())
    }

    fn make(&self, path: &Path, mode: u32) -> Result<(), SiteError> {
        let found = fs::symlink_metadata(path);
        if found.as_ref().is_ok_and(fs::Metadata::is_dir) {
            return Ok(());
        }
        let shown = self.shown(path);
        if found.is_ok_and(|found| found.is_symlink()) {
            let inside = path
                .canonicalize()
                .is_ok_and(|target| target.starts_with(&self.0.root));
            if !inside {
                return Err(SiteError::Escape { path: shown });
            }
        }
        let made = self.place(path);
        let made = made.and_then(|place| make_directory(&place, mode));
        made.map_err(|source| SiteError::Make {
            path: shown,
            source,
        })
    }
}

/// Tells without writing whether the shared folder is there to be written, or could be made.
fn can_hold_shared(common_dir: &Path) -> bool {
    let shared = common_dir.join(SHARED);
    let asked = match fs::symlink_metadata(&shared) {
        Ok(found) if found.is_dir() => shared,
        Ok(_) => return false,
        Err(_) => common_dir.to_path_buf(),
    };
    nix::unistd::access(&asked, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

#[cfg(test)]
mod tests;
