//! Resident memory of an owner with one bridge, and of the bridge, after calls.

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::client::{Client, TRIVIAL};
use crate::floors;

/// Prints all of it, and what of it is private.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    let checkout = Checkout::new()?;
    let mut owner = checkout.open(&arguments.binary, &[])?;
    let mut bridge = checkout.open(&arguments.binary, &[])?;
    let mut echo = Client::start(floors::command("floor-echo", 400)?)?;
    let calls = arguments.size(2_000, 50);
    for client in [&mut owner, &mut bridge, &mut echo] {
        for _ in 0..calls {
            client.timed(TRIVIAL)?;
        }
    }
    println!("\nresident memory after {calls} calls   all, of it private, in MB");
    for (name, client, aim) in [
        ("floor: blocking echo", &echo, ""),
        ("owner", &owner, "(aim 12)"),
        ("bridge", &bridge, "(aim 6)"),
    ] {
        match client.memory() {
            Some((all, private)) => println!(
                "  {name:<34}{:>9.1} {:>9.1}   {aim}",
                all as f64 / 1024.0,
                private as f64 / 1024.0
            ),
            None => println!("  {name:<34} unknown: no /proc on this system"),
        }
    }
    Ok(())
}
