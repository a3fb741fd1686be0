//! Whether a value is a secret or only stands where one would.

/// Bits a character below which a value is a pattern (`xxxx`, `12341234`) and no key; gitleaks has the same bound.
const KEY_BITS: f64 = 3.0;
/// The bound where nothing but the value itself speaks for it.
const BARE_BITS: f64 = 3.5;
/// The longest part of a name that may mix letters and digits: `v2`, `s3`, `k8s`.
const SHORT_PART: usize = 4;

/// What people write in a secret's place, in lower case. None is likely in a random text of a key's length.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "redacted",
    "dummy",
    "your",
    "xxxx",
    "****",
    "....",
    "abcdefgh",
    "12345678",
    "deadbeef",
];

/// How sure what stands around a value makes that it is meant literally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    /// It is in quotes.
    Quotes,
    /// It is all that a line assigns.
    Line,
    /// Prose.
    Prose,
}

/// Whether what follows a key's prefix is random, as a key is.
pub(super) fn is_random(value: &str) -> bool {
    bits(value) >= KEY_BITS && !is_placeholder(value)
}

/// Whether a value that is assigned to a secret's name is one.
pub(super) fn is_secret(value: &str, around: Around) -> bool {
    let least = match around {
        Around::Quotes => 6,
        Around::Line => 10,
        Around::Prose => 16,
    };
    if value.len() < least || !value.is_ascii() || is_reference(value) || is_placeholder(value) {
        return false;
    }
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let has_letter = has(u8::is_ascii_alphabetic);
    let has_digit = has(u8::is_ascii_digit);
    let has_mark = has(|byte| b"!@#$%^&*+=?~".contains(byte));
    let mixed = has_letter && (has_digit || has_mark);
    let bound = match around {
        Around::Quotes => 0.0,
        Around::Line => KEY_BITS,
        Around::Prose => BARE_BITS,
    };
    mixed && !is_uuid(value) && !is_name(value) && bits(value) >= bound
}

/// Whether it is what people write in a secret's place.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// Whether it says where the secret is: a variable, a template, a call, an address.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '<', '{', '%', '[', '(', '/', '@', '&', '#', '~'])
        || value.contains(['(', ')', '[', ']', '{', '}', '<', '>', '\\'])
        || value.contains("://")
        || value.contains("::")
        || value.contains("env.")
}

/// Words, numbers and short parts with something between: `aes-256-gcm`, `2026-05-01`, `my-app-tls-v2`, `a.b.c`.
fn is_name(value: &str) -> bool {
    let is_part = |part: &str| {
        part.len() <= SHORT_PART
            || part.bytes().all(|byte| byte.is_ascii_alphabetic())
            || part.bytes().all(|byte| byte.is_ascii_digit())
    };
    value.split(['-', '_', '.', '/', ':', '@']).all(is_part)
        && !(value.len() > SHORT_PART && value.contains(['!', '#', '$', '%', '^', '*', '+', '?']))
}

fn is_uuid(value: &str) -> bool {
    value.len() == 36 && uuid::Uuid::try_parse(value).is_ok()
}

/// Shannon's entropy, in bits a byte.
fn bits(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let all = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let shares = counts.iter().filter(|count| **count > 0);
    shares
        .map(|count| {
            let share = f64::from(*count) / all;
            -share * share.log2()
        })
        .sum()
}
