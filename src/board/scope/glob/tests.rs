use super::{Automaton, Meet};

/// Whether `path` is what `glob` stands for or lies below it: written the plain way, as the judge of the automaton.
fn stands_for(glob: &[char], path: &[char], fresh: bool) -> bool {
    let cut = |from: usize| glob.get(from..).unwrap_or_default();
    let tails = || (0..=path.len()).map(|at| path.split_at(at));
    match glob {
        [] => path.is_empty() || path.first() == Some(&'/'),
        ['*', '*', '/', ..] if fresh => tails().any(|(before, after)| {
            (before.is_empty() || before.ends_with(&['/'])) && stands_for(cut(3), after, true)
        }),
        ['*', '*'] if fresh => !path.is_empty(),
        ['*', '*', '/', ..] => tails().any(|(_, after)| {
            stands_for(cut(3), after, true)
                || after.first() == Some(&'/') && stands_for(cut(3), &after[1..], true)
        }),
        ['*', '*', ..] => tails().any(|(_, after)| stands_for(cut(2), after, false)),
        ['*', ..] => tails()
            .take_while(|(before, _)| !before.contains(&'/'))
            .any(|(_, after)| stands_for(cut(1), after, false)),
        ['?', ..] => {
            path.first().is_some_and(|c| *c != '/') && stands_for(cut(1), &path[1..], false)
        }
        [c, ..] => path.first() == Some(c) && stands_for(cut(1), &path[1..], *c == '/'),
    }
}

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

/// Every path over `a`, `b` and `/` of up to five characters that could be a file's.
fn paths() -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..5 {
        last = last
            .iter()
            .flat_map(|path| ["a", "b", "/"].map(|c| format!("{path}{c}")))
            .collect();
        all.extend(last.clone());
    }
    all.retain(|path| !path.is_empty() && path.split('/').all(|part| !part.is_empty()));
    all
}

mod properties {
    use proptest::prelude::*;

    use super::{Automaton, Meet, chars, paths, stands_for};

    fn glob() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("a"),
            Just("b"),
            Just("ab"),
            Just("*"),
            Just("**"),
            Just("?"),
            Just("a*"),
            Just("*b"),
            Just("a**"),
            Just("?a"),
        ];
        prop::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
    }

    proptest! {
        /// No collision is missed, and none is named that no path can show.
        #[test]
        fn two_globs_meet_exactly_where_a_path_belongs_to_both(one in glob(), two in glob()) {
            let (a, b) = (chars(&one), chars(&two));
            let met = Automaton::new(&one).meet(&Automaton::new(&two), 1_000_000).0;
            let shared = paths()
                .into_iter()
                .find(|path| stands_for(&a, &chars(path), true) && stands_for(&b, &chars(path), true));
            if let Some(path) = shared {
                prop_assert!(matches!(met, Meet::At(_)), "{one} and {two} share {path}");
            }
            if let Meet::At(path) = met {
                let path = chars(&path);
                prop_assert!(stands_for(&a, &path, true) && stands_for(&b, &path, true), "{one} {two}");
            }
        }
    }
}

fn meet(one: &str, two: &str) -> bool {
    let (a, b) = (Automaton::new(one), Automaton::new(two));
    let met = |a: &Automaton, b: &Automaton| match a.meet(b, 100_000).0 {
        Meet::At(_) => true,
        Meet::Nowhere => false,
        Meet::Unknown => panic!("{one} {two}: too large"),
    };
    assert_eq!(met(&a, &b), met(&b, &a), "{one} {two}: not symmetric");
    met(&a, &b)
}

#[test]
fn globs_meet_where_an_automaton_can_tell() {
    for (one, two) in [
        ("src/*.rs", "src/main.rs"),
        ("src/**/*.rs", "src/a/b/c.rs"),
        ("src/**/*.rs", "src/c.rs"),
        ("src/**", "src/a"),
        ("src/**", "src"),
        ("**/*.rs", "*.rs"),
        ("a/[a-c]x", "a/bx"),
        ("a/[!a-c]x", "a/dx"),
        ("{src,tests}/**", "tests/it/*.rs"),
        ("a{b,{c,d}e}f", "adef"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("app/[id]/page.tsx", "app/*/page.tsx"),
        ("a/*", "a/b/c"),
        ("x{", "x{"),
        ("[]a]b", "]b"),
        ("änder/*", "änder/ß"),
    ] {
        assert!(meet(one, two), "{one} and {two} meet");
    }
    for (one, two) in [
        ("src/*.rs", "src/*.toml"),
        ("src/*.rs", "tests/*.rs"),
        ("a/[a-c]x", "a/dx"),
        ("a/[!a-c]x", "a/bx"),
        ("a?c", "ac"),
        ("a?c", "a/c"),
        ("{a,b}/x", "c/x"),
        ("src", "srcs/*"),
    ] {
        assert!(!meet(one, two), "{one} and {two} do not meet");
    }
}

#[test]
fn a_walk_past_its_bound_says_so() {
    let (a, b) = (Automaton::new("*a*b*c*d*"), Automaton::new("*d*c*b*a*"));
    assert_eq!(a.meet(&b, 3).0, Meet::Unknown);
}
