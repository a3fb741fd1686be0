use serde_json::json;

use super::{
    Found, Unmergeable, Variable, hook, look, put, put_hook, set, take, take_hook, unset, variable,
};
use crate::clients::hooks::Part;
use crate::clients::known::{Client, Format};

const JSON: Format = Format::Json("mcpServers");
const TOML: Format = Format::Toml("mcp_servers");

fn claude() -> serde_json::Value {
    Client::by_word("claude").unwrap().entry()
}

fn codex() -> serde_json::Value {
    Client::by_word("codex").unwrap().entry()
}

#[test]
fn an_empty_file_becomes_a_whole_one_and_an_entry_is_put_once() {
    for (format, entry) in [(JSON, claude()), (TOML, codex())] {
        let whole = put("", format, &entry).unwrap();
        assert_eq!(look(&whole, format, &entry).unwrap(), Found::Same);
        assert_eq!(put(&whole, format, &entry).unwrap(), whole);
        assert!(whole.ends_with('\n'));
        assert_eq!(look("", format, &entry).unwrap(), Found::Nothing);
    }
}

/// What goes in comes out, and everything else is the same bytes, whatever the file looks like.
#[test]
fn every_other_byte_stays() {
    for text in [
        "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
        "{\n\t\"a\": [1,2,  3],\n\t// said by somebody\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"x\" }\n\t}\n}",
        "{\"mcpServers\":{\"other\":{\"command\":\"x\"}},\"z\":1.50}",
        "{\r\n    \"theme\": \"dark\", /* why */\r\n    \"mcpServers\": {\r\n        \"other\": {}\r\n    }\r\n}\r\n",
        "{\n  \"theme\": \"dark\"\n}\n",
        "{ \"b\": \"\\u00e9\\/\", \"a\": 1e3 }\n",
    ] {
        let with = put(text, JSON, &claude()).unwrap();
        assert_eq!(look(&with, JSON, &claude()).unwrap(), Found::Same, "{with}");
        assert_eq!(take(&with, JSON).unwrap(), text, "from {with}");
        for line in text
            .lines()
            .filter(|line| line.contains("//") || line.contains("/*"))
        {
            assert!(with.contains(line), "{with}");
        }
    }
    for text in [
        "model = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\" # why\n",
        "# only a comment",
        "[a]\r\nb = 1\r\n",
        "[projects.\"/x\"]\ntrust_level = \"trusted\"\n\n[[hooks]]\nname = 'a'\n",
    ] {
        let with = put(text, TOML, &codex()).unwrap();
        assert!(with.starts_with(text), "{with}");
        assert_eq!(look(&with, TOML, &codex()).unwrap(), Found::Same);
        let without = take(&with, TOML).unwrap();
        assert_eq!(without.trim_end(), text.trim_end());
    }
}

#[test]
fn an_entry_that_says_something_else_is_replaced_alone() {
    let text = "{\n  \"mcpServers\": {\n    \"majordomus\": { \"command\": \"old\" },\n    \"other\": { \"command\": \"x\" }\n  }\n}\n";
    assert_eq!(look(text, JSON, &claude()).unwrap(), Found::Other);
    let with = put(text, JSON, &claude()).unwrap();
    assert_eq!(look(&with, JSON, &claude()).unwrap(), Found::Same);
    assert!(
        with.contains("    \"other\": { \"command\": \"x\" }\n"),
        "{with}"
    );

    let text = "# one\n[mcp_servers.majordomus] # two\ncommand = \"old\"\n[mcp_servers.majordomus.env]\nA = \"b\"\n\n# three\n[z]\na = 1\n";
    let with = put(text, TOML, &codex()).unwrap();
    assert_eq!(look(&with, TOML, &codex()).unwrap(), Found::Same);
    assert!(with.starts_with("# one\n[mcp"), "{with}");
    assert!(with.ends_with("\n\n# three\n[z]\na = 1\n"), "{with}");
    assert_eq!(take(text, TOML).unwrap(), "# one\n\n# three\n[z]\na = 1\n");
    for text in [
        "mcp_servers = { other = { command = \"x\" } }\n",
        "mcp_servers.other.command = \"x\"\n",
    ] {
        let with = put(text, TOML, &codex()).unwrap();
        assert_eq!(look(&with, TOML, &codex()).unwrap(), Found::Same, "{with}");
    }
}

#[test]
fn what_cannot_be_understood_is_left_alone() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in [
        "{",
        "[]",
        "5",
        "{\"mcpServers\": []}",
        "{'a': 1}",
        "{\"a\" 1}",
        &deep,
    ] {
        assert!(put(text, JSON, &claude()).is_err(), "{text:.40}");
    }
    let deep = format!("a = {deep}");
    let spelled = "[mcp_servers.\"majordomus\"]\ncommand = \"old\"\n";
    for text in ["[", "a", "mcp_servers = 1", spelled, &deep] {
        assert!(put(text, TOML, &codex()).is_err(), "{text:.40}");
    }
    assert_eq!(
        put("{\"mcpServers\": 1}", JSON, &json!({})),
        Err(Unmergeable::Shape("mcpServers".to_owned()))
    );
}

/// A hook goes behind the others and comes out again, and every other byte is the same.
#[test]
fn hooks_of_others_stay_where_they_are() {
    for text in [
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      }\n    ],\n    \"PreToolUse\": []\n  }\n}\n",
        "{\n\t\"model\": \"x\",\n\t\"hooks\": {\n\t\t\"Stop\": [{ \"hooks\": [ ] }] // mine\n\t}\n}",
        "{\"hooks\":{\"Stop\":[{\"a\":1},{\"b\":2}]},\"z\":1.50}",
        "{\r\n  \"theme\": \"dark\"\r\n}\r\n",
    ] {
        let mut with = text.to_owned();
        for wanted in Part::Memory.hooks() {
            with = put_hook(&with, &wanted).unwrap();
            assert!(hook(&with, &wanted).unwrap(), "{with}");
            assert_eq!(put_hook(&with, &wanted).unwrap(), with);
        }
        let mut without = with.clone();
        for ours in Part::Memory.hooks().iter().rev() {
            without = take_hook(&without, ours).unwrap();
        }
        assert_eq!(without, text, "from {with}");
    }
    for text in [
        "{",
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": {}, \"SessionStart\": 1}}",
    ] {
        assert!(put_hook(text, &Part::Memory.hooks()[0]).is_err(), "{text}");
    }
}

/// The variable is set in an entry, whoever wrote it, and comes out again.
#[test]
fn the_word_about_hooks_is_put_into_an_entry_and_taken_out() {
    let wholes = [(JSON, claude()), (TOML, codex())]
        .map(|(format, entry)| (put("", format, &entry).unwrap(), format));
    let others = [
        (
            "{\"mcpServers\":{\"majordomus\":{\"command\":\"sh\",\"env\":{\"A\":\"b\"}}}}",
            JSON,
        ),
        (
            "[mcp_servers.majordomus]\r\ncommand = \"x\"\r\n\r\n[mcp_servers.majordomus.env]\r\nA = \"b\"\r\n[z]\r\n",
            TOML,
        ),
        ("mcp_servers = { majordomus = { command = \"x\" } }\n", TOML),
        (
            "[mcp_servers.majordomus]\ncommand = \"x\"\nenv = { A = \"b\" }\n# more\n",
            TOML,
        ),
    ];
    let wholes = wholes.iter().map(|(text, format)| (text.as_str(), *format));
    for (text, format) in wholes.chain(others) {
        let with = set(text, format).unwrap();
        assert_eq!(variable(&with, format).unwrap(), Variable::Set, "{with}");
        assert_eq!(set(&with, format).unwrap(), with);
        assert_eq!(unset(&with, format).unwrap(), text, "from {with}");
        let entry = if format == JSON { claude() } else { codex() };
        assert_eq!(look(&with, format, &entry), look(text, format, &entry));
    }
    assert_eq!(variable("", TOML).unwrap(), Variable::NoEntry);
    assert!(set("{\"mcpServers\":{\"majordomus\":{\"env\":1}}}", JSON).is_err());
}

mod property {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{JSON, claude};
    use crate::clients::merge::{Found, look, put, take};

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            others in prop::collection::btree_map("[a-z]{1,6}", value(), 0..4),
            servers in prop::option::of(prop::collection::btree_map("[a-z]{1,6}", value(), 1..3)),
            pretty in any::<bool>(),
        ) {
            let mut whole = serde_json::Map::from_iter(others);
            if let Some(servers) = servers {
                whole.insert("mcpServers".to_owned(), Value::Object(servers.into_iter().collect()));
            }
            let whole = Value::Object(whole);
            let text = if pretty { format!("{whole:#}\n") } else { whole.to_string() };
            let with = put(&text, JSON, &claude()).unwrap();
            prop_assert_eq!(look(&with, JSON, &claude()).unwrap(), Found::Same);
            let without: Value = serde_json::from_str(&take(&with, JSON).unwrap()).unwrap();
            prop_assert_eq!(without, whole);
        }
    }
}
