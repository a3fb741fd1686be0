//! What becomes of notes: drafts, corrections, what is forgotten, what meets another change, and who has to agree.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::command::succeed;
use crate::support::host::Host;
use crate::support::remote::{REF, Remote, clone_by};
use crate::support::terminal::Terminal;
use crate::support::{BOUND, Client, Repository, wait_for};

#[track_caller]
fn remember(client: &Client, title: &str) -> String {
    let answer = client.tool(
        "majordomus_remember",
        &json!({ "title": title, "body": "because" }),
    );
    answer["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn change(client: &Client, asked: &Value) -> Value {
    let mut asked = asked.clone();
    if asked["action"] == "edit" && asked["version"].is_null() {
        asked["version"] = read(client, asked["id"].as_str().unwrap())["version"].clone();
    }
    client.tool("majordomus_note_change", &asked)
}

/// The text of a refusal.
#[track_caller]
fn refused(client: &Client, tool: &str, asked: &Value) -> String {
    let answer = client.call(tool, asked);
    let answer = &answer["result"];
    assert_eq!(answer["isError"], true, "{answer}");
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

#[track_caller]
fn read(client: &Client, id: &str) -> Value {
    client.tool("majordomus_notes", &json!({ "id": id }))["notes"][0].clone()
}

/// The titles that are found.
#[track_caller]
fn recall(client: &Client, query: &str) -> Vec<String> {
    let found = client.tool("majordomus_recall", &json!({ "query": query }));
    let notes = found["notes"].as_array().unwrap();
    notes
        .iter()
        .map(|note| note["title"].as_str().unwrap().to_owned())
        .collect()
}

/// Meets the team's notes.
#[track_caller]
fn sync(repository: &Repository) {
    succeed(&mut repository.command(&["sync"]));
}

#[test]
fn a_draft_is_found_by_nobody_before_it_is_promoted_and_can_be_given_up() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let client = repository.attached("one");
    let draft = |title: &str| {
        let asked = json!({ "title": title, "draft": true });
        client.tool("majordomus_remember", &asked)
    };
    let first = draft("Perhaps we move to Mondays");
    assert_eq!(first["sync"]["status"], "draft", "{first}");
    assert_eq!(first["sync"]["published"], false);
    let second = draft("Perhaps we move to Tuesdays");
    assert_eq!(recall(&client, "move"), [] as [&str; 0]);
    let listed = client.tool("majordomus_notes", &json!({ "pending": true }));
    assert_eq!(listed["notes"].as_array().unwrap().len(), 2);
    assert_eq!(listed["notes"][0]["draft"], true, "{listed}");
    sync(&repository);
    assert_eq!(remote.git(&["for-each-ref"]), "", "no draft is sent");
    let said = repository.cli(&["doctor"]).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("2 drafts wait to be promoted"), "{said}");
    let (first, second) = (
        first["id"].as_str().unwrap(),
        second["id"].as_str().unwrap(),
    );
    // A draft is corrected in place.
    let edited = change(
        &client,
        &json!({ "action": "edit", "id": first, "body": "less traffic" }),
    );
    assert_eq!(edited["sync"]["status"], "draft", "{edited}");
    assert_eq!(read(&client, first)["text"], "less traffic");
    let again = change(
        &client,
        &json!({ "action": "edit", "id": first, "body": "less traffic" }),
    );
    assert_eq!(
        again["sync"]["status"], "draft",
        "said again, it is what it was"
    );
    let given_up = change(&client, &json!({ "action": "reject", "id": second }));
    assert_eq!(given_up["sync"]["status"], "rejected-draft", "{given_up}");
    let promoted = change(&client, &json!({ "action": "promote", "id": first }));
    assert_eq!(promoted["sync"]["status"], "published", "{promoted}");
    assert_eq!(remote.subjects(), ["memory: Perhaps we move to Mondays"]);
    assert_eq!(recall(&client, "move"), ["Perhaps we move to Mondays"]);
    // Said again, it is what it was; and what is no draft is not given up.
    let again = change(&client, &json!({ "action": "promote", "id": first }));
    assert_eq!(again["sync"]["status"], "published", "{again}");
    assert_eq!(remote.subjects().len(), 1);
    let said = refused(
        &client,
        "majordomus_note_change",
        &json!({ "action": "reject", "id": first }),
    );
    assert!(said.contains("is no draft"), "{said}");
    // What was given up is taken up again.
    let back = change(&client, &json!({ "action": "promote", "id": second }));
    assert_eq!(back["sync"]["status"], "published", "{back}");
}

#[test]
fn a_note_is_corrected_where_it_stands_and_keeps_who_made_it() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let client = repository.attached("one");
    let asked = json!({ "title": "Move the queue", "kind": "work-state", "tags": ["queue"] });
    let made = client.tool("majordomus_remember", &asked);
    let id = made["id"].as_str().unwrap();
    let done = change(
        &client,
        &json!({
            "action": "edit", "id": id, "status": "done", "title": "The queue was moved", "paths": ["src/./queue/**"],
        }),
    );
    assert_eq!(
        (&done["status"], &done["path"]),
        (&json!("done"), &made["path"])
    );
    assert_eq!(done["sync"]["published"], true, "{done}");
    let note = read(&client, id);
    assert_eq!(note["title"], "The queue was moved");
    assert_eq!(note["tags"], json!(["queue"]), "what nobody named stays");
    assert_eq!(note["paths"], json!(["src/queue/**"]));
    assert_eq!(note["author"], "Ann");
    assert_eq!(recall(&client, "queue"), ["The queue was moved"]);
    let version = &note["version"];
    for (asked, expected) in [
        (
            json!({ "action": "edit", "id": id, "version": version, "status": "accepted" }),
            "never `accepted`",
        ),
        (
            json!({ "action": "edit", "id": id, "version": version }),
            "nothing is to be changed",
        ),
        (
            json!({ "action": "edit", "title": "x" }),
            "argument `id` is missing",
        ),
        (
            json!({ "action": "edit", "id": "01900000-0000-7000-8000-000000000001", "version": version, "title": "x" }),
            "there is no note",
        ),
        (
            json!({ "action": "edit", "id": id, "version": version, "title": "a\u{1b}[31m" }),
            "control or invisible",
        ),
        (
            json!({ "action": "edit", "id": id, "version": version, "paths": ["../x"] }),
            "is no path",
        ),
        (
            json!({ "action": "edit", "id": id, "version": version, "body": "x".repeat(70_000) }),
            "expected at most 65536",
        ),
        (
            json!({ "action": "edit", "id": id, "version": version, "body": format!("key AKIA{}", "Q3EGRIPTKMLB5XYZ") }),
            "seems to hold a secret",
        ),
        (
            json!({ "action": "supersede", "id": id }),
            "argument `by` is missing",
        ),
    ] {
        let said = refused(&client, "majordomus_note_change", &asked);
        assert!(said.contains(expected), "{asked}: {said}");
    }
    assert_eq!(remote.subjects().len(), 2, "what was refused is nowhere");
}

#[test]
fn a_note_that_is_forgotten_is_gone_for_the_team_and_said_to_stay_in_the_history() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    let (ann, ben) = (here.attached("ann"), there.attached("ben"));
    let id = remember(&ann, "The password policy is written on the wall");
    sync(&there);
    assert_eq!(recall(&ben, "policy").len(), 1);
    let gone = change(&ann, &json!({ "action": "forget", "id": id }));
    assert_eq!(
        (&gone["status"], &gone["sync"]["status"]),
        (&json!("forgotten"), &json!("published"))
    );
    let said = gone["sync"]["message"].as_str().unwrap();
    assert!(said.contains("history keeps its text"), "{said}");
    assert_eq!(recall(&ann, "policy").len(), 0);
    assert_eq!(remote.git(&["ls-tree", "-r", REF]), "");
    sync(&there);
    assert_eq!(recall(&ben, "policy").len(), 0);
    let said = refused(&ben, "majordomus_notes", &json!({ "id": id }));
    assert!(said.contains("there is no note"), "{said}");
    // Whoever sends it again is told the same by whoever is there.
    let said = refused(
        &ann,
        "majordomus_note_change",
        &json!({ "action": "forget", "id": id }),
    );
    assert!(said.contains("there is no note"), "{said}");
}

#[test]
fn what_two_change_at_once_is_merged_and_what_cannot_be_is_two_notes() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    let ann = here.attached("ann");
    let id = remember(&ann, "The limit is 16 MB");
    let ben = there.attached("ben");
    wait_for("the note to arrive", BOUND, || {
        recall(&ben, "limit").len() == 1
    });
    // Ben changes what he saw, Ann's change having arrived meanwhile.
    let seen = read(&ben, &id)["version"].clone();
    let tagged = change(
        &ann,
        &json!({ "action": "edit", "id": id, "tags": ["ann"] }),
    );
    assert_eq!(tagged["sync"]["published"], true, "{tagged}");
    let titled = change(
        &ben,
        &json!({ "action": "edit", "id": id, "version": seen, "title": "The limit is 32 MB" }),
    );
    assert_eq!(titled["sync"]["published"], true, "{titled}");
    assert_eq!(titled.get("sibling"), None, "{titled}");
    let both = read(&ben, &id);
    assert_eq!(
        (&both["title"], &both["tags"]),
        (&json!("The limit is 32 MB"), &json!(["ann"]))
    );
    // Ann has not seen the title; both now write another text.
    change(
        &ben,
        &json!({ "action": "edit", "id": id, "body": "Ben measured it" }),
    );
    let clashed = change(
        &ann,
        &json!({ "action": "edit", "id": id, "version": tagged["version"], "body": "Ann measured it" }),
    );
    assert_eq!(clashed["sync"]["published"], true, "{clashed}");
    let sibling = clashed["sibling"].as_str().unwrap();
    assert!(
        clashed["sync"]["message"]
            .as_str()
            .unwrap()
            .contains(sibling),
        "{clashed}"
    );
    sync(&there);
    for client in [&ann, &ben] {
        let (one, other) = (read(client, &id), read(client, sibling));
        assert_eq!(one["text"], "Ben measured it");
        assert_eq!(other["text"], "Ann measured it");
        assert_eq!(one["relates"], json!([sibling]));
        assert_eq!(other["relates"], json!([id]));
    }
}

/// Several agents of one checkout read a note, and each writes what it makes of it.
#[test]
fn what_two_agents_of_one_checkout_make_of_what_both_read_is_merged_too() {
    let repository = Repository::new();
    let (ann, ben) = (repository.attached("ann"), repository.attached("ben"));
    let id = remember(&ann, "The limit is 16 MB");
    let seen = read(&ben, &id)["version"].clone();
    let edit = |client: &Client, version: &Value, key: &str, value: Value| {
        let mut asked = json!({ "action": "edit", "id": id, "version": version });
        asked[key] = value;
        change(client, &asked)
    };
    let first = edit(&ann, &seen, "body", json!("Ann measured it"));
    assert_eq!(first.get("sibling"), None, "{first}");
    let tagged = edit(&ben, &seen, "tags", json!(["limits"]));
    assert_eq!(tagged.get("sibling"), None, "{tagged}");
    let both = read(&ann, &id);
    assert_eq!(
        (&both["text"], &both["tags"]),
        (&json!("Ann measured it"), &json!(["limits"]))
    );
    let clashed = edit(&ben, &seen, "body", json!("Ben measured it"));
    let sibling = clashed["sibling"].as_str().expect("two texts, two notes");
    assert_eq!(read(&ann, &id)["text"], "Ann measured it");
    assert_eq!(read(&ann, sibling)["text"], "Ben measured it");
    // What was answered can be gone on from, although no commit has just that.
    let again = edit(
        &ben,
        &tagged["version"],
        "title",
        json!("The limit is 32 MB"),
    );
    assert_eq!(again.get("sibling"), None, "{again}");
    let merged = read(&ann, &id);
    assert_eq!(
        (&merged["title"], &merged["text"]),
        (&json!("The limit is 32 MB"), &json!("Ann measured it"))
    );
    // Who forgets what they read keeps what was written since.
    let gone = change(
        &ben,
        &json!({ "action": "forget", "id": id, "version": seen }),
    );
    assert_eq!(gone["status"], "forgotten", "{gone}");
    assert_eq!(
        recall(&ann, "limit 32").first().map(String::as_str),
        Some("The limit is 32 MB")
    );
    for (asked, expected) in [
        (
            json!({ "action": "edit", "id": sibling, "title": "x" }),
            "argument `version` is missing",
        ),
        (
            json!({ "action": "edit", "id": sibling, "version": "0123456789abcdef", "title": "x" }),
            "has no version `0123456789abcdef`",
        ),
        (
            json!({ "action": "edit", "id": sibling, "version": "no hex digits at", "title": "x" }),
            "has no version",
        ),
        (
            json!({ "action": "forget", "id": sibling, "version": "0123456789abcdef" }),
            "has no version",
        ),
    ] {
        let said = refused(&ben, "majordomus_note_change", &asked);
        assert!(said.contains(expected), "{asked}: {said}");
    }
}

/// Where a person reviews, each agent's change of one note is a draft of its own, and none takes another one's place.
#[test]
fn drafts_of_one_note_by_two_agents_are_both_there_to_be_promoted() {
    let remote = Remote::new();
    let repository = remote.clone_of();
    succeed(&mut repository.command(&["notes", "share", "--review", "--yes"]));
    let (ann, ben) = (repository.attached("ann"), repository.attached("ben"));
    let id = remember(&ann, "The limit is 16 MB");
    let draft = read(&ann, &id)["version"].clone();
    let asked = json!({ "action": "edit", "id": id, "version": draft, "body": "for a request" });
    change(&ann, &asked);
    let said = refused(
        &ben,
        "majordomus_note_change",
        &json!({
            "action": "edit", "id": id, "version": draft, "body": "for an answer",
        }),
    );
    assert!(said.contains("has no version"), "{said}");
    succeed(&mut repository.command(&["notes", "promote", &id, "--yes"]));
    let seen = read(&ben, &id)["version"].clone();
    for (client, body) in [(&ann, "Ann measured it"), (&ben, "Ben measured it")] {
        let asked = json!({ "action": "edit", "id": id, "version": seen, "body": body });
        let edited = change(client, &asked);
        assert_eq!(edited["sync"]["status"], "draft", "{edited}");
    }
    for _ in 0..2 {
        succeed(&mut repository.command(&["notes", "promote", &id, "--yes"]));
    }
    let note = read(&ann, &id);
    let sibling = note["relates"][0].as_str().expect("two texts, two notes");
    let texts =
        [&note["text"], &read(&ann, sibling)["text"]].map(|text| text.as_str().unwrap().to_owned());
    assert!(
        texts.contains(&"Ann measured it".to_owned())
            && texts.contains(&"Ben measured it".to_owned()),
        "{texts:?}"
    );
}

#[test]
fn where_notes_are_reviewed_only_a_person_promotes_and_no_branch_takes_that_away() {
    let remote = Remote::new();
    let repository = remote.clone_of();
    succeed(&mut repository.command(&["notes", "share", "--review", "--yes"]));
    let file = repository.root().join(".ai/majordomus.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("review = true"), "{text}");
    let client = repository.attached("one");
    let id = remember(&client, "Deploys happen on Thursdays");
    assert_eq!(read(&client, &id)["draft"], true);
    let promote = json!({ "action": "promote", "id": id });
    let said = refused(&client, "majordomus_note_change", &promote);
    assert!(said.contains("only a person"), "{said}");
    // Somebody's branch says otherwise.
    fs::write(&file, text.replace("review = true", "review = false")).unwrap();
    let said = refused(&client, "majordomus_note_change", &promote);
    assert!(said.contains("only a person"), "{said}");
    let other = remember(&client, "Deploys happen on Fridays");
    assert_eq!(read(&client, &other)["draft"], true);
    assert_eq!(remote.git(&["for-each-ref"]), "");
    let said = succeed(&mut repository.command(&["notes", "pending"])).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("Thursdays") && said.contains("draft"),
        "{said}"
    );
    succeed(&mut repository.command(&["notes", "promote", &id, "--yes"]));
    assert_eq!(remote.subjects(), ["memory: Deploys happen on Thursdays"]);
    succeed(&mut repository.command(&["notes", "reject", &other, "--yes"]));
    // What an agent changes of a note waits too, and what it would take away stays.
    let edited = change(
        &client,
        &json!({ "action": "edit", "id": id, "title": "Deploys happen daily" }),
    );
    assert_eq!(edited["sync"]["status"], "draft", "{edited}");
    let said = refused(
        &client,
        "majordomus_note_change",
        &json!({ "action": "forget", "id": id }),
    );
    assert!(said.contains("only a person"), "{said}");
    assert_eq!(recall(&client, "deploys"), ["Deploys happen on Thursdays"]);
    succeed(&mut repository.command(&["notes", "promote", &id, "--yes"]));
    assert_eq!(recall(&client, "deploys"), ["Deploys happen daily"]);
    succeed(&mut repository.command(&["notes", "forget", &id, "--yes"]));
    assert_eq!(recall(&client, "deploys"), [] as [&str; 0]);
}

#[test]
fn a_person_agrees_in_the_chat_to_where_notes_go() {
    let remote = Remote::new();
    let repository = remote.clone_of();
    let client = repository.attached("one");
    let note = remember(&client, "Written before anybody agreed");
    let ask = json!({ "action": "share" });
    let proposed = change(&client, &ask)["share"].clone();
    assert_eq!(proposed["done"], false, "{proposed}");
    let message = proposed["message"].as_str().unwrap();
    assert!(message.contains("git.example.org/team/code"), "{message}");
    let file = repository.root().join(".ai/majordomus.toml");
    assert!(!file.exists(), "nothing is done yet");
    let with = |code: &str| json!({ "action": "share", "code": code });
    let said = refused(&client, "majordomus_note_change", &with("00000000"));
    assert!(said.contains("another proposal"), "{said}");
    assert!(!file.exists());
    let code = proposed["code"].as_str().unwrap();
    let done = change(&client, &with(code))["share"].clone();
    assert_eq!(done["done"], true, "{done}");
    sync(&repository);
    assert_eq!(read(&client, &note)["shared"], true);
    let said = refused(
        &client,
        "majordomus_note_change",
        &json!({ "action": "share", "remote": "nowhere" }),
    );
    assert!(said.contains("no remote `nowhere`"), "{said}");
}

#[test]
fn notes_are_edited_in_an_editor_and_written_out_as_files() {
    let repository = Repository::new();
    let client = repository.attached("one");
    let id = remember(&client, "The limit is 16 MB");
    repository.git(&["config", "core.editor", "sed -i 's/16 MB/32 MB/'"]);
    succeed(&mut repository.command(&["notes", "edit", &id]));
    assert_eq!(read(&client, &id)["title"], "The limit is 32 MB");
    let output = repository.cli(&["notes", "edit", &id]);
    assert!(!output.status.success(), "nothing was changed");
    for words in [
        &["show", "../x"][..],
        &["edit", ""],
        &["forget", "x", "--yes"],
        &["purge", "x"],
        &["supersede", &id, "--by", "x"],
    ] {
        let said = repository.cli(&[&["notes"], words].concat()).stderr;
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("is no id of a note"), "{words:?}: {said}");
    }
    let mut command = repository.command(&["notes", "edit", &id]);
    repository.git(&["config", "--unset", "core.editor"]);
    let said = command
        .stdin(Stdio::null())
        .env_remove("EDITOR")
        .output()
        .unwrap()
        .stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("no terminal") && said.contains("--body"),
        "{said}"
    );
    repository.git(&["config", "core.editor", "false"]);
    let output = repository.cli(&["notes", "edit", &id]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("the editor was of no use") && said.contains("hint: "),
        "{said}"
    );
    succeed(&mut repository.command(&[
        "notes",
        "edit",
        &id,
        "--status",
        "stale",
        "--tag",
        "limits",
        "--path",
        "src/**",
        "--body",
        "measured",
        "--title",
        "The limit is 64 MB",
        "--not-secret",
    ]));
    let note = read(&client, &id);
    assert_eq!(
        (&note["status"], &note["tags"], &note["text"]),
        (&json!("stale"), &json!(["limits"]), &json!("measured"))
    );
    let draft = ["remember", "Perhaps the limit is 256 MB", "--draft"];
    let said = succeed(&mut repository.command(&draft)).stdout;
    assert!(String::from_utf8(said).unwrap().contains("as a draft"));
    let newer = remember(&client, "The limit is 128 MB");
    succeed(&mut repository.command(&["notes", "supersede", &id, "--by", &newer]));
    assert_eq!(read(&client, &newer)["supersedes"], json!([id]));
    let old = read(&client, &id);
    assert_eq!(
        (&old["status"], &old["superseded_by"]),
        (&json!("superseded"), &json!(newer))
    );
    let listed = client.tool("majordomus_notes", &json!({ "kind": "memory" }));
    let old = listed["notes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|note| note["id"] == json!(id));
    assert_eq!(old.unwrap()["status"], "superseded", "{listed}");
    let shown = succeed(&mut repository.command(&["notes", "show", &id])).stdout;
    assert!(String::from_utf8(shown).unwrap().contains("measured"));
    let path = succeed(&mut repository.command(&["notes", "path"])).stdout;
    let path = String::from_utf8(path).unwrap();
    assert!(
        fs::metadata(format!("{}/HEAD", path.trim())).is_ok(),
        "{path}"
    );
    let folder = repository.outside().join("out");
    let folder = folder.to_str().unwrap();
    succeed(&mut repository.command(&["notes", "export", folder]));
    let file = format!("{folder}/{}", note["path"].as_str().unwrap());
    let text = fs::read_to_string(file).unwrap();
    assert!(
        text.contains("The limit is 64 MB") && text.ends_with("measured"),
        "{text}"
    );
    let output = repository.cli(&["notes", "export", folder]);
    assert!(!output.status.success(), "it is not empty any more");
}

/// The text of a file that an error names, which is then removed.
fn kept(said: &str) -> String {
    let (_, path) = said.split_once("your text is in ").expect(said);
    let path = path.split([')', '\n']).next().unwrap();
    let text = fs::read_to_string(path).unwrap();
    fs::remove_dir_all(std::path::Path::new(path).parent().unwrap()).unwrap();
    text
}

#[test]
fn what_was_typed_in_an_editor_is_kept_where_it_cannot_be_the_note() {
    let repository = Repository::new();
    let client = repository.attached("one");
    let id = remember(&client, "The limit is 16 MB");
    let edited = |editor: &str| {
        repository.git(&["config", "core.editor", editor]);
        let output = repository.cli(&["notes", "edit", &id]);
        assert!(!output.status.success(), "{editor}");
        String::from_utf8(output.stderr).unwrap()
    };
    let said = edited("f() { echo typed >> \"$1\"; exit 1; }; f");
    assert!(said.contains("the editor was of no use"), "{said}");
    assert!(kept(&said).contains("typed"), "{said}");
    let said =
        edited("f() { echo typed >> \"$1\"; head -c 70000 /dev/zero | tr '\\0' a >> \"$1\"; }; f");
    assert!(said.contains("expected at most 65536"), "{said}");
    assert!(kept(&said).contains("typed"), "{said}");
}

#[test]
fn what_somebody_else_writes_while_an_editor_is_open_is_merged_with_what_is_typed() {
    let repository = Repository::new();
    let client = repository.attached("one");
    let id = remember(&client, "The limit is 16 MB");
    let binary = env!("CARGO_BIN_EXE_majordomus");
    let editor = format!(
        "f() {{ echo typed >> \"$1\"; {binary} notes edit {id} --body theirs --tag limits >/dev/null; }}; f"
    );
    repository.git(&["config", "core.editor", &editor]);
    let said = succeed(&mut repository.command(&["notes", "edit", &id])).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("Somebody else had changed the note"),
        "{said}"
    );
    let note = read(&client, &id);
    assert_eq!(
        (&note["text"], &note["tags"]),
        (&json!("theirs"), &json!(["limits"]))
    );
    let sibling = note["relates"][0].as_str().unwrap();
    let typed = read(&client, sibling)["text"].clone();
    assert!(typed.as_str().unwrap().contains("typed"), "{typed}");
}

/// A person asks by name.
#[test]
fn prompts_lead_to_the_notes_in_the_persons_own_words() {
    let repository = Repository::new();
    let client = repository.client("one");
    client.initialize();
    let listed = client.result("prompts/list", &json!({}));
    let names: Vec<_> = listed["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap().to_owned())
        .collect();
    repository.ready();
    for (id, name, tool) in [
        ("notes.ask_remember", "remember", "majordomus_remember"),
        ("notes.ask_recall", "recall", "majordomus_recall"),
        ("notes.ask_decide", "decide", "`kind`: `decision`"),
    ] {
        assert!(names.iter().any(|each| each == name), "{names:?}");
        succeed(&mut repository.command(&["describe", id]));
        let about = "when we\u{202e} deploy";
        let asked = json!({ "name": name, "arguments": { "about": about } });
        let message = client.result("prompts/get", &asked)["messages"][0].clone();
        assert_eq!(message["role"], "user");
        let text = message["content"]["text"].as_str().unwrap();
        assert!(
            text.contains(tool) && text.ends_with("when we deploy"),
            "{text}"
        );
    }
}

#[test]
fn a_note_that_is_purged_is_in_no_history_and_comes_back_from_nobody() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    let (ann, ben) = (here.attached("ann"), there.attached("ben"));
    remember(&ann, "Deploys happen on Thursdays");
    let id = remember(&ann, "The password is on the wall");
    remember(&ann, "Nobody deploys on Fridays");
    sync(&there);
    // Ben corrects it, and has not sent that when it is purged.
    let ids = |client: &Client| recall(client, "password wall deploys");
    assert_eq!(ids(&ben).len(), 3);
    change(
        &ann,
        &json!({ "action": "edit", "id": id, "body": "in red" }),
    );
    change(&ann, &json!({ "action": "forget", "id": id }));
    let refused = here.cli(&["notes", "purge", &id, "--confirm", "something else"]);
    assert!(!refused.status.success());
    assert!(
        remote.git(&["log", "-p", REF]).contains("password"),
        "it is still there"
    );
    let said = succeed(&mut here.command(&["notes", "purge", &id, "--confirm", &id])).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("Purged") && said.contains("sync --adopt"),
        "{said}"
    );
    let log = remote.git(&["log", "-p", REF]);
    assert!(
        !log.contains("password") && !log.contains("wall") && !log.contains(&id),
        "{log}"
    );
    assert_eq!(
        remote.subjects(),
        [
            "memory: Deploys happen on Thursdays",
            "memory: Nobody deploys on Fridays"
        ]
    );
    // Nothing of it is left here, where the objects are loose or packed.
    let library = here.root().join(".git/majordomus/memory.git");
    let library = library.to_str().unwrap();
    let objects = "--batch-check=%(objecttype) %(objectname)";
    let objects = here.git(&[
        "--git-dir",
        library,
        "cat-file",
        "--batch-all-objects",
        objects,
    ]);
    for (kind, object) in objects.lines().filter_map(|line| line.split_once(' ')) {
        let text = here.git(&["--git-dir", library, "cat-file", "-p", object]);
        assert!(!text.contains("password"), "a {kind} of it is left: {text}");
    }
    for entry in fs::read_dir(here.root().join(".git/majordomus")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap_or_default();
        assert!(
            memchr(&bytes, b"password").is_none(),
            "{} has it",
            path.display()
        );
    }
    here.git(&["--git-dir", library, "fsck", "--strict"]);
    // Ann goes on, Ben is told and puts nothing back.
    let next = ann.tool(
        "majordomus_remember",
        &json!({ "title": "After the purge" }),
    );
    assert_eq!(next["sync"]["status"], "published", "{next}");
    let late = ben.tool("majordomus_remember", &json!({ "title": "Ben was late" }));
    assert_eq!(late["sync"]["status"], "rewritten", "{late}");
    let edited = change(
        &ben,
        &json!({ "action": "edit", "id": id, "body": "in blue" }),
    );
    assert_eq!(edited["sync"]["status"], "rewritten", "{edited}");
    succeed(&mut there.command(&["sync", "--adopt"]));
    assert!(
        !remote.git(&["log", "-p", REF]).contains("password"),
        "it came back"
    );
    assert_eq!(remote.subjects().len(), 4);
    // What Ben wrote of it is not thrown away either: it waits for him.
    let pending = ben.tool("majordomus_notes", &json!({ "pending": true }));
    assert_eq!(pending["notes"][0]["draft"], true, "{pending}");
    let said = succeed(&mut here.command(&["notes", "purge", &id, "--confirm", &id])).stdout;
    assert!(
        String::from_utf8(said).unwrap().contains("Purged"),
        "again it is what it was"
    );
}

#[test]
fn a_note_is_purged_where_nothing_is_shared_too() {
    let repository = Repository::new();
    let client = repository.attached("one");
    let id = remember(&client, "The password is on the wall");
    succeed(&mut repository.command(&["notes", "purge", &id, "--confirm", &id]));
    let library = repository.root().join(".git/majordomus/memory.git");
    let log = repository.git(&["--git-dir", library.to_str().unwrap(), "log", "-p", REF]);
    assert!(!log.contains("password"), "{log}");
    assert_eq!(recall(&client, "password"), [] as [&str; 0]);
    remember(&client, "Life goes on");
    assert_eq!(recall(&client, "life"), ["Life goes on"]);
}

#[test]
fn a_purge_where_nothing_is_shared_leaves_every_other_note_as_it_was() {
    let repository = Repository::new();
    let client = repository.attached("one");
    let id = remember(&client, "The limit is 16 MB");
    let purged = remember(&client, "The key of the door");
    for body in ["once", "twice"] {
        let asked = json!({ "action": "edit", "id": id, "body": body });
        change(&client, &asked);
    }
    succeed(&mut repository.command(&["notes", "purge", &purged, "--confirm", &purged]));
    let notes = client.tool("majordomus_notes", &json!({}));
    assert_eq!(notes["notes"].as_array().unwrap().len(), 1, "{notes}");
    assert_eq!(read(&client, &id)["text"], "twice");
}

fn memchr(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}

/// A host that asks nobody who they are: whoever has its address can read it.
#[test]
fn a_remote_that_strangers_can_read_is_called_so_and_its_notes_are_reviewed() {
    let remote = Remote::new();
    let host = Host::new(remote.base());
    let repository = clone_by(&host.url("code.git"));
    let client = repository.attached("one");
    let proposed = change(&client, &json!({ "action": "share" }))["share"].clone();
    let message = proposed["message"].as_str().unwrap();
    assert!(
        message.contains("Strangers can read that remote"),
        "{message}"
    );
    succeed(&mut repository.command(&["notes", "share", "--yes"]));
    let id = remember(&client, "Deploys happen on Thursdays");
    assert_eq!(read(&client, &id)["draft"], true);
    // Whoever knows what they do says so.
    succeed(&mut repository.command(&["notes", "share", "--unreviewed", "--yes"]));
    let promoted = change(&client, &json!({ "action": "promote", "id": id }));
    assert_eq!(promoted["sync"]["published"], true, "{promoted}");
}

/// A person who has just set the clients up is asked once whether the team gets the notes.
#[test]
fn init_asks_once_where_notes_go() {
    let remote = Remote::new();
    let repository = remote.clone_of();
    let mut terminal = Terminal::open(&repository);
    let path = crate::init::path(&repository);
    let line = format!("PATH='{path}' majordomus init --client claude; echo ended $?\n");
    terminal.types(line.as_bytes());
    terminal.sees("[y/N]");
    terminal.types(b"y\n");
    terminal.sees("git.example.org/team/code, where all who can read it");
    let file = repository.root().join(".ai/majordomus.toml");
    assert!(!file.exists(), "nobody has agreed yet");
    terminal.types(b"y\n");
    terminal.sees("ended 0");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("git.example.org/team/code"), "{text}");
    let client = repository.attached("one");
    let answer = client.tool("majordomus_remember", &json!({ "title": "A fact" }));
    assert_eq!(answer["sync"]["status"], "published", "{answer}");
}

#[test]
fn a_damaged_repository_of_notes_is_named_by_doctor_and_made_again_without_it() {
    let repository = Repository::new();
    let client = repository.attached("one");
    let id = remember(&client, "The limit is 16 MB");
    change(
        &client,
        &json!({ "action": "edit", "id": id, "body": "measured" }),
    );
    let library = repository.root().join(".git/majordomus/memory.git");
    fs::write(library.join("refs/majordomus/memory"), "").unwrap();
    let said = repository.cli(&["doctor"]).stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(
        said.contains("the repository of the notes cannot be read"),
        "{said}"
    );
    let hint = said
        .lines()
        .find_map(|line| line.split_once("mv ").map(|(_, rest)| rest))
        .unwrap();
    let (from, to) = hint.trim().split_once(' ').unwrap();
    fs::rename(repository.root().join(from), repository.root().join(to)).unwrap();
    assert_eq!(recall(&client, "limit"), ["The limit is 16 MB"]);
    assert_eq!(read(&client, &id)["text"], "measured");
    let listed = client.tool("majordomus_notes", &json!({}));
    assert_eq!(listed["notes"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn who_subscribed_to_a_note_is_told_when_it_changes_here_or_comes_from_the_team() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    let (ann, ben) = (here.attached("ann"), there.attached("ben"));
    let id = remember(&ann, "The limit is 16 MB");
    let uri = format!("majordomus://notes/{id}");
    let told = |client: &Client| {
        let fits = |message: &Value| message["params"]["uri"] == json!(uri);
        client.notification("notifications/resources/updated", fits);
        client.inbox().forget_messages();
    };
    ann.result("resources/subscribe", &json!({ "uri": uri }));
    ann.inbox().forget_messages();
    change(
        &ann,
        &json!({ "action": "edit", "id": id, "body": "measured" }),
    );
    told(&ann);
    sync(&there);
    change(
        &ben,
        &json!({ "action": "edit", "id": id, "tags": ["limits"] }),
    );
    sync(&here);
    told(&ann);
    assert_eq!(read(&ann, &id)["tags"], json!(["limits"]));
}

/// A person attaches a note to a conversation from the list that their client shows.
#[test]
fn the_newest_notes_are_listed_as_resources_and_who_listens_is_told_when_that_changes() {
    let remote = Remote::new();
    let (here, there) = (remote.sharing(), remote.sharing());
    let (ann, ben) = (here.attached("ann"), here.attached("ben"));
    let listed = |client: &Client| -> Vec<Value> {
        let listed = client.result("resources/list", &json!({}));
        let all = listed["resources"].as_array().unwrap().clone();
        let is_note = |one: &Value| {
            one["uri"]
                .as_str()
                .unwrap()
                .starts_with("majordomus://notes/")
        };
        all.into_iter().filter(is_note).collect()
    };
    let told = |client: &Client| {
        client.notification("notifications/resources/list_changed", |_| true);
        client.inbox().forget_messages();
    };
    assert_eq!(listed(&ann), [] as [Value; 0]);
    let id = remember(&ann, "The limit is 16 MB");
    told(&ben);
    let note = &listed(&ben)[0];
    assert_eq!(note["title"], "The limit is 16 MB", "{note}");
    let read = ben.result("resources/read", &json!({ "uri": note["uri"] }));
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains(&id), "{text}");
    // Another machine's comes with the next meeting.
    let cal = there.attached("cal");
    remember(&cal, "The limit is per request");
    ben.inbox().forget_messages();
    sync(&here);
    told(&ben);
    let titles: Vec<_> = listed(&ann)
        .iter()
        .map(|note| note["title"].clone())
        .collect();
    assert_eq!(
        titles,
        ["The limit is per request", "The limit is 16 MB"],
        "the newest first"
    );
    change(&ben, &json!({ "action": "forget", "id": id }));
    assert_eq!(listed(&ann).len(), 1);
}

#[test]
fn what_the_team_has_for_a_day_takes_no_second_place_on_this_machine() {
    let remote = Remote::new();
    let repository = remote.sharing();
    let client = repository.attached("one");
    let id = remember(&client, "The limit is 16 MB");
    let writes = repository.root().join(".git/majordomus/writes.db");
    let rows = || -> i64 {
        let file = rusqlite::Connection::open(&writes).unwrap();
        let count = "SELECT count(*) FROM write";
        file.query_row(count, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(rows(), 1);
    let file = rusqlite::Connection::open(&writes).unwrap();
    let a_day = 25 * 60 * 60 * 1000;
    file.execute("UPDATE write SET at = at - ?1", [a_day])
        .unwrap();
    drop(file);
    remember(&client, "The limit is per request");
    assert_eq!(rows(), 1, "the first one is the team's");
    assert_eq!(read(&client, &id)["shared"], true);
}

#[test]
fn a_purge_says_where_somebody_who_reads_keeps_the_words_alive() {
    let repository = Repository::new();
    let client = repository.attached("one");
    let id = remember(&client, "The password is on the wall");
    let folder = repository.root().join(".git/majordomus");
    let mut reader = rusqlite::Connection::open(folder.join("writes.db")).unwrap();
    let reading = reader.transaction().unwrap();
    let count = "SELECT count(*) FROM write";
    let there: i64 = reading.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(there, 1);
    let purge = ["notes", "purge", &id, "--confirm", &id];
    let output = repository.cli(&purge);
    assert!(!output.status.success(), "its words are in the log");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("another program reads"), "{said}");
    drop(reading);
    succeed(&mut repository.command(&purge));
    for file in ["writes.db", "writes.db-wal"] {
        let bytes = fs::read(folder.join(file)).unwrap_or_default();
        assert!(memchr(&bytes, b"password").is_none(), "{file} has it");
    }
}

#[test]
fn an_export_is_whole_or_nothing_and_goes_nowhere_into_git() {
    let repository = Repository::new();
    let client = repository.attached("one");
    remember(&client, "The limit is 16 MB");
    let inside = repository.root().join(".git/majordomus/out");
    let output = repository.cli(&["notes", "export", inside.to_str().unwrap()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("git's own folder") && said.contains("hint: "),
        "{said}"
    );
    // Files of no length are all that may be written.
    let folder = repository.outside().join("out");
    let folder = folder.to_str().unwrap();
    let script = r#"trap '' XFSZ; ulimit -f 0; exec "$@""#;
    let mut limited = crate::support::command::hermetic("sh", repository.root(), repository.home());
    limited.args(["-c", script, "sh", env!("CARGO_BIN_EXE_majordomus")]);
    limited.args(["notes", "export", folder]);
    let output = limited.output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("not exported") && said.contains("hint: "),
        "{said}"
    );
    succeed(&mut repository.command(&["notes", "export", folder]));
}
