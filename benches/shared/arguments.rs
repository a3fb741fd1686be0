//! Which measures, `--rounds N`, `--seed S`, `--smoke` and `--binary PATH`.

use std::path::PathBuf;

use crate::Outcome;

/// What was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    /// The measures, by name.
    pub(crate) measures: Vec<String>,
    /// How often each measure is repeated.
    pub(crate) rounds: usize,
    /// Orders the measures within a round.
    pub(crate) seed: u64,
    /// As short as can be: shows that the bench works, measures nothing.
    pub(crate) smoke: bool,
    /// The product, built beforehand.
    pub(crate) binary: PathBuf,
}

impl Arguments {
    /// Parses the process's arguments; `known` are the measures there are, and all of them if none is named.
    pub(crate) fn parse(known: &[&str]) -> Outcome<Self> {
        let mut parsed = Self {
            measures: Vec::new(),
            rounds: 0,
            seed: 1,
            smoke: false,
            binary: PathBuf::from(env!("CARGO_BIN_EXE_majordomus")),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--rounds" => parsed.rounds = value()?.parse()?,
                "--seed" => parsed.seed = value()?.parse()?,
                "--binary" => parsed.binary = value()?.into(),
                "--smoke" => parsed.smoke = true,
                // cargo bench says this to every bench.
                "--bench" => {}
                name if known.contains(&name) => parsed.measures.push(word),
                other => return Err(format!("unknown argument `{other}`").into()),
            }
        }
        if parsed.measures.is_empty() {
            parsed.measures = known.iter().map(ToString::to_string).collect();
        }
        if parsed.rounds == 0 {
            parsed.rounds = if parsed.smoke { 2 } else { 40 };
        }
        parsed.binary = parsed.binary.canonicalize()?;
        Ok(parsed)
    }

    /// Returns `full`, or `smoke` in a smoke run.
    pub(crate) fn size(&self, full: usize, smoke: usize) -> usize {
        if self.smoke { smoke } else { full }
    }

    /// Prints what is measured and on what.
    pub(crate) fn announce(&self) {
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("?");
        println!(
            "{}: {} rounds, seed {}{}; {cores} cores, load {load} at the start",
            self.measures.join(", "),
            self.rounds,
            self.seed,
            if self.smoke { ", smoke" } else { "" },
        );
        if cfg!(debug_assertions)
            || self
                .binary
                .components()
                .any(|part| part.as_os_str() == "debug")
        {
            println!("note: a debug build; its figures say nothing");
        }
    }
}
