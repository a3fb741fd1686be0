//! Lengths of time as people write them: `90s`, `30m`, `2h`, `1d`.

use std::time::Duration;

/// The longest time that `--for` takes.
const LONGEST: Duration = Duration::from_hours(24);

/// Parses `90s`, `30m`, `2h` or `1d`; at least one second, at most a day.
///
/// # Errors
/// A sentence for clap that says what is wrong.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number and a unit, such as 90s, 30m or 2h".to_owned();
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let seconds_each: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let digits = text.strip_suffix(unit).unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(wrong());
    }
    let seconds = digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(seconds_each))
        .map(Duration::from_secs);
    match seconds {
        Some(length) if length.is_zero() => Err("at least one second".to_owned()),
        Some(length) if length <= LONGEST => Ok(length),
        _ => Err("at most one day".to_owned()),
    }
}

/// Renders a length of time for people, in its two largest units: `2 d 3 h`, `5 min 2 s`, `40 ms`.
#[must_use]
pub fn words(length: Duration) -> String {
    let seconds = length.as_secs();
    if seconds == 0 {
        return format!("{} ms", length.as_millis());
    }
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let first = parts.iter().position(|part| part.0 > 0).unwrap_or(3);
    parts
        .iter()
        .skip(first)
        .take(2)
        .filter(|part| part.0 > 0)
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{parse, words};

    #[test]
    fn a_number_and_a_unit_are_needed() {
        assert_eq!(parse("30m"), Ok(Duration::from_mins(30)));
        assert_eq!(parse("24h"), Ok(Duration::from_hours(24)));
        for wrong in [
            "", "m", "30", "-1m", "+1m", "1.5h", "30 m", "30м", "0s", "25h",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse("99999999999999999999d").is_err());
    }

    #[test]
    fn lengths_are_said_in_two_units_at_most() {
        assert_eq!(words(Duration::from_millis(40)), "40 ms");
        assert_eq!(words(Duration::from_secs(302)), "5 min 2 s");
        assert_eq!(words(Duration::from_hours(51)), "2 d 3 h");
        assert_eq!(words(Duration::from_hours(1)), "1 h");
    }
}
