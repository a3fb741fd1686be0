//! The configuration files through which clients start the server: plain data, rendered from one source.
//!
//! *Launcher*: `bin/majordomus-mcp`, which each file starts through `sh -c` and `git rev-parse --show-toplevel`, so
//! that a client may be opened in any folder of the checkout. *Time-out*: how long a client waits for the server's
//! first answer. Each file asks for the longest that its client takes, since a first start may have to build.
//!
//! `majordomus generate` writes the files, `generate --check` compares them, and no other place renders them. This
//! module knows no capability.

/// What every client runs, as the arguments of `sh`.
const SHELL_LINE: &str = r#"exec "$(git rev-parse --show-toplevel)/bin/majordomus-mcp""#;

/// How long a client waits for the first answer; an hour covers a cold build on a slow machine.
const TIMEOUT_SECONDS: u32 = 3600;

/// One generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFile {
    /// Who reads it, for people.
    pub client: &'static str,
    /// Where it is, from the root of the checkout.
    pub path: &'static str,
    /// The whole text.
    pub text: String,
}

/// Renders the three files.
#[must_use]
pub fn files() -> Vec<ClientFile> {
    vec![
        ClientFile {
            client: "Claude Code, Copilot CLI, Qwen Code, Inspector",
            path: ".mcp.json",
            text: mcp_json(),
        },
        ClientFile {
            client: "Gemini CLI",
            path: ".gemini/settings.json",
            text: gemini_settings(),
        },
        ClientFile {
            client: "Codex",
            path: ".codex/config.toml",
            text: codex_config(),
        },
    ]
}

/// `.mcp.json`; `timeout` is in milliseconds.
fn mcp_json() -> String {
    json_file("      \"type\": \"stdio\",\n")
}

/// `.gemini/settings.json`; `timeout` is in milliseconds.
fn gemini_settings() -> String {
    json_file("")
}

/// The layout that both JSON clients share; `first` stands in front of the command.
fn json_file(first: &str) -> String {
    let line = serde_json::Value::from(SHELL_LINE);
    let timeout = TIMEOUT_SECONDS * 1000;
    format!(
        r#"{{
  "mcpServers": {{
    "majordomus": {{
{first}      "command": "sh",
      "args": ["-c", {line}],
      "env": {{}},
      "timeout": {timeout}
    }}
  }}
}}
"#
    )
}

/// `.codex/config.toml`; literal strings, so that nothing needs an escape.
fn codex_config() -> String {
    format!(
        "[mcp_servers.majordomus]\n\
         command = \"sh\"\n\
         args = [\"-c\", '{SHELL_LINE}']\n\
         startup_timeout_sec = {TIMEOUT_SECONDS}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{SHELL_LINE, TIMEOUT_SECONDS, files};

    #[test]
    fn every_file_starts_the_launcher_with_the_same_line_and_the_longest_time_out() {
        for file in files() {
            let escaped = serde_json::to_string(SHELL_LINE).unwrap();
            assert!(
                file.text.contains(&escaped) || file.text.contains(SHELL_LINE),
                "{}",
                file.path
            );
            assert!(
                file.text.contains(&TIMEOUT_SECONDS.to_string()),
                "{}",
                file.path
            );
            assert!(file.text.ends_with('\n'));
            if file.path.ends_with("json") {
                serde_json::from_str::<serde_json::Value>(&file.text).unwrap();
            }
        }
        assert!(
            !SHELL_LINE.contains('\''),
            "a literal string of TOML holds no quote"
        );
    }

    #[test]
    fn every_path_stays_below_the_root() {
        for file in files() {
            assert!(!file.path.starts_with('/') && !file.path.contains(".."));
        }
    }
}
