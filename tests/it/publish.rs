//! Notes reach the team: real remotes, several machines' worth of clones, and what happens when the remote does not play
//! along.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use serde_json::{Value, json};

use crate::support::command::succeed;
use crate::support::remote::{REF, Remote};
use crate::support::{BOUND, Client, Repository, build, wait_for};

#[track_caller]
fn remember(client: &Client, title: &str) -> Value {
    client.tool("majordomus_remember", &json!({ "title": title }))
}

fn titles(client: &Client) -> Vec<String> {
    let notes = client.tool("majordomus_notes", &json!({ "limit": 200 }));
    let notes = notes["notes"].as_array().unwrap().clone();
    notes
        .iter()
        .map(|note| note["title"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_note_is_on_the_remote_when_it_is_said_to_be_and_reaches_the_others() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    let ann = here.attached("ann");
    let answer = remember(&ann, "Deploys happen on Thursdays");
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert_eq!(answer["sync"]["published"], true);
    assert_eq!(remote.subjects(), ["memory: Deploys happen on Thursdays"]);
    assert_eq!(ann.tool("majordomus_notes", &json!({}))["unpublished"], 0);
    // A server that starts asks the team, beside its first answers; so does a person.
    let ben = there.attached("ben");
    wait_for("the note to arrive", BOUND, || {
        titles(&ben) == ["Deploys happen on Thursdays"]
    });
    let found = ben.tool("majordomus_recall", &json!({ "query": "deploys" }));
    assert_eq!(found["notes"][0]["shared"], true, "{found}");
    remember(&ann, "Except in May");
    succeed(&mut there.command(&["sync"]));
    assert_eq!(
        titles(&ben),
        ["Except in May", "Deploys happen on Thursdays"]
    );
    // Nothing of it is in the checkout, and nothing of its refs.
    assert_eq!(
        here.git(&["for-each-ref"])
            .lines()
            .filter(|line| line.contains("majordomus"))
            .count(),
        0
    );
    assert_eq!(remote.git(&["for-each-ref", "--format=%(refname)"]), REF);
}

/// Guards M1: four clones, forty writes at once; every answer is true at the moment it was given.
#[test]
fn forty_writes_of_four_clones_at_once_are_all_published() {
    let remote = Remote::new();
    let clones: Vec<Repository> = (0..4).map(|_| remote.sharing()).collect();
    thread::scope(|scope| {
        for (number, clone) in clones.iter().enumerate() {
            let remote = &remote;
            scope.spawn(move || {
                let client = clone.attached("writer");
                for round in 0..10 {
                    let title = format!("fact {number} {round}");
                    let answer = remember(&client, &title);
                    assert_eq!(answer["sync"]["status"], "published", "{answer}");
                    let path = answer["path"].as_str().unwrap();
                    let file = remote.git(&["show", &format!("{REF}:{path}")]);
                    assert!(file.contains(&title), "{file}");
                }
            });
        }
    });
    let mut subjects = remote.subjects();
    subjects.sort();
    let mut expected: Vec<String> = (0..40)
        .map(|fact| format!("memory: fact {} {}", fact / 10, fact % 10))
        .collect();
    expected.sort();
    assert_eq!(subjects, expected);
    remote.git(&["fsck", "--strict"]);
}

#[test]
fn what_nobody_agreed_to_goes_nowhere() {
    let remote = Remote::new();
    let repository = remote.clone_of();
    let client = repository.attached("one");
    let answer = remember(&client, "before anybody agreed");
    assert_eq!(answer["sync"]["status"], "not-shared", "{answer}");
    // A pull request names a place: it is somebody else's word.
    let file = repository.root().join(".ai/majordomus.toml");
    for text in [
        "[memory]\nremote = \"git.example.org/team/code\"\nref = \"refs/majordomus/memory\"\n",
        "[memory]\nremote = \"--upload-pack=touch /tmp/x;\"\n",
        "[memory]\nremote = \"evil.example.com/team/code\"\n",
        "[memory]\nremote = 7\n",
        "not toml",
    ] {
        fs::write(&file, text).unwrap();
        let answer = remember(&client, "somebody else's word");
        assert_eq!(answer["sync"]["status"], "not-shared", "{answer}");
        assert_eq!(answer["sync"]["published"], false);
    }
    assert_eq!(remote.git(&["for-each-ref"]), "");
    fs::remove_file(&file).unwrap();
    // Agreed: all that was written before goes along.
    succeed(&mut repository.command(&["notes", "share", "--yes"]));
    let answer = remember(&client, "after");
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert_eq!(remote.subjects().len(), 7);
    // The file changes under an agreement.
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("team/code", "evil/code")).unwrap();
    let answer = remember(&client, "to somebody else");
    assert_eq!(answer["sync"]["status"], "not-shared", "{answer}");
    assert!(
        answer["sync"]["message"]
            .as_str()
            .unwrap()
            .contains("majordomus notes trust"),
        "{answer}"
    );
    assert_eq!(remote.subjects().len(), 7);
}

#[test]
fn a_second_checkout_agrees_to_what_the_first_one_named() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.clone_of());
    let ann = here.attached("ann");
    remember(&ann, "a fact");
    fs::create_dir_all(there.root().join(".ai")).unwrap();
    fs::copy(
        here.root().join(".ai/majordomus.toml"),
        there.root().join(".ai/majordomus.toml"),
    )
    .unwrap();
    let ben = there.attached("ben");
    let unasked = there.cli(&["notes", "trust"]);
    assert!(!unasked.status.success(), "nobody is there to ask");
    let nowhere = there.cli(&[
        "notes", "share", "--remote", "upstream", "--ref", REF, "--json",
    ]);
    let said = String::from_utf8(nowhere.stderr).unwrap();
    assert!(said.contains("git knows no remote `upstream`"), "{said}");
    let synced = there.cli(&["sync", "--json"]);
    assert!(!synced.status.success());
    succeed(&mut there.command(&["notes", "trust", "--yes"]));
    succeed(&mut there.command(&["sync"]));
    assert_eq!(titles(&ben), ["a fact"]);
}

#[test]
fn a_remote_that_refuses_is_told_apart_and_gets_the_note_later() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let client = repository.attached("one");
    remote.hook("#!/bin/sh\necho 'no notes \u{1b}[31mtoday' >&2\nexit 1\n");
    let answer = remember(&client, "first");
    assert_eq!(answer["sync"]["status"], "rejected", "{answer}");
    let message = answer["sync"]["message"].as_str().unwrap();
    assert!(
        message.contains("no notes") && !message.contains('\u{1b}'),
        "{message}"
    );
    assert_eq!(
        client.tool("majordomus_notes", &json!({}))["unpublished"],
        1
    );
    remote.without_hook();
    let answer = remember(&client, "second");
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert_eq!(remote.subjects(), ["memory: first", "memory: second"]);
    // The remote is gone, and is there again.
    let away = remote.base().join("away");
    fs::rename(remote.path(), &away).unwrap();
    let answer = remember(&client, "third");
    assert_eq!(answer["sync"]["published"], false, "{answer}");
    fs::rename(&away, remote.path()).unwrap();
    succeed(&mut repository.command(&["sync"]));
    assert_eq!(
        remote.subjects(),
        ["memory: first", "memory: second", "memory: third"]
    );
}

/// What somebody purged is not put back, and what somebody rewrote is not taken for the same notes.
#[test]
fn a_ref_that_was_removed_or_rewritten_is_refused_and_nothing_is_put_back() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let client = repository.attached("one");
    remember(&client, "first");
    remember(&client, "second");
    let before = remote.git(&["rev-parse", REF]);
    remote.git(&["update-ref", REF, &format!("{before}~1")]);
    let answer = remember(&client, "third");
    assert_eq!(answer["sync"]["status"], "rewritten", "{answer}");
    assert_eq!(remote.subjects(), ["memory: first"]);
    remote.git(&["update-ref", "-d", REF]);
    let answer = remember(&client, "fourth");
    assert_eq!(answer["sync"]["status"], "rewritten", "{answer}");
    assert_eq!(remote.git(&["for-each-ref"]), "");
    remote.git(&["update-ref", REF, &before]);
    let answer = remember(&client, "fifth");
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert_eq!(remote.subjects().len(), 5);
    // It was meant: what is there now counts, and what was published before and is not there stays away.
    remote.git(&["update-ref", REF, &format!("{before}~1")]);
    remember(&client, "sixth");
    succeed(&mut repository.command(&["sync", "--adopt"]));
    assert_eq!(remote.subjects(), ["memory: first", "memory: sixth"]);
    remote.git(&["update-ref", "-d", REF]);
    remember(&client, "seventh");
    succeed(&mut repository.command(&["sync", "--adopt"]));
    assert_eq!(remote.subjects(), ["memory: seventh"]);
    assert_eq!(titles(&client), ["seventh"]);
}

/// A remote that never answers holds up neither another write of another client nor a read.
#[test]
fn a_remote_that_hangs_holds_up_nobody_else() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let (slow, other) = (repository.attached("slow"), repository.attached("other"));
    let stuck = remote.base().join("stuck");
    remote.hook(&format!(
        "#!/bin/sh\n: >'{0}'\nwhile [ -e '{0}' ]; do sleep 0.05; done\n",
        stuck.display()
    ));
    let asked = slow.begin_call("majordomus_remember", &json!({ "title": "slow" }));
    wait_for("the hook", BOUND, || stuck.exists());
    // Saved, and found, while it hangs.
    let found = other.tool("majordomus_recall", &json!({ "query": "slow" }));
    assert_eq!(found["notes"][0]["title"], "slow", "{found}");
    assert_eq!(found["notes"][0]["shared"], false, "{found}");
    other.tool("majordomus_peers", &json!({}));
    fs::remove_file(&stuck).unwrap();
    let answer = slow.answer(&asked);
    assert_eq!(
        answer["result"]["structuredContent"]["sync"]["status"], "published",
        "{answer}"
    );
}

/// Guards I6: the owner is killed while the note is on its way; it is published once.
#[test]
fn a_note_whose_owner_dies_on_the_way_is_published_once() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let owner = repository.attached("owner");
    let writer = repository.attached("writer");
    let begun = remote.base().join("begun");
    remote.hook(&format!("#!/bin/sh\n: >'{}'\n", begun.display()));
    for round in 0..2 {
        drop(fs::remove_file(&begun));
        let asked = writer.begin_call(
            "majordomus_remember",
            &json!({ "title": format!("fact {round}") }),
        );
        wait_for("the push", BOUND, || begun.exists());
        if round == 0 {
            owner.kill();
        }
        let answer = writer.answer(&asked);
        assert_eq!(
            answer["result"]["structuredContent"]["sync"]["status"], "published",
            "{answer}"
        );
    }
    assert_eq!(remote.subjects(), ["memory: fact 0", "memory: fact 1"]);
}

/// Guards M6: whatever state the checkout is in, a note changes nothing of it.
#[test]
fn the_checkout_is_left_as_it_was_whatever_its_state() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let root = repository.root();
    fs::write(root.join("a"), "1").unwrap();
    repository.git(&["add", "a"]);
    repository.git(&["commit", "-qm", "one"]);
    let hook = root.join(".git/hooks/pre-commit");
    build::executable(&hook, "#!/bin/sh\nexit 1\n");
    build::executable(&root.join(".git/hooks/pre-push"), "#!/bin/sh\nexit 1\n");
    repository.git(&["config", "commit.gpgsign", "true"]);
    repository.git(&["config", "user.signingkey", "nobody"]);
    repository.git(&["config", "--unset", "user.name"]);
    repository.git(&["checkout", "-q", "--detach"]);
    fs::write(root.join("a"), "2").unwrap();
    fs::write(root.join("b"), "3").unwrap();
    repository.git(&["add", "b"]);
    let state = || {
        (
            repository.git(&["status", "--porcelain=v2", "--branch"]),
            repository.git(&["for-each-ref"]),
            fs::read(root.join(".git/index")).unwrap(),
            fs::read(root.join(".git/config")).unwrap(),
            fs::metadata(&hook).unwrap().permissions().mode(),
        )
    };
    let client = repository
        .launch()
        .name("one")
        .variable("GIT_DIR", "/nowhere")
        .variable("GIT_INDEX_FILE", "/nowhere/index")
        .start();
    client.attach();
    repository.ready();
    let before = state();
    let answer = remember(&client, "a fact");
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert_eq!(state(), before);
}

/// Guards M4: each writer's own word counts, whoever owns the server, and also after a takeover.
#[test]
fn a_client_whose_hooks_send_notes_starts_nothing_on_the_network() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let marked = repository.outside().join("git was started for the network");
    let git = repository.outside().join("bin/git");
    fs::create_dir(repository.outside().join("bin")).unwrap();
    build::executable(
        &git,
        format!(
            "#!/bin/sh\ncase \" $* \" in *' push '*|*' fetch '*|*' ls-remote '*) echo \"$*\" >>'{}';; esac\nPATH=\"$REAL_PATH\" exec git \"$@\"\n",
            marked.display()
        ),
    );
    let path = std::env::var("PATH").unwrap();
    let start = |name: &str, variable: (&str, &str)| {
        let client = repository
            .launch()
            .name(name)
            .variable(
                "PATH",
                format!("{}:{path}", repository.outside().join("bin").display()),
            )
            .variable("REAL_PATH", path.clone())
            .variable(variable.0, variable.1)
            .start();
        client.attach();
        client
    };
    let owner = start("owner", ("MAJORDOMUS_SYNC", "off"));
    repository.ready();
    let hooked = start("hooked", ("COMMONWEALTH_MCP_SYNC", "host"));
    for client in [&owner, &hooked] {
        let answer = remember(client, "a fact of hooks");
        assert_eq!(answer["sync"]["status"], "handed-to-host", "{answer}");
        client.tool("majordomus_recall", &json!({ "query": "fact" }));
        client.tool("majordomus_notes", &json!({}));
    }
    assert!(!marked.exists(), "{:?}", fs::read_to_string(&marked));
    // An unknown word is no promise of a hook, and another client's word counts for that client alone.
    let plain = start("plain", ("MAJORDOMUS_SYNC", "perhaps"));
    let answer = remember(&plain, "a fact of the server");
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert!(marked.exists());
    // What those with hooks wrote goes along: their word is about their own calls, not about their notes.
    assert_eq!(remote.subjects().len(), 3);
    // The next owner is one with hooks; another client would meet the team as soon as it owns the server.
    plain.close();
    plain.exit();
    fs::remove_file(&marked).unwrap();
    owner.kill();
    let answer = remember(&hooked, "another fact of hooks");
    assert_eq!(answer["sync"]["status"], "handed-to-host", "{answer}");
    assert!(!marked.exists(), "{:?}", fs::read_to_string(&marked));
    let plain = start("plain", ("MAJORDOMUS_SYNC", "perhaps"));
    let answer = remember(&plain, "another fact of the server");
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
    assert_eq!(remote.subjects().len(), 5);
}

/// What an earlier server could not send, the next one sends by itself; `doctor` counts it until then.
#[test]
fn what_could_not_be_sent_is_sent_by_the_next_server() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let client = repository.attached("one");
    remote.hook("#!/bin/sh\nexit 1\n");
    let answer = remember(&client, "first");
    assert_eq!(answer["sync"]["status"], "rejected", "{answer}");
    client.close();
    client.exit();
    let told = repository.cli(&["doctor"]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("1 note is on this machine alone"), "{told}");
    assert!(told.contains("hint: majordomus sync"), "{told}");
    remote.without_hook();
    let next = repository.attached("next");
    wait_for("the note to be sent", BOUND, || {
        !remote.git(&["for-each-ref"]).is_empty()
    });
    assert_eq!(remote.subjects(), ["memory: first"]);
    wait_for("the mark", BOUND, || {
        next.tool("majordomus_notes", &json!({}))["unpublished"] == 0
    });
}

#[test]
fn doctor_says_where_notes_may_go_and_what_is_in_the_way() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let told =
        |repository: &Repository| String::from_utf8(repository.cli(&["doctor"]).stdout).unwrap();
    assert!(told(&repository).contains("the team's notes go to a remote of yours"));
    let file = repository.root().join(".ai/majordomus.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("team/code", "evil/code")).unwrap();
    let changed = told(&repository);
    assert!(
        changed.contains("hint: majordomus notes trust"),
        "{changed}"
    );
    fs::write(
        repository.root().join(".git/majordomus/writes.db"),
        "garbage",
    )
    .unwrap();
    let damaged = told(&repository);
    assert!(damaged.contains("is damaged"), "{damaged}");
    let kept = fs::read(repository.root().join(".git/majordomus/writes.db")).unwrap();
    assert_eq!(kept, b"garbage", "doctor changes nothing");
}
