//! What is found and what passes. No key stands here as one: each is put together when the test runs.

use super::table::{FORMS, Letters};
use super::{Finding, MOST, scan};

/// Letters that are random enough for a key, the same each time.
fn random(letters: Letters, length: usize) -> String {
    let mut state = 0x2545_f491_u32;
    let mut text = String::new();
    while text.len() < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let byte = (state >> 24) as u8;
        // Of the marks that a key may hold none, since a key must not end with them.
        if letters.holds(byte) && byte.is_ascii_alphanumeric() {
            text.push(char::from(byte));
        }
    }
    text
}

fn key(prefix: &str, letters: Letters, length: usize) -> String {
    format!("{prefix}{}", random(letters, length))
}

fn rules(text: &str) -> Vec<&'static str> {
    scan(text).into_iter().map(|finding| finding.rule).collect()
}

#[track_caller]
fn finds(text: &str, rule: &str) {
    assert_eq!(rules(text), [rule], "{text}");
}

#[track_caller]
fn passes(text: &str) {
    assert_eq!(scan(text), [], "{text}");
}

#[test]
fn a_key_of_every_form_is_found_wherever_it_stands() {
    for form in FORMS {
        let key = key(form.prefix, form.letters, form.least);
        let rule = form.rule;
        for text in [
            key.clone(),
            format!("the key is {key}."),
            format!("call it with `{key}`, please"),
            format!("export SOME_TOKEN={key}\n"),
            format!("{{\"api_key\": \"{key}\"}}"),
            format!("https://example.org/?key={key}&x=1"),
            format!("one\\n{key}\\ntwo"),
            format!("ž{key}ž"),
        ] {
            assert!(rules(&text).contains(&rule), "{rule}: {text}");
            assert_eq!(scan(&text).len(), 1, "{rule}: {text}");
        }
        passes(&format!("it begins with `{}` and goes on", form.prefix));
        passes(&format!("{}{}", form.prefix, "x".repeat(form.least)));
        passes(&format!("{}{}", form.prefix, "1234".repeat(form.least)));
        passes(&format!("{}…", key.get(..form.prefix.len() + 4).unwrap()));
        passes(&format!("word{key}"));
    }
}

#[test]
fn the_keys_that_people_have_most_are_named() {
    for (prefix, letters, length, rule) in [
        ("AKIA", Letters::Base32, 16, "aws-access-key"),
        ("ghp_", Letters::Alphanumeric, 36, "github-token"),
        ("github_pat_", Letters::Word, 82, "github-token"),
        ("sk-ant-api03-", Letters::Url, 95, "anthropic-key"),
        ("sk-ant-oat01-", Letters::Url, 95, "anthropic-key"),
        ("sk-proj-", Letters::Url, 156, "openai-key"),
        ("sk-", Letters::Alphanumeric, 48, "openai-key"),
        ("AIza", Letters::Url, 35, "google-api-key"),
        ("xoxb-", Letters::Url, 50, "slack-token"),
        ("sk_live_", Letters::Alphanumeric, 24, "stripe-key"),
        ("npm_", Letters::Alphanumeric, 36, "npm-token"),
    ] {
        finds(&key(prefix, letters, length), rule);
    }
}

#[test]
fn private_keys_are_found_and_talk_of_them_passes() {
    let body = random(Letters::Alphanumeric, 64);
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let header = format!("-----BEGIN {kind}{}-----", "PRIVATE KEY");
        finds(&format!("{header}\n{body}\n{body}\n"), "private-key");
        finds(&format!("\"{header}\\n{body}\\n\""), "private-key");
        let headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n";
        finds(&format!("{header}\n{headers}{body}\n"), "private-key");
        passes(&format!(
            "a file that begins with `{header}` is not committed"
        ));
    }
    let block = format!("-----BEGIN PGP {} BLOCK-----\n\n{body}\n", "PRIVATE KEY");
    finds(&block, "private-key");
    passes(&format!("-----BEGIN CERTIFICATE-----\n{body}\n"));
    passes(&format!("-----BEGIN PUBLIC KEY-----\n{body}\n"));
}

#[test]
fn signed_tokens_are_found() {
    let part = random(Letters::Alphanumeric, 40);
    let token = format!("eyJ{part}.eyJ{part}.{part}");
    finds(&token, "signed-token");
    finds(&format!("Authorization: Bearer {token}"), "signed-token");
    passes(&format!("eyJ{part}"));
    passes(&format!("eyJ{part}.{part}.{part}"));
    passes("a token is `eyJ….eyJ….signature`");
}

#[test]
fn what_is_assigned_to_a_secrets_name_is_found() {
    // Put together, so that no scanner takes this file for a leak.
    let long = random(Letters::Alphanumeric, 32);
    for value in ["hunter2", "Tr0ub4dor&3", "p@ssword!", long.as_str()] {
        for text in [
            format!("password = \"{value}\""),
            format!("PASSWORD='{value}'"),
            format!("db.password: \"{value}\""),
            format!("\"client_secret\": \"{value}\","),
            format!("let api_key = \"{value}\";"),
            format!("const accessKey: string = \"{value}\""),
            format!("the **password**: \"{value}\" is the old one"),
            format!("postgres://app:{value}@db.example.org/app"),
        ] {
            assert_eq!(scan(&text).len(), 1, "{text}");
        }
    }
    for text in [
        format!("DB_PASSWORD={long}"),
        format!("export API_KEY={long}"),
        format!("  - secret: {long}\n"),
        format!("- **API token:** {long}"),
        format!("- **API token**: `{long}`"),
        format!("The staging token is kept by Ana; token: {long}, until May."),
        format!("curl -H 'Authorization: Bearer {long}' https://example.org"),
        format!("curl -H \"X-Api-Key: {long}\" https://example.org"),
        format!("https://example.org/x?access_token={long}&y=1"),
        format!("password := \"{long}\""),
        format!("password => \"{long}\""),
    ] {
        finds(&text, "assigned-secret");
    }
}

#[test]
fn prose_about_secrets_passes() {
    for text in [
        "the webhook secret: Kubernetes mounts it at /etc/hooks, and nobody reads it",
        "auth token = short-lived, refreshed hourly",
        "Password: argon2id with 19 MiB, 2 passes",
        "- token: OAuth2.0\n- secret: base64url\n- password: bcrypt",
        "token: sha256 of the name",
        "secret: rotated-2026-05-01",
        "secret: aes-256-gcm",
        "The password = whatever the vault says.",
        "password = \"the one in 1Password\"",
        "password = \"changeme\"",
        "password = \"your-password-1\"",
        "password = \"<password1>\"",
        "password = \"${DB_PASSWORD_1}\"",
        "password = \"{{ vault.db1 }}\"",
        "password = os.environ[\"DB_PASSWORD_1\"]",
        "const token = await getToken2();",
        "token = req.headers[\"x-auth2\"]",
        "let token: Option<String1> = None;",
        "password: string; // min8",
        "secret: \"my-app-tls-v2\"",
        "secret: \"projects/123/secrets/db-password/versions/4\"",
        "max_tokens = 200000\ntokens: 128k\ntokenizer = \"cl100k_base\"",
        "token_type = \"bearer2\"\npassword_min_length = 12",
        "primary key = a1b2c3d4e5f6a7b8c9d0",
        "public_key = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3\"",
        "secret: see https://wiki.example.org/secrets/2026",
        "token: 6f1c2f5e-7a54-4f0e-9d0a-3b8b7f0a9c11",
        "Authorization: Bearer <token>",
        "Authorization: Basic auth, which nobody should use in 2026",
        "https://user:password@example.org and https://user:$TOKEN1@example.org",
        "ssh://git@github.com:22/org/repo.git, git@github.com:org/repo.git",
        "secret: ****************",
        "GitHub tokens begin with ghp_, Slack's with xoxb-, Stripe's with sk_live_",
        "AKIAIOSFODNN7EXAMPLE",
        "a task-management-system-for-everyone-and-everything, a risk-assessment",
        "",
        "\u{feff}ž漢🦀",
    ] {
        passes(text);
    }
}

#[test]
fn hashes_ids_and_pictures_pass() {
    let hex: String = random(Letters::Hex, 64).to_ascii_lowercase();
    let picture = random(Letters::Alphanumeric, 4000);
    for text in [
        format!("fixed in {}", &hex[..40]),
        format!("commit: {}", &hex[..40]),
        format!("sha256:{hex}"),
        format!("integrity = \"sha512-{picture}==\""),
        format!("![a](data:image/png;base64,iVBORw0KGgo{picture}=)"),
        "019412e4-7d6c-7c3a-9c3e-0123456789ab".to_owned(),
        "id: 019412e4-7d6c-7c3a-9c3e-0123456789ab".to_owned(),
        format!("https://example.org/{picture}"),
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3".to_owned(),
        format!("etag = \"{}\"", &hex[..32]),
    ] {
        passes(&text);
    }
}

/// Guards I15.
#[test]
fn a_finding_holds_nothing_of_the_secret() {
    let secret = random(Letters::Alphanumeric, 40);
    let name = format!("{}_password", "a".repeat(100));
    let text = format!(
        "one\ntwo ghp_{secret}\n\npassword = \"{secret}\"\r\n{name}: \"{secret}\"\nhttps://a:{secret}@b.org\n"
    );
    let found = scan(&text);
    let lines: Vec<_> = found.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [2, 4, 5, 6]);
    assert_eq!(
        found[0],
        Finding {
            rule: "github-token",
            line: 2,
            preview: "ghp_…".to_owned()
        }
    );
    assert_eq!(found[1].preview, "password = …");
    for finding in &found {
        let shown = format!("{finding:?}");
        assert!(finding.preview.chars().count() <= 48, "{shown}");
        for at in 0..secret.len() - 4 {
            assert!(!shown.contains(&secret[at..at + 4]), "{shown}");
        }
    }
}

#[test]
fn a_text_full_of_secrets_is_told_of_within_a_bound() {
    let line = format!("{}\n", key("ghp_", Letters::Alphanumeric, 36));
    assert_eq!(scan(&line.repeat(1000)).len(), MOST);
    // Neither marks nor openings make it slow: each is looked at once.
    for text in ["=:", "password=", "eyJ", "-----BEGIN ", "://", "a@:", "sk-"] {
        let _nothing_or_something = scan(&text.repeat(64 * 1024 / text.len()));
    }
}
