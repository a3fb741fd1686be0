//! Which addresses a remote may have: an allowlist by form, before git sees any of them.

use super::RemoteError;
use crate::floor::text;

/// The longest address, in bytes.
const URL_BYTES: usize = 4096;
/// How much of one is shown.
const SHOWN: usize = 200;

/// Holds that `url` is `https://`, `ssh://` or `host:path`; with `local_allowed` also `file://`, an absolute path, and
/// `http://` on loopback.
///
/// # Errors
/// `Url`, with the address and without what stands in it for a password.
pub fn hold(url: &str, local_allowed: bool) -> Result<(), RemoteError> {
    // What reads a backslash as a slash would read another host.
    let is_clean = url.len() <= URL_BYTES
        && !url
            .chars()
            .any(|c| text::is_hidden(c) || c == ' ' || c == '\\');
    let is_fine = is_clean
        && match url.split_once("://") {
            Some((scheme, rest)) => {
                let host = host(rest);
                match scheme {
                    "https" | "ssh" => is_name(host),
                    "http" => local_allowed && is_loopback(host),
                    "file" => local_allowed && rest.starts_with('/'),
                    _ => false,
                }
            }
            None if url.starts_with('/') => local_allowed,
            None => is_ssh(url),
        };
    if is_fine {
        return Ok(());
    }
    Err(RemoteError::Url(text::shown(&without_secrets(url), SHOWN)))
}

/// `[user@]host:path`, which git takes for ssh: no slash before the colon.
fn is_ssh(url: &str) -> bool {
    let end = url.find(']').unwrap_or(0);
    let Some(colon) = url[end..].find(':').map(|at| at + end) else {
        return false;
    };
    let (host, path) = (&url[..colon], &url[colon + 1..]);
    let host = host.rsplit('@').next().unwrap_or_default();
    // Two colons name a program.
    let is_path = !path.is_empty() && !path.starts_with([':', '-']);
    !url.starts_with('-') && !host.contains('/') && is_name(host) && is_path
}

/// What stands between the user and the path of an address.
fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// A host's name is no option.
fn is_name(host: &str) -> bool {
    !host.is_empty() && !host.starts_with(['-', '%'])
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    matches!(name, "127.0.0.1" | "localhost" | "::1")
}

/// A text without what stands in its addresses before an `@`: a password, mostly.
#[must_use]
pub fn without_secrets(text: &str) -> String {
    let mut pieces = text.split("://");
    let mut clean = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece
            .find(|c: char| c == '/' || c == '\'' || c.is_whitespace())
            .unwrap_or(piece.len());
        let begin = piece[..end].rfind('@').map_or(0, |at| at + 1);
        clean.push_str("://");
        clean.push_str(&piece[begin..]);
    }
    clean
}
