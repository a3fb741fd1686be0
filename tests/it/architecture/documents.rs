//! The documents say what the code says.

use std::collections::BTreeSet;

use majordomus::floor::limits::TABLE;

use super::source::Source;
use super::{entries, none_of, root, rust_files, text};

/// Packages in `Cargo.lock`. Every one is compiled by everybody: a higher number is a decision, made here.
const MOST_PACKAGES: usize = 299;

/// The first cells of a table's rows below the heading `## HEADING`.
fn rows(document: &str, heading: &str) -> Vec<Vec<String>> {
    let mark = format!("## {heading}\n");
    let from = document
        .find(&mark)
        .unwrap_or_else(|| panic!("no heading {heading:?}"));
    let section = &document[from + mark.len()..];
    let section = &section[..section.find("\n## ").unwrap_or(section.len())];
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    lines
        .map(|line| {
            let cells = line.trim_matches('|').split(" | ");
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}

/// The names under `[dependencies]` and its like of a manifest.
fn declared(manifest: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut names = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            inside = section.trim_end_matches(']').ends_with("dependencies");
        } else if inside && let Some((name, _)) = line.split_once(" = ") {
            names.insert(name.to_owned());
        }
    }
    names
}

fn in_backticks(cell: &str) -> String {
    cell.trim_matches('`').to_owned()
}

#[test]
fn every_dependency_is_argued_and_nothing_else_is() {
    let document = text("docs/DEPENDENCIES.md");
    let sections = ["In the executable", "In tests and benches"];
    let argued: BTreeSet<_> = sections
        .iter()
        .flat_map(|heading| rows(&document, heading))
        .map(|row| in_backticks(&row[0]))
        .collect();
    assert_eq!(argued, declared(&text("Cargo.toml")));
}

/// What names every crate: the library and its executable, or the tests for what only they use.
#[test]
fn every_dependency_is_used() {
    let files = ["src", "tests", "benches"].into_iter().flat_map(rust_files);
    let sources: Vec<_> = files.map(|(_, text)| Source::parse(&text)).collect();
    for name in declared(&text("Cargo.toml")) {
        let path = name.replace('-', "_");
        assert!(
            sources.iter().any(|source| source.names(&path)),
            "nobody names `{name}`"
        );
    }
}

#[test]
fn the_lock_file_stays_small() {
    let packages = text("Cargo.lock").matches("[[package]]").count();
    assert!(
        packages <= MOST_PACKAGES,
        "{packages} packages, {MOST_PACKAGES} allowed"
    );
}

#[test]
fn every_decision_is_in_the_index_and_the_reverse() {
    let files: BTreeSet<String> = entries(&root().join("docs/adr"))
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "README.md")
        .collect();
    let index: BTreeSet<String> = rows(&text("docs/adr/README.md"), "Index")
        .iter()
        .map(|row| {
            row[0]
                .split(['(', ')'])
                .nth(1)
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    assert_eq!(files, index);
    let numbers: BTreeSet<_> = files.iter().map(|name| &name[..4]).collect();
    assert_eq!(numbers.len(), files.len(), "two decisions with one number");
}

#[test]
fn every_decision_that_the_source_cites_exists() {
    let decisions = entries(&root().join("docs/adr"));
    let exists = |number: &str| {
        let names = decisions
            .iter()
            .filter_map(|path| path.file_name()?.to_str());
        names.into_iter().any(|name| name.starts_with(number))
    };
    let files = ["src", "tests", "benches"].into_iter().flat_map(rust_files);
    let found: Vec<_> = files
        .filter(|(path, _)| !path.starts_with("tests/it/architecture"))
        .flat_map(|(path, text)| {
            let cited = text
                .match_indices("ADR")
                .filter_map(|(at, _)| text.get(at + 4..at + 8));
            let numbers = cited.filter(|number| number.chars().all(|c| c.is_ascii_digit()));
            let missing = numbers.filter(|number| !exists(number));
            missing
                .map(|number| format!("{path}: cites decision {number}"))
                .collect::<Vec<_>>()
        })
        .collect();
    none_of(&found);
}

/// Guards I15.
#[test]
fn the_limits_of_the_documents_are_the_limits_of_the_code() {
    let code: Vec<_> = TABLE
        .iter()
        .map(|limit| vec![limit.what, limit.bound, limit.past])
        .collect();
    assert_eq!(rows(&text("docs/MCP.md"), "Limits"), code);
}

#[test]
fn architecture_fits_in_three_hundred_lines() {
    assert!(text("ARCHITECTURE.md").lines().count() <= 300);
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let mut documents: Vec<_> = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
    ]
    .map(|name| root().join(name))
    .into();
    documents.extend(entries(&root().join("docs")));
    documents.extend(entries(&root().join("docs/adr")));
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    for document in documents {
        let text = std::fs::read_to_string(&document).unwrap();
        for (at, _) in text.match_indices("](") {
            let link = text[at + 2..].split([')', '#']).next().unwrap_or_default();
            if link.is_empty() || link.contains("://") {
                continue;
            }
            let to = document.parent().unwrap().join(link);
            assert!(
                to.exists(),
                "{} links to {link}, which is not there",
                document.display()
            );
        }
    }
}

#[test]
fn the_readers_read() {
    let manifest = "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n[dev-dependencies]\nc = { version = \"1\" }\n[lints]\nd = 1\n";
    assert_eq!(declared(manifest), ["b", "c"].map(str::to_owned).into());
    let document = "## Other\n| x |\n|---|\n| y |\n\n## Here\ntext\n\n| a | b |\n|---|---|\n| `c` | d |\n| e | f |\n\n## Next\n| g |\n";
    assert_eq!(rows(document, "Here"), [["`c`", "d"], ["e", "f"]]);
}
