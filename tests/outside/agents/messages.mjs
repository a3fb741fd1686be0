// Anthropic's Messages: Claude Code asks in it.

export const path = /\/v1\/messages$/;

export function read({ tools = [], messages }) {
  const parts = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return {
    tools: tools.map(({ name }) => name),
    results: parts.filter(({ type }) => type === "tool_result").map(({ content }) => text(content)),
  };
}

function text(content = "") {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

let count = 0;

export function* write(reply, { model }) {
  count += 1;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const event = (type, more = {}) => ({ event: type, data: { type, ...more } });
  const start = { id: `msg_${count}`, type: "message", role: "assistant", model, content: [], usage };
  yield event("message_start", { message: { ...start, stop_reason: null, stop_sequence: null } });
  const [block, delta] = reply.call
    ? [
        { type: "tool_use", id: `toolu_${count}`, name: reply.call, input: {} },
        { type: "input_json_delta", partial_json: JSON.stringify(reply.arguments) },
      ]
    : [
        { type: "text", text: "" },
        { type: "text_delta", text: reply.text },
      ];
  yield event("content_block_start", { index: 0, content_block: block });
  yield event("content_block_delta", { index: 0, delta });
  yield event("content_block_stop", { index: 0 });
  const stop_reason = reply.call ? "tool_use" : "end_turn";
  yield event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
  yield event("message_stop");
}
