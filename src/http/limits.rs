//! The bounds of one HTTP server; [`Limits::default`] is the product's, tests set smaller ones.

use std::time::Duration;

use crate::floor::limits;

/// What a server lets its clients do.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once; links do not count.
    pub connections: usize,
    /// Connections past that, which are only told so.
    pub overflow: usize,
    /// What such a connection gets in all.
    pub overflow_time: Duration,
    /// Requests running at once.
    pub requests: usize,
    /// All header fields of one request.
    pub header_bytes: usize,
    /// Header fields of one request.
    pub header_count: usize,
    /// From the end of one request to the end of the next one's header; also what an idle connection gets.
    pub header_time: Duration,
    /// One body.
    pub body_bytes: usize,
    /// From the first byte of a body to its last.
    pub body_time: Duration,
    /// How long a client may take no byte of its answer.
    pub stall: Duration,
    /// Legacy MCP sessions.
    pub sessions: usize,
    /// Such a session without a request.
    pub session_expiry: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: limits::HTTP_CONNECTIONS,
            overflow: limits::HTTP_OVERFLOW,
            overflow_time: limits::HTTP_OVERFLOW_TIME,
            requests: limits::HTTP_REQUESTS,
            header_bytes: limits::HEADER_BYTES,
            header_count: limits::HEADER_COUNT,
            header_time: limits::SLOW_CLIENT,
            body_bytes: limits::FRAME_BYTES,
            body_time: limits::SLOW_CLIENT,
            stall: limits::SLOW_CLIENT,
            sessions: limits::SESSIONS,
            session_expiry: limits::SESSION_EXPIRY,
        }
    }
}
