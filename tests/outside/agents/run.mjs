// Real agents in one checkout: first with this repository's own configuration, then in a foreign repository with what
// `majordomus init` wrote there. We are the model of each.

import { expect, until } from "../shared/place.mjs";
import { Agent } from "./agent.mjs";
import { AGENTS } from "./agents.mjs";
import { Checkout } from "./checkout.mjs";

const names = Object.keys(AGENTS);
const places = [];
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    for (const place of places) place.remove();
    process.exit(1);
  });
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/**
 * Each server that owned since `before` ended as its agent is known to end them, one server an agent. On a busy machine
 * the agent's own end may come first, which ends the server's input, and an agent that waits for nothing kills it.
 */
function ended(place, before, ...names) {
  const seen = place.endings().slice(before);
  const known = names.map((name) => AGENTS[name].ends);
  const late = ["end of input", "SIGKILL"];
  const fits = (how, at) => known[at] === how || late.includes(how);
  const fit = seen.length === known.length && seen.every(fits);
  expect(fit, `servers of ${names} ended in another manner:`, seen, known);
}

/** The first opens, the second meets it, the first goes, the second is served on. */
async function meet(place, first, second) {
  const began = performance.now();
  const before = place.endings().length;
  const host = await Agent.start(place, first);
  const intent = `rewrite the parser with ${first}`;
  const opened = await host.call("majordomus_announce", { intent, scope: ["src/parser/**"] });
  expect(opened.collisions.length === 0, `${first} is in nobody's way:`, opened);
  const { epoch, pid } = await place.ready();

  const folder = AGENTS[second].inside ? `${place.root}/below` : place.root;
  const guest = await Agent.start(place, second, folder);
  const fix = { intent: "fix the lexer", scope: ["src/parser/lexer.rs"] };
  const met = await guest.call("majordomus_announce", fix);
  expect(JSON.stringify(met.collisions).includes(intent), `${second} is not told of ${first}:`, met);
  const both = present(await guest.call("majordomus_peers"));
  const other = both.others.find(({ announcements }) => announcements[0].intent === intent);
  expect(other?.name === AGENTS[first].peer, `${second} does not see ${first}:`, both);
  expect(both.self.name === AGENTS[second].peer, `${second} has another name:`, both);
  expect(both.others.length === 1, "somebody else is here:", both);

  await host.end();
  await place.servers(1);
  const alone = present(await guest.call("majordomus_peers"));
  expect(alone.self.announcements[0].intent === fix.intent, `lost with ${first}:`, alone);
  expect(alone.others.length === 0, `${first} is still here:`, alone);
  const next = await place.ready();
  expect(next.epoch > epoch && next.pid !== pid, "nobody took over from", first, next);
  await guest.end();
  await place.deserted();
  ended(place, before, first, second);
  console.log(`  ${first} opens, ${second} meets it and takes over: ${seconds(began)}`);
}

/** Those who are attached: the one who asked, and the others. */
function present({ you, peers }) {
  const here = peers.filter(({ attached }) => attached);
  return { self: here.find(({ id }) => id === you), others: here.filter(({ id }) => id !== you) };
}

/** All of them at once: each sees each. */
async function gather(place) {
  const all = [];
  for (const name of names) {
    const agent = await Agent.start(place, name);
    all.push(agent);
    await agent.call("majordomus_announce", { intent: `work of ${name}`, scope: [`src/${name}`] });
  }
  for (const agent of all) {
    const { self, others } = present(await agent.call("majordomus_peers"));
    expect(self.name === agent.kind.peer, `${agent.name} has another name:`, self);
    for (const { kind } of all) {
      const seen = [self, ...others].filter(({ name }) => name === kind.peer).length;
      expect(seen === 1, `${agent.name} does not see ${kind.peer} once:`, self, others);
    }
  }
  return all;
}

/** Who leaves leaves nothing behind: killed, all in the same moment. */
async function dieAtOnce(place) {
  const began = performance.now();
  const before = place.endings().length;
  const all = await gather(place);
  for (const agent of all) agent.kill();
  await Promise.all(all.map((agent) => agent.gone()));
  await place.deserted();
  // Nobody was left to end a server in a manner of its own.
  const seen = place.endings().slice(before);
  const fit = seen.length > 0 && seen.every((how) => ["end of input", "end of its parent"].includes(how));
  expect(fit, "servers of killed agents ended in another manner:", seen);
  console.log(`  ${all.length} at once, and killed: ${seconds(began)}`);
}

/** Who leaves leaves nothing behind: one after the other, in its own manner, the owner last. */
async function leaveInTurn(place) {
  const began = performance.now();
  const before = place.endings().length;
  const [owner, ...guests] = await gather(place);
  const { epoch } = await place.ready();
  for (let left = guests.pop(); left; left = guests.pop()) {
    await left.end();
    await place.servers(guests.length + 1);
    await until(`${owner.name} sees ${left.name} leave`, async () => {
      const { others } = present(await owner.call("majordomus_peers"));
      return others.length === guests.length;
    });
  }
  expect((await place.ready()).epoch === epoch, "the lease changed hands although its owner stayed");
  await owner.end();
  await place.deserted();
  ended(place, before, owner.name);
  console.log(`  ${names.length} at once, and leave: ${seconds(began)}`);
}

/** What a person asks to learn whether the server can be started. */
async function health(place, name) {
  const began = performance.now();
  const before = place.endings().length;
  const said = await Agent.health(place, name);
  expect(/majordomus[^\n]*connected/i.test(said), `${name} says:`, said);
  await place.deserted();
  ended(place, before, name);
  console.log(`  ${name} finds the server in health: ${seconds(began)}`);
}

/** Calls `majordomus init`, and checks what it says. */
function init(place, said, ...words) {
  const found = place.majordomus("init", "--yes", ...words);
  expect(found.status === 0 && found.said.includes(said), `init ${words.join(" ")}:`, found);
}

async function inOurs(place) {
  for (const name of names) if (AGENTS[name].health) await health(place, name);
  for (const [at, name] of names.entries()) await meet(place, name, names[(at + 1) % names.length]);
  // Two windows of one client.
  await meet(place, "claude", "claude");
  await dieAtOnce(place);
}

async function inForeign(place) {
  // It finds three; of the others it must be told.
  init(place, "3 files written");
  init(place, "2 files written", "--client", "copilot", "--client", "opencode", "--client", "qwen");
  await leaveInTurn(place);
  init(place, "5 files written", "--undo");
  // What agents wrote into the same files stays: a schema, a version. Claude keeps by itself what a person allowed.
  const files = place.untracked().filter(({ path }) => !path.startsWith(".claude/"));
  const left = files.filter(({ text }) => text.includes("majordomus"));
  expect(left.length === 0, "something is left after init --undo:", left);
}

/** Claude Code's own hooks take the team's notes in and send its own: its server is told to do neither. */
async function hooked(place) {
  const began = performance.now();
  place.share();
  init(place, "1 file written", "--client", "claude");
  place.succeeds("hooks", "install", "memory", "--client", "claude", "--yes");
  // What a teammate wrote meanwhile.
  place.succeeds("remember", "Deploys happen on Thursdays");
  place.loseNotes();
  const agent = await Agent.start(place, "claude");
  const { notes } = await agent.call("majordomus_recall", { query: "deploys" });
  expect(notes.length === 1, "the hook of the session's start took nothing in:", notes);
  const { sync } = await agent.call("majordomus_remember", { title: "Nobody deploys on Fridays" });
  expect(sync.status === "handed-to-host", "its server sends notes:", sync);
  expect(place.published().length === 1, "somebody sent it:", place.published());
  await agent.end();
  await place.deserted();
  const sent = place.published();
  expect(sent.length === 2, "the hook of the turn's end sent nothing:", sent);
  console.log(`  claude's hooks take notes in and send them: ${seconds(began)}`);
}

async function within(place, work) {
  places.push(place);
  try {
    await work(place);
  } catch (failure) {
    console.error(place.log().slice(-20).join("\n"));
    throw failure;
  } finally {
    place.remove();
  }
}

await within(Checkout.ours(), inOurs);
await within(Checkout.foreign(), inForeign);
await within(Checkout.foreign(), hooked);
process.exit(0);
