//! What three clients see of each other, before and after the owner's death.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::place::{Place, until};
use crate::{Outcome, expect};

const PEERS: &str = "majordomus://peers";
/// A call reports each 20 ms; silence for so long says that it ended.
const SILENCE: Duration = Duration::from_millis(400);
const PATIENCE: Duration = Duration::from_secs(10);

pub async fn three_clients(place: &Place, era: &Era) -> Outcome<()> {
    let mut owner = Client::stdio("alpha", era, place, &place.root()).await?;
    let tools = owner.tools().await?;
    let first = until("a ready server.json", async || place.document()).await?;
    let mut bridge = Client::stdio("bravo", era, place, &place.inner()).await?;
    let mut direct = Client::http("charlie", era, place, &first.url).await?;

    let resources = owner.resources().await?;
    expect(
        tools.iter().any(|name| name == "majordomus_peers"),
        "no tools",
        &tools,
    )?;
    expect(
        resources.iter().any(|uri| uri == PEERS),
        "no resources",
        &resources,
    )?;
    for client in [&bridge, &direct] {
        expect(client.tools().await? == tools, "other tools", &client.name)?;
        expect(
            client.resources().await? == resources,
            "other resources",
            &client.name,
        )?;
    }

    announce(&owner, "rewrite the parser", "src/parser/**", None).await?;
    let met = announce(&bridge, "fix the lexer", "src/parser/lexer.rs", None).await?;
    expect(
        met.to_string().contains("rewrite the parser"),
        "no collision",
        &met,
    )?;
    let answer = announce(&direct, "document it", "docs", None).await?;
    // Without a session there is no other way to be the same peer again.
    let handle = answer["peer"]
        .as_str()
        .filter(|_| era.is_modern())
        .map(str::to_owned);
    let own = |client: &Client| handle.clone().filter(|_| client.name == "charlie");
    for client in [&owner, &bridge, &direct] {
        let listed = peers(client, own(client)).await?;
        for (name, intent) in [
            ("alpha", "rewrite the parser"),
            ("bravo", "fix the lexer"),
            ("charlie", "document it"),
        ] {
            let announced = named(&listed, name)?["announcements"].to_string();
            expect(
                announced.contains(intent),
                "an announcement is missing",
                &listed,
            )?;
        }
        let read = client.read(PEERS).await?;
        expect(
            read.to_string().contains("fix the lexer"),
            "the resource says something else",
            &read,
        )?;
    }

    for (client, label) in [(&mut owner, "a"), (&mut direct, "c")] {
        let mut watch = client.watch(PEERS).await?;
        announce(&bridge, "fix the lexer", label, None).await?;
        client.news(&mut watch).await?;
    }
    let mut watch = bridge.watch(PEERS).await?;
    announce(&owner, "rewrite the lexer", "src/lexer/**", None).await?;
    bridge.news(&mut watch).await?;

    for client in [&mut owner, &mut bridge, &mut direct] {
        a_call_reports(client, first.pid).await?;
        a_cancelled_call_ends(client).await?;
    }

    let lasting = bridge
        .begin("conformance_slow", json!({"ms": 1000}))
        .await?;
    let before = bridge
        .report(&lasting.token, PATIENCE)
        .await
        .ok_or("no report")?;
    place.kill(first.pid).await?;
    let killed = Instant::now();
    let listed = peers(&bridge, None).await?;
    let waited = killed.elapsed();
    expect(
        named(&listed, "bravo")?["announcements"][0]["intent"] == "fix the lexer",
        "lost",
        &listed,
    )?;
    let token = lasting.token.clone();
    let answer = lasting.end().await?;
    let mut reports = vec![before];
    while let Some(report) = bridge.report(&token, Duration::ZERO).await {
        reports.push(report);
    }
    let second = until("a new owner", async || {
        place.document().filter(|now| now.pid != first.pid)
    })
    .await?;
    expect(second.epoch > first.epoch, "no new epoch", &second)?;
    expect(
        answer["pid"] == second.pid,
        "not run again by the new owner",
        &answer,
    )?;
    expect(reports.is_sorted(), "progress went back", &reports)?;

    bridge.forget(&mut watch).await?;
    // A direct client has no bridge: between two owners its connection is refused, and it asks again.
    let listed = until("the direct client is served again", async || {
        peers(&direct, own(&direct)).await.ok()
    })
    .await?;
    let announced = named(&listed, "charlie")?["announcements"].to_string();
    expect(announced.contains("document it"), "lost over HTTP", &listed)?;
    announce(&direct, "document the lexer", "docs", own(&direct)).await?;
    bridge.news(&mut watch).await?;
    println!(
        "  the bridge's call after kill -9 of the owner: {waited:.1?}; reports of a call through it: {}",
        reports.len()
    );

    drop(watch);
    direct.leave().await?;
    bridge.leave().await?;
    owner.leave().await?;
    until("no process without a client", async || {
        place.document().is_none().then_some(())
    })
    .await
}

async fn announce(
    client: &Client,
    intent: &str,
    scope: &str,
    handle: Option<String>,
) -> Outcome<Value> {
    let mut arguments = json!({"intent": intent, "scope": [scope]});
    if let Some(handle) = handle {
        arguments["peer"] = json!(handle);
    }
    client.call("majordomus_announce", arguments).await
}

async fn peers(client: &Client, handle: Option<String>) -> Outcome<Value> {
    let arguments = handle.map_or(json!({}), |handle| json!({"peer": handle}));
    client.call("majordomus_peers", arguments).await
}

fn named<'a>(listed: &'a Value, name: &str) -> Outcome<&'a Value> {
    // People are shown a client's name with a number or a branch behind it, so the name is only a beginning.
    let is = |peer: &&Value| {
        peer["name"]
            .as_str()
            .is_some_and(|shown| shown.starts_with(name))
    };
    let found: Vec<&Value> = listed["peers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(is)
        .collect();
    match found[..] {
        [one] => Ok(one),
        _ => Err(format!("{name} is not listed once: {listed}").into()),
    }
}

/// A call that lasts reports in order, and its answer comes from the owner.
async fn a_call_reports(client: &mut Client, owner: u64) -> Outcome<()> {
    let call = client.begin("conformance_slow", json!({"ms": 300})).await?;
    let token = call.token.clone();
    let answer = call.end().await?;
    expect(answer["pid"] == owner, "somebody else answered", &answer)?;
    let mut reports = Vec::new();
    while let Some(report) = client.report(&token, Duration::ZERO).await {
        reports.push(report);
    }
    let increasing = reports.is_sorted_by(|one, next| one < next);
    expect(increasing && reports.len() >= 3, client.name, &reports)
}

/// A call that is cancelled reports no more, and costs its client nothing.
async fn a_cancelled_call_ends(client: &mut Client) -> Outcome<()> {
    let call = client
        .begin("conformance_slow", json!({"ms": 600_000}))
        .await?;
    let token = call.token.clone();
    client.report(&token, PATIENCE).await.ok_or("no report")?;
    call.cancel().await?;
    let cancelled = Instant::now();
    while client.report(&token, SILENCE).await.is_some() {
        expect(
            cancelled.elapsed() < PATIENCE,
            "a cancelled call goes on",
            &client.name,
        )?;
    }
    client.tools().await.map(drop)
}
