"""The HTML report, as a browser shows it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from pytest_ragcheck.report.html.page import page_of
from pytest_ragcheck.report.view import view_of
from tests.browser import Shown, shown
from tests.making import a_question, a_record
from tests.report.results import ERRORED, FAILED, PASSED, a_baseline, results_of, written

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.report.results import Results

THREE = results_of(PASSED, FAILED, ERRORED, baseline=a_baseline(terms="FAIL", prices="PASS", gone="PASS"))

HOSTILE = (
    "<script>document.title='run'</script>",
    "</script><script>document.title='run'</script>",
    "<img src=x onerror=\"document.title='run'\">",
    "<svg onload=\"document.title='run'\"><script>document.title='run'</script></svg>",
    "<svg><animate onbegin=\"document.title='run'\" attributeName=x dur=1s></svg>",
    "<iframe srcdoc=\"<script>parent.document.title='run'</script>\"></iframe>",
    "</style><script>document.title='run'</script>",
    "<style>body { display: none }</style>",
    '<a href="javascript:document.title=1">x</a>',
    "<details open ontoggle=\"document.title='run'\">x</details>",
    "<body onload=\"document.title='run'\">",
    "<input autofocus onfocus=\"document.title='run'\">",
    "<math><mtext><script>document.title='run'</script></mtext></math>",
    "<!--<script>document.title='run'//-->",
    "<![CDATA[<script>document.title='run'</script>]]>",
    "<meta http-equiv=refresh content='0;url=about:blank'>",
    "<base href='http://127.0.0.1:9/'>",
    "<link rel=stylesheet href='http://127.0.0.1:9/x.css'>",
    "<form action=x><button formaction='javascript:1'>x</button></form>",
    "<template><script>document.title='run'</script></template>",
    "`${document.title='run'}`",
    "\\u003cscript\\u003edocument.title='run'\\u003c/script\\u003e",
    "&lt;script&gt;document.title='run'&lt;/script&gt;",
    "line\u2028separator\u2029and paragraph",
    "null \x00 byte and bell \x07",
    "\u202egnirts desrever\u202c",
    "\u2066isolated\u2069 zero\u200bwidth",
    "lone \ud800 surrogate",
    "{{constructor.constructor('document.title=1')()}}",
    "'\"><script>document.title='run'</script>",
)


def page(folder: Path, results: Results, **shown_as: str) -> Shown:
    path = written(folder / "report.html", page_of(view_of(results)))
    return shown(path, "&".join(f"{name}={quote(value)}" for name, value in shown_as.items()))


def test_the_top_says_what_came_of_the_run(tmp_path: Path) -> None:
    told = page(tmp_path, THREE)
    assert told.texts("h1") == ["rag: billing"]
    assert told.texts("p.gate") == ["Red 1 FAIL (1 newly failing), 1 ERROR, 1 of the baseline's questions missing"]
    assert told.texts("li.PASS") + told.texts("li.FAIL") + told.texts("li.ERROR") == ["1 PASS", "1 FAIL", "1 ERROR"]
    assert "Judgeoffline (offline-1)" in told.texts("div")
    assert [text.split("0.")[0] for text in told.texts("article.metric")] == ["answer_correctness", "groundedness"]
    # 0.8 and 0.4, of which the baseline says 0.8 and 0.8, and 0.8 of the one that is gone.
    assert told.texts("p.mean")[1] == "0.600-0.200 against 0.800"


def test_a_green_run_says_so(tmp_path: Path) -> None:
    told = page(tmp_path, results_of(PASSED))
    assert told.texts("p.gate") == ["Green the one question that ran passed"]
    assert told.texts("#shown") == ["1 question"]


def test_a_run_without_questions_has_a_page_too(tmp_path: Path) -> None:
    told = page(tmp_path, results_of())
    assert told.texts("p.gate") == ["Green no question was asked"]
    assert told.texts("#shown") == ["No question was asked."]


def test_questions_come_failures_first_and_are_found_by_what_is_chosen(tmp_path: Path) -> None:
    badges = page(tmp_path, THREE).texts("span.badge")
    assert badges == ["FAIL", "ERROR", "PASS"]
    for chosen, found in {
        ("outcome", "PASS,ERROR"): ["hours", "terms"],
        ("text", "GIRAFFES"): ["prices"],
        ("tag", "payments"): ["terms"],
        ("blame", "grounding"): ["prices"],
        ("change", "newly passing"): ["terms"],
        ("sort", "groundedness, lowest first"): ["prices", "terms", "hours"],
        ("text", "nowhere to be found"): [],
    }.items():
        told = page(tmp_path, THREE, **dict([chosen]))
        assert [text.split(" · ")[0] for text in told.texts("span.id")] == found
        if len(found) < 3:
            assert told.texts("#shown") == [f"{len(found)} of 3 questions"]


def test_an_opened_question_shows_all_that_is_known(tmp_path: Path) -> None:
    told = page(tmp_path, THREE, question="billing::prices")
    (body,) = told.texts("div.body")
    assert told.texts("mark.bad") == ["giraffes are extra"]
    assert told.texts("p.reason") == ["giraffes are nowhere in the contexts"]
    for part in (
        "The system should decline to answer.",
        "groundedness0.400.700.80-0.40",
        "Baseline: PASS",
        "What was said of prices.",
    ):
        assert part in body
    assert " ".join(told.texts("mark.good")) == ""


def test_what_supports_the_answer_is_marked_in_the_contexts(tmp_path: Path) -> None:
    told = page(tmp_path, THREE, question="billing::terms")
    assert "The money goes back to the card." in told.texts("mark.good")
    (body,) = told.texts("div.body")
    assert "Expected30 days" in body
    assert "f1 could not be measured: no tokens" in body
    assert "Answered in 0.25 s." in body


def test_an_error_shows_what_happened(tmp_path: Path) -> None:
    (body,) = page(tmp_path, THREE, question="billing::hours").texts("div.body")
    assert "Error: endpoint_timeouthttp://localhost/query: no reply within 60 s Raise rag_timeout." in body


def test_hostile_texts_run_nothing_and_are_all_shown(tmp_path: Path) -> None:
    names = [f"q{number}" for number in range(len(HOSTILE))]
    records = [
        a_record(
            question=a_question(name, question=text, expected_answer=text, dataset_name=HOSTILE[0]),
            answer=text,
            contexts=(text,),
            reason=text,
            unsupported_claims=(text,),
        )
        for name, text in zip(names, HOSTILE, strict=True)
    ]
    results = replace(results_of(*records), notes=list(HOSTILE))
    told = page(tmp_path, results, question=f"{HOSTILE[0]}::q0")
    assert told.texts("title") == [f"rag: {HOSTILE[0]} - pytest-ragcheck"]
    assert len(told.texts("summary")) == len(HOSTILE)
    assert told.tags.isdisjoint({"img", "iframe", "base", "link", "math", "template", "animate"})
    assert all(not name.startswith("on") for element in told.elements for name in element.attributes)
    (asked,) = [text for text in told.texts("summary") if text.endswith("q0")]
    assert HOSTILE[0] in asked
    everything = " ".join(told.texts("summary"))
    for code in ("U+0000", "U+0007", "U+202E", "U+2066", "U+200B", "U+D800"):
        assert code in everything
    assert "[U+0000]" in told.texts("pre.notes")[0]


def test_nothing_is_loaded_and_only_its_own_script_and_style_may_apply(tmp_path: Path) -> None:
    text = page_of(view_of(THREE))
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'", policy)


def test_of_many_questions_some_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    records = [a_record(f"q{number}", scores={"groundedness": number / 1000}) for number in range(1000)]
    told = page(tmp_path, results_of(*records))
    assert told.texts("#shown") == ["1000 questions"]
    assert 100 <= len(told.texts("summary")) < 1000


@pytest.mark.parametrize("values", [(0.0,), (1.0,), (0.05, 0.15, 0.15, 0.999)])
def test_the_distribution_counts_every_value(values: tuple[float, ...]) -> None:
    results = results_of(*(a_record(f"q{n}", scores={"f1": value}) for n, value in enumerate(values)))
    (metric,) = view_of(results).metrics
    assert sum(metric.bins) == len(values)
    assert metric.bins[0] == sum(value < 0.1 for value in values)
    assert metric.bins[9] == sum(value >= 0.9 for value in values)
