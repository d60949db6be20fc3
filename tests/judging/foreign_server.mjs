// A judge on aimock, an OpenAI-compatible server of other makers: `node foreign_server.mjs FOLDER_OF_NODE_MODULES`.
// Prints its base URL, and ends when its standard input does.
import { createRequire } from "node:module";
import { join } from "node:path";

const { LLMock } = createRequire(join(process.argv[2], "here.js"))("@copilotkit/aimock");

// What a judging model does with its prompt: takes the nonce from the instructions, and the material from its blocks.
function read(request) {
  const prompt = request.messages[0].content;
  const nonce = /^"nonce": the string "([0-9a-f]+)"/m.exec(prompt)[1];
  const block = (name) =>
    JSON.parse(prompt.split(`=== BEGIN ${name} ${nonce} ===\n`)[1].split(`\n=== END ${name} ${nonce} ===`)[0]);
  return { nonce, question: block("question"), contexts: block("contexts"), answer: block("answer") };
}

function verdict(request) {
  const { nonce, contexts, answer } = read(request);
  const grounded = contexts.some((context) => context.includes(answer));
  return JSON.stringify({
    nonce,
    unsupported_claims: grounded ? [] : [answer],
    abstained: false,
    answer_correctness: 1,
    groundedness: grounded ? 1 : 0,
    error_message: grounded ? "" : "No passage says so.",
  });
}

const replies = {
  plain: (request) => ({ content: verdict(request) }),
  thinking: (request) => ({ content: `<think>Is it {so}?</think>\n\`\`\`json\n${verdict(request)}\n\`\`\`` }),
  "cut off": (request) => ({ content: verdict(request).slice(0, 30), finishReason: "length" }),
  filtered: () => ({ content: "", finishReason: "content_filter" }),
  "no schema": (request) =>
    request.response_format?.type === "json_schema"
      ? { error: { message: "json_schema is not supported", type: "invalid_request_error" }, status: 400 }
      : { content: verdict(request) },
  busy: () => ({ error: { message: "Rate limit reached", type: "requests" }, status: 429, retryAfter: 7 }),
  "bad key": () => ({ error: { message: "Incorrect API key", code: "invalid_api_key" }, status: 401 }),
};

const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
for (const [question, reply] of Object.entries(replies)) {
  mock.on({ predicate: (request) => read(request).question === question }, reply);
}
await mock.start();
console.log(`${mock.url}/v1`);
process.stdin.resume().on("end", () => mock.stop().then(() => process.exit(0)));
