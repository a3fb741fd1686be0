//! Keys that say themselves what they are: a prefix that their issuer gave them so that they can be found, and what follows.
//!
//! *Sources:* the issuers' own pages where they state the form (GitHub "About authentication", GitLab "Token overview",
//! Slack "Tokens", Stripe "API keys", AWS "IAM identifiers", npm "About access tokens", `PyPI` "API tokens"); for the others
//! the rules of gitleaks 8 (`config/gitleaks.toml`, MIT), of which only prefix, letters and length were taken, as facts.

/// What a key is made of behind its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    /// `0-9a-fA-F`.
    Hex,
    /// `A-Z2-7`.
    Base32,
    /// `A-Za-z0-9`.
    Alphanumeric,
    /// The same and `_`.
    Word,
    /// The same and `-`.
    Url,
    /// The same and `.`.
    Dotted,
    /// The same, `/`, `+` and `=`.
    Any,
}

impl Letters {
    /// Whether a key may hold this byte.
    pub(super) fn holds(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Base32 => matches!(byte, b'A'..=b'Z' | b'2'..=b'7'),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Word => Self::Alphanumeric.holds(byte) || byte == b'_',
            Self::Url => Self::Word.holds(byte) || byte == b'-',
            Self::Dotted => Self::Url.holds(byte) || byte == b'.',
            Self::Any => Self::Dotted.holds(byte) || matches!(byte, b'/' | b'+' | b'='),
        }
    }
}

/// A form of key.
#[derive(Debug)]
pub(super) struct Form {
    /// The rule's name.
    pub(super) rule: &'static str,
    /// What it begins with.
    pub(super) prefix: &'static str,
    /// What follows.
    pub(super) letters: Letters,
    /// How much of that at least, in bytes.
    pub(super) least: usize,
    /// And at most.
    pub(super) most: usize,
}

const fn form(
    rule: &'static str,
    prefix: &'static str,
    letters: Letters,
    least: usize,
    most: usize,
) -> Form {
    Form {
        rule,
        prefix,
        letters,
        least,
        most,
    }
}

/// Longer than any key, where its issuer names no length; no more is looked at, so that no text makes the look long.
pub(super) const OPEN: usize = 2048;

use Letters::{Alphanumeric, Any, Base32, Dotted, Hex, Url, Word};

/// Every form; of two that fit, the one that stands first.
pub(super) const FORMS: &[Form] = &[
    form("aws-access-key", "AKIA", Base32, 16, 16),
    form("aws-access-key", "ASIA", Base32, 16, 16),
    form("aws-access-key", "ABIA", Base32, 16, 16),
    form("aws-access-key", "ACCA", Base32, 16, 16),
    form("github-token", "ghp_", Word, 36, OPEN),
    form("github-token", "gho_", Word, 36, OPEN),
    form("github-token", "ghu_", Word, 36, OPEN),
    form("github-token", "ghs_", Dotted, 36, OPEN),
    form("github-token", "ghr_", Word, 36, OPEN),
    form("github-token", "github_pat_", Word, 60, OPEN),
    form("gitlab-token", "glpat-", Dotted, 20, OPEN),
    form("gitlab-token", "gldt-", Dotted, 20, OPEN),
    form("gitlab-token", "glrt-", Dotted, 20, OPEN),
    form("gitlab-token", "glcbt-", Dotted, 20, OPEN),
    form("gitlab-token", "glptt-", Dotted, 20, OPEN),
    form("anthropic-key", "sk-ant-", Url, 40, OPEN),
    form("openrouter-key", "sk-or-v1-", Hex, 64, 64),
    form("openai-key", "sk-proj-", Url, 40, OPEN),
    form("openai-key", "sk-svcacct-", Url, 40, OPEN),
    form("openai-key", "sk-admin-", Url, 40, OPEN),
    form("openai-key", "sk-", Alphanumeric, 32, OPEN),
    form("google-api-key", "AIza", Url, 35, 35),
    form("google-oauth-secret", "GOCSPX-", Url, 28, 28),
    form("google-oauth-token", "ya29.", Url, 40, OPEN),
    form("slack-token", "xoxb-", Url, 24, OPEN),
    form("slack-token", "xoxp-", Url, 24, OPEN),
    form("slack-token", "xoxa-", Url, 24, OPEN),
    form("slack-token", "xoxr-", Url, 24, OPEN),
    form("slack-token", "xoxs-", Url, 24, OPEN),
    form("slack-token", "xoxe-", Url, 24, OPEN),
    form("slack-token", "xapp-", Url, 24, OPEN),
    form("slack-webhook", "hooks.slack.com/services/", Any, 40, OPEN),
    form(
        "discord-webhook",
        "discord.com/api/webhooks/",
        Any,
        60,
        OPEN,
    ),
    form("stripe-key", "sk_live_", Alphanumeric, 16, OPEN),
    form("stripe-key", "rk_live_", Alphanumeric, 16, OPEN),
    form("stripe-key", "sk_test_", Alphanumeric, 16, OPEN),
    form("stripe-key", "rk_test_", Alphanumeric, 16, OPEN),
    form("stripe-webhook-secret", "whsec_", Any, 32, OPEN),
    form("npm-token", "npm_", Alphanumeric, 36, 36),
    form("pypi-token", "pypi-AgE", Url, 50, OPEN),
    form("rubygems-key", "rubygems_", Hex, 48, 48),
    form("docker-token", "dckr_pat_", Url, 27, OPEN),
    form("huggingface-token", "hf_", Alphanumeric, 34, 40),
    form("groq-key", "gsk_", Alphanumeric, 48, OPEN),
    form("xai-key", "xai-", Alphanumeric, 70, OPEN),
    form("perplexity-key", "pplx-", Alphanumeric, 40, OPEN),
    form("replicate-token", "r8_", Alphanumeric, 37, 40),
    form("sendgrid-key", "SG.", Dotted, 60, OPEN),
    form("twilio-key", "SK", Hex, 32, 32),
    form("shopify-token", "shpat_", Hex, 32, 32),
    form("shopify-token", "shpss_", Hex, 32, 32),
    form("shopify-token", "shpca_", Hex, 32, 32),
    form("digitalocean-token", "dop_v1_", Hex, 64, 64),
    form("digitalocean-token", "doo_v1_", Hex, 64, 64),
    form("databricks-token", "dapi", Hex, 32, 34),
    form("atlassian-token", "ATATT3", Any, 100, OPEN),
    form("linear-key", "lin_api_", Alphanumeric, 40, OPEN),
    form("notion-token", "ntn_", Alphanumeric, 40, OPEN),
    form("figma-token", "figd_", Url, 38, OPEN),
    form("postman-key", "PMAK-", Url, 50, OPEN),
    form("newrelic-key", "NRAK-", Alphanumeric, 27, 27),
    form("sentry-token", "sntrys_", Any, 60, OPEN),
    form("sentry-token", "sntryu_", Hex, 64, 64),
    form("grafana-token", "glsa_", Word, 40, OPEN),
    form("grafana-token", "glc_", Any, 40, OPEN),
    form("supabase-token", "sbp_", Hex, 40, 40),
    form("pulumi-token", "pul-", Hex, 40, 40),
    form("vault-token", "hvs.", Url, 24, OPEN),
    form("vault-token", "hvb.", Url, 24, OPEN),
    form("doppler-token", "dp.pt.", Alphanumeric, 40, OPEN),
    form("tailscale-key", "tskey-", Url, 20, OPEN),
    form("1password-token", "ops_eyJ", Any, 100, OPEN),
    form("age-key", "AGE-SECRET-KEY-1", Alphanumeric, 58, 58),
];
