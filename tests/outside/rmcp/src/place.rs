//! A checkout of its own for one scenario, and what is known of its server from outside.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use crate::{Failure, Outcome};

const BOUND: Duration = Duration::from_secs(15);

/// Waits until `look` returns something, with a bound.
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> Outcome<T> {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return Ok(found);
        }
        if start.elapsed() > BOUND {
            return Err(format!("not within {BOUND:?}: {what}").into());
        }
        sleep(Duration::from_millis(10)).await;
    }
}

/// What a server publishes of itself.
#[derive(Debug, Clone)]
pub struct Document {
    pub pid: u64,
    pub epoch: u64,
    pub url: String,
}

pub struct Place {
    binary: PathBuf,
    base: TempDir,
}

impl Place {
    pub async fn new(binary: &Path) -> Outcome<Self> {
        let place = Self {
            binary: binary.into(),
            base: TempDir::with_prefix("outside")?,
        };
        for folder in [place.home(), place.root(), place.inner()] {
            fs::create_dir_all(folder)?;
        }
        let made = place
            .hermetic("git", &place.root())
            .args(["init", "-q", "-b", "main"])
            .status()
            .await?;
        if !made.success() {
            return Err(format!("git: {made}").into());
        }
        Ok(place)
    }

    pub fn root(&self) -> PathBuf {
        self.base.path().join("a checkout ü")
    }

    /// A folder inside, as a client is often started there.
    pub fn inner(&self) -> PathBuf {
        self.root().join("below")
    }

    fn home(&self) -> PathBuf {
        self.base.path().join("home")
    }

    /// The server as a client starts it.
    pub fn server(&self, folder: &Path) -> Command {
        let mut command = self.hermetic(&self.binary, folder);
        command.args(["mcp", "--conformance"]).kill_on_drop(true);
        command
    }

    /// Where servers say what they do; it is shown after a failure.
    pub fn log(&self) -> Outcome<File> {
        let file = self.base.path().join("log");
        Ok(File::options().append(true).create(true).open(file)?)
    }

    pub fn said(&self) -> String {
        fs::read_to_string(self.base.path().join("log")).unwrap_or_default()
    }

    fn hermetic(&self, program: impl AsRef<OsStr>, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    pub fn document(&self) -> Option<Document> {
        let file = self.root().join(".ai/local/state/mcp/server.json");
        let found: Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
        if found["state"] != "ready" {
            return None;
        }
        Some(Document {
            pid: found["pid"].as_u64()?,
            epoch: found["epoch"].as_u64()?,
            url: found["url"].as_str()?.trim_end_matches('/').to_owned(),
        })
    }

    pub fn token(&self) -> Outcome<String> {
        let file = self.root().join(".git/majordomus/token");
        Ok(fs::read_to_string(file)?.trim().to_owned())
    }

    /// Ends a process of this place without any chance to clean up.
    pub async fn kill(&self, pid: u64) -> Outcome<()> {
        let killed = self
            .hermetic("kill", &self.root())
            .args(["-9", &pid.to_string()])
            .status()
            .await?;
        killed
            .success()
            .then_some(())
            .ok_or_else(|| Failure::from(format!("kill: {killed}")))
    }
}
