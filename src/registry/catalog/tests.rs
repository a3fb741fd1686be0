use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Registry, unfold};
use crate::registry::{
    Answer, Call, Caller, Capability, Client, Delivery, Exposure, Form, Handler, Kind, Progress,
    RefusalCode, Retry, Transport,
};

fn call(arguments: Value) -> Call {
    Call {
        caller: Arc::new(Caller {
            peer: None,
            transport: Transport::Api,
            name: None,
            version: None,
            hooked: false,
        }),
        arguments,
        delivery: Delivery::New,
        key: None,
        cancel: CancellationToken::new(),
        progress: Progress::none(),
        client: Client::none(),
    }
}

fn capability(id: &'static str, handler: Handler) -> Capability {
    Capability {
        id,
        kind: Kind::Query,
        title: "Test",
        description: "Tests.",
        input: json!({"type": "object", "properties": {"n": {"type": "integer"}, "id": {"type": "string"}},
            "additionalProperties": false}).into(),
        output: json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}).into(),
        form: Form::Data,
        logs: false,
        retry: Retry::Safe,
        exposure: Exposure::default(),
        examples: Vec::new(),
        members: None,
        retain: None,
        handler,
    }
}

fn run(registry: &Registry, id: &str, arguments: Value) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(registry.call(registry.get(id).unwrap(), call(arguments)))
}

fn registry() -> Registry {
    Registry::new(vec![
        capability(
            "test.echo",
            Handler::inline(|call| Ok(call.arguments.clone())),
        ),
        capability("test.panic", Handler::inline(|_| panic!("inline"))),
        capability(
            "test.panic_late",
            Handler::task(|_| async {
                tokio::task::yield_now().await;
                panic!("late")
            }),
        ),
        capability(
            "test.panic_first",
            Handler::task(|call: Call| {
                assert!(call.peer().is_some(), "first");
                async { Ok(json!({"n": 1})) }
            }),
        ),
    ])
    .unwrap()
}

/// Guards I15: a panic answers for that request alone.
#[test]
fn a_panic_is_an_answer_and_nothing_else() {
    let registry = registry();
    for id in ["test.panic", "test.panic_late", "test.panic_first"] {
        let refusal = run(&registry, id, json!({})).unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::Internal);
        assert!(
            refusal.message.contains(id) && refusal.message.contains("bug"),
            "{refusal}"
        );
    }
    assert_eq!(
        run(&registry, "test.echo", json!({"n": 1})),
        Ok(json!({"n": 1}))
    );
}

#[test]
fn arguments_are_checked_before_the_code_runs() {
    let refusal = run(&registry(), "test.panic", json!({"n": "x"})).unwrap_err();
    assert_eq!(refusal.code(), RefusalCode::InvalidInput);
    assert_eq!(
        refusal.message,
        "argument `n` is a string of 1 characters: expected an integer"
    );
    assert_eq!(
        refusal.hint.as_deref(),
        Some("`majordomus describe test.panic` shows its arguments")
    );
}

#[test]
fn an_answer_that_does_not_fit_is_a_bug_and_says_so() {
    let refusal = run(&registry(), "test.echo", json!({})).unwrap_err();
    assert_eq!(refusal.code(), RefusalCode::Internal);
}

#[test]
fn the_digest_says_whether_two_registries_declare_the_same() {
    let echo = || {
        capability(
            "test.echo",
            Handler::inline(|call| Ok(call.arguments.clone())),
        )
    };
    let other = || capability("test.other", Handler::inline(|_| Ok(json!({}))));
    let digest = |list: Vec<Capability>| Registry::new(list).unwrap().digest().to_string();
    let first = digest(vec![echo(), other()]);
    assert_eq!(first.len(), 64);
    assert_eq!(first, digest(vec![other(), echo()]));
    let mut changed = other();
    changed.description = "Tests more.";
    assert_ne!(first, digest(vec![echo(), changed]));
}

#[test]
fn a_resource_is_found_by_its_uri_or_template() {
    let mut fixed = capability("test.fixed", Handler::inline(|_| Ok(json!({"n": 1}))));
    fixed.exposure.resource = Some("majordomus://fixed");
    let mut open = capability("test.open", Handler::inline(|_| Ok(json!({"n": 1}))));
    open.exposure.resource = Some("majordomus://open/{id}");
    let registry = Registry::new(vec![fixed, open]).unwrap();
    assert_eq!(
        registry
            .by_resource("majordomus://fixed")
            .unwrap()
            .capability
            .id,
        "test.fixed"
    );
    let read = registry.by_resource("majordomus://open/7").unwrap();
    assert_eq!(
        (read.capability.id, read.arguments),
        ("test.open", json!({"id": "7"}))
    );
    assert!(registry.by_resource("majordomus://open/").is_none());
    assert_eq!(registry.resources().len(), 1);
    assert_eq!(
        registry.templates()[0]["uriTemplate"],
        "majordomus://open/{id}"
    );
}

#[test]
fn a_template_gives_its_variables() {
    let template = "majordomus://notes/{id}/text";
    assert_eq!(
        unfold(template, "majordomus://notes/a.b/text").map(|given| json!(given)),
        Some(json!({"id": "a.b"}))
    );
    assert!(unfold(template, "majordomus://notes//text").is_none());
    assert!(unfold(template, "majordomus://notes/a/b/text").is_none());
    assert!(unfold(template, "majordomus://notes/a/texts").is_none());
}
