//! Everything that is tested through real files and real processes, in one binary.

mod architecture;
mod launcher;
