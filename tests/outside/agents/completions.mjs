// OpenAI's Chat Completions: opencode, Qwen Code and Copilot CLI ask in it.

export const path = /\/chat\/completions$/;

/** What the request offers, and what the calls before it came to. */
export function read({ tools = [], messages }) {
  return {
    tools: tools.map((tool) => tool.function.name),
    results: messages.filter(({ role }) => role === "tool").map(({ content }) => text(content)),
  };
}

function text(content) {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

let count = 0;

export function* write(reply, { model }) {
  count += 1;
  const chunk = (delta, finish_reason = null) => ({
    data: {
      id: `chatcmpl-${count}`,
      object: "chat.completion.chunk",
      created: 0,
      model,
      choices: [{ index: 0, delta, finish_reason }],
    },
  });
  if (reply.call) {
    const call = { name: reply.call, arguments: JSON.stringify(reply.arguments) };
    const tool_calls = [{ index: 0, id: `call_${count}`, type: "function", function: call }];
    yield chunk({ role: "assistant", content: null, tool_calls });
    yield chunk({}, "tool_calls");
  } else {
    yield chunk({ role: "assistant", content: reply.text });
    yield chunk({}, "stop");
  }
  yield { data: "[DONE]" };
}
