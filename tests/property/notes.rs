//! Notes: what is written is read, and whatever stands in a file is read the same way twice.

use majordomus::memory::note::{Kind, Note, Status};
use majordomus::memory::place;
use proptest::prelude::*;
use uuid::Uuid;

/// What front matter and its misuse are made of.
fn shred() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "---",
        "---\n",
        "\n",
        "\r\n",
        "\r",
        "title: ",
        "tags: ",
        "status: ",
        "paths:\n",
        "created: ",
        "- ",
        "  ",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        ": ",
        "# ",
        "|\n",
        ">-\n",
        "&a ",
        "*a",
        "!word ",
        "? ",
        "...\n",
        "%YAML 1.2\n",
        "null",
        "done",
        "2026-11-30",
        "\t",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "\\",
        "ä",
        "東",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => "[a-c:]{0,4}", 1 => any::<char>().prop_map(String::from)]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "(null|~|yes|-|1e3|0x1f|2026-01-01|a: b|# c|\\[a\\])"
    ]
}

fn note() -> impl Strategy<Value = Note> {
    let lists = (
        prop::collection::vec(words(), 0..4),
        prop::collection::vec(words(), 0..4),
        prop::collection::vec(any::<u128>(), 0..3),
        prop::option::of(any::<u128>()),
    );
    let texts = (
        words(),
        any::<String>(),
        prop::option::of(words()),
        prop::option::of(words()),
    );
    let kinds = (
        prop::sample::select(&Kind::ALL),
        prop::sample::select(&Status::ALL),
    );
    (any::<u128>(), kinds, texts, lists).prop_map(|(id, (kind, status), texts, lists)| {
        let mut note = Note::new(kind, Uuid::from_u128(id), texts.0, texts.1);
        note.status = Some(status);
        note.author = texts.2;
        note.project = texts.3;
        note.tags = lists.0;
        note.paths = lists.1;
        note.relates = lists.2.into_iter().map(Uuid::from_u128).collect();
        note.superseded_by = lists.3.map(Uuid::from_u128);
        note.updated = Some("2026-11-30T19:19:37Z".to_owned());
        note.others = vec![
            "x: {a: &b [1], c: *b}\n".to_owned(),
            "y: |\n  ---\n  z\n".to_owned(),
        ];
        note
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(note in note()) {
        let (read, faults) = Note::parse(note.kind, note.id, note.render().as_bytes());
        prop_assert_eq!(&faults, &[]);
        prop_assert_eq!(read, note);
    }

    #[test]
    fn whatever_stands_in_a_file_is_read_the_same_way_twice(shreds in prop::collection::vec(shred(), 0..24), fenced in any::<bool>()) {
        let inner = shreds.concat();
        let text = if fenced { format!("---\n{inner}\n---\nbody") } else { inner };
        let id = Uuid::from_u128(7);
        let (note, _) = Note::parse(Kind::Memory, id, text.as_bytes());
        let (again, _) = Note::parse(Kind::Memory, id, note.render().as_bytes());
        prop_assert_eq!(again, note);
    }

    #[test]
    fn a_path_is_a_notes_or_nobodys(id in any::<u128>(), title in any::<String>(), kind in prop::sample::select(&Kind::ALL)) {
        let path = place::path(kind, Uuid::from_u128(id), &title);
        prop_assert_eq!(place::parse(&path), Some((kind, Uuid::from_u128(id))));
    }
}

/// What nests without end is neither slow nor the end of the process.
#[test]
fn deep_front_matter_is_body() {
    for opening in ["[", "{a: ", "- ", "? "] {
        let text = format!("---\nx: {}\n---\nb", opening.repeat(20_000));
        let (note, _) = Note::parse(Kind::Memory, Uuid::from_u128(7), text.as_bytes());
        assert_eq!(note.title, "");
    }
}
