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
use crate::link::handshake::{Hello, Nonce, Offered, Proof, Refuse, Side, Transcript, offer};
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
    /// It speaks no version of the link that this build speaks (ADR-0013).
    #[error("no version of the link in common with majordomus {theirs}")]
    Version {
        /// The build that the document names.
        theirs: String,
    },
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
            ProbeFailure::Version { theirs } => Self::Version { theirs },
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
    let other_version = || ProbeFailure::Version {
        theirs: document.version.clone(),
    };
    let upgraded = upgrade(address(document)?).await;
    let upgraded = upgraded.map_err(ProbeFailure::Connect)?;
    let (link, mut reader, mut writer) = upgraded.ok_or_else(other_version)?;
    let nonce = Nonce::random();
    let hello = Hello {
        link,
        nonce: nonce.clone(),
    };
    shake::send(&mut writer, Verb::Hello, &hello).await?;
    let proof: Proof = shake::expect(&mut reader, Verb::Proof).await?;
    if proof.link != link {
        return Err(other_version());
    }
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

/// Opens a connection and upgrades it: one request, one answer of bounded length. `None` where no version of the link
/// is common.
async fn upgrade(address: SocketAddr) -> io::Result<Option<(u32, Reader, Writer)>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let protocols = offer();
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: {protocols}\r\n\r\n"
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
    let rest = head.split_off(end);
    let head = String::from_utf8_lossy(&head);
    let is = |status: &str| head.starts_with(status);
    if is("HTTP/1.1 426 ") {
        return Ok(None);
    }
    if !is("HTTP/1.1 101 ") {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the answer is no upgrade",
        ));
    }
    let Offered::Common(link, _) = Offered::read(&switched_to(&head)) else {
        return Ok(None);
    };
    let (read, write) = stream.into_split();
    let (reader, writer) = wire::stream((Box::new(read), Box::new(write)), &rest, AtEnd::Read);
    Ok(Some((link, reader, writer)))
}

/// The protocol that an answer's head names.
fn switched_to(head: &str) -> String {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields
        .filter(|(name, _)| name.eq_ignore_ascii_case("upgrade"))
        .map(|(_, value)| value.trim())
        .collect::<Vec<_>>()
        .join(",")
}
