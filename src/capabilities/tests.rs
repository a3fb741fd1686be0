use super::{Provider, Services, registry};

#[test]
fn every_declaration_passes_the_checks() {
    for provider in [Provider::Product, Provider::Conformance] {
        let services = Services {
            provider,
            ..Services::offline(None)
        };
        assert!(registry(&services).unwrap().get("peers.announce").is_some());
    }
}

/// Guards I10: few tools, and cheap ones.
#[test]
fn the_default_tools_cost_little() {
    let registry = registry(&Services::offline(None)).unwrap();
    assert!(registry.tools().len() <= 12);
    assert!(registry.tokens() <= 1500, "{} tokens", registry.tokens());
    println!(
        "{} tokens\n{}",
        registry.tokens(),
        serde_json::Value::Array(registry.tools())
    );
}
