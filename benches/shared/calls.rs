//! A tool call as owner, alone and through a bridge, in turns with both floors.

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::client::{Client, PEERS, TRIVIAL};
use crate::figures::{Order, Samples, Unit};
use crate::floors;

/// Prints p50 and p99 of each, and the ratios: for a tool that does nothing, and for one that works.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    for (name, call) in [("conformance_safe", TRIVIAL), ("majordomus_peers", PEERS)] {
        one_tool(arguments, name, call)?;
    }
    Ok(())
}

fn one_tool(arguments: &Arguments, name: &str, call: &str) -> Outcome<()> {
    let checkout = Checkout::new()?;
    let mut owner = checkout.open(&arguments.binary, &[])?;
    let bridged = checkout.open(&arguments.binary, &[])?;
    let alone = checkout.open(&arguments.binary, &["--standalone"])?;
    let bytes = owner.verify(call)?.to_string().len();
    let (_hub, port) = floors::start_hub("floor-hub", bytes)?;
    let (_async_hub, async_port) = floors::start_hub("floor-async-hub", bytes)?;
    let echo = Client::start(floors::command("floor-echo", bytes)?)?;
    let event_loop = Client::start(floors::command("floor-async", bytes)?)?;
    let relay = Client::start(floors::command("floor-relay", port)?)?;
    let event_relay = Client::start(floors::command("floor-async-relay", async_port)?)?;

    let mut clients = [echo, event_loop, relay, event_relay, owner, alone, bridged];
    let mut samples: [Samples; 7] = Default::default();
    let each = arguments.size(200, 20);
    for client in &mut clients {
        client.verify(call)?;
        for _ in 0..each {
            client.timed(call)?;
        }
    }
    let mut order = Order::new(arguments.seed);
    for _ in 0..arguments.rounds {
        for which in order.shuffled(clients.len()) {
            let times = (0..each).map(|_| clients[which].timed(call));
            samples[which].add_round(times.collect::<Outcome<_>>()?);
        }
    }

    let [echo, event_loop, relay, event_relay, owner, alone, bridged] = &samples;
    let show = |name: &str, measure: &Samples, ratios: &str| {
        println!("  {name:<34}{}   {ratios}", measure.line(Unit::Micros));
    };
    println!(
        "\ntools/call {name}, {bytes} bytes of answer, {} calls each   p50, p99 in µs",
        echo.count()
    );
    show("floor: blocking echo", echo, "");
    show(
        "floor: an event loop and JSON",
        event_loop,
        &format!("{:.2} of echo", event_loop.ratio_to(echo)),
    );
    show("floor: two-process TCP relay", relay, "");
    show(
        "floor: the same on event loops",
        event_relay,
        &format!("{:.2} of relay", event_relay.ratio_to(relay)),
    );
    show(
        "--standalone",
        alone,
        &format!("{:.2} of echo", alone.ratio_to(echo)),
    );
    show(
        "owner",
        owner,
        &format!(
            "{:.2} of echo (aim 1.3), {:.2} of the event loop, {:.2} of --standalone (aim 1.05)",
            owner.ratio_to(echo),
            owner.ratio_to(event_loop),
            owner.ratio_to(alone)
        ),
    );
    show(
        "bridged",
        bridged,
        &format!(
            "{:.2} of relay (aim 1.3), {:.2} of the event loops",
            bridged.ratio_to(relay),
            bridged.ratio_to(event_relay)
        ),
    );
    Ok(())
}
