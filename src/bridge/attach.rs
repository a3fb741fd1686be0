//! The bridge's half of the handshake: from a document to a link, or to a reason to look on.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::identity::Identity;
use super::shake::{self, ShakeError};
use super::wire::{self, AtEnd, Reader, Writer};
use crate::floor::hex;
use crate::floor::limits::{HEADER_BYTES, LINK_HANDSHAKE};
use crate::lease;
use crate::lease::document::Document;
use crate::lease::secret::{SecretError, Token};
use crate::link::handshake::{
    Hello, LINK_VERSION, Nonce, PROTOCOL, Proof, Refuse, Side, Transcript,
};
use crate::link::line::Verb;
use crate::registry::Digest;

/// A link to a proven owner.
#[derive(Debug)]
pub struct Link {
    /// The reading half.
    pub reader: Reader,
    /// The writing half.
    pub writer: Writer,
    /// What is at the other end.
    pub far: Far,
    /// The digest of the registry there.
    pub digest: Digest,
}

/// What is at the other end of a link.
#[derive(Debug, Clone)]
pub enum Far {
    /// The host of this process.
    Own,
    /// Another process's host, proven.
    Owner(Proof),
    /// A server of this process that serves its client alone (I3).
    Alone,
}

/// Why whoever listens at a document's address is not attached to. Each is only a reason to look on (I1).
#[derive(Debug, thiserror::Error)]
pub enum ProbeFailure {
    /// The document names no address on 127.0.0.1.
    #[error("the document names no loopback address")]
    Address,
    /// Nothing can be proven without the token.
    #[error("the token cannot be read")]
    Token(#[source] SecretError),
    /// Nobody answers there, or not as a link.
    #[error("no link at the address")]
    Connect(#[source] io::Error),
    /// Not within [`LINK_HANDSHAKE`].
    #[error("no handshake within {} ms", LINK_HANDSHAKE.as_millis())]
    Timeout,
    /// It answers, and then shakes no hands.
    #[error("whoever answers there is no server of this kind")]
    Shake(#[from] ShakeError),
    /// It does not know the token, or is another instance or another checkout.
    #[error("whoever answers there is not this checkout's server")]
    NotOurs,
    /// It is ours and does not take us.
    #[error("the server refused: {0}")]
    Refused(String),
}

impl From<ProbeFailure> for lease::ProbeFailure {
    fn from(failure: ProbeFailure) -> Self {
        match failure {
            ProbeFailure::Timeout => Self::Timeout,
            ProbeFailure::Connect(error) | ProbeFailure::Shake(ShakeError::Broken(error)) => {
                Self::Unreachable(error.kind())
            }
            ProbeFailure::Refused(reason) => Self::Refused(reason),
            ProbeFailure::Address
            | ProbeFailure::Token(_)
            | ProbeFailure::Shake(ShakeError::Form)
            | ProbeFailure::NotOurs => Self::Unproven,
        }
    }
}

/// Connects to the document's address and shakes hands. The caller bounds the time.
///
/// # Errors
/// [`ProbeFailure`].
pub async fn attach(
    document: &Document,
    root_id: &str,
    token: &Token,
    identity: &Identity,
) -> Result<Link, ProbeFailure> {
    let mut half = prove(document, root_id, token).await?;
    let mac = hex::encode(&token.mac(&half.transcript(document, root_id).parts(Side::Bridge)));
    let auth = identity.auth(mac);
    shake::send(&mut half.writer, Verb::Auth, &auth).await?;
    let line = shake::receive(&mut half.reader).await?;
    match line.verb {
        Verb::Welcome => {
            let (reader, writer) = (half.reader, half.writer);
            Ok(Link {
                reader,
                writer,
                digest: half.proof.digest.clone().into(),
                far: Far::Owner(half.proof),
            })
        }
        Verb::Refuse => {
            let refuse: Refuse = shake::parse(&line)?;
            Err(ProbeFailure::Refused(refuse.reason))
        }
        _ => Err(ShakeError::Form.into()),
    }
}

/// Proves that whoever listens at the document's address knows the token and is the named instance of this checkout,
/// and returns that address: before this, nothing secret goes there.
///
/// # Errors
/// [`ProbeFailure`].
pub async fn verify(
    document: &Document,
    root_id: &str,
    token: &Token,
    within: Duration,
) -> Result<SocketAddr, ProbeFailure> {
    let proven = timeout(within, prove(document, root_id, token)).await;
    proven.unwrap_or(Err(ProbeFailure::Timeout))?;
    address(document)
}

/// A connection whose far end has proven itself and to which we have not.
struct HalfProven {
    reader: Reader,
    writer: Writer,
    nonce: Nonce,
    proof: Proof,
}

impl HalfProven {
    fn transcript<'a>(&'a self, document: &'a Document, root_id: &'a str) -> Transcript<'a> {
        Transcript {
            bridge: &self.nonce,
            host: &self.proof.nonce,
            instance: &document.instance,
            root_id,
        }
    }
}

async fn prove(
    document: &Document,
    root_id: &str,
    token: &Token,
) -> Result<HalfProven, ProbeFailure> {
    let (mut reader, mut writer) = upgrade(address(document)?)
        .await
        .map_err(ProbeFailure::Connect)?;
    let nonce = Nonce::random();
    let hello = Hello {
        link: LINK_VERSION,
        nonce: nonce.clone(),
    };
    shake::send(&mut writer, Verb::Hello, &hello).await?;
    let proof: Proof = shake::expect(&mut reader, Verb::Proof).await?;
    let half = HalfProven {
        reader,
        writer,
        nonce,
        proof,
    };
    let ours = half.proof.instance == document.instance && half.proof.root_id == root_id;
    let transcript = half.transcript(document, root_id);
    if ours && shake::proves(token, &transcript, Side::Host, &half.proof.mac) {
        Ok(half)
    } else {
        Err(ProbeFailure::NotOurs)
    }
}

/// The address for bridges, which is loopback or nothing.
fn address(document: &Document) -> Result<SocketAddr, ProbeFailure> {
    let loopback =
        |address: &SocketAddr| address.ip() == Ipv4Addr::LOCALHOST && address.port() != 0;
    document.link.filter(loopback).ok_or(ProbeFailure::Address)
}

/// Opens a connection and upgrades it: one request, one answer of bounded length.
async fn upgrade(address: SocketAddr) -> io::Result<(Reader, Writer)> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: {PROTOCOL}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut head = BytesMut::with_capacity(1024);
    let end = loop {
        if let Some(at) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if head.len() > HEADER_BYTES || stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    };
    if !head.starts_with(b"HTTP/1.1 101 ") {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the answer is no upgrade",
        ));
    }
    let rest = head.split_off(end);
    let (read, write) = stream.into_split();
    Ok(wire::stream(
        (Box::new(read), Box::new(write)),
        &rest,
        AtEnd::Read,
    ))
}
