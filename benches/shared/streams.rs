//! An answer over HTTP as a stream of events beside the same answer as JSON.
//!
//! The call logs one line and answers. A client that takes streams gets the line and the answer as two events; one
//! that does not gets the answer alone. On a connection with Nagle's algorithm the second event waits for a delayed
//! acknowledgment: 44 ms, where JSON takes a fraction of one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::arguments::Arguments;
use crate::checkout::Checkout;
use crate::client::INITIALIZE;
use crate::figures::{Order, Samples, Unit};

/// How many times as long a stream may take.
const AIM: f64 = 1.3;

/// What is called; `test_logging_tool` logs once.
const CALL: &str =
    "\"method\":\"tools/call\",\"params\":{\"name\":\"test_logging_tool\",\"arguments\":{}}";

const BOTH: &str = "application/json, text/event-stream";

/// Prints p50 and p99 of both and their ratio; the long form fails past the aim.
pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    let checkout = Checkout::new()?;
    let _owner = checkout.open(&arguments.binary, &[])?;
    let mut clients = [
        Connection::open(&checkout, BOTH)?,
        Connection::open(&checkout, "application/json")?,
    ];
    let mut samples: [Samples; 2] = Default::default();
    let each = arguments.size(200, 20);
    let mut order = Order::new(arguments.seed);
    for client in &mut clients {
        for _ in 0..each {
            client.timed()?;
        }
    }
    for _ in 0..arguments.rounds {
        for which in order.shuffled(clients.len()) {
            let times = (0..each).map(|_| clients[which].timed());
            samples[which].add_round(times.collect::<Outcome<_>>()?);
        }
    }
    let [streamed, json] = &samples;
    let ratio = streamed.ratio_to(json);
    println!(
        "\ntools/call over HTTP that logs one line, {} calls each   p50, p99 in µs",
        json.count()
    );
    println!("  {:<34}{}", "one JSON answer", json.line(Unit::Micros));
    println!(
        "  {:<34}{}   {ratio:.2} of JSON (at most {AIM})",
        "a stream of two events",
        streamed.line(Unit::Micros)
    );
    if !arguments.smoke && ratio > AIM {
        return Err(
            format!("a stream takes {ratio:.2} times as long as JSON, at most {AIM}").into(),
        );
    }
    Ok(())
}

/// A session of its own on a connection that stays open.
struct Connection {
    reader: BufReader<TcpStream>,
    head: String,
    id: u64,
    streams: bool,
}

impl Connection {
    fn open(checkout: &Checkout, accept: &str) -> Outcome<Self> {
        let (address, token) = checkout.http()?;
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut connection = Self {
            reader: BufReader::new(socket),
            head: head(address, &token, accept),
            id: 0,
            streams: accept == BOTH,
        };
        let (answer, _) = connection.exchange(INITIALIZE)?;
        let session = answer
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "))
            .ok_or("no session")?;
        connection.head.push_str("Mcp-Session-Id: ");
        connection.head.push_str(session.trim_end());
        connection.head.push_str("\r\n");
        Ok(connection)
    }

    fn timed(&mut self) -> Outcome<Duration> {
        let start = Instant::now();
        let (head, body) = self.exchange(CALL)?;
        let took = start.elapsed();
        let kind = if self.streams {
            "text/event-stream"
        } else {
            "application/json"
        };
        let whole = body.contains(&format!("\"id\":{},", self.id)) && body.contains("logged");
        let heard = body.contains("notifications/message");
        if !head.contains(kind) || !whole || heard != self.streams {
            return Err(format!("a wrong answer: {head}{body}").into());
        }
        Ok(took)
    }

    /// Sends one request in one write, and reads the head and the body of its answer.
    fn exchange(&mut self, tail: &str) -> Outcome<(String, String)> {
        self.id += 1;
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},{tail}}}", self.id);
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.reader.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.reader.read_line(&mut head)? == 0 {
                return Err("the connection ended".into());
            }
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let mut bytes = Vec::new();
        if let Some(length) = length {
            self.take(length.trim_end().parse()?, &mut bytes)?;
        } else {
            while self.chunk(&mut bytes)? > 0 {}
        }
        Ok((head, String::from_utf8(bytes)?))
    }

    fn chunk(&mut self, bytes: &mut Vec<u8>) -> Outcome<usize> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim_end(), 16)?;
        self.take(length, bytes)?;
        self.take(2, &mut Vec::new())?;
        Ok(length)
    }

    fn take(&mut self, length: usize, bytes: &mut Vec<u8>) -> Outcome<()> {
        let from = bytes.len();
        bytes.resize(from + length, 0);
        Ok(self.reader.read_exact(&mut bytes[from..])?)
    }
}

fn head(address: SocketAddr, token: &str, accept: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nAccept: {accept}\r\n\
         Content-Type: application/json\r\n"
    )
}
