from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ragcheck.judging.offline.words.normalized_text import normalised, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("退款期限", ["退款", "款期", "期限"]),
        ("30人内", ["30", "人", "人内"]),
        ("30天内", ["30", "days", "内"]),
        ("猫", ["猫"]),
        ("iPhone手机", ["iphone", "手机"]),
        ("返金", ["返金"]),
        ("酒店不允许", ["酒店", "not", "可以"]),
        ("酒店严禁", ["酒店", "not", "可以"]),
        ("酒店能", ["酒店", "店可", "可以"]),
        ("不得不", ["not", "得", "not"]),
        ("可能", ["可能"]),
        ("喫煙禁止です", ["喫煙", "not", "です"]),
        ("可不可以", ["可不", "不可", "可以"]),
    ],
)
def test_scripts_without_word_boundaries_give_pairs_of_characters(text: str, expected: list[str]):
    assert words(text) == expected


def test_vowel_signs_do_not_break_words():
    assert words("राम हिन्दी बोलता है।") == ["राम", "हिन्दी", "बोलता", "है"]


def test_emoji_and_punctuation_are_no_words():
    assert words("Ja! 🎉 — „gut“ … ¿no?") == ["ja", "gut", "no"]


@pytest.mark.parametrize(
    ("misread", "text"),
    [
        ("10â€“12 years", "10–12 years"),
        ("2.45Â\u00a0billion", "2.45 billion"),
        ("cafÃ©", "café"),
        ("itâ€™s", "it's"),
    ],
)
def test_text_that_was_read_in_the_wrong_encoding_is_read_again(misread: str, text: str):
    assert words(misread) == words(text)


@pytest.mark.parametrize("text", ["Ângela", "São Paulo", "âge", "â€x", "Ã\u0081b"])
def test_what_only_looks_as_if_it_was_misread_stays(text: str):
    assert words(text) == words(text.casefold())


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
@example("²¼")
def test_normalising_twice_changes_nothing_in_the_words(text: str):
    assert words(normalised(text)) == words(text)


@pytest.mark.parametrize("text", ["１／１３", "31／03/2025", "1.1².2000"])
def test_a_date_in_wide_digits_is_a_date(text: str):
    assert words(normalised(text)) == words(text)
    assert not {"january", "march", "december"}.isdisjoint(words(text))
