//! What the conformance suites ask of a server that says something while it works: a log, progress, lists that change, a
//! connection that it lets go of.
//!
//! Names and texts are the suites' own.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;
use utoipa::ToSchema;

use super::conformance_content::{contents, tool};
use super::declare::{Nothing, read};
use super::services::Services;
use crate::registry::content::text;
use crate::registry::{Answer, Call, Capability, Handler, Level, List};

/// Between two signs of life.
const STEP: Duration = Duration::from_millis(50);
/// How long a client that was let go is to stay away.
const AWAY: Duration = Duration::from_millis(500);

/// How long it goes on without its client.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Long {
    /// Milliseconds; 100 if not given.
    #[schema(nullable = false, maximum = 600_000)]
    ms: Option<u32>,
}

/// Declares the group.
pub(super) fn capabilities(services: &Services) -> Vec<Capability> {
    let mut logging = tool::<Nothing>(
        "suite.logging",
        "test_tool_with_logging",
        Handler::task(log),
    );
    let mut short = tool::<Nothing>(
        "suite.log_once",
        "test_logging_tool",
        Handler::inline(|call| {
            call.client
                .log(Level::Info, &json!("Tool execution started"));
            contents(vec![text("logged")])
        }),
    );
    (logging.logs, short.logs) = (true, true);
    let mut all = vec![
        logging,
        short,
        tool::<Nothing>(
            "suite.progress",
            "test_tool_with_progress",
            Handler::task(progress),
        ),
        tool::<Long>(
            "suite.reconnection",
            "test_reconnection",
            Handler::task(let_go),
        ),
    ];
    for (id, name, list) in [
        (
            "suite.tools_change",
            "test_trigger_tool_change",
            List::Tools,
        ),
        (
            "suite.prompts_change",
            "test_trigger_prompt_change",
            List::Prompts,
        ),
    ] {
        let changes = services.changes.clone();
        all.push(tool::<Nothing>(
            id,
            name,
            Handler::inline(move |_| {
                changes.list_changed(list);
                contents(vec![text("told")])
            }),
        ));
    }
    all
}

async fn log(call: Call) -> Answer {
    for (index, what) in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ]
    .into_iter()
    .enumerate()
    {
        if index > 0 {
            drop(timeout(STEP, call.cancel.cancelled()).await);
        }
        call.client.log(Level::Info, &json!(what));
    }
    contents(vec![text("Tool with logging executed successfully")])
}

async fn progress(call: Call) -> Answer {
    for done in [0.0, 50.0, 100.0] {
        if done > 0.0 {
            drop(timeout(STEP, call.cancel.cancelled()).await);
        }
        call.progress.report(done, Some(100.0), None);
    }
    contents(vec![text("Tool with progress executed successfully")])
}

/// Works on without a connection, and says something before and after.
async fn let_go(call: Call) -> Answer {
    let Long { ms } = read(call.arguments)?;
    call.progress.report(1.0, None, None);
    call.client.disconnect(AWAY);
    let work = Duration::from_millis(ms.unwrap_or(100).into());
    drop(timeout(work, call.cancel.cancelled()).await);
    call.progress.report(2.0, None, None);
    contents(vec![text("Reconnection test completed successfully")])
}
