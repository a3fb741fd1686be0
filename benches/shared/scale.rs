//! What notes cost in bytes and in fetching, for few and for many: what stands in `docs/SCALE.md`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::figures::{Samples, Unit};
use crate::notes::{REF, command, recall, remember, sharing, team};

/// The lines of one object that git prints: its type, its size, and its size on the disk.
const FORMAT: &str = "--batch-check=%(objecttype) %(objectsize) %(objectsize:disk)";

/// Prints a table for each number of notes.
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
    let team = team(folder.path(), size)?;
    let (mut cloned, mut fetched, mut indexed) =
        (Samples::default(), Samples::default(), Samples::default());
    let mut last = None;
    for round in 0..arguments.rounds {
        let clone = folder.path().join(format!("clone {round}"));
        let begun = Instant::now();
        lines(
            folder.path(),
            &[
                "clone",
                "-q",
                "--mirror",
                // Copied as over a network: git would link the files of a folder.
                "--no-local",
                &shown(&team),
                &shown(&clone),
            ],
            "",
        )?;
        cloned.add_round(vec![begun.elapsed()]);
        std::fs::remove_dir_all(&clone)?;

        let checkout = sharing(&arguments.binary, &team)?;
        let mut client = checkout.open(&arguments.binary, &[])?;
        let begun = Instant::now();
        checkout.run(&arguments.binary, &["sync"])?;
        fetched.add_round(vec![begun.elapsed()]);
        let begun = Instant::now();
        client.verify(&recall("parser limit"))?;
        indexed.add_round(vec![begun.elapsed()]);
        client.finish()?;
        last = Some(checkout);
    }
    let checkout = last.ok_or("at least one round is needed")?;
    let library = checkout.root().join(".git/majordomus/memory.git");
    let all = objects(
        &library,
        &lines(&library, &["rev-list", "--objects", REF], "")?,
    )?;
    let (library_bytes, index_bytes) = (bytes_below(&library)?, index_bytes(&checkout)?);
    let written = one_more(arguments, &checkout, &library)?;

    let each = |bytes: u64| bytes as f64 / size as f64;
    println!("\n{size} notes, {} rounds", arguments.rounds);
    println!("  {:<46}{:>12} bytes", "files of the notes", all.blobs);
    println!(
        "  {:<46}{:>12} bytes, {:.1} a note",
        "trees, as git hashes them",
        all.trees,
        each(all.trees)
    );
    println!(
        "  {:<46}{:>12} bytes, {:.1} a note",
        "memory.git after one fetch",
        library_bytes,
        each(library_bytes)
    );
    println!(
        "  {:<46}{:>12} bytes, {:.1} a note",
        "index.1.db",
        index_bytes,
        each(index_bytes)
    );
    println!(
        "  {:<46}{:>12} bytes on the disk, {} of them trees ({} as git hashes them)",
        "one more note, as loose objects", written.disk, written.trees_disk, written.trees
    );
    let show = |name: &str, samples: &Samples| {
        println!(
            "  {name:<46}{}   p50, p99 in ms",
            samples.line(Unit::Millis)
        );
    };
    show("git clone --mirror, which builds no index", &cloned);
    show("majordomus sync, the first", &fetched);
    show("the first question, which builds the index", &indexed);
    Ok(())
}

/// What some objects take, in bytes.
#[derive(Debug, Default)]
struct Objects {
    blobs: u64,
    trees: u64,
    trees_disk: u64,
    disk: u64,
}

/// Writes one note, and returns what its commit has that the one before has not.
fn one_more(arguments: &Arguments, checkout: &Checkout, library: &Path) -> Outcome<Objects> {
    let before = lines(library, &["rev-parse", REF], "")?;
    let mut client = checkout.open(&arguments.binary, &[])?;
    client.verify(&remember("one more note of the parser"))?;
    client.finish()?;
    let fresh = lines(
        library,
        &["rev-list", "--objects", REF, &format!("^{}", before.trim())],
        "",
    )?;
    objects(library, &fresh)
}

fn objects(library: &Path, listed: &str) -> Outcome<Objects> {
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let names = names.join("\n") + "\n";
    let mut all = Objects::default();
    for line in lines(library, &["cat-file", FORMAT], &names)?.lines() {
        let mut words = line.split(' ');
        let kind = words.next().ok_or("a type")?;
        let size: u64 = words.next().ok_or("a size")?.parse()?;
        let disk: u64 = words.next().ok_or("a size on the disk")?.parse()?;
        all.disk += disk;
        match kind {
            "blob" => all.blobs += size,
            "tree" => {
                all.trees += size;
                all.trees_disk += disk;
            }
            _ => {}
        }
    }
    Ok(all)
}

fn index_bytes(checkout: &Checkout) -> Outcome<u64> {
    let folder = checkout.root().join(".git/majordomus");
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("index.1.db")
        {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

fn bytes_below(folder: &Path) -> Outcome<u64> {
    let (mut bytes, mut folders) = (0, vec![PathBuf::from(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if about.is_dir() {
                folders.push(entry.path());
            } else {
                bytes += about.len();
            }
        }
    }
    Ok(bytes)
}

/// Gives git an input and returns what it printed.
fn lines(folder: &Path, arguments: &[&str], input: &str) -> Outcome<String> {
    let mut git = command(folder, arguments);
    let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut to = child.stdin.take().ok_or("no input")?;
    let text = input.to_owned();
    // Beside the reading: git answers while it is still being asked.
    let writing = std::thread::spawn(move || to.write_all(text.as_bytes()));
    let output = child.wait_with_output()?;
    // Who reads no input leaves some of it.
    let _written = writing.join();
    if !output.status.success() {
        return Err(format!("git {arguments:?} failed").into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
