//! A real terminal with a shell in it, and a client that the shell runs in the foreground.
//!
//! Ctrl-Z reaches the terminal's foreground process group through the kernel, exactly as for a person. The client is
//! a shell of its own (the job's leader) that started `majordomus` as a child with pipes, which is how Claude Code and
//! Gemini CLI start it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use nix::pty::openpty;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::client::Client;
use super::command::{MAJORDOMUS, hermetic};
use super::repository::Repository;
use super::wait::{BOUND, wait_some};

/// The terminal's other end: what a person types and sees.
#[derive(Debug)]
pub(crate) struct Terminal {
    keys: File,
    screen: Arc<Mutex<String>>,
    /// The shell, unless a client has it.
    shell: Option<Child>,
}

impl Terminal {
    /// Opens a terminal with a shell in it, in the checkout's root.
    pub(crate) fn open(repository: &Repository) -> Self {
        let pty = openpty(None, None).expect("a pseudo terminal");
        let side = |file: &File| Stdio::from(file.try_clone().expect("a descriptor"));
        let slave = File::from(pty.slave);
        let shell = hermetic("setsid", repository.root(), repository.home())
            .args(["-c", "sh", "-i"])
            .env("TERM", "dumb")
            .env("PS1", "ready$ ")
            .stdin(side(&slave))
            .stdout(side(&slave))
            .stderr(side(&slave))
            .spawn()
            .expect("a shell in a session of its own");
        drop(slave);

        let keys = File::from(pty.master);
        let mut source = keys.try_clone().expect("a descriptor");
        let screen = Arc::new(Mutex::new(String::new()));
        let seen = Arc::clone(&screen);
        thread::spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(count @ 1..) = source.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..count]);
                seen.lock().unwrap().push_str(&text);
            }
        });
        let terminal = Self {
            keys,
            screen,
            shell: Some(shell),
        };
        terminal.sees("ready$ ");
        terminal
    }

    /// Opens a terminal and lets its shell run a client of `repository` in the foreground.
    pub(crate) fn with_client(repository: &Repository, name: &str) -> (Self, Client) {
        let fifo = |end: &str| -> PathBuf {
            let path = repository.outside().join(format!("{name}.{end}"));
            mkfifo(&path, Mode::S_IRWXU).expect("a fifo");
            path
        };
        let (input, output) = (fifo("in"), fifo("out"));
        let mut terminal = Self::open(repository);
        terminal.types(
            format!(
                "sh -c '\"{MAJORDOMUS}\" mcp --conformance <\"{}\" >\"{}\" 2>/dev/null; :'\n",
                input.display(),
                output.display()
            )
            .as_bytes(),
        );
        // Opened for both, so that a shell that never comes cannot make the test wait for ever.
        let open = |path: &PathBuf| {
            File::options()
                .read(true)
                .write(true)
                .open(path)
                .expect("our own fifo")
        };
        let shell = terminal.shell.take().expect("opened above");
        let client = Client::new(
            name.to_owned(),
            shell,
            Box::new(open(&input)),
            open(&output),
        );
        (terminal, client)
    }

    /// Types.
    pub(crate) fn types(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).expect("the terminal is open");
    }

    /// Waits until the screen has shown `text`, and returns everything behind it.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) -> String {
        wait_some(&format!("{text:?} on the terminal"), BOUND, || {
            let screen = self.screen.lock().unwrap();
            screen.split_once(text).map(|(_, rest)| rest.to_owned())
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(mut shell) = self.shell.take() {
            drop(shell.kill());
            drop(shell.wait());
        }
    }
}
