"""The HTML report can be used without a mouse, and its colours have enough contrast."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.chromium import Screen
from tests.report.many import many
from tests.report.results import ERRORED, FAILED, PASSED, a_baseline, results_of

if TYPE_CHECKING:
    from tests.chromium import Tab
    from tests.report.conftest import Show

FOCUSED = """(() => {
    const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
    const seen = box.left >= 0 && box.top >= 0 && box.bottom <= innerHeight && parseFloat(style.outlineWidth) >= 2;
    return [at.id || at.value || at.className || at.localName, seen && style.outlineStyle !== 'none'];
})()"""

COLOURS = """(() => {
    const pairs = new Set();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const unseen = 'script, style, noscript, option, svg *';
    while (walk.nextNode()) {
        const at = walk.currentNode.parentElement;
        if (!walk.currentNode.data.trim() || !at.checkVisibility() || at.matches(unseen)) continue;
        let ground = at;
        while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
        pairs.add(getComputedStyle(at).color + ' on ' + getComputedStyle(ground).backgroundColor);
    }
    const card = getComputedStyle(document.querySelector('.metric')).backgroundColor;
    const shapes = [...document.querySelectorAll('rect')].map(each => getComputedStyle(each).fill + ' on ' + card);
    const field = document.getElementById('text');
    pairs.add(getComputedStyle(field, '::placeholder').color + ' on ' + getComputedStyle(field).backgroundColor);
    shapes.push(getComputedStyle(field).borderTopColor + ' on ' + card);
    return [[...pairs], shapes];
})()"""


def contrast(pair: str) -> float:
    """The ratio of two colours, 1..21. Source: WCAG 2.2, relative luminance."""
    darker, lighter = sorted(map(_luminance, pair.split(" on ")))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_contrast_is_counted_as_the_standard_does() -> None:
    assert contrast("rgb(0, 0, 0) on rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(119, 119, 119) on rgb(255, 255, 255)") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_that_is_written_stands_out_from_its_ground(page: Show, tab: Tab, dark: bool) -> None:
    page(many(60), text="e")
    tab.show_on(Screen(dark=dark))
    tab.run("document.querySelectorAll('details.q').forEach(each => { each.open = true; })")
    tab.settle()
    written, shapes = tab.run(COLOURS)
    assert len(written) >= 12
    # WCAG 2.2 AA: 4.5 for text, 3 for everything else.
    assert {pair: round(contrast(pair), 2) for pair in written if contrast(pair) < 4.5} == {}
    assert {pair: round(contrast(pair), 2) for pair in shapes if contrast(pair) < 3} == {}


def test_every_part_is_reached_by_the_keyboard_in_the_order_in_which_it_is_seen(page: Show, tab: Tab) -> None:
    page(results_of(PASSED, FAILED, ERRORED, baseline=a_baseline(terms="FAIL", prices="PASS")))
    tab.run("document.getElementById('questions').open = true")
    reached: list[list[object]] = []
    while len(reached) < 30 and (len(reached) < 2 or reached[-2][0] != "button"):
        tab.press("Tab")
        tab.settle()
        reached.append(tab.run(FOCUSED))
    # The first question that broke is open, with its scores; then the second, the facts and all questions.
    above = ["skip", "summary", "table", "summary", "summary", "summary"]
    names = [*above, "FAIL", "ERROR", "PASS", "text", "tag", "blame", "change", "sort", "button", "summary"]
    assert reached == [[name, True] for name in names]
    tab.press("Enter")
    tab.settle()
    assert tab.run("document.querySelector('#list details.q').open")
    tab.press("Tab")
    assert tab.run(FOCUSED)[0] == "table", "what may scroll can be scrolled"
    assert tab.run("[...document.querySelectorAll('input, select')].filter(each => !each.labels.length).length") == 0


def test_the_first_key_leads_past_the_numbers(page: Show, tab: Tab) -> None:
    page(many(30))
    for key in ("Tab", "Enter", "Tab"):
        tab.press(key)
    tab.settle()
    assert tab.run(FOCUSED) == ["FAIL", True]


def test_what_is_looked_for_is_marked_inside_of_other_marks_too(page: Show, tab: Tab) -> None:
    page(results_of(FAILED), text="40 euros, and gir")
    tab.run("document.querySelector('details.q').open = true")
    tab.settle()
    assert tab.run("[...document.querySelectorAll('mark.hit')].map(each => each.textContent)") == [
        "40 euros, and ",
        "gir",
    ]
    assert tab.run("document.querySelector('mark.bad').textContent") == "giraffes are extra"


def test_paper_has_the_reasons_and_no_controls(page: Show, tab: Tab) -> None:
    page(results_of(FAILED))
    tab.show_on(Screen(paper=True, dark=True))
    assert not tab.run("document.getElementById('filters').checkVisibility()")
    tab.run("dispatchEvent(new Event('beforeprint'))")
    assert tab.run("document.querySelector('#list .why').checkVisibility()")
    # Dark ink in every colour scheme.
    assert tab.run("getComputedStyle(document.body).color") == "rgb(28, 32, 36)"
    assert tab.paper().startswith(b"%PDF-")
