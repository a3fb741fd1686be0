//! The floors: this very program, started again with a hidden first argument.
//!
//! - `floor-echo BYTES`: reads a line, answers it with as many bytes as the product would; blocking, one write.
//! - `floor-async BYTES`: the same on an event loop, with JSON parsed and rendered: the least that a server which can do
//!   two things at once costs with the libraries that this one stands on.
//! - `floor-hub BYTES`: the same over TCP, one blocking thread a connection; prints its port first.
//! - `floor-relay PORT`: copies stdin to that hub and back, blocking; with the hub, the two-process relay.
//!
//! `floor-echo` is also the minimal process that answers `initialize`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::process::Command;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};
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
        _ => None,
    }
}

/// Returns the command that starts a floor.
pub(crate) fn command(role: &str, number: usize) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(role).arg(number.to_string()).env_clear();
    Ok(command)
}

/// Starts a hub; returns it and its port.
pub(crate) fn start_hub(bytes: usize) -> Outcome<(Client, usize)> {
    let mut hub = Client::start(command("floor-hub", bytes)?)?;
    let port = hub.line()?.trim().parse()?;
    Ok((hub, port))
}

fn echo(bytes: &str) -> Outcome<()> {
    let output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    answer_lines(std::io::stdin().lock(), output, bytes.parse()?)
}

fn async_echo(bytes: &str) -> Outcome<()> {
    let padding = "x".repeat(bytes.parse::<usize>()?.saturating_sub(90));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let input = std::io::stdin().as_fd().try_clone_to_owned()?;
        let output = std::io::stdout().as_fd().try_clone_to_owned()?;
        let input = pipe::Receiver::from_owned_fd(input)?;
        let mut output = pipe::Sender::from_owned_fd(output)?;
        let mut lines = tokio::io::BufReader::new(input).lines();
        while let Some(line) = lines.next_line().await? {
            let request: Value = serde_json::from_str(&line)?;
            let Some(id) = request.get("id") else {
                continue;
            };
            let content = json!([{ "type": "text", "text": padding }]);
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content } });
            output.write_all(format!("{answer}\n").as_bytes()).await?;
        }
        Ok(())
    })
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
    let padding = "x".repeat(bytes.saturating_sub(90));
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
