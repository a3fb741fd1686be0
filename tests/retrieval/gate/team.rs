//! The notes of a made-up team, and questions with the notes that answer them.

use std::collections::HashSet;

use majordomus::memory::note::{Kind, Note};
use uuid::Uuid;

use super::facts::{SUBJECTS, Subject};
use super::names::{CIRCUMSTANCES, GERMAN_REASONS, JAPANESE_REASONS, NOWHERE, PARTS, REASONS};
use super::random::Random;

/// Questions of each sort that has answers.
const OF_A_SORT: usize = 30;

/// What makes a question hard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// The note's words, inflected.
    Near,
    /// Other words, some of them related.
    Far,
    /// An identifier or its parts, in another spelling.
    Name,
    /// A file that a note is about, in words or as a path.
    File,
    /// One wrong letter in the words that tell notes apart.
    Typo,
    /// German, inflected.
    German,
    /// Japanese.
    Japanese,
    /// What was corrected since: the older note is no answer.
    Corrected,
    /// What nobody has written down.
    Nowhere,
}

impl Sort {
    /// Every sort that has answers.
    pub(crate) const ANSWERED: [Self; 8] = [
        Self::Near,
        Self::Far,
        Self::Name,
        Self::File,
        Self::Typo,
        Self::German,
        Self::Japanese,
        Self::Corrected,
    ];
}

/// One question.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) text: String,
    pub(crate) paths: Vec<String>,
    pub(crate) sort: Sort,
    /// The note that answers it.
    pub(crate) answer: Option<Uuid>,
}

/// A made-up team.
#[derive(Debug)]
pub(crate) struct Team {
    /// The oldest first.
    pub(crate) notes: Vec<Note>,
    pub(crate) questions: Vec<Asked>,
}

/// In which language a fact is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tongue {
    English,
    German,
    Japanese,
}

/// What a note is made of.
#[derive(Debug, Clone, Copy)]
struct Fact {
    subject: usize,
    part: usize,
    circumstance: usize,
    tongue: Tongue,
    /// The place of the note, and whether another one has taken it.
    note: usize,
    corrected: bool,
}

impl Team {
    /// Makes a team with this many notes.
    pub(crate) fn new(size: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut notes = Vec::with_capacity(size);
        let mut facts: Vec<Fact> = Vec::new();
        let mut known = HashSet::new();
        while notes.len() < size {
            if facts.len() > 20 && random.below(12) == 0 {
                correct(&mut random, &mut notes, &mut facts);
                continue;
            }
            let fact = Fact {
                subject: random.below(SUBJECTS.len()),
                part: random.below(PARTS.len()),
                circumstance: random.below(CIRCUMSTANCES.len()),
                tongue: Tongue::English,
                note: notes.len(),
                corrected: false,
            };
            if known.insert((fact.subject, fact.part, fact.circumstance)) {
                let tongue = match random.below(24) {
                    0..=5 if fact.subject().german.is_some() => Tongue::German,
                    6 | 7 if fact.subject().japanese.is_some() => Tongue::Japanese,
                    _ => Tongue::English,
                };
                let fact = Fact { tongue, ..fact };
                notes.push(note(&mut random, fact, notes.len()));
                facts.push(fact);
            }
        }
        let questions = questions(&mut random, &notes, &facts);
        Self { notes, questions }
    }
}

/// The same note as somebody else would write it: the words in another order, one sentence less, a few words more.
pub(super) fn reworded(note: &Note, place: usize) -> Note {
    let (begin, end) = note.title.split_once(' ').unwrap_or((&note.title, ""));
    let body = match note.body.split_once(". ") {
        Some((_, rest)) => rest,
        None => &note.body,
    };
    let id = Uuid::from_u128(0x0191_0000_0000_7000_8000_0000_0000_0000 + place as u128);
    Note::new(
        note.kind,
        id,
        format!("{end} {begin}"),
        format!("As agreed: {body}"),
    )
}

impl Fact {
    fn subject(&self) -> &'static Subject {
        &SUBJECTS[self.subject]
    }

    fn part(&self) -> &'static str {
        PARTS[self.part]
    }

    fn circumstance(&self) -> &'static str {
        CIRCUMSTANCES[self.circumstance]
    }

    fn fill(&self, text: &str, number: usize) -> String {
        text.replace("{c}", self.part())
            .replace("{q}", self.circumstance())
            .replace("{n}", &number.to_string())
    }

    /// Its words, as a programmer would join them.
    fn words(&self) -> [String; 4] {
        let [first, second] = self.subject().noun;
        [first, self.part(), self.circumstance(), second].map(str::to_lowercase)
    }

    fn camel(&self) -> String {
        let mut name = String::new();
        for word in self.words() {
            let capital = usize::from(!name.is_empty());
            name.push_str(&word[..capital].to_uppercase());
            name.push_str(&word[capital..]);
        }
        name
    }

    fn snake(&self) -> String {
        self.words().join("_")
    }

    fn file(&self) -> String {
        let [first, second] = self.subject().noun;
        let circumstance = self.circumstance().to_lowercase();
        format!("src/{}/{circumstance}/{first}_{second}.rs", self.part())
    }
}

/// A note on a fact; its id grows with its place.
fn note(random: &mut Random, fact: Fact, place: usize) -> Note {
    let subject = fact.subject();
    let number = 2 + random.below(90);
    let (title, reasons): (_, &[&str]) = match fact.tongue {
        Tongue::English => (subject.says, &REASONS),
        Tongue::German => (subject.german.unwrap().0, &GERMAN_REASONS),
        Tongue::Japanese => (subject.japanese.unwrap().0, &JAPANESE_REASONS),
    };
    let mut body = (0..=random.below(3))
        .map(|_| reasons[random.below(reasons.len())])
        .collect::<Vec<_>>()
        .join(" ");
    match random.below(4) {
        0 => body = format!("{body}\n\nSee `{}`.", fact.camel()),
        1 => body = format!("{body}\n\nSee `{}`.", fact.snake()),
        2 => body = format!("{body}\n\nTicket {}.", 1000 + random.below(9000)),
        _ => {}
    }
    // People mistype what they write down, too.
    if random.below(20) == 0 {
        body = mistype(random, &body, 0);
    }
    let id = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + place as u128);
    let kind = [Kind::Memory, Kind::Memory, Kind::Decision, Kind::WorkState][random.below(4)];
    let mut note = Note::new(kind, id, fact.fill(title, number), body);
    if random.below(3) == 0 {
        note.paths = vec![fact.file()];
    }
    if random.below(4) == 0 {
        note.tags = vec![fact.part().to_owned()];
    }
    note
}

/// Writes a fact down again, with another number.
fn correct(random: &mut Random, notes: &mut Vec<Note>, facts: &mut [Fact]) {
    let which = random.below(facts.len());
    let fact = &mut facts[which];
    let older = &notes[fact.note];
    let mut newer = note(random, *fact, notes.len());
    newer.kind = older.kind;
    newer.supersedes = vec![older.id];
    (fact.note, fact.corrected) = (notes.len(), true);
    notes.push(newer);
}

fn questions(random: &mut Random, notes: &[Note], facts: &[Fact]) -> Vec<Asked> {
    let mut all: Vec<Asked> = NOWHERE
        .iter()
        .map(|text| Asked {
            text: (*text).to_owned(),
            paths: Vec::new(),
            sort: Sort::Nowhere,
            answer: None,
        })
        .collect();
    for sort in Sort::ANSWERED {
        let fits = |fact: &&Fact| match sort {
            Sort::German => fact.tongue == Tongue::German,
            Sort::Japanese => fact.tongue == Tongue::Japanese,
            Sort::Corrected => fact.corrected && fact.tongue == Tongue::English,
            Sort::Name => notes[fact.note].body.contains("See `"),
            Sort::File => !notes[fact.note].paths.is_empty(),
            _ => fact.tongue == Tongue::English,
        };
        let fitting: Vec<&Fact> = facts.iter().filter(fits).collect();
        for _ in 0..OF_A_SORT.min(fitting.len()) {
            let fact = fitting[random.below(fitting.len())];
            let (text, paths) = ask(random, fact, sort);
            all.push(Asked {
                text,
                paths,
                sort,
                answer: Some(notes[fact.note].id),
            });
        }
    }
    all
}

/// A question of a sort about a fact, and the paths that are given with it.
fn ask(random: &mut Random, fact: &Fact, sort: Sort) -> (String, Vec<String>) {
    let subject = fact.subject();
    let near = fact.fill(subject.near, 0);
    let text = match sort {
        Sort::Near | Sort::Corrected | Sort::Nowhere => near,
        Sort::Far => fact.fill(subject.far, 0),
        Sort::Typo => [fact.part(), fact.circumstance()]
            .iter()
            .filter(|word| word.len() >= 5)
            .fold(near, |text, word| {
                text.replace(word, &mistype(random, word, 1))
            }),
        Sort::Name => match random.below(3) {
            0 => fact.camel(),
            1 => fact.snake(),
            _ => format!("where is {} used?", fact.camel()),
        },
        Sort::File => match random.below(3) {
            0 => fact.file(),
            1 => format!("what do I have to know about {}", fact.file()),
            _ => {
                let text = format!("{} {}", subject.noun[0], subject.noun[1]);
                return (text, vec![fact.file()]);
            }
        },
        Sort::German => fact.fill(subject.german.unwrap().1, 0),
        Sort::Japanese => fact.fill(subject.japanese.unwrap().1, 0),
    };
    (text, Vec::new())
}

/// One letter left out, doubled, changed or moved; those before `after` stay.
fn mistype(random: &mut Random, text: &str, after: usize) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = after + random.below(letters.len() - after - 1);
    match random.below(4) {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = if letters[at] == 'x' { 'y' } else { 'x' },
        _ => letters.swap(at, at + 1),
    }
    letters.into_iter().collect()
}
