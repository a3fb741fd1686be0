// One agent at work. Whoever holds it is its model: looks at what it offers, calls a tool, gets the result, says goodbye.

import { spawn } from "node:child_process";

import { expect, until } from "../typescript-sdk/place.mjs";
import { AGENTS } from "./agents.mjs";
import { StandIn } from "./stand-in.mjs";

const PATIENCE = 60_000;

/** The object in what an agent made of a tool's result: some write words around it. */
function object(result) {
  return JSON.parse(result.slice(result.indexOf("{"), result.lastIndexOf("}") + 1));
}

export class Agent {
  /** Requests that wait for a reply, as promises' ends: the agent stands still meanwhile. */
  waiting = [];
  output = "";

  /** Starts the agent of that name in a folder of the checkout. */
  static async start(place, name, folder = place.root) {
    const agent = new Agent();
    Object.assign(agent, { name, place, kind: AGENTS[name] });
    agent.stand = await StandIn.start((turn) => {
      // Helpers of an agent's own are not offered our tools; nobody waits for what they say.
      if (!turn.tools.some((tool) => tool.endsWith("majordomus_peers"))) return { text: "done" };
      return new Promise((reply) => agent.waiting.push({ turn, reply }));
    });
    place.prepare(name, agent.stand.url);
    if (agent.kind.approve) await agent.command(agent.kind.approve, folder);
    agent.ended = agent.spawn(agent.kind.run, folder).then((status) => (agent.status = status));
    return agent;
  }

  /** Runs one of its other commands to the end, and returns what it wrote. */
  static async once(place, name, words) {
    const agent = new Agent();
    Object.assign(agent, { name, place, kind: AGENTS[name], stand: { url: "http://127.0.0.1:9", strange: [] } });
    place.prepare(name, agent.stand.url);
    if (agent.kind.approve) await agent.command(agent.kind.approve, place.root);
    await agent.command(words, place.root);
    return agent.output;
  }

  async command(words, folder) {
    this.output = "";
    const status = await this.spawn(words, folder);
    expect(status === 0, `${this.name} ${words.join(" ")} ended with ${status}:`, this.output);
  }

  spawn(words, folder) {
    const { file, environment } = this.place.program(this.name, this.stand.url);
    const child = spawn(file, words, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data) => {
        this.output += data;
      });
    }
    const impatient = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => {
        clearTimeout(impatient);
        resolve(code ?? signal);
      });
    });
  }

  /** What to show when it does not do what it should. */
  evidence() {
    const { failure, strange, turns } = this.stand;
    return [{ failure: String(failure), strange, turns }, this.output];
  }

  /** Waits for its next request. */
  async turn() {
    await until(`${this.name} asks its model`, () => {
      expect(this.status === undefined, `${this.name} ended without asking:`, ...this.evidence());
      return this.waiting.length > 0;
    });
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
    expect(after.length === results.length + 1, `${this.name} gave no result of ${tool}:`, ...this.evidence());
    try {
      return object(after.at(-1));
    } catch {
      throw new Error(`${this.name} could not call ${tool}: ${after.at(-1)}`);
    }
  }

  /** Says the last word, and waits until the agent has ended. */
  async end() {
    await this.turn();
    this.reply({ text: "done" });
    const status = await this.ended;
    this.stand.close();
    expect(status === 0, `${this.name} ended with ${status}:`, ...this.evidence());
  }
}
