//! Files that are read whole and replaced whole.
//!
//! Whatever stands at a path of ours may have been put there by a crash, a copy, a person or an attacker, so nothing here
//! follows a symbolic link at the last component, waits for a FIFO, or reads more than it was told to.
//! A file is *replaced* by writing a new one *aside* (same folder, a name nobody else uses) and swapping or renaming it into
//! the old one's place: a reader sees the old bytes or the new ones, never half of either, and never nothing.
//!
//! Nothing of ours is fsynced. After a power cut a file may be empty or old; every reader takes that for what it is, and an fsync
//! in the path of a takeover costs more than the whole takeover (1.35 ms against 0.26 ms, p99 33 ms).

use std::fmt;
use std::fs::{self, DirBuilder, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _,
    PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::libc;

use super::{clock, hex};

/// Mode of every file that is ours alone.
pub const PRIVATE_FILE: u32 = 0o600;
/// Mode of every folder that is ours alone.
pub const PRIVATE_DIRECTORY: u32 = 0o700;

/// How long a file aside may be in the making: a write of ours takes milliseconds.
const LEFT: Duration = Duration::from_mins(1);
/// What tells the names of files aside apart.
const RANDOM_BYTES: usize = 8;

/// What stands where a plain file was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A symbolic link, wherever it points.
    Symlink,
    /// A directory.
    Directory,
    /// A named pipe, a socket or a device.
    Special,
}

impl Kind {
    /// Returns what is not a plain file about this type; `None` for a plain file.
    #[must_use]
    pub fn of(file_type: FileType) -> Option<Self> {
        if file_type.is_file() {
            None
        } else if file_type.is_symlink() {
            Some(Self::Symlink)
        } else if file_type.is_dir() {
            Some(Self::Directory)
        } else {
            debug_assert!(
                file_type.is_fifo()
                    || file_type.is_socket()
                    || file_type.is_block_device()
                    || file_type.is_char_device()
            );
            Some(Self::Special)
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Symlink => "a symbolic link",
            Self::Directory => "a directory",
            Self::Special => "a pipe, socket or device",
        })
    }
}

/// Why a plain file could not be opened or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Nothing is there, or a folder on the way is missing.
    #[error("is not there")]
    Absent,
    /// Something else than a plain file is there.
    #[error("is {0}")]
    NotAFile(Kind),
    /// The file is longer than the caller accepts.
    #[error("is longer than {limit} bytes")]
    TooLong {
        /// The longest that would have been read.
        limit: usize,
    },
    /// The system refused.
    #[error("cannot be used")]
    Io(#[source] io::Error),
}

/// Whether the system refused because this process, or the machine, may open no more files. It says nothing of the file.
#[must_use]
pub fn is_exhausted(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Opens a plain file without following a link at its name and without ever waiting.
///
/// `options` says how (read, write, create); the flags `O_NOFOLLOW`, `O_NONBLOCK` and, by Rust's default, `O_CLOEXEC` are
/// added, and a file that this call creates is 0600.
///
/// # Errors
/// `Absent`, `NotAFile` or `Io`; never `TooLong`.
pub fn open_plain(path: &Path, options: &mut OpenOptions) -> Result<File, FileError> {
    let opened = options
        .mode(PRIVATE_FILE)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) => return Err(explain(path, error)),
    };
    let file_type = file.metadata().map_err(FileError::Io)?.file_type();
    match Kind::of(file_type) {
        None => Ok(file),
        Some(kind) => Err(FileError::NotAFile(kind)),
    }
}

/// Turns a refused open into what stands in the way, so that a person reads "is a symbolic link" and not `ELOOP`.
fn explain(path: &Path, error: io::Error) -> FileError {
    // Below what is no folder there is nothing either, and whoever makes the folder says what stands in its place.
    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        return FileError::Absent;
    }
    match fs::symlink_metadata(path)
        .ok()
        .and_then(|found| Kind::of(found.file_type()))
    {
        Some(kind) => FileError::NotAFile(kind),
        None => FileError::Io(error),
    }
}

/// Reads a plain file of at most `limit` bytes; returns its bytes and its metadata, both of one open file.
///
/// # Errors
/// Every variant of [`FileError`].
pub fn read_plain(path: &Path, limit: usize) -> Result<(Vec<u8>, Metadata), FileError> {
    let file = open_plain(path, OpenOptions::new().read(true))?;
    let metadata = file.metadata().map_err(FileError::Io)?;
    let past = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let told = usize::try_from(metadata.len()).unwrap_or(limit);
    let mut bytes = Vec::with_capacity(told.min(limit).saturating_add(1));
    file.take(past)
        .read_to_end(&mut bytes)
        .map_err(FileError::Io)?;
    if bytes.len() > limit {
        return Err(FileError::TooLong { limit });
    }
    Ok((bytes, metadata))
}

/// Puts a private file with these bytes at `path`, over whatever is there, and returns the new file's metadata.
///
/// A directory at `path` is renamed aside (`NAME.found-<random>`), because it may hold what somebody wants back.
///
/// # Errors
/// What the system said; `path` then holds what it held before, and the file aside is gone.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<Metadata> {
    let aside = Aside::write(path, bytes)?;
    if exchange(&aside.path, path).is_err() {
        if let Err(error) = fs::rename(&aside.path, path) {
            if !is_directory(path) {
                return Err(error);
            }
            fs::rename(path, neighbour(path, "found")?)?;
            fs::rename(&aside.path, path)?;
        }
    } else if is_directory(&aside.path) {
        fs::rename(&aside.path, neighbour(path, "found")?)?;
    }
    // The rename itself moves ctime, so the metadata is taken after it, from the open file: it is ours for certain.
    aside.file.metadata()
}

/// Puts these bytes into somebody's own file at `path`, whole or not at all: it keeps its mode and its owner, and a new one
/// gets `mode`. Nothing is followed at that name.
///
/// The new file is written aside `ours`, which is not among that somebody's files, so that a process that is killed leaves
/// nothing there; where that is another file system, beside `path`.
///
/// # Errors
/// What the system said; `path` then holds what it held before.
pub fn rewrite(path: &Path, bytes: &[u8], mode: u32, ours: &Path) -> io::Result<()> {
    match rewrite_aside(path, bytes, mode, ours) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            rewrite_aside(path, bytes, mode, path)
        }
        done => done,
    }
}

fn rewrite_aside(path: &Path, bytes: &[u8], mode: u32, beside: &Path) -> io::Result<()> {
    let aside = Aside::write(beside, bytes)?;
    let before = fs::symlink_metadata(path).ok();
    if let Some(before) = &before {
        // Only root can give a file away, and only root can have found one of somebody else's here.
        let _given = std::os::unix::fs::fchown(&aside.file, Some(before.uid()), Some(before.gid()));
    }
    let mode = before.map_or(mode, |before| before.mode() & 0o7777);
    aside
        .file
        .set_permissions(fs::Permissions::from_mode(mode))?;
    // It is nobody's state but a person's work: it is on the disk before it takes the other's place.
    aside.file.sync_all()?;
    fs::rename(&aside.path, path)
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Swaps two names in one step. A rename *over* a file makes ext4 and others write the new bytes out first, against a power
/// cut that we do not guard against: 230 us, and milliseconds when the disk is busy; swapped and removed, 50 us.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE)?;
    Ok(())
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Whether [`create_once`] made the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// This call did.
    Now,
    /// Something was there already.
    Before,
}

/// Makes a private file with these bytes at `path` unless something is there; of two racing callers one wins, and nobody
/// sees a file without its bytes (`link(2)`, which never replaces).
///
/// Where hard links do not exist, the file is created exclusively and then written: a reader may see it empty for a moment.
///
/// # Errors
/// What the system said.
pub fn create_once(path: &Path, bytes: &[u8]) -> io::Result<Created> {
    let aside = Aside::write(path, bytes)?;
    match fs::hard_link(&aside.path, path) {
        Ok(()) => return Ok(Created::Now),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(Created::Before),
        Err(_) => {}
    }
    let mut exclusive = OpenOptions::new();
    exclusive.write(true).create_new(true).mode(PRIVATE_FILE);
    match exclusive.open(path) {
        Ok(mut file) => file.write_all(bytes).map(|()| Created::Now),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Created::Before),
        Err(error) => Err(error),
    }
}

/// Makes one folder with this mode; something that is there already is left as it is.
///
/// # Errors
/// What the system said, also when what is there is no directory.
pub fn make_directory(path: &Path, mode: u32) -> io::Result<()> {
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            if fs::metadata(path)?.is_dir() {
                Ok(())
            } else {
                Err(ErrorKind::NotADirectory.into())
            }
        }
        made => made,
    }
}

/// Whether the system refused a file because there is no room for it: then what stands at its path explains nothing.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

/// Removes files that a killed process left aside when it was replacing `path`.
///
/// Call it only where nobody else may be replacing that file. What cannot be removed is left.
pub fn sweep(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let prefix = format!(".{}.new-", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let _left = fs::remove_file(entry.path());
        }
    }
}

/// Removes from a folder what killed processes left aside there when they were replacing any of its files.
///
/// A file aside stands for the length of one write, and this may meet one of a process that lives. So only what is older
/// than [`LEFT`] goes; should a process have stood still for that long in the middle of a write, that write fails, or is
/// done in place where it makes a new file, and what stood there before stands there still.
pub fn sweep_folder(folder: &Path) {
    let latest =
        clock::now_ms().saturating_sub(u64::try_from(LEFT.as_millis()).unwrap_or(u64::MAX));
    let entries = fs::read_dir(folder);
    for entry in entries.into_iter().flatten().flatten() {
        if !is_aside(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let written = entry.metadata().ok().filter(Metadata::is_file);
        if written.is_some_and(|found| u64::try_from(found.mtime() * 1000).unwrap_or(0) < latest) {
            let _left = fs::remove_file(entry.path());
        }
    }
}

/// Whether this is a name that [`neighbour`] makes for a file aside.
fn is_aside(name: &str) -> bool {
    name.starts_with('.')
        && name.rsplit_once(".new-").is_some_and(|(_, random)| {
            random.len() == 2 * RANDOM_BYTES
                && random.bytes().all(|digit| digit.is_ascii_hexdigit())
        })
}

/// A file written aside; its name is removed on drop, which after a rename removes nothing, and after a swap the old file.
#[derive(Debug)]
struct Aside {
    path: PathBuf,
    file: File,
}

impl Aside {
    fn write(target: &Path, bytes: &[u8]) -> io::Result<Self> {
        let path = neighbour(target, "new")?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PRIVATE_FILE)
            .open(&path)?;
        let mut aside = Self { path, file };
        aside.file.write_all(bytes)?;
        Ok(aside)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _renamed = fs::remove_file(&self.path);
    }
}

/// Returns an unused name beside `path`: hidden for a file aside, plain for something a person should find.
fn neighbour(path: &Path, what: &str) -> io::Result<PathBuf> {
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let dot = if what == "new" { "." } else { "" };
    let mut beside = std::ffi::OsString::from(dot);
    beside.push(name);
    beside.push(format!(".{what}-{}", hex::encode(&random)));
    Ok(path.with_file_name(beside))
}

#[cfg(test)]
mod tests;
