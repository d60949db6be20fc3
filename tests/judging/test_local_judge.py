"""The local judge without a model: its spans, its score, and the packages that it lacks."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.classifier_model import EXAMPLE
from pytest_ragcheck.judging.judge_choice import choose_judge
from pytest_ragcheck.judging.local_judge import (
    VERSION,
    LocalJudge,
    share_of_clean_sentences,
    unsupported_spans,
    weakness,
)
from pytest_ragcheck.judging.local_model import INSTALL_LOCAL
from pytest_ragcheck.judging.offline.words.sentences import sentences
from pytest_ragcheck.judging.token_classifier import LONGEST, TOKENS_AT_ONCE, AnswerToken
from tests.docs.pages import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterable


def tokens(text: str, *pieces: tuple[str, float]) -> list[AnswerToken]:
    """The tokens of the text, in order, each with its probability."""
    found: list[AnswerToken] = []
    for piece, probability in pieces:
        start = text.index(piece, found[-1].end if found else 0)
        found.append(AnswerToken(start=start, end=start + len(piece), probability=probability))
    return found


def marked(text: str, *pieces: tuple[str, float]) -> list[tuple[str, float]]:
    return [(text[span.start : span.end], span.probability) for span in unsupported_spans(text, tokens(text, *pieces))]


def test_neighbouring_tokens_above_one_half_are_one_span_with_the_highest_probability() -> None:
    text = "You have sixty days, not thirty."
    assert marked(
        text, ("You", 0.1), (" have", 0.5), (" sixty", 0.9), (" days", 0.7), (",", 0.2), (" thirty", 0.6)
    ) == [("sixty days", 0.9), ("thirty", 0.6)]


@pytest.mark.parametrize(
    ("text", "piece", "whole"),
    [
        ("The unrefundable fee.", "refund", "unrefundable"),
        ("It costs 1299 euros.", "29", "1299"),
        ("Die Rückgabe ist möglich.", "gab", "Rückgabe"),
        # Vowel signs are no letters, and neither is a separate accent.
        ("वापसी तीस दिनों में।", "िन", "दिनों"),
        ("Das Bu\u0308ro schließt.", "u\u0308", "Bu\u0308ro"),
        ("반품은 30일 이내입니다.", "품", "반품은"),
        # Scripts without spaces between words: the marked characters are the word.
        ("退货期限为三十天。", "三十", "三十"),
        ("返品は三十日以内です。", "三十日", "三十日"),
        ("คืนสินค้าได้ภายในสามสิบวัน", "สามสิบ", "สามสิบ"),
    ],
)
def test_a_span_is_of_whole_words(text: str, piece: str, whole: str) -> None:
    assert marked(text, (piece, 0.8)) == [(whole, 0.8)]


def test_a_span_ends_with_its_sentence() -> None:
    assert marked(
        "It is 60. Ninety for members.\n- 10\n- 20", ("60", 0.9), (" Ninety", 0.8), ("10", 0.7), ("20", 0.6)
    ) == [
        ("60", 0.9),
        ("Ninety", 0.8),
        ("10", 0.7),
        ("20", 0.6),
    ]


def test_the_message_quotes_the_start_of_a_long_span() -> None:
    text = "day " * 200
    spans = unsupported_spans(text, tokens(text, *[("day", 0.9)] * 200))
    assert weakness(text, spans) == f'the contexts do not support "{"day " * 74}day…" (probability 0.90)'


def test_tokens_of_spaces_alone_and_of_the_same_word_make_no_further_span() -> None:
    assert marked("You have  sixty days.", ("  ", 0.9)) == []
    assert marked("It is unrefundable.", ("un", 0.6), ("able", 0.8)) == [("unrefundable", 0.8)]


@pytest.mark.parametrize(
    ("text", "pieces", "share"),
    [
        ("You have 30 days. Members have 90 days. Returns are free.", [("90", 0.9)], 2 / 3),
        ("You have 30 days. Members have 90 days.", [("30", 0.9), ("90", 0.9)], 0.0),
        ("You have 30 days. Members have 90 days.", [("30", 0.5)], 1.0),
        ("- 30 days\n- 90 days\n- 10 days\n- 5 days", [("10", 0.51)], 3 / 4),
        ("!?", [("!", 0.9)], 1.0),
    ],
)
def test_the_score_is_the_share_of_sentences_without_a_span(
    text: str, pieces: Iterable[tuple[str, float]], share: float
) -> None:
    assert share_of_clean_sentences(text, unsupported_spans(text, tokens(text, *pieces))) == pytest.approx(share)


@given(st.lists(st.sampled_from(["One. ", "two", " ", "3\n", "! "]), max_size=30), st.data())
def test_the_share_counts_each_sentence_that_a_span_touches(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    places = [(match.start(), match.end()) for match in re.finditer(r"\w+", text)]
    chosen = [AnswerToken(start=a, end=b, probability=data.draw(st.sampled_from([0.1, 0.9]))) for a, b in places]
    spans = unsupported_spans(text, chosen)
    clean, end, found = 0, 0, list(sentences(text))
    for sentence in found:
        start = text.index(sentence, end)
        end = start + len(sentence)
        clean += not any(span.start < end and start < span.end for span in spans)
    assert share_of_clean_sentences(text, spans) == (clean / len(found) if found else 1.0)


def test_it_says_that_it_needs_a_model() -> None:
    with pytest.raises(UsageError) as caught:
        choose_judge(Settings.of(judge="local"))
    assert str(caught.value) == (
        "the local judge needs a model: set rag_judge_model or RAGCHECK_JUDGE_MODEL to a folder or a name on the hub"
    )


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_it_names_the_extra_where_its_packages_are_not_installed() -> None:
    with pytest.raises(UsageError) as chosen:
        choose_judge(Settings.of(judge="local", judge_model="tiny"))
    with pytest.raises(UsageError) as caught:
        LocalJudge("tiny")
    assert str(chosen.value) == str(caught.value)
    missing = "torch" if find_spec("transformers") else "torch and transformers"
    assert str(caught.value) == (
        f'the local judge needs {missing}, not installed here: pip install "pytest-ragcheck[local]"'
    )


PAGE = (DOCS / "reference" / "judge-local.md").read_text(encoding="utf-8")


def test_the_page_has_the_limits_the_command_and_the_names_of_the_program() -> None:
    assert f"at most {LONGEST:,} tokens at once" in PAGE
    assert f"forward passes of up to {TOKENS_AT_ONCE:,} tokens" in PAGE
    assert f"`{VERSION}` and that of the offline judge" in PAGE
    assert INSTALL_LOCAL in PAGE
    assert f"`{EXAMPLE}`" in PAGE


def test_the_failure_that_the_page_shows_has_the_words_of_the_judge() -> None:
    text = "Members have 90 days. Others have 60 days."
    spans = unsupported_spans(text, tokens(text, ("60", 0.998)))
    assert f"answer    {text}\n" in PAGE
    assert f"groundedness {share_of_clean_sentences(text, spans):.2f} < 0.70: {weakness(text, spans)}\n" in PAGE
