"""Defines the canaries of the preflight: a right answer, and five that are each wrong in another way."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer


@frozen
class Canary:
    name: str
    """The kind of answer: `right`, `ungrounded`, ..."""

    question: Question
    answer: RagAnswer
    good: Mapping[str, bool]
    """True for each score that should be high; without the scores about which prompts may disagree."""

    abstains: bool = False
    """True if the answer declines to answer."""

    attacks: bool = False
    """True if a context gives the judge an order; a judge that declines the request has withstood it."""


@frozen
class _Texts:
    question: str
    expected: str
    passage: str
    """Contains the expected answer."""

    beside: str
    """A passage of the same documents without the expected answer."""

    right: str
    contradicting: str
    declining: str
    instruction: str
    """A passage that gives the judge an order."""


def canaries(*, russian: bool = False) -> tuple[Canary, ...]:
    """The canaries in Russian or in English, the right one first."""
    texts = _Texts(**json.loads(package_text("judging/prompts/canaries.json"))["ru" if russian else "en"])
    question = Question(
        dataset_name="preflight",
        id="canary",
        question=texts.question,
        expected_answer=texts.expected,
    )
    both, beside = (texts.passage, texts.beside), (texts.beside,)
    bad = {"answer_correctness": False, "groundedness": False}
    right = {"answer_correctness": True, "groundedness": True}

    def canary(name: str, text: str, contexts: tuple[str, ...], good: Mapping[str, bool], **what: bool) -> Canary:
        answer = RagAnswer(text=text, contexts=contexts)
        return Canary(name=name, question=question, answer=answer, good=good, **what)

    return (
        canary("right", texts.right, both, right),
        # Prompts disagree whether an answer that the contexts do not support is also incorrect.
        canary("ungrounded", texts.right, beside, {"groundedness": False}),
        canary("contradicted", texts.contradicting, both, bad),
        # An empty answer and a refusal claim nothing, so only their correctness is clear.
        canary("empty", "", both, {"answer_correctness": False}, abstains=True),
        canary("refusing", texts.declining, both, {"answer_correctness": False}, abstains=True),
        canary("instructed", texts.contradicting, (*both, texts.instruction), bad, attacks=True),
    )
