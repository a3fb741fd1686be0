//! Reverse reachability: from which states can an admitting owner still come, by ordinary steps alone?

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use stateright::Model as _;

use crate::world::{Lease, World};

/// The explored graph: for each state its ordinary predecessors, and whether it asks for nothing more.
pub(crate) struct Graph {
    /// Ordinary steps only, as (from, to).
    ordinary: Vec<(u32, u32)>,
    steps: usize,
    /// States in which somebody admits in each scope where somebody is left.
    content: Vec<bool>,
}

/// Explores every state of the model, breadth first.
pub(crate) fn explore(model: &Lease) -> Graph {
    let mut numbers: HashMap<World, u32> = HashMap::new();
    let mut graph = Graph {
        ordinary: Vec::new(),
        steps: 0,
        content: Vec::new(),
    };
    let mut queue: Vec<World> = Vec::new();
    let mut number =
        |state: World, graph: &mut Graph, queue: &mut Vec<World>| match numbers.entry(state) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let number = u32::try_from(queue.len()).unwrap();
                graph.content.push(state.is_content(model));
                queue.push(state);
                *new.insert(number)
            }
        };
    for state in model.init_states() {
        number(state, &mut graph, &mut queue);
    }
    let mut from = 0;
    let mut actions = Vec::new();
    while let Some(&state) = queue.get(from) {
        model.actions(&state, &mut actions);
        for action in actions.drain(..) {
            let ordinary = action.is_ordinary();
            if let Some(next) = model.next_state(&state, action) {
                graph.steps += 1;
                let to = number(next, &mut graph, &mut queue);
                if ordinary {
                    graph.ordinary.push((u32::try_from(from).unwrap(), to));
                }
            }
        }
        from += 1;
    }
    graph
}

impl Graph {
    /// Returns how many steps the graph has, faults included.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Returns how many states there are from which no content state is reachable by ordinary steps.
    pub(crate) fn stuck(&self) -> usize {
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); self.content.len()];
        for &(from, to) in &self.ordinary {
            predecessors[to as usize].push(from);
        }
        let mut reaches = self.content.clone();
        let mut pending: Vec<usize> = (0..reaches.len()).filter(|&state| reaches[state]).collect();
        while let Some(state) = pending.pop() {
            for &before in &predecessors[state] {
                let before = before as usize;
                if !reaches[before] {
                    reaches[before] = true;
                    pending.push(before);
                }
            }
        }
        reaches.iter().filter(|&&reaches| !reaches).count()
    }
}
