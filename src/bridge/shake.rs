//! The lines of the handshake as both ends of a link carry them; what they say is `link::handshake`'s.

use std::io;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::wire::{Reader, Writer};
use crate::floor::hex;
use crate::lease::secret::Token;
use crate::link::handshake::{Side, Transcript};
use crate::link::line::{Line, Verb};

/// Why a line of the handshake was not sent or not taken, at whichever end.
#[derive(Debug, thiserror::Error)]
pub enum ShakeError {
    /// The connection broke.
    #[error("the connection broke in the handshake")]
    Broken(#[source] io::Error),
    /// The far end says something else, or ends the stream.
    #[error("the handshake has no known form")]
    Form,
}

/// Sends one line of the handshake.
///
/// # Errors
/// [`ShakeError::Broken`].
pub async fn send<T: Serialize>(
    writer: &mut Writer,
    verb: Verb,
    body: &T,
) -> Result<(), ShakeError> {
    let json = serde_json::to_vec(body).map_err(|error| ShakeError::Broken(error.into()))?;
    writer.queue(Line::new(0, verb, Bytes::from(json)));
    writer.flush().await.map_err(ShakeError::Broken)
}

/// Takes one line of the handshake, whichever stands next.
///
/// # Errors
/// [`ShakeError`].
pub async fn receive(reader: &mut Reader) -> Result<Line, ShakeError> {
    let line = reader.recv().await.map_err(ShakeError::Broken)?;
    line.ok_or(ShakeError::Form)
}

/// Takes one line of the handshake, which has to be this one, and reads its body.
///
/// # Errors
/// [`ShakeError`].
pub async fn expect<T: DeserializeOwned>(reader: &mut Reader, verb: Verb) -> Result<T, ShakeError> {
    let line = receive(reader).await?;
    if line.verb == verb {
        parse(&line)
    } else {
        Err(ShakeError::Form)
    }
}

/// Reads the body of a line of the handshake.
///
/// # Errors
/// [`ShakeError::Form`].
pub fn parse<T: DeserializeOwned>(line: &Line) -> Result<T, ShakeError> {
    serde_json::from_slice(&line.json).map_err(|_| ShakeError::Form)
}

/// Whether `mac` is the proof of `side`, told in constant time.
#[must_use]
pub fn proves(token: &Token, transcript: &Transcript<'_>, side: Side, mac: &str) -> bool {
    let mac = hex::decode::<32>(mac.as_bytes());
    mac.is_some_and(|mac| token.verify(&transcript.parts(side), &mac))
}
