// A RAG endpoint that keeps the contract, with Express.
// Replace `find` with your retrieval and `answerFrom` with your model; the route stays as it is.
"use strict";

const express = require("express");

const PASSAGES = [
  "Refunds are possible within 30 days of delivery.",
  "Standard delivery takes 3 working days.",
  "Support answers from 9:00 to 17:00 on working days.",
  "A return label is free of charge and valid for 14 days.",
];
const DEFAULT_TOP_K = 5;
const STOP_WORDS = new Set(
  "a an and are can do does for how i is it long many of on the to what when who within".split(" "),
);

const app = express();
app.use(express.json());

app.post("/query", (request, response) => {
  const { query, top_k: topK } = request.body ?? {};
  if (typeof query !== "string" || !query.trim()) {
    return response.status(400).json({ error: "query is required" });
  }
  // Missing or null means the default; 0 means no contexts.
  const contexts = find(query, Number.isInteger(topK) ? Math.max(0, topK) : DEFAULT_TOP_K);
  response.json({ answer: answerFrom(contexts), contexts });
});

// Without this, Express would say 404 to a GET, as if there were no such route.
app.all("/query", (request, response) => {
  response.status(405).set("Allow", "POST").json({ error: "use POST" });
});

// At most topK passages that share a word with the question, those with most first.
function find(question, topK) {
  const wanted = words(question);
  const shared = (passage) => [...words(passage)].filter((word) => wanted.has(word)).length;
  return PASSAGES.filter(shared)
    .sort((one, other) => shared(other) - shared(one))
    .slice(0, topK);
}

// The words that carry meaning.
function words(text) {
  const all = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  return new Set(all.filter((word) => !STOP_WORDS.has(word)));
}

// The best passage as it stands; without one it declines, which is better than a guess.
function answerFrom(contexts) {
  return contexts[0] ?? "The documents do not answer this question.";
}

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}/query`);
});
