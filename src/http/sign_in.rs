//! How a page gets a token of its own, without a cookie and without the checkout's token.
//!
//! *Code*: 128 random bits, good once and for two minutes, handed to the browser in the fragment of a URL, which no
//! browser sends and no log sees. *Page token*: what a page gets for a code, by posting it. It lives an hour, can be
//! renewed until twelve hours after the sign-in, stands in the page's `sessionStorage`, and goes out as a header.
//!
//! Codes live in memory, a bounded number of them: after a takeover a person asks for another link. Page tokens carry
//! their dates and a MAC, so the next owner takes them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use tokio::time::Instant;

use super::secrets::{Purpose, Secrets};
use crate::floor::{clock, limits};

/// Mints codes and trades them for page tokens.
pub struct SignIn {
    secrets: Arc<Secrets>,
    codes: Mutex<VecDeque<Code>>,
}

struct Code {
    text: String,
    expires: Instant,
}

/// A page's token, as the page is told of it.
#[derive(Clone, PartialEq, Eq)]
pub struct PageToken {
    /// The text to send as `Authorization: Bearer`.
    pub token: String,
    /// How long it lives.
    pub expires_in: Duration,
}

/// What a valid page token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    /// Tells pages apart.
    pub(crate) id: String,
    signed_in_ms: u64,
}

/// Why no code could be minted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random bytes")]
pub struct NoRandomness;

impl SignIn {
    /// Makes a sign-in without codes.
    #[must_use]
    pub fn new(secrets: Arc<Secrets>) -> Self {
        Self {
            secrets,
            codes: Mutex::default(),
        }
    }

    /// Mints a code for the fragment of a page's URL: `/docs/#code=<code>`.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn mint_code(&self) -> Result<String, NoRandomness> {
        let text = random_text()?;
        let now = Instant::now();
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.retain(|code| code.expires > now);
        if codes.len() >= limits::SIGN_IN_CODES {
            codes.pop_front();
        }
        codes.push_back(Code {
            text: text.clone(),
            expires: now + limits::SIGN_IN_CODE,
        });
        Ok(text)
    }

    /// Trades a code for a page token; `None` for one that is unknown, used or too old.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn exchange(&self, presented: &str) -> Result<Option<PageToken>, NoRandomness> {
        self.exchange_at(presented, Instant::now())
    }

    fn exchange_at(
        &self,
        presented: &str,
        now: Instant,
    ) -> Result<Option<PageToken>, NoRandomness> {
        let known = {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            let at = codes.iter().position(|code| code.text == presented);
            at.and_then(|at| codes.remove(at))
        };
        match known {
            Some(code) if code.expires > now => {
                let page = Page {
                    id: random_text()?,
                    signed_in_ms: clock::now_ms(),
                };
                Ok(Some(self.token(&page)))
            }
            _ => Ok(None),
        }
    }

    /// Gives a signed-in page its next token; `None` once its sign-in is too old.
    pub(crate) fn renew(&self, page: &Page) -> Option<PageToken> {
        let age = clock::now_ms().saturating_sub(page.signed_in_ms);
        (age < millis(limits::PAGE_SIGN_IN)).then(|| self.token(page))
    }

    /// Reads a page token; `None` for one that is forged or too old.
    pub(crate) fn page(&self, token: &str) -> Option<Page> {
        let text = self.secrets.open(Purpose::Page, token)?;
        let mut parts = text.splitn(3, '.');
        let signed_in_ms = parts.next()?.parse().ok()?;
        let expires_ms: u64 = parts.next()?.parse().ok()?;
        let id = parts.next()?.to_owned();
        (clock::now_ms() < expires_ms).then_some(Page { id, signed_in_ms })
    }

    fn token(&self, page: &Page) -> PageToken {
        let last = page.signed_in_ms + millis(limits::PAGE_SIGN_IN);
        let now = clock::now_ms();
        let expires_ms = (now + millis(limits::PAGE_TOKEN)).min(last);
        let text = format!("{}.{expires_ms}.{}", page.signed_in_ms, page.id);
        PageToken {
            token: self.secrets.sign(Purpose::Page, &text),
            expires_in: Duration::from_millis(expires_ms.saturating_sub(now)),
        }
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SignIn")
    }
}

impl fmt::Debug for PageToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageToken")
            .field("expires_in", &self.expires_in)
            .finish_non_exhaustive()
    }
}

fn random_text() -> Result<String, NoRandomness> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Page, SignIn, millis};
    use crate::floor::{clock, limits};
    use crate::http::secrets::{Purpose, Secrets};
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::time::Instant;

    fn sign_in() -> SignIn {
        SignIn::new(Arc::new(Secrets::new("token", "root")))
    }

    /// Guards I14.
    #[test]
    fn a_code_is_good_once() {
        let sign_in = sign_in();
        let code = sign_in.mint_code().unwrap();
        let token = sign_in.exchange(&code).unwrap().unwrap();
        assert!(sign_in.page(&token.token).is_some());
        assert_eq!(token.expires_in, limits::PAGE_TOKEN);
        assert!(sign_in.exchange(&code).unwrap().is_none());
        assert!(sign_in.exchange("").unwrap().is_none());
    }

    /// Guards I14.
    #[test]
    fn a_code_dies_of_age() {
        let sign_in = sign_in();
        let code = sign_in.mint_code().unwrap();
        let late = Instant::now() + Duration::from_millis(120_001);
        assert!(sign_in.exchange_at(&code, late).unwrap().is_none());
        let before = Instant::now();
        let code = sign_in.mint_code().unwrap();
        let edge = before + Duration::from_mins(2);
        assert!(sign_in.exchange_at(&code, edge).unwrap().is_some());
    }

    /// Guards I15.
    #[test]
    fn codes_nobody_uses_are_bounded() {
        let sign_in = sign_in();
        let first = sign_in.mint_code().unwrap();
        for _ in 0..limits::SIGN_IN_CODES {
            sign_in.mint_code().unwrap();
        }
        assert_eq!(sign_in.codes.lock().unwrap().len(), limits::SIGN_IN_CODES);
        assert!(sign_in.exchange(&first).unwrap().is_none());
    }

    #[test]
    fn the_next_owner_takes_page_tokens_and_another_checkout_does_not() {
        let code = sign_in();
        let token = code.exchange(&code.mint_code().unwrap()).unwrap().unwrap();
        assert!(sign_in().page(&token.token).is_some());
        let other = SignIn::new(Arc::new(Secrets::new("token", "elsewhere")));
        assert!(other.page(&token.token).is_none());
    }

    #[test]
    fn renewal_ends_with_the_sign_in() {
        let sign_in = sign_in();
        let page = |hours: u64| Page {
            id: "x".to_owned(),
            signed_in_ms: clock::now_ms() - millis(Duration::from_hours(hours)),
        };
        assert!(sign_in.renew(&page(1)).is_some());
        let late = sign_in.renew(&page(11)).unwrap();
        assert!(late.expires_in <= Duration::from_hours(1));
        assert!(sign_in.renew(&page(12)).is_none());
        let old = format!("0.{}.x", clock::now_ms() - 1);
        let old = Secrets::new("token", "root").sign(Purpose::Page, &old);
        assert!(sign_in.page(&old).is_none());
    }
}
