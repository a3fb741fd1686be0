//! Recordings: what a client, its bridge and a host said to each other, one line a frame.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;

/// Who says a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// The client, on its bridge's standard input.
    Client,
    /// The bridge to its client, on standard output.
    Told,
    /// The bridge, on the link.
    Bridge,
    /// The host, on the link.
    Host,
    /// Nobody: what happens to the two.
    Stage,
}

/// Voices and their words.
const WORDS: [(Voice, &str); 5] = [
    (Voice::Client, "client"),
    (Voice::Told, "told"),
    (Voice::Bridge, "bridge"),
    (Voice::Host, "host"),
    (Voice::Stage, "*"),
];

/// The connection breaks, and both ends live on.
pub(crate) const BREAKS: &str = "the link breaks";
/// The owner is killed; the next connection is to another one.
pub(crate) const DIES: &str = "the owner dies";
/// `majordomus stop`.
pub(crate) const STOP: &str = "the owner is asked to stop";
/// The owner closes the connection; the next one is to another owner.
pub(crate) const GOES: &str = "the owner goes";
/// `majordomus stop --all`, after which the bridge ends.
pub(crate) const STOP_ALL: &str = "everybody is asked to stop";
/// The client closes its end, and the bridge goes.
pub(crate) const LEAVES: &str = "the client leaves";

/// One line, without its end.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) voice: Voice,
    pub(crate) text: String,
}

impl Said {
    /// The line as it stands in a file.
    pub(crate) fn render(&self) -> String {
        let (_, word) = WORDS
            .iter()
            .find(|(voice, _)| *voice == self.voice)
            .expect("every voice has a word");
        format!("{word} {}\n", self.text)
    }
}

/// The parts of a line of the link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) seq: u64,
    pub(crate) verb: &'a str,
    pub(crate) json: &'a str,
}

/// Takes a line of the link apart; `None` for a line of an HTTP head.
pub(crate) fn parts(text: &str) -> Option<Parts<'_>> {
    let mut parts = text.splitn(3, ' ');
    let seq = parts.next()?.parse().ok()?;
    let (verb, json) = (parts.next()?, parts.next()?);
    Some(Parts { seq, verb, json })
}

/// Where the recordings of one version of the link are.
pub(crate) fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/link")
        .join(version)
}

/// The names of all recordings of a version, sorted.
pub(crate) fn names(version: &str) -> Vec<String> {
    let entries = fs::read_dir(folder(version)).unwrap();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".link").map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// Reads one.
pub(crate) fn read(version: &str, name: &str) -> Vec<Said> {
    let path = folder(version).join(format!("{name}.link"));
    let text = fs::read_to_string(&path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (word, text) = line.split_once(' ').unwrap_or((line, ""));
            let known = WORDS.iter().find(|(_, known)| *known == word);
            let (voice, _) = known.unwrap_or_else(|| panic!("nobody is called {word}"));
            Said {
                voice: *voice,
                text: text.to_owned(),
            }
        })
        .collect()
}

/// What stands in a recording as `{name}`, since it is another one each time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    pub(crate) token: String,
    pub(crate) address: String,
    pub(crate) bridge_nonce: String,
    pub(crate) host_nonce: String,
    pub(crate) instance: String,
    pub(crate) root: String,
}

impl Terms {
    /// The text with what holds now.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mac = match parts(text).map(|parts| parts.verb) {
            Some("proof") => self.mac("majordomus-link host"),
            Some("auth") => self.mac("majordomus-link bridge"),
            _ => String::new(),
        };
        text.replace("{address}", &self.address)
            .replace("{bridge-nonce}", &self.bridge_nonce)
            .replace("{host-nonce}", &self.host_nonce)
            .replace("{instance}", &self.instance)
            .replace("{root}", &self.root)
            .replace("{mac}", &mac)
    }

    /// The text with names in place of what held when it was said.
    pub(crate) fn blank(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if matches!(parts(&text).map(|parts| parts.verb), Some("proof" | "auth")) {
            for side in ["majordomus-link host", "majordomus-link bridge"] {
                text = text.replace(&self.mac(side), "{mac}");
            }
        }
        for (value, name) in [
            (&self.address, "{address}"),
            (&self.bridge_nonce, "{bridge-nonce}"),
            (&self.host_nonce, "{host-nonce}"),
            (&self.instance, "{instance}"),
            (&self.root, "{root}"),
        ] {
            if !value.is_empty() {
                text = text.replace(value, name);
            }
        }
        text
    }

    /// The proof of one side as link version 1 makes it: written out again here, since it must not change.
    pub(crate) fn mac(&self, direction: &str) -> String {
        let secret: Vec<u8> = (0..self.token.len() / 2)
            .map(|at| u8::from_str_radix(&self.token[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        let mut mac = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
        for part in [
            direction,
            &self.bridge_nonce,
            &self.host_nonce,
            &self.instance,
            &self.root,
        ] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        let digits = mac.finalize().into_bytes();
        digits.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        })
    }

    /// Takes what a `hello` or a `proof` tells.
    pub(crate) fn learn(&mut self, text: &str) {
        let Some(parts) = parts(text) else { return };
        let body: Value = serde_json::from_str(parts.json).unwrap_or_default();
        let word = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        match parts.verb {
            "hello" => self.bridge_nonce = word("nonce"),
            "proof" => {
                self.host_nonce = word("nonce");
                self.instance = word("instance");
                self.root = word("root_id");
            }
            _ => {}
        }
    }
}

/// Whether a line of the host is of the kind of a recorded one: about the same request, and as an old bridge and its
/// client understand it. What an answer says besides may grow.
pub(crate) fn same_kind(recorded: &str, now: &str) -> bool {
    let (Some(old), Some(new)) = (parts(recorded), parts(now)) else {
        return false;
    };
    if (old.seq, old.verb) != (new.seq, new.verb) {
        return false;
    }
    let read = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
    let (old, new) = (read(old.json), read(new.json));
    let keys_stay = |key: &str| match (&old[key], &new[key]) {
        (Value::Object(before), Value::Object(after)) => {
            before.keys().all(|key| after.contains_key(key))
        }
        (before, after) => before.is_null() == after.is_null(),
    };
    ["id", "method", "slot"]
        .iter()
        .all(|key| old[*key] == new[*key])
        && keys_stay("result")
        && keys_stay("params")
        && old["error"]["code"] == new["error"]["code"]
        && old["result"]["isError"] == new["result"]["isError"]
}
