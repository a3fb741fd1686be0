//! One line of the link: `<seq> <verb> <raw JSON>\n`, both ways.
//!
//! The sequence number and the verb are minted by the two ends, never by a client: a client's bytes only ever stand
//! behind them, and a frame holds no newline, so no client can forge a control line.

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Bridge to host, first: nonce, root id, link version.
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
    /// Bridge to host: the answer to this seq has reached the client; its once-key can go.
    Ack,
    /// Bridge to host: this seq was cancelled; it gets no answer.
    Cancel,
    /// Host to bridge: the one answer to this seq.
    Answer,
    /// Host to bridge: this seq is a request without an answer (cancelled) and is finished.
    Done,
    /// Host to bridge: a message from the server to the client, about this seq (0: about none).
    Event,
    /// Host to bridge: keep this seq's frame under a slot, in place of what the slot held.
    Keep,
    /// Host to bridge: empty a slot.
    Drop,
    /// Either way: are you there?
    Ping,
    /// Either way: I am.
    Pong,
    /// Host to bridge: I am leaving; this seq is the last that I took.
    Drain,
    /// Host to bridge: end in order, there will be no other owner (`stop --all`).
    End,
}
