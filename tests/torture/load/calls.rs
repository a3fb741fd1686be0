//! What a client under load asks for.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::frames;
use crate::support::random::Random;

/// One request.
#[derive(Debug)]
pub(super) struct Call {
    /// Under what its time is counted.
    pub(super) kind: &'static str,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

/// Bytes of a large answer.
const LARGE: usize = 128 * 1024;

impl Call {
    /// A call of a tool.
    pub(super) fn tool(kind: &'static str, tool: &str, arguments: &Value) -> Self {
        Self {
            kind,
            method: "tools/call",
            params: frames::call(tool, arguments),
        }
    }

    /// The mix: mostly small, some that look at everybody, some that everybody hears of.
    pub(super) fn next(random: &mut Random) -> Self {
        match random.below(100) {
            0..30 => Self {
                kind: "ping",
                method: "ping",
                params: json!({}),
            },
            30..65 => Self::tool("safe", "conformance_safe", &json!({})),
            65..83 => Self::tool(
                "echo",
                "conformance_echo",
                &json!({ "value": random.below(1000) }),
            ),
            83..88 => Self::tool("peers", "majordomus_peers", &json!({})),
            88..93 => Self::announce(random),
            _ => Self::tool("large", "conformance_large", &json!({ "bytes": LARGE })),
        }
    }

    fn announce(random: &mut Random) -> Self {
        let scope = [
            format!("src/part-{}/**", random.below(5000)),
            format!("docs/page-{}.md", random.below(5000)),
        ];
        let intent = format!("change number {}", random.next());
        Self::tool(
            "announce",
            "majordomus_announce",
            &json!({ "intent": intent, "scope": scope }),
        )
    }

    /// The request's line.
    pub(super) fn line(&self, id: u64) -> Vec<u8> {
        let mut line = frames::request(&json!(id), self.method, &self.params)
            .to_string()
            .into_bytes();
        line.push(b'\n');
        line
    }
}

/// How long clients think between two calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thinking {
    least: usize,
}

impl Thinking {
    /// Two to five seconds each for many clients; for few ones less, so that they are a load at all.
    pub(super) fn of(clients: usize) -> Self {
        Self {
            least: clients.clamp(200, 2000),
        }
    }

    /// One of these times.
    pub(super) fn next(self, random: &mut Random) -> Duration {
        let milliseconds = self.least + random.below(self.least * 3 / 2);
        Duration::from_millis(milliseconds as u64)
    }

    /// The time before a client's first call.
    pub(super) fn first(self, random: &mut Random) -> Duration {
        Duration::from_millis(random.below(self.least * 5 / 2) as u64)
    }
}
