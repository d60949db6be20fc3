"""The page of a trend, as a browser shows it."""

from __future__ import annotations

import random
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.report.html.trend_page import trend_page
from pytest_ragcheck.summary.trend import trend_of
from tests.browser import Shown
from tests.chromium import Screen
from tests.report.hostile import HOSTILE
from tests.report.html.test_page_hostile import seen
from tests.report.results import written
from tests.report.test_access import FOCUSED, contrast
from tests.summary.test_trend import FIRST, a_row, a_run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
    from pytest_ragcheck.summary.trend import TrendRun
    from tests.chromium import Tab

COLOURS = """(() => {
    const pairs = new Set();
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const at = walk.currentNode.parentElement;
        if (!walk.currentNode.data.trim() || !at.checkVisibility()) continue;
        if (at.matches('script, noscript, option, svg *')) continue;
        let ground = at;
        while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
        pairs.add(getComputedStyle(at).color + ' on ' + getComputedStyle(ground).backgroundColor);
    }
    return [...pairs];
})()"""
CELLS = """[...document.querySelectorAll('#list tr')].map(
    row => [...row.querySelectorAll('td')].map(each => each.textContent))"""
NAMES = "[...document.querySelectorAll('#list .id')].map(each => each.textContent)"
CHOOSE = (
    "document.getElementById('{}').value = '{}'; document.getElementById('filters').dispatchEvent(new Event('input'))"
)


def show(tab: Tab, folder: Path, runs: Iterable[TrendRun]) -> Shown:
    tab.open(written(folder / "trend.html", trend_page(trend_of(runs))))
    return Shown(tab.run("document.documentElement.outerHTML"))


def a_judged_row(letter: str, value: float, judge: str = "gpt-5", **said: Any) -> BaselineRow:
    more = {} if letter == "E" else {"metrics": {"groundedness": value}, "judge": JudgeIdentity(kind=judge)}
    return a_row("prices", letter, thresholds={"groundedness": 0.7}, **more, **said)


RUNS = [
    a_run(0, a_judged_row("P", 0.9, answer="Refunds take 30 days."), a_row("terms")),
    a_run(1, a_judged_row("E", 0, reason="judge_timeout: no reply"), a_row("terms"), a_row("added")),
    a_run(2, a_judged_row("F", 0.4, "gpt-6", answer="Refunds take 45 days.", reason="45 is nowhere"), a_row("added")),
]


def test_each_question_has_its_outcome_in_each_run(tab: Tab, tmp_path: Path) -> None:
    told = show(tab, tmp_path, RUNS)
    assert told.texts("h1") == ["rag: 3 runs"]
    assert told.texts("p.gate") == ["Latest run 2026-11-03 00:00 UTC: 1 PASS, 1 FAIL; 1 newly failing: prices"]
    assert tab.run("[...document.querySelectorAll('thead .changed')].map(each => each.textContent)") == ["3*"]
    assert told.texts("li") == ["run 3* judge: gpt-5 -> gpt-6"]
    assert tab.run(NAMES) == [
        "failing since run 3 · prices",
        "passing · added",
        "not in the latest run · terms",
    ]
    # Of an ERROR there is no score, and of an absent question nothing.
    assert tab.run(CELLS) == [["P", "E", "F"], ["", "P", "P"], ["P", "P", ""]]
    tab.run(CHOOSE.format("cells", "groundedness"))
    tab.settle()
    assert tab.run(CELLS)[0] == [".90", "E", ".40"]


def test_the_top_names_some_of_many_newly_failing_questions() -> None:
    names = [f"q{number}" for number in range(7)]
    runs = [a_run(day, *(a_row(name, letter) for name in names)) for day, letter in enumerate("PF")]
    assert "7 FAIL; 7 newly failing: q0, q1, q2, q3, q4, 2 more</span>" in trend_page(trend_of(runs))
    assert "7 FAIL</span>" in trend_page(trend_of([*runs, a_run(2, *(a_row(name, "F") for name in names))]))


def test_an_error_is_a_gap_in_the_line_and_never_a_0(tab: Tab, tmp_path: Path) -> None:
    told = show(tab, tmp_path, RUNS)
    charts = [each.attributes["aria-label"] for each in told.elements if each.tag == "svg"]
    assert charts[1] == "groundedness by run: run 1: 0.900 (0.900 to 0.900, 1); run 3: 0.400 (0.400 to 0.400, 1)"
    paths = tab.run("[...document.querySelectorAll('svg')].map(each => [...each.querySelectorAll('path')].length)")
    assert paths[1] == 4, "two single points, each with its interval, and no line between them"
    assert tab.run("[...document.querySelectorAll('svg')].map(each => each.querySelectorAll('.mark').length)") == [1, 1]


@pytest.mark.parametrize(
    ("value", "top", "bottom"), [(0.0, "0.1", "0"), (1.0, "1", "0.9"), (0.5, "0.6", "0.4"), (3.2, "3.3", "3.1")]
)
def test_the_axis_of_a_metric_that_never_changes_ends_with_its_range(value: float, top: str, bottom: str) -> None:
    row = a_row("prices", "P", metrics={"latency_seconds": value})
    page = trend_page(trend_of([a_run(day, row) for day in range(2)]))
    scale = re.findall(r'<span class="scale" aria-hidden="true"><span>(.*?)</span><span>(.*?)</span>', page)[-1]
    assert scale == (top, bottom)


def test_a_small_value_is_not_shown_as_0(tab: Tab, tmp_path: Path) -> None:
    runs = [
        a_run(day, a_row("prices", "P", metrics={"cost": value, "other": 0.0}))
        for day, value in enumerate((1e-4, 3e-4))
    ]
    told = show(tab, tmp_path, runs)
    assert [text for text in told.texts("p.mean") if text != "1.000"] == ["0.0003", "0.000"]
    charts = [each.attributes["aria-label"] for each in told.elements if each.tag == "svg"]
    assert charts[1] == "cost by run: run 1: 0.0001 (0.0001 to 0.0001, 1); run 2: 0.0003 (0.0003 to 0.0003, 1)"
    tab.run(CHOOSE.format("cells", "cost"))
    tab.settle()
    assert tab.run(CELLS) == [[".0001", ".0003"]]


def test_an_opened_question_shows_its_first_bad_answer_beside_the_last_good_one(tab: Tab, tmp_path: Path) -> None:
    show(tab, tmp_path, RUNS)
    tab.run("document.querySelector('#list button').focus()")
    tab.press("Enter")
    tab.settle()
    assert tab.run("document.querySelector('#list button').getAttribute('aria-expanded')") == "true"
    assert tab.run("[...document.querySelectorAll('.body h3')].map(each => each.textContent)") == [
        "Question",
        "First bad run",
        "Why it failed then",
        "Last good answer, run 1",
        "First bad answer, run 3",
    ]
    assert tab.run("document.querySelectorAll('.body p')[2].textContent") == "run 3: 2026-11-03 00:00 UTC, run-2"
    assert tab.run("['old', 'new'].map(name => document.querySelector(`mark.${name}`).textContent)") == ["30", "45"]
    tab.press("Enter")
    tab.settle()
    assert tab.run("document.querySelectorAll('.body').length") == 0


def test_every_part_is_reached_by_the_keyboard_and_is_in_sight(tab: Tab, tmp_path: Path) -> None:
    show(tab, tmp_path, many_runs(30, 50))
    # The second is the fold of the metrics that are not asserted.
    above = ["skip", "summary", "text", "state", "cells", "button", "map"]
    names = [*above, *["button"] * 30, "summary"]
    reached = []
    for _ in names:
        tab.press("Tab")
        tab.settle()
        reached.append(tab.run(FOCUSED))
    assert reached == [[name, True] for name in names]


def test_questions_are_found_by_text_and_state(tab: Tab, tmp_path: Path) -> None:
    show(tab, tmp_path, RUNS)
    for field, value, found in (("state", "failing", 1), ("state", "", 3), ("text", "ADDED", 1)):
        tab.run(CHOOSE.format(field, value))
        tab.run("new Promise(done => setTimeout(done, 80))")
        assert len(tab.run(NAMES)) == found
    assert tab.run("document.getElementById('shown').textContent") == "1 of 3 questions"


def many_runs(n_questions: int, n_runs: int) -> list[TrendRun]:
    chance = random.Random(7)
    runs = []
    for n in range(n_runs):
        rows = []
        for number in range(n_questions):
            letter = chance.choices("PFE ", (90, 6, 2, 2))[0]
            scores = {} if letter == "E" else {"groundedness": chance.random(), "f1": chance.random()}
            if letter != " ":
                rows.append(a_row(f"q{number}", letter, metrics=scores, thresholds={"groundedness": 0.7}))
        runs.append(a_run(n, *rows, ended=FIRST + timedelta(days=n)))
    return runs


def test_of_many_questions_some_are_shown_and_the_latest_runs_are_in_sight(tab: Tab, tmp_path: Path) -> None:
    show(tab, tmp_path, many_runs(200, 50))
    assert tab.run("document.querySelectorAll('#list tr').length") == 50
    assert tab.run("document.getElementById('more-button').textContent") == "Show more (150 left)"
    tab.run("document.getElementById('more-button').click()")
    assert tab.run("document.querySelectorAll('#list tr').length") == 100
    last, map_ = (
        f"document.querySelector('{each}').getBoundingClientRect().right" for each in ("th:last-child", "#map")
    )
    assert tab.run(f"{last} <= {map_}")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_all_that_is_written_stands_out_from_its_ground(tab: Tab, tmp_path: Path, dark: bool) -> None:
    show(tab, tmp_path, [*many_runs(40, 8), *(a_run(20 + n, *run.rows.values()) for n, run in enumerate(RUNS))])
    tab.show_on(Screen(dark=dark))
    tab.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    tab.run("document.querySelector('#list button').click()")
    tab.settle()
    pairs = set(tab.run(COLOURS))
    tab.run(CHOOSE.format("cells", "groundedness"))
    tab.settle()
    pairs |= set(tab.run(COLOURS))
    assert len(pairs) >= 12
    assert {pair: round(contrast(pair), 2) for pair in pairs if contrast(pair) < 4.5} == {}


def test_hostile_texts_run_nothing_and_make_the_page_no_wider_than_a_phone(tab: Tab, tmp_path: Path) -> None:
    def run(day: int, letter: str) -> TrendRun:
        rows = [
            a_row(f"q{number}", letter, dataset_name=HOSTILE[0], question=text, answer=f"{text}{day}", reason=text)
            for number, text in enumerate(HOSTILE)
        ]
        metrics = {"x" * 100: 0.5}
        rows.append(a_row(HOSTILE[0], letter, metrics=metrics, judge=JudgeIdentity(kind=f"{HOSTILE[1]} {day}")))
        return a_run(day, *rows, name=HOSTILE[2], agent_name=HOSTILE[3])

    show(tab, tmp_path, [run(0, "P"), run(1, "F")])
    tab.show_on(Screen(width=360))
    tab.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    tab.run("document.querySelectorAll('#list button').forEach(each => each.click())")
    tab.settle()
    texts = tab.run("[...document.querySelectorAll('.detail')].map(each => each.querySelector('p.text').textContent)")
    assert sorted(texts) == sorted([*map(seen, HOSTILE), f"{HOSTILE[0]}?"])
    assert tab.run("document.title") == f"{HOSTILE[3]}: 2 runs - pytest-ragcheck"
    assert tab.run("performance.getEntriesByType('resource').length") == 0
    assert tab.run("document.querySelectorAll('img, iframe, object, embed, link, base, a:not(.skip)').length") == 0
    names = tab.run("[...document.querySelectorAll('*')].flatMap(each => each.getAttributeNames())")
    assert [name for name in names if re.match("on|style$", name)] == []
    assert tab.run("document.documentElement.scrollWidth") == 360
