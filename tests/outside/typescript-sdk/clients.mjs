// Three clients of one checkout: the owner's, a bridge's and one over HTTP; then the owner is killed.
//
// Run as `clients.mjs SDK BINARY`, where SDK is `1`, `2-legacy` or `2-auto`.

import { Place, expect, until } from "./place.mjs";

const [sdk, binary] = process.argv.slice(2);
const two = sdk.startsWith("2");
const modern = sdk === "2-auto";
const { Client, StreamableHTTPClientTransport } = two
  ? await import("sdk-2")
  : {
      ...(await import("sdk-1/client/index.js")),
      ...(await import("sdk-1/client/streamableHttp.js")),
    };
const { StdioClientTransport } = await import(two ? "sdk-2/stdio" : "sdk-1/client/stdio.js");

function client(name) {
  const options = two ? { versionNegotiation: { mode: modern ? "auto" : "legacy" } } : {};
  return new Client({ name, version: "1" }, options);
}

async function stdio(place, name, folder) {
  const made = client(name);
  await made.connect(
    new StdioClientTransport({
      command: binary,
      args: ["mcp"],
      cwd: folder,
      env: place.environment,
      stderr: "ignore",
    }),
  );
  return made;
}

async function http(place, name) {
  const made = client(name);
  const url = new URL("/mcp", (await place.ready()).url);
  const headers = { authorization: `Bearer ${place.token()}` };
  await made.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return made;
}

async function call(from, name, args = {}) {
  const answer = await from.callTool({ name, arguments: args });
  expect(!answer.isError, `${name} failed:`, answer);
  return answer.structuredContent;
}

function named(listed, name) {
  const found = listed.peers.filter((peer) => peer.name?.startsWith(name) && peer.attached);
  expect(found.length === 1, `${name} is not listed once:`, listed);
  return found[0];
}

const place = new Place();
const open = [];
try {
  const owner = await stdio(place, "alpha", place.root);
  open.push(owner);
  const first = await place.ready();
  const bridge = await stdio(place, "bravo", `${place.root}/below`);
  open.push(bridge);
  const direct = await http(place, "charlie");
  open.push(direct);

  const names = async (from) => (await from.listTools()).tools.map((tool) => tool.name).sort();
  const tools = await names(owner);
  expect(tools.includes("majordomus_peers") && tools.includes("majordomus_announce"), "tools:", tools);
  for (const other of [bridge, direct]) {
    expect(JSON.stringify(await names(other)) === JSON.stringify(tools), "other tools");
  }

  const announce = (from, intent, scope) => call(from, "majordomus_announce", { intent, scope });
  await announce(owner, "rewrite the parser", ["src/parser/**"]);
  const met = await announce(bridge, "fix the lexer", ["src/parser/lexer.rs"]);
  expect(JSON.stringify(met.collisions).includes("rewrite the parser"), "not named:", met);
  const documented = await announce(direct, "document it", ["docs"]);
  // Without a session there is no other way to be the same peer again.
  const own = modern ? { peer: documented.peer } : {};
  for (const [from, args] of [[owner], [bridge], [direct, own]]) {
    const listed = await call(from, "majordomus_peers", args);
    for (const name of ["alpha", "bravo", "charlie"]) named(listed, name);
  }

  const { contents } = await bridge.readResource({ uri: "majordomus://peers" });
  expect(contents[0].text.includes("rewrite the parser"), "the resource says something else:", contents);
  let updated = 0;
  if (!modern) {
    bridge.fallbackNotificationHandler = async (news) => {
      if (news.method === "notifications/resources/updated") updated += 1;
    };
    await bridge.subscribeResource({ uri: "majordomus://peers" });
    await announce(owner, "rewrite the lexer", ["src/lexer/**"]);
    await until("news of the subscribed resource", () => updated > 0);
  }

  process.kill(first.pid, "SIGKILL");
  const killed = performance.now();
  const after = await call(bridge, "majordomus_peers");
  const waited = performance.now() - killed;
  expect(named(after, "bravo").announcements.length === 1, "an announcement is lost:", after);
  const second = await place.ready();
  const served = await until("a new owner", async () => {
    const now = place.document();
    return now.state === "ready" && now.pid !== first.pid ? now : undefined;
  });
  expect(served.epoch > first.epoch, "no new epoch:", second);
  if (!modern) {
    updated = 0;
    await announce(bridge, "fix the parser", ["src/parser/mod.rs"]);
    await until("news after the change of owner", () => updated > 0);
  }
  // A direct client has no bridge: between two owners its connection is refused, and it asks again.
  const listed = await until("the direct client is served again", async () => {
    try {
      return await call(direct, "majordomus_peers", own);
    } catch {
      return undefined;
    }
  });
  expect(JSON.stringify(listed).includes("document it"), "lost over HTTP:", listed);
  const revision = bridge.getNegotiatedProtocolVersion?.() ?? "";
  console.log(`  sdk ${sdk} ${revision}: the bridge's call after kill -9 of the owner: ${waited.toFixed(1)} ms`);
} finally {
  await Promise.allSettled(open.map((each) => each.close()));
  place.remove();
}
process.exit(0);
