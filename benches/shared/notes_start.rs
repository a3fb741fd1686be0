//! From before the start of a process to the answer to `initialize`, with many notes beside none.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::arguments::Arguments;
use crate::client::{Client, INITIALIZE};
use crate::figures::{Order, Samples, Unit};
use crate::notes::{recall, sharing, team};

/// How much longer a start with many notes may take, in milliseconds.
const AIM_MS: f64 = 20.0;

/// Prints p50 and p99 of both, and what lies between them.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    let size = arguments.size(50_000, 10);
    let (empty, full) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let checkouts = [
        sharing(&arguments.binary, &team(empty.path(), 0)?)?,
        sharing(&arguments.binary, &team(full.path(), size)?)?,
    ];
    for checkout in &checkouts {
        // Fetched and indexed, as in a checkout that is worked in.
        let mut client = checkout.open(&arguments.binary, &[])?;
        checkout.run(&arguments.binary, &["sync"])?;
        client.verify(&recall("parser limit"))?;
        client.finish()?;
    }
    let start = |which: usize| -> Outcome<Duration> {
        let command = checkouts[which].mcp(&arguments.binary, &[]);
        let begun = Instant::now();
        let mut client = Client::start(command)?;
        client.timed(INITIALIZE)?;
        let took = begun.elapsed();
        client.finish()?;
        Ok(took)
    };
    let mut samples: [Samples; 2] = Default::default();
    let mut order = Order::new(arguments.seed);
    for _ in 0..arguments.rounds {
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..arguments.size(5, 1) {
            for which in order.shuffled(2) {
                times[which].push(start(which)?);
            }
        }
        for (sample, times) in samples.iter_mut().zip(times) {
            sample.add_round(times);
        }
    }
    let [none, many] = &samples;
    println!(
        "\nstart of an owner to the answer to initialize, {} starts each   p50, p99 in ms",
        none.count()
    );
    println!("  {:<34}{}", "no notes", none.line(Unit::Millis));
    let more = |percent| {
        let (many, none) = (many.percentile(percent), none.percentile(percent));
        (many.as_secs_f64() - none.as_secs_f64()) * 1e3
    };
    println!(
        "  {:<34}{}   {:+.2} and {:+.2} ms (aim {AIM_MS:+})",
        format!("{size} notes"),
        many.line(Unit::Millis),
        more(50),
        more(99)
    );
    Ok(())
}
