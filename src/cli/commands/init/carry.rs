//! How files of clients are changed, whatever is put into them: shown, agreed to, planned again while nobody else writes,
//! recorded, written.

use std::path::Path;

use serde_json::json;

use super::plan::File;
use super::record::{Alone, Record, Unmade};
use crate::cli::agree;
use crate::cli::context::Context;
use crate::cli::report::{Failure, failures};
use crate::floor::paths::Site;

/// How a person wants it done.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli::commands) struct Wish {
    /// Nobody is asked.
    pub(in crate::cli::commands) yes: bool,
    /// One JSON value is printed; without `yes` nothing is written.
    pub(in crate::cli::commands) json: bool,
    /// What was written is taken back.
    pub(in crate::cli::commands) back: bool,
}

/// Carries a plan out; what the files were before is kept in the record at `record`. Returns the files, and whether any of
/// them was written.
///
/// # Errors
/// When nobody agrees, a file is not what was shown any more, or one cannot be written.
pub(in crate::cli::commands) fn out(
    plan: impl Fn() -> Vec<File>,
    wish: Wish,
    record: &Path,
    site: &Site,
    context: &Context,
) -> Result<(Vec<File>, bool), Failure> {
    let mut files = plan();
    if !wish.json {
        show(&files, context)?;
    }
    let count = files.iter().filter(|file| file.is_change()).count();
    if count > 0 && !wish.yes && !wish.json && !agree::agreed(&question(count), context)? {
        return Err(failures::NOT_AGREED.fill(&[]));
    }
    let written = count > 0 && (wish.yes || !wish.json);
    if written {
        let alone = Alone::wait(site)?;
        let now = plan();
        if now != files && !wish.yes {
            return Err(failures::CHANGED_MEANWHILE.fill(&[]));
        }
        files = now;
        let unmade = write(site, &files, wish.back, record, &alone)?;
        if unmade == Unmade::Stays {
            context.screen.note(
                "what a server kept in .ai stays, and with it this folder counts as a checkout: rm -r .ai",
            );
        }
    }
    if wish.json {
        let files: Vec<_> = files.iter().map(File::json).collect();
        context
            .screen
            .json(&json!({ "written": written, "files": files }))?;
    } else {
        context.screen.note(&match count {
            0 => "nothing to write".to_owned(),
            1 => "1 file written".to_owned(),
            count => format!("{count} files written"),
        });
    }
    Ok((files, written))
}

fn question(count: usize) -> String {
    let files = if count == 1 {
        "this file"
    } else {
        "these files"
    };
    format!("write {files}?")
}

/// Prints each change as a diff, and what is left alone.
fn show(files: &[File], context: &Context) -> Result<(), Failure> {
    let changes = files
        .iter()
        .filter_map(|file| Some((file.path, file.texts()?)));
    let text: String = changes
        .map(|(path, (before, after))| agree::diff(path, before, after, context.screen))
        .collect();
    context.screen.print(&text)
}

/// Writes the record first: a process that is killed in between leaves nothing that `--undo` does not know.
fn write(
    site: &Site,
    files: &[File],
    back: bool,
    record: &Path,
    alone: &Alone,
) -> Result<Unmade, Failure> {
    let mut record = Record::read(record.to_path_buf());
    let changes = || files.iter().filter(|file| file.is_change());
    if !back {
        for file in changes() {
            record.note(site.root(), file);
        }
        record.write(site, alone)?;
    }
    for file in changes() {
        file.apply(site)?;
    }
    if back {
        return record.taken_back(site, files, alone);
    }
    Ok(Unmade::Nothing)
}
