//! The environment, read once: every variable is declared in [`VARIABLES`], and the reference prints that table.
//!
//! Nothing that a client starts depends on a variable being set: some clients pass almost none of their environment
//! on. What is absent here: the variables of `git`, which [`crate::floor::git`] sets for its children and never reads.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Who reads a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// The executable, through [`Settings`].
    Executable,
    /// The launcher `bin/majordomus-mcp`.
    Launcher,
}

/// One environment variable.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Who reads it.
    pub reader: Reader,
    /// What it does, as one sentence without a full stop.
    pub effect: &'static str,
    /// What happens without it.
    pub default: &'static str,
}

/// How much is logged.
pub const LOG: &str = "MAJORDOMUS_LOG";
/// Where schemas, templates and web files are, in place of the embedded ones.
pub const SHARE: &str = "MAJORDOMUS_SHARE";
/// No colour, whatever the terminal can do.
const NO_COLOR: &str = "NO_COLOR";
/// The terminal's kind; `dumb` has no colour.
const TERM: &str = "TERM";
/// The browser that `open` starts.
const BROWSER: &str = "BROWSER";
/// An X display, which can show a browser.
const DISPLAY: &str = "DISPLAY";
/// A Wayland display, which can show a browser.
const WAYLAND_DISPLAY: &str = "WAYLAND_DISPLAY";
/// Where `xdg-open` or `open` is looked for, and the clients and the executable of `init`.
const PATH: &str = "PATH";
/// The person's folder.
const HOME: &str = "HOME";

/// mnemon's folder.
const MNEMON_DATA_DIR: &str = "MNEMON_DATA_DIR";
/// The folder that carries stores.
const MNEMON_SYNC_DIR: &str = "MNEMON_SYNC_DIR";
/// What this machine is called.
const MNEMON_SYNC_HOST: &str = "MNEMON_SYNC_HOST";
/// How many insights mnemon keeps alive.
const MNEMON_MAX_INSIGHTS: &str = "MNEMON_MAX_INSIGHTS";
/// Claude Code's settings.
const CLAUDE_SETTINGS: &str = "CLAUDE_SETTINGS";
/// Where programs keep their state.
const XDG_STATE_HOME: &str = "XDG_STATE_HOME";

/// Who meets the team's notes for this client.
pub const SYNC: &str = crate::clients::hooks::VARIABLE;
/// The same, as an earlier system calls it.
const COMMONWEALTH_SYNC: &str = "COMMONWEALTH_MCP_SYNC";
/// What hands notes to the client's own hooks.
const HOOKED: [&str; 4] = ["off", "0", "false", "host"];

/// Every variable, in the order of the reference.
pub const VARIABLES: &[Variable] = &[
    Variable {
        name: LOG,
        reader: Reader::Executable,
        effect: "what is logged to standard error: `error`, `warn`, `info`, `debug`, `trace`, or filters such as \
                 `info,majordomus::lease=debug`; `server.log` never holds less than `info`",
        default: "`info` for `mcp` and `serve`, `warn` for every other command",
    },
    Variable {
        name: SHARE,
        reader: Reader::Executable,
        effect: "a folder whose files replace the schemas, templates and web files embedded in the executable; the \
                 launcher sets it to `share/` of its own folder",
        default: "the embedded files",
    },
    Variable {
        name: SYNC,
        reader: Reader::Executable,
        effect: "`off`, `0`, `false` or `host`: this client's own hooks meet the team's notes, and the server starts \
                 nothing for it that goes over a network",
        default: "the server meets them, as with any other value",
    },
    Variable {
        name: COMMONWEALTH_SYNC,
        reader: Reader::Executable,
        effect: "as `MAJORDOMUS_SYNC`, where that is not set",
        default: "as `MAJORDOMUS_SYNC`",
    },
    Variable {
        name: "MAJORDOMUS_BIN",
        reader: Reader::Launcher,
        effect: "the executable to start, as it is, without a build",
        default: "the one that the launcher built",
    },
    Variable {
        name: "MAJORDOMUS_NO_BUILD",
        reader: Reader::Launcher,
        effect: "when not empty, start what is there and never build",
        default: "built when missing; rebuilt beside the work when older than its sources",
    },
    Variable {
        name: "CARGO_HOME",
        reader: Reader::Launcher,
        effect: "where `cargo` is, when `PATH` does not name it",
        default: "`~/.cargo`",
    },
    Variable {
        name: "HOME",
        reader: Reader::Launcher,
        effect: "as `CARGO_HOME`: `~/.cargo` is below it",
        default: "`cargo` is looked for in `PATH` only",
    },
    Variable {
        name: NO_COLOR,
        reader: Reader::Executable,
        effect: "when not empty, no colour",
        default: "colour on a terminal",
    },
    Variable {
        name: TERM,
        reader: Reader::Executable,
        effect: "`dumb` means no colour",
        default: "colour on a terminal",
    },
    Variable {
        name: BROWSER,
        reader: Reader::Executable,
        effect: "the program that `open` starts on the page, a path or a name in `PATH`; of several, separated by \
                 `:`, the first that is there",
        default: "`xdg-open` (Linux) or `open` (macOS)",
    },
    Variable {
        name: DISPLAY,
        reader: Reader::Executable,
        effect: "`open` starts `xdg-open` only when this or `WAYLAND_DISPLAY` is set (Linux)",
        default: "`open` prints a file to open",
    },
    Variable {
        name: WAYLAND_DISPLAY,
        reader: Reader::Executable,
        effect: "as `DISPLAY`",
        default: "`open` prints a file to open",
    },
    Variable {
        name: PATH,
        reader: Reader::Executable,
        effect: "where `open` looks for what it starts, and `init` and `doctor` for clients and for the executable that they will start",
        default: "`open` prints a file to open; `init` writes nothing",
    },
    Variable {
        name: HOME,
        reader: Reader::Executable,
        effect: "a client that has a folder below it is in use, for `init` and `doctor`",
        default: "a client is in use that `PATH` names or that has a file in the checkout",
    },
    Variable {
        name: MNEMON_DATA_DIR,
        reader: Reader::Executable,
        effect: "the folder of mnemon, with its stores below `data`, for `store`",
        default: "`~/.mnemon`",
    },
    Variable {
        name: MNEMON_SYNC_DIR,
        reader: Reader::Executable,
        effect: "the folder that `store enable` agrees to, which something else carries to your other machines",
        default: "`sync` in mnemon's folder",
    },
    Variable {
        name: MNEMON_SYNC_HOST,
        reader: Reader::Executable,
        effect: "what `store` calls this machine to the others; a label only",
        default: "the host's name",
    },
    Variable {
        name: MNEMON_MAX_INSIGHTS,
        reader: Reader::Executable,
        effect: "how many insights mnemon keeps alive, 0 for any number; `store status` says where a store has more",
        default: "1000",
    },
    Variable {
        name: CLAUDE_SETTINGS,
        reader: Reader::Executable,
        effect: "where `store enable` looks for the hooks of mnemon-sync, beside which it merges nothing",
        default: "`~/.claude/settings.json`",
    },
    Variable {
        name: XDG_STATE_HOME,
        reader: Reader::Executable,
        effect: "`store` keeps its shadows in `majordomus` below it",
        default: "`~/.local/state`",
    },
];

/// What the environment says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// `MAJORDOMUS_LOG`.
    pub log: Option<String>,
    /// `MAJORDOMUS_SHARE`.
    pub share: Option<PathBuf>,
    /// Whether `NO_COLOR` or a dumb terminal forbids colour.
    pub plain: bool,
    /// The programs of `BROWSER`.
    pub browsers: Vec<PathBuf>,
    /// Whether a browser can be shown.
    pub display: bool,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// The person's folder.
    pub home: Option<PathBuf>,
    /// Whether this client's own hooks meet the team's notes.
    pub hooked: bool,
    /// mnemon's folder.
    pub mnemon: Option<PathBuf>,
    /// The folder that carries stores.
    pub sync_dir: Option<PathBuf>,
    /// What this machine is called.
    pub sync_host: Option<String>,
    /// How many insights mnemon keeps alive.
    pub most_insights: Option<u64>,
    /// Claude Code's settings.
    pub claude_settings: Option<PathBuf>,
    /// Where programs keep their state.
    pub state_home: Option<PathBuf>,
}

impl Settings {
    /// Reads the environment.
    #[must_use]
    pub fn read() -> Self {
        Self::from(|name| std::env::var_os(name))
    }

    /// Reads from `lookup`, so that a test needs no environment. An empty value counts as unset.
    fn from(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        Self {
            log: get(LOG).and_then(|value| value.into_string().ok()),
            share: get(SHARE).map(PathBuf::from),
            plain: get(NO_COLOR).is_some() || get(TERM).is_none_or(|term| term == "dumb"),
            browsers: folders(get(BROWSER)),
            display: cfg!(target_os = "macos")
                || get(DISPLAY).is_some()
                || get(WAYLAND_DISPLAY).is_some(),
            path: folders(get(PATH)),
            home: get(HOME).map(PathBuf::from),
            mnemon: get(MNEMON_DATA_DIR).map(PathBuf::from),
            sync_dir: get(MNEMON_SYNC_DIR).map(PathBuf::from),
            sync_host: get(MNEMON_SYNC_HOST).and_then(|value| value.into_string().ok()),
            most_insights: get(MNEMON_MAX_INSIGHTS).and_then(|value| value.to_str()?.parse().ok()),
            claude_settings: get(CLAUDE_SETTINGS).map(PathBuf::from),
            state_home: get(XDG_STATE_HOME).map(PathBuf::from),
            hooked: {
                let (ours, theirs) = (get(SYNC), get(COMMONWEALTH_SYNC));
                ours.or(theirs)
                    .is_some_and(|value| HOOKED.iter().any(|word| value == *word))
            },
        }
    }

    /// Finds the program that shows a page to the person at this machine, if there is one.
    #[must_use]
    pub fn opener(&self) -> Option<PathBuf> {
        let desktop = if cfg!(target_os = "macos") {
            "open"
        } else {
            "xdg-open"
        };
        let desktop = self.display.then(|| PathBuf::from(desktop));
        self.browsers
            .iter()
            .cloned()
            .chain(desktop)
            .find_map(|program| self.find(&program))
    }

    /// Finds a program as a shell does: a path as it is, a name in `PATH`.
    #[must_use]
    pub fn find(&self, program: &Path) -> Option<PathBuf> {
        if program.components().count() > 1 {
            return program.is_file().then(|| program.to_owned());
        }
        self.path
            .iter()
            .map(|folder| folder.join(program))
            .find(|candidate| candidate.is_file())
    }
}

/// Splits a list of paths.
fn folders(value: Option<OsString>) -> Vec<PathBuf> {
    value
        .map(|value| std::env::split_paths(&value).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::{Reader, Settings, VARIABLES};

    #[test]
    fn every_variable_read_is_declared_and_every_declared_one_is_read() {
        let asked = RefCell::new(BTreeSet::new());
        let _settings = Settings::from(|name| {
            asked.borrow_mut().insert(name.to_owned());
            None
        });
        let declared: BTreeSet<_> = VARIABLES
            .iter()
            .filter(|variable| variable.reader == Reader::Executable)
            .map(|variable| variable.name.to_owned())
            .collect();
        assert_eq!(asked.into_inner(), declared);
    }

    #[test]
    fn an_empty_value_counts_as_unset() {
        let settings = Settings::from(|name| (name != "TERM").then(Default::default));
        assert_eq!(settings, Settings::from(|_| None));
    }

    #[test]
    fn a_browser_is_a_path_or_a_name_and_the_desktop_needs_a_display() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["firefox", "xdg-open", "open"] {
            std::fs::write(at(name), "").unwrap();
        }
        let mut settings = Settings {
            path: vec![at("missing"), folder.path().to_owned()],
            ..Settings::default()
        };
        assert_eq!(settings.opener(), None);
        settings.display = true;
        assert!(settings.opener().is_some());
        settings.browsers = vec!["no-such-browser".into(), "firefox".into()];
        assert_eq!(settings.opener(), Some(at("firefox")));
        settings.browsers = vec![at("open")];
        assert_eq!(settings.opener(), Some(at("open")));
    }

    #[test]
    fn colour_needs_a_terminal_that_is_not_dumb_and_no_veto() {
        let with = |pairs: &'static [(&str, &str)]| {
            Settings::from(|name| {
                let value = pairs.iter().find(|pair| pair.0 == name)?.1;
                Some(value.into())
            })
        };
        assert!(!with(&[("TERM", "xterm")]).plain);
        assert!(with(&[("TERM", "dumb")]).plain);
        assert!(with(&[("TERM", "xterm"), ("NO_COLOR", "1")]).plain);
        assert!(with(&[]).plain);
    }
}
