"""Finds a question's gold passages in the contexts, and measures retrieval by their share and ranks."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from unicodedata import normalize

from pytest_ragcheck.questions.question import GENERATION, GoldPassage, Question, named
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import CUTOFFS, RETRIEVAL, Score

CHUNK_WORDS = 5
"""A context of fewer words, such as a heading, may be part of a passage by chance."""

_SHORT_CHARACTERS = 60

WHOLE_WORDS = 2
"""Contexts contain a passage of at most this many words by chance, so an equal context is required."""

COPIED_WORDS = 10
"""An answer may have fewer words of a forbidden document from the question, or by chance."""

_MOST_CHARACTERS = 20_000
"""Characters of a context that are compared on each side of a common block."""


def gold_keys(question: Question) -> frozenset[str]:
    """The texts of the distinct gold passages, or the document ids of those found by id."""
    return frozenset(_key(passage, question) for passage in question.gold_passages)


def has_short_gold(question: Question) -> bool:
    """True if a gold passage is found by a text of at most `WHOLE_WORDS` words."""
    by_text = (passage.text for passage in question.gold_passages if passage.text and not question.ingest)
    # A longer text has more words, and need not be split.
    return any(len(text) <= _SHORT_CHARACTERS and len(_folded(text).split()) <= WHOLE_WORDS for text in by_text)


def short_gold_note(dataset_name: str, named: str) -> str:
    return (
        f"{dataset_name}: a gold text of {named} has one or two words, so that only an equal context is the passage. "
        "Write the whole passage, or an id as {doc_id: ID}."
    )


def lacks_ids(question: Question, answer: RagAnswer) -> bool:
    """True if a gold passage has only a document id, and the endpoint gives its contexts no ids."""
    has_ids = answer.source_ids is not None or not answer.contexts
    return not has_ids and any(not passage.text for passage in question.gold_passages)


def found_gold(question: Question, answer: RagAnswer) -> tuple[frozenset[str], ...]:
    """
    The gold passages that each context contains, as in `gold_keys`; mostly one or none.

    Passages without a text, and passages that the run uploaded as documents, are found by their document ids. Any other
    passage is found by its text, since several passages may be of one document. Case, accents, punctuation, white space
    and HTML tags do not matter. A context contains a passage if it is the passage, a part of it with `CHUNK_WORDS`
    words or more, a text with the whole passage, or a chunk that was cut elsewhere with half of the passage's words,
    and at least `CHUNK_WORDS`, in a row, that no other number ends. A context of another document must be the passage.
    """
    if not question.gold_passages:
        return tuple(frozenset[str]() for _ in answer.contexts)
    passages = [
        (_key(passage, question), _is_by_id(passage, question), _id_of(passage, question), _folded(passage.text))
        for passage in question.gold_passages
    ]
    others = {_composed(each.doc_id) for each in question.distractors}.difference(["", *(each[2] for each in passages)])
    ids = map(_composed, _ids(answer.source_ids, answer))
    contexts = zip(ids, uploaded(answer), map(_folded, answer.contexts), strict=True)
    return tuple(
        frozenset(
            key
            for key, by_id, doc_id, text in passages
            if _holds(context, source_id, text, doc_id, by_id=by_id, is_known=is_uploaded or source_id in others)
        )
        for source_id, is_uploaded, context in contexts
    )


def uploaded(answer: RagAnswer) -> list[bool]:
    """For each context, whether the run uploaded its document, and so knows which one it is."""
    theirs = answer.server_source_ids or answer.source_ids
    return [ours != its for ours, its in zip(_ids(answer.source_ids, answer), _ids(theirs, answer), strict=True)]


def _ids(given: tuple[str, ...] | None, answer: RagAnswer) -> tuple[str, ...]:
    # An endpoint may give more or fewer ids than contexts.
    return (*(given or ()), *("",) * len(answer.contexts))[: len(answer.contexts)]


def is_from(context: str, passage: str, *, by_half: bool) -> bool:
    """True if the context has the passage or, *by_half*, half of its words or more occur in the passage in a row."""
    text, sought = _folded(context), _folded(passage)
    has_all = sought in text and len(sought.split()) > WHOLE_WORDS
    return has_all or (by_half and _has_half(text.split(), sought, same_numbers=False))


def is_copied(answer: str, passage: str, others: Iterable[str]) -> bool:
    """True if the answer has `COPIED_WORDS` words in a row, or a shorter passage whole, that none of *others* has."""
    from pytest_ragcheck.judging.offline.words.normalized_text import UNSPACED

    text = _folded(passage).split()
    # Two characters of such a script are a word.
    size = min(len(text), COPIED_WORDS * (2 if re.search(f"[{UNSPACED}]", passage) else 1))
    if size < CHUNK_WORDS:
        return False
    runs = _runs(_folded(answer).split(), size) & _runs(text, size)
    known = [*map(_folded, others)] if runs else []
    return any(not any(run in other for other in known) for run in runs)


def _runs(words: list[str], size: int) -> set[str]:
    return {f" {' '.join(words[at : at + size])} " for at in range(len(words) - size + 1)}


def _composed(source_id: str | None) -> str:
    # File systems differ in how they compose an accented letter.
    return normalize("NFC", source_id or "")


def _id_of(passage: GoldPassage, question: Question) -> str:
    return _composed((named(passage, question.dataset_name) if question.ingest else passage).doc_id)


def _is_by_id(passage: GoldPassage, question: Question) -> bool:
    return question.ingest or not passage.text


def _key(passage: GoldPassage, question: Question) -> str:
    by_id = passage.doc_id is not None and _is_by_id(passage, question)
    return f"id {passage.doc_id}" if by_id else f"text {_folded(passage.text)}"


def _folded(text: str) -> str:
    # The words, each between spaces, so that parts of words are not found.
    from pytest_ragcheck.judging.offline.words.normalized_text import words

    return f" {' '.join(words(text))} "


def _holds(context: str, source_id: str, passage: str, doc_id: str, *, by_id: bool, is_known: bool) -> bool:
    from pytest_ragcheck.rag.cited_answer import are_other_documents, document_of

    is_same = bool(source_id) and doc_id in {source_id, document_of(source_id)}
    if is_same and by_id:
        return True
    if not passage.strip() or not context.strip():
        return False
    has_some = (is_same or len(passage.split()) > WHOLE_WORDS) and (
        passage in context
        or (context in passage and (is_same or context.count(" ") > CHUNK_WORDS))
        or _has_half(passage.split(), context, same_numbers=True)
    )
    return passage == context or (has_some and not ((doc_id and is_known) or are_other_documents(source_id, doc_id)))


def _has_half(passage: list[str], context: str, *, same_numbers: bool) -> bool:
    needed = max(-(-len(passage) // 2), CHUNK_WORDS)
    # A run of that length contains one of these blocks as a whole.
    size = (needed + 1) // 2
    for start in range(0, len(passage) - size + 1, size):
        block = f" {' '.join(passage[start : start + size])} "
        # Only the first and the last of several texts can be cut.
        for at in {context.find(block), context.rfind(block)} - {-1}:
            before = context[max(0, at - _MOST_CHARACTERS) : at].split()
            after = context[at + len(block) : at + len(block) + _MOST_CHARACTERS].split()
            sides = ((passage[:start][::-1], before[::-1]), (passage[start + size :], after))
            common = [_common(*side) for side in sides]
            if size + sum(common) >= needed and not (same_numbers and any(map(_differ_in_number, sides, common))):
                return True
    return False


def _common(first: list[str], second: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _differ_in_number(side: tuple[list[str], list[str]], at: int) -> bool:
    return all(any(map(str.isdecimal, word)) for words in side for word in (words[at : at + 1] or [""]))


Retrieved = Sequence[str | Collection[str]]
"""Passage ids, best first; a context with several passages has a collection of their ids."""


_NO_IDS = (
    "a gold passage has only a doc_id, and the endpoint gives no source_ids. "
    "Name them by source_ids= in rag_response, have it return them, or write the text of the passage"
)


class Retrieval:
    """
    The group `retrieval`; it applies to answerable questions of datasets with gold passages.

    Args:
        top_k: Number of contexts requested if the question does not set one, >= 1; larger cutoffs are left out.
    """

    names = RETRIEVAL
    local = True

    def __init__(self, top_k: int) -> None:
        self._top_k = top_k

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """All scores; each is 0.0 for a question without gold passages in a dataset that has some."""
        if question.tier == GENERATION:
            return {}  # contexts given with the question were not retrieved
        gold = gold_keys(question)
        if not question.answerable or not (gold or question.lacks_gold):
            return {}
        retrieved = found_gold(question, answer)
        values: dict[str, float] = {}
        for k in CUTOFFS:
            if k <= (question.top_k or self._top_k):
                values[f"recall_at_{k}"] = recall_at_k(retrieved, gold, k)
                values[f"precision_at_{k}"] = precision_at_k(retrieved, gold, k)
                values[f"ndcg_at_{k}"] = ndcg_at_k(retrieved, gold, k)
                values[f"hit_rate_at_{k}"] = hit_rate_at_k(retrieved, gold, k)
        values["mrr"] = reciprocal_rank(retrieved, gold)
        values["map"] = average_precision(retrieved, gold)
        unscored = Score.unscored(_NO_IDS) if lacks_ids(question, answer) else None
        return {name: unscored or Score(values[name]) for name in RETRIEVAL if name in values}


def recall_at_k(retrieved: Retrieved, gold: Collection[str], k: int) -> float:
    """
    Share of the gold passages that appear among the first *k* retrieved ones.

    Args:
        retrieved: Passage ids, best first; a repeated id counts once, at its first rank.
        gold: Ids of the passages that answer the question.
        k: Cutoff rank, >= 1.

    Returns:
        0..1; 0.0 without gold passages, never 1.0.

    Source: TREC recall. Some call "any gold passage in the top k" Recall@k; here that is `hit_rate_at_k`.
    """
    return _share(sum(_found(retrieved, gold, k)), len(set(gold)))


def precision_at_k(retrieved: Retrieved, gold: Collection[str], k: int) -> float:
    """
    Share of the first *k* ranks that hold a gold passage; an empty rank holds none.

    The arguments are those of `recall_at_k`.

    Returns:
        0..1; 0.0 without gold passages.

    Source: TREC precision, which divides by k even if fewer passages were retrieved.
    """
    return sum(count > 0 for count in _found(retrieved, gold, k)) / k


def hit_rate_at_k(retrieved: Retrieved, gold: Collection[str], k: int) -> float:
    """
    1.0 if any gold passage is among the first *k* retrieved ones, else 0.0.

    The arguments are those of `recall_at_k`.

    Source: TREC calls it Success@k.
    """
    return float(any(_found(retrieved, gold, k)))


def ndcg_at_k(retrieved: Retrieved, gold: Collection[str], k: int) -> float:
    """
    Gain of the first *k* ranks, discounted by rank, divided by the gain of the best order.

    The arguments are those of `recall_at_k`.

    Returns:
        0..1; 0.0 without gold passages.

    Source: Järvelin and Kekäläinen (2002), as in TREC's program: gain 1 for each gold passage, discount log2(rank + 1).
    The best order has one passage a rank, so a context with several passages cannot exceed 1.0.
    """
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(set(gold)), k) + 1))
    gained = sum(count / math.log2(rank + 1) for rank, count in enumerate(_found(retrieved, gold, k), 1))
    return min(_share(gained, best), 1.0)


def reciprocal_rank(retrieved: Retrieved, gold: Collection[str]) -> float:
    """
    1 divided by the rank of the first gold passage; its mean over the questions is the MRR.

    The arguments are those of `recall_at_k` without *k*.

    Returns:
        0..1; 0.0 if no gold passage was retrieved.

    Source: TREC's recip_rank.
    """
    return next((1 / rank for rank, count in enumerate(_found(retrieved, gold), 1) if count), 0.0)


def average_precision(retrieved: Retrieved, gold: Collection[str]) -> float:
    """
    Mean over the gold passages of the precision at their ranks; a passage that was not retrieved counts 0.0.

    Its mean over the questions is the MAP. The arguments are those of `recall_at_k` without *k*.

    Returns:
        0..1; 0.0 without gold passages.

    Source: TREC's map. The precision at a rank is at most 1.0, even if a context has several passages.
    """
    found, total = 0, 0.0
    for rank, count in enumerate(_found(retrieved, gold), 1):
        found += count
        total += count * min(found / rank, 1.0)
    return _share(total, len(set(gold)))


def _found(retrieved: Retrieved, gold: Collection[str], k: int | None = None) -> list[int]:
    # The number of gold passages that occur first at each of the first *k* ranks.
    wanted = set(gold)
    counts = []
    for passages in retrieved[:k]:
        here = wanted.intersection({passages} if isinstance(passages, str) else passages)
        wanted -= here
        counts.append(len(here))
    return counts


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
