"""Exact match and F1 against the SQuAD v2 program in transformers."""

from __future__ import annotations

import re
import unicodedata
import warnings
from typing import Any

from pytest_ragcheck.metrics.similarity import exact_match, token_f1

from .comparison import check, program
from .texts import UNICODE, pairs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the one in transformers, not another installed package
    squad: Any = program("transformers.data.metrics.squad_metrics")

CASES = 20_000


def plain(text: str) -> str:
    """The text in composed characters and without curly quotation marks, which the program tells from plain ones."""
    return re.sub("[\u2018-\u201f]", "", unicodedata.normalize("NFC", text))


def test_both_are_those_of_the_squad_v2_program() -> None:
    differences = {"exact_match": [0.0], "f1": [0.0]}
    for raw_answer, raw_accepted in pairs(UNICODE, CASES, seed=7):
        answer, accepted = plain(raw_answer), list(map(plain, raw_accepted))
        # The program leaves out an accepted answer that normalises to nothing where there are others; see the page.
        counted = [text for text in accepted if squad.normalize_answer(text)] or [""]
        theirs = max(squad.compute_exact(text, answer) for text in counted)
        differences["exact_match"].append(abs(exact_match(answer, counted) - theirs))
        theirs = max(squad.compute_f1(text, answer) for text in counted)
        differences["f1"].append(abs(token_f1(answer, counted) - theirs))
    for metric, found in differences.items():
        check(metric, cases=CASES, largest=max(found))
