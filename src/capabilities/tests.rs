use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::services::board_config;
use super::{Mode, Provider, ServerStatus, Services, Status, registry};
use crate::board::{Board, Place};
use crate::floor::paths::{Explicit, Files, Site};
use crate::memory::service::Memory;
use crate::registry::{
    Answer, Call, Caller, Changes, Client, Delivery, OnceKey, PeerId, Presence as _, Progress,
    RefusalCode, Registry, Transport,
};

struct Fixed(Mode);

impl ServerStatus for Fixed {
    fn status(&self) -> Status {
        Status {
            instance: "i".repeat(32),
            epoch: 3,
            pid: 7,
            url: Some("http://127.0.0.1:25000".to_owned()),
            mode: self.0,
            draining: false,
            links: 2,
            builds: vec![("0.0.1".to_owned(), 2)],
            started: 0,
            uptime: Duration::from_secs(5),
            files: vec![".ai/local/state/mcp/server.json".to_owned()],
        }
    }
}

/// A checkout with a server's registry in front of it.
struct Room {
    folder: tempfile::TempDir,
    services: Services,
    registry: Arc<Registry>,
}

impl Room {
    fn new(mode: Mode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".ai")).unwrap();
        let site = Site::discover(folder.path(), Explicit::Yes)
            .unwrap()
            .unwrap();
        site.prepare().unwrap();
        Self::over(folder, site, mode)
    }

    fn over(folder: tempfile::TempDir, site: Site, mode: Mode) -> Self {
        let config = board_config(Some(&site), Place::File(site.board(Files::Common)));
        let services = Services {
            board: Board::open(config, Changes::default()),
            memory: Memory::of(Some(&site)),
            status: Arc::new(Fixed(mode)),
            provider: Provider::Conformance,
            ..Services::offline(Some(site))
        };
        let registry = registry(&services).unwrap();
        Self {
            folder,
            services,
            registry,
        }
    }

    async fn call(&self, id: &str, caller: &Caller, arguments: Value) -> Answer {
        self.deliver(id, caller, arguments, None, Delivery::New)
            .await
    }

    async fn deliver(
        &self,
        id: &str,
        caller: &Caller,
        arguments: Value,
        key: Option<OnceKey>,
        delivery: Delivery,
    ) -> Answer {
        let call = Call {
            caller: Arc::new(caller.clone()),
            arguments,
            delivery,
            key,
            cancel: CancellationToken::new(),
            progress: Progress::none(),
            client: Client::none(),
        };
        self.registry
            .call(self.registry.get(id).unwrap(), call)
            .await
    }

    fn text(&self, file: &str) -> String {
        let site = self.services.site.as_ref().unwrap();
        std::fs::read_to_string(site.shared_dir().join("conformance").join(file)).unwrap()
    }
}

fn link(name: &str) -> Caller {
    Caller {
        peer: Some(PeerId::mint()),
        transport: Transport::Stdio,
        name: Some(name.to_owned()),
        version: None,
        hooked: false,
    }
}

fn api() -> Caller {
    Caller {
        peer: None,
        transport: Transport::Api,
        name: None,
        version: None,
        hooked: false,
    }
}

fn key(seq: u64) -> OnceKey {
    OnceKey {
        scope: "peer".to_owned(),
        seq,
        digest: "digest".to_owned(),
    }
}

fn run<T>(f: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(f)
}

#[test]
fn every_declaration_passes_the_checks() {
    for provider in [Provider::Product, Provider::Conformance] {
        let services = Services {
            provider,
            ..Services::offline(None)
        };
        assert!(registry(&services).unwrap().get("peers.announce").is_some());
    }
}

/// Guards I10: few tools, and cheap ones.
#[test]
fn the_default_tools_cost_little() {
    let registry = registry(&Services::offline(None)).unwrap();
    let names: Vec<_> = registry
        .all()
        .iter()
        .filter_map(|each| each.exposure.tool)
        .collect();
    assert_eq!(
        names,
        [
            "majordomus_peers",
            "majordomus_announce",
            "majordomus_remember",
            "majordomus_recall",
            "majordomus_notes",
            "majordomus_note_change"
        ]
    );
    assert!(registry.tokens() <= 4000, "{} tokens", registry.tokens());
}

/// Guards I9: what the reference shows is what runs.
#[test]
fn every_example_of_the_product_runs() {
    run(async {
        let room = Room::new(Mode::Owner);
        room.services.board.epoch(1).await;
        // The one command that ends the server has no server to end here.
        let all = room.registry.all().iter();
        for capability in all.filter(|each| each.id != "server.stop") {
            for example in &capability.examples {
                let answer = room
                    .call(capability.id, &link("example"), example.arguments.clone())
                    .await;
                // It names a note, and there is none here.
                let is_about_a_note = capability.id == "notes.change"
                    && matches!(&answer, Err(refusal) if refusal.code() == RefusalCode::NotFound);
                assert!(
                    answer.is_ok() || is_about_a_note,
                    "{}: {}: {answer:?}",
                    capability.id,
                    example.title
                );
            }
        }
    });
}

#[test]
fn the_reference_and_the_document_name_every_capability() {
    let registry = registry(&Services::offline(None)).unwrap();
    let reference = registry.reference();
    let document = registry.openapi(&crate::registry::openapi::About {
        version: "1",
        url: None,
    });
    for capability in registry.all() {
        assert!(reference.contains(&format!("## {}", capability.id)));
        // A prompt is words for a client, and no HTTP request.
        if capability.kind == crate::registry::Kind::Prompt {
            continue;
        }
        let path = &document["paths"][capability.exposure.route.unwrap()];
        let method = capability.kind.method().to_lowercase();
        assert_eq!(
            path[&method]["operationId"],
            capability.id.replace('.', "_")
        );
    }
    let parameter = &document["paths"]["/api/v1/capabilities/describe"]["get"]["parameters"][0];
    assert_eq!(
        (&parameter["name"], &parameter["required"]),
        (&json!("id"), &json!(true))
    );
    assert_eq!(parameter["example"], "peers.announce");
}

#[test]
fn announcing_and_listing_go_together() {
    run(async {
        let room = Room::new(Mode::Owner);
        room.services.board.epoch(1).await;
        let (one, two) = (link("one"), link("two"));
        room.services.board.enter(&one);
        let first = json!({"intent": "parser", "scope": ["src/**"], "label": "a"});
        let stands = room.call("peers.announce", &one, first).await.unwrap();
        assert_eq!(
            (&stands["collisions"], &stands["complete"]),
            (&json!([]), &json!(true))
        );
        assert!(
            stands.get("peer").is_none(),
            "a link has no handle: {stands}"
        );
        let second = json!({"intent": "lexer", "scope": ["src/lex.rs"]});
        let stands = room.call("peers.announce", &two, second).await.unwrap();
        assert_eq!(
            stands["collisions"][0]["peer"],
            one.peer.unwrap().to_string()
        );
        assert_eq!(stands["collisions"][0]["theirs"], "src/**");
        let list = room.call("peers.list", &two, json!({})).await.unwrap();
        assert_eq!(list["you"], two.peer.unwrap().to_string());
        assert_eq!(list["collisions"].as_array().unwrap().len(), 1);
        assert_eq!(list["peers"].as_array().unwrap().len(), 2);
        let folder = room.folder.path().parent().unwrap().display().to_string();
        assert!(
            !list.to_string().contains(&folder),
            "an absolute path in {list}"
        );
        let text = room
            .call("peers.announce", &one, json!({"intent": "two\nlines"}))
            .await
            .unwrap_err();
        assert_eq!(text.code(), RefusalCode::InvalidInput);
    });
}

#[test]
fn a_replayed_announcement_keeps_its_place_in_time() {
    run(async {
        let room = Room::new(Mode::Owner);
        let one = link("one");
        let says = |intent: &str| json!({"intent": intent, "scope": ["a"]});
        let replay = |intent: &'static str, seq| {
            room.deliver(
                "peers.announce",
                &one,
                says(intent),
                Some(key(seq)),
                Delivery::Replayed,
            )
        };
        replay("newer", 9).await.unwrap();
        replay("older", 4).await.unwrap();
        let list = room.call("peers.list", &one, json!({})).await.unwrap();
        assert_eq!(list["peers"][0]["announcements"][0]["intent"], "newer");
        let retain = room.registry.get("peers.announce").unwrap().retain.unwrap();
        assert_eq!(retain(&json!({"intent": "x"})).as_deref(), Some(""));
        assert_eq!(
            retain(&json!({"intent": "x", "label": "sub"})).as_deref(),
            Some("sub")
        );
    });
}

#[test]
fn standalone_refuses_writes_by_name_and_alone_says_that_it_is_not_all() {
    run(async {
        let says = json!({"intent": "x", "scope": ["a"]});
        let standalone = Room::new(Mode::Standalone);
        let refusal = standalone
            .call("peers.announce", &link("one"), says.clone())
            .await
            .unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::Refused);
        assert!(
            refusal.message.contains("peers.announce") && refusal.message.contains("--standalone")
        );
        let alone = Room::new(Mode::Alone);
        let stands = alone
            .call("peers.announce", &link("one"), says)
            .await
            .unwrap();
        assert_eq!(stands["complete"], false);
        assert_eq!(
            alone.call("peers.list", &api(), json!({})).await.unwrap()["complete"],
            false
        );
    });
}

#[test]
fn the_server_tells_of_itself_and_its_registry() {
    run(async {
        let room = Room::new(Mode::Owner);
        let status = room.call("server.status", &api(), json!({})).await.unwrap();
        assert_eq!(
            (&status["mode"], &status["epoch"]),
            (&json!("owner"), &json!(3))
        );
        assert_eq!(status["registry"], **room.registry.digest());
        let list = room
            .call("capabilities.list", &api(), json!({}))
            .await
            .unwrap();
        assert_eq!(
            list["capabilities"].as_array().unwrap().len(),
            room.registry.all().len()
        );
        let one = room
            .call("capabilities.describe", &api(), json!({"id": "peers.list"}))
            .await
            .unwrap();
        assert_eq!(one["exposure"]["route"], "/api/v1/peers");
        let none = room
            .call("capabilities.describe", &api(), json!({"id": "no.such"}))
            .await
            .unwrap_err();
        assert_eq!(none.code(), RefusalCode::NotFound);
        let repository = room
            .call("repository.info", &api(), json!({}))
            .await
            .unwrap();
        assert_eq!(repository["git"], false);
    });
}

/// Guards I6: a resend after any death gives the first answer and completes the file.
#[test]
fn a_keyed_line_is_written_once_whatever_the_file_went_through() {
    run(async {
        let room = Room::new(Mode::Owner);
        room.services.board.epoch(1).await;
        let api = api();
        let write = |text: &'static str, seq, delivery| {
            let line = json!({"file": "lines", "text": text});
            room.deliver("conformance.keyed", &api, line, Some(key(seq)), delivery)
        };
        assert_eq!(write("one", 1, Delivery::New).await.unwrap()["line"], 1);
        assert_eq!(write("two", 2, Delivery::New).await.unwrap()["line"], 2);
        assert_eq!(room.text("lines"), "one\ntwo\n");
        // As a kill in the middle of a write would leave it.
        let site = room.services.site.as_ref().unwrap();
        let path = site.shared_dir().join("conformance/lines");
        for left in ["one\ntw", "one\n", "", "one\ntwo"] {
            std::fs::write(&path, left).unwrap();
            assert_eq!(write("two", 2, Delivery::Resent).await.unwrap()["line"], 2);
            assert_eq!(room.text("lines"), "one\ntwo\n", "after {left:?}");
        }
    });
}

#[test]
fn the_conformance_provider_is_what_it_says() {
    run(async {
        let room = Room::new(Mode::Owner);
        let any = json!({"value": [1, {"a": null}]});
        assert_eq!(
            room.call("conformance.echo", &api(), any.clone()).await,
            Ok(any)
        );
        let large = room
            .call("conformance.large", &api(), json!({"bytes": 1000}))
            .await
            .unwrap();
        assert_eq!(large["text"].as_str().map(str::len), Some(1000));
        let panic = room
            .call("conformance.panic", &api(), json!({}))
            .await
            .unwrap_err();
        assert_eq!(panic.code(), RefusalCode::Internal);
        let line = json!({"file": "once", "text": "x", "ms": 0});
        for _ in 0..2 {
            room.call("conformance.once", &api(), line.clone())
                .await
                .unwrap();
        }
        assert_eq!(room.text("once"), "x\nx\n");
        for file in ["../x", "/etc/x", ".x", "a/b"] {
            let line = json!({"file": file, "text": "x"});
            let refusal = room
                .call("conformance.keyed", &api(), line)
                .await
                .unwrap_err();
            assert_eq!(refusal.code(), RefusalCode::InvalidInput, "{file}");
        }
        let call = Call {
            caller: Arc::new(api()),
            arguments: json!({"ms": 600_000}),
            delivery: Delivery::New,
            key: None,
            cancel: CancellationToken::new(),
            progress: Progress::none(),
            client: Client::none(),
        };
        let cancel = call.cancel.clone();
        let slow = room
            .registry
            .call(room.registry.get("conformance.slow").unwrap(), call);
        let (answer, ()) = tokio::join!(slow, async { cancel.cancel() });
        assert!(answer.is_err());
    });
}
