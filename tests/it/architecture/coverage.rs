//! What has a test: invariants, capabilities, commands, flags. `just coverage` prints the list.
//!
//! An invariant has one if a test cites it; a capability, if a test names its id, its tool, its URI, its route or its
//! command; a command, if one file of tests names all of its words; a flag, if one names it and its command. That shows what nobody looked at, not how well
//! the rest is tested.

#![expect(clippy::print_stdout, reason = "the list is what this is for")]

use std::collections::BTreeSet;

use clap::CommandFactory as _;
use majordomus::cli::{arguments::Arguments, offline};

use super::citations::{all_cited, numbered};
use super::source::Source;
use super::{none_of, rust_files, text};

/// Flags without a test, as `command --flag`, and why. An entry that has a test fails: the list only shrinks.
const UNTESTED: &[(&str, &str)] = &[];

/// What nobody wrote: clap's own.
const GIVEN: &[&str] = &["help", "version"];

/// One thing that should have a test.
#[derive(Debug)]
struct Item {
    name: String,
    tested_in: Vec<String>,
}

/// The string literals of each file of tests; this folder's own do not count.
fn literals() -> Vec<(String, Vec<String>)> {
    let files = rust_files("tests").into_iter();
    let black_box = files.filter(|(path, _)| !path.starts_with("tests/it/architecture"));
    black_box
        .map(|(path, text)| (path, Source::parse(&text).strings))
        .collect()
}

/// Whether a literal is `name`, or has it as a whole word, as a command line written in one string has.
fn says(literal: &str, name: &str) -> bool {
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':'));
    literal.split(ends).any(|word| word == name)
}

fn named_in(files: &[(String, Vec<String>)], names: &[&str]) -> Vec<String> {
    let all_named = |literals: &[String]| {
        let mut names = names.iter();
        names.all(|name| literals.iter().any(|literal| says(literal, name)))
    };
    let found = files.iter().filter(|(_, literals)| all_named(literals));
    found.map(|(path, _)| path.clone()).collect()
}

fn capabilities(files: &[(String, Vec<String>)]) -> Vec<Item> {
    let registry = offline::registry(None).unwrap_or_else(|failure| panic!("{failure:?}"));
    let item = |capability: &majordomus::registry::capability::Capability| {
        let exposure = &capability.exposure;
        let names = [
            Some(capability.id),
            exposure.tool,
            exposure.resource,
            exposure.route,
        ];
        let by_name = names
            .iter()
            .flatten()
            .flat_map(|name| named_in(files, &[name]));
        let by_command = exposure.cli.map(|words| named_in(files, words));
        let tested: BTreeSet<_> = by_name.chain(by_command.into_iter().flatten()).collect();
        Item {
            name: capability.id.to_owned(),
            tested_in: tested.into_iter().collect(),
        }
    };
    registry.all().iter().map(item).collect()
}

/// Each command below this one, at any depth, by its words.
fn commands(command: &clap::Command, words: &[String]) -> Vec<(Vec<String>, clap::Command)> {
    let below = command.get_subcommands();
    below
        .filter(|command| command.get_name() != "help")
        .flat_map(|command| {
            let words = [words, &[command.get_name().to_owned()]].concat();
            let deeper = commands(command, &words);
            std::iter::once((words, command.clone())).chain(deeper)
        })
        .collect()
}

/// Whether one file of tests names all of these.
fn item(files: &[(String, Vec<String>)], words: &[String]) -> Item {
    let names: Vec<&str> = words.iter().map(String::as_str).collect();
    Item {
        name: words.join(" "),
        tested_in: named_in(files, &names),
    }
}

fn flags(files: &[(String, Vec<String>)]) -> Vec<Item> {
    let all = Arguments::command();
    let each = [(Vec::new(), all.clone())]
        .into_iter()
        .chain(commands(&all, &[]));
    each.flat_map(|(words, command)| {
        let longs = command.get_arguments().filter_map(clap::Arg::get_long);
        let longs: Vec<_> = longs.filter(|long| !GIVEN.contains(long)).collect();
        let flags = longs.iter().map(|long| format!("--{long}"));
        flags
            .map(|flag| item(files, &[words.as_slice(), &[flag]].concat()))
            .collect::<Vec<_>>()
    })
    .collect()
}

fn show(heading: &str, items: &[Item]) {
    println!("\n{heading}");
    for item in items {
        let tests = item.tested_in.join(" ");
        println!(
            "  {:<32} {}",
            item.name,
            if tests.is_empty() { "NO TEST" } else { &tests }
        );
    }
}

fn without_test(items: &[Item]) -> Vec<String> {
    let bare = items.iter().filter(|item| item.tested_in.is_empty());
    bare.map(|item| item.name.clone()).collect()
}

#[test]
fn coverage_of_invariants() {
    let cited = all_cited();
    for name in numbered(&text("ARCHITECTURE.md")) {
        println!(
            "  {name:<32} {}",
            if cited.contains(&name) {
                "cited"
            } else {
                "NO TEST"
            }
        );
    }
    // `every_invariant_is_cited_by_a_test` judges.
}

#[test]
fn coverage_of_capabilities() {
    let items = capabilities(&literals());
    assert!(!items.is_empty());
    show("capabilities", &items);
    none_of(&without_test(&items));
}

#[test]
fn coverage_of_commands() {
    let files = literals();
    let all = commands(&Arguments::command(), &[]);
    let items: Vec<_> = all.iter().map(|(words, _)| item(&files, words)).collect();
    assert!(items.iter().any(|item| item.name == "notes share"));
    show("commands", &items);
    none_of(&without_test(&items));
}

#[test]
fn coverage_of_flags() {
    let items = flags(&literals());
    assert!(!items.is_empty());
    show("flags", &items);
    let mut bare: BTreeSet<_> = without_test(&items).into_iter().collect();
    let stale: Vec<_> = UNTESTED
        .iter()
        .filter(|(name, _)| !bare.remove(*name))
        .collect();
    none_of(&bare.into_iter().collect::<Vec<_>>());
    assert!(
        stale.is_empty(),
        "these have a test now, or are gone: {stale:?}"
    );
}

#[test]
fn every_command_that_a_hint_names_exists() {
    let all = Arguments::command();
    let known = |word: &str| {
        all.get_subcommands()
            .any(|command| command.get_name() == word)
    };
    let mut found = Vec::new();
    for (path, text) in rust_files("src") {
        for literal in Source::shipped(&text).strings {
            let command = literal.strip_prefix("majordomus ").unwrap_or_default();
            let word = command.split([' ', ',']).next().unwrap_or_default();
            // Others are flags, places to fill in, or labels of hashes and keys.
            let is_command = !command.ends_with([' ', '0']) && word.starts_with(char::is_lowercase);
            if is_command && !known(word) {
                found.push(format!("{path}: {literal:?} names no command"));
            }
        }
    }
    none_of(&found);
}

/// A message says what happened; that it was not expected helps nobody.
#[test]
fn no_message_calls_anything_unexpected_or_shouts() {
    let mut found = Vec::new();
    for (path, text) in rust_files("src") {
        for literal in Source::shipped(&text).strings {
            let lower = literal.to_lowercase();
            let vague = [
                "unexpected",
                "something went wrong",
                "oops",
                "unknown error",
                "!!",
            ];
            if let Some(word) = vague.iter().find(|word| lower.contains(**word)) {
                found.push(format!("{path}: {literal:?} says {word:?}"));
            }
        }
    }
    none_of(&found);
}

#[test]
fn a_planted_gap_is_noticed() {
    let files = [(
        "tests/it/a.rs".to_owned(),
        vec!["serve --port 0".to_owned(), "peers.list".to_owned()],
    )];
    assert_eq!(named_in(&files, &["serve", "--port"]), ["tests/it/a.rs"]);
    assert!(named_in(&files, &["serve", "--por"]).is_empty());
    assert!(named_in(&files, &["mcp", "--port"]).is_empty());
    assert!(named_in(&files, &["peers"]).is_empty());
}
