//! Two to five devices with stores of different eras, skewed clocks and a network that loses, repeats and delays; and the
//! model that says what must come of it.
//!
//! A device works as the product does: it looks at its store through [`observe`], joins what comes through [`merge`], and
//! writes what [`observe::materialise`] says. It dies between its two files, and gets its store back from a backup.
//! What was done to a store after a backup came back or before, and was never looked at, is nobody's.

#![expect(clippy::unwrap_used, reason = "a schedule fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use majordomus::stores::clock::{Clock, Device};
use majordomus::stores::merge::State;
use majordomus::stores::observe::{self, Look, Row, is_alive};
use majordomus::stores::registers::{Edge, Ends, Insight, Payload, Value};

/// A wrong merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// Counts are the largest that anybody has, not the sum.
    LargestCount,
    /// Two stamps of one time are decided by who asks.
    NoTieBreak,
    /// A later write of another column takes a forget back.
    ForgetRides,
    /// Edges are only ever added.
    EdgeUnion,
    /// What was seen does not move the clock.
    DeafClock,
    /// What was written before a death counts as somebody's edit after it.
    NoIntent,
}

impl Mutation {
    pub(crate) const ALL: [Self; 6] = [
        Self::LargestCount,
        Self::NoTieBreak,
        Self::ForgetRides,
        Self::EdgeUnion,
        Self::DeafClock,
        Self::NoIntent,
    ];
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("below a usize")
    }
}

/// What stands in a store.
#[derive(Debug, Clone, Default)]
struct Live {
    rows: BTreeMap<String, Row>,
    edges: BTreeMap<Ends, Payload>,
    pruned: BTreeSet<String>,
    batch: u64,
}

#[derive(Debug)]
struct Machine {
    live: Live,
    seen: Live,
    intent: Option<Live>,
    backup: Option<Live>,
    known: State,
    clock: Clock,
    skew: i64,
    columns: BTreeSet<String>,
    is_first: bool,
    /// What the user did since the last look: it is lost with the store if a backup comes back first.
    counted: BTreeMap<String, u64>,
    forgot: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Model {
    counts: BTreeMap<String, u64>,
    forgotten: BTreeSet<String>,
}

fn text(words: impl Into<String>) -> Value {
    Value::Text(words.into())
}

fn date(second: u64) -> String {
    format!("2026-06-06T20:{:02}:{:02}Z", second / 60 % 60, second % 60)
}

impl Machine {
    fn look(&mut self, second: u64, model: &mut Model) {
        if let Some(intent) = self.intent.take() {
            if self.live.batch == intent.batch {
                self.seen = intent;
            }
        }
        let wall = i64::try_from(second).unwrap() * 1000 + self.skew;
        let stamp = self.clock.tick(u64::try_from(wall.max(0)).unwrap());
        let look = Look {
            stamp,
            is_first: self.is_first,
        };
        for (id, now) in &self.live.rows {
            let insight = self.known.insights.entry(id.clone()).or_default();
            let pruned = self.live.pruned.contains(id);
            observe::row(insight, self.seen.rows.get(id), now, pruned, &look);
        }
        let ends: BTreeSet<_> = self
            .live
            .edges
            .keys()
            .chain(self.seen.edges.keys())
            .collect();
        for ends in ends {
            let alive = |id: &String| self.live.rows.get(id).is_some_and(is_alive);
            let found = observe::edge(
                self.known.edges.get(ends),
                self.seen.edges.get(ends),
                self.live.edges.get(ends),
                alive(&ends.source) && alive(&ends.target),
                &look,
            );
            if let Some(found) = found {
                self.known.edges.insert(ends.clone(), found);
            }
        }
        self.seen = self.live.clone();
        self.is_first = false;
        for (id, more) in std::mem::take(&mut self.counted) {
            *model.counts.entry(id).or_default() += more;
        }
        model.forgotten.append(&mut self.forgot);
    }

    /// Writes what should be; dies before, in between, or not at all.
    fn apply(&mut self, death: usize, mutation: Option<Mutation>) {
        let mut next = self.live.clone();
        next.batch += 1;
        for (id, insight) in &self.known.insights {
            let row = observe::materialise(insight, self.live.rows.get(id), &self.columns);
            next.rows.insert(id.clone(), row);
        }
        next.edges.clear();
        for (ends, edge) in &self.known.edges {
            let alive = |id: &String| next.rows.get(id).is_some_and(is_alive);
            if let Some(payload) = edge.payload.clone()
                && alive(&ends.source)
                && alive(&ends.target)
            {
                next.edges.insert(ends.clone(), payload);
            }
        }
        if mutation != Some(Mutation::NoIntent) {
            self.intent = Some(next.clone());
        }
        if death == 1 {
            return;
        }
        self.live = next.clone();
        if death == 2 {
            return;
        }
        self.seen = next;
        self.intent = None;
    }

    fn take_in(&mut self, theirs: &State, mutation: Option<Mutation>) {
        let before = self.known.clone();
        self.known.join(theirs);
        let stamps = theirs.insights.values().flat_map(Insight::stamps);
        if mutation != Some(Mutation::DeafClock) {
            for stamp in stamps.chain(theirs.edges.values().map(|edge| &edge.stamp)) {
                self.clock.see(stamp);
            }
        }
        match mutation {
            Some(Mutation::LargestCount) => {
                for insight in self.known.insights.values_mut() {
                    let most = insight.added.values().copied().max().unwrap_or(0);
                    insight.added.values_mut().for_each(|added| *added = 0);
                    if let Some(first) = insight.added.values_mut().next() {
                        *first = most;
                    }
                }
            }
            Some(Mutation::NoTieBreak) => {
                for (id, insight) in &mut self.known.insights {
                    let Some(before) = before.insights.get(id) else {
                        continue;
                    };
                    for (column, register) in &mut insight.columns {
                        if let Some(ours) = before.columns.get(column)
                            && (ours.stamp.ms, ours.stamp.count)
                                == (register.stamp.ms, register.stamp.count)
                        {
                            register.clone_from(ours);
                        }
                    }
                }
            }
            Some(Mutation::ForgetRides) => {
                for insight in self.known.insights.values_mut() {
                    let last = insight
                        .columns
                        .values()
                        .map(|register| register.stamp)
                        .max();
                    insight
                        .forgotten
                        .take_if(|forgotten| Some(forgotten.stamp) < last);
                }
            }
            Some(Mutation::EdgeUnion) => {
                for (ends, edge) in &mut self.known.edges {
                    if let Some(Edge {
                        payload: Some(payload),
                        ..
                    }) = before.edges.get(ends)
                    {
                        edge.payload.get_or_insert_with(|| payload.clone());
                    }
                }
            }
            _ => {}
        }
    }
}

/// A world of one seed.
struct World {
    random: Random,
    machines: Vec<Machine>,
    sent: Vec<State>,
    model: Model,
    second: u64,
    mutation: Option<Mutation>,
}

impl World {
    fn new(seed: u64, mutation: Option<Mutation>) -> Self {
        let mut random = Random(seed);
        let count = 2 + random.below(4);
        let mut model = Model::default();
        let machines = (0..count)
            .map(|number| {
                // The oldest era has no embeddings, and no date of the last access.
                let is_old = random.below(4) == 0;
                let mut columns: BTreeSet<_> = [
                    "content",
                    "updated_at",
                    "deleted_at",
                    "access_count",
                    "entities",
                ]
                .map(str::to_owned)
                .into();
                if !is_old {
                    columns.extend(["embedding", "last_accessed_at"].map(str::to_owned));
                }
                let mut device = [0; 16];
                device[0] = u8::try_from(number).unwrap();
                Machine {
                    live: Live::default(),
                    seen: Live::default(),
                    intent: None,
                    backup: None,
                    known: State::default(),
                    clock: Clock::new(Device(device)),
                    skew: i64::try_from(random.below(7_290)).unwrap() * 1000 - 90_000,
                    columns,
                    is_first: true,
                    counted: BTreeMap::new(),
                    forgot: BTreeSet::new(),
                }
            })
            .collect();
        let mut world = Self {
            random,
            machines,
            sent: Vec::new(),
            model: Model::default(),
            second: 100,
            mutation,
        };
        for number in 0..3 {
            let id = format!("shared-{number}");
            let base = world.random.below(4) as u64;
            model.counts.insert(id.clone(), base);
            for at in 0..world.machines.len() {
                world.remember(at, &id, base);
            }
        }
        for machine in &mut world.machines {
            machine.look(100, &mut model);
        }
        world.model = model;
        world
    }

    fn remember(&mut self, at: usize, id: &str, count: u64) {
        let content = self.random.below(3).to_string();
        let machine = &mut self.machines[at];
        let mut row = Row::from([
            ("content".to_owned(), text(content)),
            ("updated_at".to_owned(), text(date(self.second))),
            ("deleted_at".to_owned(), Value::Null),
            (
                "access_count".to_owned(),
                Value::Int(i64::try_from(count).unwrap()),
            ),
            ("entities".to_owned(), text("[]")),
        ]);
        for column in machine
            .columns
            .iter()
            .filter(|column| !row.contains_key(*column))
            .cloned()
            .collect::<Vec<_>>()
        {
            row.insert(column, Value::Null);
        }
        machine.live.rows.insert(id.to_owned(), row);
    }

    /// One thing that happens somewhere.
    fn act(&mut self, number: usize) {
        self.second += self.random.below(3) as u64;
        let at = self.random.below(self.machines.len());
        let (what, second, mutation) = (self.random.below(14), self.second, self.mutation);
        let pick = self.random.next();
        let word = self.random.below(5).to_string();
        let death = self.random.below(6);
        if what == 0 {
            self.remember(at, &format!("new-{number}"), 0);
            return;
        }
        let machine = &mut self.machines[at];
        let ids: Vec<_> = machine.live.rows.keys().cloned().collect();
        let alive: Vec<_> = ids
            .iter()
            .filter(|id| is_alive(&machine.live.rows[*id]))
            .collect();
        let Some(id) = alive.get(usize::try_from(pick % 97).unwrap() % alive.len().max(1)) else {
            machine.look(second, &mut self.model);
            return;
        };
        let id = (*id).clone();
        let other = ids[usize::try_from(pick % 89).unwrap() % ids.len()].clone();
        let other_lives = is_alive(&machine.live.rows[&other]);
        let row = machine.live.rows.get_mut(&id).unwrap();
        let ends = Ends {
            source: id.clone(),
            target: other,
            kind: "semantic".to_owned(),
        };
        match what {
            1 | 2 => {
                let column = if machine.columns.contains("embedding") && what == 1 {
                    "embedding"
                } else {
                    "entities"
                };
                row.insert(column.to_owned(), text(word));
                row.insert("updated_at".to_owned(), text(date(second)));
            }
            3 | 4 => {
                let count = row["access_count"].count().unwrap() + 1;
                row.insert(
                    "access_count".to_owned(),
                    Value::Int(i64::try_from(count).unwrap()),
                );
                if machine.columns.contains("last_accessed_at") {
                    row.insert("last_accessed_at".to_owned(), text(date(second)));
                }
                *machine.counted.entry(id).or_default() += 1;
            }
            5 => {
                row.insert("deleted_at".to_owned(), text(date(second)));
                machine
                    .live
                    .edges
                    .retain(|ends, _| ends.source != id && ends.target != id);
                machine.forgot.insert(id);
            }
            6 if pick.is_multiple_of(3) => {
                row.insert("deleted_at".to_owned(), text(date(second)));
                machine
                    .live
                    .edges
                    .retain(|ends, _| ends.source != id && ends.target != id);
                machine.live.pruned.insert(id);
            }
            6 | 7 if other_lives => {
                let payload = Payload {
                    weight: text(word),
                    metadata: text("{}"),
                    created_at: date(second),
                };
                machine.live.edges.insert(ends, payload);
            }
            8 => {
                let found = machine.live.edges.keys().next().cloned();
                found.map(|ends| machine.live.edges.remove(&ends));
            }
            9 if pick.is_multiple_of(4) => machine.backup = Some(machine.live.clone()),
            9 if pick % 4 == 1 && machine.backup.is_some() => {
                machine.live = machine.backup.clone().unwrap();
                machine.live.batch = 0;
                (machine.is_first, machine.intent) = (true, None);
                machine.counted.clear();
                machine.forgot.clear();
                // What was never looked at is found in the backup for the first time, with all that it counts.
                for (id, row) in &machine.live.rows {
                    if !machine.known.insights.contains_key(id) {
                        let count = row["access_count"].count().unwrap();
                        self.model.counts.insert(id.clone(), count);
                    }
                }
                machine.look(second, &mut self.model);
            }
            10 | 11 => {
                machine.look(second, &mut self.model);
                self.sent.push(machine.known.clone());
            }
            12 | 13 if !self.sent.is_empty() => {
                let theirs =
                    self.sent[usize::try_from(pick % 83).unwrap() % self.sent.len()].clone();
                machine.look(second, &mut self.model);
                machine.take_in(&theirs, mutation);
                machine.apply(death, mutation);
            }
            _ => {}
        }
    }

    /// Everybody hears of everybody, until nothing is new.
    fn settle(&mut self) {
        for _ in 0..3 {
            self.second += 1;
            for machine in &mut self.machines {
                machine.look(self.second, &mut self.model);
            }
            let all: Vec<_> = self
                .machines
                .iter()
                .map(|machine| machine.known.clone())
                .collect();
            for machine in &mut self.machines {
                for theirs in &all {
                    machine.take_in(theirs, self.mutation);
                }
                machine.apply(0, self.mutation);
            }
        }
    }

    fn judge(&self) -> Result<(), String> {
        let first = &self.machines[0];
        for (number, machine) in self.machines.iter().enumerate() {
            if machine.known != first.known {
                return Err(format!("the registers of device {number} differ"));
            }
            if let Some(id) = self
                .model
                .forgotten
                .iter()
                .find(|id| is_alive(&machine.live.rows[*id]))
            {
                return Err(format!(
                    "`{id}` was forgotten and is alive on device {number}"
                ));
            }
            for (id, row) in &machine.live.rows {
                let expected = self.model.counts.get(id).copied().unwrap_or(0);
                let found = row["access_count"].count();
                if found != Some(expected) {
                    return Err(format!(
                        "`{id}` has {found:?} accesses of {expected} on device {number}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// What follows from what was seen holds, however the clocks are set: an edit over an edit, an unlink over a link.
    fn successors(&mut self) -> Result<(), String> {
        let fast = (0..self.machines.len())
            .max_by_key(|at| self.machines[*at].skew)
            .unwrap();
        let slow = (0..self.machines.len())
            .min_by_key(|at| self.machines[*at].skew)
            .unwrap();
        let ends = Ends {
            source: "last-a".to_owned(),
            target: "last-b".to_owned(),
            kind: "semantic".to_owned(),
        };
        self.remember(fast, &ends.source, 0);
        self.remember(fast, &ends.target, 0);
        let payload = Payload {
            weight: text("1"),
            metadata: text("{}"),
            created_at: date(1),
        };
        self.machines[fast].live.edges.insert(ends.clone(), payload);
        self.settle();
        let set = |machine: &mut Machine, word: &str| {
            let row = machine.live.rows.get_mut("last-a").unwrap();
            row.insert("entities".to_owned(), text(word));
        };
        set(&mut self.machines[fast], "fast");
        self.settle();
        set(&mut self.machines[slow], "slow");
        self.machines[slow].live.edges.remove(&ends);
        self.settle();
        for (number, machine) in self.machines.iter().enumerate() {
            if machine.live.rows["last-a"]["entities"] != text("slow") {
                return Err(format!(
                    "an edit that followed another one is lost on device {number}"
                ));
            }
            if machine.live.edges.contains_key(&ends) {
                return Err(format!(
                    "an edge that was taken away is back on device {number}"
                ));
            }
        }
        self.judge()
    }
}

/// Plays one schedule; says what does not hold.
pub(crate) fn round(seed: u64, mutation: Option<Mutation>) -> Result<(), String> {
    let mut world = World::new(seed.wrapping_mul(0x5851_F42D_4C95_7F2D), mutation);
    let length = 10 + world.random.below(60);
    for number in 0..length {
        world.act(number);
    }
    world.settle();
    world.judge()?;
    world.successors()
}
