//! A fetch in a process of its own, where a test needs another environment, another disk or a death.
//!
//! The process is this test executable again, told to run one test alone.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{Deadline, LONG, Place, REF, Reach, Remote};

/// What the process is told: where the notes are, and the address.
const FOLDER: &str = "REMOTE_TEST_FOLDER";
const URL: &str = "REMOTE_TEST_URL";
/// In the environment of everything that a process apart starts.
const MARK: &str = "REMOTE_TEST_MARK";
/// Begins the line with what came of it.
const RESULT: &str = "came of it: ";

/// A process that fetches into `folder`, started through the words of `wrapper`.
#[expect(
    clippy::disallowed_methods,
    reason = "a test starts itself, and what stands around it"
)]
pub(super) fn fetch(place: &Place, wrapper: &[&str], folder: &Path, url: &str) -> Command {
    let executable = std::env::current_exe().unwrap();
    let mut words = wrapper
        .iter()
        .map(std::ffi::OsString::from)
        .collect::<Vec<_>>();
    words.push(executable.into_os_string());
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .args(["--exact", "--nocapture", "--test-threads=1"])
        .arg("memory::remote::tests::apart::git_variables_of_a_hook_lead_nowhere")
        .env(FOLDER, folder)
        .env(URL, url)
        .env(MARK, place.0.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What came of it: a commit, `none`, or an error's word.
#[track_caller]
pub(super) fn result(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find_map(|line| line.split_once(RESULT));
    let trouble = String::from_utf8_lossy(&output.stderr);
    line.unwrap_or_else(|| panic!("{said} {trouble}"))
        .1
        .to_owned()
}

/// The names of the processes that a process apart of this place started, its own among them.
#[cfg(target_os = "linux")]
pub(super) fn alive(place: &Place) -> Vec<String> {
    let mark = format!("{MARK}={}", place.0.path().display());
    let is_marked = |environ: &[u8]| {
        environ
            .split(|byte| *byte == 0)
            .any(|one| one == mark.as_bytes())
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            let environ = std::fs::read(process.path().join("environ"));
            environ.is_ok_and(|environ| is_marked(&environ))
        })
        .filter_map(|process| std::fs::read_to_string(process.path().join("comm")).ok())
        .map(|name| name.trim().to_owned())
        .collect()
}

fn be_apart() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let folder = Path::new(&folder);
    let url = std::env::var(URL).unwrap();
    let checkout = std::env::var_os(MARK).unwrap();
    let checkout = Path::new(&checkout).join("checkout");
    let remote = Remote::new(folder, &checkout, &url, REF, true).unwrap();
    let came = match remote.fetch(Reach::New, &Deadline::after(LONG)) {
        Ok(tip) => tip.map_or_else(|| "none".to_owned(), |tip| tip.to_string()),
        Err(error) => format!("{} ({error})", error.word()),
    };
    println!("{RESULT}{came}");
}

#[test]
fn git_variables_of_a_hook_lead_nowhere() {
    if std::env::var_os(FOLDER).is_some() {
        be_apart();
        return;
    }
    let place = Place::new();
    let (one, other) = (place.clone("one"), place.clone("other"));
    let tip = one.write(1);
    one.push(tip, None).unwrap();
    place.git(&["init", "--quiet", "--bare", "--", "elsewhere.git"]);
    let elsewhere = place.at("elsewhere.git");
    let child = fetch(&place, &["env"], &other.remote.folder, &place.url())
        .env("GIT_DIR", &elsewhere)
        .env("GIT_OBJECT_DIRECTORY", elsewhere.join("objects"))
        .env("GIT_INDEX_FILE", elsewhere.join("index"))
        .env("GIT_NAMESPACE", "another")
        .env("GIT_QUARANTINE_PATH", elsewhere.join("quarantine"))
        .env("GIT_TRACE", "1")
        .spawn()
        .unwrap();
    assert_eq!(result(child), tip.to_string());
    let objects = place.git(&["--git-dir=elsewhere.git", "count-objects"]);
    assert_eq!(objects, "0 objects, 0 kilobytes");
}
