//! Where a store, its shadow and its folder are; what its user agreed to; and the lock that lets one process at it.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::StoreError;
use crate::floor::fs::{FileError, open_plain, read_plain, replace};
use crate::floor::hex;

/// What mnemon keeps alive where nobody says otherwise.
const MOST_INSIGHTS: u64 = 1000;

/// What the person's environment says about stores.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// mnemon's folder, with `data` in it.
    pub mnemon: PathBuf,
    /// Where shadows are kept.
    pub state: PathBuf,
    /// The folder that something carries to the other machines.
    pub folder: PathBuf,
    /// What this machine is called, for people.
    pub label: String,
    /// How many insights mnemon keeps alive, where somebody says so; 0 for any number.
    pub most: Option<u64>,
    /// Where mnemon-sync puts its hooks.
    pub claude_settings: PathBuf,
}

/// One store of this machine.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// mnemon's file.
    pub live: PathBuf,
    /// The folder of its shadow.
    pub state: PathBuf,
    /// What this machine is called.
    pub label: String,
    /// How many insights mnemon keeps alive; 0 for any number.
    pub most: u64,
}

/// What the user agreed to.
#[derive(Debug, Serialize, Deserialize)]
struct Consent {
    /// The folder that something carries.
    folder: Option<PathBuf>,
    /// The address of the remote.
    #[serde(default)]
    git: Option<String>,
}

/// Whether mnemon takes the name: `^[a-zA-Z0-9][a-zA-Z0-9_-]*$`, and of a length that every file system takes.
#[must_use]
pub fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

impl Surroundings {
    fn data(&self) -> PathBuf {
        let data = self.mnemon.join("data");
        // SQLite refuses a path with a link in it when it is told to follow none.
        data.canonicalize().unwrap_or(data)
    }

    /// The folder of all shadows of these stores.
    fn shadows(&self) -> PathBuf {
        let digest = Sha256::digest(self.data().as_os_str().as_encoded_bytes());
        let short: Vec<u8> = digest.iter().take(8).copied().collect();
        self.state.join("stores").join(hex::encode(&short))
    }

    /// Finds one store.
    ///
    /// # Errors
    /// Where the name is none.
    pub fn place(&self, name: &str) -> Result<Place, StoreError> {
        if !is_name(name) {
            return Err(StoreError::Name(name.to_owned()));
        }
        Ok(Place {
            name: name.to_owned(),
            live: self.data().join(name).join("mnemon.db"),
            state: self.shadows().join(name),
            label: self.label.clone(),
            most: self.most.unwrap_or(MOST_INSIGHTS),
        })
    }

    /// The stores that were enabled on this machine, by name.
    #[must_use]
    pub fn enabled(&self) -> Vec<Place> {
        let entries = fs::read_dir(self.shadows()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let places = names.filter_map(|name| self.place(&name).ok());
        let mut enabled: Vec<_> = places.filter(|place| place.folder().is_ok()).collect();
        enabled.sort_by(|one, other| one.name.cmp(&other.name));
        enabled
    }

    /// Lets a store of this machine be merged through the folder, through the remote at `git`, or through both. Answers the
    /// folder.
    ///
    /// # Errors
    /// Where the folder may not be one, the address is none, mnemon-sync is at the stores, or the system refuses.
    pub fn enable(
        &self,
        place: &Place,
        through_folder: bool,
        git: Option<&str>,
    ) -> Result<Option<PathBuf>, StoreError> {
        let settings = fs::read(&self.claude_settings).unwrap_or_default();
        if memchr::memmem::find(&settings, b"mnemon-sync").is_some() {
            return Err(StoreError::ForeignHooks(self.claude_settings.clone()));
        }
        git.map_or(Ok(()), super::git::hold)?;
        let folder = through_folder.then(|| self.sync_folder()).transpose()?;
        private_folder(&place.state)?;
        let text = serde_json::to_vec(&Consent {
            folder: folder.clone(),
            git: git.map(str::to_owned),
        })?;
        let path = place.consent();
        replace(&path, &text).map_err(StoreError::io(&path))?;
        Ok(folder)
    }

    /// The folder that something carries, made where it is not there.
    fn sync_folder(&self) -> Result<PathBuf, StoreError> {
        fs::create_dir_all(&self.folder).map_err(StoreError::io(&self.folder))?;
        let folder = self.folder.canonicalize();
        let folder = folder.map_err(StoreError::io(&self.folder))?;
        let data = self.data();
        if folder.starts_with(&data) || data.starts_with(&folder) {
            return Err(StoreError::Folder(folder));
        }
        Ok(folder)
    }
}

impl Place {
    fn consent(&self) -> PathBuf {
        self.state.join("enabled.json")
    }

    fn agreed(&self) -> Result<Consent, StoreError> {
        let off = || StoreError::Off(self.name.clone());
        let (text, _) = read_plain(&self.consent(), 64 * 1024).map_err(|_| off())?;
        serde_json::from_slice(&text).map_err(|_| off())
    }

    /// Where this device writes its segments: the sync folder, with the store's name, or where the remote's are made.
    ///
    /// # Errors
    /// Where nobody agreed.
    pub fn folder(&self) -> Result<PathBuf, StoreError> {
        let outbox = || super::git::outbox(self);
        Ok(self.sync_folder()?.unwrap_or_else(outbox))
    }

    /// The folder that its user agreed to, with the store's name; none where the store is merged through a remote alone.
    ///
    /// # Errors
    /// Where nobody agreed.
    pub fn sync_folder(&self) -> Result<Option<PathBuf>, StoreError> {
        let folder = self.agreed()?.folder;
        Ok(folder.map(|folder| folder.join(&self.name)))
    }

    /// The address of the remote that its user agreed to.
    ///
    /// # Errors
    /// Where nobody agreed.
    pub fn git(&self) -> Result<Option<String>, StoreError> {
        Ok(self.agreed()?.git)
    }

    /// Takes the consent back; the shadow stays, so that nothing is counted twice when it is given again.
    ///
    /// # Errors
    /// Where nobody gave it, or the system refuses.
    pub fn disable(&self) -> Result<(), StoreError> {
        self.folder()?;
        let path = self.consent();
        fs::remove_file(&path).map_err(StoreError::io(&path))
    }

    /// Takes the store's lock on this machine, which the kernel drops with the file.
    ///
    /// # Errors
    /// Where another process has it.
    pub fn lock(&self) -> Result<File, StoreError> {
        private_folder(&self.state)?;
        let path = self.state.join("lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = open_plain(&path, &mut options).map_err(|error| refused(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(_) => Err(StoreError::Busy(self.name.clone())),
        }
    }
}

/// An error of opening a plain file.
pub(super) fn refused(path: &Path, error: FileError) -> StoreError {
    match error {
        FileError::Io(source) => StoreError::Io {
            path: path.to_owned(),
            source,
        },
        other => StoreError::Strange {
            path: path.to_owned(),
            why: other.to_string(),
        },
    }
}

pub(super) fn private_folder(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path);
    made.map_err(StoreError::io(path))
}
