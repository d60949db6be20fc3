"""Measures whether the cited passages support the sentences that cite them, as ALCE does."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judge_prompt import Nonces
from pytest_ragcheck.judging.judgement import SentenceSupport
from pytest_ragcheck.judging.model.chat import AsksModel
from pytest_ragcheck.judging.offline.grounding.groundedness import PASS_LINE, groundedness
from pytest_ragcheck.judging.offline.grounding.read_context import ContextCache
from pytest_ragcheck.judging.offline.words.terms import TermDictionary
from pytest_ragcheck.metrics.citations import MOST_FINDINGS, NO_IDS, CitedSentence, cited_sentences, shown
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import quoted_text
from pytest_ragcheck.rag.cited_answer import cited_answer
from pytest_ragcheck.scores import CITATION_SUPPORT, Score

_PRECISION, _RECALL = CITATION_SUPPORT


class CitationSupport:
    """The group `citations`, by the judge's model; without one, by the rules of the offline judge."""

    names = CITATION_SUPPORT

    def __init__(self, chat: AsksModel | None) -> None:
        self.local = chat is None
        self._chat = chat
        self._nonces = Nonces()

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """
        Both scores; none for an answer without markers.

        Raises:
            JudgeError: The model gave no readable reply.
        """
        cited = cited_answer(answer)
        if not cited.citations:
            return {}
        if any(citation.contexts is None for citation in cited.citations):
            return dict.fromkeys(CITATION_SUPPORT, Score.unscored(NO_IDS))
        sentences = cited_sentences(answer, cited)
        numbers: dict[tuple[int, ...], int] = {}
        cites = {
            index: [numbers.setdefault(each.contexts or (), len(numbers) + 1) for each in sentence.citations]
            for index, sentence in enumerate(sentences)
            if sentence.citations and all(citation.contexts for citation in sentence.citations)
        }
        passages = ["\n\n".join(answer.contexts[at] for at in places) for places in numbers]
        texts = [(sentences[index].text, cited_numbers) for index, cited_numbers in cites.items()]
        supports: Sequence[SentenceSupport] = ()
        if self._chat is None:
            supports = _support_by_rules(question.question, texts, passages)
        elif texts:
            from pytest_ragcheck.judging.model.judge_reply import ask_support

            nonce = self._nonces.of(question.question)
            supports = await ask_support(self._chat, question, answer, texts, passages, nonce=nonce)
        support_of = dict(zip(cites, supports, strict=True))
        return citation_scores(
            [
                _judged(sentence, cites[index], support_of[index]) if index in cites else _unjudged(sentence)
                for index, sentence in enumerate(sentences)
            ]
        )


@frozen
class JudgedSentence:
    supported: bool
    """True if its cited passages together support it; False without citations or with an invented one."""

    precise: tuple[bool, ...]
    """For each of its citations True if it supports the sentence and adds something; empty with an invented one."""

    findings: tuple[str, ...]
    """The faults, as sentences for the failure text."""


def citation_scores(sentences: Sequence[JudgedSentence]) -> dict[str, Score]:
    """
    Precision and recall of the citations.

    Recall is the share of sentences that their citations together support. Precision is the share of citations that
    are in a supported sentence, and support it alone or are needed for it.

    Returns:
        0..1 each, with the first findings; nothing without sentences.

    Source: ALCE, Gao et al. (2023), by its `eval.py`. There as here, a sentence with a citation out of range is not
    supported, and its citations are not in the precision. ALCE gives 0 to an answer without citations, which here has
    no score, and reads at most three citations a sentence.
    """
    if not sentences:
        return {}
    precise = [each for sentence in sentences for each in sentence.precise]
    unsupported = [finding for sentence in sentences if not sentence.supported for finding in sentence.findings]
    imprecise = [finding for sentence in sentences if not all(sentence.precise) for finding in sentence.findings]
    if not precise:
        imprecise = unsupported
    return {
        _PRECISION: Score(sum(precise) / len(precise) if precise else 0.0, findings=tuple(imprecise[:MOST_FINDINGS])),
        _RECALL: Score(
            sum(sentence.supported for sentence in sentences) / len(sentences),
            findings=tuple(unsupported[:MOST_FINDINGS]),
        ),
    }


def _support_by_rules(
    question: str, sentences: Sequence[tuple[str, Sequence[int]]], passages: Sequence[str]
) -> list[SentenceSupport]:
    # Each sentence comes with the numbers of its passages, from 1. The words of the question need no support.
    contexts_read = ContextCache(TermDictionary())

    def supports(sentence: str, numbers: Sequence[int]) -> bool:
        given = [passages[number - 1] for number in numbers]
        if not any(map(str.strip, given)):
            return False
        grounded = groundedness(sentence, question=question, contexts=given, contexts_read=contexts_read)
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


def _unjudged(sentence: CitedSentence) -> JudgedSentence:
    # A sentence without citations, or with an invented one.
    text = quoted_text(sentence.text)
    invented = [shown(citation) for citation in sentence.citations if not citation.contexts]
    finding = f"{text} cites {', '.join(invented)}, which is not a context" if invented else f"{text} cites nothing"
    return JudgedSentence(supported=False, precise=(), findings=(finding,))


def _judged(sentence: CitedSentence, cites: Sequence[int], support: SentenceSupport) -> JudgedSentence:
    text = quoted_text(sentence.text)
    markers = list(map(shown, sentence.citations))
    if not support.supported:
        does = "does not" if len(markers) == 1 else "do not together"
        finding = f"{', '.join(markers)} {does} support {text}"
        return JudgedSentence(supported=False, precise=(False,) * len(markers), findings=(finding,))
    # The only citation of a supported sentence supports it. A repeated one can be left out once.
    precise = [
        len(cites) == 1 or number in support.alone or (number in support.needed and cites.count(number) == 1)
        for number in cites
    ]
    extra = [marker for marker, is_precise in zip(markers, precise, strict=True) if not is_precise]
    return JudgedSentence(
        supported=True,
        precise=tuple(precise),
        findings=tuple(f"{marker} adds nothing to {text}" for marker in extra),
    )
