//! What clients start: the executable in `PATH`, and the file of each client in use.

use std::path::Path;

use super::finding::Finding;
use crate::cli::client;
use crate::cli::commands::{generate, init};
use crate::cli::context::Context;
use crate::cli::owner::block_on;
use crate::clients::known::{CLIENTS, COMMAND, Client};
use crate::clients::launcher;
use crate::clients::merge::{self, Found};
use crate::floor::paths::Site;

/// What helps where `PATH` has no executable.
const INSTALL: &str =
    "cargo install --path . (in the source tree; then see that ~/.cargo/bin is in PATH)";

pub(super) fn look(site: &Site, context: &Context) -> Vec<Finding> {
    if generate::is_source_tree(site.root()) {
        return launcher::files()
            .iter()
            .map(|file| generated(site.root(), file))
            .collect();
    }
    let mut findings = vec![executable(context)];
    let mut seen: Vec<&str> = Vec::new();
    for client in CLIENTS {
        if !seen.contains(&client.path)
            && let Some(finding) = file(client, site.root(), context)
        {
            seen.push(client.path);
            findings.push(finding);
        }
    }
    if seen.is_empty() {
        findings.push(
            Finding::problem(
                "clients",
                "no client is told how to start this checkout's server",
            )
            .hint("majordomus init"),
        );
    }
    findings
}

/// In our own source tree every client file is a generated one.
fn generated(root: &Path, file: &launcher::ClientFile) -> Finding {
    if std::fs::read_to_string(root.join(file.path)).is_ok_and(|text| text == file.text) {
        Finding::good("clients", format!("{} starts the launcher", file.path))
    } else {
        Finding::problem(
            "clients",
            format!("{} is not as it is generated", file.path),
        )
        .hint("majordomus generate")
    }
}

/// Runs what a client would run, as far as its version.
fn executable(context: &Context) -> Finding {
    let Some(found) = context.settings.find(Path::new(COMMAND)) else {
        return Finding::problem(
            "path",
            "`majordomus` is not in PATH, and clients start it by that name",
        )
        .hint(INSTALL);
    };
    let asked = block_on(async { Ok(client::output(&found, "--version").await) });
    let Ok(Some(said)) = asked else {
        return Finding::problem("path", "the `majordomus` in PATH does not run")
            .hint("majordomus --version");
    };
    let said = said.trim();
    let ours = concat!("majordomus ", env!("CARGO_PKG_VERSION"));
    if said == ours {
        Finding::good("path", "`majordomus` in PATH is this version")
    } else {
        let said: String = said.chars().take(60).collect();
        Finding::note(
            "path",
            format!("`majordomus` in PATH is `{said}`, and this is `{ours}`"),
        )
        .hint(INSTALL)
    }
}

/// Looks into one client's file; a client that is not in use and has none is of no interest.
fn file(client: &Client, root: &Path, context: &Context) -> Option<Finding> {
    let path = client.path;
    let in_use = client.usual && init::is_in_use(client, root, context);
    let text = match init::plan::read(root, path) {
        Ok(Some(text)) => text,
        Ok(None) if in_use => return Some(untold(client)),
        Ok(None) => return None,
        Err(reason) => {
            return Some(
                Finding::problem("clients", format!("{path} {reason}"))
                    .hint(format!("ls -l {path}")),
            );
        }
    };
    let entry = client.entry();
    // What `init` would refuse is not sent to it.
    let found = merge::look(&text, client.format, &entry)
        .and_then(|found| merge::put(&text, client.format, &entry).map(|_| found));
    match found {
        Ok(Found::Same) => Some(Finding::good(
            "clients",
            format!("{path} tells {} to start it", client.title),
        )),
        Ok(Found::Other) => Some(
            Finding::note(
                "clients",
                format!("{path} starts something else under our name than `init` would write"),
            )
            .hint(format!("majordomus init --client {}", client.word)),
        ),
        Ok(Found::Nothing) => in_use.then(|| untold(client)),
        Err(error) => Some(
            Finding::problem("clients", format!("{path} {error}"))
                .hint(format!("majordomus init --client {} --json", client.word)),
        ),
    }
}

fn untold(client: &Client) -> Finding {
    Finding::problem(
        "clients",
        format!(
            "{} is in use, and {} does not name this server",
            client.title, client.path
        ),
    )
    .hint("majordomus init")
}
