//! `majordomus man`: the manual pages, made of the same declarations as the help.

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::cli::arguments::Arguments;
use crate::cli::context::Context;
use crate::cli::report::{Exit, Outcome, failures};

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A command, for its page; without it the page of `majordomus` itself
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// Prints a page, for `man -l -`.
///
/// # Errors
/// When there is no such command.
pub fn run(args: &Args, context: &Context) -> Outcome {
    let name = match &args.command {
        None => "majordomus.1".to_owned(),
        Some(command) => format!("majordomus-{command}.1"),
    };
    match pages().into_iter().find(|page| page.0 == name) {
        Some((_, text)) => {
            context.screen.print(&text)?;
            Ok(Exit::Done)
        }
        None => Err(failures::NO_COMMAND.fill(&[])),
    }
}

/// Renders every page: its file name and its text.
#[must_use]
pub fn pages() -> Vec<(String, String)> {
    let mut whole = Arguments::command();
    whole.build();
    // `help` shows what stands in the other pages.
    let visible = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    let mut pages = vec![("majordomus.1".to_owned(), render(whole.clone()))];
    for command in whole.get_subcommands().filter(visible) {
        let name = format!("majordomus-{}", command.get_name());
        pages.push((format!("{name}.1"), render(command.clone())));
    }
    pages
}

fn render(command: Command) -> String {
    let mut text = Vec::new();
    let man = Man::new(command).date("").manual("majordomus");
    // Writing to memory cannot fail.
    drop(man.render(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::pages;

    #[test]
    fn every_command_has_a_page_that_names_its_options() {
        let pages = pages();
        let text = |name: &str| {
            let found = pages.iter().find(|page| page.0 == name);
            found.map(|page| page.1.as_str()).unwrap_or_default()
        };
        assert!(text("majordomus.1").contains("doctor"));
        assert!(text("majordomus-logs.1").contains("follow"));
        assert!(text("majordomus-bug-report.1").contains("json"));
    }
}
