//! How long clients wait when the owner is killed: `kill -9`, while every bridge calls without pause.
//!
//! Twenty-one processes share a checkout; each round kills the one that the lease document names and starts another in
//! its place. A bridge's *gap* is the longest that one of its calls waited since the kill; it is taken from the calls
//! in flight at the kill and those sent in the second after it. A call without an answer stops the bench.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::client::{Client, TRIVIAL};
use crate::figures::{Order, Samples, Unit};

/// Bridges beside the owner.
const BRIDGES: usize = 20;
/// How long after a kill calls are still looked at.
const WINDOW: Duration = Duration::from_secs(1);

/// Prints the waits of ordinary calls and the gaps.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    let count = arguments.size(BRIDGES, 4);
    let checkout = Checkout::new()?;
    let join = || -> Outcome<Client> {
        let mut client = checkout.open(&arguments.binary, &[])?;
        client.verify(TRIVIAL)?;
        Ok(client)
    };
    let mut clients = (0..=count).map(|_| join()).collect::<Outcome<Vec<_>>>()?;
    let mut order = Order::new(arguments.seed);
    let mut gaps = Samples::default();
    let mut ordinary = Samples::default();
    for round in 0..arguments.rounds {
        let owner = checkout.owner_pid()?;
        let at = clients.iter().position(|client| client.pid() == owner);
        let at = at.ok_or(format!(
            "round {round}: the document names pid {owner}, not of ours"
        ))?;
        let mut owner = clients.swap_remove(at);
        // Somewhere in a call, not always at the same place of one.
        let warm = 50 + order.below(50);
        let (kill, calls) = kill_amid(&mut owner, &mut clients, warm)?;
        for calls in calls {
            let waits = calls
                .iter()
                .filter(|call| call.answered > kill && call.sent < kill + WINDOW);
            let waits = waits.map(|call| call.answered - call.sent.max(kill));
            gaps.add_round(waits.max().into_iter().collect());
            let before = calls.iter().filter(|call| call.answered <= kill);
            ordinary.add_round(before.map(|call| call.answered - call.sent).collect());
        }
        clients.push(join()?);
    }
    println!(
        "\n{} bridges, {} kills   p50, p99 in ms",
        count, arguments.rounds
    );
    println!(
        "  a call before the kill            {}",
        ordinary.line(Unit::Millis)
    );
    println!(
        "  gap after kill -9 of the owner    {}   (aim 50 at p99), p90 {}, longest {}",
        gaps.line(Unit::Millis),
        Unit::Millis.show(gaps.percentile(90)),
        Unit::Millis.show(gaps.longest()),
    );
    Ok(())
}

/// One answered call.
#[derive(Debug, Clone, Copy)]
struct Call {
    sent: Instant,
    answered: Instant,
}

/// Kills the owner once every client has made `warm` calls and goes on calling for [`WINDOW`].
fn kill_amid(
    owner: &mut Client,
    clients: &mut [Client],
    warm: usize,
) -> Outcome<(Instant, Vec<Vec<Call>>)> {
    let stop = &AtomicBool::new(false);
    let (ready, warmed) = channel();
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients
            .iter_mut()
            .map(|client| {
                let ready = ready.clone();
                scope.spawn(move || {
                    let calls = call_until(client, stop, warm, &ready);
                    if calls.is_err() {
                        // The others would wait for this one.
                        stop.store(true, Ordering::Relaxed);
                    }
                    calls
                })
            })
            .collect();
        drop(ready);
        let all_warm = warmed.iter().take(threads.len()).count() == threads.len();
        let kill = Instant::now();
        owner.kill()?;
        // Nobody sends any more: this waits for WINDOW, or for the last thread to fail.
        let _silence = warmed.recv_timeout(WINDOW);
        stop.store(true, Ordering::Relaxed);
        let calls = threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a client's thread panicked")?)
            .collect::<Outcome<Vec<_>>>()?;
        if !all_warm {
            return Err("a client failed before the kill".into());
        }
        Ok((kill, calls))
    })
}

/// Calls without pause until `stop`; says so when `warm` calls are made.
fn call_until(
    client: &mut Client,
    stop: &AtomicBool,
    warm: usize,
    ready: &Sender<()>,
) -> Outcome<Vec<Call>> {
    let mut calls = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let sent = Instant::now();
        client.timed(TRIVIAL)?;
        calls.push(Call {
            sent,
            answered: Instant::now(),
        });
        if calls.len() == warm {
            ready.send(())?;
        }
    }
    Ok(calls)
}
