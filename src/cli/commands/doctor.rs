//! `majordomus doctor`: walks the path that a client's first request takes, and says where it breaks.
//!
//! *Finding*: what one look came to: a verdict, one sentence, and a command where one helps. Every look is the real thing:
//! the checkout's own folder is written to, a lock is taken beside the lease's, a loopback port is listened on, the owner
//! proves itself, and at the end a client of our own starts `majordomus mcp` and calls a tool. What is absent: a repair. A
//! doctor that changed things could make them worse at two in the morning.

mod clients;
mod finding;
mod notes;
mod place;
mod server;
mod start;
mod stores;

use std::fmt::Write as _;

use serde_json::{Value, json};

use self::finding::{Finding, Verdict};
use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::owner::block_on;
use crate::cli::report::{Exit, Outcome};
use crate::cli::screen::{Mark, Screen, clean, columns};

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Looks at everything; exit 1 when there is a problem.
///
/// # Errors
/// When `--repo` names no folder, or standard output refuses the findings.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let findings = look(context)?;
    let problems = findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Problem)
        .count();
    if args.form.json {
        context.screen.json(&report(&findings))?;
    } else {
        context.screen.print(&render(&findings, context.screen))?;
    }
    Ok(if problems == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Looks at everything that the path goes through, in its order.
///
/// # Errors
/// When `--repo` names no folder.
pub(super) fn look(context: &Context) -> Result<Vec<Finding>, crate::cli::report::Failure> {
    let mut findings = vec![Finding::good(
        "version",
        format!("majordomus {}", env!("CARGO_PKG_VERSION")),
    )];
    let Some(site) = context.site()? else {
        findings.push(
            Finding::problem(
                "checkout",
                "there is no checkout here: no git repository and no folder `.ai` up to the root",
            )
            .hint("majordomus init"),
        );
        return Ok(findings);
    };
    findings.extend(place::look(&site));
    findings.extend(block_on(async { Ok(server::look(&site).await) })?);
    findings.extend(clients::look(&site, context));
    findings.extend(notes::look(&site));
    findings.extend(stores::look(context));
    findings.push(block_on(async { Ok(start::look(&site).await) })?);
    Ok(findings)
}

/// The findings as one JSON value.
pub(super) fn report(findings: &[Finding]) -> Value {
    let problems = findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Problem)
        .count();
    json!({
        "healthy": problems == 0,
        "problems": problems,
        "findings": findings.iter().map(Finding::json).collect::<Vec<_>>(),
    })
}

fn render(findings: &[Finding], screen: Screen) -> String {
    let rows: Vec<Vec<String>> = findings
        .iter()
        .map(|finding| {
            vec![
                finding.verdict.as_str().to_owned(),
                finding.check.to_owned(),
                clean(&finding.text),
            ]
        })
        .collect();
    let mut text = String::new();
    for (finding, line) in findings.iter().zip(columns(&rows).lines()) {
        let word = finding.verdict.as_str();
        let mark = match finding.verdict {
            Verdict::Good => Mark::Green,
            Verdict::Note => Mark::Yellow,
            Verdict::Problem => Mark::Red,
        };
        text.push_str(&line.replacen(word, &screen.mark(mark, word), 1));
        text.push('\n');
        if let Some(hint) = &finding.hint {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "         hint: {}", clean(hint));
        }
    }
    let count = |verdict| findings.iter().filter(|f| f.verdict == verdict).count();
    let problems = count(Verdict::Problem);
    let verdict = match (problems, count(Verdict::Note)) {
        (0, 0) => "everything works".to_owned(),
        (0, notes) => format!("everything works; {notes} to know"),
        (1, _) => "1 problem".to_owned(),
        (problems, _) => format!("{problems} problems"),
    };
    let _ = writeln!(text, "\n{verdict}");
    text
}
