//! How well questions are answered.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use majordomus::memory::note::Note;
use uuid::Uuid;

use super::team::{Asked, Sort, reworded};
use super::ways::{Product, Way};

/// How well a way answers, as shares of its questions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Score {
    pub(crate) name: &'static str,
    /// The answer is among the first five.
    pub(crate) recall_5: f64,
    /// The answer is among the first ten.
    pub(crate) recall_10: f64,
    /// The mean of one divided by the place of the answer.
    pub(crate) mrr: f64,
    /// Of the questions that nobody can answer, those for which nothing is found.
    pub(crate) silent: f64,
    /// The same as `recall_5`, by sort.
    by_sort: Vec<(Sort, f64)>,
    /// What each question took.
    took: Vec<Duration>,
}

impl Score {
    /// The percentile (nearest rank) of what a question took, in milliseconds.
    fn percentile(&self, percent: usize) -> f64 {
        let mut took = self.took.clone();
        took.sort_unstable();
        let rank = (took.len() * percent).div_ceil(100).max(1);
        took[rank - 1].as_secs_f64() * 1e3
    }
}

/// Asks all questions, a round after the other.
pub(crate) fn measure(way: &mut dyn Way, questions: &[Asked], rounds: usize) -> Score {
    let mut places = Vec::with_capacity(questions.len());
    let mut took = Vec::with_capacity(questions.len() * rounds);
    for (number, asked) in questions
        .iter()
        .cycle()
        .take(questions.len() * rounds)
        .enumerate()
    {
        let begun = Instant::now();
        let found = way.find(asked);
        took.push(begun.elapsed());
        if number >= questions.len() {
            continue;
        }
        // Nowhere is far away, unless that is where it should be.
        let place = match asked.answer {
            Some(answer) => found.iter().position(|id| *id == answer),
            None => found.is_empty().then_some(0),
        };
        places.push((asked.sort, place.unwrap_or(usize::MAX)));
    }
    let share = |of: &dyn Fn(Sort) -> bool, within: usize| {
        let asked: Vec<usize> = places
            .iter()
            .filter(|(sort, _)| of(*sort))
            .map(|(_, place)| *place)
            .collect();
        let within = asked.iter().filter(|place| **place < within);
        within.count() as f64 / asked.len().max(1) as f64
    };
    let answered = |sort| sort != Sort::Nowhere;
    let reciprocal: Vec<f64> = places
        .iter()
        .filter(|(sort, _)| answered(*sort))
        .map(|(_, place)| 1.0 / (*place as f64 + 1.0))
        .map(|each| if each < 0.05 { 0.0 } else { each })
        .collect();
    Score {
        name: way.name(),
        recall_5: share(&answered, 5),
        recall_10: share(&answered, 10),
        mrr: reciprocal.iter().sum::<f64>() / reciprocal.len() as f64,
        silent: share(&|sort| sort == Sort::Nowhere, 1),
        by_sort: Sort::ANSWERED
            .map(|sort| (sort, share(&|each| each == sort, 5)))
            .to_vec(),
        took,
    }
}

/// How well notes that say nearly the same are named.
#[derive(Debug)]
pub(crate) struct Twins {
    /// Notes in force that were reworded.
    pub(crate) asked: usize,
    /// Those that are named to whoever writes the reworded one.
    pub(crate) named: usize,
    /// Those that are told of another one as they are.
    pub(crate) alarms: usize,
}

/// Rewords the notes in force.
pub(crate) fn twins(product: &mut Product, notes: &[Note]) -> Twins {
    let superseded: HashSet<Uuid> = notes
        .iter()
        .flat_map(|note| note.supersedes.clone())
        .collect();
    let mut twins = Twins {
        asked: 0,
        named: 0,
        alarms: 0,
    };
    for (place, note) in notes.iter().enumerate().take(1000) {
        if superseded.contains(&note.id) {
            continue;
        }
        let named = product.twins(&reworded(note, place));
        twins.asked += 1;
        twins.named += usize::from(named.contains(&note.id));
        twins.alarms += usize::from(!product.twins(note).is_empty());
    }
    twins
}

/// A table of scores, a line each.
pub(crate) fn table(scores: &[Score]) -> String {
    let mut table = format!("{:<12}{:>9}{:>7}{:>7}", "", "recall@5", "@10", "MRR");
    for sort in Sort::ANSWERED {
        let name = format!("{sort:?}").to_lowercase();
        write!(table, "{name:>10}").unwrap();
    }
    write!(table, "{:>9}{:>9}{:>9}", "silent", "p50 ms", "p99 ms").unwrap();
    for score in scores {
        write!(
            table,
            "\n{:<12}{:>9.3}{:>7.3}{:>7.3}",
            score.name, score.recall_5, score.recall_10, score.mrr
        )
        .unwrap();
        for (_, share) in &score.by_sort {
            write!(table, "{share:>10.2}").unwrap();
        }
        let [median, slow] = [50, 99].map(|percent| score.percentile(percent));
        let silent = score.silent;
        write!(table, "{silent:>9.2}{median:>9.2}{slow:>9.2}").unwrap();
    }
    table
}
