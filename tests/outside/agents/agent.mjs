// One agent at work. Whoever holds it is its model: sees what tools it offers, has it call one, is given the result,
// and says when the work is done. Between a request of the agent and our reply it stands still.

import { spawn } from "node:child_process";

import { expect, until } from "../shared/place.mjs";
import { AGENTS } from "./agents.mjs";
import { NOWHERE } from "./checkout.mjs";
import { StandIn } from "./stand-in.mjs";

/** No agent may take longer to its first request, from one to the next, or to its end. */
const PATIENCE = 120_000;

/** The object in what an agent made of a tool's result: some write words around it. */
function object(result) {
  return JSON.parse(result.slice(result.indexOf("{"), result.lastIndexOf("}") + 1));
}

export class Agent {
  /** Its requests that have no reply yet. */
  waiting = [];
  output = "";
  /** Where its model is: nowhere, as long as it needs none. */
  url = NOWHERE;

  /** Starts the agent of that name in a folder of the checkout. */
  static async start(place, name, folder = place.root) {
    const agent = new Agent(place, name);
    agent.stand = await StandIn.start((turn, givenUp) => {
      // Helpers of an agent's own are not offered our tools, and nobody waits for what they say.
      if (!turn.tools.some((tool) => tool.endsWith("majordomus_peers"))) return { text: "done" };
      return new Promise((reply) => agent.waiting.push({ turn, reply, givenUp }));
    });
    agent.url = agent.stand.url;
    await agent.prepare();
    agent.spawn(agent.kind.run, folder);
    return agent;
  }

  /** Runs its health command, and returns what that says. */
  static async health(place, name) {
    const agent = new Agent(place, name);
    await agent.prepare();
    await agent.command(agent.kind.health);
    return agent.output;
  }

  constructor(place, name) {
    this.place = place;
    this.name = name;
    this.kind = AGENTS[name];
  }

  async prepare() {
    this.place.prepare(this.name, this.url);
    if (this.kind.approve) await this.command(this.kind.approve);
  }

  async command(words) {
    this.spawn(words, this.place.root);
    const status = await this.gone();
    expect(status === 0, `${this.name} ${words.join(" ")} ended with ${status}:`, this.output);
  }

  /** Starts its executable in a process group of its own. */
  spawn(words, cwd) {
    const { file, env } = this.place.program(this.name, this.url);
    const child = spawn(file, words, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.pid = child.pid;
    this.output = "";
    this.status = undefined;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data) => {
        this.output += data;
      });
    }
    child.on("error", (failure) => (this.status = failure.message));
    child.on("exit", (code, signal) => (this.status = code ?? signal));
  }

  /** Waits until it has ended, and returns how. */
  async gone() {
    await until(`${this.name} ends`, () => this.status !== undefined, PATIENCE);
    return this.status;
  }

  /** Kills all that it is made of; its servers are in process groups of their own. */
  kill() {
    process.kill(-this.pid, "SIGKILL");
  }

  /** What to show when it does not do what it should. */
  evidence() {
    const { failure, strange, turns } = this.stand;
    return [{ failure: String(failure), strange, turns }, this.output];
  }

  /** Waits for its next request. */
  async turn() {
    await until(
      `${this.name} asks its model`,
      () => {
        expect(this.status === undefined, `${this.name} ended without asking:`, ...this.evidence());
        this.waiting = this.waiting.filter(({ givenUp }) => !givenUp());
        return this.waiting.length > 0;
      },
      PATIENCE,
    );
    return this.waiting[0].turn;
  }

  reply(reply) {
    this.waiting.shift().reply(reply);
  }

  /** Has it call a tool, and returns the result as the model is given it. */
  async call(tool, words = {}) {
    const { tools, results } = await this.turn();
    const offered = tools.find((each) => each.endsWith(tool));
    expect(offered, `${this.name} does not offer ${tool}:`, tools);
    this.reply({ call: offered, arguments: words });
    const after = (await this.turn()).results;
    expect(after.length === results.length + 1, `${this.name} calls not once:`, ...this.evidence());
    try {
      return object(after.at(-1));
    } catch {
      throw new Error(`${this.name} could not call ${tool}: ${after.at(-1)}`);
    }
  }

  /** Lets it say its last word, and waits until it has ended. */
  async end() {
    await this.turn();
    this.reply({ text: "done" });
    const status = await this.gone();
    this.stand.close();
    expect(status === 0, `${this.name} ended with ${status}:`, ...this.evidence());
  }
}
