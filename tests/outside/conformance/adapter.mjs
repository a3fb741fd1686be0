// Shows bridges as Streamable HTTP: every legacy session has a bridge of its own for its life, every modern POST has
// one for itself. A frame passes as it is; only what HTTP itself asks for (session ids, statuses, streams) is made here.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const MODERN = "io.modelcontextprotocol/protocolVersion";
const STATUS = { "-32601": 404, "-32602": 400, "-32020": 400, "-32021": 400, "-32022": 400 };

// A bridge and the streams that wait for what it says.
class Bridge {
  constructor(start) {
    this.waiting = new Map();
    this.listener = null;
    this.missed = [];
    this.child = start();
    this.child.on("error", () => this.close());
    this.child.stdin.on("error", () => {});
    createInterface({ input: this.child.stdout }).on("line", (line) => this.said(line));
  }

  said(line) {
    const message = JSON.parse(line);
    const isAnswer = message.id !== undefined && message.method === undefined;
    const asked = isAnswer ? this.waiting.get(JSON.stringify(message.id)) : [...this.waiting.values()].at(-1);
    if (isAnswer) this.waiting.delete(JSON.stringify(message.id));
    if (asked) asked(line, message, isAnswer);
    // Pipes do not say what a message is about: with nobody asking it is the session's own stream's.
    else if (this.listener) this.listener.write(event(line));
    else this.missed.push(line);
  }

  send(frame) {
    this.child.stdin.write(`${JSON.stringify(frame)}\n`);
  }

  close() {
    this.child.stdin.end();
  }
}

const event = (line) => `event: message\ndata: ${line}\n\n`;

export async function serve(binary, folder, environment) {
  const start = () =>
    spawn(binary, ["mcp", "--conformance"], { cwd: folder, env: environment, stdio: ["pipe", "pipe", "ignore"] });
  const sessions = new Map();
  const server = createServer((request, response) => {
    answer(request, response, start, sessions).catch((error) => response.writeHead(400).end(String(error)));
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close() {
      for (const bridge of sessions.values()) bridge.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(request, response, start, sessions) {
  const id = request.headers["mcp-session-id"];
  const session = sessions.get(id);
  const body = await read(request);
  if (request.method === "POST" && isModern(request, body)) return modern(request, body, response, start);
  if (request.method === "POST" && body.method === "initialize") {
    const bridge = new Bridge(start);
    const minted = randomUUID();
    sessions.set(minted, bridge);
    response.setHeader("Mcp-Session-Id", minted);
    return ask(bridge, body, response);
  }
  if (!session) return response.writeHead(id ? 404 : 400).end();
  if (request.method === "DELETE") {
    session.close();
    sessions.delete(id);
    return response.writeHead(204).end();
  }
  if (request.method === "GET") {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    session.listener = response;
    for (const line of session.missed.splice(0)) response.write(event(line));
    return response.on("close", () => (session.listener = null));
  }
  if (body.id !== undefined && body.method !== undefined) return ask(session, body, response);
  session.send(body);
  return response.writeHead(202).end();
}

function isModern(request, body) {
  return body.params?._meta?.[MODERN] !== undefined || request.headers["mcp-protocol-version"] === "2026-07-28";
}

function modern(request, body, response, start) {
  // The pipe knows no header: without its `_meta` a frame would be taken for a legacy one.
  const revision = body.params?._meta?.[MODERN];
  if (revision === undefined) return refuse(response, body, -32602, "`_meta` needs the protocol version");
  if (revision !== request.headers["mcp-protocol-version"]) return refuse(response, body, -32020, "header mismatch");
  const bridge = new Bridge(start);
  response.on("close", () => bridge.close());
  return ask(bridge, body, response);
}

function refuse(response, body, code, message) {
  response.writeHead(STATUS[code], { "Content-Type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: body.id ?? null, error: { code, message } }));
}

// Answers in one body if nothing is said before the answer, else with a stream.
function ask(bridge, body, response) {
  bridge.waiting.set(JSON.stringify(body.id), (line, message, isLast) => {
    if (!response.headersSent && isLast) {
      const status = STATUS[message.error?.code] ?? 200;
      response.writeHead(isModern({ headers: {} }, body) ? status : 200, { "Content-Type": "application/json" });
      return response.end(line);
    }
    if (!response.headersSent) response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(event(line));
    if (isLast) response.end();
  });
  bridge.send(body);
}

async function read(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : {};
}
