"""Judges without a model, a key or a network, by words, numbers and patterns of refusals."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import accumulate, chain
from typing import ClassVar

from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement, grounding_contexts
from pytest_ragcheck.judging.offline.correctness.answer_recall import AnswerRecall
from pytest_ragcheck.judging.offline.correctness.answer_text import AnswerText
from pytest_ragcheck.judging.offline.correctness.expected_answer import ExpectedAnswers, Recall
from pytest_ragcheck.judging.offline.grounding.evidence import is_verbatim
from pytest_ragcheck.judging.offline.grounding.groundedness import PASS_LINE, Groundedness, groundedness
from pytest_ragcheck.judging.offline.grounding.read_context import ContextCache
from pytest_ragcheck.judging.offline.refusals import Sentence, SentenceCache, is_refusal
from pytest_ragcheck.judging.offline.words.html_tags import blank_tags, links_in
from pytest_ragcheck.judging.offline.words.normalized_text import beginning
from pytest_ragcheck.judging.offline.words.terms import STOP_WORDS, TermDictionary, numbers_in
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import quoted_text
from pytest_ragcheck.rag.citation_markers import MAY_CITE
from pytest_ragcheck.rag.cited_answer import cited_answer

DECLINED = "the system declined to answer"
EMPTY = "the answer is empty"
NOT_DECLINED = "the system answered, although the question is unanswerable"
OF_ANOTHER = "the answer has the expected words, but about something else than the contexts"
NO_CONTEXTS = "no contexts were returned"

_HIGHEST_OF_ANOTHER = 0.5
# Characters read of an answer and of its contexts, because the time grows with the product of both.
ANSWER_READ = 20_000
_CONTEXTS_READ = 500_000
_LONGEST_NAMED_WHOLE = 60
_MOST_WORDS_NAMED = 5
_LEAST_OF_A_WORD = 4  # letters; many shorter ones are function words
# Splits "I could not find the fee, but the window is 30 days" into a refusal and an answer.
_TURN = re.compile(r"[,;–—]\s+(?=(?:but|however|although|though|aber|mais|pero|mas|но)\b)|[,，；](?=但)")


class OfflineJudge:
    """
    Judges by rules. Equal answers always get equal judgements.

    `groundedness` measures how far the words of the answer occur together in the contexts, `answer_correctness` how
    much of an acceptable answer it contains. Neither understands the text.
    """

    identity: ClassVar[JudgeIdentity] = JudgeIdentity(kind="offline", prompt_version="offline-23")

    def __init__(self) -> None:
        self._terms = TermDictionary()
        self._passages = ContextCache(self._terms)
        self._expected = ExpectedAnswers(self._terms)

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        Judges the beginnings of *answer* and of its `grounding_contexts`; nothing is awaited.

        Returns:
            A judgement with `groundedness` and `abstained` set. `answer_correctness` is None for an answerable question
            without acceptable answers. `error_message` names the weakness of the lower score, unless both are 1.
        """
        text, contexts = beginning(answer.text, ANSWER_READ), beginnings(grounding_contexts(question, answer))
        if not text.strip():
            return _empty(question)
        answered = text
        if MAY_CITE.search(text):
            text = cited_answer(answer if text is answer.text else replace(answer, text=text)).marked.blanked(text)
        text = blank_tags(text)
        cache = SentenceCache(answered, text)
        if question.answerable and question.acceptable_answers:
            # Correctness parses the whole answer anyway, which usually rules out a refusal.
            cache[text] = Sentence(text, is_whole=True)
        abstained = is_refusal(text, cache) and (question.answerable or not self._answers(question.question, cache))
        correctness, wrong, recall = self._correctness(question, text, cache, abstained=abstained)
        if abstained and wrong != DECLINED and correctness is not None and question.answerable:
            abstained = any(map(_declines, question.acceptable_answers))  # else the answer has an accepted one
        # Without contexts only a refusal is grounded, though "Yes." has no words that could be compared.
        if not abstained and not any(map(str.strip, contexts)):
            score, complaint, unsupported = 0.0, NO_CONTEXTS, cache.sentences
        else:
            is_right = recall is not None and recall.score >= PASS_LINE
            accepted = question.acceptable_answers if is_right else ()
            grounded = groundedness(
                text,
                question=question.question,
                contexts=contexts,
                contexts_read=self._passages,
                accepted=accepted,
                cache=cache,
            )
            if recall is not None and not abstained:
                grounded = self._with_expected(grounded, recall, question, contexts)
            score, complaint = grounded.score, _ungrounded(grounded)
            unsupported = tuple(each.sentence for each in grounded.sentences if each.score < PASS_LINE)
            if (correctness or 0.0) >= PASS_LINE and self._answers_something_else(question, grounded):
                correctness, wrong = _HIGHEST_OF_ANOTHER, OF_ANOTHER
        lacks_contexts = complaint == NO_CONTEXTS and (correctness or 0.0) < PASS_LINE  # which the failure text has
        if correctness is not None and (correctness <= score or lacks_contexts):
            complaint = wrong or ("" if recall is None else _incorrect(recall, self._terms))
        return Judgement(
            answer_correctness=correctness,
            groundedness=score,
            error_message=complaint,
            abstained=abstained,
            unsupported_claims=unsupported,
        )

    def _answers(self, question: str, cache: SentenceCache) -> bool:
        # True if a clause beside the refusal has all words of *question*, two at least, and a number that it lacks.
        asked = frozenset(self._terms.of(question)) - STOP_WORDS
        for terms in map(self._terms.of, _without_refusals(cache.sentences).splitlines()):
            if asked.issubset(terms) and not asked.issuperset(numbers_in(terms)):
                return len(asked) > 1
        return False

    def _with_expected(
        self, grounded: Groundedness, recall: Recall, question: Question, contexts: Sequence[str]
    ) -> Groundedness:
        # *grounded*, corrected by an expected answer that *contexts* support.
        # They contradict a short answer that denies it or says something else, and support sentences that say the same.
        is_grounded = grounded.score >= PASS_LINE
        denies = is_grounded and (
            recall.is_opposed
            or recall.has_other_figure
            or (
                (recall.replaces_item or recall.is_absent)
                and (grounded.has_unknown or self._replaces(grounded, recall, question, contexts))
            )
        )
        agrees = (
            not is_grounded
            and recall.score >= PASS_LINE
            and not grounded.is_contradicted(frozenset(self._terms.of(recall.expected)) - STOP_WORDS)
        )
        if grounded.is_long or not (denies or agrees):
            return grounded
        plain = [self._passages[context].text for context in contexts]
        if all(is_verbatim(each.plain, plain) for each in grounded.sentences):
            return grounded  # verbatim, though perhaps about something else
        expected = groundedness(
            recall.expected,
            question=question.question,
            contexts=contexts,
            contexts_read=self._passages,
            accepted=question.acceptable_answers,
        )
        if expected.score < PASS_LINE:
            return grounded
        if denies:
            return grounded.denied(is_opposed=recall.is_opposed)
        said = chain.from_iterable(each.terms for each in expected.sentences or grounded.sentences[:1])
        return grounded.affirmed(frozenset(said) - STOP_WORDS)

    def _replaces(self, grounded: Groundedness, recall: Recall, question: Question, contexts: Sequence[str]) -> bool:
        # True if the answer has words of *contexts* from outside the clauses with most of the expected answer.
        asked = frozenset(self._terms.of(question.question))
        expected = frozenset(self._terms.of(recall.expected)) - STOP_WORDS - asked
        own = {term for each in grounded.sentences for term in each.terms} - STOP_WORDS - asked
        passages = [self._passages[context] for context in contexts]
        known = own.intersection(chain.from_iterable(each.distinct for each in passages))
        found: defaultdict[int, list[AbstractSet[str]]] = defaultdict(list)
        for sentence in chain.from_iterable(each.clauses for each in passages):
            for clause in sentence:
                # An apposition belongs to its whole sentence.
                near = frozenset[str]().union(*sentence) if expected >= clause.keys() else clause.keys()
                found[len(expected & clause.keys())].append(near)
        most = max(found, default=0)
        return 0 < len(expected) <= 2 * most and all(
            any(len(term) >= _LEAST_OF_A_WORD for term in known - near) for near in found[most]
        )

    def _answers_something_else(self, question: Question, grounded: Groundedness) -> bool:
        # True if the answer has an accepted one, but about something else than the passage that it nearly copies.
        accepted = [frozenset(self._terms.of(each)) for each in question.acceptable_answers]
        return question.answerable and any(
            not (terms - STOP_WORDS).isdisjoint(each.terms)
            and (each.is_opposed or each.has_other_rate or (each.changed is not None and each.changed.concerns(terms)))
            for each in grounded.sentences
            for terms in accepted
        )

    def _correctness(
        self, question: Question, text: str, cache: SentenceCache, *, abstained: bool
    ) -> tuple[float | None, str, Recall | None]:
        # The score, if it applies; the weakness, unless the recall has it; the recall, if measured.
        if not question.answerable:
            return (1.0, "", None) if abstained else (0.0, NOT_DECLINED, None)
        acceptable = question.acceptable_answers
        if not acceptable:
            return None, "", None
        # An expected address may be that of a link, which the text lacks.
        linking = [sentence for sentence in cache.sentences if "](" in sentence or "<a" in sentence]
        is_linked = any(
            f"]({each})" in sentence or each in links_in(sentence) for sentence in linking for each in acceptable
        )
        if is_linked or (abstained and any(map(_declines, acceptable))):
            return 1.0, "", None
        claims = _without_refusals(cache.sentences) if abstained else text
        if not claims.strip():
            return 0.0, DECLINED, None
        answer = AnswerText(claims, found=cache[claims].words, question=question.question, terms=self._terms)
        recall = AnswerRecall(answer, parsed=self._expected).best_recall(acceptable)
        if abstained and recall.score < PASS_LINE:
            return recall.score, DECLINED, None
        return recall.score, "", recall


def beginnings(contexts: Sequence[str]) -> Sequence[str]:
    if sum(map(len, contexts)) <= _CONTEXTS_READ:
        return contexts
    ends = accumulate(map(len, contexts), initial=0)
    return [
        beginning(each, _CONTEXTS_READ - end) for each, end in zip(contexts, ends, strict=False) if end < _CONTEXTS_READ
    ]


def _empty(question: Question) -> Judgement:
    score = 0.0 if question.answerable else 1.0
    applies = bool(question.acceptable_answers) or not question.answerable
    return Judgement(
        answer_correctness=score if applies else None,
        groundedness=score,
        error_message=EMPTY if question.answerable else "",
        abstained=True,
    )


def _declines(acceptable: str) -> bool:
    # True if the acceptable answer declines; one without words, such as an emoji, does not.
    return any(map(str.isalnum, acceptable)) and is_refusal(acceptable)


def _without_refusals(sentences: Sequence[str]) -> str:
    # The clauses of *sentences* that neither decline nor send the user elsewhere.
    clauses = (Sentence(clause) for sentence in sentences for clause in _TURN.split(sentence))
    return "\n".join(clause.folded for clause in clauses if not (clause.declines or clause.refers))


def _incorrect(recall: Recall, terms: TermDictionary) -> str:
    # The weakness of an answer with this recall; empty if there is none.
    if recall.score >= 1.0:
        return ""
    expected = quoted_text(recall.expected)
    if recall.is_opposed:
        return f"the answer says the opposite of {expected}"
    if recall.is_late and not recall.missing:
        return f"the answer has {expected} only after much other text"
    if recall.score and not recall.missing:
        return f"the answer has the words of {expected}, but not together"
    if len(recall.expected) <= _LONGEST_NAMED_WHOLE:
        return f"the answer does not have {expected}"
    missing = recall.missing_as_written(terms)
    named = ", ".join(map(quoted_text, missing[:_MOST_WORDS_NAMED]))
    more = f" and {len(missing) - _MOST_WORDS_NAMED} more words" if len(missing) > _MOST_WORDS_NAMED else ""
    return f"the answer does not have {named}{more} of the expected {expected}"


def _ungrounded(grounded: Groundedness) -> str:
    # The text about the claim that the contexts support least; empty if they support all.
    worst = grounded.worst
    if worst is None or grounded.score >= 1.0:
        return ""
    sentence = quoted_text(worst.sentence)
    if worst.number_instead is not None:
        instead = "another bound or rate" if worst.number_instead == worst.number else worst.number_instead
        return f"the contexts have {instead} and not {worst.number} in {sentence}"
    if worst.number is not None:
        return f"the contexts do not have the number {worst.number} of {sentence}"
    if worst.is_opposed:
        return f"the contexts say the opposite of {sentence}"
    return f"the contexts {'do not' if worst.score < PASS_LINE else 'only partly'} support {sentence}"
