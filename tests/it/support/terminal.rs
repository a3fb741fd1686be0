//! A real terminal with a shell in it, and a client that the shell runs in the foreground.
//!
//! Ctrl-Z reaches the terminal's foreground process group through the kernel, exactly as for a person. The client is
//! a shell of its own (the job's leader) that started `majordomus` as a child with pipes, which is how Claude Code and
//! Gemini CLI start it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;

use nix::pty::openpty;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::client::Client;
use super::command::{MAJORDOMUS, hermetic};
use super::repository::Repository;
use super::wait::{BOUND, wait_for};

/// The terminal's other end: what a person types and sees.
#[derive(Debug)]
pub(crate) struct Terminal {
    keys: File,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    /// Opens a terminal, starts a shell in it and lets it run a client of `repository` in the foreground.
    pub(crate) fn with_client(repository: &Repository, name: &str) -> (Self, Client) {
        let pty = openpty(None, None).expect("a pseudo terminal");
        let fifo = |end: &str| -> PathBuf {
            let path = repository.outside().join(format!("{name}.{end}"));
            mkfifo(&path, Mode::S_IRWXU).expect("a fifo");
            path
        };
        let (input, output) = (fifo("in"), fifo("out"));
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
        let mut terminal = Self { keys, screen };
        terminal.sees("ready$ ");
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

    /// Waits until the screen has shown `text`.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        wait_for(&format!("{text:?} on the terminal"), BOUND, || {
            self.screen.lock().unwrap().contains(text)
        });
    }
}
