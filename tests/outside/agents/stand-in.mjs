// A stand-in for a model: an HTTP server on loopback that speaks what an agent asks its model in, and says what the
// test tells it to say.
//
// A wire (completions.mjs, gemini.mjs, messages.mjs, responses.mjs) reads a request into what a test wants to know, the
// offered tools and the results so far, and writes a reply, a call or a text, as that protocol's stream of events.

import { createServer } from "node:http";

const wires = await Promise.all(
  ["completions", "gemini", "messages", "responses"].map((name) => import(`./${name}.mjs`)),
);

/** Reads a request's whole body. */
async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

export class StandIn {
  /** What was asked, as the wires read it: `{ tools, results }`, oldest first. */
  turns = [];
  /** Paths that no wire knows, for the one who must find out why an agent stands still. */
  strange = [];
  /** Why a reply could not be made. */
  failure;

  /**
   * Listens; `model(turn, givenUp)` is asked for each reply of a conversation with tools: `{ call, arguments }` or
   * `{ text }`. `givenUp()` tells whether anybody still waits for it.
   */
  static async start(model) {
    const stand = new StandIn();
    stand.server = createServer((request, response) => {
      stand.serve(request, response, model).catch((failure) => {
        stand.failure ??= failure;
        response.destroy();
      });
    });
    await new Promise((resolve) => stand.server.listen(0, "127.0.0.1", resolve));
    stand.url = `http://127.0.0.1:${stand.server.address().port}`;
    return stand;
  }

  async serve(request, response, model) {
    const text = await body(request);
    if (process.env.STAND_IN_LOG) console.error(request.method, request.url, text);
    const { pathname } = new URL(request.url, this.url);
    const wire = wires.find((each) => request.method === "POST" && each.path.test(pathname));
    if (!wire) {
      this.strange.push(`${request.method} ${pathname}`);
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"not here"}}');
      return;
    }
    const asked = JSON.parse(text);
    const turn = wire.read(asked);
    // Agents also ask for titles, summaries and routing, without tools: whatever is said will do.
    let reply = { text: "done" };
    if (turn.tools.length > 0) {
      this.turns.push(turn);
      reply = await model(turn, () => response.destroyed);
    }
    if (response.destroyed) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const { event, data } of wire.write(reply, asked)) {
      const named = event ? `event: ${event}\n` : "";
      response.write(`${named}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
