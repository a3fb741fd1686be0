//! Every invariant of `ARCHITECTURE.md` is cited by a test.

use std::collections::{BTreeMap, BTreeSet};

use super::{none_of, rust_files, text};

/// Invariants that no test cites yet, and why. An entry whose invariant has a test fails: the list only shrinks.
const UNGUARDED: &[(&str, &str)] = &[];

/// The invariants a document numbers: paragraphs that begin with `**I3.**`, maybe as a list item.
pub(super) fn numbered(document: &str) -> BTreeSet<String> {
    let starts = document
        .lines()
        .filter_map(|line| line.trim_start_matches("- ").strip_prefix("**I"));
    starts
        .filter_map(|rest| rest.split_once(".**"))
        .map(|(number, _)| format!("I{number}"))
        .collect()
}

/// The invariants that tests in `text` cite: `/// Guards I3.` or `/// Guards I3, I5b.` above a test's attribute.
fn cited(text: &str) -> BTreeSet<String> {
    let mut cited = BTreeSet::new();
    let mut pending = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(list) = line.strip_prefix("/// Guards ") {
            let names = list.split(|c: char| !c.is_ascii_alphanumeric());
            pending.extend(names.filter(|name| is_invariant(name)).map(str::to_owned));
        } else if is_test_attribute(line) {
            cited.extend(pending.drain(..));
        } else if !line.starts_with("///") && !line.starts_with("#[") {
            pending.clear();
        }
    }
    cited
}

fn is_invariant(word: &str) -> bool {
    word.strip_prefix('I')
        .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_test_attribute(line: &str) -> bool {
    line == "#[test]" || line.starts_with("#[tokio::test") || line.starts_with("#[test_case")
}

fn verdict(
    numbered: &BTreeSet<String>,
    cited: &BTreeSet<String>,
    unguarded: &[(&str, &str)],
) -> Vec<String> {
    let listed: BTreeMap<_, _> = unguarded.iter().copied().collect();
    let mut found = Vec::new();
    for name in numbered {
        match (cited.contains(name), listed.contains_key(name.as_str())) {
            (false, false) => found.push(format!("{name} is cited by no test")),
            (true, true) => found.push(format!("{name} has a test now: take it off the list")),
            _ => {}
        }
    }
    let known = |name: &&str| !numbered.contains(*name);
    found.extend(
        listed
            .keys()
            .filter(|name| known(name))
            .map(|name| format!("{name} is listed, not numbered")),
    );
    found.extend(
        cited
            .difference(numbered)
            .map(|name| format!("{name} is cited, not numbered")),
    );
    found
}

pub(super) fn all_cited() -> BTreeSet<String> {
    let files = ["src", "tests", "benches"].into_iter().flat_map(rust_files);
    // This folder's tests of the scanner cite numbers that are only examples.
    let real = files.filter(|(path, _)| path != "tests/it/architecture/citations.rs");
    real.flat_map(|(_, text)| cited(&text)).collect()
}

#[test]
fn every_invariant_is_cited_by_a_test() {
    none_of(&verdict(
        &numbered(&text("ARCHITECTURE.md")),
        &all_cited(),
        UNGUARDED,
    ));
}

#[test]
fn every_numbered_invariant_is_found() {
    let expected: Vec<_> = (1..=15)
        .map(|number| format!("I{number}"))
        .chain(["I5b".to_owned()])
        .collect();
    assert_eq!(
        numbered(&text("ARCHITECTURE.md")),
        expected.into_iter().collect()
    );
}

#[test]
fn a_planted_gap_is_caught() {
    let numbers = numbered("- **I1.** one\n**I2.** two\ntext **I9.** no\n- **I5b.** five");
    assert_eq!(numbers, ["I1", "I2", "I5b"].map(str::to_owned).into());
    let good = cited("/// Says.\n/// Guards I1, I2.\n#[test]\nfn a() {}");
    assert_eq!(good, ["I1", "I2"].map(str::to_owned).into());
    assert!(cited("/// Guards I1.\nfn not_a_test() {}\n#[test]\nfn b() {}").is_empty());

    assert_eq!(verdict(&numbers, &good, &[]), ["I5b is cited by no test"]);
    none_of(&verdict(&numbers, &good, &[("I5b", "later")]));
    assert_eq!(
        verdict(&numbers, &good, &[("I5b", "later"), ("I1", "later")]).len(),
        1
    );
    assert_eq!(
        verdict(&numbers, &good, &[("I5b", "later"), ("I77", "gone")]).len(),
        1
    );
}
