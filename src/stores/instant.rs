//! Dates as stores have them, read by what they mean and never compared as text.

/// Reads RFC 3339, and the same with a space for the `T` or without an offset, as milliseconds since 1970; what is before
/// 1970 is 0. `None` for anything else.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let mut parts = date.split('-');
    let year: i64 = digits(parts.next()?, 4)?;
    let month: i64 = digits(parts.next()?, 2)?;
    let day: i64 = digits(parts.next()?, 2)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (time, rest) = (rest.get(..8)?, rest.get(8..)?);
    let mut parts = time.split(':');
    let hour: i64 = digits(parts.next()?, 2)?;
    let minute: i64 = digits(parts.next()?, 2)?;
    let second: i64 = digits(parts.next()?, 2)?;
    let is_date = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (millis, zone) = match rest.strip_prefix('.') {
        None => (0, rest),
        Some(fraction) => {
            let end = fraction
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(fraction.len());
            let shown = fraction
                .get(..end.min(3))
                .filter(|shown| !shown.is_empty())?;
            let scale = [100, 10, 1].get(shown.len() - 1)?;
            (shown.parse::<i64>().ok()? * scale, fraction.get(end..)?)
        }
    };
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let ms = (seconds - offset(zone)?) * 1000 + millis;
    Some(u64::try_from(ms).unwrap_or(0))
}

/// Whether mnemon reads the text as a date: RFC 3339, with the `T` and an offset.
#[must_use]
pub fn is_strict(text: &str) -> bool {
    parse(text).is_some() && text.as_bytes().get(10) == Some(&b'T') && {
        text.ends_with('Z') || text.get(19..).is_some_and(|rest| rest.contains(['+', '-']))
    }
}

/// Gives a date the form that mnemon reads: `2026-06-06 23:00:00` becomes `2026-06-06T23:00:00Z`. Other text stays.
#[must_use]
pub fn normal(text: &str) -> String {
    if parse(text).is_none() || is_strict(text) {
        return text.to_owned();
    }
    let (date, time) = text.split_at(10);
    let time = time.get(1..).unwrap_or_default();
    let has_zone = time.ends_with(['Z', 'z']) || time.contains(['+', '-']);
    let zone = if has_zone { "" } else { "Z" };
    format!("{date}T{}{zone}", time.replace('z', "Z"))
}

fn digits(text: &str, length: usize) -> Option<i64> {
    let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// The seconds that a zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0);
    }
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_of(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar, whose year is taken to begin in March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{is_strict, normal, parse};

    /// Gap 3: a text compare of dates takes `.500Z` for earlier than `Z`, and a foreign offset for local time.
    #[test]
    fn dates_are_ordered_by_what_they_mean() {
        let ms = |text| parse(text).unwrap();
        assert_eq!(ms("1970-01-02T00:00:00Z"), 86_400_000);
        assert_eq!(ms("2000-03-01T00:00:00Z"), 951_868_800_000);
        assert!(ms("2026-06-06T20:00:00.500Z") > ms("2026-06-06T20:00:00Z"));
        assert!(ms("2026-06-06T21:30:00+02:00") < ms("2026-06-06T20:00:00Z"));
        assert!(ms("2026-06-06 23:00:00") > ms("2026-06-06T20:00:00Z"));
        assert_eq!(ms("2026-06-06T20:00:00+00:00"), ms("2026-06-06T20:00:00Z"));
    }

    #[test]
    fn what_is_no_date_is_none_and_stays_as_it_is() {
        for text in [
            "",
            "2026",
            "2026-02-30T00:00:00Z",
            "2026-06-06T24:00:00Z",
            "x026-06-06T20:00:00Z",
            "2026-06-06T20:00:00x",
            "2026-06-06T20:00:00.Z",
            "2026-06-06T2€:00:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
            assert_eq!(normal(text), text);
        }
        assert_eq!(parse("1969-01-01T00:00:00Z"), Some(0));
    }

    #[test]
    fn a_date_is_given_the_form_that_mnemon_reads() {
        for text in [
            "2026-06-06 23:00:00",
            "2026-06-06T23:00:00",
            "2026-06-06 23:00:00Z",
        ] {
            assert!(!is_strict(text));
            assert_eq!(normal(text), "2026-06-06T23:00:00Z");
        }
        assert_eq!(
            normal("2026-06-06T23:00:00+02:00"),
            "2026-06-06T23:00:00+02:00"
        );
    }
}
