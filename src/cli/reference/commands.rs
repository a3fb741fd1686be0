//! The reference of the command line, from the declarations that parse it.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command, CommandFactory as _};

use super::markdown;
use crate::cli::arguments::Arguments;

/// Renders the page.
#[must_use]
pub fn page() -> String {
    let mut root = Arguments::command();
    root.build();
    let mut text = markdown::page(
        "Command line",
        "Data goes to standard output, everything else to standard error.\n\
         Colour is used on a terminal only.\n\
         Errors are printed as `error: …`, and what helps as `hint: …`; \
         the [exit codes](exit-codes.md) are the same for every command.",
    );
    text.push_str("## majordomus\n\nThese are taken before or after every command.\n\n");
    text.push_str(&section(&root, Globals::Shown));
    for command in root
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        // Writing to a String cannot fail.
        let _ = write!(text, "## majordomus {}\n\n", command.get_name());
        text.push_str(&section(command, Globals::Hidden));
    }
    text.trim_end().to_owned() + "\n"
}

/// Whether what every command takes is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Globals {
    Shown,
    Hidden,
}

fn section(command: &Command, globals: Globals) -> String {
    let mut text = String::new();
    for about in [command.get_about(), command.get_after_help()]
        .into_iter()
        .flatten()
    {
        let about = about.to_string();
        let stop = if about.ends_with('.') { "" } else { "." };
        let _ = write!(text, "{about}{stop}\n\n");
    }
    let usage = command.clone().render_usage().to_string();
    text.push_str(&markdown::block(
        "text",
        usage.trim_start_matches("Usage: "),
    ));
    let rows: Vec<Vec<String>> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .filter(|argument| globals == Globals::Shown || !is_global(argument))
        .map(row)
        .collect();
    if !rows.is_empty() {
        text.push_str(&markdown::table(&["argument", "meaning", "default"], &rows));
    }
    text
}

fn row(argument: &Arg) -> Vec<String> {
    let help = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let choices: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|_| takes_value(argument))
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let meaning = if choices.is_empty() {
        help
    } else {
        format!("{help}: {}", choices.join(", "))
    };
    let default = argument
        .get_default_values()
        .iter()
        .filter(|_| takes_value(argument))
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(", ");
    vec![name(argument), meaning, default]
}

/// Whether every command takes it.
fn is_global(argument: &Arg) -> bool {
    argument.is_global_set() || matches!(argument.get_id().as_str(), "help" | "version")
}

fn takes_value(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Set | ArgAction::Append)
}

fn name(argument: &Arg) -> String {
    let value = argument
        .get_value_names()
        .and_then(|names| names.first())
        .map(ToString::to_string)
        .unwrap_or_default();
    match (argument.get_long(), argument.get_short()) {
        (Some(long), _) if takes_value(argument) => format!("`--{long} {value}`"),
        (Some(long), Some(short)) => format!("`-{short}`, `--{long}`"),
        (Some(long), None) => format!("`--{long}`"),
        _ => format!("`{value}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn hidden_arguments_stay_hidden_and_the_others_are_told() {
        let text = page();
        assert!(!text.contains("conformance"));
        for told in [
            "`--repo PATH`",
            "`--inspect`",
            "`--for TIME`",
            "`30m`",
            "`bash`",
        ] {
            assert!(text.contains(told), "{told}");
        }
    }
}
