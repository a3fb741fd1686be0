//! The token: the secret that proves one process of this user to another.
//!
//! It lies in one file, 0600, 64 hexadecimal digits of 256 random bits, made once by whoever needs it first. It never travels
//! between bridge and host: each proves to know it by a keyed hash over the other's nonce, because another user may squat the
//! port. HTTP clients send it as a bearer token, and everything else that must not be guessed is derived from it.
//!
//! A file that others could have read or written is *refused*, not repaired: its content may be known, and whoever gave it that
//! mode should hear of it.

use std::fmt;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::floor::fs::{Created, FileError, create_once, is_exhausted, read_plain};
use crate::floor::hex;
use crate::floor::paths::Site;

/// Digits of the token, and the line end.
const MAX_BYTES: usize = 65;
/// How often an empty file is read again: where there are no hard links, its creator may be about to write it.
const EMPTY_READINGS: usize = 100;

/// The secret of one repository. Debug output does not show it.
#[derive(Clone)]
pub struct Token([u8; 32]);

/// Why the token cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// There is none, and the caller does not make one.
    #[error("there is no token {path}")]
    Absent {
        /// The token's file, as [`Site::shown`] renders it.
        path: String,
    },
    /// It is a link, a folder or a pipe, or cannot be read.
    #[error("the token {path} cannot be read")]
    Unreadable {
        /// The token's file.
        path: String,
        /// What stands in the way.
        source: FileError,
    },
    /// It belongs to another user.
    #[error("the token {path} belongs to user {owner}, not to user {user}")]
    Owner {
        /// The token's file.
        path: String,
        /// Whose it is.
        owner: u32,
        /// Who we are.
        user: u32,
    },
    /// Others may read or write it.
    #[error("the token {path} is open to others (mode {mode:03o}, not 600)")]
    Mode {
        /// The token's file.
        path: String,
        /// Its permissions.
        mode: u32,
    },
    /// It does not hold 64 hexadecimal digits.
    #[error("the token {path} is damaged")]
    Damaged {
        /// The token's file.
        path: String,
    },
    /// It cannot be made.
    #[error("cannot make the token {path}")]
    Make {
        /// The token's file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl SecretError {
    /// Whether the token could not be looked at because no file can be opened: that says nothing of the token.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { source: FileError::Io(error), .. } if is_exhausted(error)
        )
    }

    /// Returns the command to try next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Absent { .. } => "majordomus mcp".to_owned(),
            Self::Mode { path, .. } | Self::Damaged { path } => {
                format!("rm {path}, then start the clients again")
            }
            Self::Unreadable { path, .. } | Self::Owner { path, .. } | Self::Make { path, .. } => {
                format!("ls -l {path}")
            }
        }
    }
}

impl Token {
    /// Reads the checkout's token.
    ///
    /// # Errors
    /// Every variant of [`SecretError`] but `Make`.
    pub fn read(site: &Site) -> Result<Self, SecretError> {
        let path = site.token();
        read(&path, &site.shown(&path))
    }

    /// Reads the checkout's token, or makes it; two that make it at once agree. [`Site::prepare`] comes first.
    ///
    /// # Errors
    /// Every variant of [`SecretError`] but `Absent`.
    pub fn read_or_create(site: &Site) -> Result<Self, SecretError> {
        let path = site.token();
        read_or_create(&path, &site.shown(&path))
    }

    /// Makes a token that is in no file, for a process that serves alone.
    ///
    /// # Errors
    /// The system's, when it has no randomness.
    pub fn unshared() -> io::Result<Self> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        Ok(Self(secret))
    }

    /// Returns the token as it is sent in `Authorization: Bearer`. Never log it.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex::encode(&self.0)
    }

    /// Tells in constant time whether `presented` is this token in hexadecimal.
    #[must_use]
    pub fn matches(&self, presented: &[u8]) -> bool {
        // Both sides are hashed with the token as key, so that the comparison's time says nothing about the digits.
        let ours = self.keyed(&[self.reveal().as_bytes()]);
        let theirs = self.keyed(&[presented]).finalize().into_bytes();
        ours.verify(&theirs).is_ok()
    }

    /// Returns the keyed hash (HMAC-SHA-256) of these parts; each part counts with its length, so that parts never blur.
    ///
    /// Give the first part to what the hash is for, such as `b"link hello"`: no proof then serves as another.
    #[must_use]
    pub fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.keyed(parts).finalize().into_bytes().into()
    }

    /// Tells in constant time whether `presented` is [`Token::mac`] of these parts.
    #[must_use]
    pub fn verify(&self, parts: &[&[u8]], presented: &[u8]) -> bool {
        self.keyed(parts).verify_slice(presented).is_ok()
    }

    fn keyed(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .expect("because HMAC takes a key of any length");
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

fn read_or_create(path: &Path, shown: &str) -> Result<Token, SecretError> {
    match read(path, shown) {
        Err(SecretError::Absent { path: _ }) => {}
        other => return other,
    }
    let make = |source| SecretError::Make {
        path: shown.to_owned(),
        source,
    };
    let token = Token::unshared().map_err(make)?;
    let line = format!("{}\n", token.reveal());
    match create_once(path, line.as_bytes()).map_err(make)? {
        Created::Now => Ok(token),
        Created::Before => read(path, shown),
    }
}

fn read(path: &Path, shown: &str) -> Result<Token, SecretError> {
    let path_shown = || shown.to_owned();
    for _ in 0..EMPTY_READINGS {
        let (bytes, found) = read_plain(path, MAX_BYTES).map_err(|error| match error {
            FileError::Absent => SecretError::Absent { path: path_shown() },
            FileError::TooLong { limit: _ } => SecretError::Damaged { path: path_shown() },
            source => SecretError::Unreadable {
                path: path_shown(),
                source,
            },
        })?;
        let (owner, user) = (found.uid(), nix::unistd::geteuid().as_raw());
        if owner != user {
            let path = path_shown();
            return Err(SecretError::Owner { path, owner, user });
        }
        let mode = found.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let path = path_shown();
            return Err(SecretError::Mode { path, mode });
        }
        if bytes.is_empty() {
            std::thread::yield_now();
            continue;
        }
        let secret = hex::decode(bytes.trim_ascii_end());
        return secret
            .map(Token)
            .ok_or_else(|| SecretError::Damaged { path: path_shown() });
    }
    Err(SecretError::Damaged { path: path_shown() })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::path::Path;
    use std::thread;

    use super::{SecretError, Token, read, read_or_create};
    use crate::floor::error::Chain;

    fn write(path: &Path, text: &str, mode: u32) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn racing_creators_agree_on_one_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let mut tokens: Vec<_> = thread::scope(|scope| {
            let creators: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| read_or_create(&path, "token").unwrap().reveal()))
                .collect();
            creators.into_iter().map(|c| c.join().unwrap()).collect()
        });
        tokens.dedup();
        assert_eq!(tokens.len(), 1);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{}\n", tokens[0]));
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    /// Guards I14.
    #[test]
    fn a_token_that_others_could_touch_is_refused_and_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let good = "ab".repeat(32);
        let said = || Chain(&read_or_create(&path, "token").unwrap_err()).to_string();

        write(&path, &good, 0o640);
        assert_eq!(
            said(),
            "the token token is open to others (mode 640, not 600)"
        );
        write(&path, &good[1..], 0o600);
        assert_eq!(said(), "the token token is damaged");
        write(&path, "", 0o600);
        assert_eq!(said(), "the token token is damaged");
        write(&path, &"ab".repeat(64), 0o600);
        assert_eq!(said(), "the token token is damaged");

        let target = folder.path().join("target");
        fs::rename(&path, &target).unwrap();
        write(&target, &good, 0o600);
        symlink(&target, &path).unwrap();
        assert_eq!(said(), "the token token cannot be read: is a symbolic link");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(said(), "the token token cannot be read: is a directory");
        fs::remove_dir(&path).unwrap();

        write(&path, &good, 0o600);
        assert!(read(&path, "token").is_ok());
        if nix::unistd::geteuid().is_root() {
            chown(&path, Some(4711), None).unwrap();
            assert_eq!(
                said(),
                "the token token belongs to user 4711, not to user 0"
            );
        }
    }

    #[test]
    fn reading_never_makes_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let error = read(&path, "token").unwrap_err();
        assert!(matches!(error, SecretError::Absent { .. }), "{error}");
        assert!(!path.exists());
        assert!(matches!(
            read_or_create(&folder.path().join("none/token"), "token"),
            Err(SecretError::Make { .. })
        ));
    }

    #[test]
    fn a_proof_holds_for_its_parts_and_its_token_only() {
        let (one, two) = (Token::unshared().unwrap(), Token::unshared().unwrap());
        let proof = one.mac(&[b"hello", b"nonce"]);
        assert!(one.verify(&[b"hello", b"nonce"], &proof));
        assert!(!one.verify(&[b"hellonon", b"ce"], &proof));
        assert!(!one.verify(&[b"hello", b"nonce"], &proof[..31]));
        assert!(!two.verify(&[b"hello", b"nonce"], &proof));

        assert!(one.matches(one.reveal().as_bytes()));
        assert!(!one.matches(two.reveal().as_bytes()));
        assert!(!one.matches(b""));
    }

    /// Guards I15.
    #[test]
    fn a_token_does_not_show_itself() {
        let token = Token::unshared().unwrap();
        assert_eq!(format!("{token:?}"), "Token(..)");
    }
}
