// Real agents in one checkout, each with the repository's own configuration. We are the model of each.

import { expect } from "../typescript-sdk/place.mjs";
import { Agent } from "./agent.mjs";
import { AGENTS } from "./agents.mjs";
import { Checkout } from "./checkout.mjs";

const names = Object.keys(AGENTS);
const place = new Checkout();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    place.remove();
    process.exit(1);
  });
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

function named(listed, name) {
  const found = listed.peers.filter((peer) => peer.name === AGENTS[name].peer && peer.attached);
  expect(found.length === 1, `${name} is not listed once:`, listed);
  return found[0];
}

/** The first opens, the second meets it, the first goes, the second is served on. */
async function meet(first, second) {
  const began = performance.now();
  const host = await Agent.start(place, first);
  const intent = `rewrite the parser with ${first}`;
  const opened = await host.call("majordomus_announce", { intent, scope: ["src/parser/**"] });
  expect(opened.collisions.length === 0, `${first} collides with nobody:`, opened);
  const { epoch } = await place.ready();

  const guest = await Agent.start(place, second, AGENTS[second].inside ? `${place.root}/below` : place.root);
  const met = await guest.call("majordomus_announce", { intent: "fix the lexer", scope: ["src/parser/lexer.rs"] });
  expect(JSON.stringify(met.collisions).includes(intent), `${second} is not told of ${first}:`, met);
  const listed = await guest.call("majordomus_peers");
  expect(named(listed, first).announcements[0].intent === intent, `not what ${first} announced:`, listed);
  expect(named(listed, second).id === listed.you, `${second} is somebody else:`, listed);

  await host.end();
  const alone = await guest.call("majordomus_peers");
  expect(named(alone, second).announcements.length === 1, `lost with ${first}:`, alone);
  expect(alone.peers.filter(({ attached }) => attached).length === 1, `${first} is still here:`, alone);
  expect((await place.ready()).epoch > epoch, "there is no new owner");
  await guest.end();
  await place.deserted({ killed: AGENTS[second].kills });
  console.log(`  ${first} opens, ${second} takes over: ${seconds(began)}`);
}

/** All of them at once: each sees each. */
async function crowd() {
  const began = performance.now();
  const all = [];
  for (const name of names) {
    const agent = await Agent.start(place, name);
    all.push(agent);
    await agent.call("majordomus_announce", { intent: `work of ${name}`, scope: [`src/${name}`] });
  }
  for (const agent of all) {
    const listed = await agent.call("majordomus_peers");
    for (const name of names) named(listed, name);
  }
  await Promise.all(all.map((agent) => agent.end()));
  await place.deserted({ killed: true });
  console.log(`  ${names.length} at once: ${seconds(began)}`);
}

/** The command that a person asks whether the server can be started. */
async function health(name) {
  const began = performance.now();
  const said = await Agent.once(place, name, AGENTS[name].health);
  expect(/majordomus[^\n]*connected/i.test(said), `${name} says:`, said);
  await place.deserted();
  console.log(`  ${name} ${AGENTS[name].health.join(" ")}: ${seconds(began)}`);
}

try {
  for (const name of names) if (AGENTS[name].health) await health(name);
  for (const [at, name] of names.entries()) await meet(name, names[(at + 1) % names.length]);
  await crowd();
} finally {
  place.remove();
}
process.exit(0);
