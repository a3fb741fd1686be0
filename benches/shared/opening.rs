//! From before the start of the process to its first list of tools, while every core is busy.
//!
//! A client gives its servers half a second, and starts when the machine has the most to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::client::{Client, INITIALIZE, TOOLS};
use crate::figures::{Samples, Unit};

/// What p99 may be.
const MOST: Duration = Duration::from_millis(500);

/// Prints p50 and p99 for an owner and for a bridge; the long form fails where a client would have gone without.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    let lonely = Checkout::new()?;
    let shared = Checkout::new()?;
    let resident = shared.open(&arguments.binary, &[])?;
    let start = |checkout: &Checkout| -> Outcome<Duration> {
        let begun = Instant::now();
        let mut client = Client::start(checkout.mcp(&arguments.binary, &[]))?;
        client.timed(INITIALIZE)?;
        client.timed(TOOLS)?;
        let took = begun.elapsed();
        client.finish()?;
        Ok(took)
    };
    let mut samples: [Samples; 2] = Default::default();
    {
        let _busy = Busy::begin();
        for _ in 0..arguments.rounds {
            let each = arguments.size(7, 1);
            let times = |checkout| (0..each).map(|_| start(checkout)).collect::<Outcome<_>>();
            samples[0].add_round(times(&lonely)?);
            samples[1].add_round(times(&shared)?);
        }
    }
    drop(resident);
    println!(
        "\nstart to the first list of tools, every core busy, {} starts each   p50, p99 in ms",
        samples[0].count()
    );
    let mut late = Vec::new();
    for (name, measure) in ["first in the checkout: owner", "beside an owner: bridge"]
        .iter()
        .zip(&samples)
    {
        println!(
            "  {name:<34}{}   (at most {} at p99)",
            measure.line(Unit::Millis),
            MOST.as_millis()
        );
        if measure.percentile(99) > MOST {
            late.push(*name);
        }
    }
    if !arguments.smoke && !late.is_empty() {
        return Err(format!("too late at p99 of {MOST:?}: {}", late.join(", ")).into());
    }
    Ok(())
}

/// One thread a core that does nothing but take its time; ends when dropped.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn begin() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..cores {
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
