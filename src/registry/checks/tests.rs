use serde_json::{Value, json};

use crate::registry::{
    Capability, Example, Exposure, Form, Handler, Kind, Registry, RegistryError, Retry,
};

/// A declaration that passes.
fn sound(id: &'static str) -> Capability {
    let object = json!({"type": "object"});
    Capability {
        id,
        kind: Kind::Query,
        title: "A query",
        description: "Reads.",
        input: object.clone().into(),
        output: object.into(),
        form: Form::Data,
        logs: false,
        retry: Retry::Safe,
        exposure: Exposure::default(),
        examples: Vec::new(),
        members: None,
        retain: None,
        handler: Handler::inline(|_| Ok(json!({}))),
    }
}

/// Checks everything, as `validate` does.
fn built(capabilities: Vec<Capability>) -> Result<(), RegistryError> {
    Registry::new(capabilities)?.verify()
}

#[track_caller]
fn refused(capabilities: Vec<Capability>, parts: &[&str]) -> RegistryError {
    let error = built(capabilities).unwrap_err();
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    error
}

/// Two declarations, changed alike.
fn pair(change: impl Fn(&mut Capability)) -> Vec<Capability> {
    let (mut one, mut two) = (sound("a.one"), sound("a.two"));
    change(&mut one);
    change(&mut two);
    vec![one, two]
}

fn one(change: impl FnOnce(&mut Capability)) -> Vec<Capability> {
    let mut capability = sound("a.one");
    change(&mut capability);
    vec![capability]
}

/// Guards I9.
#[test]
fn what_clashes_names_both_sides() {
    let both = ["a.one", "a.two"];
    let named = |name| [both[0], both[1], name];
    refused(
        pair(|c| c.exposure.tool = Some("majordomus_x")),
        &named("majordomus_x"),
    );
    refused(
        pair(|c| c.exposure.route = Some("/api/v1/x")),
        &named("/api/v1/x"),
    );
    refused(
        pair(|c| c.exposure.resource = Some("majordomus://x")),
        &named("majordomus://x"),
    );
    refused(pair(|c| c.exposure.cli = Some(&["x", "y"])), &named("x y"));
    let (mut first, mut second) = (sound("a.one"), sound("a.one"));
    (first.title, second.title) = ("First", "Second");
    refused(vec![first, second], &["First", "Second", "a.one"]);
}

/// Guards I9: a tool never mixes kinds.
#[test]
fn a_tool_of_two_kinds_is_refused_as_such() {
    let mut both = pair(|c| c.exposure.tool = Some("x"));
    both[1].kind = Kind::Command;
    let error = refused(both, &["a.one", "a.two", "query", "command", "`x`"]);
    assert!(
        matches!(error, RegistryError::MixedKinds { .. }),
        "{error:?}"
    );
}

#[test]
fn two_templates_that_differ_in_a_word_only_are_the_same() {
    let input = json!({"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}});
    let mut both = pair(|c| c.input = input.clone().into());
    both[0].exposure.resource = Some("majordomus://x/{id}");
    both[1].exposure.resource = Some("majordomus://x/{name}");
    refused(both, &["a.one", "a.two"]);
}

#[test]
fn names_that_their_transport_does_not_take_are_refused() {
    for id in ["one", "a.b.c", "A.one", ".one", "a.", "a.1"] {
        refused(vec![sound(id)], &[id, "namespace.local"]);
    }
    for tool in [
        "",
        "a b",
        "a.b",
        "ä",
        "01234567890123456789012345678901234567890123456789012345678901234",
    ] {
        refused(one(|c| c.exposure.tool = Some(tool)), &["a.one", tool]);
    }
    for route in [
        "/x",
        "/api/v1/",
        "/api/v1/x/",
        "/api/v1//x",
        "/api/v1/{id}",
        "/api/v1/X",
    ] {
        refused(one(|c| c.exposure.route = Some(route)), &["a.one", route]);
    }
    for uri in [
        "x",
        "majordomus://",
        "majordomus://a b",
        "test://only-for-suites",
        "majordomus://{",
        "majordomus://{}",
        "http://x",
    ] {
        refused(one(|c| c.exposure.resource = Some(uri)), &["a.one", uri]);
    }
    for prompt in ["", "a b", "ä"] {
        let named = one(|c| (c.kind, c.exposure.prompt) = (Kind::Prompt, Some(prompt)));
        refused(named, &["a.one", prompt]);
    }
    refused(one(|c| c.kind = Kind::Prompt), &["a.one", "no prompt name"]);
    refused(one(|c| c.exposure.prompt = Some("x")), &["a.one", "query"]);
    let empty: &[&str] = &[];
    for words in [empty, &[""], &["A"], &["--x"]] {
        refused(one(|c| c.exposure.cli = Some(words)), &["a.one"]);
    }
    built(one(|c| {
        c.exposure.tool = Some("0123456789012345678901234567890123456789012345678901234567890123");
    }))
    .unwrap();
}

#[test]
fn kinds_keep_their_promises() {
    refused(one(|c| c.kind = Kind::Resource), &["a.one", "resource URI"]);
    let uri = Some("majordomus://x");
    refused(
        one(|c| (c.kind, c.exposure.resource) = (Kind::Command, uri)),
        &["a.one", "majordomus://x", "command"],
    );
    refused(one(|c| c.retry = Retry::Once), &["a.one", "query", "once"]);
    refused(
        one(|c| {
            (c.kind, c.retry) = (Kind::Command, Retry::Keyed);
            c.retain = Some(|_| None);
        }),
        &["a.one", "keyed", "converging"],
    );
    let needs =
        json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
    refused(
        one(|c| (c.input, c.exposure.resource) = (needs.clone().into(), uri)),
        &["a.one", "majordomus://x", "`id`"],
    );
    refused(
        one(|c| c.exposure.resource = Some("majordomus://x/{other}")),
        &["a.one", "`other`"],
    );
    built(one(|c| {
        (c.input, c.exposure.resource) = (needs.into(), Some("majordomus://x/{id}"));
    }))
    .unwrap();
}

#[test]
fn schemas_and_examples_are_held_to_their_word() {
    let bad = |schema: Value| one(|c| c.input = schema.into());
    refused(
        bad(json!({"type": "string"})),
        &["a.one", "input", "object"],
    );
    refused(one(|c| c.output = json!(true).into()), &["a.one", "output"]);
    refused(
        bad(json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/Gone"}}})),
        &["a.one", "#/$defs/Gone"],
    );
    let strict = json!({"type": "object", "additionalProperties": false});
    refused(
        one(|c| {
            c.input = strict.into();
            c.examples = vec![Example {
                title: "wrong",
                arguments: json!({"x": 1}),
            }];
        }),
        &["a.one", "wrong", "`x`"],
    );
}

#[test]
fn components_of_one_name_must_be_equal() {
    let with = |kind: &str| {
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/Thing"}},
            "$defs": {"Thing": {"type": kind}}})
    };
    let mut both = pair(|c| c.output = with("string").into());
    (both[0].exposure.route, both[1].exposure.route) = (Some("/api/v1/a"), Some("/api/v1/b"));
    built(both.clone()).unwrap();
    both[1].output = with("number").into();
    refused(both, &["a.one", "a.two", "`Thing`"]);
    let mut clash = one(|c| c.exposure.route = Some("/api/v1/a"));
    clash[0].output = json!({"type": "object", "$defs": {"Problem": {"type": "object"}}}).into();
    refused(clash, &["a.one", "every refusal", "`Problem`"]);
}

#[test]
fn an_unknown_retry_class_names_the_known_ones() {
    for retry in Retry::ALL {
        assert_eq!(retry.as_str().parse(), Ok(retry));
    }
    let text = "sometimes".parse::<Retry>().unwrap_err().to_string();
    assert_eq!(
        text,
        "unknown retry class `sometimes`: known are `safe`, `keyed`, `converging` and `once`"
    );
}
