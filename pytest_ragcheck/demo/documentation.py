"""Makes the system of `ragcheck demo`: a plain function that answers with sentences of the documents, or declines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_ragcheck.demo.index import Index, Passage, read_corpus, without_code, words_of
from pytest_ragcheck.frozen import frozen

REFUSAL = "The documents do not answer this question."

LEAST_EVIDENCE = 0.5
"""
A passage below this share of the question's words, weighted by rarity, has another topic.

Measured on 255 questions, half of them with passages in the corpus: 0.5 answers 92 % of this half and declines 78 % of
the other, 0.4 94 % and 66 %, 0.6 84 % and 88 %.
"""

MOST_STATEMENTS = 3

NEARLY_AS_STRONG = 0.7
"""Minimum strength of a further statement, as a share of the best one's."""

_ASKS_FOR_NUMBER = re.compile(
    r"\bhow (?:many|much|long|often|big|large|high|fast)\b|\bwhat (?:number|percentage|port)\b", re.IGNORECASE
)
_POINTS_BACK = re.compile(r"(?:it|its|this|that|these|those|they|their|there|such|so|then)\b", re.IGNORECASE)


@frozen
class Quote:
    rank: int
    """Rank of its passage, from 0."""

    text: str


@frozen
class Answer:
    text: str
    quotes: tuple[Quote, ...] = ()


@frozen
class _Evidence:
    statements: tuple[str, ...]
    """The statement, preceded by the one that it refers to, if any."""

    place: tuple[int, int]
    """Rank of its passage, and position in the passage."""

    strength: float
    """Orders the statements, >= 0."""

    share: float
    """Share of the question that the statement and its neighbours cover, 0..1."""


def best_first(question: str, passages: Sequence[Passage], rarity: Mapping[str, float]) -> list[Passage]:
    """
    The passages in the order of their strongest statements.

    BM25 alone prefers a passage that repeats a common word, but most questions have their answer in one place.
    """

    def strongest(passage: Passage) -> float:
        return max((evidence.strength for evidence in _evidence(question, [passage], rarity)), default=0.0)

    return sorted(passages, key=strongest, reverse=True)


def quoted_answer(
    question: str, passages: Sequence[Passage], rarity: Mapping[str, float], *, least_evidence: float = LEAST_EVIDENCE
) -> Answer:
    """
    One to three statements of *passages*, or `REFUSAL` if they cover less than *least_evidence*, 0..1.

    The *rarity* is the weight of each of the question's words, > 0.
    """
    found = sorted(_evidence(question, passages, rarity), key=lambda evidence: -evidence.strength)
    if not found or found[0].share < least_evidence:
        return Answer(text=REFUSAL)
    chosen = [evidence for evidence in found if evidence.strength >= NEARLY_AS_STRONG * found[0].strength]
    chosen = sorted(chosen[:MOST_STATEMENTS], key=lambda evidence: evidence.place)
    ranks: dict[str, int] = {}
    for evidence in chosen:
        for statement in evidence.statements:
            ranks.setdefault(statement, evidence.place[0])
    return Answer(text=" ".join(ranks), quotes=tuple(Quote(rank=rank, text=text) for text, rank in ranks.items()))


def _evidence(question: str, passages: Sequence[Passage], rarity: Mapping[str, float]) -> Iterator[_Evidence]:
    asked = rarity.keys()
    asks_for_number = bool(_ASKS_FOR_NUMBER.search(question))

    def weight(words: set[str]) -> float:
        return sum(rarity[word] for word in words)

    total = weight(set(asked)) or 1.0  # a question of stop words only
    for rank, passage in enumerate(found.chunk for found in passages):
        heading = asked & set(words_of(passage.heading))
        # A question has the words but answers nothing.
        statements = [statement for statement in passage.statements if not statement.endswith("?")]
        anywhere = heading.union(*(asked & set(words_of(statement)) for statement in statements))
        before: tuple[str, ...] = ()
        before_words: set[str] = set()
        for position, statement in enumerate(statements):
            # Only the text before the code counts: code mentions many words and states nothing.
            own = asked & set(words_of(without_code(statement)))
            points_back = bool(before) and bool(_POINTS_BACK.match(statement))
            around = (heading | before_words if points_back else heading) - own
            rest = anywhere - own - around
            strength = weight(own) + 0.7 * weight(around) + 0.3 * weight(rest)
            # A long statement, mostly code, holds many words by chance.
            strength /= 1 + len(statement.split()) / 200
            if asks_for_number and re.search(r"\d", statement):
                strength *= 1.2
            yield _Evidence(
                statements=(*before, statement) if points_back else (statement,),
                place=(rank, position),
                strength=strength,
                share=(weight(own) + weight(around) + 0.5 * weight(rest)) / total,
            )
            before, before_words = (statement,), own


CANDIDATES = 20
"""Minimum number of passages to fetch, from which the best `top_k` are chosen."""

MOST_WORDS = 100
"""Maximum number of distinct words of a question that are used."""

# Every digit changes, and none becomes 0, so that every number changes and none begins with 0.
OTHER_DIGITS = str.maketrans("0123456789", "1234567891")

INVENTED = "Yes, that has been so since 1987."

_FAULTS = ("number", "best", "invent")


def answers_from(folder: Path, *, faults: str = "") -> Callable[[str, int], dict[str, Any]]:
    """
    A function for `RagClient.from_callable` that answers from the texts of the folder.

    Args:
        folder: Its `.md` and `.txt` files are read, at any depth.
        faults: Deliberate faults, separated by commas: `number` (wrong numbers), `best` (the best
            passage is not found), `invent` (questions are answered that the texts do not answer).

    Raises:
        ValueError: An unknown fault.
    """
    chosen = {fault.strip() for fault in faults.split(",")} - {""}
    if unknown := chosen.difference(_FAULTS):
        raise ValueError(f"{', '.join(sorted(unknown))}: no such fault. Choose from {', '.join(_FAULTS)}.")
    index = Index()
    read_corpus(index, folder)

    def answer(query: str, top_k: int) -> dict[str, Any]:
        words = list(dict.fromkeys(words_of(query)))[:MOST_WORDS]
        rarity = index.rarity(words)
        ranked = best_first(query, index.search(words, max(top_k, CANDIDATES)), rarity)
        passages = ranked[1 if "best" in chosen else 0 :][:top_k]
        text = quoted_answer(query, passages, rarity).text
        if "invent" in chosen and text == REFUSAL:
            text = quoted_answer(query, passages, rarity, least_evidence=0.0).text
            text = INVENTED if text == REFUSAL else text
        return {
            "answer": text.translate(OTHER_DIGITS) if "number" in chosen else text,
            "contexts": [passage.text for passage in passages],
        }

    return answer
