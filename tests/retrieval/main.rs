//! Whether notes are found, by the index alone: fixed floors, and better than the ways that cost nothing.
//!
//! `cargo bench --bench shared -- retrieval` prints the same table for larger teams.

mod gate;

use gate::{Grep, Plain, Product, Team, measure, table, twins};

#[test]
fn a_thousand_notes_are_found_and_better_than_by_the_ways_that_cost_nothing() {
    for seed in [1, 2] {
        let team = Team::new(1000, seed);
        let folder = tempfile::tempdir().unwrap();
        let mut product = Product::new(folder.path(), &team.notes);
        let product = measure(&mut product, &team.questions, 1);
        let plain = measure(&mut Plain::new(&team.notes), &team.questions, 1);
        let grep = measure(&mut Grep::new(&team.notes), &team.questions, 1);
        let table = table(&[product.clone(), plain.clone(), grep.clone()]);
        println!("seed {seed}\n{table}");
        for (what, ours, floor, others) in [
            (
                "recall@5",
                product.recall_5,
                0.87,
                [plain.recall_5, grep.recall_5],
            ),
            (
                "recall@10",
                product.recall_10,
                0.97,
                [plain.recall_10, grep.recall_10],
            ),
            ("MRR", product.mrr, 0.95, [plain.mrr, grep.mrr]),
            ("silence", product.silent, 0.9, [plain.silent, grep.silent]),
        ] {
            assert!(ours >= floor, "{what} is {ours:.3}, floor {floor}\n{table}");
            for other in others {
                assert!(
                    ours > other,
                    "{what} is {ours:.3}, another way has {other:.3}\n{table}"
                );
            }
        }
    }
}

#[test]
fn a_reworded_note_is_told_of_the_first_one_and_another_fact_seldom_of_any() {
    let team = Team::new(1000, 3);
    let folder = tempfile::tempdir().unwrap();
    let mut product = Product::new(folder.path(), &team.notes);
    let twins = twins(&mut product, &team.notes);
    assert!(twins.named * 10 >= twins.asked * 7, "{twins:?}");
    assert!(twins.alarms * 50 <= twins.asked, "{twins:?}");
}
