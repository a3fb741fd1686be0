//! The lease document, `server.json`: the sign on the door.
//!
//! A person reads it with `cat`, a newcomer finds the server by it, and nobody believes it: the kernel's lock decides who owns
//! the checkout (I1), the link's handshake decides whom a bridge talks to. So reading never fails. A *reading* says what is
//! there: nothing, an empty file, something *corrupt* with its fault, or a document. Only the holder of the lock writes.
//!
//! The schema is `majordomus-mcp-lease/v1` and a promise: fields are added, never changed, and the keys that a version does
//! not know are kept, from owner to owner of one checkout. There is no secret in it.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::floor::fs::{FileError, Kind, is_exhausted, read_plain};
use crate::floor::text::is_hidden;

/// The schema that this version reads and writes.
pub const SCHEMA: &str = "majordomus-mcp-lease/v1";
/// The longest document that is read.
pub const MAX_BYTES: usize = 64 * 1024;
/// The highest epoch: what a JSON number carries exactly everywhere.
pub const MAX_EPOCH: u64 = 1 << 53;
/// The longest url, version, instance or start time, in bytes.
const MAX_FIELD_BYTES: usize = 256;

/// What the owner says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It holds the lock and has no listener yet.
    Starting,
    /// It serves at `link` and, for people, at `url`.
    Ready,
    /// It is leaving, or has left: the rest tells its successor where it was.
    Draining,
}

/// One owner's sign, written whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What the owner says of itself.
    pub state: State,
    /// Where people and HTTP clients go: `http://127.0.0.1:PORT`.
    pub url: Option<String>,
    /// Where bridges go: 127.0.0.1 and any port.
    pub link: Option<SocketAddr>,
    /// 32 hexadecimal digits, random for each ownership.
    pub instance: String,
    /// Higher than any earlier owner's.
    pub epoch: u64,
    /// The checkout it was written in, see [`Site::root_id`](crate::floor::paths::Site::root_id).
    pub root_id: String,
    /// The kernel and namespaces it was written in, see [`Site::scope`](crate::floor::paths::Site::scope).
    pub scope: String,
    /// The owner's process, for display only.
    pub pid: u32,
    /// The owner's version.
    pub version: String,
    /// When it was elected, RFC 3339.
    pub started_at: String,
    /// Keys of a later version, kept as they came.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// What was found at the document's path.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Nothing.
    Absent,
    /// A file without a byte, or only white space: a power cut after a write.
    Empty,
    /// Something that is no document of ours.
    Corrupt(Fault),
    /// A document, which may still lie.
    Document(Box<Document>),
}

/// Why something is no document of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is no plain file.
    #[error("is {0}")]
    NotAFile(Kind),
    /// It is longer than [`MAX_BYTES`].
    #[error("is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The system does not let us read it.
    #[error("cannot be read ({0})")]
    Unreadable(ErrorKind),
    /// This process may open no more files, so nothing is known of the document.
    #[error("cannot be read: this process may open no more files (`ulimit -n`)")]
    Exhausted,
    /// It is no JSON object, or lacks a field, or a field has the wrong type.
    #[error("is no lease document (line {line}, column {column})")]
    Malformed {
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// It names another schema.
    #[error("has another schema than {SCHEMA}")]
    Schema,
    /// A field holds what no owner writes.
    #[error("has an impossible `{0}`")]
    Field(&'static str),
}

impl Reading {
    /// Reads what is at `path`; never fails, never waits, never follows a link, never reads more than [`MAX_BYTES`].
    pub fn at(path: &Path) -> Self {
        Self::with_metadata(path).0
    }

    /// As [`Reading::at`], with the metadata of the plain file that was read.
    pub fn with_metadata(path: &Path) -> (Self, Option<Metadata>) {
        match read_plain(path, MAX_BYTES) {
            Ok((bytes, metadata)) => (Self::parse(&bytes), Some(metadata)),
            Err(FileError::Absent) => (Self::Absent, None),
            Err(FileError::NotAFile(kind)) => (Self::Corrupt(Fault::NotAFile(kind)), None),
            Err(FileError::TooLong { limit: _ }) => (Self::Corrupt(Fault::TooLong), None),
            Err(FileError::Io(error)) if is_exhausted(&error) => {
                (Self::Corrupt(Fault::Exhausted), None)
            }
            Err(FileError::Io(error)) => (Self::Corrupt(Fault::Unreadable(error.kind())), None),
        }
    }

    /// Takes bytes for what they are.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        if bytes.len() > MAX_BYTES {
            return Self::Corrupt(Fault::TooLong);
        }
        if bytes.trim_ascii().is_empty() {
            return Self::Empty;
        }
        match serde_json::from_slice::<Document>(bytes) {
            Ok(document) => match document.fault() {
                None => Self::Document(Box::new(document)),
                Some(fault) => Self::Corrupt(fault),
            },
            Err(error) => Self::Corrupt(foreign_schema(bytes).unwrap_or(Fault::Malformed {
                line: error.line(),
                column: error.column(),
            })),
        }
    }

    /// Returns the document, if that is what was found.
    #[must_use]
    pub fn document(&self) -> Option<&Document> {
        match self {
            Self::Document(document) => Some(document),
            Self::Absent | Self::Empty | Self::Corrupt(_) => None,
        }
    }
}

/// A document of another schema may lack our fields; its schema is then the better thing to say.
fn foreign_schema(bytes: &[u8]) -> Option<Fault> {
    #[derive(Deserialize)]
    struct Schema {
        schema: String,
    }
    let found: Schema = serde_json::from_slice(bytes).ok()?;
    (found.schema != SCHEMA).then_some(Fault::Schema)
}

impl Document {
    /// Renders the document as it stands in the file: JSON over several lines, with a line end.
    ///
    /// # Panics
    /// Never: every field is a string, a number or a JSON value.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .expect("because every field is a string, a number or a JSON value");
        bytes.push(b'\n');
        bytes
    }

    /// Returns the first field that no owner writes: what is read here is shown to people and connected to.
    fn fault(&self) -> Option<Fault> {
        if self.schema != SCHEMA {
            return Some(Fault::Schema);
        }
        let hexadecimal = |text: &str, digits: usize| {
            text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit())
        };
        let printable = |text: &str| text.len() <= MAX_FIELD_BYTES && !text.chars().any(is_hidden);
        let loopback = |link: &SocketAddr| link.ip() == Ipv4Addr::LOCALHOST && link.port() != 0;
        let sound = [
            ("link", self.link.as_ref().is_none_or(loopback)),
            ("url", self.url.as_deref().is_none_or(is_loopback_url)),
            ("instance", hexadecimal(&self.instance, 32)),
            ("epoch", self.epoch <= MAX_EPOCH),
            ("root_id", hexadecimal(&self.root_id, 32)),
            ("scope", hexadecimal(&self.scope, 16)),
            ("version", printable(&self.version)),
            ("started_at", printable(&self.started_at)),
        ];
        let (field, _) = sound.into_iter().find(|(_, sound)| !sound)?;
        Some(Fault::Field(field))
    }
}

/// Accepts `http://127.0.0.1:PORT` and nothing after it.
fn is_loopback_url(url: &str) -> bool {
    url.strip_prefix("http://")
        .and_then(|address| address.parse::<SocketAddrV4>().ok())
        .is_some_and(|address| *address.ip() == Ipv4Addr::LOCALHOST && address.port() != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use nix::sys::stat::Mode;
    use proptest::prelude::*;

    use super::{Document, Fault, Kind, MAX_BYTES, Reading, SCHEMA, State};

    fn document() -> Document {
        Document {
            schema: SCHEMA.to_owned(),
            state: State::Ready,
            url: Some("http://127.0.0.1:20001".to_owned()),
            link: Some("127.0.0.1:40001".parse().unwrap()),
            instance: "0123456789abcdef".repeat(2),
            epoch: 7,
            root_id: "ab".repeat(16),
            scope: "cd".repeat(8),
            pid: 4711,
            version: "0.1.0".to_owned(),
            started_at: "2026-11-30T19:19:37.042Z".to_owned(),
            unknown: serde_json::Map::new(),
        }
    }

    fn fault(change: impl FnOnce(&mut Document)) -> Option<Fault> {
        let mut changed = document();
        change(&mut changed);
        match Reading::parse(&changed.render()) {
            Reading::Corrupt(fault) => Some(fault),
            _ => None,
        }
    }

    #[test]
    fn a_document_is_read_as_it_was_written_with_keys_of_a_later_version() {
        let mut later = document();
        later.unknown.insert(
            "colour".to_owned(),
            serde_json::json!({"b": 1, "a": [null]}),
        );
        let text = String::from_utf8(later.render()).unwrap();
        assert!(text.starts_with("{\n  \"schema\": \"majordomus-mcp-lease/v1\",\n"));
        assert!(text.contains("\"state\": \"ready\""));
        assert!(text.contains("\"link\": \"127.0.0.1:40001\""));
        let Reading::Document(read) = Reading::parse(text.as_bytes()) else {
            panic!("{text}");
        };
        assert_eq!(*read, later);
        assert_eq!(read.render(), later.render());
    }

    /// Guards I2.
    #[test]
    fn a_field_that_no_owner_writes_makes_a_document_corrupt() {
        let field = |name| Some(Fault::Field(name));
        assert_eq!(fault(|_| {}), None);
        assert_eq!(
            fault(|d| d.schema = "majordomus-mcp-lease/v2".to_owned()),
            Some(Fault::Schema)
        );
        for link in ["10.0.0.1:80", "0.0.0.0:80", "[::1]:80", "127.0.0.1:0"] {
            assert_eq!(fault(|d| d.link = link.parse().ok()), field("link"));
        }
        for url in [
            "https://example.org",
            "http://127.0.0.1:80@example.org",
            "http://127.0.0.1:80/path",
            "http://127.0.0.1",
            "javascript:alert(1)",
        ] {
            assert_eq!(fault(|d| d.url = Some(url.to_owned())), field("url"));
        }
        assert_eq!(fault(|d| d.instance.push('0')), field("instance"));
        assert_eq!(fault(|d| d.epoch = u64::MAX), field("epoch"));
        assert_eq!(fault(|d| d.root_id.clear()), field("root_id"));
        assert_eq!(fault(|d| d.scope = "no".to_owned()), field("scope"));
        assert_eq!(
            fault(|d| d.version = "\u{1b}[2J".to_owned()),
            field("version")
        );
        assert_eq!(
            fault(|d| d.started_at = "x".repeat(257)),
            field("started_at")
        );
    }

    /// Guards I2.
    #[test]
    fn whatever_stands_at_the_path_is_named_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("empty"), " \n").unwrap();
        fs::write(at("garbage"), [0xff, 0xfe, 0]).unwrap();
        fs::write(at("array"), "[1, 2]").unwrap();
        fs::write(at("foreign"), r#"{"schema": "other/v1", "pid": 1}"#).unwrap();
        fs::write(at("deep"), "[".repeat(10_000)).unwrap();
        fs::write(at("huge"), "x".repeat(MAX_BYTES + 1)).unwrap();
        fs::create_dir(at("directory")).unwrap();
        symlink("/dev/zero", at("symlink")).unwrap();
        nix::unistd::mkfifo(&at("fifo"), Mode::S_IRWXU).unwrap();
        let malformed = |line, column| Reading::Corrupt(Fault::Malformed { line, column });
        let not_a_file = |kind| Reading::Corrupt(Fault::NotAFile(kind));
        for (name, expected) in [
            ("none", Reading::Absent),
            ("empty", Reading::Empty),
            ("garbage", malformed(1, 1)),
            ("array", malformed(1, 0)),
            ("foreign", Reading::Corrupt(Fault::Schema)),
            ("deep", malformed(1, 1)),
            ("huge", Reading::Corrupt(Fault::TooLong)),
            ("directory", not_a_file(Kind::Directory)),
            ("symlink", not_a_file(Kind::Symlink)),
            ("fifo", not_a_file(Kind::Special)),
        ] {
            let found = Reading::at(&at(name));
            match (&found, &expected) {
                // Where exactly serde gives up is its own business.
                (
                    Reading::Corrupt(Fault::Malformed { line: 1, column: _ }),
                    Reading::Corrupt(Fault::Malformed { line: 1, column: _ }),
                ) => {}
                _ => assert_eq!(found, expected, "{name}"),
            }
        }
    }

    proptest! {
        /// Guards I2.
        #[test]
        fn reading_any_bytes_gives_a_reading(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
            let _total = Reading::parse(&bytes);
        }

        #[test]
        fn a_damaged_document_gives_a_reading(at in 0_usize..400, byte in any::<u8>()) {
            let mut bytes = document().render();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _total = Reading::parse(&bytes);
            let _cut = Reading::parse(&bytes[..at]);
        }
    }
}
