// A checkout of its own for one run, and what is known of its server from outside.

import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function expect(condition, what, ...evidence) {
  if (!condition) throw new Error([what, ...evidence.map((each) => JSON.stringify(each))].join(" "));
}

/** Waits until `look` returns something, with a bound. */
export async function until(what, look, bound = 20_000) {
  for (const start = Date.now(); ; ) {
    const found = await look();
    if (found) return found;
    expect(Date.now() - start < bound, `not within ${bound} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export class Place {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "majordomus-home-"));
    this.root = mkdtempSync(join(tmpdir(), "majordomus-root-"));
    this.environment = {
      HOME: this.home,
      PATH: process.env.PATH,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
    };
    execFileSync("git", ["init", "-q", "-b", "main", this.root], { env: this.environment });
    mkdirSync(join(this.root, "below"));
  }

  document() {
    try {
      return JSON.parse(readFileSync(join(this.root, ".ai/local/state/mcp/server.json"), "utf8"));
    } catch {
      return {};
    }
  }

  ready() {
    return until("a ready server.json", () => {
      const found = this.document();
      return found.state === "ready" && found.url ? found : undefined;
    });
  }

  token() {
    return readFileSync(join(this.root, ".git/majordomus/token"), "utf8").trim();
  }

  remove() {
    for (const folder of [this.root, this.home]) rmSync(folder, { recursive: true, force: true });
  }
}
