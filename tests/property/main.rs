//! Properties: what must hold for every input, tried on thousands of made-up ones.

mod collisions;
mod notes;
mod schemas;
mod stores;
mod words;
