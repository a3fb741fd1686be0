//! What somebody who may push puts at the team's ref by hand: it takes nothing away from anybody, and is named.

use serde_json::Value;

use crate::support::Repository;
use crate::support::command::succeed;
use crate::support::remote::{REF, Remote};

/// What a command answers, however it ends.
fn said(repository: &Repository, arguments: &[&str]) -> Value {
    let output = repository.cli(&[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{arguments:?}: {said}")
    })
}

fn titles(repository: &Repository) -> Vec<String> {
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
