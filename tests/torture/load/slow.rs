//! Clients that ask for much and read one byte a second, or nothing.

use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::time::Instant;

use super::bridge::Process;
use super::calls::Call;
use super::session::Place;
use super::{Common, think};
use crate::support::frames;

/// How fast a slow client reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// One byte a second.
    Slow,
    /// Not at all.
    Never,
}

/// Answers that one of them asks for, and their size: together more than any queue holds.
const ASKED: u64 = 64;
const BYTES: usize = 256 * 1024;
/// What a slow HTTP client's socket holds by itself.
const BUFFER: u32 = 4096;

/// A client on pipes that asks for everything at once.
pub(super) async fn bridge(common: Rc<Common>, number: usize, pace: Pace) {
    let mut process = Process::start(&common);
    let mut input = process.input.take().expect("piped");
    let mut output = process.output.take().expect("piped");
    let opening = Call {
        kind: "initialize",
        method: "initialize",
        params: frames::initialize(&format!("slow-{number}-{pace:?}"), frames::LEGACY),
    };
    let subscribing = Call {
        kind: "subscribe",
        method: "resources/subscribe",
        params: json!({ "uri": "majordomus://peers" }),
    };
    let asking = Call::tool("large", "conformance_large", &json!({ "bytes": BYTES }));
    let ask = async {
        let mut lines = opening.line(1);
        lines.extend(subscribing.line(2));
        lines.extend((0..ASKED).flat_map(|number| asking.line(3 + number)));
        // What does not fit waits here, and is not read by the other side either.
        drop(input.write_all(&lines).await);
        common.stop.cancelled().await;
    };
    let read = async {
        let mut byte = [0];
        while !common.stop.is_cancelled() {
            think(&common, Instant::now() + Duration::from_secs(1)).await;
            if pace == Pace::Slow {
                drop(output.read(&mut byte).await);
            }
        }
    };
    tokio::join!(ask, read);
}

/// A session that asks for something large again whenever the server has had enough of it. Each pauses for longer than the
/// one before: in step they would let go and ask again all at once, and what the owner holds would go up and down with them.
pub(super) async fn session(common: Rc<Common>, number: usize, pace: Pace) {
    let place = Place::of(&common);
    let asking = Call::tool("large", "conformance_large", &json!({ "bytes": 8 * BYTES }));
    let opening = Call {
        kind: "initialize",
        method: "initialize",
        params: frames::initialize(&format!("slow-session-{number}-{pace:?}"), frames::LEGACY),
    };
    let Some(head) = post(&place, None, &opening.line(1), &common, None).await else {
        return;
    };
    let Some(id) = head
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
    else {
        let what = format!("slow session {number} was not taken: {head}");
        return common.tally.breach(what);
    };
    while !common.stop.is_cancelled() {
        let begin = Instant::now();
        post(
            &place,
            Some(id.trim()),
            &asking.line(2),
            &common,
            Some(pace),
        )
        .await;
        // A second at least, whatever the server says.
        think(&common, begin + Duration::from_secs(1)).await;
        let pause = Duration::from_secs(number as u64);
        think(&common, Instant::now() + pause).await;
    }
}

/// Posts a frame and reads what comes at this pace until the connection ends; all at once where there is no pace.
async fn post(
    place: &Place,
    session: Option<&str>,
    body: &[u8],
    common: &Common,
    pace: Option<Pace>,
) -> Option<String> {
    let socket = TcpSocket::new_v4().ok()?;
    if pace.is_some() {
        socket.set_recv_buffer_size(BUFFER).ok()?;
    }
    let mut stream = socket.connect(place.address).await.ok()?;
    let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nConnection: close\r\n{session}Content-Length: {}\r\n\r\n",
        place.address,
        place.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.write_all(body).await.ok()?;
    let Some(pace) = pace else {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        return Some(String::from_utf8_lossy(&answer).into_owned());
    };
    let mut byte = [0];
    let begin = Instant::now();
    while !common.stop.is_cancelled() {
        think(common, Instant::now() + Duration::from_secs(1)).await;
        let read = match pace {
            Pace::Slow => stream.read(&mut byte).await,
            // Whoever does not read does not notice the end either: it gives up by itself after a minute.
            Pace::Never if begin.elapsed() > Duration::from_mins(1) => Ok(0),
            Pace::Never => Ok(1),
        };
        if !matches!(read, Ok(1..)) {
            return None;
        }
    }
    None
}
