//! A checkout with the real launcher in it, and a stand-in for cargo that tests can hold and fail.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

use crate::support::build;

/// How long a test waits for anything before it fails.
const BOUND: Duration = Duration::from_secs(20);

/// The tools the launcher may use, beside a shell; nothing else is on its PATH.
const TOOLS: &[&str] = &[
    "basename", "cat", "chmod", "cp", "dirname", "env", "find", "flock", "git", "head", "mkdir",
    "mv", "nice", "readlink", "rm", "sleep", "tail", "touch", "wc",
];

/// Prints who it is, how it was called and what it reads.
const SERVER: &str = r#"#!/bin/sh
echo "server LABEL"
printf 'argument %s\n' "$@"
echo "share $MAJORDOMUS_SHARE"
echo "folder $(pwd -P)"
cat
"#;

/// Stands in for cargo: notes the call, waits at the gate, then fails or leaves an executable.
const CARGO: &str = r#"#!/bin/sh
echo "cargo speaks on stdout"
echo "cargo speaks on stderr" >&2
echo "$*" >>'HOME/calls'
profile=debug
while [ $# -gt 0 ]; do
    case $1 in
        --release) profile=release ;;
        --target-dir) out=$2 ;;
    esac
    shift
done
# The test holds the lock until it opens the gate; of a test that was killed, the kernel lets go.
exec 9<'HOME/gate' && flock --shared 9
[ -e 'HOME/open' ] && [ ! -e 'HOME/fail' ] || exit 101
mkdir -p "$out/$profile"
sed "s/LABEL/built as $profile/" 'HOME/server' >"$out/$profile/beside.$$"
chmod 755 "$out/$profile/beside.$$"
mv "$out/$profile/beside.$$" "$out/$profile/majordomus"
"#;

/// Whether the launcher finds `setsid`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Setsid {
    Present,
    Absent,
}

/// A temporary folder with a checkout, a stand-in for cargo and a small PATH.
pub(super) struct Checkout {
    folder: TempDir,
    root: PathBuf,
    /// Builds wait for its lock, without a look now and then: they end with the test, however it ends.
    gate: File,
}

impl Checkout {
    pub(super) fn new() -> Self {
        Self::named("checkout", Setsid::Present)
    }

    pub(super) fn named(name: &str, setsid: Setsid) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap().join(name);
        for part in ["bin", "src", "share"] {
            fs::create_dir_all(root.join(part)).unwrap();
        }
        for source in ["src/main.rs", "share/page.html", "Cargo.toml", "Cargo.lock"] {
            fs::write(root.join(source), "").unwrap();
        }
        let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin/majordomus-mcp");
        build::executable(
            &root.join("bin/majordomus-mcp"),
            fs::read(launcher).unwrap(),
        );
        let home = folder.path().canonicalize().unwrap().join("home");
        fs::create_dir(&home).unwrap();
        let gate = File::create(home.join("gate")).unwrap();
        gate.lock().unwrap();
        let checkout = Self { folder, root, gate };
        fs::create_dir(checkout.path_folder()).unwrap();
        fs::write(checkout.home().join("server"), SERVER).unwrap();
        let home = checkout.home().display().to_string();
        build::executable(
            &checkout.path_folder().join("cargo"),
            CARGO.replace("HOME", &home),
        );
        for tool in TOOLS.iter().chain(&["sed", "sh"]) {
            symlink(found(tool), checkout.path_folder().join(tool)).unwrap();
        }
        if setsid == Setsid::Present {
            symlink(found("setsid"), checkout.path_folder().join("setsid")).unwrap();
        }
        checkout
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn launcher(&self) -> PathBuf {
        self.root.join("bin/majordomus-mcp")
    }

    pub(super) fn private(&self) -> PathBuf {
        self.root.join("target/launcher/majordomus")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn home(&self) -> PathBuf {
        self.outside().join("home")
    }

    fn path_folder(&self) -> PathBuf {
        self.outside().join("path")
    }

    /// Lets builds finish.
    pub(super) fn open_gate(&self) {
        File::create(self.home().join("open")).unwrap();
        self.gate.unlock().unwrap();
    }

    /// Makes builds fail.
    pub(super) fn break_builds(&self) {
        File::create(self.home().join("fail")).unwrap();
    }

    pub(super) fn remove_cargo(&self) {
        fs::remove_file(self.path_folder().join("cargo")).unwrap();
    }

    /// The builds asked of cargo so far.
    pub(super) fn calls(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.home().join("calls")).unwrap_or_default();
        calls.lines().map(str::to_owned).collect()
    }

    /// Puts a server at `path` of the checkout, dated `age` ago.
    pub(super) fn server(&self, path: &str, label: &str, age: Duration) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        build::executable(&path, SERVER.replace("LABEL", label));
        date(&path, age);
    }

    /// Dates every source `age` ago.
    pub(super) fn sources(&self, age: Duration) {
        for source in [
            "src/main.rs",
            "src",
            "share/page.html",
            "share",
            "Cargo.toml",
            "Cargo.lock",
        ] {
            date(&self.root.join(source), age);
        }
    }

    /// The launcher, started the way a client starts a server.
    pub(super) fn start(&self) -> Command {
        self.start_as(&self.launcher())
    }

    pub(super) fn start_as(&self, program: &Path) -> Command {
        let mut start = command(program);
        start
            .env_clear()
            .env("PATH", self.path_folder())
            .env("HOME", self.home())
            .current_dir(self.outside())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        start
    }

    /// Files that an interrupted or finished build must not leave.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join("target/launcher")) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "majordomus").collect()
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.root.join(".ai/local/build.log")).unwrap_or_default()
    }
}

impl Drop for Checkout {
    /// Lets builds that still run finish: they would write into a folder that is being removed.
    fn drop(&mut self) {
        drop(File::create(self.home().join("open")));
        drop(self.gate.unlock());
        let deadline = Instant::now() + BOUND;
        while !self.leftovers().is_empty() && Instant::now() < deadline {
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

/// Starts, sends one line, closes the input and waits for the end.
pub(super) fn completed(start: &mut Command) -> Run {
    completed_with(start, "a frame")
}

/// The same with a line of the caller's.
pub(super) fn completed_with(start: &mut Command, line: &str) -> Run {
    Run::of(&finish_with(start.spawn().unwrap(), line))
}

/// Sends one line to a started launcher, closes its input and waits for its end.
pub(super) fn finish(child: Child) -> Output {
    finish_with(child, "a frame")
}

fn finish_with(mut child: Child, line: &str) -> Output {
    // A launcher that refuses does not read.
    drop(writeln!(child.stdin.take().unwrap(), "{line}"));
    child.wait_with_output().unwrap()
}

/// What a finished start left behind.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Run {
    pub(super) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Asserts that the server called `label` ran, read the client's frame, and alone wrote to stdout.
    #[track_caller]
    pub(super) fn served_by(&self, label: &str) {
        assert_eq!(self.code, Some(0), "{self:?}");
        let first = format!("server {label}\nargument mcp\n");
        assert!(self.stdout.starts_with(&first), "{self:?}");
        assert!(self.stdout.ends_with("a frame\n"), "{self:?}");
    }

    /// Asserts that nothing was served, with `cause` and a hint on stderr.
    #[track_caller]
    pub(super) fn refused(&self, cause: &str) {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert!(self.stderr.contains(cause), "{self:?}");
        assert!(self.stderr.contains("\nhint: "), "{self:?}");
    }
}

/// Waits until `condition` holds.
#[track_caller]
pub(super) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !condition() {
        assert!(Instant::now() < deadline, "gave up waiting for {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Sets a file's date to `age` ago.
pub(super) fn date(path: &Path, age: Duration) {
    File::open(path).unwrap().set_modified(now() - age).unwrap();
}

#[expect(
    clippy::disallowed_methods,
    reason = "dates of files are compared with the system's clock"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Where a tool is on this machine.
pub(super) fn found(tool: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|folder| folder.join(tool))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| panic!("{tool} is not on PATH"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the launcher is tried as its own process"
)]
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}
