from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.metrics.similarity import exact_match, token_f1


def squad_words(text: str) -> list[str]:
    """SQuAD's normalisation with ours of accents and quotation marks, by other means than the package's."""
    plain = re.sub("[\u2018-\u201f]", "", unicodedata.normalize("NFC", text).lower())
    kept = [
        char for char in plain if not (char.isascii() and char.isprintable() and not char.isalnum() and char != " ")
    ]
    words = re.split(r"(\W)", "".join(kept))
    return "".join(" " if word in {"a", "an", "the"} else word for word in words).split()


def squad_f1(answer: str, accepted: str) -> float:
    """2 x shared words / all words, which is the harmonic mean of precision and recall."""
    left, right = squad_words(answer), squad_words(accepted)
    if not left or not right:
        return float(left == right)
    rest = list(right)
    for word in left:
        if word in rest:
            rest.remove(word)
    return 2 * (len(right) - len(rest)) / (len(left) + len(right))


WORDS = st.sampled_from(
    ["a", "an", "the", "The", "A.", "the-cat", "cat", "Cat!", "30", "days", "$5", "5%", "über", "Δ", "ß", "ẞ", "İ",
     "срок", "“the”", "the\u00a0cat", "30\u202fdays", "…", "、", "_", "_the_", "the\u0301", "\u200b", "\t", "\n", "",
     "क्या", "期限は30日", "¿the?", "l'an", "!!"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=20)
SOME = st.lists(TEXTS, min_size=1, max_size=4)


@given(TEXTS, SOME)
def test_both_agree_with_an_implementation_of_their_own(answer: str, acceptable: list[str]) -> None:
    assert exact_match(answer, acceptable) == max(squad_words(answer) == squad_words(text) for text in acceptable)
    assert token_f1(answer, acceptable) == pytest.approx(max(squad_f1(answer, text) for text in acceptable), abs=1e-12)


@pytest.mark.parametrize(
    ("answer", "acceptable", "match", "f1"),
    [
        ("December 1972", ["14 December 1972 UTC", "December 1972", "1972"], 1.0, 1.0),
        # P = 2/2, R = 2/4
        ("December 1972", ["14 December 1972 UTC"], 0.0, 2 * 1 * 0.5 / 1.5),
        # 1 shared of 4 and 3 words: P = 1/4, R = 1/3
        ("the cat sat on mats", ["a cat, two dogs"], 0.0, 2 / 7),
        # "to be or not to be" 6 words, "to be" 2: P = 2/6, R = 2/2
        ("to be or not to be", ["to be"], 0.0, 0.5),
        ("The Cat.", ["cat"], 1.0, 1.0),
        ("“cat”", ["cat"], 1.0, 1.0),
        ("cafe\u0301 d\u2019Orsay", ["caf\u00e9 d'Orsay"], 1.0, 1.0),
        ("", ["cat"], 0.0, 0.0),
        ("cat", [""], 0.0, 0.0),
        ("", [""], 1.0, 1.0),
        ("the.", ["A!"], 1.0, 1.0),
        ("A", ["A", "Option A"], 1.0, 1.0),
        ("30\u00a0days", ["30 days"], 1.0, 1.0),
        ("Срок: 30 дней", ["срок 30 дней"], 1.0, 1.0),
    ],
)
def test_hand_computed_values(answer: str, acceptable: list[str], match: float, f1: float) -> None:
    assert exact_match(answer, acceptable) == match
    assert token_f1(answer, acceptable) == pytest.approx(f1)


@given(TEXTS, SOME)
def test_both_lie_between_zero_and_one_and_a_match_is_a_full_f1(answer: str, acceptable: list[str]) -> None:
    match, f1 = exact_match(answer, acceptable), token_f1(answer, acceptable)

    assert match in {0.0, 1.0}
    assert match <= f1 <= 1.0
    assert type(match) is type(f1) is float


@given(TEXTS, SOME, TEXTS)
def test_a_further_accepted_answer_never_lowers_a_score(answer: str, acceptable: list[str], further: str) -> None:
    for measure in (exact_match, token_f1):
        assert measure(answer, [*acceptable, further]) == max(measure(answer, acceptable), measure(answer, [further]))
