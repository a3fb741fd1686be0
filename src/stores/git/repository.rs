//! The bare repository through which a store meets its remote. It is a cache: whatever is wrong with it, it is made again.
//!
//! Every git runs in the environment of [`crate::floor::remote`], with the store's lock for its standard input: so one that
//! its starter's death has not ended yet keeps others out.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use gix_actor::Signature;
use gix_hash::{Kind, ObjectId};
use gix_object::date::Time;
use gix_object::tree::{Entry, EntryKind};
use gix_object::{Commit, FindExt as _, Tree, Write as _};

use crate::floor::fs::read_plain;
use crate::floor::git;
use crate::floor::remote::child::{self, Ran};
use crate::floor::remote::settings::{self, Settings};
use crate::floor::remote::{Deadline, REMOTE, RemoteError, address, verdict};
use crate::stores::clock::Device;

/// The longest that git may say nothing: it tells its progress each second that there is some.
const SILENCE: Duration = Duration::from_secs(20);
/// The longest that all of one meeting may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// The largest pack that is taken from a remote, in bytes.
const PACK_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// The largest tree that is looked into, in bytes.
const TREE_BYTES: u64 = 1024 * 1024;
/// How many packs, or files of one object each, may lie about.
const PACKS: usize = 32;
/// How a remote may be reached: the user named this address, on this machine, for this store.
const PROTOCOLS: &str = "https:ssh:file:http";
/// What holds here beside what holds for every remote: a pack stays one file, and a large object is never held in memory.
const OURS: &[&str] = &[
    "fetch.unpackLimit=1",
    "transfer.unpackLimit=1",
    "core.bigFileThreshold=16m",
];

/// The files of a tree, by the names of their folder and their own.
pub(super) type Files = BTreeMap<(String, String), ObjectId>;

/// The repository, and the way to the remote.
pub(super) struct Repository {
    folder: PathBuf,
    url: String,
    store: String,
    lock: File,
    until: Deadline,
}

impl Repository {
    /// Opens the repository, which is made where there is none of ours.
    pub(super) fn open(
        folder: &Path,
        url: &str,
        store: &str,
        lock: File,
    ) -> Result<Self, RemoteError> {
        hold(url)?;
        let repository = Self {
            folder: folder.to_owned(),
            url: url.to_owned(),
            store: store.to_owned(),
            lock,
            until: Deadline::after(PATIENCE),
        };
        let is_ours = folder.join("HEAD").exists() && settings::hold(folder).is_ok();
        if !is_ours {
            repository.make()?;
        }
        sweep(folder, 8);
        repository.tidy()?;
        Ok(repository)
    }

    fn make(&self) -> Result<(), RemoteError> {
        let _gone = fs::remove_dir_all(&self.folder);
        let parent = self.folder.parent().unwrap_or(&self.folder);
        let mut init = git::command(parent);
        init.args(["init", "--quiet", "--bare", "--template="])
            .args(["--ref-format=files", "--object-format=sha1", "--"])
            .arg(&self.folder);
        self.local(init)
    }

    /// Packs what lies about, and drops what no ref leads to any more: what others replaced.
    fn tidy(&self) -> Result<(), RemoteError> {
        let objects = self.folder.join("objects");
        let count = |folder: &Path| fs::read_dir(folder).into_iter().flatten().count();
        // One in 256 folders stands for all of them; a pack has three files.
        let is_full =
            count(&objects.join("17")) > PACKS || count(&objects.join("pack")) > 3 * PACKS;
        if !is_full {
            return Ok(());
        }
        for words in [
            &["repack", "-a", "-d", "-q"][..],
            &["prune", "--expire=now"],
        ] {
            let mut git = git::command(&self.folder);
            git.arg("--git-dir").arg(&self.folder).args(words);
            self.local(git)?;
        }
        Ok(())
    }

    /// Runs a git that uses no network.
    fn local(&self, mut git: Command) -> Result<(), RemoteError> {
        let ran = child::run(git.stdin(self.input()?), &self.until, PATIENCE)?;
        if ran.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        Err(verdict::of_ours(said))
    }

    fn input(&self) -> Result<File, RemoteError> {
        let shared = self.lock.try_clone();
        shared.map_err(|error| RemoteError::Other(error.to_string()))
    }

    fn remote(&self, arguments: impl FnOnce(&mut Command)) -> Result<Ran, RemoteError> {
        // No checkout says how this remote is reached: only the user's own configuration does.
        let settings = Settings::read(Path::new("/"), &self.until, SILENCE)?;
        let mut git = settings.command(&self.folder, &self.url, PROTOCOLS);
        for setting in OURS {
            git.args(["-c", setting]);
        }
        arguments(&mut git);
        let mut git = git::bounded(&git, PACK_BYTES);
        child::run(git.stdin(self.input()?), &self.until, SILENCE)
    }

    /// The full name of a device's ref.
    pub(super) fn reference(&self, device: Device) -> String {
        format!("{}{device}", self.prefix())
    }

    fn prefix(&self) -> String {
        format!("refs/majordomus/stores/{}/", self.store)
    }

    /// Where the refs of the devices stand, as the remote says. Other names are not looked at.
    pub(super) fn list(&self) -> Result<BTreeMap<Device, ObjectId>, RemoteError> {
        let ran = self.remote(|git| {
            git.args([
                "ls-remote",
                "--refs",
                "--",
                REMOTE,
                &format!("{}*", self.prefix()),
            ]);
        })?;
        if !ran.status.success() {
            return Err(verdict::of_fetch(&ran));
        }
        let said = String::from_utf8_lossy(&ran.stdout);
        let refs = said.lines().filter_map(|line| {
            let (id, name) = line.split_once('\t')?;
            let device = Device::parse(name.strip_prefix(&self.prefix())?)?;
            Some((device, ObjectId::from_hex(id.as_bytes()).ok()?))
        });
        Ok(refs.collect())
    }

    /// Fetches a device's ref, its newest commit alone, and answers where it stands.
    pub(super) fn fetch(&self, device: Device) -> Result<ObjectId, RemoteError> {
        let local = format!("refs/devices/{device}");
        let refspec = format!("+{}:{local}", self.reference(device));
        let ran = self.remote(|git| {
            git.args(["fetch", "--progress", "--depth=1", "--no-tags"])
                .args(["--no-write-fetch-head", "--no-recurse-submodules"])
                .args(["--no-auto-maintenance", "--no-prune", "--refmap="])
                .args(["--", REMOTE, &refspec]);
        })?;
        if !ran.status.success() {
            return Err(verdict::of_fetch(&ran));
        }
        let damaged = || RemoteError::Damaged(format!("the ref of device {device}"));
        let (text, _) = read_plain(&self.folder.join(local), 256).map_err(|_| damaged())?;
        ObjectId::from_hex(text.trim_ascii()).map_err(|_| damaged())
    }

    /// Moves this device's ref from `expected` (`None`: it is not there) to `tip`.
    pub(super) fn push(
        &self,
        device: Device,
        tip: ObjectId,
        expected: Option<ObjectId>,
    ) -> Result<(), RemoteError> {
        let reference = self.reference(device);
        let expected = expected.map(|id| id.to_string()).unwrap_or_default();
        let ran = self.remote(|git| {
            git.args(["push", "--porcelain", "--progress", "--no-verify"])
                .args(["--no-follow-tags", "--no-signed", "--no-recurse-submodules"])
                .arg(format!("--force-with-lease={reference}:{expected}"))
                .args(["--", REMOTE, &format!("{tip}:{reference}")]);
        })?;
        if !ran.status.success() {
            return Err(verdict::of_push(&ran));
        }
        // A ref keeps it from being dropped: what is in it need not be read and sent again.
        let mut keep = git::command(&self.folder);
        keep.arg("--git-dir").arg(&self.folder);
        keep.args([
            "update-ref",
            &format!("refs/devices/{device}"),
            &tip.to_string(),
        ]);
        self.local(keep)
    }

    fn objects(&self) -> Result<gix_odb::Handle, RemoteError> {
        gix_odb::at(self.folder.join("objects"), Kind::Sha1).map_err(|error| ours(&error))
    }

    /// The files of a commit that lie as those of a folder of segments do, and how many other things there are.
    pub(super) fn files(&self, commit: ObjectId) -> Result<(Files, usize), RemoteError> {
        let objects = self.objects()?;
        let mut buffer = Vec::new();
        let commit = objects.find_commit(&commit, &mut buffer);
        let top = commit.map_err(|error| damaged(&error))?.tree();
        let (mut files, mut strange) = (Files::new(), 0);
        for device in entries(&objects, top)? {
            let name = device.filename.to_string();
            if device.mode.kind() != EntryKind::Tree || Device::parse(&name).is_none() {
                strange += 1;
                continue;
            }
            for file in entries(&objects, device.oid)? {
                let own = file.filename.to_string();
                if file.mode.kind() == EntryKind::Blob && super::is_carried(&own) {
                    files.insert((name.clone(), own), file.oid);
                } else {
                    strange += 1;
                }
            }
        }
        Ok((files, strange))
    }

    /// The bytes of a file; `None` of one that is longer.
    pub(super) fn read(&self, id: ObjectId, limit: usize) -> Result<Option<Vec<u8>>, RemoteError> {
        let objects = self.objects()?;
        if size(&objects, id)? > limit as u64 {
            return Ok(None);
        }
        let mut buffer = Vec::new();
        objects
            .find_blob(&id, &mut buffer)
            .map_err(|error| damaged(&error))?;
        Ok(Some(buffer))
    }

    /// Whether a file is here.
    pub(super) fn has(&self, id: ObjectId) -> bool {
        use gix_object::Exists as _;
        self.objects().is_ok_and(|objects| objects.exists(&id))
    }

    /// Keeps a file.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<ObjectId, RemoteError> {
        let kept = self.objects()?.write_buf(gix_object::Kind::Blob, bytes);
        kept.map_err(|error| ours(&error))
    }

    /// The one commit of these files. The same files make the same commit, whenever and wherever it is made.
    pub(super) fn commit(&self, files: &Files) -> Result<ObjectId, RemoteError> {
        let objects = self.objects()?;
        let mut devices: BTreeMap<&str, Tree> = BTreeMap::new();
        for ((device, name), oid) in files {
            devices
                .entry(device)
                .or_insert_with(Tree::empty)
                .entries
                .push(Entry {
                    mode: EntryKind::Blob.into(),
                    filename: name.as_str().into(),
                    oid: *oid,
                });
        }
        let mut top = Tree::empty();
        for (device, tree) in devices {
            top.entries.push(Entry {
                mode: EntryKind::Tree.into(),
                filename: device.into(),
                oid: objects.write(&tree).map_err(|error| ours(&error))?,
            });
        }
        let nobody = Signature {
            name: "majordomus".into(),
            email: "majordomus@localhost".into(),
            time: Time::new(0, 0),
        };
        let commit = Commit {
            tree: objects.write(&top).map_err(|error| ours(&error))?,
            parents: std::iter::empty().collect(),
            author: nobody.clone(),
            committer: nobody,
            encoding: None,
            message: "the segments of one device\n".into(),
            extra_headers: Vec::new(),
        };
        objects.write(&commit).map_err(|error| ours(&error))
    }
}

/// Holds that an address is one that may be used.
pub(super) fn hold(url: &str) -> Result<(), RemoteError> {
    address::hold(url, true)
}

fn size(objects: &gix_odb::Handle, id: ObjectId) -> Result<u64, RemoteError> {
    use gix_odb::HeaderExt as _;
    // What is hostile is told by its header alone.
    let header = objects.header(id).map_err(|error| damaged(&error))?;
    Ok(header.size())
}

fn entries(objects: &gix_odb::Handle, tree: ObjectId) -> Result<Vec<Entry>, RemoteError> {
    if size(objects, tree)? > TREE_BYTES {
        let what = format!("the tree {tree} is longer than {TREE_BYTES} bytes");
        return Err(RemoteError::Damaged(what));
    }
    let mut buffer = Vec::new();
    let tree = objects.find_tree(&tree, &mut buffer);
    let tree = tree.map_err(|error| damaged(&error))?;
    Ok(tree.entries.iter().map(|entry| (*entry).into()).collect())
}

fn damaged(error: &dyn std::fmt::Display) -> RemoteError {
    RemoteError::Damaged(error.to_string())
}

fn ours(error: &dyn std::fmt::Display) -> RemoteError {
    verdict::of_ours(error.to_string())
}

/// Removes what a killed git left: the store's lock says that none is at work.
fn sweep(folder: &Path, depth: usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if name.starts_with("tmp_") || name.ends_with(".lock") {
            let _gone = if is_folder {
                fs::remove_dir_all(&path)
            } else {
                fs::remove_file(&path)
            };
        } else if is_folder && depth > 0 && name.len() != 2 {
            sweep(&path, depth - 1);
        }
    }
}
