//! What would change in the files of each client that runs hooks: read, compared, nothing written.

use std::path::Path;

use serde_json::json;

use crate::cli::commands::init::plan::{Change, File, give_back, merged, put, read, take};
use crate::cli::commands::init::record::Record;
use crate::clients::hooks::{HANDED, Host, Part, VARIABLE};
use crate::clients::known::Client;
use crate::clients::merge::{self, Variable};

/// How much of a part's hooks stands in a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// All of it, and the server leaves to them what they do.
    Installed,
    /// Something of it.
    InPart,
    /// Nothing.
    Absent,
}

impl State {
    /// Judges by what of it was found.
    pub(super) fn of(parts: &[bool]) -> Self {
        if parts.iter().all(|part| *part) {
            Self::Installed
        } else if parts.contains(&true) {
            Self::InPart
        } else {
            Self::Absent
        }
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::InPart => "in-part",
            Self::Absent => "absent",
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::InPart => "installed in part: the same install again",
            Self::Absent => "not installed",
        }
    }
}

/// Says what stands in the files of a client.
pub(super) fn state(part: Part, host: &Host, root: &Path) -> Result<State, String> {
    let text = read(root, host.path)?.unwrap_or_default();
    let mut parts = Vec::new();
    for wanted in part.hooks() {
        parts.push(merge::hook(&text, &wanted).map_err(|error| error.to_string())?);
    }
    // An entry that stands elsewhere, such as in the person's own configuration, is not looked at.
    if let Some(client) = host.client()
        && let Some(text) = read(root, client.path)?
    {
        match merge::variable(&text, client.format).map_err(|error| error.to_string())? {
            Variable::NoEntry => {}
            Variable::Unset => parts.push(false),
            // Somebody may have said it without any hook.
            Variable::Set if parts.contains(&true) => parts.push(true),
            Variable::Set => {}
        }
    }
    Ok(State::of(&parts))
}

/// Whether the client's file, as it stands now, names no server of ours.
pub(super) fn has_no_entry(root: &Path, client: &Client) -> bool {
    let text = read(root, client.path).ok().flatten().unwrap_or_default();
    merge::variable(&text, client.format) == Ok(Variable::NoEntry)
}

/// Plans the hooks of these clients.
pub(super) fn install(part: Part, hosts: &[&'static Host], root: &Path) -> Vec<File> {
    each(
        part,
        hosts,
        |host| {
            let before = read(root, host.path)?;
            let mut after = before.clone().unwrap_or_default();
            for wanted in part.hooks() {
                after = merged(merge::put_hook(&after, &wanted))?;
            }
            put(before, after)
        },
        |client| {
            let Some(before) = read(root, client.path)? else {
                return Ok(Change::None);
            };
            let after = merged(merge::set(&before, client.format))?;
            put(Some(before), after)
        },
    )
}

/// Plans the way back.
pub(super) fn uninstall(
    part: Part,
    hosts: &[&'static Host],
    root: &Path,
    record: &Record,
) -> Vec<File> {
    let had_hooks = |path: &str| {
        let text = read(root, path).ok().flatten().unwrap_or_default();
        let mut hooks = part.hooks().into_iter();
        hooks.any(|ours| merge::hook(&text, &ours) == Ok(true))
    };
    each(
        part,
        hosts,
        |host| {
            let known = record.of(host.path);
            let now = match read(root, host.path) {
                Ok(Some(now)) => now,
                // What cannot be read and was never written here is somebody else's business.
                Err(reason) if known.is_some() => return Err(reason),
                _ => return Ok(Change::None),
            };
            if let Some(change) = give_back(known, &now) {
                return Ok(change);
            }
            if !had_hooks(host.path) {
                return Ok(Change::None);
            }
            let mut after = now.clone();
            for ours in part.hooks().iter().rev() {
                after = merged(merge::take_hook(&after, ours))?;
            }
            Ok(take(known, now, after))
        },
        |client| {
            let known = record.of(client.path);
            let hooked = hosts
                .iter()
                .any(|host| host.word == client.word && had_hooks(host.path));
            // Whoever says it without our hooks has hooks of their own.
            let now = match read(root, client.path) {
                Ok(Some(now)) if known.is_some() || hooked => now,
                Err(reason) if known.is_some() => return Err(reason),
                _ => return Ok(Change::None),
            };
            if let Some(change) = give_back(known, &now) {
                return Ok(change);
            }
            let after = merged(merge::unset(&now, client.format))?;
            Ok(take(known, now, after))
        },
    )
}

/// Two files for each client: that of its hooks, and that of its servers.
fn each(
    part: Part,
    hosts: &[&'static Host],
    of_hooks: impl Fn(&'static Host) -> Result<Change, String>,
    of_servers: impl Fn(&'static Client) -> Result<Change, String>,
) -> Vec<File> {
    let mut files = Vec::new();
    for host in hosts {
        let Some(client) = host.client() else {
            continue;
        };
        let hooks: serde_json::Map<_, _> = part
            .hooks()
            .into_iter()
            .map(|hook| (hook.event.to_owned(), json!([hook.item])))
            .collect();
        let change = of_hooks(host).unwrap_or_else(Change::Leave);
        let is_left = matches!(change, Change::Leave(_));
        files.push(File {
            path: host.path,
            change,
            clients: vec![client.title],
            entry: json!({ "hooks": hooks }),
        });
        // Without its hooks, a client whose server sends no notes would send none.
        let change = if is_left {
            Change::None
        } else {
            of_servers(client).unwrap_or_else(Change::Leave)
        };
        files.push(File {
            path: client.path,
            change,
            clients: vec![client.title],
            entry: json!({ "env": { VARIABLE: HANDED } }),
        });
    }
    files
}
