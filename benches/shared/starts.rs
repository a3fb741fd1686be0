//! From before the start of the process to the answer to `initialize`.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::client::{Client, INITIALIZE};
use crate::figures::{Order, Samples, Unit};
use crate::floors;

/// Prints p50 and p99 for each way to start.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    let lonely = Checkout::new()?;
    let shared = Checkout::new()?;
    let resident = shared.open(&arguments.binary, &[])?;
    let start = |which: usize| -> Outcome<Duration> {
        let command = match which {
            0 => floors::command("floor-echo", 400)?,
            1 => lonely.mcp(&arguments.binary, &["--standalone"]),
            2 => lonely.mcp(&arguments.binary, &[]),
            _ => shared.mcp(&arguments.binary, &[]),
        };
        let begun = Instant::now();
        let mut client = Client::start(command)?;
        client.timed(INITIALIZE)?;
        let took = begun.elapsed();
        client.finish()?;
        Ok(took)
    };

    let mut samples: [Samples; 4] = Default::default();
    for which in 0..samples.len() {
        start(which)?;
    }
    let mut order = Order::new(arguments.seed);
    let each = arguments.size(5, 1);
    for _ in 0..arguments.rounds {
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..each {
            for which in order.shuffled(samples.len()) {
                times[which].push(start(which)?);
            }
        }
        for (sample, times) in samples.iter_mut().zip(times) {
            sample.add_round(times);
        }
    }
    drop(resident);

    let floor = samples[0].clone();
    println!(
        "\nstart to the answer to initialize, {} starts each   p50, p99 in ms",
        floor.count()
    );
    for (name, measure) in [
        "floor: minimal process",
        "--standalone",
        "first in the checkout: owner",
        "beside an owner: bridge",
    ]
    .iter()
    .zip(&samples)
    {
        println!(
            "  {name:<34}{}   {:.2} of floor (aim 2.0)",
            measure.line(Unit::Millis),
            measure.ratio_to(&floor)
        );
    }
    Ok(())
}
