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
    let folder = tempfile::tempdir()?;
    let (_hub, port) = floors::start_hub("floor-hub", 400)?;
    let start = |which: usize| -> Outcome<Duration> {
        let command = match which {
            0 => floors::command("floor-echo", 400)?,
            1 => floors::command("floor-owner", folder.path().display())?,
            2 => floors::command("floor-relay", port)?,
            3 => lonely.mcp(&arguments.binary, &["--standalone"]),
            4 => lonely.mcp(&arguments.binary, &[]),
            _ => shared.mcp(&arguments.binary, &[]),
        };
        let begun = Instant::now();
        let mut client = Client::start(command)?;
        client.timed(INITIALIZE)?;
        let took = begun.elapsed();
        client.finish()?;
        Ok(took)
    };

    let mut samples: [Samples; 6] = Default::default();
    for which in 0..samples.len() {
        start(which)?;
    }
    let mut order = Order::new(arguments.seed);
    let each = arguments.size(5, 1);
    for _ in 0..arguments.rounds {
        let mut times = [const { Vec::new() }; 6];
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

    let [minimal, least_owner, least_bridge, alone, owner, bridge] = &samples;
    println!(
        "\nstart to the answer to initialize, {} starts each   p50, p99 in ms",
        minimal.count()
    );
    let show = |name: &str, measure: &Samples, ratios: &str| {
        println!("  {name:<34}{}   {ratios}", measure.line(Unit::Millis));
    };
    let least = |measure: &Samples| format!("{:.2} of minimal", measure.ratio_to(minimal));
    let aimed = |measure: &Samples| format!("{} (aim 2.0)", least(measure));
    show("floor: minimal process", minimal, "");
    show("floor: minimal owner", least_owner, &least(least_owner));
    show("floor: minimal bridge", least_bridge, &least(least_bridge));
    show("--standalone", alone, &aimed(alone));
    let beside = |measure: &Samples, floor: &Samples| {
        format!(
            "{}, {:.2} of its floor",
            aimed(measure),
            measure.ratio_to(floor)
        )
    };
    show(
        "first in the checkout: owner",
        owner,
        &beside(owner, least_owner),
    );
    show(
        "beside an owner: bridge",
        bridge,
        &beside(bridge, least_bridge),
    );
    Ok(())
}
