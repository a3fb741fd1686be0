//! What a session says beside its answers, until its link has room for it.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use crate::bridge::wire::Writer;
use crate::link::line::{Line, Verb};
use crate::mcp::{Message, Outbound};

/// The messages of one session.
#[derive(Debug)]
pub(super) struct Messages {
    said: mpsc::UnboundedReceiver<Message>,
    /// Those that wait for room, at most one of a key.
    held: VecDeque<Message>,
}

impl Messages {
    /// Opens the way out of a session.
    pub(super) fn open() -> (Outbound, Self) {
        let (sender, said) = mpsc::unbounded_channel();
        // Not taken: the conversation is over, and nobody is left to tell.
        let outbound = Outbound::to(move |message| sender.send(message).is_ok());
        let held = VecDeque::new();
        (outbound, Self { said, held })
    }

    /// Waits for the next one. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<Message> {
        self.said.recv().await
    }

    /// Holds one until there is room; a newer one of the same key takes the older one's place.
    pub(super) fn hold(&mut self, message: Message, writer: &Writer) {
        if let Some(key) = &message.coalesce {
            self.held.retain(|held| held.coalesce.as_ref() != Some(key));
        } else if writer.is_full() {
            // Only progress and log lines have no key, and those that nobody reads are worth nothing.
            return;
        }
        self.held.push_back(message);
    }

    /// Holds those that were said already.
    pub(super) fn collect(&mut self, writer: &Writer) {
        while let Ok(message) = self.said.try_recv() {
            self.hold(message, writer);
        }
    }

    /// Sends what there is room for.
    pub(super) fn pass_on(&mut self, writer: &mut Writer) {
        while !writer.is_full() {
            let Some(message) = self.held.pop_front() else {
                return;
            };
            writer.queue(Line::new(message.about, Verb::Event, message.json));
        }
    }
}
