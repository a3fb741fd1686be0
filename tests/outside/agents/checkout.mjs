// A checkout with this repository's own client configuration, and who still runs in its name.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Place, until } from "../typescript-sdk/place.mjs";
import { AGENTS } from "./agents.mjs";

const { BINARY, ROOT, WORK } = process.env;
const NODE = join(WORK, "node/node_modules/node/bin");

/** Nobody listens there: what would leave this machine fails at once, and loopback takes no proxy. */
const NO_WAY_OUT = "http://127.0.0.1:9";

export class Checkout extends Place {
  constructor() {
    super();
    for (const path of [".mcp.json", ".gemini", ".codex", "bin"]) {
      cpSync(join(ROOT, path), join(this.root, path), { recursive: true });
    }
    // opencode is the one that reads none of these files.
    const { command, args } = JSON.parse(readFileSync(join(this.root, ".mcp.json"), "utf8")).mcpServers.majordomus;
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
      environment: {
        ...this.environment,
        HOME: this.homeOf(name),
        PATH: `${NODE}:${this.environment.PATH}`,
        LANG: "C.UTF-8",
        TERM: "dumb",
        HTTP_PROXY: NO_WAY_OUT,
        HTTPS_PROXY: NO_WAY_OUT,
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
        found.push({ pid: Number(pid), command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") });
      } catch {
        // It ended meanwhile, or is not ours.
      }
    }
    return found;
  }

  /** Waits until no server runs, and `majordomus status` and the folder say so. */
  async deserted({ killed = false } = {}) {
    await until("no server process is left", () => !this.processes().some(({ command }) => /majordomus mcp/.test(command)), 5_000);
    const { status } = spawnSync(BINARY, ["status"], { cwd: this.root, env: this.environment });
    if (status !== 1) throw new Error(`majordomus status exits ${status} although nobody is here`);
    // A server that was killed could not remove its document; the next one replaces it.
    if (!killed && Object.keys(this.document()).length > 0) throw new Error("server.json stayed behind");
  }

  remove() {
    for (const { pid } of this.processes()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
    super.remove();
  }
}
