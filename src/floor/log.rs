//! Where log lines go: standard error for people, `server.log` for the owner.
//!
//! *Log file*: JSON lines, appended by whoever owns the checkout's lease, whatever its client does with standard
//! error. It is attached when ownership begins and detached when it ends. Each line is one `O_APPEND` write, so two
//! processes never share a line; past [`FILE_BYTES`] the file is renamed to `server.log.1` and a new one is begun.
//!
//! Neither stream can hold the process up: a line for standard error waits for room only briefly and is dropped then
//! (a client that never reads its server's standard error must not stop the server), and an end that was closed is no
//! error. The log file survives `O_NONBLOCK`, since a file always takes a write.
//!
//! What is absent: no token, note body or environment value is ever passed to `tracing` (a rule for callers, held by
//! a test that greps); an absolute path of the checkout that slips into a line is replaced here.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Filter, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry};

use super::place::Place;

/// Size past which the log file is rotated.
pub const FILE_BYTES: u64 = 1024 * 1024;

/// How long one line waits for a full standard error before it is dropped.
const PATIENCE_MS: u8 = 20;

/// What a pipe takes in one write without blocking, once it says that it is writable.
const PIECE_BYTES: usize = 512;

/// The file of this process's server, with the server's name: a server that ends late must not take its successor's.
static FILE: Mutex<Option<(String, LogFile)>> = Mutex::new(None);

/// Starts logging, once in a process; a second call does nothing.
///
/// `filter` is what the user asked for (`MAJORDOMUS_LOG`), `default` what a command logs without it. A filter that
/// does not parse is ignored, and said so.
pub fn start(filter: Option<&str>, default: LevelFilter) {
    let asked = filter.map(str::parse::<Targets>);
    let wrong = matches!(asked, Some(Err(_)));
    let people = asked
        .and_then(Result::ok)
        .unwrap_or_else(|| Targets::new().with_default(default));
    // The file never holds less than `info`, or a quiet client would leave nothing to read after a mishap.
    let most = Filter::<Registry>::max_level_hint(&people);
    let file = if most.is_some_and(|most| most > LevelFilter::INFO) {
        people.clone()
    } else {
        Targets::new().with_default(LevelFilter::INFO)
    };
    let started = tracing_subscriber::registry()
        .with(
            tracing_subscriber::fmt::layer()
                .compact()
                .without_time()
                .with_target(false)
                .with_ansi(false)
                .with_writer(|| Stderr)
                .with_filter(people),
        )
        .with(
            tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_current_span(true)
                .with_span_list(false)
                .with_writer(Attached)
                .with_filter(file),
        )
        .try_init();
    if started.is_ok() && wrong {
        tracing::warn!("the log filter is not understood, and was ignored");
    }
}

/// Sends every further line to `path` as well. `root` is the checkout, whose absolute path never appears in a line.
///
/// # Errors
/// When the file cannot be opened for appending; a symlink, a folder or a FIFO counts as that.
pub fn attach(path: &Path, root: &Path, instance: &str) -> io::Result<()> {
    let file = LogFile::open(path, root)?;
    let named = (instance.to_owned(), file);
    *FILE.lock().unwrap_or_else(PoisonError::into_inner) = Some(named);
    Ok(())
}

/// Ends what [`attach`] began for this instance.
pub fn detach(instance: &str) {
    let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    file.take_if(|(of, _)| of == instance);
}

/// Writes `text` to standard error for people, as far as it takes it.
pub fn say(text: &str) {
    let stderr = io::stderr();
    write_patiently(&stderr, text.as_bytes());
}

/// Says whether a person reads standard error: a sign-in link goes to nobody else, and into no log (I14).
#[must_use]
pub fn has_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Writes to a stream that may be closed, full or non-blocking; what it does not take in time is dropped.
fn write_patiently<S: AsFd>(stream: &S, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let mut waiting = [PollFd::new(stream.as_fd(), PollFlags::POLLOUT)];
        match poll(&mut waiting, PollTimeout::from(PATIENCE_MS)) {
            Err(nix::errno::Errno::EINTR) => continue,
            Ok(1..) => {}
            _ => return,
        }
        let piece = &bytes[..bytes.len().min(PIECE_BYTES)];
        match nix::unistd::write(stream, piece) {
            Ok(written) => bytes = &bytes[written..],
            Err(nix::errno::Errno::EINTR | nix::errno::Errno::EAGAIN) => {}
            Err(_) => return,
        }
    }
}

/// Standard error, as `tracing` sees it.
#[derive(Debug)]
struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_patiently(&io::stderr(), bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The attached log file, as `tracing` sees it.
#[derive(Debug)]
struct Attached;

impl<'a> MakeWriter<'a> for Attached {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for Attached {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = file.as_mut() {
            // A full disk must not stop the server, and there is nowhere left to say so.
            drop(file.append(line));
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One log file and its rotation.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    /// What it lies in.
    root: PathBuf,
    file: File,
    /// Size as far as this process knows; another one may have added to it.
    bytes: u64,
    /// What an absolute path of the checkout looks like inside a JSON string, and plainly.
    secrets: Vec<String>,
}

impl LogFile {
    fn open(path: &Path, root: &Path) -> io::Result<Self> {
        let file = open_append(&Place::of(path, &[root])?)?;
        let bytes = file.metadata()?.size();
        let plain = root.to_string_lossy().into_owned();
        let quoted = serde_json::to_string(&plain).unwrap_or_default();
        let escaped = quoted.trim_matches('"').to_owned();
        let mut secrets = vec![escaped, plain];
        // Of a checkout at `/` nothing can be hidden.
        secrets.retain(|secret| secret.len() > 1);
        secrets.dedup();
        Ok(Self {
            path: path.to_owned(),
            root: root.to_owned(),
            file,
            bytes,
            secrets,
        })
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.bytes > FILE_BYTES {
            self.rotate()?;
        }
        let mut text = String::from_utf8_lossy(line).into_owned();
        for secret in &self.secrets {
            text = text.replace(secret, "<checkout>");
        }
        self.bytes += text.len() as u64;
        self.file.write_all(text.as_bytes())
    }

    fn rotate(&mut self) -> io::Result<()> {
        let place = Place::of(&self.path, &[&self.root])?;
        let mut old = place.as_os_str().to_owned();
        old.push(".1");
        std::fs::rename(&place, old)?;
        self.file = open_append(&place)?;
        self.bytes = self.file.metadata()?.size();
        Ok(())
    }
}

/// Opens a plain file for appending, private to the user; never through a symlink, never a FIFO.
fn open_append(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("not a plain file"))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::fd::OwnedFd;

    use super::{FILE_BYTES, LogFile, write_patiently};

    #[test]
    fn a_line_never_holds_the_path_of_the_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("it's \"here\" ü");
        std::fs::create_dir(&root).unwrap();
        let path = root.join("server.log");
        let mut log = LogFile::open(&path, &root).unwrap();
        let line = serde_json::json!({ "message": format!("at {}/x", root.display()) });
        log.append(format!("{line}\n").as_bytes()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"message\":\"at <checkout>/x\"}\n");
    }

    #[test]
    fn a_large_file_is_rotated_and_one_old_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        let line = vec![b'x'; 64 * 1024];
        let mut log = LogFile::open(&path, folder.path()).unwrap();
        for _ in 0..50 {
            log.append(&line).unwrap();
        }
        let size = |path: &std::path::Path| std::fs::metadata(path).unwrap().len();
        assert!(size(&path) <= FILE_BYTES + line.len() as u64);
        assert!(size(&folder.path().join("server.log.1")) > FILE_BYTES);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_symlink_or_a_folder_is_no_log_file() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("target"), &link).unwrap();
        assert!(LogFile::open(&link, folder.path()).is_err());
        assert!(LogFile::open(folder.path(), folder.path()).is_err());
        let fifo = folder.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(LogFile::open(&fifo, folder.path()).is_err());
    }

    #[test]
    fn a_reader_that_never_reads_or_went_away_holds_nobody_up() {
        let (reader, writer) = std::io::pipe().unwrap();
        let writer = OwnedFd::from(writer);
        let line = vec![b'x'; 100_000];
        for _ in 0..3 {
            write_patiently(&writer, &line);
        }
        let mut reader = reader;
        let mut some = [0; 10];
        reader.read_exact(&mut some).unwrap();
        drop(reader);
        write_patiently(&writer, &line);
    }
}
