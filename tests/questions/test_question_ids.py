from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.questions.question_ids import derived_id, id_mistake


@pytest.mark.parametrize(
    ("text", "derived"),
    [
        # The digits are the first four of `printf %s TEXT | sha256sum`.
        ("What is the refund window?", "what-is-the-refund-window-eeb7"),
        ("Какой срок возврата?", "какой-срок-возврата-a30b"),
        ("क्या वापसी संभव है?", "क्या-वापसी-संभव-है-e503"),
        ("???", "question-a03b"),
        ("a::b [c]\n", "a-b-c-2e5b"),
        (
            "How long may a customer wait before the refund is lost, and who tells them so?",
            "how-long-may-a-customer-wait-before-the-refund-is-lost-and-835c",
        ),
        ("x" * 70, "x" * 60 + "-c71b"),
    ],
)
def test_a_derived_id_is_words_of_the_text_and_four_digits_of_its_hash(text: str, derived: str) -> None:
    assert derived_id(text) == derived


def test_texts_with_one_beginning_have_different_ids() -> None:
    assert derived_id("x" * 300 + "a") != derived_id("x" * 300 + "b")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_derived_id_is_a_valid_one(text: str) -> None:
    assert id_mistake(derived_id(text)) is None


@pytest.mark.parametrize("text", ["refund-window", "0", "a/b", "a:b", "a b", "квота", "a.b(c)", "'", "-x", "a\\b"])
def test_what_pytest_can_select_is_a_valid_id(text: str) -> None:
    assert id_mistake(text) is None


@pytest.mark.parametrize("text", ["a::b", "a[b]", "]", " a", "a ", "a\nb", "a\u200bb", "a\x1bb", "a\u2028b"])
def test_an_id_that_pytest_cannot_select_is_refused(text: str) -> None:
    assert id_mistake(text) is not None
