//! The index over a real repository.

use std::fs;

use tempfile::TempDir;
use uuid::Uuid;

use super::{FILE, Index, Question};
use crate::memory::library::{Change, Library, Message};
use crate::memory::note::{Kind, Note};
use crate::memory::place;

const REF: &str = "refs/majordomus/memory";

struct Place {
    folder: TempDir,
    library: Library,
    index: Index,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let library =
            Library::open(&folder.path().join("memory.git"), gix_hash::Kind::Sha1).unwrap();
        let index = Index::at(folder.path());
        Self {
            folder,
            library,
            index,
        }
    }

    fn change(&self, path: &str, bytes: Option<&[u8]>) {
        let message = Message {
            subject: "change",
            author: ("A", "a@example.org"),
            at: 1_700_000_000_000,
            trailers: &[],
        };
        self.library
            .commit(REF, &[Change::new(path, bytes)], &message)
            .unwrap();
    }

    fn put(&self, note: &Note) {
        self.change(&path(note), Some(note.render().as_bytes()));
    }

    fn catch_up(&mut self) -> usize {
        let tip = self.library.tip(REF).unwrap().unwrap();
        self.index.catch_up(&self.library, tip).unwrap()
    }

    /// The numbers of the notes that are found.
    fn ask(&mut self, text: &str, paths: &[&str]) -> Vec<u128> {
        self.catch_up();
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let question = Question {
            text,
            paths: &paths,
            kind: None,
            limit: 5,
        };
        let hits = self.index.search(&question).unwrap();
        hits.iter().map(|hit| hit.id.as_u128()).collect()
    }
}

fn path(note: &Note) -> String {
    place::path(note.kind, note.id, &note.title)
}

fn note(number: u128, title: &str, body: &str) -> Note {
    Note::new(
        Kind::Memory,
        Uuid::from_u128(number),
        title.to_owned(),
        body.to_owned(),
    )
}

#[test]
fn a_note_is_found_by_words_stems_identifiers_paths_and_characters() {
    let mut place = Place::new();
    place.put(&note(
        1,
        "Deploys happen on Thursdays",
        "Friday kept people at work.",
    ));
    place.put(&note(
        2,
        "The body limit",
        "parseHttpRequest refuses more, see src/http/body.rs",
    ));
    place.put(&note(3, "駅の名前", "東京駅で待ち合わせる"));
    place.put(&note(4, "Größe der Puffer", "Ein Puffer hat 64 KiB."));
    for (asked, number) in [
        ("when do we deploy?", 1),
        ("thursday", 1),
        ("http request", 2),
        ("parseHttpRequest", 2),
        ("body.rs", 2),
        ("東京", 3),
        ("grosse GROẞE größe", 4),
        ("Thursd", 1),
    ] {
        assert_eq!(place.ask(asked, &[]).first(), Some(&number), "{asked}");
    }
    for nothing in ["zebra", "", "\"", "* OR \0", "NEAR(", "title:zebra"] {
        assert_eq!(place.ask(nothing, &[]), [] as [u128; 0], "{nothing}");
    }
}

#[test]
fn a_word_that_is_mistyped_by_a_letter_is_found_and_one_that_is_another_word_is_not() {
    let mut place = Place::new();
    place.put(&note(1, "The scheduler", "of the warehouse, für Größen"));
    place.put(&note(2, "The reader", "of books"));
    for (asked, found) in [
        ("schedler", &[1][..]),
        ("schedulre", &[1]),
        ("sccheduler", &[1]),
        ("how is the scheduxer built", &[1]),
        ("größem", &[1]),
        ("schdlr", &[]),
        // Short words and numbers have too many neighbours.
        ("boks", &[]),
        // A word that is there is meant as it is written.
        ("reader", &[2]),
    ] {
        assert_eq!(place.ask(asked, &[]), found, "{asked}");
    }
}

#[test]
fn one_character_is_found_wherever_it_stands() {
    let mut place = Place::new();
    place.put(&note(1, "東京駅", ""));
    place.put(&note(2, "駅の名前", ""));
    place.put(&note(3, "空港", ""));
    let mut found = place.ask("駅", &[]);
    found.sort_unstable();
    assert_eq!(found, [1, 2]);
    assert_eq!(place.ask("港", &[]), [3]);
}

#[test]
fn a_note_about_a_folders_files_is_about_all_below_it_and_nothing_beside_it() {
    let mut place = Place::new();
    place.put(&Note {
        paths: vec!["deploy/**".to_owned()],
        ..note(1, "Deploys", "of everything")
    });
    for inside in ["deploy/x/run.sh", "deploy", "deploy/*.sh"] {
        assert_eq!(place.ask("", &[inside]), [1], "{inside}");
    }
    for beside in [
        "deployment/run.sh",
        "src/deploy/run.sh",
        "deploy.sh",
        "**/*.sh",
    ] {
        assert_eq!(place.ask("", &[beside]), [] as [u128; 0], "{beside}");
    }
}

/// Sharing words that hold a sentence together, or one word that stands everywhere, is no answer.
#[test]
fn a_question_that_nobody_has_answered_finds_nothing() {
    let mut place = Place::new();
    for number in 1..=40 {
        place.put(&note(
            number,
            "What the server does",
            "when it is asked for the customer",
        ));
    }
    place.put(&note(41, "The zebra", "of the server"));
    for nothing in [
        "what is the colour of the carpet when it is cleaned?",
        "which restaurant near the server farm serves good ramen noodles?",
    ] {
        assert_eq!(place.ask(nothing, &[]), [] as [u128; 0], "{nothing}");
    }
    // A rare word is an answer, however long the question.
    let rare = "who of all these people has ever seen such a striped zebra near some restaurant?";
    assert_eq!(place.ask(rare, &[]), [41]);
    assert_eq!(place.ask("the server", &[]).len(), 5);
}

#[test]
fn the_file_of_an_earlier_version_goes() {
    let mut place = Place::new();
    let file = |name: &str| place.folder.path().join(name);
    let (earlier, later) = (file("index.1.db-wal"), file("index.3.db"));
    fs::write(&earlier, "").unwrap();
    fs::write(&later, "").unwrap();
    place.put(&note(1, "The parser", ""));
    assert_eq!(place.ask("parser", &[]), [1]);
    assert!(!earlier.exists() && later.exists());
}

#[test]
fn a_title_counts_more_than_a_body_and_a_newer_note_more_than_an_older_one() {
    let mut place = Place::new();
    place.put(&note(
        1,
        "Something else",
        "The parser is mentioned here, and that is all there is.",
    ));
    place.put(&note(2, "The parser", "It is described here."));
    place.put(&note(3, "The parser", "It is described here."));
    assert_eq!(place.ask("parser", &[]), [3, 2, 1]);
}

#[test]
fn notes_about_the_paths_come_first_and_superseded_ones_last() {
    let mut place = Place::new();
    let about = |number, path: &str| Note {
        paths: vec![path.to_owned()],
        ..note(number, "The parser", "of everything")
    };
    place.put(&about(1, "src/parser/**"));
    place.put(&about(2, "src/http"));
    place.put(&about(3, "docs/*.md"));
    place.put(&note(4, "The parser of parsers", "parser"));
    assert_eq!(place.ask("parser", &["src/parser/lexer.rs"])[0], 1);
    assert_eq!(place.ask("parser", &["src/http/"])[0], 2);
    assert_eq!(place.ask("parser", &["docs"])[0], 3);
    assert_eq!(place.ask("parser", &["src"])[..2], [1, 2]);
    // Without a word that is found, only what is about the paths.
    assert_eq!(place.ask("", &["docs/a.md"]), [3]);
    place.put(&Note {
        supersedes: vec![Uuid::from_u128(1)],
        ..note(5, "Nothing of that", "any more")
    });
    assert_eq!(
        place.ask("parser", &["src/parser/lexer.rs"]).last(),
        Some(&1)
    );
}

#[test]
fn what_changed_is_all_that_is_read_and_what_went_is_found_no_more() {
    let mut place = Place::new();
    for number in 1..=20 {
        place.put(&note(number, "A note", &format!("about n{number}n")));
    }
    assert_eq!(place.catch_up(), 20);
    assert_eq!(place.catch_up(), 0);
    place.put(&note(7, "A note", "about something else"));
    place.change(&path(&note(8, "A note", "")), None);
    assert_eq!(place.catch_up(), 2);
    assert_eq!(place.ask("n7n", &[]), [] as [u128; 0]);
    assert_eq!(place.ask("something else", &[]), [7]);
    assert_eq!(place.ask("n8n", &[]), [] as [u128; 0]);
    assert_eq!(place.ask("n9n", &[]), [9]);
    let newest = place.index.newest(None, 3).unwrap();
    let newest: Vec<u128> = newest.iter().map(|hit| hit.id.as_u128()).collect();
    assert_eq!(newest, [20, 19, 18]);
}

#[test]
fn whatever_stands_in_its_place_it_is_rebuilt() {
    let mut place = Place::new();
    place.put(&note(1, "The parser", "is here"));
    let file = place.folder.path().join(FILE);
    for garbage in [&b"no database"[..], &[0; 8192], b""] {
        place.index = Index::in_memory();
        for end in ["", "-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{end}", file.display())));
        }
        fs::write(&file, garbage).unwrap();
        place.index = Index::at(place.folder.path());
        // The file that was damaged fails one job at most.
        let tip = place.library.tip(REF).unwrap().unwrap();
        if place.index.catch_up(&place.library, tip).is_err() {
            place.index.catch_up(&place.library, tip).unwrap();
        }
        assert_eq!(place.ask("parser", &[]), [1]);
    }
}

#[test]
fn another_repository_in_its_place_is_read_from_the_beginning() {
    let mut place = Place::new();
    place.put(&note(1, "The parser", "is here"));
    assert_eq!(place.ask("parser", &[]), [1]);
    let other = Place::new();
    other.put(&note(2, "Another parser", "is there"));
    place.library = other.library;
    assert_eq!(place.ask("parser", &[]), [2]);
}

/// Whatever order of changes led to a tree, the index of it finds the same as one that is made of the tree alone.
#[test]
fn an_index_that_followed_is_one_that_was_rebuilt() {
    let mut place = Place::new();
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let words = ["parser", "limit", "deploy", "queue", "token", "board"];
    for round in 0..60 {
        let number = u128::from(random(12)) + 1;
        let word = words[usize::try_from(random(6)).unwrap()];
        let mut changed = note(number, "A note", &format!("{word} {round}"));
        if random(4) == 0 {
            changed.supersedes = vec![Uuid::from_u128(u128::from(random(12)) + 1)];
        }
        if random(5) == 0 {
            place.change(&path(&changed), None);
        } else {
            place.put(&changed);
        }
        if random(3) == 0 {
            place.catch_up();
        }
    }
    let mut rebuilt = Index::in_memory();
    let tip = place.library.tip(REF).unwrap().unwrap();
    rebuilt.catch_up(&place.library, tip).unwrap();
    place.catch_up();
    let mut all = 0;
    for text in words {
        let question = Question {
            text,
            paths: &[],
            kind: None,
            limit: 20,
        };
        let (followed, rebuilt) = (
            place.index.search(&question).unwrap(),
            rebuilt.search(&question).unwrap(),
        );
        assert_eq!(followed, rebuilt, "{text}");
        all += followed.len();
    }
    assert!(all > 6, "{all}");
}

/// A rare word beside one that stands everywhere, and beginnings that stand everywhere: what is looked for stays bounded,
/// and the rare one is found.
#[test]
fn a_rare_word_is_found_beside_words_that_stand_everywhere() {
    let mut place = Place::new();
    for number in 1..=40 {
        place.put(&note(number, "A service", "of services"));
    }
    place.put(&note(41, "The zebra", "of the service"));
    assert_eq!(place.ask("zebra service", &[])[0], 41);
    place.put(&Note {
        supersedes: vec![Uuid::from_u128(41)],
        ..note(42, "Zebras are gone", "")
    });
    assert_eq!(place.ask("zebras", &[]), [42, 41]);
    // What only begins like the word is found before what was superseded.
    place.put(&note(43, "The okapia", ""));
    place.put(&note(44, "The okapi", ""));
    place.put(&Note {
        supersedes: vec![Uuid::from_u128(44)],
        ..note(45, "Nothing", "")
    });
    assert_eq!(place.ask("okapi", &[]), [43, 44]);
}

/// One object is damaged: that note is found no more, and every other one is.
#[test]
fn a_note_that_cannot_be_read_hides_no_other() {
    let mut place = Place::new();
    place.put(&note(1, "The parser", ""));
    place.put(&note(2, "The other parser", "which is lost"));
    let objects = place.folder.path().join("memory.git/objects");
    let tip = place.library.tip(REF).unwrap().unwrap();
    let path = path(&note(2, "The other parser", ""));
    let blob = place.library.differences(None, tip).unwrap();
    let blob = blob.notes.iter().find(|note| note.path == path).unwrap();
    let blob = blob.blob.unwrap().to_string();
    let (shard, rest) = blob.split_at(2);
    fs::remove_file(objects.join(shard).join(rest)).unwrap();
    place.library = Library::open(
        &place.folder.path().join("memory.git"),
        gix_hash::Kind::Sha1,
    )
    .unwrap();
    assert_eq!(place.ask("parser", &[]), [1]);
}
