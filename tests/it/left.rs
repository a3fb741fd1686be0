//! Where another kernel may use the file system, each boot keeps what was written in a file of its own: what an earlier one left
//! there is named, and comes back.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::scopes::{another_boot, told};
use crate::support::{Repository, preload};

/// Calls every file system one of the network.
const SHARED: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <sys/vfs.h>\n\
    int statfs(const char *path, struct statfs *found) {\n\
    int (*next)(const char *, struct statfs *) = dlsym(RTLD_NEXT, \"statfs\");\n\
    int told = next(path, found); found->f_type = 0x6969; return told; }\n\
    int statfs64(const char *path, struct statfs64 *found) {\n\
    return statfs(path, (struct statfs *)found); }\n";

/// One checkout on such a file system, before and after the machine was started again.
struct Boots {
    repository: Repository,
    before: Vec<OsString>,
    after: Vec<OsString>,
}

impl Boots {
    fn new() -> Option<Self> {
        let repository = Repository::new();
        let boot = another_boot(&repository)?;
        let library = preload::library(&repository, "shared", SHARED);
        let mut set = OsString::from("LD_PRELOAD=");
        set.push(library);
        let before = vec!["env".into(), set];
        let after = [&boot[..], &before[..]].concat();
        Some(Self {
            repository,
            before,
            after,
        })
    }

    fn said(&self, words: &[OsString], arguments: &[&str]) -> String {
        let output = told(&self.repository, words, arguments);
        let both = [output.stdout, output.stderr].concat();
        String::from_utf8(both).unwrap()
    }

    #[track_caller]
    fn json(&self, words: &[OsString], arguments: &[&str]) -> Value {
        let output = told(&self.repository, words, &[arguments, &["--json"]].concat());
        let printed = serde_json::from_slice(&output.stdout);
        printed.unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    fn titles(&self, words: &[OsString], arguments: &[&str]) -> Vec<String> {
        let answer = self.json(words, arguments);
        let notes = answer["notes"].as_array().unwrap().iter();
        let titles = notes.map(|note| note["title"].as_str().unwrap().to_owned());
        titles.collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        let listed = fs::read_dir(self.repository.shared()).unwrap();
        let paths = listed.map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.to_string_lossy().contains("/writes."))
            .collect();
        paths.sort();
        paths
    }
}

#[test]
fn what_an_earlier_boot_did_not_send_is_named_and_comes_back() {
    let Some(boots) = Boots::new() else {
        return;
    };
    let (before, after) = (&boots.before, &boots.after);
    boots.json(before, &["remember", "a note", "--body", "committed"]);
    let draft = boots.json(before, &["remember", "a draft", "--draft"]);
    // In no commit yet: the repository of the notes is in the way.
    let library = boots.repository.shared().join("memory.git");
    let aside = boots.repository.shared().join("aside");
    fs::rename(&library, &aside).unwrap();
    fs::write(&library, "in the way").unwrap();
    boots.json(before, &["remember", "waits"]);
    fs::remove_file(&library).unwrap();
    fs::rename(&aside, &library).unwrap();
    // Before those of its log.
    let file = &boots.files()[0];
    let name = file.file_name().unwrap().to_str().unwrap().to_owned();

    // The note is in a commit, which the next boot sends; the other two are in the file alone.
    let named = format!("2 writes of another boot or machine are in {name} alone");
    assert_eq!(boots.titles(after, &["notes"]), ["a note"]);
    for arguments in [&["status"][..], &["doctor"], &["notes", "pending"]] {
        let said = boots.said(after, arguments);
        assert!(said.contains(&named), "{arguments:?}: {said}");
        assert!(
            said.contains("majordomus notes recover"),
            "{arguments:?}: {said}"
        );
    }
    for arguments in [&["status"][..], &["notes", "pending"]] {
        let left = &boots.json(after, arguments)["left"];
        let left = left[0].as_str().unwrap();
        assert!(left.starts_with(&named), "{arguments:?}: {left}");
    }
    // Nobody purges what stands there too.
    let id = draft["id"].as_str().unwrap();
    let purge = ["notes", "purge", id, "--confirm", id];
    let said = boots.said(after, &purge);
    assert!(said.contains("majordomus notes recover"), "{said}");

    let recovered = boots.json(after, &["notes", "recover"]);
    assert_eq!(recovered["recovered"][0]["writes"], 2, "{recovered}");
    assert!(!file.exists());
    let mut pending = boots.titles(after, &["notes", "pending"]);
    pending.sort();
    assert_eq!(pending, ["a draft", "waits"]);
    let mut all = boots.titles(after, &["notes"]);
    all.sort();
    assert_eq!(all, ["a note", "waits"]);
    for arguments in [&["status"][..], &["doctor"], &["notes", "pending"]] {
        let said = boots.said(after, arguments);
        assert!(!said.contains("another boot"), "{arguments:?}: {said}");
    }
    let said = boots.said(after, &["notes", "recover"]);
    assert!(said.contains("nothing is left over"), "{said}");
    boots.json(after, &["notes", "promote", id, "--yes"]);
    assert_eq!(boots.titles(after, &["notes"]).len(), 3);
}

/// Another container's, or that of a boot that is none: whoever works with a file keeps it.
#[test]
fn a_file_that_somebody_has_open_is_nobody_elses() {
    let Some(boots) = Boots::new() else {
        return;
    };
    let launch = boots.repository.launch().wrapped(boots.before.clone());
    let client = launch.start();
    client.attach();
    let draft = serde_json::json!({ "title": "a draft", "body": "", "draft": true });
    client.tool("majordomus_remember", &draft);
    let files = boots.files();
    let left = &boots.json(&boots.after, &["status"])["left"];
    assert_eq!(left, &Value::Null);
    let said = boots.said(&boots.after, &["notes", "recover"]);
    assert!(said.contains("nothing is left over"), "{said}");
    assert_eq!(boots.files()[..files.len()], files[..]);
    client.close();
    client.exit();
    let recovered = boots.json(&boots.after, &["notes", "recover"]);
    assert_eq!(recovered["recovered"][0]["writes"], 1, "{recovered}");
}
