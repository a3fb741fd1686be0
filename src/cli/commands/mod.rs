//! The commands, a file each: its arguments, what it does, and how it prints.

pub mod announce;
pub mod bug_report;
pub mod call;
pub mod capabilities;
pub mod completions;
pub mod demo;
pub mod describe;
pub mod doctor;
pub mod generate;
pub mod hooks;
pub mod init;
pub mod logs;
pub mod man;
pub mod mcp;
pub mod notes;
pub mod open;
pub mod peers;
pub mod recall;
pub mod remember;
pub mod serve;
pub mod status;
pub mod stop;
pub mod store;
pub mod sync;
pub mod validate;
