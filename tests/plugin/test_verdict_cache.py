"""A run does not ask the openai judge again about an answer of an earlier run."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli import main
from tests.canned import bad, good
from tests.harness import three_ways
from tests.servers.fake_endpoint import FakeEndpoint, json_reply
from tests.servers.openai_server import OpenAIServer, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.harness import Project, Run

REPLY = json_reply({"answer": "30 days", "contexts": ["Within 30 days."]})


@pytest.fixture
def judge() -> Iterator[OpenAIServer]:
    with OpenAIServer(verdict(groundedness=0.8)) as server:
        yield server


@pytest.fixture
def run(project: Project, judge: OpenAIServer) -> Iterator[Callable[..., Run]]:
    """Runs three questions with the judge of these options."""
    rows = [{"id": f"q{n}", "question": f"{n}?", "expected_answer": "30 days"} for n in range(3)]
    project.write("three.rag.json", json.dumps(rows))
    with FakeEndpoint(REPLY) as endpoint:
        given = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        yield lambda *options: project.run(*given, *options)


@three_ways
def test_a_second_run_asks_only_what_is_run_twice(run: Callable[..., Run], judge: OpenAIServer) -> None:
    first = run()
    assert len(judge.requests) == 3
    assert "n_verdicts_from_cache" not in first.summary
    assert "verdict cache" not in first.text
    # A threshold is no part of the request to the judge; a rerun goes past the cache.
    second = run("--rag-threshold=0.9", "--reruns=1", "-k", "q1 or q2")
    assert len(judge.requests) == 3 + 2
    assert (second.outcomes["failed"], second.outcomes["rerun"]) == (2, 2)
    third = run()
    assert len(judge.requests) == 5
    assert third.outcomes == {"passed": 3}
    assert third.summary["n_verdicts_from_cache"] == 3
    assert "verdict cache: 3 of 3 verdicts from an earlier run" in third.lines


def test_verdicts_of_a_baseline_are_not_counted_although_the_gate_ignores_the_question(project: Project) -> None:
    project.ask(bad("a", xfail="known"), bad("b", quarantine="known"), good("c"))
    project.run_before()
    assert main(["baseline", "save"]) == 0
    for gate in ("confirmed", "regression"):
        again = project.run(f"--rag-gate={gate}")
        assert (again.exit_status, "n_verdicts_from_cache" in again.summary) == (0, False), gate


def test_the_judge_is_asked_anew_where_it_is_wanted(run: Callable[..., Run], judge: OpenAIServer) -> None:
    run("-k", "q1")
    for option in ("-orag_disable=cache preflight", "-pno:cacheprovider", "--cache-clear", "--rag-judge-model=n"):
        before = len(judge.requests)
        again = run("-k", "q1", option)
        assert len(judge.requests) == before + 1, option
        assert "verdict cache" not in again.text


def test_parameters_and_headers_of_the_judge_are_sent_recorded_and_part_of_the_key(
    run: Callable[..., Run], judge: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY", "correct-horse-1")
    header = "-orag_judge_headers=X-Route: {env:GATEWAY}"
    first = run(header, '-orag_judge_parameters={"max_tokens": 4096, "extra_body": {"seed": 7}}')
    sent = judge.requests[-1]
    assert (sent.json["max_tokens"], sent.json["seed"]) == (4096, 7)
    assert sent.headers["x-route"] == "correct-horse-1"
    parameters = '{"headers": {"x-route": "[redacted]"}, "max_tokens": 4096, "seed": 7}'
    assert first.summary["judge"]["parameters"] == first.predictions["predictions"][0]["judge"]["parameters"]
    assert first.summary["judge"]["parameters"] == parameters
    # Another token is the same judge, and other parameters are another.
    monkeypatch.setenv("GATEWAY", "correct-horse-2")
    before = len(judge.requests)
    run(header, '-orag_judge_parameters={"max_tokens": 4096, "extra_body": {"seed": 7}}')
    assert len(judge.requests) == before
    run(header, '-orag_judge_parameters={"max_tokens": 512}')
    assert len(judge.requests) == before + 3


def test_a_folder_may_leave_the_cache_out(project: Project, run: Callable[..., Run], judge: OpenAIServer) -> None:
    project.write("other/one.rag.yaml", "- {id: other, question: How long?, expected_answer: 30 days}\n")
    project.write(
        "other/conftest.py",
        "import pytest\n\n@pytest.fixture(scope='session')\ndef rag_settings(rag_settings):\n"
        "    return rag_settings.replace(disable='cache preflight')\n",
    )
    run()
    assert len(judge.requests) == 4
    again = run()
    assert (len(judge.requests), again.summary["n_verdicts_from_cache"]) == (5, 3)


def test_a_cache_folder_that_cannot_be_made_is_said_once_and_the_run_goes_on(
    project: Project, run: Callable[..., Run]
) -> None:
    project.write(".pytest_cache/d", "a file where a folder should be\n")
    # `filterwarnings = error` does not concern the cache.
    ran = run("-n2", "-Werror::pytest.PytestCacheWarning")
    assert ran.outcomes["passed"] == 3
    told = re.findall(r"the verdict cache is off: .*", ran.text)
    assert len(told) == 1
    assert told[0].endswith("The judge is asked about every answer. Allow writing there, or set rag_disable = cache.")


def test_a_damaged_cache_is_reported_and_recreated(project: Project, run: Callable[..., Run]) -> None:
    path = project.write(".pytest_cache/d/ragcheck/verdicts.sqlite", "not a database " * 400)
    said = f"{path}: the verdict cache was damaged (file is not a database) and has been recreated."
    assert said in run("-k", "q1").text
    assert path.read_bytes().startswith(b"SQLite format 3")


def test_a_judge_of_the_users_own_has_no_cache(project: Project, judge: OpenAIServer) -> None:
    project.write("one.rag.json", '[{"id": "q", "question": "?", "expected_answer": "30 days"}]')
    project.write(
        "conftest.py",
        "import pytest\nfrom pytest_ragcheck.judging.model.openai_judge import OpenAIJudge\n\n"
        "@pytest.fixture(scope='session')\ndef rag_judge():\n"
        f"    return OpenAIJudge(model='m', api_key='k', base_url={judge.url!r})\n",
    )
    with FakeEndpoint(REPLY) as endpoint:
        assert project.run(f"--rag-url={endpoint.url}").outcomes == {"passed": 1}
    assert not (project.folder / ".pytest_cache" / "d").exists()


def test_the_offline_judge_has_no_cache(project: Project) -> None:
    project.conftest('\n\n@pytest.fixture(scope="session")\ndef rag_client():\n    return CannedRag()\n')
    project.ask(good("terms"))
    assert project.run("--rag-judge=offline").summary["judge"]["kind"] == "offline"
    assert not (project.folder / ".pytest_cache" / "d").exists()
