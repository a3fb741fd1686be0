//! What a commit says of itself, one line each, so that no text can forge another line.

use std::fmt::Write as _;

use gix_actor::Signature;
use gix_hash::ObjectId;
use gix_object::Commit;
use gix_object::date::Time;

/// What a commit says of itself. Line ends and control characters are taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its first line.
    pub subject: &'a str,
    /// Who wrote it: name and address.
    pub author: (&'a str, &'a str),
    /// When, in milliseconds since the epoch of Unix.
    pub at: u64,
    /// Trailers: name and value.
    pub trailers: &'a [(&'a str, &'a str)],
}

impl Message<'_> {
    /// The commit that says it, of a tree and on top of its parent.
    pub(super) fn commit(&self, tree: ObjectId, parent: Option<ObjectId>) -> Commit {
        let (name, address) = self.author;
        let signature = Signature {
            name: named(name).into(),
            email: named(address).into(),
            time: Time::new(i64::try_from(self.at / 1000).unwrap_or(i64::MAX), 0),
        };
        let mut text = line(self.subject);
        for (number, (name, value)) in self.trailers.iter().enumerate() {
            let gap = if number == 0 { "\n\n" } else { "\n" };
            // Writing to a string cannot fail.
            let _written = write!(text, "{gap}{}: {}", line(name), line(value));
        }
        text.push('\n');
        Commit {
            tree,
            parents: parent.into_iter().collect(),
            author: signature.clone(),
            committer: signature,
            encoding: None,
            message: text.into(),
            extra_headers: Vec::new(),
        }
    }
}

/// A name or an address, without what would end it.
fn named(text: &str) -> String {
    line(&text.replace(['<', '>'], ""))
}

/// One line of text: what could end the line or steer a terminal is a space.
fn line(text: &str) -> String {
    let spaced = text
        .chars()
        .map(|each| if each.is_control() { ' ' } else { each });
    spaced.collect::<String>().trim().to_owned()
}
