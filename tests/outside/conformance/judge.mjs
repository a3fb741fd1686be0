// Runs the conformance suites on every path and compares what fails with the file of expected failures.
//
// A scenario has passed if it has a check that succeeded and none that failed or warned: one that checked nothing has
// not. An unexpected failure and an expected one that does not happen are both errors, so the file stays true.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "./adapter.mjs";

const { WORK, BINARY } = process.env;
const here = dirname(fileURLToPath(import.meta.url));
const base = join(WORK, "run");
const checkout = join(base, "checkout");
const environment = { PATH: process.env.PATH, HOME: join(base, "home"), GIT_CONFIG_GLOBAL: "/dev/null" };

const SETS = [
  { name: "stable", package: "conformance-stable", options: ["--suite", "all"], least: 30 },
  { name: "2025-11-25", package: "conformance-next", options: ["--requirements", "2025-11-25"], least: 30 },
  { name: "2026-07-28", package: "conformance-next", options: ["--requirements", "2026-07-28"], least: 37 },
];

const running = new Set();
function clean() {
  for (const child of running) child.kill("SIGTERM");
}
process.on("exit", clean);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

function track(child) {
  running.add(child);
  const ended = new Promise((end) => child.on("close", end));
  ended.then(() => running.delete(child));
  return ended;
}

// `path set scenario reason`, where `*` stands for any path or set, and at the end of a scenario for any rest.
function expectations() {
  const lines = readFileSync(join(here, "expected-failures"), "utf8").split("\n");
  return lines.filter((line) => line.trim() && !line.startsWith("#")).map((line) => {
    const [path, set, scenario, ...reason] = line.trim().split(/\s+/);
    if (reason.length === 0) throw new Error(`an expected failure without a reason: ${line}`);
    return { path, set, scenario, line, failed: 0 };
  });
}

function fits(expected, path, set, scenario) {
  const same = (pattern, word) =>
    pattern.endsWith("*") ? word.startsWith(pattern.slice(0, -1)) : pattern === word;
  return same(expected.path, path) && same(expected.set, set) && same(expected.scenario, scenario);
}

// Serves until its standard input ends, which it does at the latest with this process.
async function host() {
  const options = { cwd: checkout, env: environment, stdio: ["pipe", "ignore", "pipe"] };
  const child = spawn(BINARY, ["serve", "--conformance", "--auth", "off"], options);
  const ended = track(child);
  const url = await new Promise((found, failed) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
      const match = said.match(/docs: (http:\/\/127\.0\.0\.1:\d+)\//);
      if (match) found(`${match[1]}/mcp`);
    });
    ended.then(() => failed(new Error(`the server ended: ${said}`)));
    setTimeout(() => failed(new Error(`the server does not serve: ${said}`)), 30_000).unref();
  });
  return { url, close: () => (child.stdin.end(), ended) };
}

// One run of one suite; returns what is wrong with each scenario, an empty list for one that passed.
async function run(set, path, url) {
  const output = join(base, `${path}-${set.name}`);
  const script = join(WORK, "node_modules", set.package, "dist/index.js");
  const words = ["--kill-after=5", "180", process.execPath, script, "server", "--url", url, "-o", output];
  const child = spawn("timeout", [...words, ...set.options], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const status = await track(child);
  const results = new Map();
  for (const folder of status > 1 ? [] : readdirSync(output)) {
    const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
    const checks = JSON.parse(readFileSync(join(output, folder, "checks.json"), "utf8"));
    const bad = checks.filter((check) => ["FAILURE", "WARNING"].includes(check.status));
    const wrong = bad.map((check) => `${check.id}: ${check.errorMessage ?? check.status}`);
    if (!checks.some((check) => check.status === "SUCCESS")) wrong.push("it checked nothing");
    results.set(scenario, wrong);
  }
  if (results.size < set.least) throw new Error(`${set.package} ran ${results.size} scenarios only:\n${said}`);
  return results;
}

rmSync(base, { recursive: true, force: true });
for (const folder of [checkout, environment.HOME]) mkdirSync(folder, { recursive: true });
execFileSync("git", ["init", "-q"], { cwd: checkout, env: environment });
const expected = expectations();
const server = await host();
const adapter = await serve(BINARY, checkout, environment);
let errors = 0;
for (const [path, url] of [["direct", server.url], ["bridge", adapter.url]]) {
  for (const set of SETS) {
    let passed = 0;
    let excused = 0;
    for (const [scenario, wrong] of await run(set, path, url)) {
      const lines = expected.filter((line) => fits(line, path, set.name, scenario));
      if (wrong.length === 0) {
        passed += 1;
        // A line for many that holds for a few would hide what begins to work, and so what breaks again.
        for (const { line } of lines) {
          errors += 1;
          console.log(`FAILED - ${path} ${set.name} ${scenario} passes, and is expected to fail: ${line}`);
        }
        continue;
      }
      for (const line of lines) line.failed += 1;
      if (lines.length > 0) {
        excused += 1;
        continue;
      }
      errors += 1;
      console.log(`FAILED - ${path} ${set.name} ${scenario}\n    ${wrong.join("\n    ")}`);
    }
    console.log(`${path} ${set.name}: ${passed} passed, ${excused} failed as expected`);
  }
}
for (const line of expected.filter((line) => line.failed === 0)) {
  errors += 1;
  console.log(`FAILED - expected to fail and does not: ${line.line}`);
}
adapter.close();
await server.close();
process.exit(errors > 0 ? 1 : 0);
