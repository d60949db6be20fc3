"""
A RAG endpoint that keeps the contract, with FastAPI.

Replace `find` with your retrieval and `answer_from` with your model; the route stays as it is.
"""

from __future__ import annotations

import re

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import BaseModel

PASSAGES = [
    "Refunds are possible within 30 days of delivery.",
    "Standard delivery takes 3 working days.",
    "Support answers from 9:00 to 17:00 on working days.",
    "A return label is free of charge and valid for 14 days.",
]
DEFAULT_TOP_K = 5
STOP_WORDS = set(
    re.findall(r"\w+", "a an and are can do does for how i is it long many of on the to what when who within")
)

app = FastAPI()


class Ask(BaseModel):
    """The request; a top_k that is missing or null means the default."""

    query: str = ""
    top_k: int | None = None


class Reply(BaseModel):
    """The response: both fields always, `contexts` empty where nothing was found."""

    answer: str
    contexts: list[str]


@app.post("/query", response_model=Reply)
def query(ask: Ask) -> Reply | JSONResponse:
    """Answers one question."""
    if not ask.query.strip():
        return JSONResponse({"error": "query is required"}, status_code=400)
    contexts = find(ask.query, DEFAULT_TOP_K if ask.top_k is None else max(0, ask.top_k))
    return Reply(answer=answer_from(contexts), contexts=contexts)


def find(question: str, top_k: int) -> list[str]:
    """At most *top_k* passages that share a word with the question, those with most first."""
    wanted = words(question)
    shared = {passage: len(wanted & words(passage)) for passage in PASSAGES}
    found = [passage for passage in PASSAGES if shared[passage]]
    return sorted(found, key=lambda passage: -shared[passage])[:top_k]


def words(text: str) -> set[str]:
    """The words that carry meaning."""
    return set(re.findall(r"\w+", text.lower())) - STOP_WORDS


def answer_from(contexts: list[str]) -> str:
    """The best passage as it stands; without one it declines, which is better than a guess."""
    return contexts[0] if contexts else "The documents do not answer this question."
