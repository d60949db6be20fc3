"""The facts are read from a reply, and a reply without them is an error."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.model.reply_object import expected_object
from pytest_ragcheck.metrics.ragas.ragas_facts import AnswerFacts
from tests.metrics.ragas.finding import NONCE, facts_text, statement

EXPECTED = expected_object("facts", AnswerFacts)


def test_the_facts_are_read_field_by_field():
    text = facts_text(
        statements=[statement(), statement(" In cash. ", in_reference=False, supported=False)],
        missing_statements=["A receipt is needed.", " "],
        noncommittal=True,
    )
    assert EXPECTED.read(f"<think>Hm.</think>```json\n{text}\n```", nonce=NONCE).model_dump() == {
        "nonce": NONCE,
        "statements": (
            {"statement": "It is 30 days.", "in_reference": True, "supported_by_context": True},
            {"statement": "In cash.", "in_reference": False, "supported_by_context": False},
        ),
        "missing_statements": ("A receipt is needed.",),
        "generated_questions": ("How long?", "Until when?", "How many days?"),
        "noncommittal": True,
        "context_ratings": (2, 1),
    }


def test_no_statements_and_nothing_missing_are_facts_too():
    facts = EXPECTED.read(facts_text(statements=[], missing_statements=...), nonce=NONCE)
    assert (facts.statements, facts.missing_statements) == ((), ())


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"statements": ...}, "statements is missing"),
        ({"statements": None}, "statements is null, not a list"),
        ({"statements": ["It is 30 days."]}, 'statements.0 is "It is 30 days.", not an object'),
        ({"statements": [{"statement": "A."}]}, "statements.0.in_reference is missing"),
        ({"statements": [statement("")]}, "statements.0.statement is empty"),
        ({"statements": [statement(supported="yes")]}, 'statements.0.supported_by_context is "yes", not true or false'),
        ({"statements": [statement(in_reference=1)]}, "statements.0.in_reference is 1.0, not true or false"),
        ({"missing_statements": "none"}, 'missing_statements is "none", not a list of strings'),
        ({"generated_questions": ["How long?", "", "When?"]}, "generated_questions holds 2 questions, not 3"),
        ({"generated_questions": ...}, "generated_questions is missing"),
        ({"noncommittal": None}, "noncommittal is null, not true or false"),
        ({"context_ratings": [2]}, "context_ratings is not a list of two ratings"),
        ({"context_ratings": [2, 3]}, "context_ratings holds 3, which is not 0, 1 or 2"),
        ({"context_ratings": [2, 0.5]}, "context_ratings holds 0.5, which is not 0, 1 or 2"),
        ({"context_ratings": [2, "high"]}, 'context_ratings is "high", not a number'),
    ],
)
def test_facts_that_cannot_be_are_refused_with_what_is_wrong(fields, problem):
    with pytest.raises(JudgeReplyError) as caught:
        EXPECTED.read(facts_text(**fields), nonce=NONCE)
    assert problem in str(caught.value)


def test_facts_that_an_answer_brought_along_are_not_taken():
    echoed = facts_text("0000000000000000", context_ratings=[2, 2])
    with pytest.raises(JudgeReplyError, match=r'^the field "nonce" does not hold the value that was asked for$'):
        EXPECTED.read(echoed, nonce=NONCE)
    assert EXPECTED.read(echoed + facts_text(context_ratings=[0, 0]), nonce=NONCE).context_ratings == (0, 0)


def test_a_field_that_a_statement_has_twice_is_refused():
    twice = facts_text().replace('"in_reference": true', '"in_reference": true, "in_reference": false')
    with pytest.raises(JudgeReplyError, match=r"^in_reference occurs in one object more than once$"):
        EXPECTED.read(twice, nonce=NONCE)


def test_the_schema_that_is_sent_is_strict_all_through_and_takes_the_facts():
    schema = dict(EXPECTED.schema)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(facts_text()))
    statements = schema["properties"]["statements"]["items"]
    for part in (schema, statements):
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)
    assert "$defs" not in json.dumps(schema)
