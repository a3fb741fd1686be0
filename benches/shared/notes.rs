//! A note from the call to the answer that says that the team has it, beside `git add`, `commit` and `push` by hand, and
//! finding notes again, among few and among many.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use majordomus::memory::note::{Kind, Note};
use majordomus::memory::place;
use uuid::Uuid;

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::figures::{Order, Samples, Unit};

/// What the remote is called; the configuration leads from there to a folder.
const URL: &str = "https://git.example.org/team/code.git";
pub(crate) const REF: &str = "refs/majordomus/memory";
/// What notes are about.
const WORDS: [&str; 24] = [
    "parser", "limit", "deploy", "queue", "token", "board", "lease", "retry", "cache", "index",
    "schema", "client", "server", "worker", "branch", "commit", "review", "metric", "socket",
    "thread", "buffer", "window", "header", "router",
];

/// Prints, for each number of notes, both ways to write, their ratio, and how long finding takes.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    let sizes: &[usize] = if arguments.smoke {
        &[10]
    } else {
        &[10, 1_000, 50_000]
    };
    for size in sizes {
        among(arguments, *size)?;
    }
    Ok(())
}

fn among(arguments: &Arguments, size: usize) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let (team, code) = (
        folder.path().join("team.git"),
        folder.path().join("code.git"),
    );
    for remote in [&team, &code] {
        git(
            folder.path(),
            &["init", "-q", "--bare", "-b", "main", &shown(remote)],
        )?;
    }
    fill(&team, REF, size)?;
    fill(&code, "refs/heads/main", size)?;
    let by_hand = folder.path().join("by hand");
    git(
        folder.path(),
        &["clone", "-q", &shown(&code), &shown(&by_hand)],
    )?;
    for (key, value) in [("user.name", "A"), ("user.email", "a@example.org")] {
        git(&by_hand, &["config", key, value])?;
    }

    let checkout = sharing(&arguments.binary, &team)?;
    let mut client = checkout.open(&arguments.binary, &[])?;
    let begun = Instant::now();
    checkout.run(&arguments.binary, &["sync"])?;
    let fetched = begun.elapsed();
    let begun = Instant::now();
    client.verify(&recall("parser limit"))?;
    let indexed = begun.elapsed();

    let (mut ours, mut hand) = (Samples::default(), Samples::default());
    let (mut fresh, mut found) = (Samples::default(), Samples::default());
    let mut order = Order::new(arguments.seed);
    for round in 0..arguments.rounds {
        for which in order.shuffled(2) {
            if which == 0 {
                let title = format!("{} {round} is {}", pick(&mut order), pick(&mut order));
                let begun = Instant::now();
                let answer = client.verify(&remember(&title))?;
                ours.add_round(vec![begun.elapsed()]);
                if !answer.to_string().contains("\"published\":true") {
                    return Err(format!("the note was not published: {answer}").into());
                }
                fresh.add_round(vec![client.timed(&recall(&title))?]);
            } else {
                hand.add_round(vec![write_by_hand(&by_hand, size + round)?]);
            }
        }
        let asked = (0..arguments.size(25, 5)).map(|_| {
            let text = format!(
                "{} {} {}",
                pick(&mut order),
                pick(&mut order),
                pick(&mut order)
            );
            client.timed(&recall(&text))
        });
        found.add_round(asked.collect::<Outcome<_>>()?);
    }
    client.finish()?;

    println!(
        "\n{size} notes: {} writes each way   p50, p99 in ms",
        ours.count()
    );
    println!(
        "  {:<34}{}",
        "git add, commit and push by hand",
        hand.line(Unit::Millis)
    );
    println!(
        "  {:<34}{}   {:.2} of by hand (aim 1.0)",
        "a note, until the team has it",
        ours.line(Unit::Millis),
        ours.ratio_to(&hand)
    );
    println!(
        "  {:<34}{}",
        "finding, right after a write",
        fresh.line(Unit::Millis)
    );
    println!(
        "  {:<34}{}   {} questions (aim p99 10)",
        "finding, three words",
        found.line(Unit::Millis),
        found.count()
    );
    println!(
        "  all of them fetched in {} ms, and indexed by the first question in {} ms",
        Unit::Millis.show(fetched),
        Unit::Millis.show(indexed)
    );
    Ok(())
}

/// A checkout whose notes go to a bare repository.
pub(crate) fn sharing(binary: &Path, team: &Path) -> Outcome<Checkout> {
    let checkout = Checkout::new()?;
    let lead = format!("url.{}.insteadOf", shown(team));
    git(checkout.root(), &["config", &lead, URL])?;
    git(checkout.root(), &["remote", "add", "origin", URL])?;
    checkout.run(binary, &["notes", "share", "--yes"])?;
    Ok(checkout)
}

/// A bare repository with so many notes in one commit.
pub(crate) fn team(folder: &Path, size: usize) -> Outcome<PathBuf> {
    let team = folder.join("team.git");
    git(folder, &["init", "-q", "--bare", &shown(&team)])?;
    if size > 0 {
        fill(&team, REF, size)?;
    }
    Ok(team)
}

fn write_by_hand(checkout: &Path, number: usize) -> Outcome<Duration> {
    let (path, text) = note(number);
    let begun = Instant::now();
    let file = checkout.join(&path);
    std::fs::create_dir_all(file.parent().ok_or("a note has a folder")?)?;
    std::fs::write(file, text)?;
    git(checkout, &["add", &path])?;
    git(checkout, &["commit", "-q", "-m", "a note"])?;
    git(checkout, &["push", "-q"])?;
    Ok(begun.elapsed())
}

/// Puts notes into a bare repository, all in one commit.
fn fill(repository: &Path, reference: &str, size: usize) -> Outcome<()> {
    let mut import = command(repository, &["fast-import", "--quiet"]);
    let mut child = import.stdin(Stdio::piped()).spawn()?;
    let mut input = std::io::BufWriter::new(child.stdin.take().ok_or("no input")?);
    writeln!(
        input,
        "commit {reference}\ncommitter A <a@example.org> 1700000000 +0000\ndata 5\nnotes"
    )?;
    for number in 0..size {
        let (path, text) = note(number);
        write!(
            input,
            "M 100644 inline {path}\ndata {}\n{text}\n",
            text.len()
        )?;
    }
    drop(input);
    if child.wait()?.success() {
        Ok(())
    } else {
        Err("git fast-import failed".into())
    }
}

/// The path and the file of the note with this number.
fn note(number: usize) -> (String, String) {
    let mut order = Order::new(number as u64);
    let id = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + number as u128);
    let title = format!(
        "the {} of the {} {number}",
        pick(&mut order),
        pick(&mut order)
    );
    let body: Vec<&str> = (0..40).map(|_| pick(&mut order)).collect();
    let note = Note::new(Kind::Memory, id, title, body.join(" "));
    (place::path(note.kind, id, &note.title), note.render())
}

fn pick(order: &mut Order) -> &'static str {
    WORDS[order.below(WORDS.len())]
}

pub(crate) fn remember(title: &str) -> String {
    format!(
        "\"method\":\"tools/call\",\"params\":{{\"name\":\"majordomus_remember\",\"arguments\":{{\"title\":\"{title}\"}}}}"
    )
}

pub(crate) fn recall(text: &str) -> String {
    format!(
        "\"method\":\"tools/call\",\"params\":{{\"name\":\"majordomus_recall\",\"arguments\":{{\"query\":\"{text}\"}}}}"
    )
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    git
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Outcome<()> {
    let output = command(folder, arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("git {arguments:?}: {said}").into())
}
