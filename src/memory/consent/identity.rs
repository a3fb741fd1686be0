//! What a remote is called, whichever protocol it is reached by: `host/path`, or `host:port/path` where the port is not
//! the protocol's own.
//!
//! Only ASCII, and of that only what host names and paths of repositories are made of, so that an identity can be shown
//! and compared as it stands: no option, no path of a disk, no credentials and no helper of git's is one.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest identity, in bytes.
const LONGEST: usize = 512;

/// Returns the identity of a remote's URL: lower-case host, the path as it is, without user, default port, `.git` and
/// slash at the end. The same over `ssh://`, `user@host:path` and `https://`; `http://` has one on loopback alone.
///
/// `None` for everything else that git takes for a URL: a path, `file://`, `git://`, `ext::` and its like.
#[must_use]
pub fn identity(url: &str) -> Option<String> {
    if let Some((scheme, rest)) = url.split_once("://") {
        let (authority, path) = rest.split_once('/')?;
        let host = after_user(authority)?;
        let default_port = match scheme {
            "https" => "443",
            "ssh" => "22",
            "http" if is_loopback(host) => "80",
            _ => return None,
        };
        let host = host.strip_suffix(':').unwrap_or(host);
        let host = match host.strip_suffix(default_port) {
            Some(short) => short.strip_suffix(':').unwrap_or(host),
            None => host,
        };
        return join(host, path);
    }
    let (authority, path) = url.split_once(':')?;
    // For git, a slash before the first colon makes it a path, and a second colon a helper.
    if authority.contains('/') || path.starts_with(':') {
        return None;
    }
    join(after_user(authority)?, path)
}

/// Returns an identity that somebody wrote down, normalised; `None` if it is none.
pub(super) fn parse(written: &str) -> Option<String> {
    let (host, path) = written.split_once('/')?;
    if path.starts_with('/') {
        return None;
    }
    join(host, path)
}

/// Whether two identities name one repository. The large hosts do not tell `Org` from `org`, and who has cloned by the
/// one spelling must be able to agree with the other.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Whether the host, with or without a port, is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    if let Some(rest) = host.strip_prefix('[') {
        let address = rest.split(']').next().unwrap_or_default();
        return address
            .parse::<Ipv6Addr>()
            .is_ok_and(|address| address.is_loopback());
    }
    let name = host.split(':').next().unwrap_or_default();
    name == "localhost" || name.parse::<Ipv4Addr>().is_ok_and(|a| a.is_loopback())
}

/// The host of `user:password@host`. A user that begins with a dash would be an option of ssh's.
pub(super) fn after_user(authority: &str) -> Option<&str> {
    match authority.rsplit_once('@') {
        None => Some(authority),
        Some((user, _)) if user.starts_with('-') => None,
        Some((_, host)) => Some(host),
    }
}

fn join(host: &str, path: &str) -> Option<String> {
    let path = path.trim_start_matches('/').trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let sound = is_host(host) && path.split('/').all(is_segment);
    let joined = format!("{}/{path}", host.to_ascii_lowercase());
    (sound && joined.len() <= LONGEST).then_some(joined)
}

/// A name, an IPv4 address or an IPv6 address in brackets; then a port, or none.
fn is_host(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (holds, port) = match address {
        Some((address, port)) => (address.parse::<Ipv6Addr>().is_ok(), port),
        None => named_host(host),
    };
    let port_holds = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some(digits) => {
            digits.parse::<u16>().is_ok_and(|port| port > 0) && !digits.starts_with(['0', '+'])
        }
    };
    holds && port_holds
}

/// Whether what stands before the port can be a name; and the port.
fn named_host(host: &str) -> (bool, &str) {
    let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
    let of_letters = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    (begins && of_letters, port)
}

fn is_segment(segment: &str) -> bool {
    !matches!(segment, "" | "." | "..")
        && !segment.starts_with('-')
        && segment.bytes().all(|byte| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'.' | b'-' | b'_' | b'~' | b'+' | b'@' | b'%')
        })
}

#[cfg(test)]
mod tests {
    use super::{identity, parse};

    #[test]
    fn one_repository_has_one_identity_over_every_protocol() {
        for url in [
            "https://github.com/org/repo",
            "https://github.com/org/repo.git",
            "https://GitHub.com/org/repo.git/",
            "https://github.com:443/org/repo",
            "https://user@github.com/org/repo",
            "https://user:secret@github.com/org/repo",
            "https://user:p@ss@github.com/org/repo",
            "ssh://git@github.com/org/repo.git",
            "ssh://git@github.com:22/org/repo.git",
            "ssh://github.com:/org/repo.git",
            "git@github.com:org/repo.git",
            "git@github.com:/org/repo.git",
            "github.com:org/repo",
        ] {
            assert_eq!(
                identity(url).as_deref(),
                Some("github.com/org/repo"),
                "{url}"
            );
        }
        assert_eq!(
            parse("GitHub.com/org/repo.git/").as_deref(),
            Some("github.com/org/repo")
        );
    }

    #[test]
    fn what_tells_two_repositories_apart_stays() {
        for (url, expected) in [
            ("https://example.org/A/b", "example.org/A/b"),
            ("https://example.org:8443/a/b", "example.org:8443/a/b"),
            ("https://example.org:22/a/b", "example.org:22/a/b"),
            ("ssh://example.org:443/a/b", "example.org:443/a/b"),
            ("ssh://git.example.org/~u/b.git", "git.example.org/~u/b"),
            ("u@host:a/b/c.git", "host/a/b/c"),
            ("https://[2001:DB8::1]:8443/a", "[2001:db8::1]:8443/a"),
            ("http://127.0.0.1:8080/a/b.git", "127.0.0.1:8080/a/b"),
            ("http://localhost:80/a", "localhost/a"),
            ("http://[::1]/a", "[::1]/a"),
            (
                "https://dev.azure.com/o/My%20P/_git/r",
                "dev.azure.com/o/My%20P/_git/r",
            ),
        ] {
            assert_eq!(identity(url).as_deref(), Some(expected), "{url}");
        }
    }

    #[test]
    fn what_is_no_host_and_path_has_none() {
        for url in [
            "",
            "/srv/git/repo.git",
            "./notes.git",
            "../notes.git",
            "notes.git",
            "a/b:c/d",
            "file:///srv/git/repo.git",
            "git://github.com/org/repo",
            "http://github.com/org/repo",
            "http://127.0.0.1.example.org/a",
            "http://localhost.example.org/a",
            "HTTPS://github.com/org/repo",
            "ext::sh -c evil% /org/repo",
            "ext::sh",
            "foo::https://github.com/org/repo",
            "--upload-pack=evil;",
            "--upload-pack=evil:x",
            "-oProxyCommand=evil@github.com:org/repo",
            "ssh://-oProxyCommand=evil/org/repo",
            "ssh://-oProxyCommand=evil@github.com/org/repo",
            "https://github.com",
            "https://github.com/",
            "https://github.com/.git",
            "https://github.com/org/../repo",
            "https://github.com/org//repo",
            "https://github.com/org/./repo",
            "https://github.com/org/repo?x=y",
            "https://github.com/org/repo#x",
            "https://github.com/org/re po",
            "https://github.com/org/re\npo",
            "https://github.com/org/re\u{202e}po",
            "https://gіthub.com/org/repo",
            "https://github.com:0/org/repo",
            "https://github.com:99999/org/repo",
            "https://github.com:+1/org/repo",
            "https:///org/repo",
            "https://[::1/org/repo",
        ] {
            assert_eq!(identity(url), None, "{url}");
        }
        assert_eq!(
            identity(&format!("https://a.org/{}", "b".repeat(512))),
            None
        );
    }

    #[test]
    fn what_is_written_down_is_no_url_no_path_and_no_option() {
        for written in [
            "",
            "repo",
            "/srv/repo",
            "./notes.git",
            "../notes.git",
            "https://github.com/org/repo",
            "user@github.com/org/repo",
            "user:secret@github.com/org/repo",
            "git@github.com:org/repo",
            "--upload-pack=evil;",
            "--upload-pack=evil/x",
            "ext::sh/x",
            "github.com//org/repo",
            "github.com/-x/repo",
            "github.com/org/repo\n",
        ] {
            assert_eq!(parse(written), None, "{written}");
        }
    }
}
