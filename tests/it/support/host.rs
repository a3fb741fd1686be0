//! A git host on loopback: smart HTTP by `git http-backend`, and the ways in which a host or a network fails, which can be
//! changed at any time. What it runs is its own: it goes on when whoever pushed is killed, as on another machine.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::command::hermetic;

/// How the host answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As a host does.
    Serve,
    /// With this status and nothing else.
    Refuse(&'static str),
    /// The connection ends before anything is done.
    CutBefore,
    /// All is done, and the connection ends after so many hundredths of what is to be said of it.
    CutAfter(usize),
}

/// The host; it ends with the value.
#[derive(Debug)]
pub(crate) struct Host {
    port: u16,
    over: Arc<AtomicBool>,
    manner: Arc<Mutex<Manner>>,
}

impl Host {
    /// Serves the repositories in a folder.
    pub(crate) fn new(root: &Path) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let host = Self {
            port: listener.local_addr().unwrap().port(),
            over: Arc::default(),
            manner: Arc::new(Mutex::new(Manner::Serve)),
        };
        let root = root.canonicalize().unwrap();
        let (over, manner) = (Arc::clone(&host.over), Arc::clone(&host.manner));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (root, manner) = (root.clone(), Arc::clone(&manner));
                thread::spawn(move || {
                    // A client that went away is no news.
                    let _answered = answer(&stream.unwrap(), &root, &manner);
                });
            }
        });
        host
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }

    /// How it answers from now on.
    pub(crate) fn set(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

fn answer(mut stream: &TcpStream, root: &Path, manner: &Mutex<Manner>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let headers: HashMap<String, String> = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    if headers.contains_key("expect") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = body(&mut reader, &headers)?;
    let manner = *manner.lock().unwrap();
    match manner {
        Manner::Refuse(status) => {
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            return stream.write_all(answer.as_bytes());
        }
        Manner::CutBefore => return stream.shutdown(Shutdown::Both),
        Manner::Serve | Manner::CutAfter(_) => {}
    }
    let answer = backend(root, &head, &headers, &body);
    // What a push came to is cut, and not the question before it, without which there is no push.
    if let (Manner::CutAfter(hundredths), true) = (manner, head.starts_with("POST")) {
        stream.write_all(&answer[..answer.len() * hundredths / 100])?;
        return stream.shutdown(Shutdown::Both);
    }
    stream.write_all(&answer)
}

fn body(
    reader: &mut BufReader<&TcpStream>,
    headers: &HashMap<String, String>,
) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if headers.contains_key("transfer-encoding") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = u64::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
            reader.take(size).read_to_end(&mut body)?;
            reader.read_line(&mut String::new())?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    reader.take(length).read_to_end(&mut body)?;
    Ok(body)
}

/// What `git http-backend`, a CGI program, answers, as HTTP.
fn backend(root: &Path, head: &str, headers: &HashMap<String, String>, body: &[u8]) -> Vec<u8> {
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |name: &str| headers.get(name).cloned().unwrap_or_default();
    let root: PathBuf = root.to_owned();
    let mut backend = hermetic("git", &root, &root)
        .env("GIT_PROJECT_ROOT", &root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "somebody")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("HTTP_GIT_PROTOCOL", header("git-protocol"))
        .arg("http-backend")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    backend.stdin.take().unwrap().write_all(body).unwrap();
    let said = backend.wait_with_output().unwrap().stdout;
    let end = said
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let (cgi, rest) = (String::from_utf8_lossy(&said[..end]), &said[end + 4..]);
    let status = cgi
        .lines()
        .find_map(|line| line.strip_prefix("Status: "))
        .unwrap_or("200 OK");
    let mut answer = format!(
        "HTTP/1.1 {status}\r\n{cgi}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        rest.len()
    )
    .into_bytes();
    answer.extend_from_slice(rest);
    answer
}
