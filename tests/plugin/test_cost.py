"""The cost of a run: estimated before it, counted during it, and limited."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from tests.harness import three_ways
from tests.metrics.ragas.finding import finds
from tests.servers.canary_judge import says_of_canaries
from tests.servers.fake_endpoint import FakeEndpoint, json_reply
from tests.servers.openai_server import OpenAIServer, by_path, completion, embeds, verdict, verdict_text
from tests.servers.openai_server import json_reply as judge_reply

if TYPE_CHECKING:
    from tests.harness import Project
    from tests.servers.openai_server import Reply, Request

ANSWER = {"answer": "30 days", "contexts": ["Within 30 days."], "metrics": {"input_tokens": 5, "cost_usd": 0.001}}


def metered(request: Request) -> Reply:
    """A verdict with its tokens: at 1 dollar a million tokens it costs 0.0011."""
    reply: Any = json.loads(completion(verdict_text(request.nonce)).body)
    return judge_reply({**reply, "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})


def metered_or_facts(request: Request) -> Reply:
    """The facts of the RAGAS metrics cost as much as a verdict."""
    reply = finds()(request) if "generated_questions" in request.prompt else metered(request)
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    return judge_reply({**json.loads(reply.body), "usage": usage})


@pytest.fixture
def six(project: Project) -> Project:
    rows = [{"id": f"q{n}", "question": f"{n}?", "expected_answer": "30 days"} for n in range(6)]
    project.write("six.rag.json", json.dumps(rows))
    project.write("pytest.ini", "[pytest]\nrag_judge_price = 1 1\n")
    return project


@three_ways
def test_a_run_that_reaches_its_limit_reports_the_rest_as_not_run(six: Project) -> None:
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(metered) as judge:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        run = six.run(*given, "--rag-max-cost=0.004", "--rag-concurrency=1", "-rs")
    assert run.exit_status == 1
    passed, skipped = run.outcomes["passed"], run.outcomes["skipped"]
    assert (passed + skipped, len(judge.requests)) == (6, passed)
    assert 2 <= passed <= 4
    summary = run.document("rag.partial_summary.json")
    assert (summary["complete"], summary["n_not_run"], summary["counts"]["skipped"]) == (False, skipped, 0)
    assert f"cost: --rag-max-cost of $0.004 was reached: {skipped} not run" in run.lines
    judged, replied = 0.0011 * len(judge.requests), 0.001 * len(endpoint.requests)
    assert f"cost: spent ${judged + replied:.4f}: judge ${judged:.4f}, system ${replied:.4f}" in run.lines
    assert "not run: --rag-max-cost of $0.004 is reached (spent $0.00" in run.text


def test_what_an_answer_cost_that_the_limit_leaves_unjudged_is_counted(six: Project) -> None:
    def after_all_are_asked(request: Request) -> Reply:
        while len(endpoint.requests) < 6:
            time.sleep(0.01)
        return metered(request)

    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(after_all_are_asked) as judge:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        run = six.run(*given, "--rag-max-cost=0.0011", "--rag-concurrency=6", "-o", "rag_judge_concurrency=1")
    assert (len(judge.requests), run.outcomes) == (1, {"passed": 1, "skipped": 5})
    assert "cost: spent $0.0071: judge $0.0011, system $0.0060" in run.lines


@three_ways
def test_a_limit_that_cannot_count_the_judge_says_so(six: Project) -> None:
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(metered, verdict()) as judge:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        run = six.run(*given, "--rag-max-cost=1")
        said = "cost: --rag-max-cost did not count 5 verdicts, because the judge's server reported no tokens for them"
        assert (run.exit_status, said in run.lines) == (0, True)
        assert "did not count" not in six.run(*given).text
    six.write("recorded.json", json.dumps(run.predictions))
    assert "did not count" not in six.run("--rag-replay=recorded.json", "--rag-max-cost=1").text


@three_ways
def test_the_end_of_a_run_shows_what_the_preflight_and_errors_cost_too(six: Project) -> None:
    def unsure(request: Request) -> Reply:
        reply: Any = json.loads((completion("Fine.") if " 5?" in request.prompt else says_of_canaries()(request)).body)
        return judge_reply({**reply, "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})

    six.write("six.rag.json", json.dumps([{"id": f"q{n}", "question": f"Number {n}?"} for n in range(6)]))
    reply = {"answer": "30 days", "contexts": ["30 days"]}
    with FakeEndpoint(json_reply(reply)) as endpoint, OpenAIServer(unsure) as judge:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        run = six.run(*given, "-o", "rag_disable=cache")
    # Six trials, five verdicts, and two replies without one.
    assert len(judge.requests) == 13
    assert "cost: judge 5,000 tokens in, 500 out; $0.0055 for the questions with a verdict" in run.lines
    assert "cost: spent $0.0143: preflight $0.0066, judge $0.0077" in run.lines


def test_the_workers_of_xdist_count_against_one_limit(six: Project) -> None:
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(metered) as judge:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        six.run(*given, "--rag-max-cost=0.004", "--rag-concurrency=1", "-n4")
    # A question costs 0.0021, and a third may be under way when the second is paid. With a limit for each, four would.
    assert 2 <= len(judge.requests) <= 3


def test_rows_and_summary_say_what_was_used_and_what_it_cost(six: Project) -> None:
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(metered) as judge:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        run = six.run(*given)
    six.write("recorded.json", json.dumps(run.predictions))
    cost = {
        "judge_input_tokens": 1000, "judge_output_tokens": 100, "judge_usd": 0.0011,
        "system_input_tokens": 5, "system_usd": 0.001,
    }  # fmt: skip
    assert [row["cost"] for row in run.predictions["predictions"]] == [cost] * 6
    performance = run.summary["performance"]
    assert performance["judge_input_tokens"] == 6000
    assert performance["cost_usd"] == pytest.approx(6 * 0.0021)
    assert "system_output_tokens" not in performance
    assert "cost: judge 6,000 tokens in, 600 out; $0.0126 for the questions with a verdict" in run.lines
    assert "cost: spent $0.0126: judge $0.0066, system $0.0060" in run.lines
    # A replay reports the cost of the recorded run, and costs nothing.
    replayed = six.run("--rag-replay=recorded.json", "--rag-max-cost=0.001")
    assert replayed.outcomes == {"passed": 6}
    assert "cost: spent" not in replayed.text
    again = replayed.summary["performance"]
    # Latencies were rounded in between.
    assert [again[name] for name in again if "latency" not in name] == [
        performance[name] for name in performance if "latency" not in name
    ]


def test_a_metric_by_the_model_costs_money_beside_a_cached_verdict(six: Project) -> None:
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(metered_or_facts) as judge:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        six.run(*given)
        run = six.run(*given, "-o", "rag_metrics=+ragas")
    assert run.summary["n_verdicts_from_cache"] == 6
    assert {row["cost"]["judge_usd"] for row in run.predictions["predictions"]} == {0.0011}
    assert run.summary["performance"]["judge_cost_usd"] == pytest.approx(6 * 0.0011)


def test_embeddings_without_a_price_are_named_as_what_a_limit_does_not_count(six: Project) -> None:
    replies = by_path(chat=metered_or_facts, embeddings=embeds(lambda _: [1.0]))
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(replies) as judge:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        run = six.run(*given, "-o", "rag_metrics=+ragas", "-o", "rag_embedding_model=e", "--rag-max-cost=1")
    assert "cost: spent $0.0192: judge $0.0132, system $0.0060" in run.lines
    (line,) = [line for line in run.lines if line.startswith("cost: --rag-max-cost")]
    assert line == "cost: --rag-max-cost counted 6 verdicts without the embeddings, whose model has no price"


def test_judging_a_known_answer_again_leaves_the_cost_of_the_system(project: Project) -> None:
    project.write(
        "conftest.py",
        """
import pytest
from pytest_ragcheck import Judgement, RagClient

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(lambda query: {"answer": "14 days", "contexts": [], "metrics": {"cost_usd": 0.01}})

@pytest.fixture(scope="session")
def rag_judge():
    return lambda question, answer: Judgement(answer_correctness=0.1, groundedness=1.0, error_message="weak")
""",
    )
    project.write("billing.rag.yaml", "questions: [{id: window, question: How long?}]\n")
    project.write("pytest.ini", "[pytest]\nrag_max = cost_usd=1\n")
    project.run()
    assert main(["baseline", "save"]) == 0
    run = project.run()
    assert "1 of 1 answer is in the baseline and keeps its verdict; it was judged again" in run.lines
    assert (run.exit_status, run.predictions["predictions"][0]["cost"]) == (0, {"system_usd": 0.01})


def test_further_requests_of_the_gate_do_not_exceed_the_maximum_of_a_question(project: Project) -> None:
    project.write(
        "conftest.py",
        """
import pytest
from pathlib import Path
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client():
    days = Path("days").read_text().split()
    reply = {"contexts": ["30 days"], "metrics": {"cost_usd": 0.01}}
    return RagClient.from_callable(lambda query: {**reply, "answer": f"{days.pop(0)} days"})
""",
    )
    project.write("billing.rag.yaml", "questions: [{id: window, question: How long?, expected_answer: 30 days}]\n")
    project.write("pytest.ini", "[pytest]\nrag_judge = offline\nrag_max = cost_usd=0.03\n")
    project.write("days", "30")
    project.run()
    assert main(["baseline", "save"]) == 0
    project.write("days", "14 14 14 30")
    run = project.run()
    assert "baseline ragcheck-baseline.json: 1 passed when asked again" in run.lines
    assert (run.exit_status, run.predictions["predictions"][0]["cost"]) == (0, {"system_usd": 0.04})


def test_a_dry_run_counts_the_preflight_of_a_judge_that_no_run_has_tried(six: Project) -> None:
    run = six.run("--rag-dry-run", "--rag-judge-model=m", "-o", "rag_disable=cache")
    (line,) = [line for line in run.lines if line.startswith("preflight")]
    assert re.fullmatch(r"preflight            6 calls to the judge, about \$0\.0\d+", line)
    without = six.run("--rag-dry-run", "--rag-judge-model=m", "-o", "rag_disable=preflight")
    assert not any(line.startswith("preflight ") for line in without.lines)


@pytest.mark.parametrize("options", [("-p", "no:xdist"), ("-n2",)])
def test_a_dry_run_collects_counts_and_asks_nothing(six: Project, options: tuple[str, ...]) -> None:
    six.write("later.rag.json", json.dumps([{"id": "later", "question": "?", "skip": "not yet"}]))
    run = six.run("--rag-dry-run", "--rag-judge-model=m", "-k", "q1 or q2 or later", *options)
    assert (run.exit_status, run.files) == (0, [])
    assert {"dry run: nothing was asked", "questions            2", "calls to the system  2"} <= set(run.lines)
    assert any(line.startswith("price                about $") for line in run.lines)


def test_a_dry_run_can_be_set_in_the_ini_file_and_of_a_wrong_prompt_says_so(six: Project) -> None:
    six.write("pytest.ini", "[pytest]\nrag_dry_run = true\nrag_judge_prompt = nowhere.txt\n")
    run = six.run("--rag-judge-model=m")
    assert run.exit_status == 0
    assert any(line.startswith("dry run: judge prompt '") for line in run.lines)


def test_a_dry_run_names_a_judge_that_cannot_work(six: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "a-key\nwith-a-line-break")
    run = six.run("--rag-dry-run", "--rag-judge-model=m", "--rag-judge-url=http://127.0.0.1:1/v1", "-o", "rag_disable=")
    assert run.exit_status == 0
    assert any(line.startswith("dry run: the judge's key cannot be sent: its character 6 is ") for line in run.lines)


def test_a_limit_needs_a_judge_whose_price_is_known(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("one.rag.json", '[{"id": "q", "question": "?"}]')
    monkeypatch.setenv("RAGCHECK_URL", "http://localhost:9/query")
    given = ("--rag-max-cost=1", "--rag-judge-url=http://localhost:9/v1", "--rag-judge-model=m")
    run = project.run(*given)
    assert run.exit_status == 4
    (line,) = [line for line in run.stderr.splitlines() if line.startswith("ERROR: ragcheck: --rag-max-cost: ")]
    assert line.startswith("ERROR: ragcheck: --rag-max-cost: the cost of the judge is not known: ")
    assert line.endswith("et rag_judge_price.")


@three_ways
def test_a_limit_needs_a_fixtures_judge_whose_price_is_known(six: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    six.write(
        "conftest.py",
        """
import os
import pytest
from pytest_ragcheck import Judgement, OpenAIJudge, Panel

def asks(model):
    return OpenAIJudge(model=model, api_key="k", base_url=os.environ["JUDGE_URL"])

def by_length(question, answer):
    return Judgement(answer_correctness=1.0)

@pytest.fixture(scope="session")
def rag_judge():
    return {
        "one": lambda: asks("m"),
        "panel": lambda: Panel([asks("m"), asks("other")]),
        "function": lambda: by_length,
    }[os.environ["JUDGE"]]()
""",
    )
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(metered) as judge:
        given = (f"--rag-url={endpoint.url}", "--rag-max-cost=1", "-orag_disable=preflight")
        monkeypatch.setenv("JUDGE_URL", judge.url)
        monkeypatch.setenv("JUDGE", "one")
        run = six.run(*given, "-o", "rag_judge_model=m")
        assert run.outcomes == {"passed": 6}
        assert "cost: spent $0.0126: judge $0.0066, system $0.0060" in run.lines
        said = "--rag-max-cost: the cost of the judge is not known: "
        run = six.run(*given)
        assert (run.exit_status, said in run.text, "et rag_judge_price and rag_judge_model." in run.text) == (
            1,
            True,
            True,
        )
        monkeypatch.setenv("JUDGE", "panel")
        run = six.run(*given, "-o", "rag_judge_model=m")
        assert (run.exit_status, said in run.text) == (1, True)
        monkeypatch.setenv("JUDGE", "function")
        run = six.run(*given)
        assert run.exit_status == 1
        assert "--rag-max-cost: the cost of the judge by_length is not known. Leave the limit out." in run.text
    assert (len(endpoint.requests), len(judge.requests)) == (6, 6)
