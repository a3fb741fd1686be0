//! Hosts of the team's notes that take less than others, or nothing.

use crate::spoiled::{said, titles};
use crate::support::command::succeed;
use crate::support::remote::{REF, Remote};

/// Such a host says so to the first note, and another ref is named then.
#[test]
fn a_host_that_takes_branches_alone_is_told_apart_and_gets_the_notes_on_one() {
    let remote = Remote::new();
    remote.hook("while read _ _ ref; do case $ref in refs/heads/*) ;; *) echo branches alone; exit 1;; esac; done");
    let here = remote.sharing();
    let sync = &said(&here, &["remember", "first"])["sync"];
    assert_eq!(sync["status"], "rejected", "{sync}");
    let message = sync["message"].as_str().unwrap();
    assert!(message.contains("name another ref"), "{sync}");
    let branch = "refs/heads/majordomus/memory";
    let share = ["notes", "share", "--ref", branch, "--unreviewed", "--yes"];
    succeed(&mut here.command(&share));
    assert_eq!(said(&here, &["sync"])["sync"]["published"], true);
    let log = remote.git(&["log", "--format=%s", branch]);
    assert!(log.contains("first"), "{log}");
}

/// Whoever refuses the new history, or dies in the middle of taking it, leaves the note where it was; it is purged later.
#[test]
fn a_purge_that_the_remote_refuses_or_dies_of_takes_nothing_away() {
    for hook in ["exit 1", "kill -9 $PPID"] {
        let remote = Remote::new();
        let here = remote.sharing();
        let id = said(&here, &["remember", "to be purged"])["id"].clone();
        let id = id.as_str().unwrap();
        said(&here, &["remember", "stays"]);
        let tip = remote.git(&["rev-parse", REF]);
        remote.hook(hook);
        let purge = ["notes", "purge", id, "--confirm", id];
        let answer = said(&here, &purge);
        assert_ne!(answer["status"], "published", "{hook}: {answer}");
        let message = answer["message"].as_str().unwrap();
        assert!(
            message.starts_with("Nothing was purged."),
            "{hook}: {answer}"
        );
        assert_eq!(remote.git(&["rev-parse", REF]), tip, "{hook}");
        assert_eq!(titles(&here).len(), 2, "{hook}");
        remote.without_hook();
        assert_eq!(said(&here, &purge)["status"], "published", "{hook}");
        assert_eq!(titles(&here), ["stays"], "{hook}");
        assert_eq!(remote.subjects().len(), 1, "{hook}");
    }
}
