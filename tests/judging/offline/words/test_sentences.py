from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.judging.offline.words.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. J. Smith came, i.e. he was here. He left.", ["Dr. J. Smith came, i.e. he was here.", "He left."]),
        ("Open 9 a.m. to 5 p.m. daily. Ring.", ["Open 9 a.m. to 5 p.m. daily.", "Ring."]),
        ("It closes at 5 p.m. Ring then.", ["It closes at 5 p.m.", "Ring then."]),
        ("Steps:\n1. Open it.\n2. Close it.", ["Steps:", "Open it.", "Close it."]),
        ("Caixa:\n1. martelo\n2. chave de fenda", ["Caixa:", "martelo", "chave de fenda"]),
        ("1. Mai bis 3. Juni.\n2. mai", ["1. Mai bis 3. Juni.", "2. mai"]),
        ("- a b\n* c d\n• e f", ["a b", "c d", "e f"]),
        ("It costs 2.5 euros. Really.", ["It costs 2.5 euros.", "Really."]),
        ("三十天内可以退款。请联系我们！", ["三十天内可以退款。", "请联系我们！"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("no full stop", ["no full stop"]),
        ("Es sind 2 Mio. Euro. Gut.", ["Es sind 2 Mio. Euro.", "Gut."]),
        ("... \n\n *", []),
        ("30.", ["30."]),
        (" (b)\n", ["(b)"]),
        ("1. \n2. Open it.", ["Open it."]),
        ("", []),
    ],
)
def test_sentences_are_verbatim_and_without_list_markers(text: str, expected: list[str]):
    assert list(sentences(text)) == expected


@given(st.text())
def test_every_sentence_is_a_part_of_the_text_in_order(text: str):
    place = 0
    for sentence in sentences(text):
        found = text.find(sentence, place)
        assert found >= place
        place = found + len(sentence)
