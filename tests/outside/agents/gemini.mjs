// Google's generateContent: Gemini CLI asks in it.

export const path = /:streamGenerateContent$/;

export function read({ tools = [], contents }) {
  const parts = contents.flatMap((content) => content.parts ?? []);
  return {
    tools: tools.flatMap((tool) => tool.functionDeclarations ?? []).map(({ name }) => name),
    results: parts
      .filter((part) => part.functionResponse)
      .map(({ functionResponse: { response } }) => response.output ?? JSON.stringify(response)),
  };
}

export function* write(reply) {
  const part = reply.call
    ? { functionCall: { name: reply.call, args: reply.arguments } }
    : { text: reply.text };
  yield {
    data: {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  };
}
