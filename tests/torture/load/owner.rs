//! The owner's process, as the kernel shows it.

use std::fmt;
use std::fs;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::support::Repository;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(500);
/// One look of so many is told while it goes on.
const TOLD: usize = 10;
/// Growth of memory that is no leak, in KB: the larger of this and of one in twenty.
const SLACK_KB: u64 = 4096;

/// The process that serves.
#[derive(Debug, Clone)]
pub(super) struct Owner(i32);

/// One look at it.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    pub(super) resident_kb: u64,
    pub(super) private_kb: u64,
    pub(super) descriptors: usize,
    pub(super) threads: u64,
    /// CPU time that it has had.
    pub(super) cpu: Duration,
}

impl Owner {
    /// Whoever the document names.
    pub(super) fn of(repository: &Repository) -> Self {
        Self(
            repository
                .owner_pid()
                .expect("the document names a process"),
        )
    }

    pub(super) fn pid(&self) -> i32 {
        self.0
    }

    /// Looks at it; panics when it is gone.
    pub(super) fn look(&self) -> Sample {
        let of = |file: &str| {
            fs::read_to_string(format!("/proc/{}/{file}", self.0)).expect("the owner lives")
        };
        let (status, stat) = (of("status"), of("stat"));
        let field = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
            number.unwrap_or_default()
        };
        // Behind the name, which may hold anything: utime and stime are the 12th and 13th, in hundredths of a second.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
        Sample {
            resident_kb: field("VmRSS"),
            private_kb: field("RssAnon"),
            descriptors: fs::read_dir(format!("/proc/{}/fd", self.0))
                .expect("the owner lives")
                .count(),
            threads: field("Threads"),
            cpu: Duration::from_millis(ticks * 10),
        }
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "owner {:.1} MB, {:.1} of it private, {} descriptors, {} threads",
            mb(self.resident_kb),
            mb(self.private_kb),
            self.descriptors,
            self.threads
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "kilobytes of a process")]
fn mb(kb: u64) -> f64 {
    kb as f64 / 1024.0
}

/// The looks of a phase.
#[derive(Debug)]
pub(super) struct Watch {
    owner: Owner,
    samples: Vec<Sample>,
    begun: Instant,
}

impl Watch {
    pub(super) fn of(owner: &Owner) -> Self {
        Self {
            owner: owner.clone(),
            samples: Vec::new(),
            begun: Instant::now(),
        }
    }

    /// Begins anew, and says what was.
    pub(super) fn anew(self) -> Self {
        println!("     until then: {self}");
        Self::of(&self.owner)
    }

    /// Looks again and again until `end`.
    pub(super) async fn until(&mut self, end: Instant) {
        while Instant::now() < end {
            let sample = self.owner.look();
            if self.samples.len().is_multiple_of(TOLD) {
                eprintln!("load: {sample}");
            }
            self.samples.push(sample);
            sleep_until((Instant::now() + LOOK).min(end)).await;
        }
    }

    /// The first and the last quarter.
    fn ends(&self) -> (&[Sample], &[Sample]) {
        let quarter = self.samples.len().div_ceil(4);
        let (first, _) = self.samples.split_at(quarter);
        let (_, last) = self.samples.split_at(self.samples.len() - quarter);
        (first, last)
    }

    /// Panics if memory grew, or descriptors.
    pub(super) fn judge(&self) {
        let (first, last) = self.ends();
        for (what, of) in [
            (
                "resident",
                (|sample| sample.resident_kb) as fn(&Sample) -> u64,
            ),
            ("private", |sample| sample.private_kb),
        ] {
            let (before, after) = (median(first, of), median(last, of));
            let most = before + (before / 20).max(SLACK_KB);
            assert!(
                after <= most,
                "{what} memory of the owner grew from {before} to {after} KB after warm-up"
            );
        }
        let most = |samples: &[Sample]| samples.iter().map(|sample| sample.descriptors).max();
        let (before, after) = (most(first).unwrap(), most(last).unwrap());
        assert!(
            after <= before + before / 10 + 16,
            "the owner's descriptors grew from {before} to {after} after warm-up"
        );
    }
}

fn median(samples: &[Sample], of: fn(&Sample) -> u64) -> u64 {
    let mut sorted: Vec<u64> = samples.iter().map(of).collect();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

impl fmt::Display for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.ends();
        let change = |of: fn(&Sample) -> u64| {
            format!(
                "{:.1} to {:.1}",
                mb(median(first, of)),
                mb(median(last, of))
            )
        };
        let most = |of: fn(&Sample) -> u64| self.samples.iter().map(of).max().unwrap_or_default();
        let (begin, end) = (&first[0].cpu, &last[last.len() - 1].cpu);
        write!(
            f,
            "owner {} MB, private {} MB (most {:.1}), at most {} descriptors and {} threads, {:.2} of a core",
            change(|sample| sample.resident_kb),
            change(|sample| sample.private_kb),
            mb(most(|sample| sample.private_kb)),
            most(|sample| sample.descriptors as u64),
            most(|sample| sample.threads),
            end.saturating_sub(*begin).as_secs_f64() / self.begun.elapsed().as_secs_f64(),
        )
    }
}
