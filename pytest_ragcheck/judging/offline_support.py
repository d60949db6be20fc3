"""Decides by rules which cited passages support the sentences of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ragcheck.judging.judgement import SentenceSupport
from pytest_ragcheck.judging.offline.evidence import ContextCache
from pytest_ragcheck.judging.offline.support import PASS_LINE, groundedness
from pytest_ragcheck.judging.offline.terms import TermDictionary


def support_by_rules(
    question: str, sentences: Sequence[tuple[str, Sequence[int]]], passages: Sequence[str]
) -> list[SentenceSupport]:
    """
    Return the support of each sentence: its groundedness in the passages is `PASS_LINE` or more.

    Args:
        question: Its words need no support.
        sentences: The sentences without markers, each with the numbers of the passages that it cites, from 1.
        passages: The cited passages.
    """
    terms = TermDictionary()
    contexts_read = ContextCache(terms)

    def supports(sentence: str, numbers: Sequence[int]) -> bool:
        given = [passages[number - 1] for number in numbers]
        if not any(map(str.strip, given)):
            return False
        grounded = groundedness(sentence, question=question, contexts=given, terms=terms, contexts_read=contexts_read)
        return grounded.score >= PASS_LINE

    found: list[SentenceSupport] = []
    for text, cites in sentences:
        distinct = list(dict.fromkeys(cites))
        supported = supports(text, distinct)
        several = distinct if supported and len(distinct) > 1 else []
        alone = frozenset(number for number in several if supports(text, [number]))
        needed = frozenset(
            number
            for number in several
            if number not in alone and not supports(text, [other for other in distinct if other != number])
        )
        found.append(SentenceSupport(supported=supported, alone=alone, needed=needed))
    return found
