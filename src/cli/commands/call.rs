//! `majordomus call ID [--json ARGS]`: one call of the running server, its answer as JSON.

use std::io::Read as _;

use serde_json::Value;

use crate::cli::context::Context;
use crate::cli::offline;
use crate::cli::owner::{Owner, block_on};
use crate::cli::report::{Exit, Failure, Outcome, failures};
use crate::floor::limits;

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The capability, such as the ones that `majordomus capabilities` lists
    #[arg(value_name = "ID")]
    pub id: String,

    /// The arguments, one JSON object; `-` reads it from standard input
    #[arg(
        long,
        value_name = "ARGS",
        default_value = "{}",
        hide_default_value = true
    )]
    pub json: String,
}

/// Calls the capability and prints its answer.
///
/// # Errors
/// When the arguments do not fit, there is no owner to ask, or it refuses.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let site = context.checkout()?;
    let registry = offline::registry(Some(&site))?;
    let capability = offline::by_id(&registry, &args.id)?;
    let arguments = arguments(&args.json)?;
    registry.check_input(capability, &arguments)?;
    let answer = block_on(async {
        let mut owner = Owner::reach(&site).await?;
        owner.call(capability, &arguments).await
    })?;
    context.screen.json(&answer)?;
    Ok(Exit::Done)
}

/// Reads the arguments: an object, bounded.
fn arguments(typed: &str) -> Result<Value, Failure> {
    let mut read = String::new();
    let text = if typed == "-" {
        let limit = limits::FRAME_BYTES as u64 + 1;
        std::io::stdin()
            .lock()
            .take(limit)
            .read_to_string(&mut read)
            .map_err(|error| failures::UNREAD_ARGUMENTS.fill(&[&error]))?;
        read.as_str()
    } else {
        typed
    };
    if text.len() > limits::FRAME_BYTES {
        return Err(failures::LARGE_ARGUMENTS.fill(&[]));
    }
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(failures::NO_OBJECT.fill(&[])),
        Err(error) => Err(failures::NO_JSON.fill(&[&error])),
    }
}

#[cfg(test)]
mod tests {
    use super::arguments;
    use crate::cli::report::Exit;

    #[test]
    fn arguments_are_one_json_object() {
        assert!(arguments("{\"a\":1}").is_ok());
        for wrong in ["", "[]", "1", "{", "{} {}"] {
            assert_eq!(arguments(wrong).unwrap_err().exit, Exit::Usage, "{wrong}");
        }
    }
}
