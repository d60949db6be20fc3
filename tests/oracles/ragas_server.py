"""A server whose model knows the facts of some answers, and replies in the format of ragas or in ours."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from tests.servers.openai_server import completion, embeddings

if TYPE_CHECKING:
    import random

    from tests.servers.openai_server import Reply, Request

NONCE = re.compile(r'"nonce": the string "([0-9a-f]{16})"')


@dataclass(frozen=True, kw_only=True)
class Known:
    """The facts of one answer."""

    question: Question
    answer: RagAnswer
    in_reference: tuple[bool, ...]
    supported: tuple[bool, ...]
    missing: int
    matched: int
    """How many statements the expected answer makes that the answer makes too."""

    noncommittal: bool
    ratings: tuple[int, int]
    vectors: dict[str, list[float]] = field(default_factory=dict)

    @property
    def statements(self) -> list[str]:
        return [f"{self.question.id} says {number}." for number in range(len(self.in_reference))]

    @property
    def questions(self) -> list[str]:
        return [f"What of {self.question.id} {number}?" for number in range(3)]


def some_facts(rng: random.Random, name: str) -> Known:
    """Random facts of one answer; every text of it holds the name."""
    said = rng.randint(1, 5)
    in_reference = tuple(rng.random() < 0.6 for _ in range(said))
    known = Known(
        question=Question(
            dataset_name="d", id=name, question=f"What about {name}?", expected_answer=f"It is the {name} answer."
        ),
        answer=RagAnswer(text=f"I say {name}.", contexts=(f"Context of {name}.", "More of it.")),
        in_reference=in_reference,
        supported=tuple(rng.random() < 0.6 for _ in range(said)),
        missing=rng.randint(0, 3),
        matched=max(1, sum(in_reference)),
        noncommittal=rng.random() < 0.15,
        ratings=(rng.randint(0, 2), rng.randint(0, 2)),
    )
    texts = [known.question.question, known.answer.text, known.question.expected_answer or "", *known.questions]
    known.vectors.update({text: [rng.gauss(0.3, 1) for _ in range(8)] for text in texts})
    return known


class KnowingServer:
    """Replies for one answer at a time, and counts the requests."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._questions = 0
        self._ratings = 0
        self.calls = 0
        self.batches = 0
        self.tokens = 0
        """Words and signs of the prompts and schemas, about as many as tokens."""

    def __call__(self, request: Request) -> Reply:
        if request.path.endswith("/embeddings"):
            self.batches += 1
            return embeddings(*[self._known.vectors[text] for text in request.json["input"]])
        self.calls += 1
        form = request.json["response_format"]["json_schema"]
        self.tokens += len(re.findall(r"\w+|[^\w\s]", request.prompt + json.dumps(form)))
        (nonce,) = NONCE.findall(request.prompt)
        return completion(json.dumps({"nonce": nonce, **self._reply(form["name"], request.prompt)}))

    def _reply(self, form: str, prompt: str) -> dict[str, Any]:
        known = self._known
        if form == "facts":
            return {
                "statements": [
                    {"statement": text, "in_reference": a, "supported_by_context": b}
                    for text, a, b in zip(known.statements, known.in_reference, known.supported, strict=True)
                ],
                "missing_statements": self._missing,
                "generated_questions": known.questions,
                "noncommittal": known.noncommittal,
                "context_ratings": list(known.ratings),
            }
        if form == "AnswerRelevanceOutput":
            self._questions += 1
            return {"question": known.questions[self._questions - 1], "noncommittal": int(known.noncommittal)}
        if form == "StatementGeneratorOutput":
            of_answer = known.answer.text in prompt
            return {"statements": known.statements if of_answer else [*["matched"] * known.matched, *self._missing]}
        if form == "ClassificationWithReason":
            parts = {"TP": [], "FP": [], "FN": [{"statement": text, "reason": "r"} for text in self._missing]}
            for text, found in zip(known.statements, known.in_reference, strict=True):
                parts["TP" if found else "FP"].append({"statement": text, "reason": "r"})
            return parts
        if form == "NLIStatementOutput":
            pairs = zip(known.statements, known.supported, strict=True)
            return {"statements": [{"statement": text, "reason": "r", "verdict": int(ok)} for text, ok in pairs]}
        assert form == "ContextRelevanceOutput"
        self._ratings += 1
        return {"rating": known.ratings[self._ratings - 1]}

    @property
    def _missing(self) -> list[str]:
        return [f"{self._known.question.id} misses {number}." for number in range(self._known.missing)]
