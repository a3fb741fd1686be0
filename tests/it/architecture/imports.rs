//! Imports go downward only.

use super::source::Source;
use super::{entries, none_of, root, rust_files};

/// The modules of the crate, top to bottom: a module may name itself and what stands below it.
const ORDER: &[&str] = &[
    "cli",
    "host",
    "bridge",
    "http",
    "mcp",
    "capabilities",
    "board",
    "registry",
    "memory",
    "stores",
    "clients",
    "lease",
    "link",
    "floor",
];

/// What stands below a module and still may not be named by it: a transport reaches the product only through the
/// registry, and a bridge forwards what it does not understand.
const BANS: &[(&str, &[&str])] = &[
    ("http", &["capabilities", "board"]),
    ("mcp", &["capabilities", "board"]),
    ("bridge", &["capabilities", "board"]),
];

/// Paths that would hide an import from this scan.
const HIDDEN: &[&str] = &["super::super", "crate as"];

fn violations(path: &str, text: &str) -> Vec<String> {
    let source = Source::parse(text);
    let mut found = Vec::new();
    for hidden in HIDDEN {
        if source.code.contains(hidden) {
            found.push(format!("{path}: `{hidden}` hides an import"));
        }
    }
    let Some(module) = module_of(path) else {
        return found;
    };
    let Some(rank) = ORDER.iter().position(|name| *name == module) else {
        found.push(format!(
            "{path}: module `{module}` has no place in the order"
        ));
        return found;
    };
    let banned = BANS
        .iter()
        .find(|(name, _)| *name == module)
        .map_or(&[][..], |(_, banned)| banned);
    // In the module's own file `super` is the crate.
    let is_top = path == format!("src/{module}.rs") || path == format!("src/{module}/mod.rs");
    let upward = ORDER
        .iter()
        .filter(|name| is_top && source.names(&format!("super::{name}")));
    found.extend(upward.map(|name| format!("{path}: `super::{name}` hides an import")));
    for name in source.crate_paths() {
        let Some(place) = ORDER.iter().position(|known| *known == name) else {
            // Items of lib.rs itself, which has none but modules, would be named in capitals.
            if name.chars().next().is_some_and(char::is_lowercase) {
                found.push(format!("{path}: `crate::{name}` has no place in the order"));
            }
            continue;
        };
        if place < rank {
            found.push(format!(
                "{path}: `{module}` names `{name}`, which stands above it"
            ));
        }
        if banned.contains(&name.as_str()) {
            found.push(format!("{path}: `{module}` may not name `{name}`"));
        }
    }
    found
}

/// The top-level module a file of the library belongs to; none for `lib.rs` and `main.rs`.
fn module_of(path: &str) -> Option<&str> {
    let below = path.strip_prefix("src/")?;
    match below.split_once('/') {
        Some((module, _)) => Some(module),
        None => below
            .strip_suffix(".rs")
            .filter(|name| !matches!(*name, "lib" | "main")),
    }
}

#[test]
fn imports_go_downward_only() {
    let all = rust_files("src");
    assert!(all.len() > 20, "the scan must see the sources");
    let found: Vec<_> = all
        .iter()
        .flat_map(|(path, text)| violations(path, text))
        .collect();
    none_of(&found);
}

#[test]
fn every_module_has_a_place_and_every_place_a_module() {
    let mut modules: Vec<String> = entries(&root().join("src"))
        .iter()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|name| name != "lib" && name != "main")
        .collect();
    modules.sort();
    let mut order: Vec<_> = ORDER.to_vec();
    order.sort_unstable();
    assert_eq!(modules, order);
}

#[test]
fn a_planted_violation_is_caught() {
    let cases: &[(&str, &str, &str)] = &[
        (
            "src/link/line.rs",
            "use crate::{floor, lease::document};",
            "`link` names `lease`",
        ),
        (
            "src/http/router.rs",
            "fn f() { crate::board::open() }",
            "`http` may not name `board`",
        ),
        (
            "src/mcp/tools.rs",
            "use crate::capabilities::peers;",
            "`mcp` may not name `capabilities`",
        ),
        (
            "src/bridge/replay.rs",
            "use crate::board::Board;",
            "`bridge` may not name `board`",
        ),
        (
            "src/registry/mod.rs",
            "use super::http;",
            "`super::http` hides an import",
        ),
        (
            "src/registry/call.rs",
            "use super::super::http;",
            "`super::super` hides an import",
        ),
        (
            "src/floor/fs.rs",
            "use crate as top;",
            "`crate as` hides an import",
        ),
        (
            "src/floor/fs.rs",
            "use crate::helpers::x;",
            "`crate::helpers` has no place",
        ),
        ("src/helpers/mod.rs", "", "module `helpers` has no place"),
    ];
    for (path, text, expected) in cases {
        let found = violations(path, text);
        assert_eq!(found.len(), 1, "{path}: {found:?}");
        assert!(
            found[0].contains(expected),
            "{found:?} should say {expected}"
        );
    }
    let fine =
        "use crate::floor::limits;\nuse super::line;\n#[cfg(test)]\nmod tests { use super::*; }";
    none_of(&violations("src/link/handshake.rs", fine));
    none_of(&violations(
        "src/cli/mod.rs",
        "use crate::{board::Board, capabilities, host};",
    ));
}
