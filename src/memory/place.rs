//! Where a note stands in the team's tree: `<kind>/<shard>/<id>-<slug>.md`, fixed when it is made.
//!
//! A new title renames nothing. The shard is two hexadecimal digits of a hash of the id: ids grow with time, so their
//! own first digits would put a year's notes into one folder, and a flat folder costs megabytes of tree for each note.

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::note::Kind;
use crate::floor::hex;

/// Longest slug, in characters.
const SLUG: usize = 48;

/// The path of a note that is made now with this title.
#[must_use]
pub fn path(kind: Kind, id: Uuid, title: &str) -> String {
    let slug = slug(title);
    let dash = if slug.is_empty() { "" } else { "-" };
    format!("{}/{id}{dash}{slug}.md", folder(kind, id))
}

/// The folder of a note with this id.
#[must_use]
pub fn folder(kind: Kind, id: Uuid) -> String {
    format!("{}/{}", kind.as_str(), shard(id))
}

/// The kind and the id of the note at `path`; `None` for a path that no note has.
///
/// Anything that is not spelled as [`path`] spells it is none, so that one note has one path on every file system: no
/// upper case, no other characters, no other folder.
#[must_use]
pub fn parse(path: &str) -> Option<(Kind, Uuid)> {
    let mut parts = path.split('/');
    let (kind, shard_part, file) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let kind = Kind::parse(kind)?;
    let stem = file.strip_suffix(".md")?;
    let (id, slug) = stem.split_at_checked(36)?;
    let parsed = Uuid::try_parse(id).ok()?;
    let slug_holds = match slug.strip_prefix('-') {
        None => slug.is_empty(),
        Some(slug) => {
            !slug.is_empty()
                && slug.len() <= SLUG
                && !slug.starts_with('-')
                && !slug.ends_with('-')
                && slug
                    .bytes()
                    .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        }
    };
    let holds = slug_holds && parsed.to_string() == id && shard(parsed) == shard_part;
    holds.then_some((kind, parsed))
}

/// Two hexadecimal digits: 256 folders a kind.
fn shard(id: Uuid) -> String {
    hex::encode(&Sha256::digest(id.as_bytes())[..1])
}

/// The words of a title in ASCII, for people who list files; empty where it has none.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for word in title
        .split(|each: char| !each.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let dash = usize::from(!slug.is_empty());
        if slug.len() + dash + word.len() > SLUG {
            break;
        }
        if dash == 1 {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{SLUG, parse, path};
    use crate::memory::note::Kind;

    const ID: Uuid = Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001);

    #[test]
    fn a_path_tells_kind_and_id() {
        for title in [
            "Deploys on Fridays: never!",
            "",
            "東京",
            "a".repeat(99).as_str(),
            "-- x --",
        ] {
            let path = path(Kind::Decision, ID, title);
            assert_eq!(parse(&path), Some((Kind::Decision, ID)), "{path}");
            assert!(path.len() < 20 + 36 + SLUG, "{path}");
        }
        assert!(path(Kind::Memory, ID, "Deploys on Fridays").ends_with("-deploys-on-fridays.md"));
    }

    #[test]
    fn what_is_spelled_otherwise_is_no_note() {
        let good = path(Kind::Memory, ID, "a b");
        for bad in [
            good.replace("memory", "Memory"),
            good.replace("memory", "notes"),
            good.replace("-a-b", "-A-b"),
            good.replace("-a-b", "-"),
            good.replace("-a-b", "-a-"),
            good.replace("-a-b", "-ä"),
            good.replace(".md", ".MD"),
            good.replace(".md", ".txt"),
            format!("x/{good}"),
            format!("{good}/x"),
            good.replace('/', "//"),
            good.replacen("memory/", "memory/../memory/", 1),
            {
                let shard = good.split('/').nth(1).unwrap();
                good.replacen(
                    &format!("/{shard}/"),
                    if shard == "00" { "/01/" } else { "/00/" },
                    1,
                )
            },
            good.to_uppercase(),
            String::new(),
        ] {
            assert_eq!(parse(&bad), None, "{bad}");
        }
    }
}
