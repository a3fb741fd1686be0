//! The suite about itself: a scenario file that nobody runs, or a promise without a test, is a failing test.

use std::fs;
use std::path::Path;

/// Every file beside `main.rs` is one of its modules.
#[test]
fn every_scenario_file_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or("main");
        let known = main.contains(&format!("mod {module};"));
        assert!(
            module == "main" || known,
            "tests/it/{name} is not listed in main.rs"
        );
    }
}

/// Every test that the table of promises names exists.
#[test]
fn every_test_in_the_table_of_promises_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let table = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut sources = String::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    for line in table.lines().filter(|line| line.starts_with('|')) {
        for word in line.split('`').skip(1).step_by(2) {
            if let Some((_, test)) = word.split_once("::") {
                assert!(
                    sources.contains(&format!("fn {test}(")),
                    "README.md names {word}, which does not exist"
                );
            }
        }
    }
}
