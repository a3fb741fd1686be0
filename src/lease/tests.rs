//! Candidates and owners on real files and the real kernel; several of them in one process count as several, because a lock
//! belongs to an open file and a name to a socket.

use std::fs;
use std::future::{Ready, ready};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;

use super::document::State;
use super::{
    AloneReason, Document, LeaseError, Leave, Outcome, Ownership, ProbeFailure, Reading,
    attach_or_own,
};
use crate::floor::paths::{Explicit, Site};

/// A checkout without git in a folder of its own.
struct Checkout {
    folder: tempfile::TempDir,
    site: Site,
}

impl Checkout {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let site = Site::discover(folder.path(), Explicit::Yes)
            .unwrap()
            .unwrap();
        Self { folder, site }
    }

    fn prepared() -> Self {
        let checkout = Self::new();
        checkout.site.prepare().unwrap();
        checkout
    }

    fn document(&self) -> Document {
        match Reading::at(&self.site.lease_document()) {
            Reading::Document(document) => *document,
            other => panic!("{other:?}"),
        }
    }
}

/// Stands for election with a probe that always ends like this.
fn stand(
    site: &Site,
    deadline: Duration,
    probed: &Result<&'static str, ProbeFailure>,
) -> Outcome<&'static str> {
    let probe = |_: Document| -> Ready<_> { ready(probed.clone()) };
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(attach_or_own(site, deadline, probe))
}

/// Puts something at a path.
type Put = Box<dyn Fn(&PathBuf)>;

const SOON: Duration = Duration::from_millis(30);
const REFUSED: Result<&str, ProbeFailure> = Err(ProbeFailure::Unproven);

#[track_caller]
fn elected(site: &Site) -> Arc<Ownership> {
    match stand(site, Duration::from_secs(5), &REFUSED) {
        Outcome::Elected(ownership) => ownership,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn alone(site: &Site) -> AloneReason {
    match stand(site, SOON, &REFUSED) {
        Outcome::Alone(reason) => reason,
        other => panic!("{other:?}"),
    }
}

fn publish(ownership: &Ownership) -> Result<(), LeaseError> {
    ownership.publish(
        Some("http://127.0.0.1:20001"),
        "127.0.0.1:40001".parse().unwrap(),
    )
}

/// Guards I1.
#[test]
fn the_first_is_elected_and_the_second_attaches_or_is_alone() {
    let checkout = Checkout::new();
    let owner = elected(&checkout.site);
    assert_eq!(owner.found(), "no document");
    assert!(owner.admits());
    assert_eq!(checkout.document().state, State::Starting);
    assert_eq!(
        alone(&checkout.site).to_string(),
        format!(
            "process {} holds this checkout and is not ready yet",
            std::process::id()
        )
    );

    publish(&owner).unwrap();
    let document = checkout.document();
    assert_eq!(document.state, State::Ready);
    assert_eq!(document.instance, owner.instance());
    assert_eq!((document.epoch, owner.epoch()), (1, 1));
    assert_eq!(document.pid, std::process::id());
    assert_eq!(document.url.as_deref(), Some("http://127.0.0.1:20001"));
    assert!(matches!(
        stand(&checkout.site, SOON, &Ok("link")),
        Outcome::Attached("link")
    ));
    let reason = alone(&checkout.site);
    assert_eq!(
        reason.to_string(),
        format!(
            "process {} holds this checkout, but what listens there is not this checkout's server",
            std::process::id()
        )
    );
    assert_eq!(reason.hint(), "majordomus status");
    assert!(owner.admits());
}

/// Guards I1.
#[test]
fn of_many_candidates_at_once_one_is_elected() {
    let checkout = Checkout::new();
    for round in 1..=10 {
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let candidates: Vec<_> = (0..6)
                .map(|_| scope.spawn(|| stand(&checkout.site, SOON, &REFUSED)))
                .collect();
            candidates.into_iter().map(|c| c.join().unwrap()).collect()
        });
        let owners: Vec<_> = outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Elected(ownership) => Some(ownership),
                Outcome::Attached(_) | Outcome::Alone(_) => None,
            })
            .collect();
        assert_eq!(owners.len(), 1, "round {round}: {outcomes:?}");
        assert!(owners[0].admits());
        owners[0].release(Leave::Draining);
        assert_eq!(owners[0].epoch(), round);
    }
}

/// Guards I4.
#[test]
fn release_is_idempotent_leaves_what_it_was_told_and_frees_the_lease() {
    let checkout = Checkout::new();
    let first = elected(&checkout.site);
    publish(&first).unwrap();
    first.drain().unwrap();
    assert_eq!(checkout.document().state, State::Draining);
    assert!(first.admits());
    first.release(Leave::Draining);
    first.release(Leave::Nothing);
    assert!(!first.admits());
    assert!(matches!(publish(&first), Err(LeaseError::Lost)));
    assert_eq!(checkout.document().state, State::Draining);

    let second = elected(&checkout.site);
    assert_eq!(second.epoch(), 2);
    assert_eq!(
        second.found(),
        format!("a document of process {} (draining)", std::process::id())
    );
    first.release(Leave::Nothing);
    assert!(second.admits());
    second.release(Leave::Nothing);
    assert_eq!(
        Reading::at(&checkout.site.lease_document()),
        Reading::Absent
    );
    assert!(checkout.site.lease_lock().exists());

    let third = elected(&checkout.site);
    drop(third);
    drop(elected(&checkout.site));
}

/// Guards I5.
#[test]
fn a_removed_or_replaced_lease_is_noticed_and_its_successor_is_left_alone() {
    let checkout = Checkout::new();
    let state = checkout.site.root().join(".ai/local");
    let gone = elected(&checkout.site);
    publish(&gone).unwrap();
    assert!(gone.admits());
    fs::remove_dir_all(&state).unwrap();
    assert!(!gone.admits());
    assert!(matches!(publish(&gone), Err(LeaseError::Lost)));
    // The name keeps everybody out until the old owner notices.
    #[cfg(target_os = "linux")]
    assert!(matches!(alone(&checkout.site), AloneReason::Held { .. }));
    let successor = std::thread::scope(|scope| {
        let candidate = scope.spawn(|| elected(&checkout.site));
        gone.release(Leave::Draining);
        candidate.join().unwrap()
    });
    publish(&successor).unwrap();
    gone.release(Leave::Nothing);
    assert!(successor.admits());

    fs::remove_file(checkout.site.lease_document()).unwrap();
    assert!(!successor.admits());
    successor.release(Leave::Nothing);

    let third = elected(&checkout.site);
    fs::write(checkout.site.lease_document(), "{}").unwrap();
    assert!(!third.admits());
    third.release(Leave::Nothing);
    assert_eq!(fs::read(checkout.site.lease_document()).unwrap(), b"{}");

    let fourth = elected(&checkout.site);
    fs::rename(
        checkout.site.lease_lock(),
        checkout.folder.path().join("old"),
    )
    .unwrap();
    fs::write(checkout.site.lease_lock(), "").unwrap();
    assert!(!fourth.admits());
}

#[test]
fn a_document_that_was_only_touched_is_still_ours() {
    let checkout = Checkout::new();
    let owner = elected(&checkout.site);
    publish(&owner).unwrap();
    let mut annotated = checkout.document();
    annotated
        .unknown
        .insert("note".to_owned(), serde_json::json!("kept"));
    fs::write(checkout.site.lease_document(), annotated.render()).unwrap();
    assert!(owner.admits());
    owner.drain().unwrap();
    assert_eq!(checkout.document().unknown["note"], "kept");
}

/// Guards I2.
#[test]
fn whatever_stands_in_the_documents_place_is_replaced_and_named() {
    let checkout = Checkout::prepared();
    let path = checkout.site.lease_document();
    let foreign = Checkout::new();
    let other = elected(&foreign.site);
    publish(&other).unwrap();
    let copied = fs::read(foreign.site.lease_document()).unwrap();
    let mut elsewhere = foreign.document();
    elsewhere.root_id = checkout.site.root_id().to_owned();
    elsewhere.scope = "0".repeat(16);
    elsewhere.epoch = 41;

    let write = |bytes: Vec<u8>| -> Put { Box::new(move |path| fs::write(path, &bytes).unwrap()) };
    let process = std::process::id();
    let cases: Vec<(Put, String, u64)> = vec![
        (write(Vec::new()), "an empty document".to_owned(), 1),
        (
            write(b"\xff\x00garbage".to_vec()),
            "a document that is no lease document (line 1, column 1)".to_owned(),
            1,
        ),
        (
            write(br#"{"schema": "other/v1"}"#.to_vec()),
            "a document that has another schema than majordomus-mcp-lease/v1".to_owned(),
            1,
        ),
        (
            write(vec![b'x'; 1 << 20]),
            "a document that is longer than 65536 bytes".to_owned(),
            1,
        ),
        (
            Box::new(|path| symlink("/dev/zero", path).unwrap()),
            "a document that is a symbolic link".to_owned(),
            1,
        ),
        (
            Box::new(|path| {
                fs::create_dir(path).unwrap();
                fs::write(path.join("inside"), "").unwrap();
            }),
            "a document that is a directory".to_owned(),
            1,
        ),
        (
            Box::new(|path| nix::unistd::mkfifo(path, Mode::S_IRWXU).unwrap()),
            "a document that is a pipe, socket or device".to_owned(),
            1,
        ),
        (
            write(copied),
            format!("a document of process {process} (ready, of another checkout)"),
            1,
        ),
        (
            write(elsewhere.render()),
            format!("a document of process {process} (ready, of another boot or container)"),
            42,
        ),
    ];
    for (put, named, epoch) in cases {
        put(&path);
        let owner = elected(&checkout.site);
        assert_eq!(owner.found(), named);
        assert_eq!(owner.epoch(), epoch, "{named}");
        assert!(owner.admits(), "{named}");
        publish(&owner).unwrap();
        owner.release(Leave::Nothing);
        assert_eq!(Reading::at(&path), Reading::Absent, "{named}");
    }
    assert!(other.admits());
}

/// Guards I3.
#[test]
fn what_cannot_be_a_lock_file_leaves_a_process_alone_at_once() {
    type Make = fn(&PathBuf);
    let cases: [(Make, &str); 3] = [
        (|path| fs::create_dir(path).unwrap(), "a directory"),
        (
            |path| symlink("/dev/null", path).unwrap(),
            "a symbolic link",
        ),
        (
            |path| nix::unistd::mkfifo(path, Mode::S_IRWXU).unwrap(),
            "a pipe, socket or device",
        ),
    ];
    for (put, kind) in cases {
        let checkout = Checkout::prepared();
        put(&checkout.site.lease_lock());
        let start = Instant::now();
        let reason = match stand(&checkout.site, Duration::from_mins(5), &REFUSED) {
            Outcome::Alone(reason) => reason,
            other => panic!("{other:?}"),
        };
        assert!(start.elapsed() < Duration::from_secs(5));
        assert_eq!(
            reason.to_string(),
            format!(".ai/local/state/mcp/server.lock is {kind}")
        );
        assert_eq!(reason.hint(), "rm -r .ai/local/state/mcp/server.lock");
    }
}

/// Guards I3.
#[test]
fn a_state_folder_that_cannot_be_made_leaves_a_process_alone() {
    let checkout = Checkout::new();
    fs::write(checkout.site.root().join(".ai"), "in the way").unwrap();
    let reason = alone(&checkout.site);
    assert_eq!(reason.to_string(), "cannot make .ai: not a directory");
    assert_eq!(reason.hint(), "ls -ld .ai");
}

/// Guards I3.
#[cfg(target_os = "linux")]
#[test]
fn a_checkout_where_nobody_may_write_leaves_a_process_alone() {
    // The kernel makes no folders here for anybody, root included, and in a container it is mounted read-only.
    let site = Site::discover(std::path::Path::new("/sys/kernel"), Explicit::Yes)
        .unwrap()
        .unwrap();
    let reason = alone(&site).to_string();
    assert!(reason.starts_with("cannot make .ai: "), "{reason}");
    assert!(!reason.contains('\n'));
}

/// Guards I3.
#[test]
fn a_state_folder_or_document_of_another_user_leaves_a_process_alone() {
    if nix::unistd::geteuid().is_root() {
        // Root may do anything; the tests of the executable drop the user for this.
        return;
    }
    let checkout = Checkout::prepared();
    let mode = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(checkout.site.state_dir(), permissions).unwrap();
    };
    mode(0o500);
    let reason = alone(&checkout.site);
    mode(0o700);
    assert!(matches!(reason, AloneReason::Refused { .. }), "{reason}");
}

#[test]
fn the_epoch_is_the_larger_of_document_and_board() {
    let checkout = Checkout::new();
    let owner = elected(&checkout.site);
    owner.raise_epoch(17);
    owner.raise_epoch(3);
    publish(&owner).unwrap();
    assert_eq!(checkout.document().epoch, 17);
    owner.release(Leave::Draining);
    assert_eq!(elected(&checkout.site).epoch(), 18);
}

/// Guards I2.
#[test]
fn a_probe_that_never_answers_costs_one_handshake() {
    let checkout = Checkout::new();
    let owner = elected(&checkout.site);
    publish(&owner).unwrap();
    let start = Instant::now();
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(attach_or_own(&checkout.site, SOON, |_| {
            std::future::pending::<Result<(), _>>()
        }));
    let Outcome::Alone(AloneReason::Held { pid: _, failure }) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(failure, Some(ProbeFailure::Timeout));
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert!(start.elapsed() < Duration::from_secs(5));
}
