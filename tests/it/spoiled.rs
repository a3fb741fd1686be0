//! What is not as this program leaves it: at the team's ref, by the hand of somebody who may push, and here, after a kill or
//! a loss of power. It takes nothing away from anybody, and is mended or named.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::command::succeed;
use crate::support::remote::{REF, Remote};
use crate::support::{BOUND, Repository, wait_for};

/// What a command answers, however it ends.
pub(crate) fn said(repository: &Repository, arguments: &[&str]) -> Value {
    let output = repository.cli(&[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{arguments:?}: {said}")
    })
}

pub(crate) fn titles(repository: &Repository) -> Vec<String> {
    let notes = said(repository, &["notes"])["notes"].clone();
    let notes = notes.as_array().unwrap().iter();
    notes
        .map(|note| note["title"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_ref_that_names_no_commit_is_refused_and_takes_nothing_away() {
    for kind in ["tag", "tree", "blob"] {
        let remote = Remote::new();
        let (here, fresh) = (remote.sharing(), remote.sharing());
        said(&here, &["remember", "of the team"]);
        let tip = remote.git(&["rev-parse", REF]);
        let spoiled = match kind {
            "tag" => {
                remote.git(&["tag", "-a", "-m", "x", "spoiled", &tip]);
                remote.git(&["rev-parse", "spoiled"])
            }
            "tree" => remote.git(&["rev-parse", &format!("{tip}^{{tree}}")]),
            _ => remote.git(&["hash-object", "-w", "HEAD"]),
        };
        remote.git(&["update-ref", REF, &spoiled]);
        for clone in [&here, &fresh] {
            let answer = said(clone, &["sync"]);
            assert_eq!(answer["sync"]["status"], "damaged", "{kind}: {answer}");
            let answer = said(clone, &["remember", "of this machine"]);
            assert_eq!(answer["sync"]["status"], "damaged", "{kind}: {answer}");
            assert!(titles(clone).contains(&"of this machine".to_owned()));
        }
        // It is put right again: nobody has to do anything.
        remote.git(&["update-ref", REF, &tip]);
        for clone in [&here, &fresh] {
            succeed(&mut clone.command(&["sync"]));
        }
        assert_eq!(remote.subjects().len(), 3, "{kind}");
        assert_eq!(titles(&fresh).len(), 3, "{kind}");
    }
}

/// A process that is killed while it moves the ref leaves the lock of it, and nobody else ever took that away.
#[test]
fn a_lock_that_a_killed_process_left_is_taken_away() {
    let remote = Remote::new();
    let repository = remote.sharing();
    said(&repository, &["remember", "before"]);
    let folder = repository.root().join(".git/majordomus/memory.git");
    let lock = folder.join(format!("{REF}.lock"));
    let hour = Duration::from_hours(1);
    let now = fs::metadata(folder.join(REF)).unwrap().modified().unwrap();
    // The clock may have been set back since.
    for (round, at) in [now - hour, now + hour, now].into_iter().enumerate() {
        let left = fs::File::create(&lock).unwrap();
        left.set_modified(at).unwrap();
        let answer = said(&repository, &["remember", "after"]);
        assert_eq!(answer["sync"]["status"], "published", "{answer}");
        assert_eq!(titles(&repository).len(), round + 2);
        assert!(!lock.exists());
    }
    // That of somebody who is suspended in the middle is theirs.
    let turn = fs::File::open(folder.join("HEAD")).unwrap();
    turn.lock().unwrap();
    fs::File::create(&lock).unwrap();
    let answer = said(&repository, &["remember", "meanwhile"]);
    assert_eq!(answer["sync"]["published"], false, "{answer}");
    assert!(lock.exists());
    // Where the checkout is says nothing to whoever is answered.
    let place = repository.root().display().to_string();
    assert!(!answer.to_string().contains(&place), "{answer}");
}

/// After a loss of power a ref is there whose object is not: the notes cannot be read, and `doctor`, which every answer
/// then names, says so and how they come back.
#[test]
fn whatever_of_the_repository_of_notes_is_damaged_is_named_and_comes_back() {
    let remote = Remote::new();
    for damage in ["commit", "tree", "blob", "tracking", "head"] {
        let repository = remote.sharing();
        said(&repository, &["sync"]);
        said(&repository, &["remember", damage, "--draft"]);
        said(&repository, &["remember", damage]);
        let everything = titles(&repository);
        let folder = repository.root().join(".git/majordomus/memory.git");
        let of = |what: &str| {
            let place = folder.display().to_string();
            let id = repository.git(&["--git-dir", &place, "rev-parse", what]);
            let (shard, rest) = id.trim().split_at(2);
            folder.join("objects").join(shard).join(rest)
        };
        let path = repository.git(&[
            "--git-dir",
            &folder.display().to_string(),
            "ls-tree",
            "-r",
            "--name-only",
            REF,
        ]);
        let path = path.lines().find(|path| path.contains(damage)).unwrap();
        match damage {
            "head" => fs::remove_file(folder.join("HEAD")).unwrap(),
            "tracking" => fs::write(folder.join("refs/remotes/team/memory"), "").unwrap(),
            object => {
                let file = match object {
                    "commit" => of(REF),
                    "tree" => of(&format!("{REF}^{{tree}}")),
                    _ => of(&format!("{REF}:{path}")),
                };
                fs::remove_file(&file).unwrap();
                fs::write(&file, "").unwrap();
            }
        }
        let found = repository.cli(&["doctor"]).stdout;
        let found = String::from_utf8(found).unwrap();
        let hint = found
            .lines()
            .find_map(|line| line.split_once("hint: mv ").map(|(_, rest)| rest));
        let hint = hint.unwrap_or_else(|| panic!("{damage}: {found}"));
        let (from, to) = hint.trim().split_once(' ').unwrap();
        fs::rename(repository.root().join(from), repository.root().join(to)).unwrap();
        succeed(&mut repository.command(&["sync"]));
        assert_eq!(titles(&repository), everything, "{damage}");
        let found = repository.cli(&["doctor"]).stdout;
        let found = String::from_utf8(found).unwrap();
        assert!(!found.contains("hint: mv "), "{damage}: {found}");
    }
}

/// Somebody who may push puts what is no note beside the notes, and a second file of one.
#[test]
fn what_among_the_notes_is_never_read_is_counted_by_doctor() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    let answer = said(&here, &["remember", "of the team"]);
    let path = answer["path"].as_str().unwrap();
    let (folder, file) = path.rsplit_once('/').unwrap();
    let work = here.outside().join("by-hand");
    let work = work.to_str().unwrap();
    here.git(&["clone", "-q", remote.path().to_str().unwrap(), work]);
    let at = |words: &[&str]| {
        here.git(
            &[
                &[
                    "-C",
                    work,
                    "-c",
                    "user.name=x",
                    "-c",
                    "user.email=x@example.org",
                ],
                words,
            ]
            .concat(),
        )
    };
    at(&["fetch", "-q", "origin", REF]);
    at(&["checkout", "-q", "FETCH_HEAD"]);
    let id = answer["id"].as_str().unwrap();
    fs::write(format!("{work}/{folder}/{id}-again.md"), "twice").unwrap();
    fs::write(format!("{work}/{folder}/huge.md"), "no note").unwrap();
    std::os::unix::fs::symlink(file, format!("{work}/{folder}/link.md")).unwrap();
    at(&["add", "."]);
    at(&["commit", "-q", "-m", "by hand"]);
    at(&["push", "-q", "origin", &format!("HEAD:{REF}")]);
    succeed(&mut there.command(&["sync"]));
    assert_eq!(titles(&there).len(), 1);
    let told = there.cli(&["doctor"]).stdout;
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("3 files among the notes"), "{told}");
    assert!(told.contains("ls-tree"), "{told}");
}

/// Somebody spoils the file of what was written under a living server, which has it open three times.
#[test]
fn a_spoiled_file_of_what_was_written_is_kept_aside_and_the_server_goes_on() {
    for how in ["emptied", "cut", "removed", "scribbled"] {
        let repository = Repository::new();
        let client = repository.attached("client");
        let remember = |title: &str, body: &str, draft: bool| {
            let note = json!({ "title": title, "body": body, "draft": draft });
            client.tool("majordomus_remember", &note)
        };
        remember("a draft", "", true);
        // More than the file's log keeps.
        for round in 0..9 {
            remember(&format!("before {round}"), &"because ".repeat(6000), false);
        }
        let everything = client.tool("majordomus_notes", &json!({}));
        let file = repository.shared().join("writes.db");
        let length = fs::metadata(&file).unwrap().len();
        let cut = |length| {
            let opened = fs::File::options().write(true).open(&file).unwrap();
            opened.set_len(length).unwrap();
        };
        match how {
            "emptied" => cut(0),
            "cut" => cut(length / 2),
            "removed" => fs::remove_file(&file).unwrap(),
            _ => fs::write(&file, "x".repeat(usize::try_from(length).unwrap())).unwrap(),
        }
        let told = |answer: &Value| {
            let message = answer["sync"]["message"].as_str().unwrap();
            message.contains("writes.db") && message.contains("drafts")
        };
        let answers = [0, 1, 2].map(|round| remember(&format!("after {round}"), "", false));
        assert_eq!(
            answers.each_ref().map(told),
            [true, false, false],
            "{how}: {answers:?}"
        );
        // Whatever was answered as saved is there, and what was committed before too.
        let count = |answer: &Value| answer["notes"].as_array().unwrap().len();
        let now = client.tool("majordomus_notes", &json!({}));
        assert_eq!(count(&now), count(&everything) + 3, "{how}: {now}");
        let aside: Vec<_> = fs::read_dir(repository.shared())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("writes.db.damaged-"))
            .collect();
        assert_eq!(
            aside.len(),
            usize::from(how != "removed"),
            "{how}: {aside:?}"
        );
        if let [aside] = &aside[..] {
            let pending = client.tool("majordomus_notes", &json!({ "pending": true }));
            assert!(
                pending["left"][0].as_str().unwrap().contains(aside),
                "{how}: {pending}"
            );
            let found = String::from_utf8(repository.cli(&["doctor"]).stdout).unwrap();
            assert!(found.contains(aside), "{how}: {found}");
        }
        client.close();
        client.exit();
    }
}

/// Whoever may push can push a commit that git's own check refuses: it is named, with what takes it away.
#[test]
fn a_commit_that_gits_check_refuses_is_named_with_what_helps() {
    let remote = Remote::new();
    let here = remote.sharing();
    said(&here, &["remember", "before"]);
    let tip = remote.git(&["rev-parse", REF]);
    let tree = remote.git(&["rev-parse", &format!("{REF}^{{tree}}")]);
    // Without an address of its author.
    let text = format!("tree {tree}\nparent {tip}\nauthor X 1 +0000\ncommitter X 1 +0000\n\nx\n");
    let file = remote.base().join("commit");
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let bad = remote.git(&["hash-object", "-t", "commit", "-w", "--literally", file]);
    remote.git(&["update-ref", REF, &bad]);
    for arguments in [&["sync"][..], &["remember", "meanwhile"]] {
        let sync = &said(&here, arguments)["sync"];
        assert_eq!(sync["status"], "damaged", "{sync}");
        let message = sync["message"].as_str().unwrap();
        assert!(message.contains(&bad), "{sync}");
        assert!(message.contains("back to the commit before"), "{sync}");
    }
    assert_eq!(titles(&here).len(), 2);
    remote.git(&["update-ref", REF, &tip]);
    assert_eq!(said(&here, &["sync"])["sync"]["published"], true);
}

/// An object that is gone here is no fault of the network's, and no full disk.
#[test]
fn an_object_that_is_missing_here_is_called_damage_of_this_machine() {
    for (what, is_published) in [("~1", true), ("~1", false), ("^{tree}", false)] {
        let remote = Remote::new();
        let (here, there) = (remote.sharing(), remote.sharing());
        if !is_published {
            remote.hook("exit 1");
        }
        for title in ["one", "two", "three"] {
            said(&here, &["remember", title]);
        }
        if !is_published {
            remote.without_hook();
        }
        said(&there, &["remember", "meanwhile"]);
        let folder = here.root().join(".git/majordomus/memory.git");
        let place = folder.display().to_string();
        let name = format!("{REF}{what}");
        let id = here.git(&["--git-dir", &place, "rev-parse", &name]);
        let (shard, rest) = id.trim().split_at(2);
        fs::remove_file(folder.join("objects").join(shard).join(rest)).unwrap();
        for arguments in [&["sync"][..], &["remember", "more"]] {
            let sync = &said(&here, arguments)["sync"];
            assert_eq!(sync["status"], "damaged-here", "{what} {sync}");
            let message = sync["message"].as_str().unwrap();
            assert!(message.contains("majordomus doctor"), "{what} {sync}");
        }
    }
}

/// Without `HEAD` it is no repository, and nothing is made that could not take its place.
#[test]
fn nothing_is_left_of_a_repository_that_could_not_be_made() {
    let repository = Repository::new();
    said(&repository, &["remember", "before"]);
    let shared = repository.shared();
    fs::remove_file(shared.join("memory.git/HEAD")).unwrap();
    let made = |name: &str| {
        let folder = shared.join(format!(".memory.git.new-{name}"));
        fs::create_dir(&folder).unwrap();
        folder
    };
    // One that a killed process left, and one that somebody makes just now.
    let (old, new) = (made("old"), made("new"));
    fs::write(old.join("config"), "").unwrap();
    let day = Duration::from_hours(24);
    let opened = fs::File::open(&old).unwrap();
    opened
        .set_modified(opened.metadata().unwrap().modified().unwrap() - day)
        .unwrap();
    let client = repository.attached("client");
    let note = json!({ "title": "after", "body": "" });
    client.tool("majordomus_remember", &note);
    wait_for("the old one is gone", BOUND, || !old.exists());
    let left: Vec<_> = fs::read_dir(shared)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".memory.git.new-"))
        .collect();
    assert_eq!(left, [new]);
}

/// As on a disk that has no room for it.
#[test]
fn notes_are_found_where_their_index_cannot_be_written() {
    let repository = Repository::new();
    let index = repository.shared().join("index.2.db");
    let client = repository.attached("client");
    fs::create_dir_all(&index).unwrap();
    for title in ["deploys on Thursdays", "nothing else"] {
        client.tool(
            "majordomus_remember",
            &json!({ "title": title, "body": "" }),
        );
    }
    let found = client.tool("majordomus_recall", &json!({ "query": "deploys" }));
    assert_eq!(found["notes"].as_array().unwrap().len(), 1, "{found}");
    assert!(found["slow"].as_str().unwrap().contains("index"), "{found}");
    let told = repository.cli(&["recall", "deploys"]).stdout;
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("takes longer"), "{told}");
    fs::remove_dir(&index).unwrap();
    let found = client.tool("majordomus_recall", &json!({ "query": "deploys" }));
    assert_eq!(found["notes"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["slow"], Value::Null, "{found}");
}
