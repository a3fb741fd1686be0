//! The whole path at once: what a coding agent does when it is opened here.

use std::time::Instant;

use serde_json::{Value, json};

use super::finding::Finding;
use crate::cli::client::{Client, ClientError};
use crate::cli::commands::peers;
use crate::cli::offline;
use crate::floor::paths::Site;

/// What the client calls itself on the board, for as long as it is there.
const NAME: &str = "majordomus doctor";

pub(super) async fn look(site: &Site) -> Finding {
    let begun = Instant::now();
    let mut client = match std::env::current_exe()
        .map_err(ClientError::Start)
        .and_then(|program| Client::start(&program, site.root()))
    {
        Ok(client) => client,
        Err(error) => return failed(&error.to_string(), ""),
    };
    let asked = ask(&mut client, site).await;
    let took = begun.elapsed().as_millis();
    let said = client.close().await;
    match asked {
        Err(reason) => failed(&reason, &said),
        Ok(Answer {
            degraded: Some(reason),
            ..
        }) => Finding::problem("client", format!("a client is served alone: {reason}"))
            .hint("majordomus status"),
        Ok(answer) => Finding::good(
            "client",
            format!(
                "a client starts, sees {} tools and shares the server, in {took} ms",
                answer.tools
            ),
        ),
    }
}

struct Answer {
    tools: usize,
    degraded: Option<String>,
}

async fn ask(client: &mut Client, site: &Site) -> Result<Answer, String> {
    let registry = offline::registry(Some(site)).map_err(|failure| failure.causes.join("; "))?;
    let tool = offline::by_words(&registry, peers::WORDS)
        .ok()
        .and_then(|capability| capability.exposure.tool)
        .ok_or("has no tool that lists the peers")?;
    let told = |error: ClientError| error.to_string();
    client.initialize(NAME).await.map_err(told)?;
    let listed = client
        .request("tools/list", json!({}))
        .await
        .map_err(told)?;
    let tools = listed
        .get("tools")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let answer = client.call(tool, json!({})).await.map_err(told)?;
    if answer.get("isError") == Some(&Value::Bool(true)) {
        let text = answer.pointer("/content/0/text").and_then(Value::as_str);
        return Err(format!("refused: {}", text.unwrap_or_default()));
    }
    let degraded = answer
        .pointer("/_meta/majordomus~1degraded")
        .and_then(Value::as_str)
        .map(str::to_owned);
    Ok(Answer { tools, degraded })
}

/// `said` is what the process wrote on standard error; its last line is nearest to the cause.
fn failed(reason: &str, said: &str) -> Finding {
    let last = said
        .lines()
        .last()
        .map(|line| format!(" ({})", line.trim()));
    Finding::problem(
        "client",
        format!("`majordomus mcp` {reason}{}", last.unwrap_or_default()),
    )
    .hint("majordomus mcp --inspect")
}
