//! The server: its address, its token, its document, whether it proves itself, and what it keeps.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use serde_json::{Value, json};

use super::finding::Finding;
use crate::board::store;
use crate::cli::absence::Absence;
use crate::cli::commands::status;
use crate::cli::offline;
use crate::cli::owner::Owner;
use crate::cli::screen::clean;
use crate::floor::error::Chain;
use crate::floor::paths::Site;
use crate::host::preferred_port;
use crate::lease::secret::{SecretError, Token};
use crate::lease::sign;

pub(super) async fn look(site: &Site) -> Vec<Finding> {
    let mut findings = vec![loopback(), token(site)];
    findings.extend(board(site));
    match reach(site).await {
        Ok((owner, status)) => findings.extend(present(site, &owner, status)),
        // The token has its own finding.
        Err(Absence::NoToken { .. }) => {}
        Err(absence) => {
            findings.push(absent(&absence));
            // A server that is stopped has its port: nobody else took it.
            if !matches!(absence, Absence::Silent(_)) {
                findings.extend(port(site, None));
            }
        }
    }
    findings
}

/// Listens on a free port and connects to it.
fn loopback() -> Finding {
    let tried = || -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        TcpStream::connect(listener.local_addr()?)?;
        listener.accept()?;
        Ok(())
    };
    match tried() {
        Ok(()) => Finding::good("loopback", "127.0.0.1 can be listened on and reached"),
        Err(error) => Finding::problem("loopback", format!("127.0.0.1 cannot be used: {error}"))
            .hint("ip address show lo"),
    }
}

fn token(site: &Site) -> Finding {
    match Token::read(site) {
        Ok(_) => Finding::good("token", "the token is there and private"),
        Err(SecretError::Absent { .. }) => {
            Finding::good("token", "there is no token yet; the first client makes it")
        }
        Err(error) => Finding::problem("token", Chain(&error).to_string()).hint(error.hint()),
    }
}

fn board(site: &Site) -> Option<Finding> {
    let path = site.board(sign::read(site).files);
    let shown = site.shown(&path);
    match store::examine(&path) {
        store::Condition::Absent => None,
        store::Condition::Sound => Some(Finding::good("board", format!("{shown} is sound"))),
        store::Condition::Damaged(reason) => Some(
            Finding::note(
                "board",
                format!("{shown} is damaged ({reason}); the next server keeps it aside and begins a new one"),
            )
            .hint(format!("ls -l {shown}*")),
        ),
        store::Condition::Unusable(reason) => Some(
            Finding::problem("board", format!("{shown} cannot be used: {reason}"))
                .hint(format!("ls -ld {shown}")),
        ),
    }
}

/// Without an owner there is nothing wrong, unless one holds the checkout and does not answer.
fn absent(absence: &Absence) -> Finding {
    let text = absence.to_string();
    match absence {
        Absence::NoDocument => {
            Finding::good("server", "no server runs here; the first client starts one")
        }
        Absence::Silent(_) => Finding::problem("server", text).hint(absence.hint()),
        // The next client replaces the document, and says what it found.
        _ => Finding::note("server", text).hint(absence.hint()),
    }
}

/// Finds the owner and asks it. One that leaves in between is no trouble, so the next one is looked for, once.
async fn reach(site: &Site) -> Result<(Owner, Result<Value, String>), Absence> {
    let mut owner = Owner::reach(site).await?;
    let status = asked(site, &mut owner).await;
    if status.is_ok() {
        return Ok((owner, status));
    }
    let mut owner = Owner::reach(site).await?;
    let status = asked(site, &mut owner).await;
    Ok((owner, status))
}

fn present(site: &Site, owner: &Owner, status: Result<Value, String>) -> Vec<Finding> {
    let document = owner.document.clone();
    let (pid, version) = (document.pid, document.version);
    let base = owner.base();
    let mut findings = vec![Finding::good(
        "server",
        format!("process {pid} proves to be this checkout's server"),
    )];
    let ours = env!("CARGO_PKG_VERSION");
    if version != ours {
        findings.push(
            Finding::note(
                "versions",
                format!("the server is version {version} and this is {ours}; its clients are served all the same"),
            )
            .hint("majordomus stop, and one of its clients takes over"),
        );
    }
    findings.extend(
        status
            .as_ref()
            .ok()
            .and_then(|status| other_builds(status, ours)),
    );
    findings.push(match status {
        Ok(status) => {
            let links = status
                .get("links")
                .and_then(Value::as_u64)
                .unwrap_or_default();
            let clients = if links == 1 { "client" } else { "clients" };
            Finding::good("url", format!("{base} answers; {links} {clients} attached"))
        }
        Err(reason) => Finding::problem("url", format!("{base} does not answer: {reason}"))
            .hint("majordomus logs"),
    });
    let public = document.url.as_deref().and_then(|url| url.rsplit_once(':'));
    let number = public.and_then(|(_, port)| port.trim_end_matches('/').parse().ok());
    findings.extend(port(site, number));
    findings
}

/// Clients whose processes were started from another build: a process runs what it was started from.
fn other_builds(status: &Value, ours: &str) -> Option<Finding> {
    let others: Vec<String> = status["builds"]
        .as_array()?
        .iter()
        .filter_map(|build| {
            let (version, links) = (build["version"].as_str()?, build["links"].as_u64()?);
            let clients = if links == 1 {
                "client runs"
            } else {
                "clients run"
            };
            (version != ours).then(|| format!("{links} {clients} version {}", clean(version)))
        })
        .collect();
    (!others.is_empty()).then(|| {
        let text = format!("{}, and this is {ours}", others.join(", "));
        Finding::note("versions", text)
            .hint("restart these clients; `majordomus stop --all` ends them all")
    })
}

async fn asked(site: &Site, owner: &mut Owner) -> Result<Value, String> {
    let told = |failure: crate::cli::report::Failure| failure.causes.join("; ");
    let registry = offline::registry(Some(site)).map_err(told)?;
    let capability = offline::by_words(&registry, status::WORDS).map_err(told)?;
    owner.call(capability, &json!({})).await.map_err(told)
}

/// The address stays the same from owner to owner, unless somebody else has it.
fn port(site: &Site, public: Option<u16>) -> Option<Finding> {
    let preferred = preferred_port(site);
    if public == Some(preferred) {
        return Some(Finding::good(
            "port",
            format!("it has its own port, {preferred}"),
        ));
    }
    if TcpListener::bind((Ipv4Addr::LOCALHOST, preferred)).is_ok() {
        return public.map(|public| {
            Finding::note(
                "port",
                format!("the server is at port {public}, and its own, {preferred}, is free; the next owner takes it"),
            )
        });
    }
    Some(
        Finding::note(
            "port",
            format!("another process has this checkout's own port, {preferred}; the server takes a free one"),
        )
        .hint(format!("ss -ltnp 'sport = :{preferred}'")),
    )
}
