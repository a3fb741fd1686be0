//! Every failure of a command, in one table: what it says, what helps, and how the process ends.
//!
//! A text and its hint are written once, here, and the reference prints them from here. No command can fail in any other
//! words, since only a [`Kind`] makes a [`Failure`]; what a server refuses has tables of its own
//! ([`mod@crate::registry::refusal`], [`mod@crate::http::problem`]).

use std::error::Error;
use std::fmt::Display;

use super::{Exit, Failure};
use crate::floor::error::Chain;
use crate::floor::gaps;

impl Kind {
    /// Fails with the text, its gaps filled in their order.
    pub fn fill(self, gaps: &[&dyn Display]) -> Failure {
        Failure::because(self, vec![gaps::fill(self.text, gaps)])
    }

    /// Fails with what `error` and its sources say, which the text describes.
    pub fn told(self, error: &dyn Error) -> Failure {
        self.each(vec![Chain(error).to_string()])
    }

    /// Fails with several causes at once, each of which the text describes.
    pub fn each(self, causes: Vec<String>) -> Failure {
        let told = causes.into_iter().map(|cause| gaps::told(self.text, cause));
        Failure::because(self, told.collect())
    }
}

#[rustfmt::skip]
gaps::table! {
    /// One way to fail.
    Kind { exit: Exit }

    /// Every kind, in the order of the reference.
    ALL {
        // The place.
        NO_CHECKOUT = Failed, "there is no checkout here: no git repository and no folder `.ai` up to the root", "majordomus --repo PATH, with a folder of a checkout";
        NO_FOLDER = Failed, "… is not a folder that can be opened: …", "majordomus --repo PATH, with a folder of a checkout";
        MOVED = Failed, "the checkout was moved or removed", "start its clients again in the folder where it is now";
        UNMADE_FOLDER = Failed, "cannot make …: …", "ls -ld PATH";
        ESCAPING_FOLDER = Failed, "… is a symbolic link out of the checkout", "rm PATH";

        // The server that a command asks.
        ABSENT = Failed, "no server runs in this checkout", "majordomus serve, or open an MCP client in this checkout";
        UNREADABLE = Failed, "no server runs in this checkout: server.json …", "majordomus serve, or open an MCP client in this checkout";
        FORBIDDEN_DOCUMENT = Failed, "this user may not read server.json, so it cannot be told whether a server runs here", "ls -ld .ai/local";
        COPIED = Failed, "the checkout was moved or copied: its server.json is of where it was written, and no server runs here", "majordomus serve, or open an MCP client in the folder where it is now";
        FOREIGN = Failed, "the checkout's server runs under another kernel or in another container", "majordomus status, where the server runs";
        DRAINING = Failed, "the checkout's last server has left, and none has taken over yet", "majordomus serve, or open an MCP client in this checkout";
        STARTING = Failed, "the checkout's server is starting", "the same command again";
        STALE = Failed, "server.json is left over: nothing answers at its address (…)", "majordomus serve, or open an MCP client in this checkout";
        UNPROVEN = Failed, "server.json is left over: what answers at its address is not this checkout's server", "majordomus serve, or open an MCP client in this checkout";
        SILENT = Failed, "the checkout's server, process …, does not answer; it may be stopped", "ps -o pid,stat,args -p PID";
        LEFT = Failed, "the server has left: …", "majordomus status";
        BROKEN_ANSWER = Failed, "the server's answer broke off: …", "majordomus status";
        NO_JSON_ANSWER = Failed, "the server's answer is not JSON: …", "majordomus status";
        NO_CODE = Failed, "the server gave no sign-in code", "majordomus status";
        NOT_STOPPED = Failed, "the server was told to stop, and is still there after 5 s", "majordomus status, then stop again";

        // The token.
        NO_TOKEN = Failed, "there is no token …", "majordomus mcp";
        UNREAD_TOKEN = Failed, "the token … cannot be read: …", "ls -l PATH";
        FOREIGN_TOKEN = Failed, "the token … belongs to user …, not to user …", "ls -l PATH";
        OPEN_TOKEN = Failed, "the token … is open to others (mode …, not 600)", "rm PATH, then start the clients again";
        DAMAGED_TOKEN = Failed, "the token … is damaged", "rm PATH, then start the clients again";
        UNMADE_TOKEN = Failed, "cannot make the token …: …", "ls -l PATH";

        // A server that cannot be started.
        NO_RUNTIME = Failed, "the system gives no runtime: …", "ulimit -u; ulimit -n";
        NO_STDIO = Failed, "standard input or output cannot be used: …", "majordomus mcp --inspect";
        OLD_CLOCK = Failed, "the clock stands before 1970, where HTTP has no dates", "date";
        NO_PORT = Failed, "no port of 127.0.0.1 can be listened on: …", "ip address show lo";
        BAD_REGISTRY = Failed, "the registry does not hold: …", "majordomus validate";
        TOKEN_UNUSABLE = Failed, "the token cannot be read or made: …", "ls -l PATH";
        UNPUBLISHED = Failed, "the lease cannot be published: …", "majordomus status";
        NOT_SHARED = Failed, "…", "majordomus status";
        NOTHING_TO_SERVE = Failed, "there is no checkout here", "majordomus serve --repo PATH";
        NO_SIGNAL = Failed, "the process cannot die of its signal: …", "majordomus status";

        // What was typed.
        NO_CAPABILITY = Failed, "there is no capability `…`", "majordomus capabilities";
        NO_ROUTE = Failed, "`…` has no HTTP route to call it by", "majordomus describe ID";
        NO_COMMAND = Usage, "there is no such command", "majordomus --help";
        UNREAD_ARGUMENTS = Failed, "the arguments cannot be read: …", "majordomus call ID --json '{\"name\": \"value\"}'";
        UNREAD_TEXT = Failed, "the text cannot be read from standard input: …", "majordomus remember TITLE --body TEXT";
        LARGE_ARGUMENTS = Usage, "the arguments are too large", "docs/reference/limits.md has every limit";
        NO_OBJECT = Usage, "the arguments are not a JSON object", "majordomus call ID --json '{\"name\": \"value\"}'";
        NO_JSON = Usage, "the arguments are not JSON: …", "majordomus call ID --json '{\"name\": \"value\"}'";

        // What is written.
        NO_OUTPUT = Failed, "cannot write to standard output: …", "df -h";
        NOT_WRITTEN = Failed, "cannot write …: …", "ls -ld PATH";
        NOT_REMOVED = Failed, "cannot remove …: …", "ls -ld PATH";

        // `logs`.
        NO_LOG = Failed, "no server has logged anything in this checkout", "majordomus status";
        UNREAD_LOG = Failed, "cannot read …: it …", "ls -l PATH";
        NOT_FOLLOWED = Failed, "the log cannot be followed: …", "majordomus logs";

        // `init`.
        SOURCE_TREE = Failed, "this is the source tree of majordomus, whose client files start a build of it", "majordomus generate";
        ABOVE_ALL = Failed, "this is no project but the folder of all of them, and what stands here holds for each", "cd PROJECT, then majordomus init (or, if this one is meant: majordomus --repo . init)";
        NOT_INSTALLED = Failed, "`majordomus` is not in PATH, and clients start it by that name", "cargo install --path . (in the source tree; then see that ~/.cargo/bin is in PATH)";
        NOT_AGREED = Failed, "nothing was written", "majordomus init, and answer y";
        NOBODY_TO_ASK = Failed, "nothing was written: nobody is there to ask", "the same command with --yes (notes purge: with --confirm ID)";
        UNREAD_ANSWER = Failed, "nothing was written: the answer cannot be read: …", "the same command with --yes";
        CHANGED_MEANWHILE = Failed, "nothing was written: a file is not what was shown any more", "the same command again";
        NO_RECORD = Failed, "nothing was written: …: …", "df -h";
        LEFT_ALONE = Failed, "… …, and is left as it is", "majordomus init --json, which has the entry to add by hand";

        // `notes`.
        NO_GIT = Failed, "there is no git here, and notes go to a remote of git's", "git init";
        NO_REMOTE = Failed, "git knows no remote `…` here", "git remote -v, then majordomus notes share --remote NAME";
        NAMELESS_REMOTE = Failed, "the remote `…` has no name that a team could agree on: it is a folder, or an address that notes are not sent to", "git remote -v, then majordomus notes share --remote NAME";
        UNSHARED = Failed, "…", "majordomus notes share";
        NOT_CHANGED = Failed, "nothing was changed", "majordomus notes edit ID --title TITLE, or --body TEXT";
        NO_EDITOR = Failed, "the editor was of no use: …", "EDITOR=vi majordomus notes edit ID";
        NO_TERMINAL = Failed, "there is no terminal to edit the note in", "majordomus notes edit ID --title TITLE, or --body TEXT";
        UNREAD_EDIT = Failed, "nothing was changed: …", "majordomus notes edit ID --body TEXT";
        NO_SUCH_NOTE = Failed, "`…` is no id of a note", "majordomus notes";
        NOT_PURGED = Failed, "nothing was purged: what was typed is not the id", "majordomus notes purge ID --confirm ID";
        NOT_WITHHELD = Failed, "nothing is held back of the note `…`", "majordomus notes pending";
        NOT_RECOVERED = Failed, "what another boot or machine wrote is not taken over: …", "majordomus doctor";
        NOT_EXPORTED = Failed, "the notes are not exported to `…`: …", "majordomus notes export FOLDER, with one that is not there yet";
        UNREAD_NOTES = Failed, "the notes cannot be read: …", "majordomus doctor";

        // `store`.
        NO_HOME = Failed, "nobody's folder is known: HOME is not set", "HOME=PATH majordomus store";
        NO_STORE_NAME = Usage, "`…` is no name of a store", "ls ~/.mnemon/data";
        STORE_OFF = Failed, "the store `…` is not enabled on this machine", "majordomus store enable STORE";
        STORE_BUSY = Failed, "the store `…` is being merged by another process", "the same command again";
        NO_STORE = Failed, "there is no store `…`", "majordomus store import STORE, which makes it of what the folder has";
        NO_STORE_RUN = Usage, "there is no such run of the store `…` that can be taken back", "majordomus store log STORE";
        NO_STORE_PEER = Usage, "`…` is not the name or id of exactly one other machine", "majordomus store status";
        WHICH_STORE = Usage, "it must be said which store is meant", "majordomus store diff PEER --store STORE";
        REMOVED_STORE = Failed, "the store `…` was removed on this machine", "majordomus store disable STORE, or majordomus store enable STORE to make it again of what the machines know";
        STORE_URL = Usage, "`…` is no address of a remote that is used: expected https:// or ssh", "git ls-remote URL";
        STORE_FOLDER = Usage, "the folder … is, contains or lies in the folder of the stores", "MNEMON_SYNC_DIR=PATH majordomus store enable STORE";
        FOREIGN_STORE_HOOKS = Failed, "the hooks of mnemon-sync are installed in …", "mnemon-sync uninstall-hooks";
        STRANGE_STORE = Failed, "… …", "ls -l PATH";
        UNUSABLE_STORE_FILE = Failed, "cannot use …: …", "ls -ld PATH";
        STORE_SQLITE = Failed, "the … failed in SQLite: …", "majordomus store verify";
        UNUSABLE_SHADOW = Failed, "what is known of the store is damaged, or was written by another build", "majordomus store sync, which keeps the file aside and looks at the store as for the first time";
        DAMAGED_SHADOW = Failed, "the shadow of the store is damaged: …", "majordomus store status";

        // `demo`.
        NO_PLAYGROUND = Failed, "there is no folder to play in: …", "TMPDIR=PATH majordomus demo";
        BAD_PLAYGROUND = Failed, "the folder to play in cannot be used: …", "TMPDIR=PATH majordomus demo";
        DEMO_ALONE = Failed, "a client is served alone: …", "majordomus doctor";
        DEMO_ASTRAY = Failed, "a server of the demo …", "majordomus doctor";
        DEMO_NOBODY = Failed, "nobody hosts the server", "majordomus doctor";
        DEMO_LEFTOVER = Failed, "a document stayed behind", "majordomus doctor";
        NO_EXECUTABLE = Failed, "this executable cannot be found again: …", "command -v majordomus";

        // Contracts.
        STALE_FILE = Contract, "… is stale", "majordomus generate";
        NO_SOURCE_TREE = Failed, "this checkout is not the source tree of majordomus", "majordomus generate --out FOLDER";
        CONTRACT = Contract, "…", "majordomus bug-report (a build that says this has a bug)";
        NOT_EXPOSED = Contract, "no capability is exposed as `majordomus …`", "majordomus validate";
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, NOT_WRITTEN};
    use crate::floor::gaps;

    #[test]
    fn every_row_is_as_a_row_is() {
        gaps::holds_for(ALL.iter().map(|kind| (kind.text, kind.hint)));
    }

    #[test]
    fn a_failure_says_its_text_and_what_helps() {
        assert_eq!(
            NOT_WRITTEN.fill(&[&"a", &"no room"]).render(str::to_owned),
            "error: cannot write a: no room\nhint: ls -ld PATH\n"
        );
    }
}
