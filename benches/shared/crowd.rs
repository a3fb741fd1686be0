//! 1, 10 and 100 bridges of one owner, each calling without pause, in turns with as many relays of one hub.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::client::{Client, TRIVIAL};
use crate::figures::{Samples, Unit};
use crate::floors;

/// Prints calls per second, p50 and p99.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    println!("\nbridges calling at once, each without pause   calls/s, p50, p99 in µs");
    for count in [1, 10, arguments.size(100, 20)] {
        let checkout = Checkout::new()?;
        let _owner = checkout.open(&arguments.binary, &[])?;
        let mut bridges = (0..count)
            .map(|_| checkout.open(&arguments.binary, &[]))
            .collect::<Outcome<Vec<_>>>()?;
        let answer = bridges[0].verify(TRIVIAL)?.to_string().len();
        let (_hub, port) = floors::start_hub("floor-hub", answer)?;
        let mut relays = (0..count)
            .map(|_| Client::start(floors::command("floor-relay", port)?))
            .collect::<Outcome<Vec<_>>>()?;
        let each = arguments.size(4_000, 100) / count;
        let mut floor = Burst::default();
        let mut product = Burst::default();
        for _ in 0..arguments.size(5, 1) {
            floor.run(&mut relays, each)?;
            product.run(&mut bridges, each)?;
        }
        floor.print(&format!("{count} relays of one hub"), "");
        product.print(
            &format!("{count} bridges of one owner, {answer} bytes"),
            &format!(
                "{:.2} of the relays' rate, p50 {:.2} of theirs",
                product.rate() / floor.rate(),
                product.samples.ratio_to(&floor.samples)
            ),
        );
    }
    Ok(())
}

/// Bursts of calls from many clients at once.
#[derive(Debug, Default)]
struct Burst {
    samples: Samples,
    time: Duration,
}

impl Burst {
    /// Lets every client call `each` times, all at once.
    fn run(&mut self, clients: &mut [Client], each: usize) -> Outcome<()> {
        let begun = Instant::now();
        let times = std::thread::scope(|scope| {
            let threads: Vec<_> = clients
                .iter_mut()
                .map(|client| {
                    scope.spawn(move || (0..each).map(|_| client.timed(TRIVIAL)).collect())
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| "a client's thread panicked")?)
                .collect::<Outcome<Vec<Vec<Duration>>>>()
        })?;
        self.time += begun.elapsed();
        self.samples.add_round(times.concat());
        Ok(())
    }

    fn rate(&self) -> f64 {
        self.samples.count() as f64 / self.time.as_secs_f64()
    }

    fn print(&self, name: &str, ratios: &str) {
        println!(
            "  {name:<34}{:>9.0} {}   {ratios}",
            self.rate(),
            self.samples.line(Unit::Micros)
        );
    }
}
