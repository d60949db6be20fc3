"""The cards of broken questions on the page: side by side, in order, on a phone too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.report.files.results_reader import asked_rows
from pytest_ragcheck.report.terminal.findings_lines import FoundChange
from pytest_ragcheck.report.view import view_of
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.verdict.verdict import Verdict
from tests.chromium import Screen
from tests.making import a_question, a_record, an_error
from tests.report.results import ERRORED, FAILED, PASSED, a_baseline, results_of

if TYPE_CHECKING:
    from tests.chromium import Tab
    from tests.report.conftest import Show

RECORDED = Baseline(
    name="b.json",
    rows={
        ("billing", "prices"): BaselineRow(
            dataset_name="billing",
            id="prices",
            question="What does it cost?",
            verdict=Verdict.PASS,
            answer="It costs 40 euros.",
            metrics={"answer_correctness": 0.9, "groundedness": 0.9},
        )
    },
)
CONFIRMED = FoundChange(title="confirmed as failing", words="failed 5 of 5 times", counts=True)


def marks(tab: Tab, selector: str) -> object:
    return tab.run(f"[...document.querySelectorAll('{selector}')].map(each => each.textContent)")


def test_the_first_failure_is_open_and_all_questions_are_folded(page: Show, tab: Tab) -> None:
    page(results_of(PASSED, ERRORED, FAILED, baseline=a_baseline(prices="PASS", terms="PASS", hours="FAIL")))
    assert tab.run("[...document.querySelectorAll('#broken details.q')].map(each => each.open)") == [True, False]
    assert tab.run("document.querySelector('#broken details.q .id').textContent").startswith("prices · newly failing")
    assert not tab.run("document.querySelector('#list').checkVisibility()")
    assert tab.run("document.querySelector('.versus').checkVisibility()")


def test_a_run_in_which_nothing_broke_shows_its_questions(page: Show, tab: Tab) -> None:
    page(results_of(PASSED))
    assert tab.run("document.querySelector('#list').checkVisibility()")


def test_a_green_run_does_not_say_that_something_broke(page: Show, tab: Tab) -> None:
    told = page(results_of(PASSED, FAILED, gate="", xfailed={("billing", "prices"): "the gate is rate:0.5"}))
    assert told.texts("#broken-title") == ["Failures that were tolerated"]
    assert not tab.run("document.querySelector('#broken details.q').open")
    assert page(results_of(FAILED)).texts("#broken-title") == ["What broke"]


def test_contexts_after_the_second_are_folded(page: Show, tab: Tab) -> None:
    page(results_of(replace(FAILED, contexts=("one", "two", "three", "four"))))
    shown = "[...document.querySelectorAll('ol.contexts li')].filter(each => each.checkVisibility()).length"
    assert (tab.run(shown), marks(tab, ".body details > summary")) == (2, ["2 more"])
    tab.run("document.querySelector('.body details').open = true")
    assert (tab.run(shown), tab.run("document.querySelectorAll('ol.contexts')[1].start")) == (4, 3)


def test_a_difference_is_marked_inside_of_what_the_judge_did_not_find_supported(page: Show, tab: Tab) -> None:
    now = replace(FAILED, answer="It costs 45 euros.", unsupported_claims=("It costs 45 euros.",))
    page(results_of(now, baseline=RECORDED))
    assert marks(tab, "mark.bad") == ["It costs ", "45", " euros."]
    assert marks(tab, "mark.bad.new") == ["45"]
    assert marks(tab, "mark.old") == ["40"]


def test_neighbouring_words_of_a_difference_have_one_mark(page: Show, tab: Tab) -> None:
    page(results_of(replace(FAILED, answer="It costs 45 pounds sterling.", unsupported_claims=()), baseline=RECORDED))
    assert (marks(tab, "mark.old"), marks(tab, "mark.new")) == (["40 euros."], ["45 pounds sterling."])


def test_the_first_failure_is_on_a_phones_first_screen_and_no_column_hides(page: Show, tab: Tab) -> None:
    long = {f"a_metric_with_a_very_long_name_{n}": Score(0.5) for n in range(3)}
    scores = {**FAILED.scores, **long}
    record = replace(FAILED, scores=scores, thresholds=dict.fromkeys(scores, 0.7))
    page(results_of(record, baseline=RECORDED))
    tab.show_on(Screen(width=390, height=844))
    tab.settle()
    assert tab.run("document.querySelector('#broken details.q').getBoundingClientRect().top") < 844
    assert tab.run("document.documentElement.scrollWidth") == 390
    assert (
        tab.run("(() => { const at = document.querySelector('.table'); return at.scrollWidth - at.clientWidth; })()")
        <= 0
    )


def test_equal_errors_have_one_card(page: Show, tab: Tab) -> None:
    refused = (an_error(f"q{n}", reason="http://rag.example: connection refused") for n in range(29))
    page(results_of(*refused, ERRORED))
    assert len(tab.run("[...document.querySelectorAll('#broken details.q')].map(each => each.id)")) == 2
    assert marks(tab, "#broken-list > p") == ["28 more questions have the same ERROR."]
    assert not tab.run("document.querySelector('#broken-rest').checkVisibility()")


def test_the_gates_lines_are_lists_that_lead_to_their_questions(page: Show, tab: Tab) -> None:
    notes = [
        "baseline b.json: 1 confirmed as failing",
        "confirmed as failing:",
        "  prices: too low",
        "    failed 5 of 5",
    ]
    results = results_of(PASSED, FAILED, baseline=RECORDED, gate="1 confirmed", notes=notes)
    page(replace(results, changes={("billing", "prices"): CONFIRMED}))
    assert marks(tab, ".notes > p") == notes[:2]
    assert marks(tab, ".notes li") == ["prices: too lowfailed 5 of 5"]
    assert tab.run("getComputedStyle(document.querySelector('.notes')).fontFamily").find("mono") == -1
    tab.run("document.querySelector('#verdicts input[value=FAIL]').click()")
    tab.run("document.querySelector('.notes a').click()")
    tab.run("new Promise(done => setTimeout(done, 50))")
    assert tab.run("document.querySelector('#list details.q[open] .id').textContent").startswith("prices · newly")
    assert "Gate: confirmed as failing: failed 5 of 5 times" in tab.run(
        "document.querySelector('#list details.q[open] .body').textContent"
    )


def test_a_newly_failing_question_that_does_not_count_has_the_gates_word_for_it() -> None:
    moody = FoundChange(title="passed when asked again", words="failed 1 of 2 times", counts=False)
    key = "billing", "prices"
    results = replace(results_of(PASSED, FAILED, baseline=RECORDED, gate=""), changes={key: moody})
    (_, row) = view_of(replace(results, xfailed={key: "the gate decides"})).rows
    assert row["change"] == "passed when asked again"
    # A leak is red although the question passed when it was asked again.
    assert view_of(results).rows[1]["change"] == "newly failing"


def test_a_turn_shows_the_turns_before_it_and_what_was_expected_of_it(page: Show) -> None:
    first = a_record(question=a_question("refund[turn1]", question="How long?"), answer="30 days.")
    second = replace(FAILED, question=a_question("refund[turn2]", question="And what does it cost?"))
    turns = [
        {"question": "How long?", "all_acceptable_answers": ["30 days"]},
        {"question": "And what does it cost?", "all_acceptable_answers": ["9 euros"], "tags": ["talks"]},
    ]
    asked = asked_rows([{"dataset_name": "billing", "questions": [{"id": "refund", "turns": turns}]}])
    told = page(replace(results_of(first, second), asked=asked), question="billing::refund[turn2]")
    (body,) = told.texts("div.body")
    assert "Turn 1How long?30 days." in body
    assert "Expected9 euros" in body
    assert "refund[turn2] · blame: grounding · talks" in told.texts("span.id")


def test_missing_gold_passages_and_unstable_scores_are_shown(page: Show) -> None:
    results = results_of(FAILED)
    (row,) = results.predictions["predictions"]
    row |= {"repeated": {"groundedness": [[0.3, 0.9], [0.4, 0.4]]}, "unstable": ["groundedness"]}
    rows = [{"id": "prices", "gold_passages": [{"text": "It costs 9."}]}]
    asked = asked_rows([{"dataset_name": "billing", "questions": rows}])
    (body,) = page(replace(results, asked=asked)).texts("div.body")
    assert "Gold passagesIt costs 9." in body
    assert "unstable: groundedness is 0.30 to 0.90 in 4 judgements" in body


def test_latency_and_cost_stand_beside_the_means(page: Show) -> None:
    results = results_of(PASSED)
    performance = {
        "latency_p50_seconds": 0.0042, "latency_p95_seconds": 1.25,
        "first_token_p50_seconds": 0.25, "first_token_p95_seconds": 0.5,
        "judge_input_tokens": 1200, "judge_output_tokens": 340, "cost_usd": 0.0123,
    }  # fmt: skip
    told = page(replace(results, summary={**results.summary, "performance": performance}))
    assert told.texts("article.metric")[-3:] == [
        "latency4 msmedian; 1.25 s p95",
        "first token0.25 smedian; 0.50 s p95",
        "cost$0.0123all that is known; judge 1,200 tokens in, 340 out",
    ]
    del performance["cost_usd"]
    (*_, tokens) = view_of(replace(results, summary={**results.summary, "performance": performance})).figures
    assert (tokens.name, tokens.value, tokens.note) == ("judge tokens", "1,540", "judge 1,200 tokens in, 340 out")
    # A damaged file may lack one of two numbers.
    damaged = {"latency_p50_seconds": 0.5}
    assert view_of(replace(results, summary={**results.summary, "performance": damaged})).figures == ()


def test_a_line_from_right_to_left_keeps_its_order(page: Show, tab: Tab) -> None:
    page(results_of(replace(FAILED, question=a_question("rtl", question="ما هي مدة 30؟"), reason="الجواب خطأ 30")))
    assert tab.run("getComputedStyle(document.querySelector('.asked')).direction") == "rtl"
    assert tab.run("getComputedStyle(document.querySelector('.why')).direction") == "rtl"
