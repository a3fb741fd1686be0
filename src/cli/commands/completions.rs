//! `majordomus completions SHELL`: the script that completes command lines.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::arguments::Arguments;
use crate::cli::context::Context;
use crate::cli::report::{Exit, Outcome};

/// The shells whose scripts `generate` keeps in `share/completions/`, with the file names that they look for.
pub const SHELLS: &[(Shell, &str)] = &[
    (Shell::Bash, "majordomus.bash"),
    (Shell::Fish, "majordomus.fish"),
    (Shell::Zsh, "_majordomus"),
];

/// What may be typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the script.
///
/// # Errors
/// When it cannot be printed.
pub fn run(args: &Args, context: &Context) -> Outcome {
    context.screen.print(&script(args.shell))?;
    Ok(Exit::Done)
}

/// Renders the script of one shell.
#[must_use]
pub fn script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "majordomus", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{SHELLS, script};

    #[test]
    fn every_script_knows_every_command() {
        for (shell, _) in SHELLS {
            let text = script(*shell);
            for word in ["status", "announce", "describe", "generate"] {
                assert!(text.contains(word), "{shell}: {word}");
            }
        }
    }
}
