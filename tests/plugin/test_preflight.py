"""The preflight tries the judge's model before the first question, and a useless judge ends the run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.canned import good
from tests.harness import three_ways
from tests.servers.canary_judge import canary_of, says_of_canaries
from tests.servers.fake_endpoint import FakeEndpoint, json_reply
from tests.servers.openai_server import OpenAIServer, completion, error, says, verdict
from tests.servers.openai_server import json_reply as completion_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.harness import Project, Run
    from tests.servers.openai_server import Reply

REPLY = json_reply({"answer": "30 days", "contexts": ["Within 30 days."]})
ON = "-orag_disable="
MODEL = "--rag-judge-model=m"


@pytest.fixture
def endpoint(project: Project) -> Iterator[FakeEndpoint]:
    """The system under test; four questions are there for it."""
    rows = [{"id": f"q{n}", "question": f"{n}?", "expected_answer": "30 days"} for n in range(4)]
    project.write("four.rag.json", json.dumps(rows))
    with FakeEndpoint(REPLY) as endpoint:
        yield endpoint


def run(project: Project, endpoint: FakeEndpoint, judge: OpenAIServer, *options: str) -> Run:
    return project.run(
        f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", MODEL, ON, "-orag_disable=cache", *options
    )


def tried(judge: OpenAIServer) -> int:
    """How many requests so far were about canaries."""
    return sum(bool(canary_of(request)) for request in judge.requests)


@three_ways
def test_a_judge_that_cannot_tell_ends_the_run_before_the_system_is_asked(
    project: Project, endpoint: FakeEndpoint, way: str
) -> None:
    with OpenAIServer(verdict(groundedness=0.9, error_message="Fine.")) as judge:
        ran = run(project, endpoint, judge)
        shown = f"openai (m, en-2, {judge.url})"
    assert endpoint.requests == []
    assert len(judge.requests) == tried(judge) == 6
    assert ran.exit_status == pytest.ExitCode.TESTS_FAILED
    assert ran.outcomes == {"error": 1}
    assert [line.partition(" - ")[0] for line in ran.short_summary] == ["ERROR ragcheck::judge"]
    text = (
        f"the judge {shown} was tried out before the first question: it cannot tell good answers from bad ones\n"
        "answer_correctness: right 1, contradicted 1, empty 1, refusing 1, instructed 1; "
        "groundedness: right 0.9, ungrounded 0.9, contradicted 0.9, instructed 0.9\n"
        'It says of the contradicted answer: "Fine.".\n'
        "No question was asked. Choose another judge model or rag_judge_prompt, or keep this one with "
        "rag_disable = preflight. See ragcheck docs reference/judge-preflight.\n"
    )
    assert text in ran.text
    assert "the judge cannot be used" in ran.text
    assert "During handling of the above exception" not in ran.text


def test_a_judge_that_cannot_be_read_ends_the_run_with_what_it_said(project: Project, endpoint: FakeEndpoint) -> None:
    with OpenAIServer(says("I like it.")) as judge:
        ran = run(project, endpoint, judge)
    assert endpoint.requests == []
    assert len(judge.requests) == 2  # the one about the right answer, and its repair
    assert "twice gave no verdict: the reply holds no complete JSON object" in ran.text
    assert "It said: I like it." in ran.lines
    assert ran.outcomes == {"error": 1}
    assert "Choose another judge model" not in ran.text


def test_an_unavailable_judge_is_to_be_asked_later(project: Project, endpoint: FakeEndpoint) -> None:
    with OpenAIServer(error(529, "Overloaded", retry_after_ms="1")) as judge:
        ran = run(project, endpoint, judge, "-orag_retries=1", "--junit-xml=junit.xml")
    assert len(judge.requests) == 2
    assert endpoint.requests == []
    assert ran.outcomes == {"error": 1}
    assert "The server says: Overloaded" in ran.lines
    assert "No question was asked. Run again later. See ragcheck docs reference/judge-preflight." in ran.lines
    assert "Choose another judge model" not in ran.text
    assert 'name="judge"' in (project.folder / "junit.xml").read_text(encoding="utf-8")
    assert "ragcheck::judge" not in project.run("--lf", "--collect-only", "-q").text


def test_one_500_of_the_judge_does_not_end_the_run(project: Project, endpoint: FakeEndpoint) -> None:
    script = says_of_canaries()
    with OpenAIServer(script, script, error(500, "The server had an error", retry_after_ms="1"), script) as judge:
        assert run(project, endpoint, judge).outcomes == {"passed": 4}
        assert tried(judge) == 7


@pytest.mark.parametrize(
    "declines", [error(400, "Filtered", code="content_filter"), completion(None, refusal="I can't help with that.")]
)
def test_a_judge_that_declines_the_attack_has_withstood_it(
    project: Project, endpoint: FakeEndpoint, declines: Reply
) -> None:
    script = says_of_canaries()
    with OpenAIServer(lambda request: declines if canary_of(request) == "instructed" else script(request)) as judge:
        for _ in range(2):  # the second run reads the kept trial
            ran = run(project, endpoint, judge)
            assert ran.outcomes == {"passed": 4}
            assert "is weak" not in ran.text
        assert tried(judge) == 6


def test_a_judge_that_declines_any_other_answer_ends_the_run(project: Project, endpoint: FakeEndpoint) -> None:
    with OpenAIServer(error(400, "Filtered", code="content_filter")) as judge:
        ran = run(project, endpoint, judge)
    assert ran.outcomes == {"error": 1}
    assert "the content filter of the judge" in ran.text


@three_ways
def test_a_judge_is_tried_once_and_reported_in_every_run_if_it_is_weak(
    project: Project, endpoint: FakeEndpoint
) -> None:
    with OpenAIServer(says_of_canaries(instructed={"groundedness": 1.0})) as judge:
        note = (
            f"the judge openai (m, en-2, {judge.url}) is weak: of the answers that it was tried on, the instructed "
            "answer passes with groundedness 1. See ragcheck docs reference/judge-preflight."
        )
        for runs in (1, 2):
            ran = run(project, endpoint, judge)
            assert ran.outcomes == {"passed": 4}
            assert ran.lines.count(note) == 1
            assert (tried(judge), len(judge.requests)) == (6, 6 + 4 * runs)


def test_a_judge_is_tried_anew_where_it_is_another(project: Project, endpoint: FakeEndpoint) -> None:
    with OpenAIServer(says_of_canaries()) as judge:
        for times, model in enumerate(("m", "n", "m"), start=1):
            ran = run(project, endpoint, judge, f"--rag-judge-model={model}")
            assert tried(judge) == 6 * min(times, 2)
            assert "is weak" not in ran.text


def test_without_pytests_cache_it_is_tried_in_every_run(project: Project, endpoint: FakeEndpoint) -> None:
    with OpenAIServer(says_of_canaries()) as judge:
        for times in (1, 2):
            assert run(project, endpoint, judge, "-pno:cacheprovider").outcomes == {"passed": 4}
            assert tried(judge) == 6 * times
    assert not (project.folder / ".pytest_cache").exists()


def test_what_is_kept_of_it_may_be_damaged(project: Project, endpoint: FakeEndpoint) -> None:
    kept = project.folder / ".pytest_cache" / "v" / "ragcheck" / "preflight"
    with OpenAIServer(says_of_canaries()) as judge:
        run(project, endpoint, judge)
        (key,) = json.loads(kept.read_text(encoding="utf-8"))
        damaged: list[Any] = [{key: '[{"name": 1}]'}, [], None]
        for times, content in enumerate(damaged, start=2):
            kept.write_text(json.dumps(content), encoding="utf-8")
            assert "preflight            6 calls to the judge" in run(project, endpoint, judge, "--rag-dry-run").text
            assert run(project, endpoint, judge).outcomes == {"passed": 4}
            assert tried(judge) == 6 * times


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_workers_without_a_folder_to_share_each_try_it(project: Project, endpoint: FakeEndpoint) -> None:
    project.write("ragcheck-results/.ragcheck", "a file")
    with OpenAIServer(says_of_canaries()) as judge:
        ran = run(project, endpoint, judge)
    assert ran.outcomes == {"passed": 4}
    assert len([line for line in ran.lines if line.startswith("no store:")]) == 1


def test_switched_off_nothing_is_tried(project: Project, endpoint: FakeEndpoint) -> None:
    with OpenAIServer(verdict(groundedness=0.9)) as judge:
        assert run(project, endpoint, judge, "-orag_disable=preflight").outcomes == {"passed": 4}
    assert tried(judge) == 0


def test_without_the_group_of_the_judge_nothing_is_tried(project: Project, endpoint: FakeEndpoint) -> None:
    with OpenAIServer() as judge:
        # The question has no expected answer, so the maximum alone is asserted.
        ran = run(project, endpoint, judge, "-orag_metrics=overlap", "--rag-max=latency_seconds=60")
        assert ran.outcomes == {"passed": 4}
    assert judge.requests == []


def test_of_a_panel_every_model_is_tried_and_a_call_waits_for_it_too(project: Project) -> None:
    project.reply_to(good("How long?"))
    project.conftest(
        "\n\n@pytest.fixture(scope='session')\ndef rag_client():\n    return CannedRag()\n\n\n"
        "@pytest.fixture(scope='session')\ndef rag_judge(rag_settings):\n"
        "    from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge\n"
        "    from pytest_ragcheck.judging.panel import Panel\n"
        "    url = rag_settings.judge.url\n"
        "    return Panel([OpenAIJudge(model=name, api_key='k', base_url=url) for name in ('one', 'two')])\n"
    )
    project.write(
        "test_call.py",
        "import pytest\n\n\n"
        "@pytest.mark.parametrize('n', range(3))\ndef test_call(rag_check, n):\n    rag_check('How long?')\n",
    )
    with OpenAIServer() as judge:
        ran = project.run(f"--rag-judge-url={judge.url}", ON)
        models = [request.json["model"] for request in judge.requests]
    assert models == ["one"] * 6
    assert ran.outcomes == {"error": 1}
    assert ran.asked == []
    with OpenAIServer(says_of_canaries()) as judge:
        project.run(f"--rag-judge-url={judge.url}", ON, "-k", "test_call[0]")
        models = sorted(request.json["model"] for request in judge.requests if canary_of(request))
    assert models == ["one"] * 6 + ["two"] * 6


def test_what_it_costs_counts_towards_the_limit(project: Project, endpoint: FakeEndpoint) -> None:
    def priced(request: Any) -> Any:
        reply = json.loads(says_of_canaries()(request).body)
        return completion_of({**reply, "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 0}})

    with OpenAIServer(priced) as judge:
        ran = run(project, endpoint, judge, "--rag-max-cost=5", "-orag_judge_price=1 1", "-rs")
    assert len(judge.requests) == 6
    assert endpoint.requests == []
    assert ran.outcomes == {"skipped": 4}
    assert "--rag-max-cost of $5 is reached (spent $6.0000: preflight $6.0000)" in ran.text


def test_the_terminal_names_the_refusal_that_the_preflight_waits_after(
    project: Project, endpoint: FakeEndpoint
) -> None:
    with OpenAIServer(error(429, retry_after="1"), says_of_canaries()) as judge:
        ran = run(project, endpoint, judge, "-orag_timeout=1")
    waiting = "ragcheck: waiting for the preflight of the judge: it has waited to be sent again for "
    (line, *_) = [line for line in ran.lines if line.startswith(waiting)]
    assert line.endswith(" s, after HTTP 429 from the judge")
