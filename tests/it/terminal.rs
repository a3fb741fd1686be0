//! What a person at a terminal sees: the address, a way to sign in that no file holds, and Ctrl-C that ends.

use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde_json::json;

use crate::support::command::MAJORDOMUS;
use crate::support::terminal::Terminal;
use crate::support::{BOUND, Http, Repository, wait_for, wait_some};

/// Guards I14: the link is shown to a terminal only, works once, and stands in no log.
#[test]
fn a_person_at_a_terminal_gets_a_sign_in_link_that_works_once_and_ctrl_c_ends() {
    let repository = Repository::new();
    let mut terminal = Terminal::open(&repository);
    terminal.types(format!("'{MAJORDOMUS}' mcp\n").as_bytes());
    let code = wait_some("a whole link", BOUND, || {
        let rest = terminal.sees("#code=");
        let code: String = rest
            .chars()
            .take_while(|c| !c.is_whitespace() && !c.is_control())
            .collect();
        (code.len() < rest.len()).then_some(code)
    });
    let lease = repository.ready_when("a url", |lease| lease["url"].is_string());
    let page = Http::new(lease["url"].as_str().unwrap());
    let mut signed = page
        .post("/api/v1/sign-in", &json!({ "code": code }))
        .expects(200);
    let token = signed.json()["token"].as_str().unwrap().to_owned();
    assert_ne!(
        Some(&token),
        repository.token().as_ref(),
        "a page gets a token of its own"
    );
    page.clone()
        .with_token(Some(&token))
        .get("/api/v1/peers")
        .expects(200);
    page.post("/api/v1/sign-in", &json!({ "code": code }))
        .expects(401);
    assert!(!repository.log().contains(&code), "the log holds the code");

    terminal.types(b"\x03");
    let pid = Pid::from_raw(i32::try_from(lease["pid"].as_i64().unwrap()).unwrap());
    wait_for("the end of the process", BOUND, || kill(pid, None).is_err());
    // On a machine that is too slow for an orderly release the process ends all the same, and its sign stays.
    let next = repository.attached("next");
    repository.ready_when("the next one's document", |lease| {
        lease["pid"] == next.pid()
    });
}
