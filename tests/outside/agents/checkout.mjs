// A checkout with this repository's own client configuration, and who still runs in its name.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Place, expect, until } from "../shared/place.mjs";
import { AGENTS } from "./agents.mjs";

const { BINARY, ROOT, WORK } = process.env;
const NODE = join(WORK, "node/node_modules/node/bin");

/** Nobody listens there. */
export const NOWHERE = "http://127.0.0.1:9";

export class Checkout extends Place {
  /** A checkout of this repository, as far as clients see it. */
  static ours() {
    const place = new Checkout();
    for (const path of [".mcp.json", ".gemini", ".codex", "bin"]) {
      cpSync(join(ROOT, path), join(place.root, path), { recursive: true });
    }
    // opencode is the one that reads none of these files.
    const { mcpServers } = JSON.parse(readFileSync(join(place.root, ".mcp.json"), "utf8"));
    const { command, args } = mcpServers.majordomus;
    const mcp = { majordomus: { type: "local", command: [command, ...args] } };
    writeFileSync(join(place.root, "opencode.json"), JSON.stringify({ mcp }));
    // Where the launcher keeps what it built. MAJORDOMUS_BIN would not do: Codex passes no variables on.
    mkdirSync(join(place.root, "target/launcher"), { recursive: true });
    symlinkSync(BINARY, join(place.root, "target/launcher/majordomus"));
    writeFileSync(join(place.root, ".gitignore"), "/target/\n");
    place.commit();
    return place;
  }

  /** A repository of somebody who has the agents and `majordomus` installed, and calls `majordomus init`. */
  static foreign() {
    const place = new Checkout();
    writeFileSync(join(place.root, "README.md"), "# Somebody's\n");
    place.commit();
    mkdirSync(join(place.home, "bin"));
    symlinkSync(BINARY, join(place.home, "bin/majordomus"));
    const clients = Object.keys(AGENTS).map((name) => join(WORK, name, "node_modules/.bin"));
    place.environment.PATH = [join(place.home, "bin"), ...clients, place.environment.PATH].join(":");
    return place;
  }

  commit() {
    const who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"];
    this.git("add", ".");
    this.git(...who, "commit", "-q", "-m", "first");
  }

  git(...words) {
    return execFileSync("git", words, { cwd: this.root, env: this.environment, encoding: "utf8" });
  }

  /** Gives it a remote of its own, a folder beside it that a host's address stands for, and agrees to share notes there. */
  share() {
    this.remote = join(this.home, "code.git");
    this.git("init", "-q", "--bare", this.remote);
    for (const [key, value] of [
      ["user.name", "Ann"],
      ["user.email", "ann@example.invalid"],
      [`url.${this.remote}.insteadOf`, "https://git.example.org/team/code.git"],
      ["remote.origin.url", "https://git.example.org/team/code.git"],
    ]) {
      this.git("config", key, value);
    }
    this.succeeds("notes", "share", "--yes");
  }

  /** Runs the executable, which must succeed. */
  succeeds(...words) {
    const { status, said } = this.majordomus(...words);
    expect(status === 0, `majordomus ${words.join(" ")}:`, said);
  }

  /** Forgets every note that is here: the remote has them. */
  loseNotes() {
    rmSync(join(this.root, ".git/majordomus/memory.git"), { recursive: true });
    rmSync(join(this.root, ".git/majordomus/writes.db"), { recursive: true });
  }

  /** The subjects of the notes at the remote. */
  published() {
    const words = ["--git-dir", this.remote, "log", "--format=%s", "--all"];
    return this.git(...words).split("\n").filter(Boolean);
  }

  /** The files that git would add: their paths and texts. */
  untracked() {
    const paths = this.git("ls-files", "--others", "--exclude-standard").split("\n").filter(Boolean);
    return paths.map((path) => ({ path, text: readFileSync(join(this.root, path), "utf8") }));
  }

  /** Runs the executable, and returns its status and what it says to a person. */
  majordomus(...words) {
    const { status, stderr } = spawnSync(BINARY, words, {
      cwd: this.root,
      env: this.environment,
      encoding: "utf8",
    });
    return { status, said: stderr };
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
  servers(count) {
    return this.running(`${count} servers run`, (all) => all.filter(isServer).length === count);
  }

  async running(what, holds) {
    try {
      await until(what, () => holds(this.processes()), 10_000);
    } catch (failure) {
      throw new Error(`${failure.message}: ${JSON.stringify(this.processes())}`);
    }
  }

  /** Waits until no process is left, and looks what they left: the lease is free, and nothing says otherwise. */
  async deserted() {
    await this.running("nobody is left", (all) => all.length === 0);
    const { status } = this.majordomus("status");
    expect(status === 1, `majordomus status exits with ${status} although nobody is here`);
    // An owner that is killed may have removed its document by then, or not; the next one replaces it.
    const left = this.endings().at(-1) === "SIGKILL" ? [undefined, "ready", "draining"] : [undefined];
    expect(left.includes(this.document().state), "server.json stayed behind:", this.document());
  }

  /** What each server that has ended heard first of its end, as far as its log tells. */
  endings() {
    const lives = [];
    for (const { message, ...fields } of this.entries()) {
      if (message === "elected") lives.push([]);
      lives.at(-1)?.push({ message, ...fields });
    }
    const isOver = this.processes().filter(isServer).length === 0;
    // The last one lives, unless nobody does.
    return lives.slice(0, isOver ? undefined : -1).map((life) => {
      const said = (words) => life.find(({ message }) => message === words);
      if (!said("released")) return "SIGKILL";
      if (said("told to end")) return said("told to end").signal;
      return said("the process that started this one is gone") ? "end of its parent" : "end of input";
    });
  }

  entries() {
    return this.log().flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
  }

  /** The lines that servers wrote into their log. */
  log() {
    try {
      return readFileSync(join(this.root, ".ai/local/state/mcp/server.log"), "utf8").trim().split("\n");
    } catch {
      return [];
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

function isServer({ command }) {
  return /majordomus mcp /.test(command);
}
