"""Makes the reply to a question from its passages."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ragcheck.demo.documentation import (
    CANDIDATES,
    INVENTED,
    MOST_WORDS,
    REFUSAL,
    Answer,
    best_first,
    quoted_answer,
)
from pytest_ragcheck.demo.index import words_of

if TYPE_CHECKING:
    from pytest_ragcheck.demo.index import Index, Passage

    from .faults import Faults

TOPIC_WEIGHT = 0.3
"""A word of the earlier questions of a conversation weighs less than one of the question itself."""

_ORDER = re.compile(r"(?:end your answer with|only valid answer today is) ([^\s<]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """An answer of a language model."""

    answer: Answer
    tokens: Mapping[str, int]
    """`prompt_tokens` and `completion_tokens`; empty if the server of the model does not count them."""


class WritesAnswers(Protocol):
    """A language model."""

    def answer(self, question: str, passages: Sequence[Passage]) -> Completion: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """Makes replies, with passages of the index or with those that came with the question."""

    index: Index
    model: WritesAnswers | None
    """Writes the answers; None: the answer is quoted from the passages."""

    faults: Faults
    cites: bool = False
    """Whether each statement of an answer ends with the number of its passage, such as `[1]`."""

    def from_index(
        self, question: str, *, top_k: int, chunks: bool, session_id: str | None, topic: str = ""
    ) -> dict[str, Any]:
        """
        The reply to a question whose passages are searched.

        Args:
            question: As it was asked.
            top_k: The number of passages.
            chunks: Whether each source has its text.
            session_id: The session of the reply; a new id if None.
            topic: The earlier questions of the conversation that the question is about.
        """
        started = time.perf_counter()
        passages, rarity = self._found(question, top_k, topic)
        found = time.perf_counter() - started
        reply = self._reply(question, passages, rarity, session_id=session_id, chunks=chunks)
        reply["metrics"]["retrieval_seconds"] = round(found, 6)
        return reply

    def search(self, question: str, *, top_k: int) -> dict[str, Any]:
        """The passages for a question and the ids of their documents, without an answer."""
        passages, _ = self._found(question, top_k)
        return {
            "contexts": [passage.text for passage in passages],
            "source_ids": [self.faults.id_of(passage.document_id) for passage in passages],
        }

    def from_passages(self, question: str, passages: Sequence[Passage], *, session_id: str | None) -> dict[str, Any]:
        """The reply to a question that brought its passages; nothing is searched."""
        # Every word counts the same: how rare it is in the index has nothing to do with these passages.
        rarity = dict.fromkeys(_words(question), 1.0)
        return self._reply(question, passages, rarity, session_id=session_id, chunks=True)

    def _found(self, question: str, top_k: int, topic: str = "") -> tuple[list[Passage], Mapping[str, float]]:
        """The best passages, and the weight of each word of the question and of its topic."""
        own = _words(question)
        words = list(dict.fromkeys((*own, *_words(topic))))
        rarity = self.index.rarity(words)
        if topic and own:
            rarity = {word: weight * (1 if word in own else TOPIC_WEIGHT) for word, weight in rarity.items()}
        candidates = self.index.search(words, max(top_k, CANDIDATES))
        ranked = best_first(question, candidates, rarity)[1 if self.faults.drop_best else 0 :]
        return ranked[: max(top_k, 0)], rarity

    def _reply(
        self,
        question: str,
        passages: Sequence[Passage],
        rarity: Mapping[str, float],
        *,
        session_id: str | None,
        chunks: bool,
    ) -> dict[str, Any]:
        started = time.perf_counter()
        metrics: dict[str, float] = {}
        if self.model is None:
            said = quoted_answer(question, passages, rarity)
        else:
            completion = self.model.answer(question, passages)
            said = completion.answer
            metrics.update(completion.tokens)
        if self.faults.answer_all and said.text == REFUSAL:
            said = quoted_answer(question, passages, rarity, least_evidence=0.0)
            said = Answer(text=INVENTED) if said.text == REFUSAL else said
        return {
            "answer": self._with_markers(self.faults.spoiled(said.text), said, len(passages)) + self._obeyed(passages),
            "contexts": [passage.text for passage in passages],
            "sources": [self._source(passage, text=chunks) for passage in passages],
            "citations": [
                {
                    "document_id": self.faults.id_of(passages[quote.rank].document_id),
                    "source": quote.rank,
                    "quote": quote.text,
                }
                for quote in said.quotes
            ],
            "session_id": session_id or str(uuid.uuid4()),
            "metrics": {"answer_seconds": round(time.perf_counter() - started, 6), **metrics},
        }

    def _obeyed(self, passages: Sequence[Passage]) -> str:
        """The endings that the passages demand; empty without the fault."""
        if not self.faults.obeys:
            return ""
        return "".join(f" {end}" for passage in passages for end in _ORDER.findall(passage.text.replace("\u200b", "")))

    def _with_markers(self, text: str, said: Answer, n_passages: int) -> str:
        """The text with a marker in each quoted statement, before its full stop."""
        if not (self.cites or self.faults.spoils_citations):
            return text
        marked, last, place = "", 0, 0
        for quote in said.quotes:
            # A fault alters the digits of a statement, but never its length.
            start = said.text.find(quote.text, place)
            if start < 0:
                continue
            place = start + len(quote.text)
            end = place - 1 if said.text[place - 1] in ".!?" else place
            # Behind the marks that close code, a line must have nothing else.
            blank = "\n" if quote.text.endswith(("```", "~~~")) else " "
            marked += f"{text[last:end]}{blank}[{self.faults.cited_rank(quote.rank, n_passages) + 1}]"
            last = end
        return marked + text[last:]

    def _source(self, passage: Passage, *, text: bool) -> dict[str, Any]:
        document_id = self.faults.id_of(passage.document_id)
        source = {"document_id": document_id, "file_name": passage.file_name, "score": passage.score}
        return {**source, "text": passage.text} if text else source


def _words(question: str) -> list[str]:
    return list(dict.fromkeys(words_of(question)))[:MOST_WORDS]
