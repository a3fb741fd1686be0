//! What passes through a bridge: the client's frames one way, the server's lines the other.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Bridge;
use super::batches::Parting;
use super::ledger::Receipt;
use crate::floor::jsonrpc::{Frame, Id, Kind};
use crate::floor::limits::{DRAIN, OUTBOUND_BYTES};
use crate::link::line::{Line, Verb};
use crate::mcp::batch::{self, Answers};
use crate::mcp::{Revision, failure};

impl Bridge {
    pub(super) fn on_input(&mut self, line: Bytes) {
        match Frame::parse(line) {
            Ok(frame) => self.on_frame(frame),
            Err(error) => self.output.queue(&error.answer()),
        }
    }

    fn on_frame(&mut self, frame: Frame) {
        match frame.kind() {
            Kind::Request { id, .. } => {
                self.on_request(&frame, id);
            }
            Kind::Notification { method } if &**method == "notifications/cancelled" => {
                self.on_cancelled(&frame);
            }
            Kind::Notification { .. } | Kind::Response { .. } => {
                // Nobody waits for these, so while they cannot be sent there is nobody to keep them for either.
                let line = Line::carry(self.ledger.mint(), Verb::Frame, frame);
                if self
                    .link
                    .as_ref()
                    .is_some_and(|link| !link.writer.is_full())
                {
                    self.send(line);
                }
            }
            Kind::Batch(items) => self.on_batch(items),
        }
    }

    /// Enters a request; returns its seq.
    fn on_request(&mut self, frame: &Frame, id: &Id) -> u64 {
        if !self.ledger.is_waiting() && !self.draining {
            // Silence counts from the moment at which somebody waits.
            self.watch.heard();
        }
        let seq = self.ledger.enter(frame, id);
        tracing::trace!(seq, method = frame.method(), "frame");
        self.note_client(frame);
        seq
    }

    /// Takes a batch apart: its requests go their own ways, and their answers leave together.
    fn on_batch(&mut self, items: &[Bytes]) {
        let spoken = self
            .identity
            .now()
            .revision
            .as_deref()
            .and_then(Revision::parse);
        if let Some(error) = batch::objection(spoken) {
            return self.output.queue(&error.answer());
        }
        let (mut requests, mut others) = (Vec::new(), Vec::new());
        let mut answers = Answers::default();
        for item in items {
            // A copy: one item that is kept must not keep the whole line.
            match batch::item(Bytes::copy_from_slice(item), requests.len()) {
                Ok(frame) => match frame.kind() {
                    Kind::Request { id, .. } => {
                        requests.push((self.on_request(&frame, id), id.clone()));
                    }
                    _ => others.push(frame),
                },
                Err(error) => answers.push(error.id.as_ref(), &error.answer()),
            }
        }
        if let Some(whole) = self.batches.begin(requests, answers) {
            self.output.queue(&whole);
        }
        // One of them may cancel a request of this very batch.
        for frame in others {
            self.on_frame(frame);
        }
    }

    /// Gives the client the answer to `seq`, with the rest of its batch if it came in one.
    pub(super) fn deliver(&mut self, seq: u64, answer: &Bytes) {
        match self.batches.answered(seq, answer) {
            Parting::Alone => self.output.queue(answer),
            Parting::Waits => {}
            Parting::Whole(batch) => self.output.queue(&batch),
        }
    }

    fn on_cancelled(&mut self, frame: &Frame) {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow)]
            params: Params<'a>,
        }
        #[derive(Deserialize)]
        struct Params<'a> {
            // As the client spelled it, like the id that it names.
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        let Ok(cancelled) = serde_json::from_slice::<Cancelled<'_>>(frame.raw()) else {
            return;
        };
        if let Some(seq) = self.ledger.cancel(cancelled.params.id.get()) {
            self.send(Line::bare(seq, Verb::Cancel));
            if let Some(batch) = self.batches.cancelled(seq) {
                self.output.queue(&batch);
            }
        }
    }

    pub(super) fn on_line(&mut self, line: &Line) {
        // After a drain has begun only the end of the link is waited for, in a time of its own.
        if !self.draining {
            self.watch.heard();
        }
        match line.verb {
            Verb::Answer => self.on_answer(line),
            Verb::Event => self.on_event(line),
            Verb::Keep | Verb::Forget => {
                #[derive(Deserialize)]
                struct Body {
                    slot: String,
                }
                match serde_json::from_slice::<Body>(&line.json) {
                    Ok(body) if line.verb == Verb::Keep => self.ledger.keep(line.seq, body.slot),
                    Ok(body) => self.ledger.forget(&body.slot),
                    Err(_) => self.on_link_end("a control line has no known form"),
                }
            }
            Verb::Receipt => self.ledger.wants_receipt(line.seq),
            Verb::Ping => self.send(Line::bare(0, Verb::Pong)),
            Verb::Pong => {}
            Verb::Drain => {
                self.draining = true;
                self.watch.grant(DRAIN);
                self.ledger.drained(line.seq);
            }
            Verb::End => {
                for (seq, answer) in self.ledger.abandon(failure::STOPPED) {
                    self.deliver(seq, &answer);
                }
                self.input_ended = Some(Instant::now());
            }
            _ => self.on_link_end("a line that no server sends"),
        }
    }

    fn on_answer(&mut self, line: &Line) {
        // A cancelled request's late answer is nobody's.
        let Some(answered) = self.ledger.answered(line.seq) else {
            return;
        };
        if let Some(link) = &self.link {
            self.identity.saw(&link.digest);
        }
        if answered.initialize {
            self.note_revision(&line.json);
        }
        self.deliver(line.seq, &line.json);
        if answered.receipt == Receipt::Wanted {
            self.send(Line::bare(line.seq, Verb::Ack));
        }
    }

    fn on_event(&mut self, line: &Line) {
        #[derive(Deserialize)]
        struct Event<'a> {
            #[serde(borrow)]
            method: &'a str,
            #[serde(borrow)]
            params: &'a RawValue,
        }
        #[derive(Deserialize)]
        struct Progress {
            progress: f64,
        }
        if line.seq != 0 {
            if !self.ledger.is_pending(line.seq) {
                return;
            }
            let event = serde_json::from_slice::<Event<'_>>(&line.json).ok();
            let fresh = event.is_none_or(|event| match event.method {
                "notifications/progress" => {
                    let progress = serde_json::from_str::<Progress>(event.params.get());
                    progress.is_ok_and(|said| self.ledger.progressed(line.seq, said.progress))
                }
                "notifications/subscriptions/acknowledged" => self.ledger.acknowledged(line.seq),
                _ => true,
            });
            if !fresh {
                return;
            }
        }
        self.output.queue(&line.json);
    }

    /// Remembers who the client says it is, for the next owner's handshake: a modern client says it with each request
    /// and replays nothing.
    fn note_client(&mut self, frame: &Frame) {
        let discovers = frame.method() == Some("server/discover");
        let opens = frame.revision().is_some() || frame.method() == Some("initialize");
        if discovers || !opens || self.identity.now().client.is_some() {
            return;
        }
        let params = frame.params();
        let modern = params.pointer("/_meta/io.modelcontextprotocol~1clientInfo");
        let info = modern
            .or_else(|| params.get("clientInfo"))
            .cloned()
            .unwrap_or_default();
        self.identity
            .introduced(serde_json::from_value(info).unwrap_or_default());
    }

    fn note_revision(&mut self, answer: &Bytes) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Opened {
            protocol_version: String,
        }
        #[derive(Deserialize)]
        struct Answer {
            result: Opened,
        }
        if let Ok(answer) = serde_json::from_slice::<Answer>(answer) {
            self.identity.negotiated(&answer.result.protocol_version);
        }
    }

    /// Whether something can go over the link now.
    pub(super) fn sends(&self) -> bool {
        !self.draining && !self.write_broken
    }

    /// Sends every request that no owner has, if there is an owner that takes it.
    pub(super) fn send_unsent(&mut self) {
        if !self.sends() || !self.ledger.has_unsent() || self.output.pending() > OUTBOUND_BYTES {
            return;
        }
        let Some(link) = &mut self.link else { return };
        if link.writer.is_full() {
            return;
        }
        for line in self.ledger.unsent() {
            link.writer.queue(line);
        }
    }

    fn send(&mut self, line: Line) {
        if self.sends()
            && let Some(link) = &mut self.link
        {
            link.writer.queue(line);
        }
    }
}
