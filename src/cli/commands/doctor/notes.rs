//! The team's notes: whether they can be read, where they may go, and how many are on this machine alone.

use std::path::PathBuf;

use super::finding::Finding;
use crate::floor::database::Condition;
use crate::floor::error::Chain;
use crate::floor::paths::Site;
use crate::memory::consent::{Consent, consent};
use crate::memory::left::Left;
use crate::memory::outbox::Outbox;
use crate::memory::team::{ASIDE, FOLDER, REF, Team};

/// What the lines are about.
const CHECK: &str = "notes";

/// Says nothing where nobody has written a note and none could be shared.
pub(super) fn look(site: &Site) -> Vec<Finding> {
    let consent = site
        .checkout()
        .map(|checkout| consent(site.root(), &checkout.common_dir));
    let file = site.writes();
    let unusable = |why: &str| {
        let text = format!("what was written cannot be read: {why}");
        let hint = format!("ls -l {}", site.shown(&file));
        vec![Finding::problem(CHECK, text).hint(hint)]
    };
    let (waiting, drafts) = match Outbox::examine(&file) {
        Condition::Absent => (0, 0),
        Condition::Sound => {
            let mut team = Team::at(&site.notes_dir(), file.clone());
            let counted = team
                .unpublished()
                .and_then(|waiting| Ok((waiting.len(), team.drafts()?.len())));
            match counted {
                Ok(counted) => counted,
                Err(error) => return unusable(&Chain(&error).to_string()),
            }
        }
        Condition::Damaged(why) => {
            let text = format!(
                "the file of what was written is damaged ({why}); the next note moves it aside, with all its bytes"
            );
            let hint = format!("cp {} PATH, to look into it", site.shown(&file));
            return vec![Finding::problem(CHECK, text).hint(hint)];
        }
        Condition::Unusable(why) => return unusable(&why),
    };
    let mut findings = Vec::new();
    let folder = site.shown(&site.notes_dir().join(FOLDER));
    match Team::at(&site.notes_dir(), file.clone()).examine() {
        Ok(0) => {}
        Ok(unread) => {
            let text = match unread {
                1 => "1 file among the notes is no note that is read".to_owned(),
                unread => format!("{unread} files among the notes are no notes that are read"),
            };
            let hint = format!("git --git-dir {folder} ls-tree -r --long {REF}");
            findings.push(Finding::note(CHECK, text).hint(hint));
        }
        Err(error) => {
            let text = format!(
                "the repository of the notes cannot be read: {}; without it, it is made again from what was written and what the team has",
                Chain(&error)
            );
            let hint = format!("mv {folder} {folder}.damaged");
            findings.push(Finding::problem(CHECK, text).hint(hint));
        }
    }
    findings.extend(match &consent {
        None | Some(Consent::Unconfigured) => Vec::new(),
        Some(given @ Consent::Given { .. }) => vec![Finding::good(CHECK, given.to_string())],
        Some(other) => {
            let hint = other.hint().unwrap_or("majordomus notes share");
            vec![Finding::problem(CHECK, other.to_string()).hint(hint)]
        }
    });
    if waiting > 0 {
        let is_given = matches!(consent, Some(Consent::Given { .. }));
        let text = match waiting {
            1 => "1 note is on this machine alone".to_owned(),
            waiting => format!("{waiting} notes are on this machine alone"),
        };
        findings.push(Finding::note(CHECK, text).hint(if is_given {
            "majordomus sync"
        } else {
            "majordomus notes share"
        }));
    }
    findings.extend(left(site, file.clone()));
    findings.extend(withheld(site, file));
    if drafts > 0 {
        let text = match drafts {
            1 => "1 draft waits to be promoted".to_owned(),
            drafts => format!("{drafts} drafts wait to be promoted"),
        };
        findings.push(Finding::note(CHECK, text).hint("majordomus notes pending"));
    }
    findings
}

/// What other boots or machines wrote down in files of their own, and damaged files.
fn left(site: &Site, file: PathBuf) -> Vec<Finding> {
    let left = Team::at(&site.notes_dir(), file).left();
    let finding = |left: &Left| {
        let text = left.to_string();
        let finding = if left.aside {
            Finding::note(CHECK, text)
        } else {
            Finding::problem(CHECK, text)
        };
        finding.hint(left.hint(&site.shown(&left.path)))
    };
    left.iter().map(finding).collect()
}

/// What is not sent because it seems to hold a secret.
fn withheld(site: &Site, file: PathBuf) -> Vec<Finding> {
    let held = Team::at(&site.notes_dir(), file).withheld();
    let held = held.unwrap_or_default();
    let mut findings: Vec<Finding> = held
        .iter()
        .map(|held| {
            let hint = format!(
                "majordomus notes acknowledge {}, if it is no secret",
                held.note
            );
            Finding::problem(CHECK, format!("a note is held back: {held}")).hint(hint)
        })
        .collect();
    let folder = site.notes_dir().join(FOLDER);
    let aside = folder.join(ASIDE).read_dir();
    if aside.is_ok_and(|mut all| all.next().is_some()) {
        let text = format!(
            "commits that were made by hand and held something back are kept under {ASIDE}"
        );
        let hint = format!("git --git-dir {} log --all", site.shown(&folder));
        findings.push(Finding::note(CHECK, text).hint(hint));
    }
    findings
}
