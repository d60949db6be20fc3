"""Hostile texts in the HTML report: none runs, and each is shown as it is."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.chromium import Screen
from tests.making import a_question, a_record
from tests.report.hostile import HOSTILE
from tests.report.results import results_of

if TYPE_CHECKING:
    from tests.chromium import Tab
    from tests.report.conftest import Show

OPEN_ALL = "document.querySelectorAll('details.q').forEach(each => { each.open = true; })"
TEXTS = """[...document.querySelectorAll('details.q')].map(
    each => [...each.querySelectorAll('p.text')].map(paragraph => paragraph.textContent))"""
ELEMENTS = "[...document.querySelectorAll('*')]"
OURS = """
    a article b bdi body br button dd details div dl dt fieldset footer form h1 h2 h3 head header html input
    label legend li main mark meta noscript ol option p pre rect script section select small span strong style
    summary svg table tbody td th thead title tr ul wbr
"""


def seen(text: str) -> str:
    """The text as a reader sees it: invisible characters by their codes."""
    joined = re.sub("(?<=[\U0001f468\U0001f469])\u200d", "\n", text)
    shown = "".join(f"U+{ord(char):04X}" if _is_hidden(char) else char for char in joined)
    return shown.replace("\n", "\u200d")


def _is_hidden(char: str) -> bool:
    return char != "\n" and (unicodedata.category(char) in {"Cc", "Cf", "Cs"} or char in "\u115f\u3164")


def test_hostile_texts_run_nothing_and_are_all_shown(page: Show, tab: Tab) -> None:
    records = [
        a_record(
            question=a_question(f"q{number}", question=text, expected_answer=text, dataset_name=HOSTILE[0]),
            answer=text,
            contexts=(text,),
            reason=text,
            unsupported_claims=(text,),
        )
        for number, text in enumerate(HOSTILE)
    ]
    told = page(replace(results_of(*records), notes=list(HOSTILE)), text="", question=f"{HOSTILE[0]}::q0")
    tab.run(OPEN_ALL)
    tab.settle()
    # Reason, expected, answer, context: each is there four times.
    assert tab.run(TEXTS) == [[seen(text)] * 4 for text in HOSTILE]
    assert tab.run("document.title") == f"rag: {HOSTILE[0]} - pytest-ragcheck"
    assert tab.run("performance.getEntriesByType('resource').length") == 0
    assert "[U+0000]" in told.texts("div.notes")[0]
    assert set(tab.run(f"{ELEMENTS}.map(each => each.localName)")) <= set(OURS.split())
    assert tab.run(f"{ELEMENTS}.flatMap(e => e.getAttributeNames()).filter(name => /^on|^style$/.test(name))") == []


def test_no_text_makes_the_page_wider_than_a_phone(page: Show, tab: Tab) -> None:
    text = HOSTILE[-2]
    path = f"https://docs.example/{'path/' * 100}terms.md"
    record = a_record(
        question=a_question(text[:200], question=text, expected_answer=text, dataset_name=text[:200]),
        answer=text,
        contexts=(text,),
        source_ids=(path,),
        reason=text,
        scores={f"ragas_answer_correctness_{'x' * 80}": 0.5},
    )
    page(replace(results_of(record), notes=[text]))
    tab.show_on(Screen(width=360))
    tab.run(OPEN_ALL)
    tab.settle()
    assert tab.run("document.documentElement.scrollWidth") == 360
