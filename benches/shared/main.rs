//! What a shared server costs, and what its death costs, each beside the least program that could do the same.
//!
//! `cargo bench --bench shared -- [MEASURE…] [--rounds N] [--seed S] [--smoke] [--binary PATH]`, where a measure is
//! `calls`, `streams`, `starts`, `opening`, `memory`, `crowd`, `takeover`, `notes`, `notes-start`, `scale`, `stores` or `retrieval`; all of them without one.
//!
//! A *floor* is the least program that could do the same: the bench starts itself again as one, so that floor and
//! product are measured in one run, under the same load, by the same client code. Measures are interleaved in an
//! order drawn from the seed; a ratio is the median of the ratios of the rounds, so that a machine that slows down
//! half-way does not bend it. Aims are printed beside the figures. The bench always fails for a wrong or missing
//! answer, and for being slow where slowness is a fault that users meet, and then in its long form only: a first list
//! of tools that comes too late, and a stream that stalls.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a bench prints figures that need no more precision, and starts processes of its own"
)]

mod calls;
mod crowd;
mod memory;
mod notes;
mod notes_start;
mod opening;
mod retrieval;
mod scale;
mod starts;
mod stores;
mod streams;
mod takeover;

mod arguments;
mod checkout;
mod client;
mod figures;
mod floors;
#[path = "../../tests/retrieval/gate/mod.rs"]
mod gate;
mod rowwise;

use arguments::Arguments;

/// Why the bench stopped: the cause, for whoever runs it.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

type Measure = fn(&Arguments) -> Outcome<()>;

const MEASURES: [(&str, Measure); 12] = [
    ("calls", calls::measure),
    ("streams", streams::measure),
    ("starts", starts::measure),
    ("opening", opening::measure),
    ("memory", memory::measure),
    ("crowd", crowd::measure),
    ("takeover", takeover::measure),
    ("notes", notes::measure),
    ("retrieval", retrieval::measure_all),
    ("notes-start", notes_start::measure),
    ("scale", scale::measure),
    ("stores", stores::measure),
];

fn main() -> Outcome<()> {
    if let Some(floor) = floors::become_one() {
        return floor;
    }
    let arguments = Arguments::parse(&MEASURES.map(|(name, _)| name))?;
    arguments.announce();
    for (name, measure) in MEASURES {
        if arguments.measures.iter().any(|asked| asked == name) {
            measure(&arguments)?;
        }
    }
    Ok(())
}
