//! Pause points between any two system calls of the lease, for the torture test. Compiled out without feature `failpoints`.
//!
//! `MAJORDOMUS_FAILPOINT` holds entries `POINT=ACTION`, joined by `;`. A point is `lease::before_CALL` with a call's name
//! (`read`, `read_beside`, `open_lock`, `try_lock`, `test_lock`, `take_name`, `compare`, `read_again`, `write_starting`, `write_ready`,
//! `write_draining`, `remove`, `let_go`, `wait`, `probe`, `lock_elsewhere`, `lock_scope`), or `lease::*` for all of them.
//!
//! | action | effect |
//! |---|---|
//! | `pause:FILE` | makes `FILE.waiting`, then waits until FILE is there (a minute at most) |
//! | `jitter:MS` | sleeps between 0 and MS milliseconds |
//! | `abort` | the process dies at once, as of SIGKILL |

#[cfg(not(feature = "failpoints"))]
use super::election::Call;

/// Reaches the pause point before `call`.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub fn before(_call: Call) {}

#[cfg(feature = "failpoints")]
pub use active::before;

#[cfg(feature = "failpoints")]
mod active {
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    use crate::floor::paths::Files;
    use crate::lease::document::State;
    use crate::lease::election::Call;

    /// The variable that holds the entries.
    const VARIABLE: &str = "MAJORDOMUS_FAILPOINT";
    /// How long a pause lasts at most.
    const PAUSE: Duration = Duration::from_mins(1);

    #[derive(Debug)]
    enum Action {
        Pause(PathBuf),
        Jitter(u64),
        Abort,
    }

    /// Reaches the pause point before `call`.
    ///
    /// # Panics
    /// If `MAJORDOMUS_FAILPOINT` cannot be understood: a test that tests nothing must not pass.
    pub fn before(call: Call) {
        static ENTRIES: OnceLock<Vec<(String, Action)>> = OnceLock::new();
        let entries = ENTRIES.get_or_init(|| {
            let spec = std::env::var(VARIABLE).unwrap_or_default();
            spec.split(';')
                .filter(|entry| !entry.is_empty())
                .map(|entry| parse(entry).expect("because the test wrote MAJORDOMUS_FAILPOINT"))
                .collect()
        });
        let reached = name(call);
        for (point, action) in entries {
            if point == "*" || point == reached {
                act(action);
            }
        }
    }

    fn parse(entry: &str) -> Option<(String, Action)> {
        let (point, action) = entry.split_once('=')?;
        let point = point.strip_prefix("lease::")?;
        let point = point.strip_prefix("before_").unwrap_or(point).to_owned();
        let action = match action.split_once(':') {
            Some(("pause", file)) => Action::Pause(PathBuf::from(file)),
            Some(("jitter", milliseconds)) => Action::Jitter(milliseconds.parse().ok()?),
            None if action == "abort" => Action::Abort,
            _ => return None,
        };
        Some((point, action))
    }

    fn name(call: Call) -> &'static str {
        match call {
            Call::Read(Files::Common) => "read",
            Call::Read(Files::Scope) => "read_beside",
            Call::Probe => "probe",
            Call::OpenLock => "open_lock",
            Call::TryLock => "try_lock",
            Call::TestLock => "test_lock",
            Call::LockElsewhere => "lock_elsewhere",
            Call::LockScope => "lock_scope",
            Call::TakeName => "take_name",
            Call::Compare => "compare",
            Call::ReadAgain => "read_again",
            Call::Write { state, epoch: _ } => match state {
                State::Starting => "write_starting",
                State::Ready => "write_ready",
                State::Draining => "write_draining",
            },
            Call::Remove => "remove",
            Call::LetGo => "let_go",
            Call::Wait => "wait",
        }
    }

    fn act(action: &Action) {
        match action {
            Action::Pause(file) => pause(file),
            Action::Jitter(milliseconds) => {
                let mut random = [0; 8];
                getrandom::fill(&mut random).expect("because a test machine has randomness");
                let bound = milliseconds.saturating_mul(1000).saturating_add(1);
                sleep(Duration::from_micros(u64::from_le_bytes(random) % bound));
            }
            Action::Abort => std::process::abort(),
        }
    }

    fn pause(file: &Path) {
        let mut waiting = file.as_os_str().to_owned();
        waiting.push(".waiting");
        std::fs::write(waiting, std::process::id().to_string())
            .expect("because the test named a folder that can be written");
        let start = Instant::now();
        while !file.exists() && start.elapsed() < PAUSE {
            sleep(Duration::from_millis(1));
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a pause point is there to stop its thread"
    )]
    fn sleep(time: Duration) {
        std::thread::sleep(time);
    }
}
