//! Turns on a thread that many share: of all who hold it for long, one goes on in each round of everybody else.
//!
//! A runtime of one thread runs its tasks one after another, so a round takes as long as all who have something to do. A
//! hundred who need [`TURN`] each would keep a ping waiting for half a second, and whoever sent it would take the owner
//! for stalled. Here they stand in a row, and a round holds one of them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::yield_now;

use super::limits::TURN;

/// Who holds the thread for less than one part in so many of the time gives nobody way.
const SHARE: u32 = 4;

/// How long one of them has held the thread, since it last gave way or had the thread for little of the time.
#[derive(Debug)]
pub struct Held {
    since: Instant,
    time: Duration,
}

impl Default for Held {
    fn default() -> Self {
        Self {
            since: Instant::now(),
            time: Duration::ZERO,
        }
    }
}

impl Held {
    /// Begins a piece of work; what it returns goes to [`Held::end`].
    pub fn begin(&mut self) -> Instant {
        let begin = Instant::now();
        if begin.duration_since(self.since) > SHARE * TURN {
            (self.since, self.time) = (begin, Duration::ZERO);
        }
        begin
    }

    /// Counts the piece of work that began then.
    pub fn end(&mut self, begin: Instant) {
        self.time += begin.elapsed();
    }

    /// Whether it is time to give way.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.time >= TURN
    }
}

/// The row in which they stand, in the order in which they came.
#[derive(Debug)]
pub struct Turns(Semaphore);

impl Default for Turns {
    fn default() -> Self {
        Self(Semaphore::new(1))
    }
}

impl Turns {
    /// Lets everybody else run, those who stand in the row already one round each, where `held` is long.
    pub async fn give_way(&self, held: &mut Held) {
        if held.is_long() {
            // The row is never closed, and without one there is nobody to wait for.
            let _turn = self.0.acquire().await;
            yield_now().await;
            *held = Held::default();
        }
    }

    /// Runs work of which nobody knows how long it will hold the thread. Its first poll, in which whatever answers at once
    /// is done, waits for those that turned out to be long.
    pub async fn run<F: Future>(&self, work: F) -> F::Output {
        let mut work = pin!(work);
        let turn = self.0.acquire().await;
        let begin = Instant::now();
        let first = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
        if begin.elapsed() >= TURN {
            yield_now().await;
        }
        drop(turn);
        match first {
            Poll::Ready(done) => done,
            Poll::Pending => work.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::Instant;

    use tokio::task::{LocalSet, yield_now};

    use super::{Held, Turns};
    use crate::floor::limits::TURN;

    const HEAVY: usize = 20;
    const TIMES: usize = 3;

    /// Holds the thread, as rendering a large answer does.
    fn hold(held: &Cell<usize>) {
        held.set(held.get() + 1);
        let begin = Instant::now();
        while begin.elapsed() < TURN {
            std::hint::spin_loop();
        }
    }

    /// How often the thread was held between two turns of somebody who never holds it, at most.
    async fn longest_round<F: Future + 'static>(
        heavy: impl Fn(Rc<Turns>, Rc<Cell<usize>>) -> F,
    ) -> usize {
        let (turns, held) = (Rc::new(Turns::default()), Rc::new(Cell::new(0)));
        let mut longest = 0;
        let set = LocalSet::new();
        for _ in 0..HEAVY {
            set.spawn_local(heavy(Rc::clone(&turns), Rc::clone(&held)));
        }
        let light = set.run_until(async {
            let mut before = held.get();
            while held.get() < HEAVY * TIMES {
                yield_now().await;
                longest = longest.max(held.get() - before);
                before = held.get();
            }
            longest
        });
        light.await
    }

    /// Guards I5b: an owner with much to do is not taken for one that has stalled.
    #[tokio::test(flavor = "current_thread")]
    async fn of_all_who_hold_the_thread_one_goes_on_in_a_round() {
        let calls = longest_round(|turns, held| async move {
            for _ in 0..TIMES {
                turns.run(async { hold(&held) }).await;
            }
        });
        // The one that goes on, and the next one, which is woken as that one ends.
        assert!(calls.await <= 2);
        let links = longest_round(|turns, held| async move {
            // As after a first piece of work.
            let mut own = Held {
                time: TURN,
                ..Held::default()
            };
            for _ in 0..TIMES {
                turns.give_way(&mut own).await;
                let begin = own.begin();
                hold(&held);
                own.end(begin);
            }
        });
        assert!(links.await <= 2);
    }
}
