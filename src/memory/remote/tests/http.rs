//! A loopback server that speaks HTTP as a git host does: by `git http-backend`, or in one of the ways a host fails.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::floor::git;

/// How the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As a host does.
    Serve,
    /// The same, for those who give a user's name and a password.
    Ask,
    /// With this status and nothing else.
    Refuse(&'static str),
    /// Never.
    Hang,
    /// Half of what a host says, and then the end.
    Half,
    /// Half of a pack, and then never more.
    Stall,
}

/// The server; it ends with the value.
pub(super) struct Server {
    port: u16,
    over: Arc<AtomicBool>,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) fn new(root: &Path, manner: Manner) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            over: Arc::new(AtomicBool::new(false)),
            heads: Arc::default(),
        };
        let (root, over, heads) = (
            root.to_path_buf(),
            Arc::clone(&server.over),
            Arc::clone(&server.heads),
        );
        thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (root, heads) = (root.clone(), Arc::clone(&heads));
                thread::spawn(move || {
                    // A client that went away is no news.
                    let _answered = answer(&stream.unwrap(), &root, manner, &heads);
                });
            }
        });
        server
    }

    pub(super) fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }

    /// What was asked so far, each with its headers.
    pub(super) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

fn answer(
    mut stream: &TcpStream,
    root: &Path,
    manner: Manner,
    heads: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    heads.lock().unwrap().push(head.clone());
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
    match manner {
        Manner::Hang => {
            // Until the client gives up.
            let _end = stream.read(&mut [0]);
            return Ok(());
        }
        Manner::Refuse(status) => return plain(stream, status),
        Manner::Ask if !headers.contains_key("authorization") => {
            return plain(
                stream,
                "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"team\"",
            );
        }
        _ => {}
    }
    let answer = backend(root, &head, &headers, &body);
    let is_pack = head.starts_with("POST") && answer.windows(4).any(|four| four == b"PACK");
    let half = &answer[..answer.len() / 2];
    match manner {
        Manner::Half => {
            stream.write_all(half)?;
            stream.shutdown(Shutdown::Both)
        }
        Manner::Stall if is_pack => {
            stream.write_all(half)?;
            let _end = stream.read(&mut [0]);
            Ok(())
        }
        _ => stream.write_all(&answer),
    }
}

fn plain(mut stream: &TcpStream, status: &str) -> std::io::Result<()> {
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes())
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
            let size = u64::from_str_radix(size.trim(), 16).unwrap();
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
    let root: PathBuf = root.canonicalize().unwrap();
    let mut backend = git::command(&root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
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
