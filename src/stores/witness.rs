//! Whether a store is still the file that was last looked at, found without reading it.
//!
//! As git's index does: what the system says of the file and of its log, and the log's salts, which change whenever SQLite
//! begins it anew. A file that changed within the last two seconds may change again without looking different, so it proves
//! nothing.

use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// How long a file has to have been left alone, in milliseconds.
const RACY_MS: u64 = 2_000;
/// The salts of a log, in its header.
const SALTS: std::ops::Range<usize> = 16..24;

/// What a store looks like from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// Everything that is compared, as text.
    pub told: String,
    changed_ms: u64,
}

impl Witness {
    /// Looks at a store and its log; `None` where there is no file or the system refuses.
    #[must_use]
    pub fn of(live: &Path) -> Option<Self> {
        let file = live.symlink_metadata().ok()?;
        let mut witness = Self {
            told: String::new(),
            changed_ms: 0,
        };
        witness.add(&file);
        let log = live.with_file_name("mnemon.db-wal");
        let found = log
            .symlink_metadata()
            .ok()
            .filter(|found| found.is_file() && found.len() > 0);
        if let Some(found) = found {
            witness.add(&found);
            let mut header = [0; SALTS.end];
            File::open(&log).ok()?.read_exact(&mut header).ok()?;
            let salts = header.get(SALTS)?;
            let _ = write!(witness.told, "{}", crate::floor::hex::encode(salts));
        }
        Some(witness)
    }

    fn add(&mut self, file: &Metadata) {
        let (at, part) = (file.ctime(), file.ctime_nsec());
        let _ = write!(
            self.told,
            "{} {} {} {at}.{part} ",
            file.dev(),
            file.ino(),
            file.size()
        );
        let ms = at.saturating_mul(1000).saturating_add(part / 1_000_000);
        self.changed_ms = self.changed_ms.max(u64::try_from(ms).unwrap_or(u64::MAX));
    }

    /// Whether it proves something at this time, in milliseconds since 1970.
    #[must_use]
    pub fn is_settled(&self, now_ms: u64) -> bool {
        self.changed_ms.saturating_add(RACY_MS) < now_ms
    }
}
