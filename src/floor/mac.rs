//! Keys that outlive an owner, and texts that are signed with them.
//!
//! Whoever knows the secret and the root derives the same key for the same purpose, and no other; so the next owner
//! opens what this one signed, and a text that was signed for one purpose is nothing for another.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// A key for one purpose.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Derives the key of a purpose from what nobody else knows.
    #[must_use]
    pub fn derive(secret: &[u8], purpose: &str, root_id: &str) -> Self {
        let parts = ["majordomus ", purpose, "\0", root_id];
        Self(digest(secret, &parts.map(str::as_bytes)))
    }

    /// Returns the MAC of what `parts` make together.
    #[must_use]
    pub fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        digest(&self.0, parts)
    }

    /// Says whether `mac` is that of `text`, in a time that tells nothing about it.
    #[must_use]
    pub fn verifies(&self, text: &[u8], mac: &[u8]) -> bool {
        keyed(&self.0).chain_update(text).verify_slice(mac).is_ok()
    }

    /// Returns `text` with its MAC: `<text>.<mac>`.
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        let mac = self.mac(&[text.as_bytes()]);
        format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(mac))
    }

    /// Returns the text of a signed one, if the MAC is ours.
    #[must_use]
    pub fn open<'a>(&self, signed: &'a str) -> Option<&'a str> {
        let (text, mac) = signed.rsplit_once('.')?;
        let mac = BASE64_URL_SAFE_NO_PAD.decode(mac).ok()?;
        self.verifies(text.as_bytes(), &mac).then_some(text)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

fn digest(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = keyed(key);
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("because HMAC takes a key of any length")
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_signed_text_opens_only_unchanged_and_under_its_own_key() {
        let key = |purpose: &str, root: &str| Key::derive(b"secret", purpose, root);
        let signed = key("one", "root").sign("1.2.abc");
        assert_eq!(key("one", "root").open(&signed), Some("1.2.abc"));
        assert_eq!(key("other", "root").open(&signed), None);
        assert_eq!(key("one", "other").open(&signed), None);
        assert_eq!(Key::derive(b"else", "one", "root").open(&signed), None);
        assert_eq!(format!("{:?}", key("one", "root")), "Key");
        for at in 0..signed.len() {
            let mut bytes = signed.clone().into_bytes();
            bytes[at] ^= 1;
            if let Ok(forged) = String::from_utf8(bytes) {
                assert_eq!(key("one", "root").open(&forged), None, "{forged}");
            }
        }
    }
}
