//! Every refusal of a call, in one table: its machine word, what it says and what helps.
//!
//! A text and its hint are written once, here, and the reference prints them from here. No call can be refused in any other
//! words, since only a [`Reason`] makes a [`Refusal`], and only this file makes a [`Reason`].

use std::fmt::Display;

use super::call::RefusalCode;
use crate::floor::gaps;

impl Reason {
    /// Refuses with the text, its gaps filled in their order.
    #[must_use]
    pub fn fill(self, values: &[&dyn Display]) -> Refusal {
        self.because(gaps::fill(self.text, values))
    }

    /// Refuses with what `cause` says, which the text describes.
    pub fn told(self, cause: &dyn Display) -> Refusal {
        self.because(gaps::told(self.text, cause.to_string()))
    }

    fn because(self, message: String) -> Refusal {
        Refusal {
            reason: self,
            message,
            hint: (!self.hint.is_empty()).then(|| self.hint.to_owned()),
        }
    }
}

/// A refused call: lower-case cause, and one command or action that helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    // Known to nobody else, so nobody else makes one.
    reason: Reason,
    /// The cause, for the client; no path outside the repository, no secret.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Refusal {
    /// Returns the machine word.
    #[must_use]
    pub fn code(&self) -> RefusalCode {
        self.reason.code
    }

    /// Names something that helps more than what the table has.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Refuses with what no table has.
    #[cfg(test)]
    pub fn new(code: RefusalCode, text: &'static str) -> Self {
        let hint = "";
        Reason { code, text, hint }.because(text.to_owned())
    }
}

#[rustfmt::skip]
gaps::table! {
    /// One reason to refuse a call.
    Reason { code: RefusalCode }

    /// Every reason, in the order of the reference.
    ALL {
        // The arguments.
        NO_OBJECT = InvalidInput, "the arguments are …: expected an object", "majordomus describe ID shows its arguments";
        MISSING = InvalidInput, "argument `…` is missing: expected …", "majordomus describe ID shows its arguments";
        UNKNOWN = InvalidInput, "unknown argument `…`: expected …", "majordomus describe ID shows its arguments";
        UNFIT = InvalidInput, "argument `…` is …: expected …", "majordomus describe ID shows its arguments";
        CIRCLE = InvalidInput, "argument `…` cannot be checked: its schema leads in circles", "majordomus describe ID shows its arguments";
        UNREAD = InvalidInput, "the arguments do not fit: …", "majordomus describe ID shows its arguments";
        NO_KEY = InvalidInput, "`…` takes no `Idempotency-Key`: sent twice, it is done twice", "send it without the header";
        OTHER_KEY = Conflict, "this key was used for another request", "send each request under a key of its own";
        NO_CAPABILITY = NotFound, "there is no capability `…`", "majordomus capabilities";

        // What is announced.
        HIDDEN = InvalidInput, "argument `intent` or `label` has a control or invisible character: expected one plain line", "announce it again without that character";
        MANY_ENTRIES = InvalidInput, "argument `scope` has … entries: expected at most …", "announce globs in place of many paths";
        EMPTY_ENTRY = InvalidInput, "argument `scope[…]` is empty: expected a path or glob", "announce `**` for the whole repository";
        LONG_ENTRY = InvalidInput, "argument `scope[…]` is too long: expected at most … characters", "announce the folder above it";
        CONTROL_ENTRY = InvalidInput, "argument `scope[…]` has a control character: expected a path or glob", "announce a glob with `?` in its place";
        ABSOLUTE_ENTRY = InvalidInput, "argument `scope[…]` is absolute: expected a path relative to the repository's root", "git ls-files --full-name PATH";
        BACKSLASH_ENTRY = InvalidInput, "argument `scope[…]` has a backslash: expected `/` between the parts of a path", "write it with `/`";
        OUTSIDE_ENTRY = InvalidInput, "argument `scope[…]` leads out of the repository", "git ls-files --full-name PATH";
        UP_ENTRY = InvalidInput, "argument `scope[…]` has `..` after a pattern: expected a path or glob without it", "write the path without `..`";
        MANY_LABELS = InvalidInput, "argument `label` is one too many: expected at most … labels", "withdraw one by announcing an empty intent under its label";
        NO_HANDLE = NotFound, "argument `peer` is no handle of a peer here: one ends … minutes after its last call", "announce without `peer` to get a new handle";
        HAS_LEFT = NotFound, "this peer has left", "majordomus peers lists who is here; a client that starts again is a new peer";
        FULL_ROOM = Unavailable, "… peers without a link are here, and no more are taken", "call again later";
        FULL_BOARD = Unavailable, "everyone's announcements together are too large for the board", "announce fewer paths, or globs in their place";

        // The board's file.
        SUPERSEDED = Unavailable, "this server (epoch …) was superseded by epoch …: nothing was written", "call again: the next server answers";
        NEWER_BOARD = Unavailable, "the board's file has version …, this program knows …", "update majordomus in this checkout";
        NO_THREAD = Unavailable, "the system gives no thread to write the board on: …", "raise `ulimit -u` and `ulimit -v`, or end other processes, then call again";
        NO_FILE = Unavailable, "the board's file `…` is …", "move it out of the repository's `majordomus` folder, then call again";
        UNOPENED_BOARD = Unavailable, "the board cannot be used: …", "make the repository's git folder writable, then call again";
        FULL_DISK = Unavailable, "the board cannot be used: the disk is full", "free some space, then call again";
        UNWRITABLE_BOARD = Unavailable, "the board cannot be used: its file or folder cannot be written", "make the repository's git folder writable, then call again";
        BUSY_BOARD = Unavailable, "the board cannot be used: another server is writing", "call again";
        DAMAGED_BOARD = Unavailable, "the board cannot be used: its file was damaged and has been moved aside", "call again";
        FAILED_BOARD = Unavailable, "the board cannot be used: its disk failed", "look into `.ai/local/state/mcp/server.log`";
        CLOSED_BOARD = Internal, "the board's file is not written any more", "call again; majordomus bug-report if it stays so";
        UNREAD_RESULT = Internal, "the first answer under this key cannot be read", "look whether it took effect before you call again under another key";
        NO_RANDOM = Internal, "the system gives no random numbers", "majordomus bug-report, and report it with what was called";

        // The team's notes.
        NO_CHECKOUT = Refused, "there is no checkout to keep notes for", "start the client in a repository, or name one with `--repo PATH`";
        NO_NOTE = NotFound, "there is no note `…`", "majordomus notes lists those there are";
        HIDDEN_WORD = InvalidInput, "argument `…` has a control or invisible character: expected one plain line", "write it again without that character";
        LONG_NOTE = InvalidInput, "the note would be … bytes: expected at most …", "write the fact, and link to what is long";
        NO_PATH = InvalidInput, "argument `paths[…]` is no path: expected a path or glob relative to the repository's root", "git ls-files --full-name PATH";
        SECRET = InvalidInput, "the note is not saved: it seems to hold a secret (…)", "write where the secret is kept in its place, or set `not_secret` (on a command line `--not-secret`) if it is none";
        NO_DRAFT = Conflict, "the note `…` is no draft: the team may have it", "majordomus notes forget ID takes it away";
        NEEDS_PERSON = Refused, "this team reviews its notes, so only a person does that", "majordomus notes pending";
        NO_VERSION = Conflict, "the note `…` has no version `…` any more", "majordomus notes show ID, and change what it shows";
        UNFIT_STATUS = InvalidInput, "a note of the kind `…` is never `…`: expected …", "majordomus describe notes.change";
        NOTHING_CHANGED = InvalidInput, "nothing is to be changed: expected `title`, `body`, `status`, `tags` or `paths`", "majordomus describe notes.change";
        UNSHARED = Refused, "the notes are not shared: …", "majordomus notes share";
        OTHER_CODE = Conflict, "argument `code` is of another proposal: something changed since", "call it again without `code`, and show what it answers";
        NOT_SAVED = Unavailable, "the note is not saved: …", "majordomus doctor, then call again";
        NOT_SAVED_FULL = Unavailable, "the note is not saved: the disk is full", "free some space, then call again";
        NOT_SAVED_HERE = Unavailable, "the note is not saved: its folder cannot be written", "make the repository's git folder writable, then call again";
        NOT_SAVED_BUSY = Unavailable, "the note is not saved: another program holds the file of the notes", "call again";
        UNREADABLE_NOTES = Unavailable, "the notes cannot be read: …", "majordomus doctor, then call again";

        // The stores of mnemon.
        NO_STORE_NAME = InvalidInput, "`…` is no name of a store", "ls ~/.mnemon/data";
        STORE_OFF = Refused, "the store `…` is not enabled on this machine", "majordomus store enable STORE";
        STORE_BUSY = Unavailable, "the store `…` is being merged by another process", "call again";
        NO_STORE = NotFound, "there is no store `…`", "majordomus store import STORE, which makes it of what the folder has";
        REMOVED_STORE = NotFound, "the store `…` was removed on this machine", "majordomus store disable STORE, or majordomus store enable STORE to make it again of what the machines know";
        UNUSABLE_SHADOW = Unavailable, "what is known of the store is damaged, or was written by another build", "majordomus store sync, which keeps the file aside and looks at the store as for the first time";
        RELATIVE_STORES = InvalidInput, "argument `…` is relative: expected an absolute path", "realpath PATH";
        STORES_UNMET = Unavailable, "the stores cannot be merged: …", "majordomus store verify";

        // The server.
        STANDALONE = Refused, "`…` is refused: a server started with `--standalone` shares nothing", "start `majordomus mcp` without `--standalone`";
        NO_SERVER = Refused, "no server runs here", "majordomus status";
        SERVES_ONE = Refused, "this server serves one client alone and ends with it", "end that client; majordomus status names the others";
        UNBUILT = Unavailable, "the registry is still being built", "call again";
        NOT_RUN = Unavailable, "…; it did not run", "majordomus status";
        PERHAPS_RUN = Unavailable, "…; whether it ran is not known", "majordomus status";
        UNSURE = OutcomeUnknown, "…, and it may or may not have taken effect", "look whether it took effect before you call it again";

        // The client that a call asks.
        UNASKABLE = Refused, "this asks its client something, and nobody can be asked here", "call it as a tool from an MCP client";
        UNABLE = Refused, "this needs a client with the capability `…`", "call it from a client that declares it";
        CLIENT_ERROR = Refused, "the client answered with an error", "look into the client's log, then call again";
        NO_ANSWER = Refused, "the client's answer is none: …", "look into the client's log, then call again";
        UNANSWERED = Unavailable, "the client has not answered yet", "call again with its answer";
        MUTED = Unavailable, "this client cannot be asked on this connection", "call it with `Accept: text/event-stream` too";
        MANY_QUESTIONS = Unavailable, "this client has too many questions open", "answer those, then call again";
        UNREACHED = Unavailable, "the client of this call cannot be reached", "open the client's stream, then call again";
        CLIENT_LEFT = Unavailable, "the client is gone", "start it again, then call again";
        SLOW_CLIENT = Unavailable, "the client did not answer within a day", "call again, and answer what it asks";

        // Bugs.
        PANICKED = Internal, "`…` failed: this is a bug", "`.ai/local/state/mcp/server.log` tells where";
        UNFIT_ANSWER = Internal, "the answer of `…` does not fit its schema: …", "majordomus bug-report, and report it with what was called";
        UNWRITTEN_ANSWER = Internal, "the answer cannot be written as JSON: this is a bug", "majordomus bug-report, and report it with what was called";
    }

    /// What only the hidden capabilities of `--conformance` say: no user meets it, so the reference leaves it out.
    CONFORMANCE {
        CANCELLED = Unavailable, "cancelled", "";
        NOT_ALONE = Unavailable, "`conformance.keyed` is kept in a file, and this process serves its client alone", "majordomus doctor";
        GIVEN_UP = Internal, "the write was given up", "";
        NO_PLAIN_NAME = InvalidInput, "argument `file` is no plain name: expected letters, digits, `.`, `_` and `-`", "";
        NOWHERE = Refused, "there is no checkout to write in", "";
        CONTROL = InvalidInput, "argument `text` has a control character: expected one line", "";
        UNWRITTEN = Unavailable, "the file cannot be written: …", "make the repository's git folder writable, then call again";
        INTENDED = Refused, "This tool intentionally returns an error for testing", "";
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, MANY_LABELS};
    use crate::floor::gaps;

    #[test]
    fn every_row_is_as_a_row_is() {
        gaps::holds_for(ALL.iter().map(|reason| (reason.text, reason.hint)));
    }

    #[test]
    fn a_refusal_says_its_text_and_what_helps() {
        let refusal = MANY_LABELS.fill(&[&8]);
        let said = "argument `label` is one too many: expected at most 8 labels";
        assert_eq!(refusal.message, said);
        assert_eq!(refusal.hint.as_deref(), Some(MANY_LABELS.hint));
        assert_eq!(refusal.hint("b").hint.as_deref(), Some("b"));
    }
}
