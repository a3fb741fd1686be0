//! What came of the last import and the last export of a store, whoever began it: a file a direction, beside the shadow.
//!
//! Nobody watches a run that an edge or a hook began. What was in its way is kept here, for the next session to say; a
//! run that finds nothing to do and nothing in its way writes nothing.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::error::StoreError;
use super::place::Place;
use super::session::Report;
use crate::floor::error::Chain;
use crate::floor::fs::{read_plain, replace};

/// How many of a run's troubles are kept word for word.
const KEPT: usize = 5;

/// Which way a store is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// What the folder has is merged into the store.
    Import,
    /// What is new here is written into the folder.
    Export,
    /// The first, then the second.
    Both,
}

impl Way {
    /// Whether the store takes something in.
    #[must_use]
    pub const fn imports(self) -> bool {
        matches!(self, Self::Import | Self::Both)
    }

    /// Whether the folder gets something.
    #[must_use]
    pub const fn exports(self) -> bool {
        matches!(self, Self::Export | Self::Both)
    }

    /// The two that it is made of, or itself, with the file of each.
    fn files(self) -> impl Iterator<Item = &'static str> {
        let import = self.imports().then_some("import.json");
        let export = self.exports().then_some("export.json");
        import.into_iter().chain(export)
    }
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = StoreRun)]
pub struct Run {
    /// When it ended, in milliseconds since 1970; of runs that found nothing to do, only the first one counts.
    pub at_ms: u64,
    /// What was in its way, for people; nothing where it went well.
    pub troubles: Vec<String>,
}

/// The last runs of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = StoreLast)]
pub struct Last {
    /// The last import that did something or was in trouble.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub import: Option<Run>,
    /// The last export that did something or was in trouble.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub export: Option<Run>,
}

impl Last {
    /// Reads what is kept of a store.
    #[must_use]
    pub fn of(place: &Place) -> Self {
        Self {
            import: read(place, "import.json"),
            export: read(place, "export.json"),
        }
    }

    /// Everything that was in the way, with the run that it was in the way of.
    pub fn troubles(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let each = [("import", &self.import), ("export", &self.export)];
        let found = each.into_iter().flat_map(|(word, run)| {
            let troubles = run.iter().flat_map(|run| &run.troubles);
            troubles.map(move |trouble| (word, trouble.as_str()))
        });
        found.collect::<Vec<_>>().into_iter()
    }
}

fn read(place: &Place, name: &str) -> Option<Run> {
    let (bytes, _) = read_plain(&place.state.join(name), 64 * 1024).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Keeps what came of a run. A store that somebody else merges, or that nobody enabled, is in no trouble.
pub fn keep(place: &Place, way: Way, went: &Result<Report, StoreError>, now_ms: u64) {
    let (troubles, did) = match went {
        Ok(report) => {
            let did = report.changed_here + report.taken_in + report.written + report.sent;
            (report.troubles.clone(), did > 0)
        }
        Err(StoreError::Busy(_) | StoreError::Off(_) | StoreError::Name(_)) => return,
        Err(error) => (vec![Chain(error).to_string()], false),
    };
    keep_troubles(place, way, troubles, did, now_ms);
}

/// Keeps what was in the way of a run; one that did nothing and was in nobody's way leaves what was kept before.
pub fn keep_troubles(place: &Place, way: Way, mut troubles: Vec<String>, did: bool, now_ms: u64) {
    if troubles.len() > KEPT {
        let more = troubles.len() - KEPT;
        troubles.truncate(KEPT);
        troubles.push(format!("and {more} more"));
    }
    let run = Run {
        at_ms: now_ms,
        troubles,
    };
    for name in way.files() {
        let before = read(place, name);
        if !did && before.is_some_and(|before| before.troubles == run.troubles) {
            continue;
        }
        let kept = serde_json::to_vec(&run).map_err(std::io::Error::other);
        let kept = kept.and_then(|text| replace(&place.state.join(name), &text));
        if let Err(error) = kept {
            tracing::warn!(%error, store = place.name, "what came of a run of the store is not kept");
        }
    }
}
