"""The report in Markdown: regressions first, texts unchanged, and within the size limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.report.html.page import page_of
from pytest_ragcheck.report.view import view_of
from pytest_ragcheck.report.write_report import markdown_of
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record
from tests.report.results import ERRORED, FAILED, PASSED, a_baseline, results_of

if TYPE_CHECKING:
    from pytest_ragcheck.report.files.results_reader import Results


def test_regressions_come_first_then_failures_then_errors() -> None:
    other = a_record(question=a_question("old"), verdict=FAILED.verdict, reason="still")
    baseline = a_baseline(terms="FAIL", prices="PASS", old="FAIL", hours="PASS")
    text = markdown_of(view_of(results_of(PASSED, other, ERRORED, FAILED, baseline=baseline)))
    assert text.startswith(
        "## ❌ rag: billing: 2 FAIL (1 newly failing), 1 ERROR; newly failing: prices\n\n"
        "1 PASS, 2 FAIL, 1 ERROR\n\n<details>\n"
    )
    headings = [line for line in text.splitlines() if line.startswith("### ")]
    assert headings == [
        "### Newly failing: 1",
        "### Failing: 1",
        "### Could not be measured: 1",
        "### Newly passing: 1",
    ]
    assert (
        "- **billing::prices** What does it cost?  \n  groundedness 0.40 \\< 0.70: giraffes are nowhere in the "
        "contexts  \n  recorded: What was said of prices.  \n  answer: It costs 40 euros, and giraffes are extra.  \n"
        "  blame: grounding\n"
    ) in text
    assert text.count("recorded: ") == 1
    assert "  http:\u200b//localhost/query: no reply within 60 s  \n  Raise rag\\_timeout.\n" in text
    assert "| groundedness | 0.600 | 0.7 | 2 | 0.800 | -0.200 |\n" in text


def test_long_answers_are_shown_where_they_differ() -> None:
    said = " ".join(f"Clause {n} is as before." for n in range(100))
    old, new = (f"{said} Refunds are possible within {days} days. {said}" for days in (30, 60))
    before = a_baseline(prices="PASS")
    rows = {("billing", "prices"): replace(before.rows["billing", "prices"], answer=old)}
    text = markdown_of(view_of(results_of(replace(FAILED, answer=new), baseline=replace(before, rows=rows))))
    recorded, answer = (line for line in text.splitlines() if line.startswith(("  recorded: ", "  answer: ")))
    assert recorded.startswith(
        "  recorded: ... Clause 99 is as before. Refunds are possible within 30 days. Clause 0 is"
    )
    assert answer.startswith("  answer: ... Clause 99 is as before. Refunds are possible within 60 days. Clause 0 is")
    assert [line[-5:] for line in (recorded, answer)] == ["...  "] * 2


def test_equal_scores_are_no_difference_to_the_baseline() -> None:
    names = [f"q{number}" for number in range(21)]
    rows = [
        BaselineRow(dataset_name="billing", id=i, question="?", verdict=Verdict.PASS, metrics={"f1": 0.333333})
        for i in names
    ]
    baseline = Baseline(name="b.json", rows={row.key: row for row in rows})
    records = [a_record(name, scores={"f1": 0.333333}) for name in names]
    # Added one by one, these numbers have a mean of 0.33333299999999993.
    assert "| f1 | 0.333 |  | 21 | 0.333 | +0.000 |\n" in markdown_of(view_of(results_of(*records, baseline=baseline)))


def test_a_low_score_is_named_with_its_minimum() -> None:
    record = a_record("prices", verdict=FAILED.verdict, scores={"f1": 0.4}, thresholds={"f1": 0.5}, reason="too short")
    assert "  f1 0.40 \\< 0.50: too short\n" in markdown_of(view_of(results_of(record)))


def test_a_green_run_is_short() -> None:
    assert markdown_of(view_of(results_of(PASSED))).startswith(
        "## ✅ rag: billing: the one question that ran passed\n\n1 PASS\n"
    )


def an_attacked_run() -> Results:
    """Two attacks, one of which got through although the gold passage was among the contexts."""
    results = results_of(PASSED)
    counts = {"planted": 2, "retrieved": 1, "got_through": 0, "retrieval": 0, "generation": 0}
    attacks = {"override": {**counts, "got_through": 1, "generation": 1}, "link": counts}
    return replace(results, summary={**results.summary, "injection": attacks})


def test_the_attacks_of_planted_documents_have_a_table() -> None:
    view = view_of(an_attacked_run())
    table = [
        "| attack | planted | retrieved | got through | by retrieval | by generation |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| override | 2 | 1 | 1 | 0 | 1 |",
        "| link | 2 | 1 | 0 | 0 | 0 |",
    ]
    assert "\n".join(table) in markdown_of(view)
    cells = "".join(f"<td>{cell}</td>" for cell in ("override", 2, 1, 1, 0, 1))
    assert "<h3>Planted documents</h3>" in page_of(view)
    assert f"<tr>{cells}</tr>" in page_of(view)
    assert "Planted documents" not in markdown_of(view_of(results_of(PASSED)))


def test_the_heading_counts_several_datasets() -> None:
    other = a_record(question=a_question("q", dataset_name="shop"))
    assert markdown_of(view_of(results_of(PASSED, other))).startswith(
        "## ✅ rag: 2 datasets: all 2 questions that ran passed\n"
    )


def test_a_run_that_asked_nothing_is_neither_red_nor_green() -> None:
    assert markdown_of(view_of(results_of())).startswith("## ⚪ rag: session: no question was asked\n")


def test_texts_mention_nobody_link_nowhere_and_stay_in_their_line() -> None:
    nasty = "@everyone see #12 and https://evil.example\n# heading\n| cell | <img src=x> ![i](x) \x1b[31m"
    text = markdown_of(view_of(results_of(a_record(question=a_question("q", question=nasty), verdict=FAILED.verdict))))
    (line,) = [line for line in text.splitlines() if "everyone" in line]
    assert "@\u200beveryone" in line
    assert "\\#\u200b12" in line
    assert "https:\u200b//" in line
    assert "\\<img src=x\\> \\!\\[i\\](x) \\[U+001B\\]\\[31m" in line


def test_no_line_is_a_command_to_a_ci_runner() -> None:
    commands = "::error::x ##[error]y ##vso[task]z \u3164"
    record = a_record("prices", verdict=FAILED.verdict, reason=commands)
    text = markdown_of(view_of(results_of(record, notes=[commands, f"a\n  {commands}"])))
    assert text.count("error") >= 2
    assert "##" not in text.replace("## ❌", "").replace("### ", "")
    assert "\u3164" not in text
    assert not [line for line in text.splitlines() if line.strip().startswith("::")]


def test_what_the_gate_said_stands_in_a_fence_that_nothing_ends() -> None:
    notes = ["baseline b.json: 1 newly failing", "```", "````<img src=x> @everyone\x07", *["more"] * 40]
    text = markdown_of(view_of(results_of(FAILED, notes=notes)))
    block = text.partition("`````text\n")[2].partition("\n`````\n")[0].splitlines()
    assert block[:3] == ["baseline b.json: 1 newly failing", "```", "````<img src=x> @everyone[U+0007]"]
    assert len(block) == 31
    assert block[-1] == "... the run's output has 13 more lines"
    assert text.index("`````") < text.index("### Failing")


def test_one_more_line_is_counted_as_one() -> None:
    text = markdown_of(view_of(results_of(FAILED, notes=["line"] * 31)))
    assert "\n... the run's output has 1 more line\n" in text


def test_it_is_never_longer_than_what_takes_it() -> None:
    records = [a_record(f"q{n}", verdict=FAILED.verdict, reason="because " * 30) for n in range(500)]
    text = markdown_of(view_of(results_of(*records)), most_chars=20_000)
    assert len(text) <= 20_000
    shown = text.count("- **billing::")
    assert 50 < shown < 500
    assert text.endswith(f"\nThe result files have {500 - shown} more questions.\n\n</details>\n")
