"""The lines of the plugin in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.canned import bad, broken, good
from tests.harness import three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project, Run

HEADER = (
    "ragcheck: endpoint from the rag_client fixture; judge from the rag_judge fixture; "
    "answer_correctness >= 0.7, groundedness >= 0.7; results in ragcheck-results/"
)


@three_ways
def test_a_header_says_what_the_run_will_do(project: Project) -> None:
    project.ask(good("terms"))
    assert project.run().lines.count(HEADER) == 1


def test_the_header_names_endpoint_judge_and_further_thresholds(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [What?]")
    run = project.run(
        "--co",
        "--rag-url=https://me:secret99@staging.example/query?token=abcdefgh&x=1",
        "--rag-judge-model=gpt-5-mini",
        "--rag-min=f1=0.25",
        "--rag-threshold=0.8",
        "--rag-output=out",
    )
    (line,) = [line for line in run.lines if line.startswith("ragcheck: ")]
    assert line.startswith(
        "ragcheck: endpoint https://staging.example/query?token=[redacted]&x=1; judge openai gpt-5-mini; "
    )
    assert line.endswith("; answer_correctness >= 0.8, groundedness >= 0.8, f1 >= 0.25; results in out/")


@three_ways
def test_the_header_names_the_fixtures_that_win_over_the_settings(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    monkeypatch.setenv("RAGCHECK_URL", "http://127.0.0.1:9/query")
    project.ask(good("terms"))
    assert project.run().lines.count(HEADER) == 1


def test_the_header_names_both_where_a_fixture_wins_for_some_files_only(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [What?]")
    project.write("inner/prices.rag.yaml", "questions: [What?]")
    project.write("inner/conftest.py", "def rag_judge(): ...\n")
    (line,) = [line for line in project.run("--co", "--rag-judge=offline").lines if line.startswith("ragcheck: ")]
    assert "; judge offline or from the rag_judge fixture; " in line
    (line,) = [line for line in project.run("--co", "--rag-judge=offline", "inner").lines if "ragcheck: end" in line]
    assert "; judge from the rag_judge fixture, not from --rag-judge; " in line


@two_ways
def test_the_header_names_the_fixtures_and_thresholds_of_an_inner_folder(project: Project) -> None:
    project.write("inner/prices.rag.yaml", "defaults: {thresholds: 0}\nquestions: [What?]")
    fixture = "import pytest\n\n@pytest.fixture(scope='session')\n"
    code = "def rag_client():\n    return lambda query: {'answer': query, 'contexts': [query]}\n"
    project.write("inner/conftest.py", fixture + code)
    first, second = (line for line in project.run("--rag-judge=offline").lines if line.startswith("ragcheck: "))
    assert first.startswith("ragcheck: endpoint from the rag_client fixture; judge offline; ")
    assert "inner__prices" in second


@three_ways
def test_the_header_names_no_fixture_that_does_not_exist(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [What?]")
    run = project.run()
    (line,) = [line for line in run.lines if line.startswith("ragcheck: end")]
    assert line.startswith("ragcheck: endpoint not given; judge not given; ")


def test_the_header_names_the_files_that_set_their_own_thresholds(project: Project) -> None:
    project.ask(good("terms"))
    project.ask(good("news", thresholds=0.9), file="news.rag.yaml")
    assert "ragcheck: thresholds of their own: news" in project.run().lines


def test_the_header_names_the_questions_that_a_typed_threshold_does_not_reach(project: Project) -> None:
    project.ask(good("terms"), good("f1-only", thresholds={"f1": 0.1}))
    project.ask(good("news"), good("old", thresholds=0.8), file="news.rag.yaml", defaults={"thresholds": 0.9})
    assert (
        "ragcheck: --rag-threshold does not reach 2 with thresholds of their own or of their file: "
        "news::news, news::old"
    ) in project.run("--rag-threshold=0.5").lines
    assert "does not reach" not in project.run("-orag_threshold=0.5").text


def test_there_is_no_header_where_no_question_is_left(project: Project) -> None:
    project.ask(good("terms"))
    project.write("test_own.py", "def test_own(): pass\n")
    assert "ragcheck:" not in project.run("-k", "test_own").text


@three_ways
def test_a_verbose_run_shows_the_asserted_scores(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), broken("hours"), good("news", must_mention="30 days"))
    run = project.run("-v")
    shown = {line for line in run.text.splitlines() if "billing.rag.yaml::" in line}
    for node, words in {
        "terms": "PASSED (answer_correctness=1.00 groundedness=1.00)",
        "prices": "FAILED (answer_correctness=1.00 groundedness=0.41)",
        "hours": "ERROR",
        "news": "PASSED (answer_correctness=1.00 groundedness=1.00 must_mention=1.00)",
    }.items():
        assert any(f"::{node}" in line and words in line for line in shown)


def test_a_plain_run_shows_pytests_own_letters(project: Project) -> None:
    project.ask(good("a"), bad("b"), broken("c"), good("d", skip="s"), bad("e", xfail="x"), good("f", xfail="x"))
    run = project.run()
    assert any(line.startswith("billing.rag.yaml .FEsxX") for line in run.lines)


@three_ways
def test_a_table_of_the_metrics_ends_the_run(project: Project) -> None:
    project.ask(
        good("terms", expected_answer="30 days").but(answer="30 days"),
        bad("prices", expected_answer="5 euros").but(answer="5 dollars"),
        broken("hours"),
        good("later", skip="later"),
    )
    run = project.run()
    # f1: 1.0 and 0.5 ("5" of "5 dollars" and "5 euros"), so mean 0.75 and population deviation 0.25.
    assert run.section(" ragcheck ") == [
        "metric               mean    min    max    std  scored  unscored",
        "answer_correctness  1.000  1.000  1.000  0.000       2         0",
        "groundedness        0.705  0.410  1.000  0.295       2         0",
        "1 PASS, 1 FAIL, 1 ERROR, 1 skipped",
        "judge: canned (model-1, canned-1)",
        "results: ragcheck-results/rag_summary.json, rag_predictions.json",
    ]


def test_equal_errors_are_shown_once(project: Project) -> None:
    project.ask(*(broken(name) for name in "abcdefg"), good("z"))
    run = project.run()
    assert run.text.count("ERROR at setup of") == 1
    assert run.section(" ragcheck ")[0] == "7 ERROR: canned: the endpoint is down.: a, b, c, d, e and 2 more"
    assert "billing.rag.yaml EEEEEEE." in run.text
    assert "1 passed, 1 error, 6 errored alike in " in run.text
    assert [line for line in run.lines if line.startswith("ERROR ")] == [
        "ERROR billing.rag.yaml::a - canned: the endpoint is down."
    ]
    assert run.summary["counts"]["error"] == 7


def test_errors_whose_quoted_replies_differ_in_ids_and_the_question_are_equal(project: Project) -> None:
    quoted = '({{"id": "{0}f-8{0}", "detail": "{1}", "input": "What about {0}q?"}})\nSee the log.'
    project.ask(
        *(broken(f"{n}q", f"canned: status 422 {quoted.format(n, 'no question')}") for n in range(9)),
        broken("other", f"canned: status 422 {quoted.format('0', 'no token')}"),
        broken("status", f"canned: status 500 {quoted.format('0', 'no question')}"),
    )
    run = project.run()
    assert run.section(" ragcheck ")[0].startswith(
        '9 ERROR: canned: status 422 ({"id": "0f-80", "detail": "no question"'
    )
    assert "3 errors, 8 errored alike in " in run.text


def test_further_metrics_are_shown_on_demand(project: Project) -> None:
    project.ask(good("terms", expected_answer="30 days"))
    assert not any(line.startswith("f1 ") for line in project.run().lines)
    assert any(line.startswith("f1 ") for line in project.run("-v").lines)


def test_a_run_with_nothing_but_errors_has_no_table(project: Project) -> None:
    project.ask(broken("hours"))
    assert project.run().section(" ragcheck ")[0] == "0 PASS, 0 FAIL, 1 ERROR, 0 skipped"


def test_no_judge_is_named_where_nothing_came_to_one(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest("@pytest.fixture\ndef rag_result(rag_client):\n    raise OSError('no disk')\n")
    run = project.run()
    assert "judge: unknown, because no answer was judged" in run.lines
    assert run.summary["judge"] == {"kind": "unknown", "judges": []}


def test_no_judge_is_named_where_each_answer_makes_it_raise(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest("@pytest.fixture\ndef rag_judge():\n    return lambda question, answer: question.foo\n")
    assert "judge: unknown, because no answer was judged" in project.run().lines


def test_metrics_that_lack_a_score_for_one_reason_share_a_line(project: Project) -> None:
    project.ask(good("terms", gold_passages=[{"doc_id": "terms"}]))
    project.extend_conftest("def half(question): return 0.5\ndef pytest_ragcheck_metrics(): return [half]\n")
    run = project.run()
    gold, half = (line.split(" not measured on 1: ") for line in run.lines if " not measured on 1: " in line)
    assert gold[0] == "recall_at_K, precision_at_K, ndcg_at_K, hit_rate_at_K, mrr, map"
    assert gold[1].startswith("a gold passage has only a doc_id")
    assert half[0] == "half"


def test_unanswerable_questions_add_the_rates_of_abstention(project: Project) -> None:
    project.ask(
        good("terms"),
        good("gold", answerable=False).but(answer="I cannot say.", abstained=True),
        good("silver", answerable=False).but(abstained=False),
    )
    assert "abstention: unanswerable_accuracy 0.500, fpr 0.000, fnr 0.500" in project.run().lines


@pytest.mark.parametrize("options", [["-p", "no:terminal"], ["-p", "no:cacheprovider"], ["-p", "no:junitxml"]])
def test_pytests_own_plugins_may_be_missing(project: Project, options: list[str]) -> None:
    project.ask(good("terms"), bad("prices"))
    if "no:junitxml" in options:
        project.junit = False
    run = project.run(*options)
    assert run.exit_status == 1
    assert run.verdicts == {"terms": "PASS", "prices": "FAIL"}


def test_the_plugin_can_be_switched_off(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [What?]")
    project.write("test_own.py", "def test_own(): pass\n")
    run = project.run("-p", "no:ragcheck")
    assert run.outcomes == {"passed": 1}


def test_a_quiet_run_keeps_the_table(project: Project) -> None:
    project.ask(good("terms"))
    lines = project.run("-q").lines
    assert "1 PASS, 0 FAIL, 0 ERROR, 0 skipped" in lines
    assert not [line for line in lines if line.startswith("ragcheck:")]


def test_durations_and_other_reports_go_on_working(project: Project) -> None:
    project.ask(good("terms"), bad("prices"))
    run = project.run("--durations=0", "-rA", "-vv")
    assert any("call" in line and "billing.rag.yaml::terms" in line for line in run.lines)
    assert "PASSED billing.rag.yaml::terms" in run.lines


LONG = "The contexts say nothing about the price of a parcel that a customer sends back from another country. " * 3


def rows(run: Run, width: int) -> int:
    """The rows that the run takes on a terminal, without pytester's own two lines."""
    return sum(max(1, -(-len(line) // width)) for line in run.progress)


@pytest.mark.parametrize("width", [80, 120])
def test_ten_failures_fit_on_two_screens(project: Project, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.delenv("CI", raising=False)
    wordy = (bad(f"q{n}", reason=LONG, expected_answer="30 euros").but(answer=LONG) for n in range(10))
    project.ask(*wordy, *(good(f"p{n}") for n in range(20)))
    run = project.run()
    assert rows(run, width) <= 80
    reason, question, answer = run.section(" q0 ")
    assert reason.startswith("groundedness 0.41: The contexts say nothing about the price")
    assert question == "question  What about q0?  expected: 30 euros"
    assert answer.startswith("answer    The contexts say nothing")
    assert all(line.endswith("...") and len(line) <= width for line in (reason, answer))
    assert "shortened: 10 of the failures above; -v shows them whole" in run.section(" ragcheck ")
    # JUnit's file and -v have the whole text.
    assert " ".join(LONG.split()) in run.junit["q0"][1]
    whole = project.run("-v")
    assert any(line.startswith("context 1 ") for line in whole.section(" q9 "))
    assert "shortened: " not in whole.text


def test_few_failures_are_shown_whole(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    project.ask(*(bad(f"q{n}", reason=LONG) for n in range(3)))
    run = project.run()
    assert any(line.startswith("context 1 ") for line in run.section(" q2 "))
    assert "shortened: " not in run.text


def test_a_log_of_ci_has_the_whole_reasons(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("COLUMNS", "80")
    project.ask(*(bad(f"q{n}", reason=LONG) for n in range(20)))
    run = project.run()
    assert run.section(" q19 ")[0] == f"groundedness 0.41 < 0.70: {LONG.strip()}"


@pytest.mark.parametrize("width", [80, 120])
def test_the_reason_is_whole_in_the_short_summary_where_it_fits(
    project: Project, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.delenv("CI", raising=False)
    project.ask(bad("prices"))
    (line,) = project.run().short_summary
    assert line.startswith("FAILED billing.rag.yaml::prices - No price is in the contexts. (grounded")


def test_a_dead_endpoint_fits_on_one_screen(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    project.junit = False
    project.ask(*(broken(f"refund-window-of-plan-{n}") for n in range(30)))
    run = project.run()
    assert rows(run, 80) <= 25
    assert run.section(" ragcheck ")[0] == (
        "30 ERROR: canned: the endpoint is down.: refund-window-of-plan-0 and 29 more"
    )


def test_equal_errors_that_leave_no_room_for_a_name_are_one_row(project: Project) -> None:
    project.ask(*(broken(f"refund-window-of-plan-{n}", f"canned: {'no route to host ' * 3}") for n in range(3)))
    assert project.run().section(" ragcheck ")[0] == f"3 ERROR: canned: {'no route to host ' * 3}".rstrip()


def test_many_unequal_errors_are_shortened_too(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("CI", raising=False)
    project.junit = False
    project.ask(*(broken(f"q{n}", f"canned: request {n} failed.\nTry it again.\nSee {LONG}") for n in range(10)))
    run = project.run()
    assert run.section("setup of q9") == ["canned: request 9 failed.", "Try it again.", "question  What about q9?"]
    assert rows(run, 80) <= 80


def test_the_scorecard_has_the_asserted_metrics(project: Project) -> None:
    project.ask(good("terms", expected_answer="30 days"))
    project.ask(good("news"), file="news.rag.yaml")
    assert not any(line.startswith("f1 ") for line in project.run().section(" ragcheck "))
    assert any(line.startswith("answer_correctness ") for line in project.run().section(" ragcheck ")[4:])
    assert any(line.startswith("f1 ") for line in project.run("-v").section(" ragcheck ")[8:])


def test_repeats_say_how_much_of_the_variance_is_the_judges(project: Project) -> None:
    project.ask(good("terms"), good("prices"), broken("hours"))
    project.extend_conftest(
        """
@pytest.fixture(scope="session")
def rag_client():
    class Client(CannedRag):
        n = 0

        async def ask(self, question):
            answer = await super().ask(question)
            self.n += question.id == "terms"
            return RagAnswer(text=f"{question.id} {self.n}", contexts=answer.contexts)

    return Client()


@pytest.fixture(scope="session")
def rag_judge():
    scores = {"terms 1": iter([0.9, 0.7]), "terms 2": iter([0.5, 0.3])}
    return lambda question, answer: Judgement(
        answer_correctness=1.0, groundedness=next(scores[answer.text]) if question.id == "terms" else 1.0
    )
"""
    )
    run = project.run("-orag_repeats=2", "-orag_judge_repeats=2")
    # Of `terms` both answers have the variance 0.02, and their means 0.8 and 0.4 have 0.08, which is 0.02 / 2 too much.
    # Of `prices` all is 0: the judge's part is the mean of four, the system's of two.
    assert run.summary["repeats"]["unstable"] == {"groundedness": 1}
    assert run.summary["repeats"]["variance"]["groundedness"] == {"judge": 0.01, "system": 0.035}
    assert run.summary["repeats"]["variance"]["answer_correctness"] == {"judge": 0.0, "system": 0.0}
    lines = run.section(" ragcheck ")
    assert [line for line in lines if line.startswith(("variance", "unstable: groundedness of"))] == [
        "variance of groundedness: 0.0100 the judge's, 0.0350 the system's",
        "unstable: groundedness of terms",
    ]
    assert "repeats" not in project.run().summary
