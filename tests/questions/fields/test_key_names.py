from __future__ import annotations

import pytest

from pytest_ragcheck.questions.fields.key_names import (
    DEFAULTS,
    FILE,
    INVERTED,
    PASSAGE,
    QUESTION,
    Vocabulary,
    near_match,
)


@pytest.mark.parametrize("vocabulary", [QUESTION, PASSAGE, DEFAULTS, FILE])
def test_no_name_means_two_things(vocabulary: Vocabulary) -> None:
    names = [name for key, aliases in vocabulary.aliases.items() for name in (key, *aliases)]

    assert len(names) == len(set(names)) == len(vocabulary.real_names)
    assert not vocabulary.refused.keys() & set(names)


def test_the_names_that_say_the_opposite_stand_for_answerable() -> None:
    assert {QUESTION.real_names[name] for name in INVERTED} == {"answerable"}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("quesiton", "question"),
        ("Question", "question"),
        ("expected-answer", "expected_answer"),
        ("expectedAnswer", "expected_answer"),
        ("thresold", "threshold"),
        ("mustMention", "must_mention"),
        ("difficulty", None),
        # Assertions and opposites are no misspelt answers.
        ("expected_facts", None),
        ("expected_outcome", None),
        ("expected_tools", None),
        ("incorrect_answers", None),
        ("not_expected_answer", None),
        ("unacceptable_answers", None),
        ("", None),
    ],
)
def test_a_near_match_is_what_was_probably_meant(typed: str, meant: str | None) -> None:
    assert near_match(typed, tuple(QUESTION.real_names)) == meant
