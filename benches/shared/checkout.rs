//! A checkout of its own, and processes of the product in it, with nothing of the user's environment.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::client::Client;

/// A temporary git checkout; removed when dropped.
#[derive(Debug)]
pub(crate) struct Checkout {
    root: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Checkout {
    /// Makes an empty one.
    pub(crate) fn new() -> Outcome<Self> {
        let checkout = Self {
            root: tempfile::tempdir()?,
            home: tempfile::tempdir()?,
        };
        let git = checkout.root().join(".git");
        std::fs::create_dir_all(git.join("objects"))?;
        std::fs::create_dir_all(git.join("refs/heads"))?;
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
        std::fs::write(
            git.join("config"),
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
        )?;
        Ok(checkout)
    }

    /// Returns its top level.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Returns `BINARY mcp ARGUMENTS…`, to be started in this checkout, with the fixtures' trivial tool.
    pub(crate) fn mcp(&self, binary: &Path, arguments: &[&str]) -> Command {
        let mut command = self.command(binary);
        command.args(["mcp", "--conformance"]).args(arguments);
        command
    }

    /// Runs a command of the product here, to its end.
    pub(crate) fn run(&self, binary: &Path, arguments: &[&str]) -> Outcome<()> {
        let output = self.command(binary).args(arguments).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{arguments:?}: {said}").into())
    }

    fn command(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
    }

    /// Starts the product here and opens its session.
    pub(crate) fn open(&self, binary: &Path, arguments: &[&str]) -> Outcome<Client> {
        let mut client = Client::start(self.mcp(binary, arguments))?;
        client.initialize()?;
        Ok(client)
    }

    /// Returns the lease document.
    fn document(&self) -> Outcome<serde_json::Value> {
        let document = self.root().join(".ai/local/state/mcp/server.json");
        Ok(serde_json::from_slice(&std::fs::read(document)?)?)
    }

    /// Returns where HTTP clients go, and the token that they show.
    pub(crate) fn http(&self) -> Outcome<(SocketAddr, String)> {
        let document = self.document()?;
        let url = document.get("url").and_then(serde_json::Value::as_str);
        let address = url.and_then(|url| url.strip_prefix("http://"));
        let address = address.ok_or("the lease document names no url")?.parse()?;
        let token = std::fs::read_to_string(self.root().join(".git/majordomus/token"))?;
        Ok((address, token.trim().to_owned()))
    }

    /// Returns the pid that the lease document names.
    pub(crate) fn owner_pid(&self) -> Outcome<u32> {
        let document = self.document()?;
        let pid = document.get("pid").and_then(serde_json::Value::as_u64);
        Ok(u32::try_from(
            pid.ok_or("the lease document names no pid")?,
        )?)
    }
}
