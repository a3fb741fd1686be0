// The Inspector's command line: each method, in each era, as owner, through a bridge and over HTTP.
//
// An Inspector's process is a client for one request. As owner it finds nobody; as a bridge and over HTTP it finds a
// server that stands, and the announcement which the Inspector itself made there.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { Place, expect, until } from "../shared/place.mjs";

const { BINARY: binary, WORK: work } = process.env;
const COMMAND = join(work, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const INTENT = "rewrite the parser";
const PEERS = "majordomus://peers";

/** Runs one request, and returns its result and what was said to stderr. */
async function ask(place, era, target, method, ...more) {
  const words = ["--cli", "--format", "json", "--protocol-era", era, "--method", method, ...more];
  const { code, output, errors } = await run(place, [COMMAND, ...words, ...target]);
  expect(code === 0, `${era} ${method} failed:`, code, output, errors);
  return { result: JSON.parse(output).result, errors };
}

async function run(place, words) {
  const child = spawn(process.execPath, words, {
    cwd: place.root,
    env: place.environment,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 30_000,
  });
  const said = { output: "", errors: "" };
  child.stdout.on("data", (bytes) => (said.output += bytes));
  child.stderr.on("data", (bytes) => (said.errors += bytes));
  const code = await new Promise((resolve) => child.on("close", resolve));
  return { code, ...said };
}

/** Asks for everything at a target; returns the names and who was seen, by the tool and by the resource. */
async function everything(place, era, target) {
  const strict = ["--strict"]; // a schema that other clients cannot read is a failure
  const [tools, resources, prompts, called, read] = [
    await ask(place, era, target, "tools/list", ...strict),
    await ask(place, era, target, "resources/list"),
    await ask(place, era, target, "prompts/list"),
    await ask(place, era, target, "tools/call", "--tool-name", "majordomus_peers"),
    await ask(place, era, target, "resources/read", "--uri", PEERS),
  ];
  expect(!called.result.isError, "the call failed:", called.result);
  // Only a modern answer names its server, so this tells that the era is the one that was asked for.
  const named = called.result._meta?.["io.modelcontextprotocol/serverInfo"]?.name;
  expect(named === (era === "legacy" ? undefined : "majordomus"), `${era} was another era:`, called.result);
  return {
    names: {
      tools: tools.result.tools.map((tool) => tool.name),
      resources: resources.result.resources.map((resource) => resource.uri),
      prompts: prompts.result.prompts.map((prompt) => prompt.name),
    },
    seen: [called.result.structuredContent.peers, JSON.parse(read.result.contents[0].text).peers],
    elected: [tools, resources, prompts, called, read].filter(({ errors }) => errors.includes("elected")).length,
  };
}

/** A server without a client, which ends with its input. */
async function serving(place, body) {
  const server = spawn(binary, ["serve", "--conformance"], {
    cwd: place.root,
    env: place.environment,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = new Promise((resolve) => server.on("close", resolve));
  try {
    await body(await place.ready());
  } finally {
    server.stdin.end();
    const late = setTimeout(() => server.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(late);
  }
}

async function inEra(place, era) {
  const command = [binary, "mcp", "--conformance"];
  const owner = await everything(place, era, command);
  expect(owner.elected === 5, "an owner was not elected:", owner);
  expect(owner.names.tools.includes("majordomus_announce"), "no tools:", owner.names);
  expect(owner.names.resources.includes(PEERS), "no resources:", owner.names);
  expect(owner.names.prompts.includes("test_simple_prompt"), "no prompts:", owner.names);
  for (const seen of owner.seen) expect(seen.length === 1, "an owner alone is not alone:", seen);
  console.log(`ok - ${era}, as owner`);

  await serving(place, async ({ url }) => {
    const http = ["--server-url", new URL("/mcp", url).href];
    const withToken = [...http, "--header", `Authorization: Bearer ${place.token()}`];
    const what = JSON.stringify({ intent: INTENT, scope: ["src/parser/**"] });
    const announcement = ["--tool-name", "majordomus_announce", "--tool-args-json", what];
    await ask(place, era, withToken, "tools/call", ...announcement);
    for (const [path, target] of [["through a bridge", command], ["over HTTP", withToken]]) {
      const found = await everything(place, era, target);
      expect(found.elected === 0, `${path}, somebody was elected beside an owner:`, found);
      expect(isDeepStrictEqual(found.names, owner.names), `other names ${path}:`, found.names, owner.names);
      for (const seen of found.seen) {
        expect(JSON.stringify(seen).includes(INTENT), `${path}, the announcement is not seen:`, seen);
      }
      console.log(`ok - ${era}, ${path}`);
    }
    const words = ["--cli", "--protocol-era", era, "--method", "tools/list", ...http];
    expect((await run(place, [COMMAND, ...words])).code !== 0, `${era}: listed without a token`);
  });
  await until("nobody is left", () => !place.document().pid);
}

// The Inspector ends no session, so each era has a place of its own.
for (const era of ["legacy", "auto", "modern"]) {
  const place = new Place();
  try {
    await inEra(place, era);
  } finally {
    place.remove();
  }
}
