//! How well notes are found among few and many, beside a plain full-text table and counting words, and what a question takes.

use std::time::Instant;

use crate::Outcome;
use crate::arguments::Arguments;
use crate::figures::Unit;
use crate::gate::{Grep, Plain, Product, Team, measure, table, twins};

/// Prints a table for each number of notes.
pub(crate) fn measure_all(arguments: &Arguments) -> Outcome<()> {
    let sizes: &[usize] = if arguments.smoke {
        &[200]
    } else {
        &[1_000, 10_000, 50_000]
    };
    for size in sizes {
        let team = Team::new(*size, arguments.seed);
        let folder = tempfile::tempdir()?;
        let mut product = Product::new(folder.path(), &team.notes);
        // The other two are there for what they find: once is enough.
        let scores = [
            measure(&mut product, &team.questions, arguments.rounds),
            measure(&mut Plain::new(&team.notes), &team.questions, 1),
            measure(&mut Grep::new(&team.notes), &team.questions, 1),
        ];
        let asked = team.questions.len();
        println!("\n{size} notes, {asked} questions (aim p99 10)");
        println!("{}", table(&scores));
        let begun = Instant::now();
        let twins = twins(&mut product, &team.notes);
        let each = begun.elapsed() / u32::try_from(2 * twins.asked.max(1))?;
        println!(
            "of {} notes {} are named when reworded, {} told of another one; {} ms each",
            twins.asked,
            twins.named,
            twins.alarms,
            Unit::Millis.show(each)
        );
    }
    Ok(())
}
