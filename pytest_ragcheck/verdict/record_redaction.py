"""Removes secrets from the material of a judge, and from judgements and judge identities before they are recorded."""

from __future__ import annotations

from pytest_ragcheck.frozen import replace
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.verdict.record import members


def answer_without_secrets(answer: RagAnswer, clean: Redactor) -> RagAnswer:
    return replace(
        answer,
        text=clean.text(answer.text),
        contexts=tuple(map(clean.text, answer.contexts)),
        source_ids=answer.source_ids and tuple(map(clean.text, answer.source_ids)),
        server_source_ids=answer.server_source_ids and tuple(map(clean.text, answer.server_source_ids)),
    )


def expected_without_secrets(question: Question, clean: Redactor) -> Question:
    """The question with its expected answers redacted, as the judge gets them beside a redacted answer."""
    expected = tuple(map(clean.text, question.acceptable_answers))
    if expected == question.acceptable_answers:
        return question
    first = None if question.expected_answer is None else expected[0]
    return replace(question, expected_answer=first, all_acceptable_answers=expected)


def judgement_without_secrets(judgement: Judgement, clean: Redactor) -> Judgement:
    return replace(
        judgement,
        error_message=clean.text(judgement.error_message),
        unsupported_claims=tuple(map(clean.text, judgement.unsupported_claims)),
        served_by=clean.text(judgement.served_by),
    )


def identity_without_secrets(identity: JudgeIdentity | None, clean: Redactor) -> JudgeIdentity | None:
    if identity is None:
        return None
    return JudgeIdentity(**{name: value and clean.text(str(value)) for name, value in members(identity).items()})
