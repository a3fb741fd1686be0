//! A raw HTTP/1.1 client: what is sent is exactly what a test says.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use super::frames;
use super::schemas::Conversation;
use super::wait::BOUND;

/// What was asked in each session; its id is nobody else's.
static SESSIONS: LazyLock<Mutex<HashMap<String, Shared>>> = LazyLock::new(Mutex::default);

type Shared = Arc<Mutex<Conversation>>;

/// Where to send, and with which token.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    address: SocketAddr,
    token: Option<String>,
    headers: Vec<(String, String)>,
}

impl Http {
    /// A client of `http://127.0.0.1:PORT…`, without a token.
    pub(crate) fn new(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("a plain http url");
        let authority = rest.split('/').next().expect("split gives one part");
        Self::at(authority.parse().expect("a literal address and port"))
    }

    /// A client of an address.
    pub(crate) fn at(address: SocketAddr) -> Self {
        Self {
            address,
            token: None,
            headers: Vec::new(),
        }
    }

    /// The address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same with a token, or with none.
    pub(crate) fn with_token(mut self, token: Option<&str>) -> Self {
        self.token = token.map(str::to_owned);
        self
    }

    /// The same with one more header; a `Host` replaces the usual one.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends bytes as they are and reads the head of the answer.
    pub(crate) fn raw(&self, bytes: &[u8]) -> std::io::Result<Reply> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(BOUND))?;
        stream.set_write_timeout(Some(BOUND))?;
        // A server may answer and close before it has read everything; the answer counts.
        let written = stream.write_all(bytes);
        match Reply::read(stream) {
            Ok(mut reply) => {
                reply.judge = conversation(bytes, reply.header("mcp-session-id"));
                Ok(reply)
            }
            Err(error) => {
                written?;
                Err(error)
            }
        }
    }

    /// The head of a request, with the headers every client sends.
    pub(crate) fn head(&self, method: &str, path: &str) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let named = |name: &str| {
            self.headers
                .iter()
                .any(|(own, _)| own.eq_ignore_ascii_case(name))
        };
        if !named("host") {
            head.extend([format!("Host: {}\r\n", self.address)]);
        }
        if let Some(token) = &self.token {
            head.extend([format!("Authorization: Bearer {token}\r\n")]);
        }
        for (name, value) in &self.headers {
            head.extend([format!("{name}: {value}\r\n")]);
        }
        head
    }

    /// Sends a request without a body.
    #[track_caller]
    pub(crate) fn send(&self, method: &str, path: &str) -> Reply {
        let head = format!("{}\r\n", self.head(method, path));
        self.raw(head.as_bytes())
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// GET.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path)
    }

    /// POST of bytes as JSON.
    #[track_caller]
    pub(crate) fn post_bytes(&self, path: &str, body: &[u8]) -> Reply {
        let mut bytes = format!(
            "{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.head("POST", path),
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes)
            .unwrap_or_else(|error| panic!("POST {path}: {error}"))
    }

    /// POST of a JSON value.
    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_bytes(path, body.to_string().as_bytes())
    }

    /// Opens a legacy MCP session of `name`, which can be asked for what `can` says, and returns its client. That one
    /// takes both forms of an answer.
    #[track_caller]
    pub(crate) fn session(&self, name: &str, can: &Value) -> Self {
        let client = self
            .clone()
            .with("Accept", "application/json, text/event-stream");
        let mut params = frames::initialize(name, frames::LEGACY);
        params["capabilities"] = can.clone();
        let open = frames::request(&json!("open"), "initialize", &params);
        let opened = client.post("/mcp", &open).expects(200);
        let id = opened.header("mcp-session-id").expect("a session id");
        client
            .with("Mcp-Session-Id", id)
            .with("MCP-Protocol-Version", frames::LEGACY)
    }

    /// Sends one MCP request of a session.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, params: &Value) -> Reply {
        let request = frames::request(&json!("ask"), method, params);
        self.post("/mcp", &request).expects(200)
    }
}

/// An answer whose head has been read.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: Body,
    /// What was asked, where the answer is MCP.
    judge: Option<Shared>,
}

impl Reply {
    fn read(stream: TcpStream) -> std::io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let status = line(&mut reader)?
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .ok_or(std::io::ErrorKind::InvalidData)?;
        let mut headers = Vec::new();
        loop {
            let line = line(&mut reader)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line
                .split_once(':')
                .ok_or(std::io::ErrorKind::InvalidData)?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let of = |name: &str| {
            headers
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, v)| v.clone())
        };
        let framing = if of("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            Framing::Chunked {
                left: 0,
                ended: false,
            }
        } else if let Some(length) = of("content-length") {
            Framing::Length(
                length
                    .parse()
                    .map_err(|_| std::io::ErrorKind::InvalidData)?,
            )
        } else {
            Framing::ToTheEnd
        };
        Ok(Self {
            status,
            headers,
            body: Body { reader, framing },
            judge: None,
        })
    }

    /// Panics, with the body, unless the status is `status`.
    #[track_caller]
    pub(crate) fn expects(mut self, status: u16) -> Self {
        if self.status == status {
            return self;
        }
        let body = self.text();
        panic!("{} in place of {status}: {body}", self.status);
    }

    /// One header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The whole body.
    #[track_caller]
    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.body
            .read_to_end(&mut bytes)
            .expect("the body arrives in time");
        let json = self
            .header("content-type")
            .is_some_and(|kind| kind.starts_with("application/json"));
        if self.judge.is_some() && json {
            self.judge(&serde_json::from_slice(&bytes).expect("JSON"));
        }
        bytes
    }

    /// The whole body as text.
    #[track_caller]
    pub(crate) fn text(&mut self) -> String {
        String::from_utf8(self.bytes()).expect("UTF-8")
    }

    /// The whole body as JSON; of an event stream, its last event.
    #[track_caller]
    pub(crate) fn json(&mut self) -> Value {
        if self
            .header("content-type")
            .is_some_and(|kind| kind.starts_with("text/event-stream"))
        {
            let mut last = None;
            while let Some(event) = self.event() {
                last = Some(event);
            }
            return last.expect("a stream has an event");
        }
        let text = self.text();
        serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{error} in the body of a {} answer: {text:?}", self.status)
        })
    }

    /// Panics if its schema refuses a frame.
    #[track_caller]
    fn judge(&self, frame: &Value) {
        if let Some(judge) = &self.judge
            && let Err(breach) = judge.lock().unwrap().receives(frame)
        {
            panic!("the schema refuses what the server sent: {breach}");
        }
    }

    /// The next event of a stream, skipping comments and empty data; `None` at its end.
    pub(crate) fn event(&mut self) -> Option<Value> {
        self.event_with_id().map(|(_, data)| data)
    }

    /// The same, and the event's id. A stream on which nothing but comments came for long counts as ended.
    pub(crate) fn event_with_id(&mut self) -> Option<(Option<String>, Value)> {
        let (mut id, mut data) = (None, String::new());
        let start = Instant::now();
        while start.elapsed() < BOUND {
            let mut line = Vec::new();
            loop {
                let mut byte = [0];
                match self.body.read(&mut byte) {
                    Ok(1) if byte[0] == b'\n' => break,
                    Ok(1) => line.push(byte[0]),
                    _ => return None,
                }
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\r');
            if let Some(rest) = line.strip_prefix("data:") {
                data.push_str(rest.trim_start());
            } else if let Some(rest) = line.strip_prefix("id:") {
                id = Some(rest.trim_start().to_owned());
            } else if line.is_empty() && !data.is_empty() {
                let data = serde_json::from_str(&data).expect("events carry JSON");
                self.judge(&data);
                return Some((id, data));
            }
        }
        None
    }
}

/// The conversation that a request to `/mcp` belongs to: its session's, or one of its own.
fn conversation(request: &[u8], opened: Option<&str>) -> Option<Shared> {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (
        String::from_utf8_lossy(&request[..end]),
        &request[end + 4..],
    );
    let mut lines = head.lines();
    if lines.next()?.split(' ').nth(1)? != "/mcp" {
        return None;
    }
    let own = lines.filter_map(|line| line.split_once(':'));
    let mut own = own.filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
    let session = own.next().map(|(_, id)| id.trim()).or(opened);
    let conversation = match session {
        Some(id) => Arc::clone(SESSIONS.lock().unwrap().entry(id.to_owned()).or_default()),
        None => Shared::default(),
    };
    conversation.lock().unwrap().sends(body);
    Some(conversation)
}

/// How a body ends.
#[derive(Debug)]
enum Framing {
    Length(u64),
    Chunked { left: u64, ended: bool },
    ToTheEnd,
}

/// The body as it comes.
#[derive(Debug)]
struct Body {
    reader: BufReader<TcpStream>,
    framing: Framing,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match &mut self.framing {
            Framing::ToTheEnd => self.reader.read(buffer),
            Framing::Length(left) => {
                let count = (&mut self.reader).take(*left).read(buffer)?;
                *left -= count as u64;
                Ok(count)
            }
            Framing::Chunked { ended: true, .. } => Ok(0),
            Framing::Chunked { left, ended } => {
                if *left == 0 {
                    let size = line(&mut self.reader)?;
                    let digits = size.split(';').next().unwrap_or_default().trim();
                    *left = u64::from_str_radix(digits, 16)
                        .map_err(|_| std::io::ErrorKind::InvalidData)?;
                    if *left == 0 {
                        *ended = true;
                        return Ok(0);
                    }
                }
                let count = (&mut self.reader).take(*left).read(buffer)?;
                if count == 0 {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
                *left -= count as u64;
                if *left == 0 {
                    line(&mut self.reader)?;
                }
                Ok(count)
            }
        }
    }
}

/// One line without its end.
fn line(reader: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut text = String::new();
    if reader.read_line(&mut text)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
