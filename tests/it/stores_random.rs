//! Whatever is written to two stores, in whatever order with their syncs: afterwards the same stands in both.

use super::support::rounds::merge;

#[test]
fn whatever_is_written_the_same_stands_in_both_stores_afterwards() {
    for seed in 0..8 {
        merge::round(seed);
    }
}
