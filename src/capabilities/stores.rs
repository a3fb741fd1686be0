//! The stores of mnemon: what is known of them, and the meeting with the folder that carries them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::declare::{answer, query, read};
use super::services::Services;
use crate::floor::error::Chain;
use crate::registry::{
    Answer, Call, Capability, Example, Exposure, Handler, Kind, Refusal, Retry, refusal,
};
use crate::stores::error::StoreError;
use crate::stores::last::Way;
use crate::stores::place::{Place, Surroundings};
use crate::stores::service::{ServiceError, run, run_all};
use crate::stores::session::Report;
use crate::stores::status::{Status, status};

/// Which stores.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// A store's name; without one, all that are enabled.
    #[serde(default)]
    #[schema(nullable = false, max_length = 64)]
    store: Option<String>,
    /// The folder of mnemon, in place of the caller's.
    #[serde(default)]
    #[schema(nullable = false, max_length = 4096)]
    data: Option<String>,
    /// The folder of what is known of stores, in place of the caller's.
    #[serde(default)]
    #[schema(nullable = false, max_length = 4096)]
    state: Option<String>,
    /// How many insights mnemon keeps alive, 0 for any number, in place of the caller's word.
    #[serde(default)]
    #[schema(nullable = false)]
    most: Option<u64>,
}

/// How to meet them.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Meet {
    /// A store's name; without one, all that are enabled.
    #[serde(default)]
    #[schema(nullable = false, max_length = 64)]
    store: Option<String>,
    /// `import` takes in, `export` sends, `both` does the one and then the other.
    #[serde(default)]
    direction: StoresWay,
    /// Say what would be done, and do nothing.
    #[serde(default)]
    dry_run: bool,
    /// The folder of mnemon, in place of the caller's.
    #[serde(default)]
    #[schema(nullable = false, max_length = 4096)]
    data: Option<String>,
    /// The folder of what is known of stores, in place of the caller's.
    #[serde(default)]
    #[schema(nullable = false, max_length = 4096)]
    state: Option<String>,
    /// What this machine is called, in place of the caller's word.
    #[serde(default)]
    #[schema(nullable = false, max_length = 256)]
    host: Option<String>,
}

/// Which way.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum StoresWay {
    #[default]
    Both,
    Import,
    Export,
}

impl From<StoresWay> for Way {
    fn from(direction: StoresWay) -> Self {
        match direction {
            StoresWay::Both => Self::Both,
            StoresWay::Import => Self::Import,
            StoresWay::Export => Self::Export,
        }
    }
}

/// What is known.
#[derive(Debug, Serialize, ToSchema)]
struct Known {
    /// Each store.
    stores: Vec<Status>,
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
struct Met {
    /// Whether nothing was done.
    dry_run: bool,
    /// Each store.
    stores: Vec<Report>,
}

/// Declares the group.
pub(super) fn capabilities(services: &Services) -> Vec<Capability> {
    let told = services.clone();
    let mut known = query::<Which, Known>(
        "stores.status",
        "Stores",
        "What is known of the stores of mnemon that are merged across this person's machines: what waits, what is in the \
         way, when the other machines were heard of.",
        Handler::task(move |call| tell(told.clone(), call)),
    );
    known.exposure = Exposure {
        // A tool costs every model its description: it is there for whoever has a store that is merged.
        tool: services
            .stores
            .is_any_enabled()
            .then_some("majordomus_stores"),
        prompt: None,
        resource: None,
        route: Some("/api/v1/stores"),
        cli: Some(&["store", "status"]),
    };
    known.examples = vec![Example {
        title: "all that are enabled",
        arguments: json!({}),
    }];
    let met = services.clone();
    let mut sync = query::<Meet, Met>(
        "stores.sync",
        "Sync stores",
        "Merges into the stores of mnemon what the other machines have written, and sends them what is new here.",
        Handler::task(move |call| meet(met.clone(), call)),
    );
    sync.kind = Kind::Command;
    sync.retry = Retry::Converging;
    sync.exposure = Exposure {
        tool: None,
        prompt: None,
        resource: None,
        route: Some("/api/v1/stores/sync"),
        cli: Some(&["store", "sync"]),
    };
    sync.examples = vec![Example {
        title: "only look",
        arguments: json!({ "dry_run": true }),
    }];
    vec![known, sync]
}

async fn tell(services: Services, call: Call) -> Answer {
    let peer = call.caller.peer.map(|peer| peer.0);
    let asked: Which = read(call.arguments)?;
    let mut around = around(&services, peer, (asked.data, asked.state), None)?;
    if let (Some(around), Some(most)) = (&mut around, asked.most) {
        around.most = Some(most);
    }
    let job = move || {
        let places = chosen(asked.store.as_deref(), around.as_ref())?;
        places.iter().map(status).collect()
    };
    let stores = services.stores.ask(job).await;
    answer(&Known {
        stores: stores.map_err(refused)?,
    })
}

async fn meet(services: Services, call: Call) -> Answer {
    services.writes("stores.sync")?;
    let peer = call.caller.peer.map(|peer| peer.0);
    let asked: Meet = read(call.arguments)?;
    let around = around(&services, peer, (asked.data, asked.state), asked.host)?;
    let (way, dry_run) = (asked.direction.into(), asked.dry_run);
    let job = move || {
        let places = chosen(asked.store.as_deref(), around.as_ref())?;
        match asked.store {
            Some(_) => places
                .iter()
                .map(|place| run(place, way, dry_run))
                .collect(),
            None => Ok(run_all(&places, way, dry_run)),
        }
    };
    let stores = services.stores.ask(job).await;
    answer(&Met {
        dry_run,
        stores: stores.map_err(refused)?,
    })
}

/// Where the stores are that a call means: the caller's own, or what it says in their place.
fn around(
    services: &Services,
    peer: Option<uuid::Uuid>,
    (data, state): (Option<String>, Option<String>),
    host: Option<String>,
) -> Result<Option<Surroundings>, Refusal> {
    for (name, path) in [("data", &data), ("state", &state)] {
        if path
            .as_deref()
            .is_some_and(|path| Path::new(path).is_relative())
        {
            return Err(refusal::RELATIVE_STORES.fill(&[&name]));
        }
    }
    let known = services.stores.around(peer);
    let (data, state) = (data.map(PathBuf::from), state.map(PathBuf::from));
    let Some(mnemon) = data.or_else(|| known.as_ref().map(|known| known.mnemon.clone())) else {
        return Ok(None);
    };
    let Some(state) = state.or_else(|| known.as_ref().map(|known| known.state.clone())) else {
        return Ok(None);
    };
    let most = known.as_ref().and_then(|known| known.most);
    let label = host.or_else(|| known.map(|known| known.label));
    Ok(Some(Surroundings {
        folder: mnemon.join("sync"),
        mnemon,
        state,
        most,
        label: label.unwrap_or_default(),
        // Only who agrees to a store looks there.
        claude_settings: PathBuf::new(),
    }))
}

fn chosen(name: Option<&str>, around: Option<&Surroundings>) -> Result<Vec<Place>, StoreError> {
    match (name, around) {
        (Some(name), Some(around)) => Ok(vec![around.place(name)?]),
        (Some(name), None) => Err(StoreError::Absent(name.to_owned())),
        (None, around) => Ok(around.map(Surroundings::enabled).unwrap_or_default()),
    }
}

fn refused(error: ServiceError) -> Refusal {
    let error = match error {
        ServiceError::Store(error) => error,
        other => return refusal::STORES_UNMET.fill(&[&other]),
    };
    let reason = match &error {
        StoreError::Name(_) => refusal::NO_STORE_NAME,
        StoreError::Off(_) => refusal::STORE_OFF,
        StoreError::Busy(_) => refusal::STORE_BUSY,
        StoreError::Absent(_) => refusal::NO_STORE,
        StoreError::Shadow => refusal::UNUSABLE_SHADOW,
        StoreError::Removed(_) => refusal::REMOVED_STORE,
        _ => return refusal::STORES_UNMET.fill(&[&Chain(&error)]),
    };
    reason.told(&error)
}
