//! The hooks of clients, as plain data: which client runs what when a session starts and when a turn ends.
//!
//! *Hook*: a command that a client runs by itself at an event. *Part*: what of the product the hooks are for; each part has
//! its own commands, and all of them go through one command of the command line. Both clients take the same JSON: an object
//! `hooks`, a list for each event, and in it groups of commands with a bound in seconds (ADR-0020).

use serde_json::json;

use super::known::Client;
use super::merge::Hook;

/// What an entry says when its client's hooks send notes.
pub const VARIABLE: &str = "MAJORDOMUS_SYNC";
/// The value that says so.
pub const HANDED: &str = "off";

/// How long a client waits for a hook, in seconds; the command ends itself before.
const BOUND: u32 = 30;

/// What hooks are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The team's notes are taken in when a session starts, and sent when a turn ends.
    Memory,
    /// The stores of mnemon are merged when a session starts, and what is new in them is sent when a turn ends. They are one
    /// person's, in whatever folder the client is opened.
    Stores,
}

impl Part {
    /// Every part.
    pub const ALL: &'static [Self] = &[Self::Memory, Self::Stores];

    /// The word on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Stores => "stores",
        }
    }

    /// Finds a part by its word.
    #[must_use]
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|part| part.as_str() == word)
    }

    /// Whether its hooks are the person's, and not the checkout's.
    #[must_use]
    pub const fn is_of_person(self) -> bool {
        matches!(self, Self::Stores)
    }

    /// The hooks of this part. A client whose person has no such executable any more is not stopped by them.
    #[must_use]
    pub fn hooks(self) -> Vec<Hook> {
        let commands: &[(&'static str, &str)] = match self {
            Self::Memory => &[
                ("SessionStart", "majordomus sync --pull --hook 25 || true"),
                ("Stop", "majordomus sync --push --hook 25 || true"),
            ],
            Self::Stores => &[
                ("SessionStart", "majordomus store import --hook 25 || true"),
                ("Stop", "majordomus store export --hook 25 || true"),
                ("SubagentStop", "majordomus store export --hook 25 || true"),
            ],
        };
        let hook = |&(event, command): &(&'static str, &str)| Hook {
            event,
            item: json!({ "hooks": [{ "type": "command", "command": command, "timeout": BOUND }] }),
        };
        commands.iter().map(hook).collect()
    }
}

/// A client that runs hooks which a checkout names.
#[derive(Debug)]
pub struct Host {
    /// The word after `--client`, by which its other file is found too.
    pub word: &'static str,
    /// The file of its hooks, from the root of the checkout, or from the person's home.
    pub path: &'static str,
    /// What the client asks for before it runs them; a sentence without its full stop.
    pub gate: &'static str,
}

/// Every such client.
pub const HOSTS: &[Host] = &[
    Host {
        word: "claude",
        path: ".claude/settings.json",
        gate: "runs these hooks in a folder that you trust",
    },
    Host {
        word: "codex",
        path: ".codex/hooks.json",
        gate: "runs these hooks once the project is trusted and you have reviewed them: /hooks",
    },
];

impl Host {
    /// The client and the file of its servers.
    #[must_use]
    pub fn client(&self) -> Option<&'static Client> {
        Client::by_word(self.word)
    }
}

#[cfg(test)]
mod tests {
    use super::{HOSTS, Part};

    #[test]
    fn every_host_is_a_client_and_every_part_has_its_word() {
        for host in HOSTS {
            assert!(host.client().is_some(), "{}", host.word);
            assert!(!host.path.starts_with('/') && !host.path.contains(".."));
        }
        for part in Part::ALL {
            assert_eq!(Part::by_word(part.as_str()), Some(*part));
        }
    }
}
