// A checkout with this repository's own client configuration, and who still runs in its name.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Place, expect, until } from "../typescript-sdk/place.mjs";
import { AGENTS } from "./agents.mjs";

const { BINARY, ROOT, WORK } = process.env;
const NODE = join(WORK, "node/node_modules/node/bin");

/** Nobody listens there. */
export const NOWHERE = "http://127.0.0.1:9";

export class Checkout extends Place {
  constructor() {
    super();
    for (const path of [".mcp.json", ".gemini", ".codex", "bin"]) {
      cpSync(join(ROOT, path), join(this.root, path), { recursive: true });
    }
    // opencode is the one that reads none of these files.
    const { mcpServers } = JSON.parse(readFileSync(join(this.root, ".mcp.json"), "utf8"));
    const { command, args } = mcpServers.majordomus;
    const mcp = { majordomus: { type: "local", command: [command, ...args] } };
    writeFileSync(join(this.root, "opencode.json"), JSON.stringify({ mcp }));
    // Where the launcher keeps what it built. MAJORDOMUS_BIN would not do: Codex passes no variables on.
    mkdirSync(join(this.root, "target/launcher"), { recursive: true });
    symlinkSync(BINARY, join(this.root, "target/launcher/majordomus"));
    writeFileSync(join(this.root, ".gitignore"), "/target/\n");
    const who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
    for (const words of [["add", "."], [...who, "commit", "-q", "-m", "first"]]) {
      execFileSync("git", words, { cwd: this.root, env: this.environment });
    }
  }

  /** Each agent has a home of its own below ours. */
  homeOf(name) {
    return join(this.home, name);
  }

  prepare(name, url) {
    mkdirSync(this.homeOf(name), { recursive: true });
    AGENTS[name].prepare(this.homeOf(name), this.root, url);
  }

  /** What to start for that agent, and with which environment. */
  program(name, url) {
    return {
      file: join(WORK, name, "node_modules/.bin", name),
      env: {
        ...this.environment,
        HOME: this.homeOf(name),
        PATH: `${NODE}:${this.environment.PATH}`,
        LANG: "C.UTF-8",
        TERM: "dumb",
        // What would leave this machine fails at once.
        HTTP_PROXY: NOWHERE,
        HTTPS_PROXY: NOWHERE,
        NO_PROXY: "127.0.0.1,localhost",
        ...AGENTS[name].environment(url),
      },
    };
  }

  /** The processes that were started in one of our homes: their ids and command lines. */
  processes() {
    const found = [];
    for (const pid of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
        if (!environment.some((each) => each.startsWith(`HOME=${this.home}`))) continue;
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        found.push({ pid: Number(pid), command });
      } catch {
        // It ended meanwhile, or is not ours.
      }
    }
    return found;
  }

  /** Waits until that many servers run. */
  async servers(count) {
    const running = () => this.processes().filter(({ command }) => /majordomus mcp /.test(command));
    await until(`${count} servers run`, () => running().length === count, 5_000);
  }

  /** Waits until no server runs, and looks what it left. */
  async deserted({ killed = false } = {}) {
    await this.servers(0);
    const { status } = spawnSync(BINARY, ["status"], { cwd: this.root, env: this.environment });
    expect(status === 1, `majordomus status exits with ${status} although nobody is here`);
    // Who is killed removes no document; the next owner replaces it.
    expect(killed || !this.document().state, "server.json stayed behind:", this.document());
  }

  /** The last that servers said in their log. */
  log() {
    try {
      const lines = readFileSync(join(this.root, ".ai/local/state/mcp/server.log"), "utf8").trim().split("\n");
      return lines.slice(-20).join("\n");
    } catch {
      return "no log";
    }
  }

  remove() {
    for (let left = this.processes(); left.length > 0; left = this.processes()) {
      for (const { pid } of left) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It ended by itself.
        }
      }
    }
    super.remove();
  }
}
