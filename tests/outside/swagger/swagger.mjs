// Opens the page that `majordomus open docs` gives, in headless Chromium: it signs in, renders, and "Try it out" on
// GET /api/v1/peers answers 200. No request leaves 127.0.0.1, and nothing is logged as an error.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const { BINARY, ROOT, SCREENSHOT } = process.env;
const BOUND = 20_000;

const base = mkdtempSync(join(tmpdir(), "swagger"));
const checkout = join(base, "example");
const environment = {
  HOME: base,
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
};
const options = { cwd: checkout, env: environment, encoding: "utf8" };
const running = [];

async function until(what, condition) {
  const deadline = Date.now() + BOUND;
  for (;;) {
    const found = await condition();
    if (found) return found;
    assert.ok(Date.now() < deadline, `not within ${BOUND} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function start(...words) {
  const child = spawn(BINARY, words, { ...options, stdio: ["pipe", "pipe", "ignore"] });
  running.push(child);
  return child;
}

// Two clients with something to say, so that the picture shows a room with people in it.
function client(name, intent, scope) {
  const child = start("mcp");
  const frames = [
    ["initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1.0" } }],
    ["tools/call", { name: "majordomus_announce", arguments: { intent, scope } }],
  ];
  frames.forEach(([method, params], id) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`));
}

function published() {
  try {
    const document = JSON.parse(readFileSync(join(checkout, ".ai/local/state/mcp/server.json"), "utf8"));
    return document.state === "ready" && document.url ? document : null;
  } catch {
    return null;
  }
}

async function sees(page, outside) {
  // A link that was good once: the page trades the code for a token of its own, and forgets it.
  const opened = JSON.parse(execFileSync(BINARY, ["open", "docs", "--json"], options));
  assert.equal(statSync(opened.file).mode & 0o777, 0o600, "the sign-in file is readable by others");
  await page.goto(pathToFileURL(opened.file).href);
  await page.waitForURL(opened.page);
  await page.getByText("/api/v1/peers", { exact: true }).waitFor();
  assert.equal(await page.locator("#notice").isVisible(), false, "the page says it is not signed in");
  assert.ok(!page.url().includes("code"), `the code stays in ${page.url()}`);

  const operation = page.locator(".opblock-get").filter({
    has: page.getByText("/api/v1/peers", { exact: true }),
  });
  await operation.locator(".opblock-summary").click();
  await operation.getByRole("button", { name: "Try it out" }).click();
  const [response] = await Promise.all([
    page.waitForResponse((answer) => new URL(answer.url()).pathname === "/api/v1/peers"),
    operation.getByRole("button", { name: "Execute" }).click(),
  ]);
  assert.equal(response.status(), 200);
  const body = await response.json();
  assert.ok(JSON.stringify(body).includes("rewrite the parser"), JSON.stringify(body));
  await operation.locator(".live-responses-table .response-col_status").filter({ hasText: "200" }).waitFor();
  assert.deepEqual(outside, [], "requests left 127.0.0.1");

  if (SCREENSHOT) {
    const picture = join(ROOT, "docs/images/swagger.png");
    mkdirSync(join(ROOT, "docs/images"), { recursive: true });
    await page.setViewportSize({ width: 1280, height: 1500 });
    await operation.evaluate((element) => {
      // A token has no place in a picture, not even one whose server is gone.
      for (const span of element.querySelectorAll(".curl-command span")) {
        span.textContent = span.textContent.replace(/Bearer [^']+/, "Bearer …");
      }
      element.scrollIntoView();
    });
    await page.screenshot({ path: picture });
    console.log(`wrote ${picture}`);
  }

  // A second tab, without a link, is told how to sign in, and gets nothing.
  const stranger = await page.context().browser().newPage({ colorScheme: "dark" });
  await stranger.goto(opened.page);
  await stranger.getByText("majordomus open docs").waitFor();
  const [ink, card] = await stranger.locator("#notice").evaluate((notice) => {
    const style = getComputedStyle(notice);
    const brightness = (color) => color.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3;
    return [brightness(style.color), brightness(style.backgroundColor)];
  });
  assert.ok(Math.abs(ink - card) > 120, `the notice cannot be read on a dark desktop: ${ink} on ${card}`);
  assert.equal(await stranger.getByText("/api/v1/peers", { exact: true }).count(), 0);
  // The link again: it was good once.
  const used = JSON.stringify(readFileSync(opened.file, "utf8"));
  const code = /#code=([\w-]+)/.exec(used)[1];
  await stranger.goto(`${opened.page}#code=${code}`);
  await stranger.reload();
  assert.equal(await stranger.getByText("/api/v1/peers", { exact: true }).count(), 0);
}

try {
  execFileSync("git", ["init", "-q", "-b", "main", checkout], { env: environment });
  start("serve");
  const document = await until("a ready server.json", published);
  client("claude-code", "rewrite the parser", ["src/parser/**"]);
  client("codex", "fix a typo in the lexer", ["src/parser/lexer.rs"]);
  await until("both announcements", () => {
    const listed = execFileSync(BINARY, ["peers", "--json"], options);
    return listed.includes("rewrite the parser") && listed.includes("fix a typo");
  });

  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      ...(process.getuid() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
    const outside = [];
    const errors = [];
    context.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== new URL(document.url).origin && !["file:", "data:", "blob:"].includes(url.protocol)) {
        outside.push(url.href);
      }
    });
    context.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    context.on("weberror", (error) => errors.push(String(error.error())));
    const page = await context.newPage();
    page.setDefaultTimeout(BOUND);
    await sees(page, outside);
    assert.deepEqual(errors, [], "the page logged errors");
  } finally {
    await browser.close();
  }
  console.log("ok - signs in, renders, tries GET /api/v1/peers out, and asks nobody else");
} finally {
  for (const child of running) child.kill("SIGKILL");
  if (existsSync(base)) rmSync(base, { recursive: true, force: true });
}
