//! Every problem that plain HTTP itself has with a request, in one table: its code, what it says and what helps.
//!
//! The reference prints them from here. No request can be answered with a problem in any other words, since only a
//! [`Cause`] or a refused call makes a [`Problem`], and only this file makes a [`Cause`].

use std::fmt::Display;

use super::{Code, Problem};
use crate::floor::gaps;
use crate::registry::Refusal;

impl Cause {
    /// Makes the problem with the text, its gaps filled in their order.
    pub(in crate::http) fn fill(self, values: &[&dyn Display]) -> Problem {
        self.because(gaps::fill(self.text, values))
    }

    /// Makes the problem with what `cause` says, which the text describes.
    pub(in crate::http) fn told(self, cause: &dyn Display) -> Problem {
        self.because(gaps::told(self.text, cause.to_string()))
    }

    /// Makes the problem of a call that was refused, whose code and hint stay its own.
    pub(in crate::http) fn refused(self, mut refusal: Refusal) -> Problem {
        refusal.message = gaps::fill(self.text, &[&refusal.message]);
        refusal.into()
    }

    fn because(self, detail: String) -> Problem {
        Problem::of(self.code, detail, self.hint.to_owned())
    }
}

#[rustfmt::skip]
gaps::table! {
    /// One problem that a request may meet.
    Cause { code: Code }

    /// Every cause, in the order of the reference.
    ALL {
        // Who asks.
        NO_PEER = ForeignPeer, "the request has no peer", "ask from the machine on which the server runs";
        OTHER_MACHINE = ForeignPeer, "this server answers this machine only", "ask from the machine on which the server runs";
        NO_HOST = BadRequest, "`Host` is missing", "send it, with the address that majordomus status prints";
        OTHER_HOST = ForeignHost, "`Host` does not name this machine", "ask at the address that majordomus status prints";
        OTHER_ORIGIN = ForeignOrigin, "`Origin` is not a page of this server", "open the page itself: majordomus open";
        OTHER_SITE = ForeignOrigin, "the browser sent this for another site", "open the page itself: majordomus open";
        UNCLEAR_FIELD = BadRequest, "`…` stands twice or holds other than ASCII", "send it once, in ASCII";
        NO_TOKEN = Unauthorized, "this route wants `Authorization: Bearer <token>`", "majordomus open docs";
        OTHER_TOKEN = Unauthorized, "the token is not this checkout's, or a page's token that is too old", "majordomus open docs";

        // Where to.
        NOTHING_HERE = NotFound, "nothing is here", "/openapi.json lists the routes";
        NOTHING_PUBLISHED = NotFound, "nothing is published here", "/openapi.json lists the routes";
        NO_CAPABILITY = NotFound, "no such capability", "/openapi.json lists the routes";
        NO_FILE = NotFound, "no such file", "/openapi.json lists the routes";
        OTHER_METHOD = MethodNotAllowed, "a … is asked for with …", "the header `Allow` names the methods";
        READ_PROBE = MethodNotAllowed, "the liveness probe is read", "the header `Allow` names the methods";
        READ_FILE = MethodNotAllowed, "a static file is read", "the header `Allow` names the methods";
        READ_DESCRIPTION = MethodNotAllowed, "the description is read", "the header `Allow` names the methods";
        POSTED_ROUTE = MethodNotAllowed, "this route is posted to", "the header `Allow` names the methods";
        POSTED_MESSAGES = MethodNotAllowed, "messages are posted; only a session has a stream of its own, and an end", "the header `Allow` names the methods";

        // What is sent.
        LARGE_BODY = BodyTooLarge, "a body may have … bytes", "docs/reference/limits.md has every limit";
        BROKEN_BODY = BadRequest, "the body is broken off", "send it again as a whole";
        SLOW_BODY = SlowBody, "the body took longer than … s", "send the body in one go";
        PACKED_BODY = UnsupportedMediaType, "a packed body is not unpacked", "send the body without `Content-Encoding`";
        OTHER_MEDIA = UnsupportedMediaType, "the body is read as JSON", "send `Content-Type: application/json`";
        DEEP_BODY = BadJson, "the body is nested deeper than …", "send one JSON object, in UTF-8";
        UNREAD_BODY = BadJson, "the body cannot be read as JSON: …", "send one JSON object, in UTF-8";
        OTHER_KEY = BadRequest, "`Idempotency-Key` is one value of 1 to … visible ASCII characters", "send one such key, or none";
        OTHER_NONCE = BadRequest, "the nonce is not 32 hex digits and nothing else", "ask `/lease?nonce=<32 hex digits>`, or `/lease`";

        // The state of the server.
        MANY_REQUESTS = Busy, "too many requests are running", "ask again in a second";
        MANY_CONNECTIONS = Busy, "too many connections are open", "ask again in a second";
        NOT_OWNER = NotServing, "this process does not own the checkout any more", "read the lease again: `majordomus status`";
        LEAVING = NotServing, "the server is leaving", "ask again in a second: another process takes over";
        LEFT = OutcomeUnknown, "the server left before it answered", "look whether it took effect before you ask again";
        NOT_ENDED = Unavailable, "the session has not ended: …", "ask again in a moment; majordomus doctor if it stays so";

        // A browser's sign-in.
        NO_CODE = InvalidInput, "`code` is missing", "majordomus open docs";
        OTHER_CODE = Unauthorized, "this sign-in link was used, is too old, or is not ours", "majordomus open docs";
        OLD_SIGN_IN = Unauthorized, "this sign-in is too old", "majordomus open docs";
        NO_PAGE = Unauthorized, "only a page's token is renewed", "majordomus open docs";
        OWN_TOKEN = Refused, "the checkout's token is not renewed: only a page's is", "majordomus open docs";
        PAGE_ALONE = Refused, "a page may not sign in others", "majordomus open docs";
        NO_RANDOMNESS = Internal, "the system gives no random bytes", "majordomus bug-report, and report it with what was asked";

        // A link.
        BROWSERS_LINK = ForeignOrigin, "a link is opened by a bridge", "open the page itself: majordomus open";
        OTHER_LINK = UpgradeRequired, "majordomus … speaks none of the versions of the link that are offered", "restart the clients of the older build; majordomus status says which build serves";
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use crate::floor::gaps;

    #[test]
    fn every_row_is_as_a_row_is() {
        gaps::holds_for(ALL.iter().map(|cause| (cause.text, cause.hint)));
    }
}
