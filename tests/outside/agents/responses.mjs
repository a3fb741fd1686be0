// OpenAI's Responses: Codex asks in it.

export const path = /\/responses$/;

export function read({ tools = [], input }) {
  return {
    // The tools of an MCP server stand together in a namespace.
    tools: tools.flatMap((tool) => tool.tools ?? [tool]).map(({ name, type }) => name ?? type),
    results: input
      .filter(({ type }) => type === "function_call_output")
      .map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output))),
  };
}

let count = 0;

export function* write(reply, { tools = [] }) {
  count += 1;
  const event = (type, more) => ({ event: type, data: { type, ...more } });
  const id = `resp_${count}`;
  yield event("response.created", { response: { id } });
  const item = reply.call
    ? {
        type: "function_call",
        id: `fc_${count}`,
        call_id: `call_${count}`,
        name: reply.call,
        namespace: tools.find((tool) => tool.tools?.some(({ name }) => name === reply.call))?.name,
        arguments: JSON.stringify(reply.arguments),
      }
    : {
        type: "message",
        id: `msg_${count}`,
        role: "assistant",
        content: [{ type: "output_text", text: reply.text, annotations: [] }],
      };
  yield event("response.output_item.added", { output_index: 0, item });
  yield event("response.output_item.done", { output_index: 0, item });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  yield event("response.completed", { response: { id, status: "completed", output: [item], usage } });
}
