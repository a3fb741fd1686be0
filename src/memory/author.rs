//! Who writes: what the user's git calls them.

use std::path::Path;

use crate::floor::git;

/// Who writes where git knows nobody: a commit needs a name, and its address may be empty.
const NOBODY: &str = "unknown";

/// Name and address of whoever works in a checkout. Asked anew for each write, since people change it.
#[must_use]
pub fn of(checkout: &Path) -> (String, String) {
    let mut git = git::command(checkout);
    git.args(["config", "--null", "--get-regexp", r"^user\.(name|email)$"]);
    let said = git.output().map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let mut author = (NOBODY.to_owned(), String::new());
    // Each is `<key>\n<value>\0`, and the last one of a key counts.
    for (key, value) in said.split('\0').filter_map(|entry| entry.split_once('\n')) {
        let value = value.trim();
        match key {
            "user.name" if !value.is_empty() => value.clone_into(&mut author.0),
            "user.email" => value.clone_into(&mut author.1),
            _ => {}
        }
    }
    author
}
