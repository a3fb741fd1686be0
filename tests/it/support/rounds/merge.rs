//! Two real stores are written to at random, by mnemon and by whoever else, while syncs come, go and are killed: afterwards
//! the same stands in both.

use std::time::Duration;

use super::super::mnemon::{Era, Machine, exchange, pair};
use super::super::random::Random;
use super::super::wait::pause;

/// What is the same on both machines afterwards: all that travels.
const ROWS: &str = "SELECT group_concat(id || '|' || content || '|' || entities || '|' || access_count || '|' || updated_at || '|'
  || ifnull(deleted_at, '-') || '|' || ifnull(last_accessed_at, '-') || '|' || ifnull(hex(embedding), '-'), char(10))
  FROM (SELECT * FROM insights ORDER BY id)";
const EDGES: &str = "SELECT group_concat(source_id || '|' || target_id || '|' || edge_type || '|' || weight || '|' || metadata || '|'
  || created_at, char(10)) FROM (SELECT * FROM edges ORDER BY 1, 2, 3)";

/// One thing that somebody who has the store does to it, whether mnemon would do it or not: what is linked may be dead.
fn write(machine: &Machine, random: &mut Random, number: usize) {
    let date = format!("'2026-06-06T20:{:02}:{:02}Z'", number / 60, number % 60);
    let (one, other) = (random.below(5), random.below(5));
    let weight = random.below(9);
    machine.sql(&match random.below(12) {
        0..3 => format!(
            "INSERT OR IGNORE INTO insights(id, content, created_at, updated_at) VALUES('i{one}', 'i{one}', {date}, {date})"
        ),
        3..6 => format!(
            "INSERT OR REPLACE INTO edges SELECT a.id, b.id, 'semantic', {weight}, '{{}}', {date}
             FROM insights a, insights b WHERE a.id='i{one}' AND b.id='i{other}'"
        ),
        6 => format!("DELETE FROM edges WHERE source_id='i{one}'"),
        7 => format!(
            "UPDATE insights SET deleted_at={date}, updated_at={date} WHERE id='i{one}' AND deleted_at IS NULL;
             DELETE FROM edges WHERE source_id='i{one}' OR target_id='i{one}'"
        ),
        // Somebody who leaves the edges.
        8 => format!("UPDATE insights SET deleted_at={date} WHERE id='i{one}' AND deleted_at IS NULL"),
        9 => format!("DELETE FROM insights WHERE id='i{one}'"),
        10 => format!(
            "UPDATE insights SET entities='[\"{weight}\"]', embedding=zeroblob({weight} * 4), updated_at={date} WHERE id='i{one}'"
        ),
        _ => format!(
            "UPDATE insights SET access_count=access_count+1, last_accessed_at={date} WHERE id='i{one}'"
        ),
    });
}

/// Forty acts on two stores that were never seen before; says how many syncs were killed.
pub(crate) fn round(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let mut killed = 0;
    let (_carried, a, b) = pair(Era::Supersedes, Era::Supersedes);
    for number in 0..40 {
        let machine = if random.below(2) == 0 { &a } else { &b };
        match random.below(10) {
            0 => {
                let mut sync = machine.start(&["sync"]);
                pause(Duration::from_millis(random.next() % 40));
                sync.kill().expect("a child can be killed");
                killed += usize::from(!sync.wait().expect("a child ends").success());
            }
            1 | 2 => drop(machine.sync()),
            _ => write(machine, &mut random, number),
        }
    }
    exchange(&a, &b);
    for query in [ROWS, EDGES] {
        assert_eq!(a.value(query), b.value(query), "seed {seed}");
    }
    killed
}
