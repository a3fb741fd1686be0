//! One line of the link: `<seq> <verb> <raw JSON>\n`, both ways.
//!
//! The sequence number and the verb are minted by the two ends, never by a client: a client's bytes only ever stand
//! behind them, and a frame holds no newline, so no client can forge a control line.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use crate::floor::jsonrpc::Frame;
use crate::floor::limits::{BUFFER_KEPT_BYTES, FRAME_BYTES};

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Bridge to host, first: nonce and link version.
    Hello,
    /// Host to bridge: nonce, proof of the token, instance, root id.
    Proof,
    /// Bridge to host: proof of the token and who this peer is.
    Auth,
    /// Host to bridge: attached.
    Welcome,
    /// Host to bridge: not attached, and why.
    Refuse,
    /// Bridge to host: a client's frame, for the first time.
    Frame,
    /// Bridge to host: a client's frame that an earlier owner may have run (I6).
    Resend,
    /// Bridge to host: a retained frame, to rebuild soft state; gets no answer.
    Replay,
    /// Bridge to host: soft state is complete; what follows is the ledger and new frames.
    Replayed,
    /// Bridge to host: the answer to this seq has reached the client; its once-key can go.
    Ack,
    /// Bridge to host: this seq was cancelled; it gets no answer.
    Cancel,
    /// Host to bridge: the one answer to this seq.
    Answer,
    /// Host to bridge: a message from the server to the client, about this seq (0: about none).
    Event,
    /// Host to bridge: keep this seq's frame under a slot, in place of what the slot held.
    Keep,
    /// Host to bridge: empty a slot.
    Forget,
    /// Host to bridge: the answer to this seq wants an [`Verb::Ack`].
    Receipt,
    /// Either way: are you there?
    Ping,
    /// Either way: I am.
    Pong,
    /// Host to bridge: I am leaving; this seq is the last that I took.
    Drain,
    /// Host to bridge: end in order, there will be no other owner (`stop --all`).
    End,
}

/// Verbs and their words, the only place where the two meet.
const WORDS: [(Verb, &str); 20] = [
    (Verb::Hello, "hello"),
    (Verb::Proof, "proof"),
    (Verb::Auth, "auth"),
    (Verb::Welcome, "welcome"),
    (Verb::Refuse, "refuse"),
    (Verb::Frame, "frame"),
    (Verb::Resend, "resend"),
    (Verb::Replay, "replay"),
    (Verb::Replayed, "replayed"),
    (Verb::Ack, "ack"),
    (Verb::Cancel, "cancel"),
    (Verb::Answer, "answer"),
    (Verb::Event, "event"),
    (Verb::Keep, "keep"),
    (Verb::Forget, "forget"),
    (Verb::Receipt, "receipt"),
    (Verb::Ping, "ping"),
    (Verb::Pong, "pong"),
    (Verb::Drain, "drain"),
    (Verb::End, "end"),
];

impl Verb {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        WORDS
            .iter()
            .find(|(verb, _)| *verb == self)
            .map_or("", |(_, word)| word)
    }

    fn parse(word: &[u8]) -> Option<Self> {
        WORDS
            .iter()
            .find(|(_, known)| known.as_bytes() == word)
            .map(|(verb, _)| *verb)
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Minted by the bridge, one a frame; 0 where the line is about no frame.
    pub seq: u64,
    /// What it is about.
    pub verb: Verb,
    /// One JSON text without a newline.
    pub json: Bytes,
    /// What the sender has parsed already of a frame; it never leaves the process.
    pub frame: Option<Frame>,
}

/// Why bytes are no line; the link is closed, since its two ends no longer agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Longer than a frame may be.
    #[error("a link line is longer than a frame may be")]
    TooLong,
    /// No number, no known verb, or nothing behind them.
    #[error("a link line has no known form")]
    Malformed,
}

impl Line {
    /// A line about `seq`.
    #[must_use]
    pub fn new(seq: u64, verb: Verb, json: impl Into<Bytes>) -> Self {
        Self {
            seq,
            verb,
            json: json.into(),
            frame: None,
        }
    }

    /// A line that carries a client's frame.
    #[must_use]
    pub fn carry(seq: u64, verb: Verb, frame: Frame) -> Self {
        Self {
            seq,
            verb,
            json: frame.raw().clone(),
            frame: Some(frame),
        }
    }

    /// A line that says nothing but its verb.
    #[must_use]
    pub fn bare(seq: u64, verb: Verb) -> Self {
        Self {
            seq,
            verb,
            json: Bytes::from_static(b"{}"),
            frame: None,
        }
    }

    /// Appends the line with its newline.
    pub fn encode(&self, into: &mut BytesMut) {
        let head = format!("{} {} ", self.seq, self.verb.as_str());
        into.reserve(head.len() + self.json.len() + 1);
        into.put_slice(head.as_bytes());
        into.put_slice(&self.json);
        into.put_u8(b'\n');
    }

    /// Bytes that the line takes in a queue.
    #[must_use]
    pub fn cost(&self) -> usize {
        self.json.len() + 32
    }

    /// Reads a line without its newline.
    ///
    /// # Errors
    /// [`LineError::Malformed`].
    pub fn parse(line: &Bytes) -> Result<Self, LineError> {
        let mut parts = line.splitn(3, |byte| *byte == b' ');
        let seq = parts.next().and_then(|part| std::str::from_utf8(part).ok());
        let seq = seq
            .and_then(|part| part.parse().ok())
            .ok_or(LineError::Malformed)?;
        let verb = parts
            .next()
            .and_then(Verb::parse)
            .ok_or(LineError::Malformed)?;
        let json = parts.next().ok_or(LineError::Malformed)?;
        Ok(Self {
            seq,
            verb,
            json: line.slice_ref(json),
            frame: None,
        })
    }
}

/// Room for one read, in bytes.
const ROOM: usize = 8 * 1024;
/// Up to so many bytes a line is copied out of the buffer, which is then used again; a longer one takes the buffer with it.
const COPIED: usize = 4 * 1024;

/// Gives back the memory of a buffer that is empty again and was large: a thousand links would each keep as much as their
/// largest line took.
pub fn slim(buffer: &mut BytesMut) {
    // A buffer counts what it has in front of its bytes only when it is asked to take that back.
    if buffer.is_empty() && buffer.try_reclaim(BUFFER_KEPT_BYTES + 1) {
        *buffer = BytesMut::new();
    }
}

/// Cuts a stream of bytes into lines of bounded length.
///
/// Used for the link, whose lines are frames with a head, and for stdio, whose lines are frames.
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// How much of the buffer is known to hold no newline.
    searched: usize,
    /// The rest of an overlong line is being thrown away.
    skipping: bool,
    limit: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::bounded(FRAME_BYTES + 64)
    }
}

impl Lines {
    /// Cuts lines of at most `limit` bytes.
    #[must_use]
    pub fn bounded(limit: usize) -> Self {
        Self {
            buffer: BytesMut::with_capacity(ROOM),
            searched: 0,
            skipping: false,
            limit,
        }
    }

    /// Where a reader puts what it read.
    pub fn buffer(&mut self) -> &mut BytesMut {
        slim(&mut self.buffer);
        self.buffer.reserve(ROOM);
        &mut self.buffer
    }

    /// Takes the next whole line, without its newline; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`LineError::TooLong`], once per overlong line, whose rest is then skipped in bounded memory.
    pub fn cut(&mut self) -> Result<Option<Bytes>, LineError> {
        loop {
            let newline = memchr::memchr(b'\n', &self.buffer[self.searched..]);
            match newline {
                Some(at) => {
                    let length = self.searched + at;
                    self.searched = 0;
                    let skipped = std::mem::take(&mut self.skipping);
                    if skipped || length > self.limit {
                        self.buffer.advance(length + 1);
                    }
                    if skipped {
                        continue;
                    }
                    return if length > self.limit {
                        Err(LineError::TooLong)
                    } else {
                        Ok(Some(self.take(length)))
                    };
                }
                None if self.skipping => {
                    self.buffer.clear();
                    self.searched = 0;
                    return Ok(None);
                }
                None if self.buffer.len() > self.limit => {
                    self.skipping = true;
                    self.buffer.clear();
                    self.searched = 0;
                    // A fresh buffer gives the overlong line's memory back.
                    self.buffer = BytesMut::with_capacity(ROOM);
                    return Err(LineError::TooLong);
                }
                None => {
                    self.searched = self.buffer.len();
                    return Ok(None);
                }
            }
        }
    }

    /// Takes a line of `length` bytes off the buffer, and the newline behind it. Whoever holds the line holds its own
    /// bytes and not the buffer that it came in, so what is counted for it is what it takes; unless so much stands behind
    /// it that copying that would cost more.
    fn take(&mut self, length: usize) -> Bytes {
        if length <= COPIED {
            let line = Bytes::copy_from_slice(&self.buffer[..length]);
            self.buffer.advance(length + 1);
            return line;
        }
        let line = self.buffer.split_to(length).freeze();
        self.buffer.advance(1);
        if self.buffer.len() <= ROOM {
            let mut rest = BytesMut::with_capacity(ROOM);
            rest.extend_from_slice(&self.buffer);
            self.buffer = rest;
        }
        line
    }

    /// What is left at the end of the stream: a last line without a newline, or nothing.
    pub fn rest(&mut self) -> Bytes {
        self.searched = 0;
        let all = self.buffer.remaining();
        if self.skipping {
            Bytes::new()
        } else {
            self.buffer.split_to(all).freeze()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COPIED, Line, LineError, Lines, ROOM, WORDS, slim};
    use crate::floor::limits::BUFFER_KEPT_BYTES;
    use bytes::{Buf as _, Bytes, BytesMut};

    /// Guards I15.
    #[test]
    fn a_buffer_that_is_empty_again_keeps_a_small_part_of_what_it_took() {
        let keeps = |taken: usize| {
            let mut buffer = BytesMut::with_capacity(taken);
            buffer.resize(taken, b'x');
            buffer.advance(taken);
            slim(&mut buffer);
            buffer.try_reclaim(taken)
        };
        assert!(keeps(BUFFER_KEPT_BYTES), "a small one is used again");
        assert!(!keeps(BUFFER_KEPT_BYTES + 1));
        let mut lines = Lines::default();
        lines.buffer().resize(1024 * 1024, b'x');
        lines.buffer().extend_from_slice(b"\nrest");
        drop(lines.cut().unwrap().unwrap());
        assert_eq!(lines.buffer().split(), "rest");
        assert!(!lines.buffer().try_reclaim(BUFFER_KEPT_BYTES + 1));
    }

    #[test]
    fn a_line_holds_its_own_memory_and_no_other() {
        let mut lines = Lines::default();
        for length in [1, COPIED, COPIED + 1, 4 * ROOM] {
            let mut text = vec![b'a'; length];
            text.extend_from_slice(b"\nrest");
            lines.buffer().extend_from_slice(&text);
            let line = lines.cut().unwrap().unwrap();
            assert_eq!(line.len(), length);
            assert!(line.is_unique(), "{length} bytes share their memory");
            assert_eq!(&lines.rest()[..], b"rest");
        }
    }

    #[test]
    fn every_verb_survives_the_wire() {
        for (verb, _) in WORDS {
            let line = Line::new(7, verb, Bytes::from_static(br#"{"a":" b "}"#));
            let mut bytes = BytesMut::new();
            line.encode(&mut bytes);
            let mut lines = Lines::default();
            lines.buffer().extend_from_slice(&bytes);
            let cut = lines.cut().unwrap().unwrap();
            assert_eq!(Line::parse(&cut).unwrap(), line);
        }
    }

    #[test]
    fn a_line_without_a_known_form_is_refused() {
        for text in [
            "",
            "1",
            "1 frame",
            "x frame {}",
            "1 shout {}",
            "-1 frame {}",
        ] {
            let line = Bytes::copy_from_slice(text.as_bytes());
            assert_eq!(Line::parse(&line), Err(LineError::Malformed), "{text}");
        }
    }

    /// Guards I15.
    #[test]
    fn an_overlong_line_is_named_once_and_the_next_one_is_read() {
        let mut lines = Lines::bounded(10);
        lines.buffer().extend_from_slice(b"0123456789\n");
        assert_eq!(lines.cut().unwrap().unwrap(), "0123456789");
        lines.buffer().extend_from_slice(b"0123456789a");
        assert_eq!(lines.cut(), Err(LineError::TooLong));
        lines.buffer().extend_from_slice(b"more of it");
        assert_eq!(lines.cut(), Ok(None));
        lines.buffer().extend_from_slice(b"end\nshort\nhalf");
        assert_eq!(lines.cut().unwrap().unwrap(), "short");
        assert_eq!(lines.cut(), Ok(None));
        assert_eq!(lines.rest(), "half");
    }
}
