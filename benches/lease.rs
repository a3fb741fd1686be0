//! What the lease costs: one look before admitting, and one uncontended election with its release.
//!
//! `cargo bench --bench lease` prints p50 and p99 in microseconds; `cargo test --bench lease` does the same unoptimised.
//! The floor beside them is one `stat` of a file in the same folder. Few rounds, because ext4 finds new inodes ever more slowly
//! when hundreds were removed within the last seconds, which no election does.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a harness that prints what it measured, or fails"
)]

use std::fs;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use majordomus::floor::paths::{Explicit, Site};
use majordomus::lease::{Leave, Outcome, Ownership, ProbeFailure, attach_or_own};

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::discover(folder.path(), Explicit::Yes)
        .unwrap()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let elect = || -> Arc<Ownership> {
        let outcome = runtime.block_on(attach_or_own(&site, Duration::ZERO, async |_| {
            Err::<(), _>(ProbeFailure::Unproven)
        }));
        match outcome {
            Outcome::Elected(ownership) => ownership,
            other => panic!("{other:?}"),
        }
    };
    let link = "127.0.0.1:40001".parse().unwrap();

    let owner = elect();
    owner.publish(None, link).unwrap();
    measure("stat of one file", 20_000, || {
        black_box(fs::symlink_metadata(site.lease_lock()).unwrap());
    });
    measure("admits", 20_000, || assert!(owner.admits()));
    owner.release(Leave::Draining);

    measure("elect and release", 200, || {
        elect().release(Leave::Draining);
    });
    measure("elect, publish, drain, release", 200, || {
        let owner = elect();
        owner.publish(None, link).unwrap();
        owner.drain().unwrap();
        owner.release(Leave::Draining);
    });
}

fn measure(what: &str, rounds: usize, mut run: impl FnMut()) {
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let at = |part: usize| times[(rounds - 1) * part / 100].as_secs_f64() * 1e6;
    println!("{what}: p50 {:.1} us, p99 {:.1} us", at(50), at(99));
}
