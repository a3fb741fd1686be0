//! No answer waits for an acknowledgment: every TCP connection sends at once what is written to it.
//!
//! An answer in two segments on a connection without `TCP_NODELAY` costs 40 ms, and only sometimes; so the option is
//! looked at, on the very sockets of the running processes, and no time is measured. Only Linux lets one process look.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::TcpStream;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::support::{BOUND, Client, Repository, wait_for};

/// The ends of TCP connections that a process holds, or `None` where the system lets nobody look.
fn connections(client: &Client) -> Option<Vec<TcpStream>> {
    let process = Pid::from_raw(client.pid()).unwrap();
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    let mut found = Vec::new();
    for entry in fs::read_dir(format!("/proc/{}/fd", client.pid())).unwrap() {
        let path = entry.unwrap().path();
        let socket =
            fs::read_link(&path).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"));
        if !socket {
            continue;
        }
        let number = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let socket = match pidfd_getfd(&process, number, PidfdGetfdFlags::empty()) {
            Ok(socket) => TcpStream::from(socket),
            Err(Errno::PERM | Errno::NOSYS) => return None,
            // It was closed meanwhile.
            Err(_) => continue,
        };
        if socket.peer_addr().is_ok() {
            found.push(socket);
        }
    }
    Some(found)
}

#[test]
fn every_connection_sends_at_once_what_is_written_to_it() {
    let repository = Repository::new();
    let owner = repository.attached("owner");
    let bridge = repository.attached("bridge");
    if connections(&owner).is_none() {
        eprintln!("the system lets nobody look at the sockets of a process");
        return;
    }
    let http = repository.http();
    let direct = TcpStream::connect(http.address()).unwrap();
    wait_for("the owner took the connection", BOUND, || {
        let mut held = connections(&owner).unwrap().into_iter();
        held.any(|end| end.peer_addr().ok() == direct.local_addr().ok())
    });
    for (client, least) in [(&owner, 2), (&bridge, 1)] {
        let held = connections(client).unwrap();
        assert!(held.len() >= least, "{}: {held:?}", client.name());
        for end in held {
            assert!(end.nodelay().unwrap(), "{}: {end:?}", client.name());
        }
    }
}
