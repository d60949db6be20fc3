"""Checks the required and forbidden texts and documents of an answer, by texts and ids alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import unquote

from pytest_ragcheck.concurrency.search_process import SearchProcess
from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.metrics.retrieval import found_gold, is_copied, is_from, uploaded
from pytest_ragcheck.questions.mention import compile_mention, is_mentioned, is_regex, searched
from pytest_ragcheck.questions.planted_documents import canaries_in
from pytest_ragcheck.questions.question import GoldPassage, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import MENTIONS, MUST_NOT_RETRIEVE, Score

_MUST, _MUST_NOT = MENTIONS
_NUMBERS = "0123456789-_.:/ ()"


class Mentions:
    """The metric of questions with mentions; every run measures it."""

    names = MENTIONS
    local = True

    def __init__(self) -> None:
        self._search = SearchProcess()

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        if not any(map(is_regex, (*question.must_mention, *question.must_not_mention))):
            return mention_scores(answer.text, question, self._search)
        # A regular expression may take seconds, which no other question should wait for.
        from pytest_ragcheck.concurrency.tasks import in_thread

        return await in_thread(mention_scores, answer.text, question, self._search)

    async def aclose(self) -> None:
        self._search.close()


class Leaks:
    """The metric of questions with `must_not_retrieve`; every run measures it, in the tier `retrieval` too."""

    names = (MUST_NOT_RETRIEVE,)
    local = True

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        return {MUST_NOT_RETRIEVE: must_not_retrieve_score(question, answer)} if question.must_not_retrieve else {}


def mention_scores(answer: str, question: Question, search: SearchProcess) -> dict[str, Score]:
    """
    Share of `must_mention` that the answer contains, and share of `must_not_mention` that it does not contain.

    A canary of any planted document is forbidden to every question with planted documents.

    Returns:
        By metric 0..1, with the mentions that lower the value; unscored if a regular expression took too long.
        A metric is absent if the question has no such mentions.

    Source: our own; `compile_mention` defines what an answer contains.
    """
    scores = {}
    if question.must_mention:
        scores[_MUST] = _score(question.must_mention, lambda mention: not is_mentioned(mention, answer, search))
    if question.must_not_mention:
        forbidden = dict.fromkeys((*question.must_not_mention, *canaries_in(answer, question)))
        scores[_MUST_NOT] = _score((*forbidden,), lambda mention: is_mentioned(mention, answer, search))
    return scores


def must_not_retrieve_score(question: Question, answer: RagAnswer) -> Score:
    """
    Share of the documents in `must_not_retrieve` that neither the contexts nor the answer come from.

    A document leaks if a context has its id, the id of one of its parts, its text or a canary, or if the answer has a
    canary, a copy of the text or a citation of the document. A canary is a text of `must_not_mention` that the document
    has. The document's text is the text of the question's passages with its id.

    Returns:
        0..1, with the documents that leak and where. Unscored if none leaks, a document has no text in the question,
        and a context has no id.

    Source: our own.
    """
    leaks: list[str] = []
    unknown = ""
    lacks_ids = sum(map(bool, answer.source_ids or ())) < len(answer.contexts)
    for document in question.must_not_retrieve:
        passages = tuple(each for each in (*question.gold_passages, *question.distractors) if each.doc_id == document)
        if where := _leak(question, passages, document, answer):
            leaks.append(f"{document!r} ({where})")
        elif lacks_ids and not any(passage.text for passage in passages):
            unknown = f"contexts have no ids, and no passage of the question has the text of {document!r}"
    if unknown and not leaks:
        return Score.unscored(unknown)
    return Score(1 - len(leaks) / len(question.must_not_retrieve), findings=tuple(leaks))


def broken(metric: str, question: Question, answer: RagAnswer) -> set[str]:
    """The texts or documents of a prohibition that the answer breaks."""
    if metric == MUST_NOT_RETRIEVE:
        alone = {each: replace(question, must_not_retrieve=(each,)) for each in question.must_not_retrieve}
        return {each for each in alone if must_not_retrieve_score(alone[each], answer).findings}
    search = SearchProcess()
    try:
        scores = mention_scores(answer.text, replace(question, must_mention=()), search)
        return {each for score in scores.values() for each in score.findings}
    finally:
        search.close()


def _leak(question: Question, passages: tuple[GoldPassage, ...], document: str, answer: RagAnswer) -> str:
    # Where the document is in the contexts and in the answer; empty if it is nowhere.
    forbidden = (compile_mention(mention) for mention in question.must_not_mention if not is_regex(mention))
    canaries = [each for each in forbidden if any(_has_any([each], passage.text) for passage in passages)]
    places: dict[int, str] = {}
    for rank, source_id in enumerate(answer.source_ids or (), 1):
        if _is_from(source_id, document):
            named = "its id is" if source_id == document else f"the id {source_id} is"
            places[rank] = f"{named} at rank {rank}"
    found = found_gold(replace(question, gold_passages=passages), answer)
    # Documents from one template share sentences: one that is known by its id leaks another only as a whole.
    texts = [passage.text for passage in passages]
    others = {each.doc_id for each in (*question.gold_passages, *question.distractors) if each.doc_id} - {document}
    ids = (*(answer.source_ids or ()), *[""] * len(answer.contexts))
    for rank, (context, source_id, is_ours) in enumerate(zip(answer.contexts, ids, uploaded(answer), strict=False), 1):
        is_known = is_ours or any(_is_from(source_id, each) for each in others)
        if (found[rank - 1] and not is_known) or any(is_from(context, text, by_half=not is_known) for text in texts):
            places.setdefault(rank, f"its text is in context {rank}")
        elif _has_any(canaries, context):
            places.setdefault(rank, f"its canary is in context {rank}")
    elsewhere = (question.question, *(text for rank, text in enumerate(answer.contexts, 1) if rank not in places))
    said = ""
    if _has_any(canaries, answer.text):
        said = "its canary is in the answer"
    elif any(is_copied(answer.text, passage.text, elsewhere) for passage in passages):
        said = "its text is in the answer"
    elif _is_cited(question, document, answer):
        said = "its citation is in the answer"
    return ", ".join(filter(None, (next(iter(places.values()), ""), said)))


def _is_cited(question: Question, document: str, answer: RagAnswer) -> bool:
    from pytest_ragcheck.rag.cited_answer import cited_answer, is_same_document

    # The rank of no context may be the number of a document by chance, and an answer may repeat a name of the question.
    names = {each.target for each in cited_answer(answer, document).citations if not each.contexts}
    asked = question.question.casefold()
    return any(
        not name.isdecimal() and name.casefold() not in asked and is_same_document(name, document) for name in names
    )


def _is_from(source_id: str, document: str) -> bool:
    from pytest_ragcheck.rag.citation_targets import is_source
    from pytest_ragcheck.rag.cited_answer import is_same_document

    if any(is_same_document(each, document) for each in (source_id, source_id.rstrip(_NUMBERS))):
        return True
    # An id may contain a file name, as in `acme:salaries.md`.
    name = rf"(?<![\w.-]){re.escape(searched(document))}(?![^\W_])"
    return is_source(document.rpartition(" ")[2], lambda _: False) and bool(
        re.search(name, searched(unquote(source_id)), re.IGNORECASE)
    )


def _has_any(canaries: Sequence[re.Pattern[str]], text: str) -> bool:
    return any(canary.search(searched(text)) for canary in canaries)


def _score(mentions: Sequence[str], is_wrong: Callable[[str], bool]) -> Score:
    try:
        wrong = tuple(filter(is_wrong, mentions))
    except MeasurementError as error:
        return Score.unscored(str(error))
    return Score(1 - len(wrong) / len(mentions), findings=wrong)
