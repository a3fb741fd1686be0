//! A glob as a small automaton, and the walk that tells whether two of them share a path.
//!
//! `?` is one character of a part, `*` any number of them; `**/` is any number of whole parts, `/**` everything below
//! (at least one part), and `**` elsewhere anything at all, with or without the slash behind it; `[a-c]` and `[!a-c]` are one character of a part;
//! `{a,b}` is one of several, nested as deep as anyone likes. `[…]` and `{…}` also stand for their own characters,
//! and one that does not close stands only for them. Every entry is followed by an optional `/` and anything.
//!
//! The automaton has one state per character of the pattern or so and is never made deterministic: the walk visits
//! pairs of states, of which there are at most the product, and gives up past its bound.

use std::collections::{HashSet, VecDeque};

const MOST: u32 = char::MAX as u32;
const SLASH: u32 = '/' as u32;

/// A set of characters: sorted, disjoint, inclusive ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Class(Vec<(u32, u32)>);

impl Class {
    fn one(c: char) -> Self {
        Self(vec![(c as u32, c as u32)])
    }

    fn any() -> Self {
        // Surrogates are no characters: a set that holds nothing else must count as empty.
        Self(vec![(0, 0xD7FF), (0xE000, MOST)])
    }

    fn part() -> Self {
        Self::any().and(&Self(vec![(0, SLASH - 1), (SLASH + 1, MOST)]))
    }

    fn and(&self, other: &Self) -> Self {
        let mut both = Vec::new();
        for (low, high) in &self.0 {
            for (least, most) in &other.0 {
                let (low, high) = (*low.max(least), *high.min(most));
                if low <= high {
                    both.push((low, high));
                }
            }
        }
        both.sort_unstable();
        Self(both)
    }

    fn not(&self) -> Self {
        let mut rest = Vec::new();
        let mut next = 0;
        let mut ranges = self.0.clone();
        ranges.sort_unstable();
        for (low, high) in ranges {
            if low > next {
                rest.push((next, low - 1));
            }
            next = next.max(high + 1);
        }
        if next <= MOST {
            rest.push((next, MOST));
        }
        Self(rest)
    }

    /// A character that belongs to both.
    fn shared(&self, other: &Self) -> Option<char> {
        let pairs = self
            .0
            .iter()
            .flat_map(|one| other.0.iter().map(move |two| (one, two)));
        pairs
            .map(|((low, high), (least, most))| (*low.max(least), *high.min(most)))
            .find_map(|(low, high)| {
                if low <= high {
                    char::from_u32(low)
                } else {
                    None
                }
            })
    }
}

/// What a walk over two automata found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meet {
    /// This path belongs to both.
    At(String),
    /// No path does.
    Nowhere,
    /// The walk grew too large.
    Unknown,
}

/// States and what leads from one to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Automaton {
    /// By state: on which characters to which state.
    steps: Vec<Vec<(Class, usize)>>,
    /// By state: where one may go on nothing.
    free: Vec<Vec<usize>>,
    end: usize,
}

impl Automaton {
    pub(super) fn new(glob: &str) -> Self {
        let mut automaton = Self::default();
        let start = automaton.state();
        let pattern: Vec<char> = glob.chars().collect();
        let whole = automaton.sequence(&pattern, start, true);
        // And everything below.
        let below = automaton.state();
        let end = automaton.state();
        automaton.on(whole, Class::one('/'), below);
        automaton.on(below, Class::any(), below);
        automaton.free(whole, end);
        automaton.free(below, end);
        automaton.end = end;
        automaton
    }

    /// Looks for a path that belongs to both, visiting at most `bound` pairs of states; also how many it visited.
    pub(super) fn meet(&self, other: &Self, bound: usize) -> (Meet, usize) {
        // How each visited pair was reached: from which visit, on which character.
        let mut trail: Vec<(usize, Option<char>)> = vec![(0, None)];
        let mut seen = HashSet::from([(0, 0)]);
        let mut waiting = VecDeque::from([(0, 0, 0)]);
        while let Some((here, there, visit)) = waiting.pop_front() {
            if here == self.end && there == other.end {
                return (Meet::At(path(&trail, visit)), seen.len());
            }
            if seen.len() > bound {
                return (Meet::Unknown, seen.len());
            }
            let mut go = |to: usize, beyond: usize, on: Option<char>| {
                if seen.insert((to, beyond)) {
                    waiting.push_back((to, beyond, trail.len()));
                    trail.push((visit, on));
                }
            };
            for next in self.free.get(here).into_iter().flatten() {
                go(*next, there, None);
            }
            for next in other.free.get(there).into_iter().flatten() {
                go(here, *next, None);
            }
            for (class, next) in self.steps.get(here).into_iter().flatten() {
                for (against, beyond) in other.steps.get(there).into_iter().flatten() {
                    if let Some(c) = class.shared(against) {
                        go(*next, *beyond, Some(c));
                    }
                }
            }
        }
        (Meet::Nowhere, seen.len())
    }

    fn state(&mut self) -> usize {
        self.steps.push(Vec::new());
        self.free.push(Vec::new());
        self.steps.len() - 1
    }

    fn on(&mut self, from: usize, class: Class, to: usize) {
        if let Some(steps) = self.steps.get_mut(from) {
            steps.push((class, to));
        }
    }

    fn free(&mut self, from: usize, to: usize) {
        if let Some(free) = self.free.get_mut(from) {
            free.push(to);
        }
    }

    /// Adds one character after `from`.
    fn then(&mut self, from: usize, class: Class) -> usize {
        let to = self.state();
        self.on(from, class, to);
        to
    }

    fn literally(&mut self, from: usize, text: &[char]) -> usize {
        text.iter()
            .fold(from, |here, c| self.then(here, Class::one(*c)))
    }

    /// Adds `pattern` after `from` and returns where it ends; `fresh` says that a path's part starts here.
    fn sequence(&mut self, pattern: &[char], from: usize, fresh: bool) -> usize {
        let mut here = from;
        let mut at = 0;
        let mut fresh = fresh;
        while let Some(rest) = pattern.get(at..).filter(|rest| !rest.is_empty()) {
            let (next, used) = match rest {
                // Whole parts, also none.
                ['*', '*', '/', ..] if fresh => (self.parts(here), 3),
                // Everything below: at least one character, the slash before it is already there.
                ['*', '*'] if fresh => {
                    let below = self.then(here, Class::any());
                    self.on(below, Class::any(), below);
                    (below, 2)
                }
                ['*', '*', '/', ..] => {
                    let any = self.many(here, Class::any());
                    let to = self.then(any, Class::one('/'));
                    self.free(any, to);
                    (to, 3)
                }
                ['*', '*', ..] => (self.many(here, Class::any()), 2),
                ['*', ..] => (self.many(here, Class::part()), 1),
                ['?', ..] => (self.then(here, Class::part()), 1),
                ['[', ..] => self.bracket(rest, here),
                ['{', ..] => self.brace(rest, here, fresh),
                [c, ..] => (self.then(here, Class::one(*c)), 1),
                [] => break,
            };
            here = next;
            at += used;
            fresh = at > 0 && pattern.get(at - 1) == Some(&'/');
        }
        here
    }

    fn many(&mut self, from: usize, class: Class) -> usize {
        let to = self.state();
        self.free(from, to);
        self.on(to, class, to);
        to
    }

    fn parts(&mut self, from: usize) -> usize {
        let inside = self.state();
        let to = self.state();
        self.free(from, to);
        self.free(from, inside);
        self.on(inside, Class::any(), inside);
        self.on(inside, Class::one('/'), to);
        to
    }

    /// `[…]`: one character, or the text itself.
    fn bracket(&mut self, rest: &[char], from: usize) -> (usize, usize) {
        let negated = matches!(rest.get(1), Some('!' | '^'));
        let first = if negated { 2 } else { 1 };
        // A `]` that comes first is a member.
        let close = rest
            .iter()
            .enumerate()
            .skip(first + 1)
            .find_map(|(index, c)| (*c == ']').then_some(index));
        let (Some(close), Some(members)) = (close, close.and_then(|close| rest.get(first..close)))
        else {
            return (self.then(from, Class::one('[')), 1);
        };
        let mut ranges = Vec::new();
        let mut members = members;
        loop {
            members = match members {
                [low, '-', high, tail @ ..] => {
                    ranges.push(((*low).min(*high) as u32, (*low).max(*high) as u32));
                    tail
                }
                [c, tail @ ..] => {
                    ranges.push((*c as u32, *c as u32));
                    tail
                }
                [] => break,
            };
        }
        let class = Class(ranges);
        let class = if negated { class.not() } else { class };
        let to = self.then(from, class.and(&Class::part()));
        let text = self.literally(from, rest.get(..=close).unwrap_or_default());
        self.free(text, to);
        (to, close + 1)
    }

    /// `{…,…}`: one of several, or the text itself.
    fn brace(&mut self, rest: &[char], from: usize, fresh: bool) -> (usize, usize) {
        let mut depth = 0_usize;
        let mut cuts = vec![0];
        let mut close = None;
        for (index, c) in rest.iter().enumerate() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => cuts.push(index),
                _ => {}
            }
            if depth == 0 {
                close = Some(index);
                break;
            }
        }
        let Some(close) = close else {
            return (self.then(from, Class::one('{')), 1);
        };
        cuts.push(close);
        let to = self.state();
        for pair in cuts.windows(2) {
            if let [start, end] = pair
                && let Some(choice) = rest.get(start + 1..*end)
            {
                let ended = self.sequence(choice, from, fresh);
                self.free(ended, to);
            }
        }
        let text = self.literally(from, rest.get(..=close).unwrap_or_default());
        self.free(text, to);
        (to, close + 1)
    }
}

/// Reads back what was visited until `visit`, in order.
fn path(trail: &[(usize, Option<char>)], visit: usize) -> String {
    let mut path: Vec<char> = Vec::new();
    let mut at = visit;
    while at > 0 {
        let Some((before, on)) = trail.get(at) else {
            break;
        };
        path.extend(on);
        at = *before;
    }
    path.iter().rev().collect()
}

#[cfg(test)]
mod tests;
