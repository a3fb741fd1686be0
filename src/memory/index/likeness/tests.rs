use uuid::Uuid;

use super::{ALIKE, Likeness};
use crate::memory::note::{Kind, Note};

/// Whether two notes with these titles and bodies say nearly the same.
fn alike(one: [&str; 2], other: [&str; 2]) -> bool {
    let [one, other] = [one, other].map(|[title, body]| {
        let (title, body) = (title.to_owned(), body.to_owned());
        Likeness::of(&Note::new(Kind::Memory, Uuid::nil(), title, body))
    });
    let alike = |one: &Likeness, other: &Likeness| {
        one.strict == other.strict && one.shared(&other.bytes()) >= ALIKE
    };
    assert_eq!(alike(&one, &other), alike(&other, &one));
    alike(&one, &other)
}

#[test]
fn notes_in_other_forms_of_the_same_words_say_nearly_the_same() {
    for (one, other) in [
        ("Deploys happen on Thursdays", "We deploy on Thursdays"),
        (
            "Deploys are frozen on Fridays",
            "On Friday the deploy is frozen",
        ),
        (
            "The queue holds 9 jobs",
            "9 jobs are held by the queue: it holds no more of a job",
        ),
        (
            "Auslieferungen sind freitags gesperrt",
            "Freitags sind die Auslieferungen gesperrt",
        ),
        ("東京駅で待ち合わせる", "東京駅で待ち合わせる。"),
    ] {
        let denies = other.contains("no more");
        assert_eq!(alike([one, ""], [other, ""]), !denies, "{one} / {other}");
    }
    let body = "Friday deploys kept people at work over the weekend twice.";
    assert!(alike(
        ["Deploys happen on Thursdays", body],
        [
            "We deploy on Thursdays",
            "Friday deploys have kept people at work over the weekend, twice."
        ],
    ));
}

#[test]
fn what_turns_a_sentence_around_makes_it_another_one() {
    for (one, other) in [
        (
            "deploys are frozen on Fridays",
            "deploys are not frozen on Fridays",
        ),
        (
            "deploys are frozen on Fridays",
            "deploys aren't frozen on Fridays",
        ),
        (
            "deploys are frozen on Fridays",
            "deploys are never frozen on Fridays",
        ),
        (
            "Auslieferungen sind freitags gesperrt",
            "Auslieferungen sind freitags nicht gesperrt",
        ),
        (
            "Freitags gibt es Auslieferungen",
            "Freitags gibt es keine Auslieferungen",
        ),
        ("金曜日に配備することがある", "金曜日に配備することがない"),
        (
            "the parser of all requests holds 64 bytes",
            "the parser of all requests holds 65 bytes",
        ),
        (
            "call parseHttp before the request is read",
            "call parseHttps before the request is read",
        ),
        (
            "the limit of requests is in src/http.rs",
            "the limit of requests is in src/https.rs",
        ),
        (
            "the flag of the parser is `body_limit`",
            "the flag of the parser is `body_size`",
        ),
    ] {
        assert!(!alike([one, ""], [other, ""]), "{one} / {other}");
    }
}

#[test]
fn notes_that_share_a_name_and_little_else_are_two() {
    for (one, other) in [
        ("API v2は来月廃止する", "API v2の認証には鍵を使う"),
        ("API v2 is slow on Mondays", "API v2 needs a key"),
        ("Deploys happen on Thursdays", "Deploys happen on Fridays"),
        ("", ""),
    ] {
        assert!(!alike([one, ""], [other, ""]), "{one} / {other}");
    }
}
