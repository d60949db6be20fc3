"""The HTML report, as a browser shows it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.report.html.page import page_of
from pytest_ragcheck.report.view import view_of
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.gate.baseline_reader import Baseline
from tests.making import a_record
from tests.report.results import ERRORED, FAILED, PASSED, a_baseline, results_of

if TYPE_CHECKING:
    from tests.chromium import Tab
    from tests.report.conftest import Show

THREE = results_of(PASSED, FAILED, ERRORED, baseline=a_baseline(terms="FAIL", prices="PASS", gone="PASS"))


def test_the_top_says_what_came_of_the_run(page: Show) -> None:
    told = page(THREE)
    assert told.texts("h1") == ["rag: billing"]
    assert told.texts("p.gate") == ["Red 1 FAIL (1 newly failing), 1 ERROR, 1 of the baseline's questions missing"]
    assert told.texts("li.PASS") + told.texts("li.FAIL") + told.texts("li.ERROR") == ["1 PASS", "1 FAIL", "1 ERROR"]
    assert "Judgeoffline (offline-1)" in told.texts("div")
    assert [text.split("0.")[0] for text in told.texts("article.metric")] == [
        "answer_correctness",
        "groundedness",
        "latency",
    ]
    # 0.8 and 0.4; in the baseline 0.8 and 0.8, and 0.8 for the missing question.
    assert told.texts("p.mean")[1] == "0.600-0.200 against 0.800"


def test_a_change_of_refusals_has_no_colour(page: Show) -> None:
    now = replace(PASSED, scores={"groundedness": Score(0.9), "abstained": Score(1.0)})
    (before,) = a_baseline(terms="PASS").rows.values()
    before = replace(before, metrics={"groundedness": 0.8, "abstained": 0.0})
    told = page(results_of(now, baseline=Baseline(name="b.json", rows={before.key: before})), question="billing::terms")
    assert [text for text in told.texts("p.mean") if "+1.000" in text] == ["1.000+1.000 against 0.000"]
    assert told.texts("small.up") == ["+0.100 against 0.800"]
    assert told.texts("td.up") == ["+0.100"]
    assert told.texts("td.down") == []


def test_a_green_run_says_so(page: Show) -> None:
    told = page(results_of(PASSED))
    assert told.texts("p.gate") == ["Green the one question that ran passed"]
    assert told.texts("#shown") == ["1 question"]


def test_a_run_without_questions_has_a_page_too(page: Show) -> None:
    told = page(results_of())
    assert told.texts("p.gate") == ["Empty no question was asked"]
    assert told.texts("#shown") == ["No question was asked."]


def test_questions_come_failures_first_and_are_found_by_what_is_chosen(page: Show) -> None:
    badges = page(THREE).texts("span.badge")
    broken, listed = badges[:2], badges[2:]
    assert broken == ["FAIL", "ERROR"]
    assert listed == ["FAIL", "ERROR", "PASS"]
    for chosen, found in {
        ("outcome", "PASS,ERROR"): ["hours", "terms"],
        ("text", "GIRAFFES"): ["prices"],
        ("tag", "payments"): ["terms"],
        ("blame", "grounding"): ["prices"],
        ("change", "newly passing"): ["terms"],
        ("sort", "groundedness, lowest first"): ["prices", "terms", "hours"],
        ("text", "nowhere to be found"): [],
    }.items():
        told = page(THREE, **{chosen[0]: chosen[1]})
        assert [text.split(" · ")[0] for text in told.texts("span.id")[2:]] == found
        if len(found) < 3:
            assert told.texts("#shown") == [f"{len(found)} of 3 questions"]


def shown_difference(page: Show, tab: Tab, recorded: str, answer: str) -> tuple[list[str], list[str]]:
    before = a_baseline(prices="PASS")
    rows = {("billing", "prices"): replace(before.rows["billing", "prices"], answer=recorded)}
    page(results_of(replace(FAILED, answer=answer, unsupported_claims=()), baseline=replace(before, rows=rows)))
    tab.run("document.querySelector('#broken details.q').open = true")
    tab.settle()
    gone, added = (texts_in(tab, f".versus mark.{kind}") for kind in ("old", "new"))
    return gone, added


def texts_in(tab: Tab, selector: str) -> list[str]:
    texts: list[str] = tab.run(f"[...document.querySelectorAll('{selector}')].map(each => each.textContent)")
    return texts


def test_a_changed_answer_stands_beside_the_recorded_one_with_the_difference_marked(page: Show, tab: Tab) -> None:
    marked = shown_difference(page, tab, "Refunds take 30 days in shops.", "Refunds take 45 days in all shops.")
    assert texts_in(tab, ".versus h3") == ["Recorded answer", "Answer"]
    assert marked == (["30"], ["45", "all"])


@pytest.mark.parametrize("n_words", [1_000, 50_000])
def test_one_changed_word_of_a_long_answer_is_marked(page: Show, tab: Tab, n_words: int) -> None:
    same = " ".join(f"word{n}" for n in range(n_words))
    old, new = f"Begin here. {same} 30 days {same}", f"Begin there. {same} 60 days {same}"
    assert shown_difference(page, tab, old, new) == (["here.", "30"], ["there.", "60"])
    assert texts_in(tab, ".versus > p") == []


def test_answers_that_differ_in_too_many_words_have_a_note(page: Show, tab: Tab) -> None:
    old, new = (" ".join(f"{name}{n}" for n in range(601)) for name in ("old", "new"))
    assert shown_difference(page, tab, old, new) == ([], [])
    assert texts_in(tab, ".versus > p") == [
        "The difference is not marked: more than 1,200 words are in one answer only."
    ]
    marked = shown_difference(page, tab, old.rsplit(" ", 1)[0], new.rsplit(" ", 1)[0])
    assert [len(texts.split()) for (texts,) in marked] == [600, 600]


def test_the_long_stretches_of_an_answer_without_a_mark_are_folded(page: Show, tab: Tab) -> None:
    same = "\U0001f600" * 8_000
    shown_difference(page, tab, f"{same} 30 {same}", f"{same} 60 {same}")
    # Of 16,000 UTF-16 units before the mark and behind it, all but about 1,000 at either end, or at one.
    assert texts_in(tab, ".versus details.fold > summary") == ["14,000 more characters", "15,002 more characters"] * 2
    assert texts_in(tab, ".versus .char") == []
    # A hidden text has no inner text.
    assert tab.run("document.querySelector('.versus div.text').innerText.includes('30')")
    shown_difference(page, tab, "x" * 11_000, "30")
    assert texts_in(tab, ".versus details.fold") == []


def test_an_opened_question_shows_all_that_is_known(page: Show) -> None:
    told = page(THREE, question="billing::prices")
    (body,) = told.texts("div.body")
    assert told.texts("mark.bad") == ["giraffes are extra"]
    assert told.texts("p.reason") == ["giraffes are nowhere in the contexts"]
    for part in (
        "The system should decline to answer.",
        "groundedness0.400.700.80-0.40",
        "In the baseline: PASS",
        "What was said of prices.",
    ):
        assert part in body
    assert " ".join(told.texts("mark.good")) == ""


def test_a_minimum_is_shown_with_its_own_decimals(page: Show) -> None:
    told = page(results_of(replace(FAILED, thresholds={"groundedness": 0.725})), question="billing::prices")
    assert "groundedness0.400.725" in told.texts("div.body")[0]


def test_what_supports_the_answer_is_marked_in_the_contexts(page: Show) -> None:
    told = page(THREE, question="billing::terms")
    assert "The money goes back to the card." in told.texts("mark.good")
    (body,) = told.texts("div.body")
    assert "Expected30 days" in body
    assert "f1 could not be measured: no tokens" in body
    assert "Answered in 0.25 s." in body


def test_a_sentence_does_not_end_within_a_number(page: Show) -> None:
    context = "The threshold of groundedness is 0.7. (Version 2.1 had none.) Delivery is free."
    record = a_record(answer="The threshold of groundedness is 0.7! Version 2.1 had none.", contexts=(context,))
    told = page(results_of(record), question="billing::refunds")
    assert told.texts("mark.good") == ["The threshold of groundedness is 0.7.", "(Version 2.1 had none.", "Marked"]


def test_an_error_shows_what_happened(page: Show) -> None:
    (body,) = page(THREE, question="billing::hours").texts("div.body")
    assert "Error: endpoint_timeouthttp://localhost/query: no reply within 60 s Raise rag_timeout." in body


def test_nothing_is_loaded_and_only_its_own_script_and_style_may_apply() -> None:
    text = page_of(view_of(THREE))
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'", policy)


def test_of_many_questions_some_are_shown_and_all_are_counted(page: Show) -> None:
    records = [a_record(f"q{number}", scores={"groundedness": number / 1000}) for number in range(1000)]
    told = page(results_of(*records))
    assert told.texts("#shown") == ["1,000 questions"]
    assert 50 <= len(told.texts("summary")) < 1000


@pytest.mark.parametrize("linked", ["q150", "q199"])
def test_a_linked_question_is_opened_and_in_view(page: Show, tab: Tab, linked: str) -> None:
    records = [a_record(f"q{number}", answer="One of the words. " * 30) for number in range(200)]
    page(results_of(*records), question=f"billing::{linked}")
    place = f"document.getElementById('q-{linked[1:]}').querySelector('.body').getBoundingClientRect()"
    assert tab.run(f"{place}.top") >= 0
    assert tab.run(f"{place}.bottom <= innerHeight")


def test_a_metric_says_what_is_not_in_its_mean_and_how_far_its_judge_is_trusted() -> None:
    results = results_of(PASSED, a_record("other", scores={"f1": 0.5}))
    trusted = {"f1": {"accuracy": 0.87, "n": 300}}
    text = page_of(view_of(replace(results, summary={**results.summary, "judge_agreement": trusted})))
    assert "1 question, 1 could not be measured, agrees with people on 87% of 300 answers" in text


@pytest.mark.parametrize("values", [(0.0,), (1.0,), (0.05, 0.15, 0.15, 0.999)])
def test_the_distribution_counts_every_value(values: tuple[float, ...]) -> None:
    results = results_of(*(a_record(f"q{n}", scores={"f1": value}) for n, value in enumerate(values)))
    (metric,) = view_of(results).metrics
    assert sum(metric.bins) == len(values)
    assert metric.bins[0] == sum(value < 0.1 for value in values)
    assert metric.bins[9] == sum(value >= 0.9 for value in values)


def test_the_page_is_as_red_as_the_gate_is(page: Show) -> None:
    excused = {("billing", "prices"): "the gate is rate:0.5"}
    told = page(results_of(PASSED, FAILED, gate="", xfailed=excused), question="billing::prices")
    assert told.texts("p.gate") == ["Green 1 of 2 passed, 1 FAIL tolerated"]
    assert "Tolerated: the gate is rate:0.5" in told.texts("div.body")[0]
    assert told.texts("span.id")[0].startswith("prices · tolerated · ")
    told = page(results_of(PASSED, FAILED, ERRORED, gate="pass rate 0.500 is below 0.6", xfailed=excused))
    assert told.texts("p.gate") == ["Red 1 ERROR, pass rate 0.500 is below 0.6"]
