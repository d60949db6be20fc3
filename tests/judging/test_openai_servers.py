"""The judge reads the replies and the errors of servers and gateways as they are."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest
from openai import AsyncOpenAI

from pytest_ragcheck.errors import JudgeError, JudgeReplyError, JudgeUnavailable
from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from tests.servers.openai_server import (
    OpenAIServer,
    Reply,
    Request,
    Script,
    completion,
    error,
    json_reply,
    says,
    verdict,
    verdict_text,
)

QUESTION = Question(dataset_name="d", id="q", question="Why?")
ANSWER = RagAnswer(text="So.", contexts=("So.",))
FULL_MARKS = Judgement(answer_correctness=1.0, groundedness=1.0)


def judged(server: OpenAIServer, **settings: Any) -> Judgement:
    async def run() -> Judgement:
        judge = OpenAIJudge(**{"model": "m", "api_key": "k", "base_url": server.url, **settings})
        try:
            return await judge.judge(QUESTION, ANSWER)
        finally:
            await judge.aclose()

    return asyncio.run(run())


def by_package(server: OpenAIServer) -> Judgement:
    """The judgement through the caller's own client."""

    async def run() -> Judgement:
        async with AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0) as client:
            return await OpenAIJudge(model="m", client=client).judge(QUESTION, ANSWER)

    return asyncio.run(run())


def failure_of(*replies: Script | Reply) -> JudgeError:
    """The error without retries, with URL for the server's address."""
    with OpenAIServer(*replies) as server, pytest.raises(JudgeError) as caught:
        judged(server, max_retries=0)
    caught.value.args = (str(caught.value).replace(server.url, "URL"),)
    return caught.value


def stream(request: Request) -> Reply:
    """The verdict in server-sent events, which some servers send unasked."""
    text = verdict_text(request.nonce)
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": text[:9]}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {"content": text[9:]}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
    ]
    events = [*map(json.dumps, chunks), "[DONE]"]
    body = "".join(f"data: {event}\n\n" for event in events)
    return Reply(body=body.encode(), content_type="text/event-stream")


AZURE_FILTER = json_reply(
    {
        "error": {
            "message": "The response was filtered.",
            "code": "content_filter",
            "innererror": {
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": {
                    "hate": {"filtered": False, "severity": "safe"},
                    "jailbreak": {"detected": True, "filtered": True},
                },
            },
        }
    },
    status=400,
)
LITELLM_FILTER = error(400, "litellm.ContentPolicyViolationError: AzureException - filtered", code="400")
GROQ_FAILED = json_reply(
    {"error": {"message": "Failed to generate JSON.", "code": "json_validate_failed", "failed_generation": "{oops"}},
    status=400,
)


@pytest.mark.parametrize(
    "reply",
    [
        *(error(status, "Overloaded", retry_after_ms="1") for status in (424, 500, 520, 521, 522, 523, 524, 529)),
        json_reply({"error": {"message": "rate-limited upstream", "code": 502}}),
        json_reply(
            {"choices": [{"error": {"code": 502, "message": "Provider returned error"}, "message": {"content": ""}}]}
        ),
    ],
    ids=["424", "500", "520", "521", "522", "523", "524", "529", "error in 200", "error in choice"],
)
def test_a_passing_failure_of_the_judges_server_is_retried(reply):
    # A 500 may also refuse the request format, so the format is searched for, and the barest is asked twice.
    with OpenAIServer(verdict(), reply, verdict()) as server:

        async def run() -> list[Judgement]:
            judge = OpenAIJudge(model="m", api_key="k", base_url=server.url, max_retries=1)
            try:
                return [await judge.judge(QUESTION, ANSWER) for _ in range(2)]
            finally:
                await judge.aclose()

        assert asyncio.run(run()) == [FULL_MARKS, FULL_MARKS]
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "status", "first_line"),
    [
        (
            json_reply({"error": {"message": "m", "code": 429}}),
            429,
            (
                "the judge at URL refuses more requests for now: error 429 with HTTP 200 for model 'm'. "
                "Lower rag_judge_concurrency, or raise the account's limit."
            ),
        ),
        (
            json_reply({"error": {"message": "Credits.", "code": 402}}, status=402),
            402,
            "the judge at URL has no quota left for model 'm': HTTP 402. Check the account's plan and billing.",
        ),
    ],
)
def test_an_error_is_explained_by_its_status_wherever_it_is(reply, status, first_line):
    raised = failure_of(reply)
    assert isinstance(raised, JudgeUnavailable)
    assert (raised.status, str(raised).split("\n")[0]) == (status, first_line)


LONG = RagAnswer(text="So.", contexts=("The laundry room is open on weekdays. " * 600,))
"""4,200 words. The instructions have 630."""


def judged_with(usage: dict[str, Any], answer: RagAnswer) -> JudgeError | None:
    async def run(url: str) -> None:
        async with aclosing(OpenAIJudge(model="m", api_key="k", base_url=url)) as judge:
            await judge.judge(QUESTION, answer)

    with OpenAIServer(lambda request: json_reply({**json.loads(verdict()(request).body), "usage": usage})) as server:
        try:
            asyncio.run(run(server.url))
        except JudgeError as error:
            assert len(server.requests) == 1
            return error
    return None


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 2050},  # Ollama keeps half of 4,096 tokens
        {"prompt_tokens": 2050, "prompt_tokens_details": {"cached_tokens": 30}},
        {"prompt_tokens": 4096},  # older ones fill the context
        {"prompt_tokens": 4199},
    ],
)
def test_a_prompt_that_the_server_cut_is_an_error(usage):
    error = judged_with(usage, LONG)
    assert isinstance(error, JudgeReplyError)
    assert f" cut the prompt: it counted {usage['prompt_tokens']:,} tokens in 4,8" in str(error)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": 0},
        {"prompt_tokens": 5600},
        {"prompt_tokens": 4300},  # without the 940 tokens before the material, which the server has cached
        {"prompt_tokens": 25},  # all but the last tokens are cached
        {"prompt_tokens": 1500, "prompt_tokens_details": {"cached_tokens": 4100}},
        {"prompt_tokens": 1500, "cache_read_input_tokens": 2100, "cache_creation_input_tokens": 2000},
    ],
)
def test_a_server_that_counts_cached_tokens_elsewhere_or_nothing_did_not_cut_the_prompt(usage):
    assert judged_with(usage, LONG) is None


@pytest.mark.parametrize("text", [" " * 9000, "=" * 9000, "退款" * 3000, "1234567890" * 900])
def test_a_text_of_few_tokens_is_not_taken_for_a_cut_prompt(text):
    assert judged_with({"prompt_tokens": 1060}, RagAnswer(text="So.", contexts=(text,))) is None


def test_geminis_list_of_errors_is_read_with_its_delay():
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]
    raised = failure_of(json_reply([{"error": {"code": 429, "message": "Quota.", "details": details}}], status=429))
    assert isinstance(raised, JudgeUnavailable)
    assert raised.retry_after_seconds == 37
    assert str(raised).endswith("\nThe server says: Quota.")


def test_a_delay_of_gemini_that_a_gateway_quotes_is_read():
    quoted = json.dumps({"error": {"details": [{"retryDelay": "1.5s"}]}})
    raised = failure_of(error(429, f"litellm.RateLimitError: {quoted}"))
    assert isinstance(raised, JudgeUnavailable)
    assert raised.retry_after_seconds == 1.5


@pytest.mark.parametrize(
    ("refusal", "transient"),
    [
        ({"message": "Limit reached on tokens per day (TPD): Limit 100000, Used 99800."}, False),
        ({"message": "Rate limit exceeded: free-models-per-day."}, False),
        ({"message": "Quota.", "details": [{"violations": [{"quotaId": "RequestsPerDayPerProject-FreeTier"}]}]}, False),
        ({"message": "Quota.", "details": [{"violations": [{"quotaId": "RequestsPerMinutePerProject"}]}]}, True),
        ({"message": "Limit reached on tokens per min (TPM)."}, True),
        ({"message": "The limits are 10 requests per minute and 1000 per day."}, True),
    ],
)
def test_a_quota_of_the_day_is_not_waited_for(refusal, transient):
    raised = failure_of(json_reply({"error": refusal}, status=429))
    assert isinstance(raised, JudgeUnavailable)
    assert raised.transient is transient
    assert ("has no quota left for model 'm': HTTP 429." in str(raised)) is not transient


@pytest.mark.parametrize("body", [b"", b"\n\n \n"], ids=["empty", "keep-alive lines"])
def test_an_empty_body_is_retried(body):
    with OpenAIServer(Reply(body=body), verdict()) as server:
        assert judged(server, max_retries=1) == FULL_MARKS
    assert len(server.requests) == 2


def test_geminis_wrong_key_is_named_after_one_request():
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    refused = json_reply([{"error": {"code": 400, "message": "API key not valid.", "details": details}}], status=400)
    with OpenAIServer(refused) as server, pytest.raises(JudgeUnavailable, match="refused the key: HTTP 400"):
        judged(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "named"),
    [
        (AZURE_FILTER, " (jailbreak)"),
        (LITELLM_FILTER, ""),
        (completion("", finish_reason="content_filter"), ""),
        (completion(None, finish_reason="content_filter: RECITATION"), ""),
        (json_reply({"choices": [{"index": 0, "finish_reason": "content_filter: PROHIBITED_CONTENT"}]}), ""),
    ],
)
def test_a_content_filter_is_named_and_not_asked_again(reply, named):
    raised = failure_of(reply)
    assert isinstance(raised, JudgeReplyError)
    assert raised.declined
    assert str(raised).split("\n")[0] == (
        f"the content filter{named} of the judge at URL (model 'm') stopped the request. "
        "Look at the answer and its contexts, or relax the filter."
    )


@pytest.mark.parametrize("first", [[], [verdict()]], ids=["first request", "later request"])
def test_one_generation_that_groq_refuses_is_repaired_in_the_same_format(first):
    with OpenAIServer(*first, GROQ_FAILED, verdict()) as server:

        async def run() -> None:
            judge = OpenAIJudge(model="m", api_key="k", base_url=server.url, max_retries=0)
            for _ in range(len(first) + 2):
                assert await judge.judge(QUESTION, ANSWER) == FULL_MARKS
            await judge.aclose()

        asyncio.run(run())
    formats = [request.json["response_format"]["type"] for request in server.requests]
    assert formats == ["json_schema"] * (len(first) + 3)
    repair = server.requests[len(first) + 1].json["messages"]
    assert [message["role"] for message in repair] == ["user", "assistant", "user"]
    assert repair[1]["content"] == "{oops"


def test_a_token_limit_that_reasoning_used_up_is_named():
    raised = failure_of(completion("", finish_reason="length", reasoning_content="Let me see"))
    assert str(raised).split("\n")[0] == (
        "the judge at URL (model 'm') twice gave no verdict: the token limit was reached while reasoning, before the "
        "reply. Raise max_tokens in rag_judge_parameters, or lower reasoning_effort there."
    )


def test_an_error_in_a_form_of_its_own_is_shown_through_a_client_of_the_caller():
    busy = json_reply({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}, "choices": None})
    with OpenAIServer(busy) as server, pytest.raises(JudgeUnavailable) as caught:
        by_package(server)
    assert '"status_msg": "insufficient balance"' in str(caught.value)


def test_reasoning_without_a_reply_is_named():
    raised = failure_of(completion(None, reasoning_content="Let me see"))
    assert ") twice gave no verdict: the server sent reasoning and no reply. Use a model" in str(raised)


def test_a_verdict_that_the_server_sends_as_an_object_is_read():
    with OpenAIServer(lambda request: completion(json.loads(verdict_text(request.nonce)))) as server:
        assert judged(server) == FULL_MARKS


def call_of(arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "reply", "arguments": arguments}}]}


@pytest.mark.parametrize(
    ("content", "message_of"),
    [
        (None, call_of),
        ("I judge by the context.", call_of),
        ("", lambda text: call_of(json.loads(text))),
        (None, lambda text: {"function_call": {"name": "reply", "arguments": text}}),
    ],
    ids=["alone", "beside a text", "as an object", "legacy"],
)
def test_a_verdict_in_the_arguments_of_a_tool_call_is_read(content, message_of):
    def script(request: Request) -> Reply:
        return completion(content, finish_reason="tool_calls", **message_of(verdict_text(request.nonce)))

    with OpenAIServer(script) as server:
        assert (judged(server), by_package(server)) == (FULL_MARKS, FULL_MARKS)
    assert len(server.requests) == 2


def test_a_call_of_another_tool_is_shown():
    raised = failure_of(completion(None, finish_reason="tool_calls", **call_of('{"query": "returns"}')))
    assert 'the JSON object has no field "nonce"' in str(raised)
    assert str(raised).endswith('\nIt said: {"query": "returns"}')


def test_an_error_page_is_shown_by_its_title():
    page = b"<!doctype html><html><head><title>Just a moment...</title><style>a {}</style>"
    raised = failure_of(Reply(status=403, body=page, content_type="text/html"))
    assert str(raised).endswith('\nThe server says: HTML page "Just a moment..."')


@pytest.mark.parametrize("ask", [judged, by_package])
def test_a_server_that_always_streams_is_read(ask):
    with OpenAIServer(stream) as server:
        assert ask(server) == FULL_MARKS


@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json"])
def test_a_stream_is_read_whatever_its_content_type_and_the_separators_within_its_json(content_type):
    def script(request: Request) -> Reply:
        text = verdict_text(request.nonce, further="a\u2028b\x85c")
        event = json.dumps({"choices": [{"delta": {"content": text}}]}, ensure_ascii=False)
        event = event.replace("\\\\u2028", "\u2028").replace("\\\\u0085", "\x85")
        return Reply(body=f"data: {event}\r\n\r\ndata: [DONE]\r\n\r\n".encode(), content_type=content_type)

    with OpenAIServer(script) as server:
        assert judged(server) == FULL_MARKS


def test_an_error_in_a_stream_is_read():
    body = b'data: {"error": {"code": 503, "message": "Busy"}}\n\ndata: [DONE]\n\n'
    raised = failure_of(Reply(body=body, content_type="text/event-stream"))
    assert "failed: error 503 with HTTP 200 for model 'm'" in str(raised)


@pytest.mark.parametrize(
    "text",
    [
        "[THINK]Draft: DRAFT[/THINK]VERDICT",
        "<reasoning>Draft: DRAFT</reasoning>VERDICT",
        "<thought>Draft: DRAFT</thought>VERDICT",
        "<|channel>thought\nDraft: DRAFT<channel|>VERDICT",
        "<|channel|>analysis<|message|>DRAFT<|end|><|start|>assistant<|channel|>final<|message|>VERDICT",
        "<|channel|>analysis<|message|>DRAFT<|end|><|channel|>final <|constrain|>json<|message|>VERDICT",
    ],
    ids=["mistral", "reasoning", "gemini", "gemma", "harmony", "harmony json"],
)
def test_a_draft_before_the_end_of_the_thinking_is_no_verdict(text):
    draft = verdict_text("NONCE", answer_correctness=0.4)
    with OpenAIServer(says(text.replace("DRAFT", draft).replace("VERDICT", verdict_text("NONCE")))) as server:
        assert judged(server) == FULL_MARKS
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("said", "abstained"), [("false", False), ("True", True), ("no", False), ("Yes", True), (0, False), (1.0, True)]
)
def test_a_flag_in_quotes_or_as_a_number_is_read(said, abstained):
    with OpenAIServer(verdict(abstained=said)) as server:
        assert judged(server).abstained is abstained
    assert len(server.requests) == 1


def test_a_score_in_other_digits_than_ascii_is_no_score():
    assert 'groundedness is "٠.٩", not a number' in str(failure_of(verdict(groundedness="٠.٩")))


@pytest.mark.parametrize(("headers", "bearer"), [({"api-key": "of-azure"}, None), ({"x-team": "a"}, "Bearer no-key")])
def test_a_key_in_a_header_of_its_own_is_the_only_one_that_is_sent(headers, bearer):
    with OpenAIServer() as server:
        judged(server, api_key="no-key", base_url=f"{server.url}?api-version=2024-10-21", headers=headers)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions?api-version=2024-10-21"
    assert headers.items() <= request.headers.items()
    assert request.headers.get("authorization") == bearer
