use uuid::Uuid;

use super::{Fault, Kind, Note, Status};

const ID: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001);

#[track_caller]
fn read(text: &str) -> (Note, Vec<Fault>) {
    let (note, faults) = Note::parse(Kind::Memory, ID, text.as_bytes());
    let (again, _) = Note::parse(Kind::Memory, ID, note.render().as_bytes());
    assert_eq!(again, note, "{text:?} rendered as {:?}", note.render());
    (note, faults)
}

fn plain(title: &str, body: &str) -> Note {
    Note::new(Kind::Memory, ID, title.to_owned(), body.to_owned())
}

#[test]
fn a_note_reads_as_it_was_said() {
    let (note, faults) = read(
        "---\ntitle: Deploys are frozen on Fridays\nstatus: stale\ntags: [deploy, \"on call\"]\npaths:\n  - deploy/**\n  - \
         'src/a b.rs'\nauthor: Ada\ncreated: 2026-11-30\nsupersedes: 01900000-0000-7000-8000-000000000002\n---\n\nThe pipeline \
         is closed.\n",
    );
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(note.title, "Deploys are frozen on Fridays");
    assert_eq!(note.status(), Status::Stale);
    assert_eq!(note.tags, ["deploy", "on call"]);
    assert_eq!(note.paths, ["deploy/**", "src/a b.rs"]);
    assert_eq!(note.author.as_deref(), Some("Ada"));
    assert_eq!(note.supersedes.len(), 1);
    assert_eq!(note.body, "The pipeline is closed.\n");
}

#[test]
fn a_note_is_written_for_people() {
    let mut note = plain("Deploys: never on \"Fridays\"", "The pipeline is closed.\n");
    note.tags = vec!["deploy".to_owned(), "on call".to_owned(), "yes".to_owned()];
    note.status = Some(Status::Active);
    note.created = Some("2026-11-30T19:19:37.042Z".to_owned());
    note.others = vec!["estimate:\n  days: 3 # roughly\n".to_owned()];
    assert_eq!(
        note.render(),
        "---\ntitle: \"Deploys: never on \\\"Fridays\\\"\"\nstatus: active\ntags: [deploy, on call, \"yes\"]\ncreated: \
         \"2026-11-30T19:19:37.042Z\"\nestimate:\n  days: 3 # roughly\n---\n\nThe pipeline is closed.\n"
    );
    assert_eq!(read(&note.render()), (note, Vec::new()));
}

#[test]
fn what_is_not_known_is_kept_in_its_own_words() {
    let unknown = "x-team: {a: [1, 2], b: &c d} # why\nnotes: |\n  --- no fence\n  second\n";
    let (note, faults) = read(&format!("---\ntitle: a\n{unknown}status: done\n---\nb"));
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(note.others.concat(), unknown);
    assert_eq!((note.status(), note.body.as_str()), (Status::Done, "b"));
}

#[test]
fn what_is_not_understood_is_named_and_kept() {
    for (front, fault) in [
        ("status: flying\n", Fault::Value("status")),
        ("tags: {a: b}\n", Fault::Value("tags")),
        ("tags: [[a]]\n", Fault::Value("tags")),
        ("title: [a]\n", Fault::Value("title")),
        ("title: !word a\n", Fault::Value("title")),
        ("title: &a b\n", Fault::Value("title")),
        ("relates: [somebody]\n", Fault::Value("relates")),
        ("superseded_by: x\n", Fault::Value("superseded_by")),
        ("created: yesterday\n", Fault::Value("created")),
    ] {
        let (note, faults) = read(&format!("---\n{front}---\n"));
        assert_eq!(faults, [fault], "{front}");
        assert_eq!(note.others, [front], "{front}");
    }
    let (note, faults) = read("---\ntags:\ntags: [a]\n---\n");
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(note.tags, ["a"]);
    let (note, faults) = read("---\ntitle: a\ntitle: b\n---\n");
    assert_eq!(faults, [Fault::Twice("title")]);
    assert_eq!(
        (note.title.as_str(), note.others.concat().as_str()),
        ("a", "title: b\n")
    );
}

#[test]
fn what_is_no_front_matter_is_body() {
    for text in [
        "",
        "just text",
        "---\n",
        "---\ntitle: a\n",
        "---\n- a\n---\nb",
        "---\n{title: a}\n---\nb",
        "---\n  title: a\n---\nb",
        "---\ntitle: \"a\n---\nb",
        "---\ntitle: a\n...\nb: c\n---\nd",
        "---\n? title\n: a\n---\nb",
        "--- \ntitle: a\n---\nb",
        "# a\n---\ntitle: a\n---\n",
    ] {
        let (note, _) = read(text);
        assert_eq!((note.title.as_str(), note.body.as_str()), ("", text));
    }
}

#[test]
fn editors_leave_a_mark_or_end_lines_in_two_characters() {
    let (note, faults) = read("\u{feff}---\r\ntitle: a\r\nx: 1\r\n---\r\n\r\nb\r\n");
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!((note.title.as_str(), note.body.as_str()), ("a", "b\r\n"));
    assert_eq!(note.others, ["x: 1\r\n"]);
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let (note, faults) = Note::parse(Kind::Person, ID, b"---\ntitle: a\xff\n---\nb");
    assert_eq!(faults, [Fault::Encoding]);
    assert_eq!(note.title, "a\u{fffd}");
}
