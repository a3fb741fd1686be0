//! The repository that this server is for.

use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::declare::{Nothing, answer, query};
use super::services::Services;
use crate::floor::paths::Site;
use crate::registry::{Capability, Example, Exposure, Handler, Kind};

/// The checkout, without any path of this machine.
#[derive(Debug, Serialize, ToSchema)]
struct Repository {
    /// Name of the checkout's folder; empty where there is none.
    checkout: String,
    /// The same for every path, name or link that leads to this checkout.
    id: String,
    /// Whether it is a git checkout.
    git: bool,
    /// The branch that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    branch: Option<String>,
    /// The commit that is checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    commit: Option<String>,
}

/// Declares the group.
pub fn capabilities(services: &Services) -> Vec<Capability> {
    let site = services.site.clone();
    let mut info = query::<Nothing, Repository>(
        "repository.info",
        "Repository",
        "The checkout that this server is for: its name, branch and commit, read now.",
        // Two small files of git are read, which takes microseconds but is I/O.
        Handler::task(move |_| {
            let site = site.clone();
            async move { answer(&read(site.as_ref())) }
        }),
    );
    info.kind = Kind::Resource;
    info.exposure = Exposure {
        tool: None,
        prompt: None,
        resource: Some("majordomus://repository"),
        route: Some("/api/v1/repository"),
        cli: None,
    };
    info.examples = vec![Example {
        title: "which checkout is this",
        arguments: json!({}),
    }];
    vec![info]
}

fn read(site: Option<&Site>) -> Repository {
    Repository {
        checkout: site.map(Site::name).unwrap_or_default(),
        id: site
            .map(|site| site.root_id().to_owned())
            .unwrap_or_default(),
        git: site.is_some_and(|site| site.checkout().is_some()),
        branch: site.and_then(Site::branch),
        commit: site.and_then(Site::head),
    }
}
