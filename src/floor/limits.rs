//! Every bound of the product in one table (I15). The reference prints [`TABLE`]; each row has a test at its edge.

use std::time::Duration;

/// A link handshake, from connect to welcome.
pub const LINK_HANDSHAKE: Duration = Duration::from_millis(100);
/// How long `initialize`, discovery and lists wait for an owner before the compiled registry answers.
pub const FIRST_ANSWER: Duration = Duration::from_millis(250);
/// How long a call waits for an owner before this process serves alone; while an owner drains there still is one, so its
/// [`DRAIN`] comes on top.
pub const CALL_WITHOUT_OWNER: Duration = Duration::from_secs(2);
/// How long a connection may take to become a link where its client's patience, [`LINK_HANDSHAKE`], is not known.
pub const LINK_STRANGER: Duration = Duration::from_secs(3);
/// Silence on a link, while a request waits, after which its owner counts as stalled.
pub const STALLED: Duration = Duration::from_secs(1);
/// From a signal to the release of the lease.
pub const RELEASE: Duration = Duration::from_millis(50);
/// What running calls get of [`RELEASE`] before they are left to the ledger.
pub const RELEASE_TASKS: Duration = Duration::from_millis(30);
/// From the end of the client's input to the end of the process.
pub const DRAIN: Duration = Duration::from_secs(2);
/// What the last lines of a draining link get at least.
pub const LAST_LINES: Duration = Duration::from_millis(15);
/// How long frames of one link are started before others have their turn.
pub const TURN: Duration = Duration::from_millis(5);
/// How often an owner may die abnormally with the same request in flight before the client is told.
pub const DEATHS: u8 = 2;
/// How long `peers.*` wait for the peers last known after a takeover.
pub const SETTLE: Duration = Duration::from_millis(100);
/// How long a client may stay silent before its process stands for election anyway.
pub const SILENT_CLIENT: Duration = Duration::from_millis(300);
/// One JSON-RPC frame or HTTP body, in bytes.
pub const FRAME_BYTES: usize = 16 * 1024 * 1024;
/// Frames of one client that wait at its bridge, in bytes, past which its input is not read.
pub const WAITING_BYTES: usize = 2 * FRAME_BYTES;
/// All header fields of one HTTP request, in bytes.
pub const HEADER_BYTES: usize = 64 * 1024;
/// Header fields of one HTTP request.
pub const HEADER_COUNT: usize = 100;
/// HTTP connections at once; links do not count.
pub const HTTP_CONNECTIONS: usize = 512;
/// Connections past that, which get the liveness probe or "busy" and are closed.
pub const HTTP_OVERFLOW: usize = 64;
/// What such a connection gets in all.
pub const HTTP_OVERFLOW_TIME: Duration = Duration::from_secs(2);
/// HTTP requests running at once.
pub const HTTP_REQUESTS: usize = 256;
/// What a client gets to send a header, to send a body, or to take the next byte of an answer.
pub const SLOW_CLIENT: Duration = Duration::from_secs(30);
/// When an HTTP answer that is not ready becomes a stream: clients give up on a header that does not come.
pub const STREAM_AFTER: Duration = Duration::from_secs(1);
/// How long a connection that is closed goes on reading, so that its client gets to read the answer.
pub const LINGER: Duration = Duration::from_secs(1);
/// What it reads meanwhile, in bytes.
pub const LINGER_BYTES: usize = 64 * 1024 * 1024;
/// How often a silent stream says that it is there.
pub const STREAM_BEAT: Duration = Duration::from_secs(15);
/// A sign-in code that nobody used.
pub const SIGN_IN_CODE: Duration = Duration::from_mins(2);
/// Such codes at once; past it the oldest one goes.
pub const SIGN_IN_CODES: usize = 64;
/// A page's token without renewal.
pub const PAGE_TOKEN: Duration = Duration::from_hours(1);
/// A page's renewals after one sign-in.
pub const PAGE_SIGN_IN: Duration = Duration::from_hours(12);
/// Nesting of one JSON text.
pub const JSON_DEPTH: usize = 128;
/// Bytes waiting to be sent to one peer, past which it is not read.
pub const OUTBOUND_BYTES: usize = 4 * 1024 * 1024;
/// What the buffer of a connection keeps of its size while it is empty, in bytes.
pub const BUFFER_KEPT_BYTES: usize = 16 * 1024;
/// How long what was said on a legacy session's stream stays for a client whose connection broke.
pub const STREAM_KEPT: Duration = Duration::from_mins(5);
/// What stays in this way over all sessions, in bytes.
pub const STREAMS_KEPT_BYTES: usize = 64 * 1024 * 1024;
/// Legacy HTTP sessions of one server.
pub const SESSIONS: usize = 4096;
/// Requests that one peer may have running at once.
pub const CALLS_PER_PEER: usize = 256;
/// What `initialize` declares that a client can do, in bytes, of which all is remembered.
pub const CLIENT_ABILITIES_BYTES: usize = 8 * 1024;
/// An HTTP session without a request.
pub const SESSION_EXPIRY: Duration = Duration::from_hours(24);
/// Items of one page of a list.
pub const PAGE: usize = 100;
/// Values of one completion. *Source:* MCP `server/utilities/completion`.
pub const COMPLETIONS: usize = 100;
/// Listens that one client may have open; each costs a look at every piece of news.
pub const LISTENS: usize = 64;
/// Pieces of news that wait for a slow reader before it is told that it lagged; it then treats everything that it asked
/// about as changed.
pub const NEWS_WAITING: usize = 256;
/// Between two pieces of news to one listener, for each listener that there is: all of them together then hear a thousand
/// a second.
pub const NEWS_APART: Duration = Duration::from_millis(1);
/// Questions to one client that may be open.
pub const QUESTIONS: usize = 64;
/// A question to a client without an answer.
pub const QUESTION: Duration = Duration::from_hours(24);
/// How old a session id may be for the next owner to take it over.
pub const SESSION_ADOPTION: Duration = Duration::from_hours(7 * 24);
/// How long after its last call an HTTP peer still counts as life.
pub const HTTP_LIFE: Duration = Duration::from_mins(10);
/// A host that does not answer its watchdog, in the watchdog's own ticks.
pub const WATCHDOG: Duration = Duration::from_secs(10);
/// How long the preferred port is tried again beside the work.
pub const PORT_RETRY: Duration = Duration::from_secs(10);
/// An unacknowledged once-key.
pub const ONCE_KEY: Duration = Duration::from_hours(24);
/// A client's own key for a command, in characters.
pub const IDEMPOTENCY_KEY_CHARS: usize = 255;
/// How long a call waits for the team's remote.
pub const NOTES_WAIT: Duration = Duration::from_secs(20);
/// How long the notes of one call may take on their way to the team's remote.
pub const NOTES_SENT: Duration = Duration::from_mins(10);
/// How long a process that ends waits for what its client's stores send last, its lease being released.
pub const STORES_LAST: Duration = Duration::from_secs(2);
/// How far apart the questions are that reading notes asks the team's remote.
pub const NOTES_APART: Duration = Duration::from_mins(1);
/// How far apart they are at most where the remote goes on failing.
pub const NOTES_APART_MOST: Duration = Duration::from_mins(15);
/// One line of intent, in characters.
pub const INTENT_CHARS: usize = 200;
/// Paths and globs of one announcement.
pub const SCOPE_ENTRIES: usize = 64;
/// One path or glob of an announcement, in characters.
pub const SCOPE_CHARS: usize = 512;
/// Labels under which one peer announces.
pub const LABELS: usize = 32;
/// All announcements on a board together, in bytes.
pub const BOARD_BYTES: usize = 8 * 1024 * 1024;
/// Peers that one answer shows.
pub const PEERS_SHOWN: usize = 500;
/// Announcements that one answer shows, in bytes.
pub const PEERS_SHOWN_BYTES: usize = 1024 * 1024;
/// Others that a greeting names one by one.
pub const PEERS_NAMED: usize = 5;
/// Pairs of entries that one answer compares: some milliseconds' worth.
pub const COMPARISONS: usize = 1_000_000;
/// Collisions that one answer names.
pub const COLLISIONS: usize = 100;
/// Paths and intents of the collisions that one answer names, in bytes.
pub const COLLISIONS_BYTES: usize = 16 * 1024;
/// How long a peer whose link broke, or who was here before a change of owner, may take to come back.
pub const COME_BACK: Duration = Duration::from_secs(5);
/// A label, a client's name or a client's version, in characters.
pub const LABEL_CHARS: usize = 64;

/// One row of the reference's limits table.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// What is bounded.
    pub what: &'static str,
    /// The bound, with its unit.
    pub bound: &'static str,
    /// What happens past it.
    pub past: &'static str,
}

/// The limits as the reference prints them.
pub const TABLE: &[Limit] = &[
    Limit {
        what: "link handshake",
        bound: "100 ms",
        past: "the bridge looks again",
    },
    Limit {
        what: "first answer to handshake frames",
        bound: "250 ms",
        past: "answered from the compiled registry",
    },
    Limit {
        what: "call without an owner",
        bound: "2 s",
        past: "served alone, and said so; behind an owner that drains, its drain comes on top",
    },
    Limit {
        what: "silence of an owner while a request waits",
        bound: "1 s",
        past: "stalled: safe calls are answered alone",
    },
    Limit {
        what: "release after a signal",
        bound: "50 ms",
        past: "unfinished requests belong to the ledger",
    },
    Limit {
        what: "drain after the end of input",
        bound: "2 s",
        past: "unfinished requests belong to the ledger",
    },
    Limit {
        what: "wait for the peers last known",
        bound: "100 ms",
        past: "`complete: false`",
    },
    Limit {
        what: "frame or body",
        bound: "16 MiB",
        past: "-32600, HTTP 413",
    },
    Limit {
        what: "HTTP header",
        bound: "64 KiB, 100 fields",
        past: "HTTP 431",
    },
    Limit {
        what: "HTTP connections at once, links apart",
        bound: "512",
        past: "the longest idle one is closed, else HTTP 503",
    },
    Limit {
        what: "links at once",
        bound: "the open files that the owner may have (`ulimit -Hn`)",
        past: "the newcomer is served alone, and told so, until there is a place",
    },
    Limit {
        what: "HTTP requests at once",
        bound: "256",
        past: "HTTP 503, `Retry-After: 1`",
    },
    Limit {
        what: "sending an HTTP header",
        bound: "30 s",
        past: "the connection is closed",
    },
    Limit {
        what: "sending an HTTP body",
        bound: "30 s",
        past: "HTTP 408",
    },
    Limit {
        what: "taking the next byte of an answer",
        bound: "30 s",
        past: "the connection is closed",
    },
    Limit {
        what: "answer over HTTP that is not ready",
        bound: "1 s",
        past: "it becomes a stream",
    },
    Limit {
        what: "silence of a stream",
        bound: "15 s",
        past: "a comment is sent",
    },
    Limit {
        what: "sign-in codes at once",
        bound: "64",
        past: "the oldest one goes",
    },
    Limit {
        what: "sign-in code",
        bound: "2 min, one use",
        past: "HTTP 401",
    },
    Limit {
        what: "token of a page",
        bound: "1 h, renewed for 12 h",
        past: "HTTP 401",
    },
    Limit {
        what: "JSON depth",
        bound: "128",
        past: "-32700, HTTP 400",
    },
    Limit {
        what: "bytes waiting for one peer",
        bound: "4 MiB",
        past: "that peer is not read",
    },
    Limit {
        what: "calls of one peer at once",
        bound: "256",
        past: "that peer is not read; a session over HTTP gets 503",
    },
    Limit {
        what: "what was said on a stream, for who comes back",
        bound: "5 min, 64 MiB over all sessions",
        past: "the oldest is forgotten",
    },
    Limit {
        what: "HTTP sessions",
        bound: "4,096",
        past: "HTTP 503",
    },
    Limit {
        what: "HTTP session without a request",
        bound: "24 h",
        past: "HTTP 404",
    },
    Limit {
        what: "capabilities that a client declares for its session",
        bound: "8 KiB",
        past: "those that this server asks for are remembered, without their details",
    },
    Limit {
        what: "page of a list",
        bound: "100 items",
        past: "`nextCursor`",
    },
    Limit {
        what: "values that complete an argument",
        bound: "100",
        past: "`hasMore`",
    },
    Limit {
        what: "listens of one client open at once",
        bound: "64",
        past: "-32600",
    },
    Limit {
        what: "news to all that listen together",
        bound: "1,000 a second; the first after a silence at once",
        past: "told later, once for all that changed meanwhile",
    },
    Limit {
        what: "questions to one client open at once",
        bound: "64",
        past: "unavailable",
    },
    Limit {
        what: "question to a client without an answer",
        bound: "24 h, or the end of its HTTP session",
        past: "unavailable",
    },
    Limit {
        what: "age of a session that the next owner takes over",
        bound: "7 days",
        past: "HTTP 404",
    },
    Limit {
        what: "life after an HTTP peer's last call",
        bound: "10 min",
        past: "the owner may end",
    },
    Limit {
        what: "host that does not answer its watchdog",
        bound: "10 s of ticks",
        past: "demoted",
    },
    Limit {
        what: "preferred port taken",
        bound: "10 s of retries",
        past: "a free port is kept",
    },
    Limit {
        what: "once-key",
        bound: "until acknowledged, 24 h",
        past: "forgotten",
    },
    Limit {
        what: "`Idempotency-Key`",
        bound: "255 characters",
        past: "HTTP 400",
    },
    Limit {
        what: "intent",
        bound: "200 characters",
        past: "invalid_input",
    },
    Limit {
        what: "scope",
        bound: "64 entries",
        past: "invalid_input",
    },
    Limit {
        what: "path or glob",
        bound: "512 characters",
        past: "invalid_input",
    },
    Limit {
        what: "labels of one peer",
        bound: "32",
        past: "invalid_input",
    },
    Limit {
        what: "all announcements together",
        bound: "8 MiB",
        past: "unavailable",
    },
    Limit {
        what: "peers shown in one answer",
        bound: "500, with 1 MiB of announcements",
        past: "`omitted` counts the rest",
    },
    Limit {
        what: "peers named in a greeting",
        bound: "5",
        past: "the rest is counted",
    },
    Limit {
        what: "collisions named in one answer",
        bound: "100, with 16 KiB of paths and intents",
        past: "`omitted` counts the rest",
    },
    Limit {
        what: "return of a peer whose link broke",
        bound: "5 s",
        past: "the peer is gone",
    },
    Limit {
        what: "label",
        bound: "64 characters",
        past: "invalid_input",
    },
];
