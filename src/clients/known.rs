//! The clients that `majordomus init` knows: a table, with what was seen of each.

use serde_json::{Value, json};

/// The executable that every entry names: found by the client, in `PATH`.
pub const COMMAND: &str = "majordomus";

/// How a client file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments if the client takes them; the entry is a member of this object at the top.
    Json(&'static str),
    /// TOML; the entry is a table below this one.
    Toml(&'static str),
}

/// What an entry holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `type` `stdio`, `command`, `args`.
    Typed,
    /// `command`, `args`.
    Plain,
    /// `type` `local`, and one list of words.
    Local,
}

/// One client.
#[derive(Debug, PartialEq, Eq)]
pub struct Client {
    /// The word after `--client`.
    pub word: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Its file, from the root of the checkout.
    pub path: &'static str,
    /// How that file is written.
    pub format: Format,
    /// Whether `init` writes it without being asked, where the client is in use.
    pub usual: bool,
    /// Its executable, which tells that it is in use.
    pub program: &'static str,
    /// Its folder below the person's home, which tells the same.
    pub home: &'static str,
    /// What the client asks for before it starts a server that a checkout names; a sentence without its full stop.
    pub gate: &'static str,
    shape: Shape,
}

/// Every client, in the order in which they are shown.
pub const CLIENTS: &[Client] = &[
    Client {
        word: "claude",
        title: "Claude Code",
        path: ".mcp.json",
        format: Format::Json("mcpServers"),
        usual: true,
        program: "claude",
        home: ".claude",
        gate: "asks once whether to trust the folder and to use this server",
        shape: Shape::Typed,
    },
    Client {
        word: "gemini",
        title: "Gemini CLI",
        path: ".gemini/settings.json",
        format: Format::Json("mcpServers"),
        usual: true,
        program: "gemini",
        home: ".gemini",
        gate: "starts it once the folder is trusted",
        shape: Shape::Plain,
    },
    Client {
        word: "codex",
        title: "Codex",
        path: ".codex/config.toml",
        format: Format::Toml("mcp_servers"),
        usual: true,
        program: "codex",
        home: ".codex",
        gate: "reads this file once the project is trusted",
        shape: Shape::Plain,
    },
    Client {
        word: "copilot",
        title: "Copilot CLI",
        path: ".mcp.json",
        format: Format::Json("mcpServers"),
        usual: false,
        program: "copilot",
        home: ".copilot",
        gate: "reads this file once the folder is trusted",
        shape: Shape::Typed,
    },
    Client {
        word: "qwen",
        title: "Qwen Code",
        path: ".qwen/settings.json",
        format: Format::Json("mcpServers"),
        usual: false,
        program: "qwen",
        home: ".qwen",
        gate: "starts it after `qwen mcp approve majordomus`",
        shape: Shape::Plain,
    },
    Client {
        word: "opencode",
        title: "opencode",
        path: "opencode.json",
        format: Format::Json("mcp"),
        usual: false,
        program: "opencode",
        home: ".config/opencode",
        gate: "starts it at once",
        shape: Shape::Local,
    },
    Client {
        word: "vscode",
        title: "VS Code",
        path: ".vscode/mcp.json",
        format: Format::Json("servers"),
        usual: false,
        program: "code",
        home: ".vscode",
        gate: "asks whether to trust the server",
        shape: Shape::Typed,
    },
    Client {
        word: "cursor",
        title: "Cursor",
        path: ".cursor/mcp.json",
        format: Format::Json("mcpServers"),
        usual: false,
        program: "cursor",
        home: ".cursor",
        gate: "asks whether to enable the server",
        shape: Shape::Plain,
    },
    Client {
        word: "zed",
        title: "Zed",
        path: ".zed/settings.json",
        format: Format::Json("context_servers"),
        usual: false,
        program: "zed",
        home: ".config/zed",
        gate: "starts it once the worktree is trusted",
        shape: Shape::Plain,
    },
];

impl Client {
    /// Finds a client by the word after `--client`.
    #[must_use]
    pub fn by_word(word: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.word == word)
    }

    /// Returns the entry.
    #[must_use]
    pub fn entry(&self) -> Value {
        match self.shape {
            Shape::Typed => json!({ "type": "stdio", "command": COMMAND, "args": ["mcp"] }),
            Shape::Plain => json!({ "command": COMMAND, "args": ["mcp"] }),
            Shape::Local => {
                json!({ "type": "local", "command": [COMMAND, "mcp"], "enabled": true })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CLIENTS;

    #[test]
    fn clients_that_share_a_file_agree_on_what_stands_in_it() {
        for one in CLIENTS {
            assert!(!one.path.starts_with('/') && !one.path.contains(".."));
            for other in CLIENTS.iter().filter(|other| other.path == one.path) {
                assert_eq!(one.format, other.format, "{}", one.path);
                assert_eq!(one.entry(), other.entry(), "{}", one.path);
            }
        }
    }
}
