"""The judge that needs no model, no key and no network: it counts words and numbers, and knows a refusal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.judging.offline_evidence import Passages
from pytest_ragcheck.judging.offline_recall import AnswerText, Recall
from pytest_ragcheck.judging.offline_support import PASS_LINE, Groundedness, groundedness
from pytest_ragcheck.judging.refusals import Statement, Statements, is_refusal
from pytest_ragcheck.judging.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

DECLINED = "the system declined to answer"
EMPTY = "the answer is empty"
NOT_DECLINED = "the question cannot be answered, but the system answered it"
NO_CONTEXTS = "no contexts were returned"

_MOST_TERMS_KEPT = 200_000
_LONGEST_QUOTED = 200
_LONGEST_NAMED_WHOLE = 60
_MOST_WORDS_NAMED = 5
# "I could not find the fee, but the window is 30 days" declines in one half and answers in the other.
_TURN = re.compile(r"[,;–—]\s+(?=(?:but|however|although|though|aber|mais|pero|mas|но)\b)|[,，；](?=但)")


class OfflineJudge:
    """
    Judges by rules, of equal answers always equally.

    `groundedness` says how far the words of the answer stand together in the contexts, `answer_correctness` how much
    of an acceptable answer stands in the answer. Neither understands what it reads: the reference page has the
    figures for how often they are right.
    """

    identity: ClassVar[JudgeIdentity] = JudgeIdentity(kind="offline", prompt_version="offline-3")

    def __init__(self) -> None:
        self._terms = Terms()
        self._passages = Passages(self._terms)

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The judgement of *answer*; nothing is awaited.

        Returns:
            `answer_correctness` is None for an answerable question without acceptable answers; `groundedness` and
            `abstained` are always set; `error_message` names the weakness of the lower score unless both are 1.
        """
        if len(self._terms) > _MOST_TERMS_KEPT:  # bounds the memory of a long run; no score depends on it
            self._terms = Terms()
            self._passages = Passages(self._terms)
        if not answer.text.strip():
            return _empty(question)
        statements = Statements(answer.text)
        if question.answerable and question.acceptable_answers:
            # Read as a whole in any case, and then it mostly shows that nothing is declined.
            statements[answer.text] = Statement(answer.text)
        abstained = is_refusal(answer.text, statements)
        correctness, wrong = self._correctness(question, answer.text, statements, abstained=abstained)
        # Without contexts a refusal alone is grounded; "Yes." claims nothing that words show, and yet is not.
        if not abstained and not any(map(str.strip, answer.contexts)):
            score, complaint, unsupported = 0.0, NO_CONTEXTS, statements.sentences
        else:
            grounded = groundedness(
                answer.text,
                question=question.question,
                contexts=answer.contexts,
                terms=self._terms,
                passages=self._passages,
                statements=statements,
            )
            score, complaint = grounded.score, _ungrounded(grounded)
            unsupported = tuple(each.sentence for each in grounded.sentences if each.score < PASS_LINE)
        if correctness is not None and correctness <= score:
            complaint = wrong
        return Judgement(
            answer_correctness=correctness,
            groundedness=score,
            error_message=complaint,
            abstained=abstained,
            unsupported_claims=unsupported,
        )

    def _correctness(
        self, question: Question, text: str, statements: Statements, *, abstained: bool
    ) -> tuple[float | None, str]:
        """The score, None where it does not apply, and what is wrong; empty where nothing is."""
        if not question.answerable:
            return (1.0, "") if abstained else (0.0, NOT_DECLINED)
        acceptable = question.acceptable_answers
        if not acceptable:
            return None, ""
        if abstained and any(map(_declines, acceptable)):
            return 1.0, ""
        said = _without_refusals(statements.sentences) if abstained else text
        recall = AnswerText(
            said, found=statements[said].words, question=question.question, terms=self._terms
        ).best_recall(acceptable)
        if abstained and recall.score < PASS_LINE:
            return recall.score, DECLINED
        return recall.score, _incorrect(recall, self._terms)


def _empty(question: Question) -> Judgement:
    """An empty answer says nothing true or false: right where nothing can be said, else worth nothing."""
    score = 0.0 if question.answerable else 1.0
    applies = bool(question.acceptable_answers) or not question.answerable
    return Judgement(
        answer_correctness=score if applies else None,
        groundedness=score,
        error_message=EMPTY if question.answerable else "",
        abstained=True,
    )


def _declines(acceptable: str) -> bool:
    """Is it right to decline; an acceptable answer without words, such as an emoji, does not say so."""
    return any(map(str.isalnum, acceptable)) and is_refusal(acceptable)


def _without_refusals(sentences: Sequence[str]) -> str:
    """What *sentences* say beside declining."""
    clauses = (Statement(clause) for sentence in sentences for clause in _TURN.split(sentence))
    return "\n".join(clause.folded for clause in clauses if not clause.declines)


def _incorrect(recall: Recall, terms: Terms) -> str:
    """What is wrong with an answer of this recall; empty where nothing is."""
    if recall.score >= 1.0:
        return ""
    expected = _quoted(recall.expected)
    if recall.is_opposed:
        return f"the answer says the opposite of {expected}"
    if recall.is_late and not recall.missing:
        return f"the answer comes to {expected} only after much else"
    if recall.score and not recall.missing:
        return f"the answer has the words of {expected} only apart from each other"
    if len(recall.expected) <= _LONGEST_NAMED_WHOLE:
        return f"the answer does not have {expected}"
    missing = recall.missing_as_written(terms)
    named = ", ".join(map(_quoted, missing[:_MOST_WORDS_NAMED]))
    more = f" and {len(missing) - _MOST_WORDS_NAMED} more words" if len(missing) > _MOST_WORDS_NAMED else ""
    return f"the answer does not have {named}{more} of the expected {expected}"


def _ungrounded(grounded: Groundedness) -> str:
    """What the contexts do not support; empty where they support all."""
    worst = grounded.worst
    if worst is None or grounded.score >= 1.0:
        return ""
    sentence = _quoted(worst.sentence)
    if worst.number_instead is not None:
        return f"the contexts have {worst.number_instead} and not {worst.number} in {sentence}"
    if worst.number is not None:
        return f"the contexts do not have the number {worst.number} of {sentence}"
    if worst.score < PASS_LINE:
        return f"the contexts do not support {sentence}"
    return f"the contexts support only in part {sentence}"


def _quoted(text: str) -> str:
    """*text* on one line, in quotes, cut where it is long."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= _LONGEST_QUOTED else f'"{line[: _LONGEST_QUOTED - 1].rstrip()}…"'
