// A direct client whose call lets its connection go: it comes back by itself, and the call returns as any other.
//
// Run as `polling.mjs SDK BINARY`, where SDK is `1`, `2-legacy` or `2-auto`.

import { spawn } from "node:child_process";

import { Place, expect } from "./place.mjs";

const [sdk, binary] = process.argv.slice(2);
const two = sdk.startsWith("2");
const modern = sdk === "2-auto";
const { Client, StreamableHTTPClientTransport } = two
  ? await import("sdk-2")
  : {
      ...(await import("sdk-1/client/index.js")),
      ...(await import("sdk-1/client/streamableHttp.js")),
    };

const place = new Place();
// Serves until its standard input ends, which it does at the latest with this process.
const server = spawn(binary, ["serve", "--conformance"], {
  cwd: place.root,
  env: place.environment,
  stdio: ["pipe", "ignore", "ignore"],
});
const ended = new Promise((end) => server.on("close", end));
try {
  const returns = [];
  const watched = (url, init) => {
    const event = new Headers(init?.headers).get("last-event-id");
    if (event) returns.push({ event, at: performance.now() });
    return fetch(url, init);
  };
  const url = new URL("/mcp", (await place.ready()).url);
  const headers = { authorization: `Bearer ${place.token()}` };
  const options = two ? { versionNegotiation: { mode: modern ? "auto" : "legacy" } } : {};
  const client = new Client({ name: "patient", version: "1" }, options);
  await client.connect(new StreamableHTTPClientTransport(url, { fetch: watched, requestInit: { headers } }));

  const began = performance.now();
  const answer = await client.callTool({ name: "test_reconnection", arguments: {} });
  const [{ text }] = answer.content;
  expect(!answer.isError && text === "Reconnection test completed successfully", "the call failed:", answer);
  // The modern era has no way back, so its clients are not sent away.
  expect(returns.length === (modern ? 0 : 1), "it came back another number of times:", returns);
  const waited = modern ? "" : ` and came back after ${(returns[0].at - began).toFixed(0)} ms, of 500 that it was told`;
  console.log(`  sdk ${sdk}: a call that lets its client go was answered${waited}`);
  await client.close();
} finally {
  server.stdin.end();
  await ended;
  place.remove();
}
process.exit(0);
