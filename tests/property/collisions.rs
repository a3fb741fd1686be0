//! Scopes: what is normalised stays what it was, and no collision is missed.

use majordomus::board::scope::parse;
use proptest::prelude::*;

/// Parts of a path that people and attackers write.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab]{1,2}",
        1 => Just("..".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just(String::new()),
        1 => "[*?]{1,2}",
        1 => Just("[ab]".to_owned()),
        1 => Just("{a,b}".to_owned()),
        1 => "[\\[\\]{},!-]{1,4}",
    ]
}

fn entry() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 1..5).prop_map(|parts| parts.join("/"))
}

fn plain() -> impl Strategy<Value = String> {
    prop::collection::vec("[ab]{1,2}", 1..4).prop_map(|parts| parts.join("/"))
}

/// Whether one path is the other or lies below it.
fn related(one: &str, other: &str) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (one.split('/').collect(), other.split('/').collect());
    one.starts_with(&other) || other.starts_with(&one)
}

proptest! {
    #[test]
    fn a_normal_form_is_normal(text in entry()) {
        if let Ok(entries) = parse(&[&text]) {
            let form = entries[0].as_str();
            let again = parse(&[form]).unwrap();
            prop_assert_eq!(again[0].as_str(), form);
            prop_assert!(!form.starts_with('/') && !form.ends_with('/') && !form.contains("//"));
            prop_assert!(form.split('/').all(|part| part != ".."), "{}", form);
        }
    }

    #[test]
    fn anything_at_all_is_parsed_or_refused(text in any::<String>()) {
        drop(parse(&[&text]));
    }

    #[test]
    fn meeting_is_symmetric_and_every_entry_meets_itself(one in entry(), other in entry()) {
        if let (Ok(one), Ok(other)) = (parse(&[one]), parse(&[other])) {
            prop_assert_eq!(one[0].meets(&other[0]), other[0].meets(&one[0]));
            prop_assert!(one[0].meets(&one[0]));
        }
    }

    #[test]
    fn plain_paths_meet_when_one_contains_the_other(one in plain(), other in plain()) {
        let (a, b) = (parse(&[&one]).unwrap(), parse(&[&other]).unwrap());
        prop_assert_eq!(a[0].meets(&b[0]), related(&one, &other));
    }

    /// A glob made by blurring a path still meets that path, and whatever lies above or below it.
    #[test]
    fn blurring_a_path_loses_no_collision(path in plain(), blur in prop::collection::vec(0_u8..6, 12)) {
        let glob: Vec<String> = path
            .split('/')
            .zip(&blur)
            .map(|(part, how)| match how {
                0 => "*".to_owned(),
                1 => "?".repeat(part.len()),
                2 => "**".to_owned(),
                3 => format!("{part}*"),
                4 => format!("{{x,{part}}}"),
                _ => part.chars().flat_map(|c| ['[', c, 'x', ']']).collect(),
            })
            .collect();
        let glob = glob.join("/");
        let blurred = parse(&[&glob]).unwrap();
        let exact = parse(&[&path]).unwrap();
        prop_assert!(blurred[0].meets(&exact[0]), "{} and {}", glob, path);
        let below = parse(&[format!("{path}/below")]).unwrap();
        prop_assert!(blurred[0].meets(&below[0]), "{} and {}/below", glob, path);
        if let Some((above, _)) = path.rsplit_once('/') {
            let above = parse(&[above]).unwrap();
            prop_assert!(blurred[0].meets(&above[0]), "{} and what is above {}", glob, path);
        }
    }
}
