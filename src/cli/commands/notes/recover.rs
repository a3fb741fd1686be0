//! `majordomus notes recover`: what an earlier boot wrote down in a file of its own is taken over.

use serde_json::{Value, json};

use crate::cli::arguments::Json;
use crate::cli::context::Context;
use crate::cli::report::{Exit, Outcome, failures};
use crate::floor::error::Chain;
use crate::memory::left::LeftError;
use crate::memory::team::Team;

/// What may be typed after `recover`.
#[derive(Debug, clap::Args)]
pub struct Recover {
    /// How to print
    #[command(flatten)]
    pub form: Json,
}

/// Takes over every file of writes that is another scope's and that nobody has open.
///
/// # Errors
/// Where there is no checkout, or a file cannot be taken over, which is then left as it is; all others are taken over.
pub(super) fn recover(args: &Recover, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let mut team = Team::at(&site.notes_dir(), site.writes());
    let (mut done, mut causes) = (Vec::new(), Vec::new());
    for path in team.others() {
        let shown = site.shown(&path);
        match team.take_over(&path) {
            Ok(count) => done.push((shown, count)),
            // It is of somebody who works beside, in another container: nothing of it is lost.
            Err(LeftError::InUse) => {}
            Err(error) => causes.push(format!("{shown}: {}", Chain(&error))),
        }
    }
    if args.form.json {
        let one = |(file, writes): &(String, usize)| json!({ "file": file, "writes": writes });
        let files: Vec<Value> = done.iter().map(one).collect();
        context.screen.json(&json!({ "recovered": files }))?;
    } else if done.is_empty() && causes.is_empty() {
        context.screen.print("nothing is left over\n")?;
    } else {
        for (file, count) in &done {
            let writes = if *count == 1 { "write" } else { "writes" };
            let line = format!("{count} {writes} of {file} taken over; majordomus notes pending\n");
            context.screen.print(&line)?;
        }
    }
    if causes.is_empty() {
        Ok(Exit::Done)
    } else {
        Err(failures::NOT_RECOVERED.each(causes))
    }
}
