//! The floors: this very program, started again with a hidden first argument.
//!
//! - `floor-echo BYTES`: reads a line, answers it with as many bytes as the product would; blocking, one write.
//! - `floor-async BYTES`: the same on an event loop, with JSON parsed and rendered: the least that a server which can do
//!   two things at once costs with the libraries that this one stands on.
//! - `floor-hub BYTES`: the same over TCP, one blocking thread a connection; prints its port first.
//! - `floor-relay PORT`: copies stdin to that hub and back, blocking; with the hub, the two-process relay.
//! - `floor-async-hub BYTES` and `floor-async-relay PORT`: the same two on event loops, the hub with JSON as above.
//! - `floor-owner FOLDER`: what no owner can do without before it answers, blocking and one after the other: a lock, a
//!   port, the board's file with one write to it, a published document. Then it is `floor-echo`.
//!
//! `floor-echo` is also the minimal process that answers `initialize`, and `floor-relay` the minimal bridge.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::Command;

use nix::fcntl::{Flock, FlockArg};

use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::unix::pipe;

use crate::Outcome;
use crate::client::Client;

/// Becomes a floor if the first argument says so; otherwise returns `None`.
pub(crate) fn become_one() -> Option<Outcome<()>> {
    let mut words = std::env::args().skip(1);
    let role = words.next()?;
    let number = words.next().unwrap_or_default();
    match role.as_str() {
        "floor-echo" => Some(echo(&number)),
        "floor-async" => Some(async_echo(&number)),
        "floor-hub" => Some(hub(&number)),
        "floor-relay" => Some(relay(&number)),
        "floor-async-hub" => Some(async_hub(&number)),
        "floor-async-relay" => Some(async_relay(&number)),
        "floor-owner" => Some(owner(Path::new(&number))),
        _ => None,
    }
}

/// Returns the command that starts a floor.
pub(crate) fn command(role: &str, argument: impl Display) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(role).arg(argument.to_string()).env_clear();
    Ok(command)
}

/// Starts a hub of this role; returns it and its port.
pub(crate) fn start_hub(role: &str, bytes: usize) -> Outcome<(Client, usize)> {
    let mut hub = Client::start(command(role, bytes)?)?;
    let port = hub.line()?.trim().parse()?;
    Ok((hub, port))
}

fn echo(bytes: &str) -> Outcome<()> {
    let output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    answer_lines(std::io::stdin().lock(), output, bytes.parse()?)
}

fn async_echo(bytes: &str) -> Outcome<()> {
    let padding = padding(bytes)?;
    event_loop()?.block_on(async {
        let (input, output) = async_stdio()?;
        async_answers(input, output, &padding).await
    })
}

fn async_hub(bytes: &str) -> Outcome<()> {
    let padding = padding(bytes)?;
    event_loop()?.block_on(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{}", listener.local_addr()?.port());
        let (mut input, _output) = async_stdio()?;
        let mut nowhere = tokio::io::sink();
        let serve = async {
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let padding = padding.clone();
                tokio::spawn(async move {
                    let (input, output) = stream.into_split();
                    // A relay that goes away in the middle is none of the hub's business.
                    drop(async_answers(input, output, &padding).await);
                });
            }
        };
        // The end of stdin is the end of the hub.
        tokio::select! {
            served = serve => served,
            ended = tokio::io::copy(&mut input, &mut nowhere) => Ok(ended.map(drop)?),
        }
    })
}

fn async_relay(port: &str) -> Outcome<()> {
    event_loop()?.block_on(async {
        let port = port.parse::<u16>()?;
        let stream = tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        let (mut answers, mut requests) = stream.into_split();
        let (mut input, mut output) = async_stdio()?;
        tokio::select! {
            ended = tokio::io::copy(&mut input, &mut requests) => Ok(ended.map(drop)?),
            ended = tokio::io::copy(&mut answers, &mut output) => Ok(ended.map(drop)?),
        }
    })
}

fn event_loop() -> Outcome<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    Ok(builder.enable_all().build()?)
}

fn async_stdio() -> Outcome<(pipe::Receiver, pipe::Sender)> {
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    Ok((
        pipe::Receiver::from_owned_fd(input)?,
        pipe::Sender::from_owned_fd(output)?,
    ))
}

#[derive(serde::Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

async fn async_answers(
    input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    padding: &str,
) -> Outcome<()> {
    let mut lines = tokio::io::BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await? {
        // The least that tells what is asked: nothing is copied, and the result alone is rendered from a value.
        let request: Request<'_> = serde_json::from_str(&line)?;
        let Some(id) = request.id else {
            continue;
        };
        let result = json!({ "content": [{ "type": "text", "text": padding }] });
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
        output.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

/// What an answer of so many bytes holds beside its envelope.
fn padding(bytes: &str) -> Outcome<String> {
    Ok("x".repeat(bytes.parse::<usize>()?.saturating_sub(90)))
}

fn owner(folder: &Path) -> Outcome<()> {
    let lock = File::options()
        .create(true)
        .append(true)
        .open(folder.join("lock"))?;
    let _lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let board = rusqlite::Connection::open(folder.join("board"))?;
    // As the board does: a file that is being made waits for no disk.
    board.execute_batch("PRAGMA synchronous=OFF;")?;
    board.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
    board.execute_batch(
        "PRAGMA synchronous=NORMAL; CREATE TABLE IF NOT EXISTS owner (epoch INTEGER);
         INSERT INTO owner VALUES (1);",
    )?;
    let document = folder.join("document.new");
    std::fs::write(&document, listener.local_addr()?.to_string())?;
    std::fs::rename(&document, folder.join("document"))?;
    echo("400")
}

fn hub(bytes: &str) -> Outcome<()> {
    let bytes = bytes.parse()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", listener.local_addr()?.port());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || -> Outcome<()> {
                stream.set_nodelay(true)?;
                answer_lines(BufReader::new(stream.try_clone()?), stream, bytes)
            });
        }
    });
    // The end of stdin is the end of the hub.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

fn relay(port: &str) -> Outcome<()> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port.parse()?))?;
    stream.set_nodelay(true)?;
    let output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let answers = stream.try_clone()?;
    std::thread::spawn(move || copy(answers, output));
    let input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    copy(input, stream)
}

fn copy(mut from: impl Read, mut to: impl Write) -> Outcome<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..count])?;
    }
}

/// Answers each request with its own id and a padding up to `bytes`.
fn answer_lines(mut input: impl BufRead, mut output: impl Write, bytes: usize) -> Outcome<()> {
    let mut line = String::new();
    let mut answer = String::new();
    let padding = padding(&bytes.to_string())?;
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some((_, id)) = line.split_once("\"id\":") else {
            continue;
        };
        let id = id.split([',', '}']).next().unwrap_or_default();
        answer.clear();
        answer.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
        answer.push_str(id);
        answer.push_str(",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
        answer.push_str(&padding);
        answer.push_str("\"}]}}\n");
        output.write_all(answer.as_bytes())?;
    }
}
