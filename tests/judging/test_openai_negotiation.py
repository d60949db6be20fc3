"""The judge finds, once in a run, the request format for JSON that a server accepts."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any

import pytest

from pytest_ragcheck.errors import JudgeUnavailable
from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from tests.servers.openai_server import OpenAIServer, Reply, Request, Script, completion, error, verdict_text

QUESTION = Question(dataset_name="d", id="q", question="Why?")
ANSWER = RagAnswer(text="So.", contexts=("So.",))
FULL_MARKS = Judgement(answer_correctness=1.0, groundedness=1.0)


def form_of(request: Request) -> str:
    """The form of a request in short: `schema object+ object plain`, with `0` where a temperature is sent."""
    sent = request.json
    kind = sent.get("response_format", {}).get("type", "plain")
    name = {"json_schema": "schema", "json_object": "object", "plain": "plain"}[kind]
    return name + ("+" if "schema" in sent.get("response_format", {}) else "") + ("0" if "temperature" in sent else "")


def taking(*forms: str, status: int = 400, **refusal: Any) -> Script:
    """A script of a server that takes these forms only."""

    def script(request: Request) -> Reply:
        if form_of(request) in forms:
            return completion(verdict_text(request.nonce))
        return error(status, **refusal)

    return script


def judge_of(server: OpenAIServer) -> AbstractAsyncContextManager[OpenAIJudge]:
    """The judge, closed at the end of the block."""
    return aclosing(OpenAIJudge(model="m", api_key="k", base_url=server.url, max_retries=0))


def asked(server: OpenAIServer, times: int = 2) -> list[str]:
    """The forms of all requests after so many questions, one after another."""

    async def run() -> None:
        async with judge_of(server) as judge:
            for _ in range(times):
                assert await judge.judge(QUESTION, ANSWER) == FULL_MARKS

    asyncio.run(run())
    return [form_of(request) for request in server.requests]


@pytest.mark.parametrize(
    ("script", "forms"),
    [
        pytest.param(taking("schema0"), ["schema0", "schema0"], id="takes all"),
        pytest.param(
            taking("schema", param="temperature"), ["schema0", "schema", "schema"], id="names the temperature"
        ),
        pytest.param(
            taking("schema", "plain"), ["schema0", "plain", "plain0", "schema", "schema"], id="no temperature"
        ),
        pytest.param(
            taking("object+0", "object0", "plain0", "plain"),
            ["schema0", "plain", "plain0", "object+0", "object+0"],
            id="object with schema",
        ),
        pytest.param(
            taking("object0", "plain0", "plain"),
            ["schema0", "plain", "plain0", "object+0", "object0", "object0"],
            id="object",
        ),
        pytest.param(
            taking("plain0", "plain"),
            ["schema0", "plain", "plain0", "object+0", "object0", "plain0"],
            id="plain",
        ),
        pytest.param(
            taking("plain"),
            ["schema0", "plain", "plain0", "schema", "object+", "object", "plain"],
            id="plain without temperature",
        ),
        pytest.param(
            taking("plain", param="temperature"),
            ["schema0", "schema", "plain", "plain0", "schema", "object+", "object", "plain"],
            id="names the temperature and takes no format either",
        ),
    ],
)
def test_the_best_form_that_is_taken_is_found_once_and_kept(script, forms):
    with OpenAIServer(script) as server:
        assert asked(server) == forms


@pytest.mark.parametrize("status", [404, 415, 422, 500, 501])
def test_other_statuses_than_400_can_be_a_refusal_too(status):
    with OpenAIServer(taking("object0", "plain0", "plain", status=status)) as server:
        assert asked(server)[-1] == "object0"


def test_an_outage_during_the_first_question_does_not_cost_the_schema():
    with OpenAIServer(error(500), taking("schema0", "plain0", "plain")) as server:
        assert asked(server) == ["schema0", "plain", "plain0", "schema0", "schema0"]


def test_if_the_simplest_form_fails_the_server_error_is_shown_after_two_requests():
    with OpenAIServer(error(400, "first"), error(400, "the prompt is too long")) as server:
        with pytest.raises(JudgeUnavailable, match=r"HTTP 400.*\nThe server says: the prompt is too long$"):
            asked(server)
        assert [form_of(request) for request in server.requests] == ["schema0", "plain"]


@pytest.mark.parametrize("status", [401, 403, 429, 502, 503])
def test_a_status_that_no_other_form_can_mend_is_not_asked_about_again(status):
    with OpenAIServer(error(status)) as server:
        with pytest.raises(JudgeUnavailable, match=f"HTTP {status}"):
            asked(server)
        assert len(server.requests) == 1


@pytest.mark.parametrize("code", ["model_not_found", "context_length_exceeded"])
def test_a_code_that_says_another_cause_ends_it_at_once(code):
    with OpenAIServer(error(404, code=code)) as server:
        with pytest.raises(JudgeUnavailable):
            asked(server)
        assert len(server.requests) == 1


def test_another_failure_in_the_midst_leaves_the_search_to_the_next_question():
    script = taking("object0", "plain0", "plain")
    with OpenAIServer(script, script, error(429), script) as server:
        with pytest.raises(JudgeUnavailable, match="HTTP 429"):
            asked(server)
        assert asked(server, times=1) == [
            "schema0",
            "plain",
            "plain0",
            *["schema0", "plain", "plain0"],
            "object+0",
            "object0",
        ]


def test_a_refusal_after_a_success_is_about_that_question_only():
    ok = taking("schema0")
    with OpenAIServer(ok, error(400), ok) as server:

        async def run() -> None:
            async with judge_of(server) as judge:
                assert await judge.judge(QUESTION, ANSWER) == FULL_MARKS
                with pytest.raises(JudgeUnavailable):
                    await judge.judge(QUESTION, ANSWER)
                assert await judge.judge(QUESTION, ANSWER) == FULL_MARKS

        asyncio.run(run())
        assert [form_of(request) for request in server.requests] == ["schema0"] * 3


def test_of_many_questions_at_once_one_searches_and_the_others_take_what_it_finds():
    together = threading.Barrier(8)
    take = taking("object0", "plain0", "plain")

    def script(request):
        if form_of(request) == "schema0":
            together.wait(10)  # all eight are under way before the first is refused
        return take(request)

    async def run(server) -> None:
        async with judge_of(server) as judge:
            await asyncio.gather(*(judge.judge(QUESTION, ANSWER) for _ in range(8)))

    with OpenAIServer(script) as server:
        asyncio.run(run(server))
    forms = [form_of(request) for request in server.requests]
    assert forms == ["schema0"] * 8 + ["plain", "plain0", "object+0"] + ["object0"] * 8


def test_requests_do_not_wait_for_each_other_if_the_server_takes_the_first_form():
    together = threading.Barrier(8)

    def script(request):
        together.wait(10)
        return completion(verdict_text(request.nonce))

    async def run(server) -> None:
        async with judge_of(server) as judge:
            await asyncio.gather(*(judge.judge(QUESTION, ANSWER) for _ in range(8)))

    with OpenAIServer(script) as server:
        asyncio.run(run(server))
    assert len(server.requests) == 8


def test_a_search_that_is_cancelled_is_taken_up_by_the_next_question():
    under_way = threading.Event()
    go_on = threading.Event()
    take = taking("object0", "plain0", "plain")

    def script(request):
        if form_of(request) == "plain" and not under_way.is_set():
            under_way.set()
            go_on.wait(10)
        return take(request)

    async def run(server) -> None:
        async with judge_of(server) as judge:
            first = asyncio.create_task(judge.judge(QUESTION, ANSWER))
            assert await asyncio.to_thread(under_way.wait, 10)
            first.cancel()
            await asyncio.wait([first])
            assert first.cancelled()
            go_on.set()
            assert await judge.judge(QUESTION, ANSWER) == FULL_MARKS

    with OpenAIServer(script) as server:
        asyncio.run(run(server))
    assert form_of(server.requests[-1]) == "object0"


def test_a_judge_may_search_in_one_loop_after_another():
    together = threading.Barrier(2)

    def script(request):
        if form_of(request) == "schema0":
            together.wait(10)  # so that one question waits for the search of the other
        return error(400, "no format")

    with OpenAIServer(script) as server:
        judge = OpenAIJudge(model="m", api_key="k", base_url=server.url, max_retries=0)

        async def run() -> list[Any]:
            questions = (judge.judge(QUESTION, ANSWER) for _ in range(2))
            return await asyncio.gather(*questions, return_exceptions=True)

        for _ in range(2):
            assert [type(raised) for raised in asyncio.run(run())] == [JudgeUnavailable] * 2
