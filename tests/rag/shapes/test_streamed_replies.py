"""A streamed reply is the whole answer, or an error that says where the stream went wrong."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import EndpointError, EndpointReplyError
from pytest_ragcheck.rag.body.event_parsers import parser_for
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.connections import http_library
from pytest_ragcheck.rag.shapes.shape import read_shape
from pytest_ragcheck.rag.shapes.streamed_reply import StreamedReply
from tests.servers.fake_endpoint import FakeEndpoint, chunked, json_reply, raw

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_ragcheck.rag.answer import RagAnswer
    from tests.servers.fake_endpoint import Behaviour

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
END: dict[str, Any] = {"contexts": ["Refunds: 30 days."]}


def sse(*values: Any, event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return "".join(f"{head}data: {text}\n\n" for text in texts).encode()


def pieces(*texts: str) -> list[bytes]:
    return [sse({"answer": text}) for text in texts]


def streamed(chunks: Iterable[bytes], content_type: str = SSE, pause_seconds: float = 0.0) -> Behaviour:
    return chunked(chunks, pause_seconds, content_type=content_type)


def ask(behaviour: Behaviour, **options: Any) -> RagAnswer:
    async def run(url: str) -> RagAnswer:
        async with RagClient(url, **{"timeout_seconds": 5.0, **options}) as client:
            return await client.query("How long is the refund window?")

    with FakeEndpoint(behaviour) as endpoint:
        return asyncio.run(run(endpoint.url))


def fail(behaviour: Behaviour, **options: Any) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        ask(behaviour, **options)
    return caught.value


WHOLE = b"".join([*pieces("30", " dä", "ys"), sse(END)])
LINES = b'{"answer": "30"}\n{"answer": " d\xc3\xa4ys"}\r\n\n{"contexts": ["Refunds: 30 days."]}'
OPENAI = {"shape": "openai-chat"}
CUT_OFF = {"status": "incomplete", "error": None, "incomplete_details": {"reason": "max_output_tokens"}}
"""The `response` in the last event of the Responses API, if the answer reached its limit."""


def delta(text: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {} if text is None else {"content": text}, **more}]}


@pytest.mark.parametrize(
    ("behaviour", "options"),
    [
        pytest.param(streamed([WHOLE]), {}, id="in one chunk"),
        pytest.param(streamed(bytes([byte]) for byte in WHOLE), {}, id="byte by byte, within characters"),
        pytest.param(streamed([WHOLE.replace(b"\n", b"\r\n")]), {}, id="CR LF"),
        pytest.param(streamed([b"\xef\xbb\xbf", WHOLE]), {}, id="byte order mark"),
        pytest.param(streamed([WHOLE.replace(b"\n\n", b"\n\n: ping\n\n")]), {}, id="interleaved comments"),
        pytest.param(streamed([WHOLE, b": bye"]), {}, id="a comment without a line end"),
        pytest.param(
            streamed(
                [sse(*({"type": "token", "text": text} for text in ("30", " däys"))), sse({"text": "30 däys"} | END)]
            ),
            {"response": "answer=[@][?type=='token'].text | [0] contexts=contexts"},
            id="a last event with the whole answer, which the expression skips",
        ),
        pytest.param(streamed([WHOLE, sse("[DONE]")]), {}, id="[DONE]"),
        pytest.param(streamed([WHOLE, b"data: [DONE]\n"]), {}, id="[DONE] without a blank line"),
        pytest.param(streamed([WHOLE, b"data: [DONE]"]), {}, id="[DONE] without a line end"),
        pytest.param(streamed([WHOLE, sse("[DONE]"), sse({"answer": "!"})]), {}, id="an event after [DONE]"),
        pytest.param(
            streamed(itertools.chain([WHOLE, sse("[DONE]")], itertools.repeat(b": ping\n\n")), pause_seconds=0.01),
            {},
            id="a connection that stays open after [DONE]",
        ),
        pytest.param(
            streamed([sse({"answer": "30 däys"} | END, {"finish_reason": "length", "error": None})]),
            {},
            id="a text that is cut off",
        ),
        pytest.param(
            streamed([sse({"delta": "30 däys"}, {"type": "response.incomplete", "response": CUT_OFF} | END)]),
            {"response": "answer=delta contexts=contexts"},
            id="a text of the Responses API that is cut off",
        ),
        pytest.param(streamed([sse("", {}), WHOLE]), {}, id="events without any part"),
        pytest.param(
            streamed([sse({"type": "tool_error", "code": 404}, {"type": "search", "status": "failed"}), WHOLE]),
            {},
            id="a step that fails before the answer",
        ),
        pytest.param(
            streamed([sse({"status": "running", "code": 200}), WHOLE, sse({"status": "NO_ERROR", "code": 0})]),
            {},
            id="statuses of a stream that succeeds",
        ),
        pytest.param(
            streamed([sse({"tool": "crm", "error": "no such customer"}, event="tool_result"), WHOLE]),
            {},
            id="a tool that fails before the answer",
        ),
        pytest.param(
            streamed(
                [
                    WHOLE,
                    sse({"order": 7, "status": "cancelled", "code": 404}, event="order_card"),
                    sse({"finish_reason": "stop"}, event="done"),
                ]
            ),
            {},
            id="a card of a cancelled order before the end",
        ),
        pytest.param(
            streamed(
                [
                    WHOLE,
                    sse({"finish_reason": "stop"}, event="done"),
                    sse({"order": 7, "status": "cancelled"}, {"order": 8, "error": "gone"}, event="order_card"),
                ]
            ),
            {},
            id="a card of a cancelled order after the end",
        ),
        pytest.param(
            streamed(
                [
                    sse({"tool_call_id": "1", "contexts": ["Refunds: 30 days."]}),
                    sse({"tool_call_id": "2", "contexts": ["Refunds: 30 days."], "answer": "30 däys"}),
                ]
            ),
            {},
            id="the passages of all calls so far",
        ),
        pytest.param(streamed([sse({"answer": None, "contexts": None}), WHOLE]), {}, id="nulls"),
        pytest.param(streamed([sse({"contexts": ["first"]}), WHOLE]), {}, id="the last contexts stand"),
        pytest.param(streamed([WHOLE, sse({"contexts": None})]), {}, id="null is no value"),
        pytest.param(streamed([LINES], NDJSON), {}, id="JSON lines"),
        pytest.param(streamed([bytes([byte]) for byte in LINES], NDJSON), {}, id="JSON lines byte by byte"),
        pytest.param(streamed([LINES + b"\n"], "application/jsonl; charset=utf-8"), {}, id="JSON lines with an end"),
        pytest.param(streamed([LINES]), {}, id="JSON lines that are declared as events"),
        pytest.param(streamed([LINES.replace(b"\n", b"\n\n")]), {}, id="JSON lines with blank lines between"),
        pytest.param(
            streamed([sse("30", " dä", "ys"), sse(END)]),
            {"response": "answer=[@][?type(@) == 'string'] | [0] contexts=contexts"},
            id="plain text as payload",
        ),
        pytest.param(
            streamed([sse("30", " dä", "ys"), sse({"contexts": END["contexts"], "note": "[1"}), sse({"contexts": []})]),
            {"response": "answer=[@][?type(@) == 'string'] | [0] contexts=contexts"},
            id="an empty array does not replace the contexts",
        ),
        pytest.param(
            streamed([sse({"answer": "30 däys"}, {"parts": [{"text": END["contexts"][0]}]}, {"parts": [{"id": 1}]})]),
            {"response": "answer=answer contexts=parts[].text"},
            id="an event with ids alone",
        ),
        pytest.param(
            streamed([sse(delta("30 "), delta("däys"), {**delta(finish_reason="stop"), "docs": END["contexts"]})]),
            {**OPENAI, "response": "answer=choices[0].delta.content contexts=docs"},
            id="openai-chat with a response beside it",
        ),
        pytest.param(
            streamed(
                [
                    sse(delta(role="assistant"), delta("30"), delta(" dä"), delta("ys")),
                    sse({**delta(finish_reason="stop"), **END}, {"choices": [], "usage": {"total_tokens": 9}}),
                    sse("[DONE]"),
                ]
            ),
            OPENAI,
            id="openai-chat",
        ),
        pytest.param(
            streamed([sse(delta(finish_reason="tool_calls") | END, delta("30 däys", finish_reason="stop"), delta(""))]),
            OPENAI,
            id="an agent that calls tools, and an empty piece after its end",
        ),
        pytest.param(
            streamed(
                [
                    b"event: ping\n\n",
                    sse({"event": "message", "answer": "30"}, {"event": "agent_message", "answer": " däys"}),
                    sse(
                        {
                            "event": "message_end",
                            "metadata": {
                                "retriever_resources": [{"content": END["contexts"][0], "document_name": "terms.md"}]
                            },
                        }
                    ),
                    sse({"event": "tts_message_end", "audio": ""}),
                ]
            ),
            {"shape": "dify"},
            id="dify",
        ),
        pytest.param(
            streamed(
                [
                    sse(delta("30"), delta(" däys")),
                    sse(
                        {
                            "choices": [
                                {
                                    "delta": {
                                        "content": None,
                                        "reference": [{"content": END["contexts"][0], "document_name": "terms.md"}],
                                    },
                                    "finish_reason": "stop",
                                }
                            ]
                        },
                        "[DONE]",
                    ),
                ]
            ),
            {"shape": "ragflow"},
            id="ragflow",
        ),
        pytest.param(
            streamed(
                [
                    sse({"sources": [{"document": END["contexts"], "metadata": [{"source": "terms.md"}]}]}),
                    sse(delta("30"), delta(" däys"), delta(finish_reason="stop"), "[DONE]"),
                ]
            ),
            {"shape": "open-webui"},
            id="open-webui",
        ),
        pytest.param(
            streamed(
                [
                    sse({"sources": [{"document": END["contexts"], "metadata": [{"source": "terms.md"}]}]}),
                    sse(delta("30"), delta(" däys"), delta(finish_reason="stop")),
                    sse({"type": "title", "status": "failed"}, {"type": "follow_up_error"}, "[DONE]"),
                ]
            ),
            {"shape": "open-webui"},
            id="a step that fails after the answer",
        ),
    ],
)
def test_a_stream_is_read_as_the_whole_answer(behaviour: Behaviour, options: dict[str, Any]) -> None:
    began = time.perf_counter()
    answer = ask(behaviour, **options)
    assert (answer.text, answer.contexts) == ("30 däys", ("Refunds: 30 days.",))
    assert answer.first_token_seconds is not None
    assert answer.latency_seconds is not None
    assert 0 < answer.first_token_seconds <= answer.latency_seconds <= time.perf_counter() - began
    if options.get("shape") in {"dify", "ragflow", "open-webui"} and "response" not in options:
        assert answer.source_ids == ("terms.md",)


@pytest.mark.parametrize(
    ("events", "ids"),
    [
        ([{"contexts": ["a"], "source_ids": ["1"]}, {"contexts": ["b"]}], None),
        ([{"contexts": ["a"], "source_ids": ["1"]}, {"contexts": ["b"], "source_ids": ["2"]}], ("2",)),
        ([{"contexts": ["a"], "source_ids": ["1"]}, {"contexts": ["b"]}, {"source_ids": ["2"]}], ("2",)),
        ([{"contexts": ["a"], "source_ids": ["1"]}, {"contexts": ["a"]}, {"contexts": []}], ("1",)),
        ([{"source_ids": ["1"]}, {"contexts": ["a"]}], ("1",)),
    ],
)
def test_the_ids_of_replaced_contexts_are_not_those_of_the_last_ones(
    events: list[dict[str, Any]], ids: tuple[str, ...] | None
) -> None:
    assert ask(streamed([sse(*events, {"answer": "30"})])).source_ids == ids


def test_an_empty_session_does_not_replace_an_earlier_one() -> None:
    events = [{"id": "s1"}, {"id": "s2", **END}, {"id": "", "answer": "30 days"}]
    assert ask(streamed([sse(*events)]), response="answer=answer contexts=contexts session=id").session == "s2"


@pytest.mark.parametrize(
    ("behaviour", "options", "kind", "text"),
    [
        pytest.param(streamed([]), {}, "endpoint_stream", "the stream has no events", id="empty"),
        pytest.param(streamed([b": ping\n\n"]), {}, "endpoint_stream", "the stream has no events", id="comments only"),
        pytest.param(
            streamed([b'{"error": ', b'"no index"}\n']),
            {},
            "endpoint_stream",
            'event 1 of the stream reports an error: "no index"',
            id="JSON with the wrong content type",
        ),
        pytest.param(
            streamed([b"No index", b" yet\n"]),
            {},
            "endpoint_stream",
            'the reply is not the stream that its Content-Type declares: "No index yet"',
            id="text with the wrong content type",
        ),
        pytest.param(
            streamed([LINES[:-1]]),
            {},
            "endpoint_stream",
            "event 3 of the stream: the reply's JSON breaks off",
            id="JSON lines with the wrong content type that break off",
        ),
        pytest.param(
            streamed([WHOLE, b"data: {"]),
            {},
            "endpoint_stream",
            "breaks off in the middle of event 5",
            id="ends within an event",
        ),
        pytest.param(
            streamed([WHOLE[:-1]]),
            {},
            "endpoint_stream",
            "breaks off in the middle of event 4",
            id="no last blank line",
        ),
        pytest.param(
            streamed([WHOLE, b"data: [DON"]),
            {},
            "endpoint_stream",
            "breaks off in the middle of event 5",
            id="ends within [DONE]",
        ),
        pytest.param(
            streamed([sse(delta("30"), delta(" days"))]),
            OPENAI,
            "endpoint_stream",
            "breaks off after event 2, before its end (choices[0].finish_reason)",
            id="without its end",
        ),
        pytest.param(
            streamed([sse(delta(finish_reason="tool_calls"), delta("30") | END)]),
            OPENAI,
            "endpoint_stream",
            "breaks off after event 2, before its end (choices[0].finish_reason)",
            id="without its end after tool calls",
        ),
        pytest.param(
            raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:"),
            {},
            "endpoint_unreachable",
            "the reply's body broke off",
            id="the connection breaks",
        ),
        pytest.param(
            raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n" + WHOLE),
            {},
            "endpoint_stream",
            "the reply's body broke off",
            id="the connection breaks between events",
        ),
        pytest.param(
            streamed([*pieces("30"), sse({"error": {"message": "the index is gone"}}), sse(END)]),
            {},
            "endpoint_stream",
            'event 2 of the stream reports an error: "the index is gone"',
            id="an error after half an answer",
        ),
        pytest.param(
            streamed([*pieces("30"), sse({"detail": "out of memory"}, event="error")]),
            {},
            "endpoint_stream",
            'event 2 of the stream reports an error: "out of memory"',
            id="an event of the type error",
        ),
        pytest.param(
            streamed([WHOLE, sse({}, event="error")]),
            {},
            "endpoint_stream",
            "event 5 of the stream reports an error: an object with no keys",
            id="an event of the type error without details",
        ),
        pytest.param(
            streamed([WHOLE, b"event: error\ndata\n\n"]),
            {},
            "endpoint_stream",
            "event 5 of the stream reports an error: an error event without data",
            id="an event of the type error without data",
        ),
        pytest.param(
            streamed([WHOLE, b"event: error\n\n"]),
            {},
            "endpoint_stream",
            "event 5 of the stream reports an error: an error event without data",
            id="an event of the type error without a line of data",
        ),
        pytest.param(
            streamed([sse("overloaded", event="error")]),
            {},
            "endpoint_stream",
            'event 1 of the stream reports an error: "overloaded"',
            id="an error as text",
        ),
        pytest.param(
            streamed([sse({"event": "error", "status": 400, "message": "quota"})]),
            {"shape": "dify"},
            "endpoint_stream",
            'event 1 of the stream reports an error: "quota"',
            id="an error of dify",
        ),
        pytest.param(
            streamed([WHOLE, sse({"error": "LLM timeout"}, event="ERROR"), sse({"finish_reason": "stop"})]),
            {},
            "endpoint_stream",
            'event 5 of the stream reports an error: "LLM timeout"',
            id="an error before an end as usual",
        ),
        pytest.param(
            streamed([sse({"finish_reason": "stop"}, {"answer": "30"}, END), sse({"status": "failed"}, event="run")]),
            {},
            "endpoint_stream",
            'event 4 of the stream reports an error: "status: failed"',
            id="a failure after a piece that follows the end of a step",
        ),
        pytest.param(
            streamed([sse({"tool": "crm", "error": "no such customer"}, event="tool_result"), sse(END)]),
            {},
            "endpoint_stream",
            'event 1 of the stream reports an error: "no such customer"',
            id="a tool that fails without an answer",
        ),
        pytest.param(
            streamed([WHOLE, sse({"status": "failed"}, event="run"), sse({}, event="done")]),
            {},
            "endpoint_stream",
            'event 5 of the stream reports an error: "status: failed"',
            id="a failure before an end that says nothing",
        ),
        pytest.param(
            streamed([WHOLE, sse({"type": "error", "message": "the model timed out"})]),
            {},
            "endpoint_stream",
            'event 5 of the stream reports an error: "the model timed out"',
            id="an error by its type",
        ),
        *(
            pytest.param(
                streamed([WHOLE, ending]),
                {},
                "endpoint_stream",
                f"event 5 of the stream reports an error: {error}",
                id=f"an answer that ends with {ending.decode().split()}",
            )
            for ending, error in (
                (sse({"message": "LLM timeout"}, event="ERROR"), '"LLM timeout"'),
                (sse({"message": "LLM timeout"}, event="failed"), '"LLM timeout"'),
                (sse("LLM timeout", event="exception"), '"LLM timeout"'),
                (b"event: aborted\n\n", "an error event without data"),
                (sse({"type": "stream_error", "message": "LLM timeout"}), '"LLM timeout"'),
                (sse({"type": "RunError", "message": "LLM timeout"}), '"LLM timeout"'),
                (sse({"code": 500, "msg": "LLM timeout"}), '"LLM timeout"'),
                (sse({"errorMessage": "LLM timeout"}), '"LLM timeout"'),
                (sse({"status": "FAILED"}), '"status: failed"'),
                (sse({"finish_reason": "error"}), '"finish_reason: error"'),
                (sse({"type": "finish", "finishReason": "error"}), '"finishReason: error"'),
            )
        ),
        pytest.param(
            streamed(
                [
                    sse({"type": "response.created", "response": {"error": None}}),
                    sse({"type": "response.output_text.delta", "delta": "Within 3"}),
                    sse({"type": "response.failed", "response": {"error": {"message": "server overloaded"}}} | END),
                ]
            ),
            {"response": "answer=delta contexts=contexts"},
            "endpoint_stream",
            'event 3 of the stream reports an error: "server overloaded"',
            id="an error of the Responses API",
        ),
        pytest.param(
            streamed([sse({"type": "response.incomplete", "response": CUT_OFF} | END)]),
            {"response": "answer=delta contexts=contexts"},
            "endpoint_stream",
            'the stream has no answer but an error: "max_output_tokens"',
            id="an answer of the Responses API that is cut off before its text",
        ),
        pytest.param(
            streamed([sse(delta(""), delta(" "), {**delta(finish_reason="length"), **END}, {"choices": []}, "[DONE]")]),
            OPENAI,
            "endpoint_stream",
            'the stream has no answer but an error: finish_reason "length" (the token limit was reached)',
            id="an answer that is cut off before its text",
        ),
        pytest.param(
            streamed([sse(delta(finish_reason="tool_calls") | END)]),
            OPENAI,
            "endpoint_stream",
            'the stream has no answer but an error: finish_reason "tool_calls" (the model ended with a tool call)',
            id="an agent that stops after its tool call",
        ),
        pytest.param(
            streamed([sse(delta(finish_reason="content_filter") | END)]),
            {"response": "answer=choices[0].delta.content contexts=contexts"},
            "endpoint_stream",
            'the stream has no answer but an error: finish_reason "content_filter" (a filter blocked it)',
            id="an answer that a filter blocks",
        ),
        pytest.param(
            streamed([sse({"answer": "", **END}, {"type": "finish", "finishReason": "content-filter"})]),
            {},
            "endpoint_stream",
            'the stream has no answer but an error: finishReason "content-filter" (a filter blocked it)',
            id="an answer of AI SDK that a filter blocks",
        ),
        pytest.param(
            streamed([sse({"answer": "", **END}, {"status": "failed", "message": "no index"})]),
            {},
            "endpoint_stream",
            'event 2 of the stream reports an error: "no index"',
            id="a failure in place of an answer",
        ),
        pytest.param(
            streamed([sse({"data": {"text": "30"}}, {"data": {"text": None, "error": "no quota"}}, END)]),
            {"response": "answer=data.text contexts=contexts"},
            "endpoint_stream",
            'event 2 of the stream reports an error: "no quota"',
            id="an error in a wrapper",
        ),
        pytest.param(
            streamed(
                [sse(delta("30")), sse(delta("**ERROR**: no quota")), sse(delta(None, finish_reason="stop"), "[DONE]")]
            ),
            {"shape": "ragflow"},
            "endpoint_stream",
            'event 2 of the stream reports an error: "**ERROR**: no quota"',
            id="an error of ragflow",
        ),
        pytest.param(
            streamed([sse({"choices": [{"delta": {"content": 30}}]})]),
            {"shape": "ragflow"},
            "endpoint_stream",
            "the answer in event 1 of the stream is the number 30, not a string",
            id="a piece of ragflow that is no text",
        ),
        pytest.param(
            streamed([sse({"answer": "30", "docs": 5})]),
            {"response": "answer=answer contexts=keys(docs)"},
            "endpoint_stream",
            "contexts=keys(docs) cannot be evaluated for this reply: In function keys(), invalid type for value: 5",
            id="an expression whose function rejects a value",
        ),
        pytest.param(
            streamed([sse(delta("30"))]),
            {**OPENAI, "response": "answer=choices[0].delta.content contexts=`[]`"},
            "endpoint_stream",
            "before its end (choices[0].finish_reason)",
            id="without its end, with a response beside the shape",
        ),
        pytest.param(
            streamed([sse({"answer": "30", "sources": [{"text": "a"}, {"id": 2}]})]),
            {"response": "answer=answer contexts=sources[].text"},
            "endpoint_stream",
            'event 1 of the stream: contexts=sources[].text finds nothing: sources[1] has no "text"',
            id="a context without its text",
        ),
        pytest.param(
            streamed([WHOLE], "text/plain"),
            {},
            "endpoint_reply",
            "Send it with Content-Type: text/event-stream",
            id="a stream that is declared as text",
        ),
        pytest.param(
            streamed(itertools.chain([sse({"error": "down"})], itertools.repeat(b": ping\n\n")), pause_seconds=0.01),
            {},
            "endpoint_stream",
            'reports an error: "down"',
            id="an error in a stream that stays open",
        ),
        pytest.param(
            streamed([*pieces("30"), b'data: {"answer": "\n\n']),
            {},
            "endpoint_stream",
            "event 2 of the stream: the reply's JSON breaks off",
            id="half a JSON value",
        ),
        pytest.param(
            streamed([b'{"answer": "30"}\n30 days\n'], NDJSON),
            {},
            "endpoint_stream",
            "event 2 of the stream: the reply is not JSON",
            id="a line that is no JSON",
        ),
        pytest.param(
            streamed([b'{"answer": "30"}\n{"answ'], NDJSON),
            {},
            "endpoint_stream",
            "event 2 of the stream: the reply's JSON breaks off",
            id="a line that breaks off",
        ),
        pytest.param(
            streamed([b"data: \xff\n\n"]), {}, "endpoint_stream", "event 1 of the stream is not UTF-8", id="not UTF-8"
        ),
        pytest.param(
            streamed([b'data: {"answer": "\xff"}\n\n']), {}, "endpoint_stream", "not UTF-8", id="JSON that is not UTF-8"
        ),
        pytest.param(
            streamed([sse({"answer": 30})]),
            {},
            "endpoint_stream",
            "the answer in event 1 of the stream is the number 30, not a string",
            id="an answer that is no text",
        ),
        pytest.param(
            streamed([sse({"response": "30"}, END)]),
            {},
            "endpoint_stream",
            'no event of the stream has the answer, or it ended early; the first is an object with "response"',
            id="no answer",
        ),
        pytest.param(
            streamed(pieces("30")),
            {},
            "endpoint_stream",
            'no event of the stream has the contexts, or it ended early; the first is an object with "answer"',
            id="no contexts",
        ),
        pytest.param(
            streamed([WHOLE, sse({"contexts": "one"})]),
            {},
            "endpoint_stream",
            "one string",
            id="contexts of another type",
        ),
        pytest.param(
            streamed([sse({"answer": "\ud800"}, END)]), {}, "endpoint_stream", "half a character", id="half a character"
        ),
        pytest.param(
            streamed([sse("[" * 200 + "]" * 200)]), {}, "endpoint_stream", "nested more than", id="deep nesting"
        ),
        pytest.param(
            streamed(itertools.chain(pieces("30"), itertools.repeat(b": ping\n\n")), pause_seconds=0.02),
            {"timeout_seconds": 0.3},
            "endpoint_timeout",
            "reading the reply's body",
            id="never ends",
        ),
        pytest.param(
            streamed(itertools.repeat(sse({"answer": "again "}))),
            {"max_reply_bytes": 100_000},
            "endpoint_reply",
            "the reply is larger than 100,000 bytes",
            id="an endless answer",
        ),
        pytest.param(
            streamed(itertools.repeat(b"data: " + b"x" * 65_536)),
            {"max_reply_bytes": 1_000_000},
            "endpoint_reply",
            "the reply is larger than 1,000,000 bytes",
            id="an endless line",
        ),
        pytest.param(
            streamed((bytes([byte]) for byte in WHOLE), pause_seconds=0.05),
            {"timeout_seconds": 0.3},
            "endpoint_timeout",
            "reading the reply's body",
            id="slow drip",
        ),
        pytest.param(
            streamed([WHOLE, sse({"status": "failed", "message": "LLM timeout"}, {"finish_reason": "stop"})]),
            {},
            "endpoint_stream",
            'reports an error: "LLM timeout"',
            id="a failure before an end as usual",
        ),
    ],
)
def test_a_stream_that_goes_wrong_is_an_error_that_says_where(
    behaviour: Behaviour, options: dict[str, Any], kind: str, text: str
) -> None:
    error = fail(behaviour, **options)
    assert error.kind == kind
    assert text in str(error)


def sources_of_ai_sdk(*names: str) -> list[dict[str, str]]:
    return [{"type": "source-document", "sourceId": name, "title": f"{name}.md"} for name in names]


TEXT_OF_AI_SDK = "answer=[@][?type=='text-delta'].delta | [0]"
OF_SOURCES = "[@][?starts_with(type, 'source-')]"


def test_the_source_parts_of_ai_sdk_are_collected() -> None:
    url = {"type": "source-url", "sourceId": "c", "url": "https://a.example", "title": "c.md"}
    events = [*sources_of_ai_sdk("a", "b"), {"type": "text-delta", "delta": "30 days"}, url, {"type": "finish"}]
    response = f"{TEXT_OF_AI_SDK} contexts={OF_SOURCES}.title source_ids={OF_SOURCES}.sourceId"
    answer = ask(streamed([sse(*events)]), response=response)
    assert (answer.contexts, answer.source_ids) == (("a.md", "b.md", "c.md"), ("a", "b", "c"))


def test_the_source_parts_of_ai_sdk_are_the_ids_of_the_contexts_of_a_tool() -> None:
    output = {"type": "tool-output-available", "output": [{"content": "A."}, {"content": "B."}]}
    events = [output, *sources_of_ai_sdk("a", "b"), {"type": "text-delta", "delta": "30 days"}]
    response = f"{TEXT_OF_AI_SDK} contexts=output[].content source_ids={OF_SOURCES}.title"
    answer = ask(streamed([sse(*events)]), response=response)
    assert (answer.contexts, answer.source_ids) == (("A.", "B."), ("a.md", "b.md"))


def hits(*texts: str) -> list[dict[str, str]]:
    return [{"text": text, "id": f"{text}md"} for text in texts]


def of_sdk(call: str, *texts: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool-output-available", "toolCallId": call, "output": hits(*texts), **more}


def of_item(call: str, *texts: str) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": {"id": call, "results": hits(*texts)}}


def of_graph(call: str, *texts: str) -> dict[str, Any]:
    return {"data": [{"type": "tool", "tool_call_id": call, "artifact": hits(*texts)}, {}]}


def of_data(call: str, *texts: str) -> dict[str, Any]:
    return {"type": "data-hits", "id": call, "data": hits(*texts)}


@pytest.mark.parametrize(
    ("events", "path", "texts"),
    [
        pytest.param([of_sdk("1", "A."), of_sdk("2", "B.", "C.")], "output", "A. B. C.", id="AI SDK 5"),
        pytest.param([of_item("1", "A."), of_item("2", "B.")], "item.results", "A. B.", id="the Responses API"),
        pytest.param([of_graph("1", "A."), of_graph("2", "B.")], "data[0].artifact", "A. B.", id="LangGraph"),
        pytest.param([of_data("1", "A."), of_data("2", "B.")], "data", "A. B.", id="data parts"),
        pytest.param(
            [of_sdk("1", "A.", preliminary=True), of_sdk("2", "B."), of_sdk("1", "A.", "C.")],
            "output",
            "A. C. B.",
            id="a newer state of a call",
        ),
        pytest.param([of_sdk("1", "A."), of_sdk("2"), of_sdk("3", "B.")], "output", "A. B.", id="no hit"),
        pytest.param([of_sdk("1", "A."), of_sdk("", "B.")], "output", "B.", id="contexts of no call, which are whole"),
        pytest.param([of_sdk("", "A."), of_sdk("1", "B.")], "output", "B.", id="a call after contexts of no call"),
    ],
)
def test_the_contexts_of_several_tool_calls_are_collected(events: list[dict[str, Any]], path: str, texts: str) -> None:
    response = f"{TEXT_OF_AI_SDK} contexts={path}[].text source_ids={path}[].id"
    answer = ask(streamed([sse(*events, {"type": "text-delta", "delta": "30 days"})]), response=response)
    assert " ".join(answer.contexts) == texts
    assert answer.source_ids == tuple(f"{each}md" for each in texts.split())


def test_a_context_that_lacks_its_text_in_an_earlier_tool_call_is_an_error() -> None:
    lacking = {"type": "tool-output-available", "toolCallId": "1", "output": [{"text": "A."}, {"id": "b"}]}
    events = [lacking, of_sdk("2", "C."), {"type": "text-delta", "delta": "30 days"}]
    error = fail(streamed([sse(*events)]), response=f"{TEXT_OF_AI_SDK} contexts=output[].text")
    assert 'event 1 of the stream: contexts=output[].text finds nothing: output[1] has no "text"' in str(error)


def test_a_context_that_gets_its_text_in_a_later_state_of_all_tool_calls_is_read() -> None:
    lacking = {"tool_call_id": "1", "output": [{"text": "A."}, {"id": "b"}]}
    whole = {"tool_call_id": "2", "output": hits("A.", "B.")}
    answer = ask(streamed([sse(lacking, whole, {"answer": "30"})]), response="answer=answer contexts=output[].text")
    assert answer.contexts == ("A.", "B.")


def test_the_end_of_the_lines_of_ai_sdk_4_says_why_the_answer_is_cut_off() -> None:
    lines = b'2:[{"text": "Refunds: 30 days."}]\n0:"30"\ne:{"finishReason": "length"}\nd:{"finishReason": "length"}\n'
    answer = ask(chunked([lines]), response="""answer=join('', []."0") contexts=[?"2"]."2"[].text""")
    assert (answer.text, answer.unfinished) == ("30", 'finishReason "length" (the token limit was reached)')


def test_a_source_part_that_is_no_array_is_named() -> None:
    events = [*sources_of_ai_sdk("a", "b"), {"type": "text-delta", "delta": "30 days"}]
    error = fail(streamed([sse(*events)]), response=f"{TEXT_OF_AI_SDK} contexts=title")
    assert '"title" is one string, not an array' in str(error)


def test_the_contexts_of_a_tool_call_replace_a_value_that_is_no_array() -> None:
    events = [{"contexts": 5}, {"tool_call_id": "1", "contexts": ["A."]}, {"answer": "30 days"}]
    assert ask(streamed([sse(*events)])).contexts == ("A.",)


def test_a_stream_of_another_shape_names_the_setting_that_reads_it() -> None:
    hits = {"event": "docs", "hits": [{"path": "kb/a.md", "body": "Refunds: 30 days."}]}
    error = fail(streamed([sse(hits), *(sse({"event": "token", "delta": word}) for word in ("30 ", "days"))]))
    response = "answer=[@][?event=='token'].delta | [0] contexts=hits[].body source_ids=hits[].path"
    assert str(error).splitlines()[1] == f"Set rag_response = {response}"


HITS = [{"text": "Refunds: 30 days.", "source": "terms.md"}]
OF_HITS = "sources[].text source_ids=sources[].source"


@pytest.mark.parametrize(
    ("events", "setting"),
    [
        pytest.param(
            [
                {"type": "sources", "sources": HITS},
                {"type": "token", "content": "30 "},
                {"type": "token", "content": "days"},
                {"type": "done"},
            ],
            f"answer=[@][?type=='token'].content | [0] contexts={OF_HITS}",
            id="types",
        ),
        pytest.param(
            [{"token": "30 ", "sources": []}, {"token": "days", "sources": []}, {"token": "", "sources": HITS}],
            f"answer=token contexts={OF_HITS}",
            id="empty arrays before the sources",
        ),
        pytest.param(
            [
                {"type": "textResponseChunk", "textResponse": "30 days", "sources": [], "error": False},
                {"type": "textResponseChunk", "textResponse": "", "sources": HITS, "error": False},
                {"type": "finalizeResponseStream", "close": True},
            ],
            f"answer=[@][?type=='textResponseChunk'].textResponse | [0] contexts={OF_HITS}",
            id="AnythingLLM",
        ),
        pytest.param(
            [
                {"event": "start", "data": ""},
                {"event": "token", "data": "30 "},
                {"event": "token", "data": "days"},
                {"event": "sourceDocuments", "data": HITS},
                {"event": "metadata", "data": {"chatId": "1"}},
            ],
            "answer=[@][?event=='token'].data | [0] contexts=data[].text source_ids=data[].source",
            id="Flowise",
        ),
        pytest.param(
            [
                {"event": "on_chain_start", "data": {"input": "How long?"}},
                {"event": "on_retriever_end", "data": {"output": HITS}},
                {"event": "on_chat_model_stream", "data": {"chunk": {"content": "30 days"}}},
            ],
            "answer=[@][?event=='on_chat_model_stream'].data.chunk.content | [0] contexts=data.output[].text "
            "source_ids=data.output[].source",
            id="LangChain's events",
        ),
        pytest.param(
            [
                {"type": "response.created", "response": {"status": "in_progress", "error": None, "output": []}},
                {"type": "response.output_item.done", "item": {"type": "file_search_call", "results": HITS}},
                {"type": "response.output_text.delta", "delta": "30 "},
                {"type": "response.output_text.delta", "delta": "days"},
                {"type": "response.output_text.done", "text": "30 days"},
            ],
            "answer=[@][?type=='response.output_text.delta'].delta | [0] contexts=item.results[].text "
            "source_ids=item.results[].source",
            id="the Responses API",
        ),
        pytest.param(
            [
                {"type": "search_results", "search_results": HITS},
                {"type": "generation_chunk", "generation_chunk": "30 days"},
                {"type": "end"},
            ],
            "answer=[@][?type=='generation_chunk'].generation_chunk | [0] contexts=search_results[].text "
            "source_ids=search_results[].source",
            id="Vectara",
        ),
        pytest.param(
            [{"result": {"content": [{"type": "text", "text": json.dumps({"answer": "30 days", "sources": HITS})}]}}],
            "answer=from_json(result.content[0].text).answer contexts=from_json(result.content[0].text)."
            "sources[].text source_ids=from_json(result.content[0].text).sources[].source",
            id="a tool of an MCP server",
        ),
    ],
)
def test_the_setting_that_the_error_of_a_stream_names_reads_it(events: list[dict[str, Any]], setting: str) -> None:
    stream = streamed([sse(*events)])
    assert str(fail(stream)).splitlines()[1] == f"Set rag_response = {setting}"
    answer = ask(stream, response=setting)
    assert (answer.text, answer.contexts, answer.source_ids) == ("30 days", ("Refunds: 30 days.",), ("terms.md",))


def test_the_name_of_an_event_is_its_key_event_and_its_data_a_text_or_an_array() -> None:
    stream = streamed(
        [
            sse({"text": "Searching"}, event="status"),
            sse("30", " [", event="token"),
            sse(HITS, event="sources"),
            sse("days]", event="token"),
            sse("", event="done"),
        ]
    )
    setting = "answer=[@][?event=='token'].data | [0] contexts=data[].text source_ids=data[].source"
    assert str(fail(stream)).splitlines()[1] == f"Set rag_response = {setting}"
    answer = ask(stream, response=setting)
    assert (answer.text, answer.contexts, answer.source_ids) == ("30 [days]", ("Refunds: 30 days.",), ("terms.md",))


def test_the_contexts_of_fastgpt_follow_its_last_answer() -> None:
    quotes = [{"moduleName": "AI"}, {"quoteList": [{"q": "Refunds: 30 days.", "sourceName": "terms.md"}]}]
    stream = streamed([sse(delta("30 "), delta("days"), "[DONE]", event="answer"), sse(quotes, event="flowResponses")])
    of_quotes = "data[?quoteList][].quoteList[]"
    answer = ask(
        stream,
        response=f"answer=choices[0].delta.content contexts={of_quotes}.q source_ids={of_quotes}.sourceName",
    )
    assert (answer.text, answer.contexts, answer.source_ids) == ("30 days", ("Refunds: 30 days.",), ("terms.md",))


def test_an_event_keeps_its_own_key_event() -> None:
    stream = streamed([sse({"event": "chunk", "text": "30 days"}, event="message"), sse(END, event="docs")])
    assert ask(stream, response="answer=[@][?event=='chunk'].text | [0] contexts=contexts").text == "30 days"


def of_human(**more: Any) -> dict[str, Any]:
    return {"messages": [{"type": "human", "content": "How long?"}], **more}


@pytest.mark.parametrize(
    ("chunks", "setting"),
    [
        pytest.param(
            [
                sse({"run_id": "1"}, event="metadata"),
                sse(of_human(sources=[]), of_human(sources=HITS), event="values"),
                sse({"messages": [{"type": "ai", "content": "30 days"}], "sources": HITS}, event="values"),
            ],
            f"answer=[messages[-1]][?type=='ai'].content | [0] contexts={OF_HITS}",
            id="the message of the user, in LangGraph",
        ),
        pytest.param(
            [
                sse({"event": "add_message", "data": {"sender": "User", "text": "How long?"}}),
                sse(*({"event": "token", "data": {"chunk": word}} for word in ("30 ", "days"))),
                sse({"event": "end", "data": {"sources": HITS}}),
            ],
            "answer=[@][?event=='token'].data.chunk | [0] contexts=data.sources[].text "
            "source_ids=data.sources[].source",
            id="the message of the user, in Langflow",
        ),
        pytest.param(
            [
                sse({"type": "item.done", "item": {"type": "function_call_output", "output": json.dumps(HITS)}}),
                sse({"type": "text.delta", "delta": "30 "}, {"type": "text.delta", "delta": "days"}),
            ],
            "answer=[@][?type=='text.delta'].delta | [0] contexts=from_json(item.output)[].text "
            "source_ids=from_json(item.output)[].source",
            id="the output of a tool",
        ),
        pytest.param(
            [
                sse({"message": "Searching"}, event="info"),
                sse({"content": "30 "}, {"content": "days"}, event="part"),
                sse({"sources": HITS}, event="end"),
            ],
            f"answer=[@][?event=='part'].content | [0] contexts={OF_HITS}",
            id="a message about the progress",
        ),
        pytest.param(
            [
                sse({"text": "The user asks"}, event="thinking.delta"),
                sse({"text": "30 "}, {"text": "days"}, event="text.delta"),
                sse({"sources": HITS}, event="end"),
            ],
            f"answer=[@][?event=='text.delta'].text | [0] contexts={OF_HITS}",
            id="thoughts that only the name of their event tells",
        ),
    ],
)
def test_a_text_beside_the_answer_is_not_suggested_as_the_answer(chunks: list[bytes], setting: str) -> None:
    assert str(fail(streamed(chunks))).splitlines()[1] == f"Set rag_response = {setting}"
    answer = ask(streamed(chunks), response=setting)
    assert (answer.text, answer.contexts, answer.source_ids) == ("30 days", ("Refunds: 30 days.",), ("terms.md",))


@pytest.mark.parametrize(
    ("chunks", "expression"),
    [
        ([sse(delta("30 "), delta("days"), delta(finish_reason="stop"))], "choices[0].delta.content"),
        ([sse({"answer": "30 "}, {"answer": "days"})], "answer"),
        ([sse(["30 days"], event="generating")], "[@][?event=='generating'].data[0] | [0]"),
    ],
)
def test_a_stream_without_contexts_is_an_error_that_names_the_answer(chunks: list[bytes], expression: str) -> None:
    error = fail(streamed(chunks))
    assert str(error).splitlines()[1] == (
        f"Set rag_response = answer={expression} contexts=EXPRESSION with an expression that leads to them, "
        "or contexts=`[]` if the reply has none."
    )
    answer = ask(streamed(chunks), response=f"answer={expression} contexts=`[]`")
    assert (answer.text, answer.contexts) == ("30 days", ())


LANGGRAPH = {"response": "answer=data[0].content contexts=docs[].text"}


def graph_events(*metadata: dict[str, str]) -> bytes:
    chunks = [json.dumps([{"content": "", "response_metadata": each}, {}]) for each in metadata]
    events = [*(f"event: messages\ndata: {chunk}\n\n" for chunk in chunks), 'event: values\ndata: {"docs": []}\n\n']
    return "".join(events).encode()


def test_a_streamed_message_of_langgraph_that_is_unfinished_is_no_abstention() -> None:
    error = fail(streamed([graph_events({"finish_reason": "length"})]), **LANGGRAPH)
    assert 'has no answer but an error: finish_reason "length" (the token limit was reached)' in str(error)
    events = graph_events({"stop_reason": "tool_use"}, {"stop_reason": "end_turn"})
    assert ask(streamed([events]), **LANGGRAPH).text == ""


def test_an_agent_that_goes_on_after_its_tool_call_may_decline_by_an_empty_answer() -> None:
    events = [delta(finish_reason="tool_calls") | END, delta("", finish_reason="stop")]
    assert ask(streamed([sse(*events)]), **OPENAI).text == ""


def test_the_pieces_of_a_refusal_are_the_answer() -> None:
    refusals = [delta(None, delta={"refusal": text}) for text in ("I can't ", "help.")]
    answer = ask(streamed([sse(delta("", refusal=None), *refusals, delta(finish_reason="stop") | END)]), **OPENAI)
    assert answer.text == "I can't help."


def test_a_refusal_of_the_responses_api_is_the_answer() -> None:
    item = {"type": "response.output_item.done", "item": {"type": "file_search_call", "results": HITS}}
    refusals = [{"type": "response.refusal.delta", "delta": text} for text in ("I can't ", "help.")]
    stream = streamed([sse(item, *refusals, {"type": "response.refusal.done", "refusal": "I can't help."})])
    setting = str(fail(stream)).splitlines()[1].removeprefix("Set rag_response = ")
    assert setting.startswith("answer=[@][?type=='response.output_text.delta'].delta | [0] contexts=")
    assert ask(stream, response=setting).text == "I can't help."


@pytest.mark.parametrize("hits", [HITS, None])
def test_a_stream_may_leave_out_the_contexts_if_the_setting_says_so(hits: list[dict[str, str]] | None) -> None:
    stream = streamed([sse(*([{"sources": hits}] if hits else []), {"token": "30 "}, {"token": "days"})])
    answer = ask(stream, response="answer=token contexts=not_null(sources[].text, `[]`)")
    assert (answer.text, answer.contexts) == ("30 days", ("Refunds: 30 days.",) if hits else ())


@pytest.mark.parametrize(
    ("parts", "setting"),
    [
        (
            [
                {"type": "block", "delta": {"citation": {"cited_text": text, "document_title": name}}}
                for text, name in (("A.", "a.md"), ("B.", "b.md"))
            ],
            "contexts=[delta.citation.cited_text]",
        ),
        (
            [
                {"citation": {"references": [{"content": {"text": text}, "file": {"name": "a.md", "size": 1}}]}}
                for text in ("A.", "B.")
            ],
            "contexts=citation.references[].content.text source_ids=citation.references[].file.name",
        ),
    ],
)
def test_the_contexts_of_events_with_one_citation_are_collected(parts: list[dict[str, Any]], setting: str) -> None:
    stream = streamed([sse({"type": "block", "delta": {"text": "30 "}}, parts[0]), sse(*parts[1:])])
    named = str(fail(stream)).splitlines()[1].removeprefix("Set rag_response = ")
    assert named == f"answer=[@][?type=='block'].delta.text | [0] {setting}"
    assert ask(stream, response=named).contexts == ("A.", "B.")


def test_the_citations_so_far_in_every_event_are_no_further_contexts() -> None:
    events = [{"token": word, "citations": HITS} for word in ("30 ", "days")]
    answer = ask(streamed([sse(*events)]), response="answer=token contexts=citations[].text")
    assert answer.contexts == ("Refunds: 30 days.",)


def test_the_documents_of_each_citation_in_a_stream_of_cohere_are_collected() -> None:
    def part(kind: str, **parts: Any) -> dict[str, Any]:
        return {"type": kind, "index": 0, "delta": {"message": parts}}

    def citation(name: str, text: str) -> dict[str, Any]:
        document = {"id": name, "snippet": text, "title": f"{name}.md"}
        sources = [{"type": "document", "id": name, "document": document}]
        return part("citation-start", citations={"start": 0, "end": 2, "text": "30", "sources": sources})

    events = [
        part("message-start", role="assistant", content=[], tool_plan="", citations=[]),
        part("content-start", content={"type": "text", "text": ""}),
        part("content-delta", content={"text": "30 "}),
        part("content-delta", content={"text": "days"}),
        citation("a", "A."),
        {"type": "citation-end", "index": 0},
        citation("b", "B."),
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    ]
    stream = streamed([sse(*events, "[DONE]")])
    setting = str(fail(stream)).splitlines()[1].removeprefix("Set rag_response = ")
    assert setting == (
        "answer=[@][?type=='content-delta'].delta.message.content.text | [0] "
        "contexts=delta.message.citations.sources[].document.snippet "
        "source_ids=delta.message.citations.sources[].document.title"
    )
    answer = ask(stream, response=setting, **OPENAI)
    assert (answer.text, answer.contexts, answer.source_ids) == ("30 days", ("A.", "B."), ("a.md", "b.md"))


def test_the_message_of_a_stream_without_contexts_is_named() -> None:
    error = fail(streamed([sse({"answer": "30"}, {"detail": "no index"})]))
    assert str(error).splitlines()[0].endswith('; the first is an object with "answer"; "detail" is "no index"')


def test_the_only_context_of_a_stream_may_be_a_text() -> None:
    error = fail(streamed([sse({"token": "30 "}, {"token": "days"}, {"context": "Refunds: 30 days."})]))
    assert str(error).splitlines()[1] == "Set rag_response = answer=token contexts=[context]"


def test_a_status_message_is_not_taken_for_the_answer() -> None:
    events = [{"message": "Searching"}, {"token": "30 "}, {"token": "days"}, {"sources": [{"text": "30 days."}]}]
    error = fail(streamed([sse(event) for event in events]))
    assert str(error).splitlines()[1] == "Set rag_response = answer=token contexts=sources[].text"


def test_pieces_of_plain_text_may_have_brackets_and_quotes() -> None:
    stream = streamed([sse("The", ' "window"', " is", "[1]", '"', '"30"', " {", "days}", END)])
    answer = ask(stream, response="answer=[@][?type(@) == 'string'] | [0] contexts=contexts")
    assert answer.text == 'The "window" is[1]""30" {days}'


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        (["The", "The cat", "The cat sat"], "The cat sat"),
        (["", "The", "The cat", "The cat sat", "The cat sat", ""], "The cat sat"),
        (["The", "The cat"], "TheThe cat"),
        (["ha", "ha", "ha"], "hahaha"),
        (["no", "no", "no, no"], "nonono, no"),
        (["1", "10", "1"], "1101"),
        (["The", "The cat", "The cat sat", "."], "TheThe catThe cat sat."),
        (["The", "The cat", "The cat sat", "The cat sat.", "The cat [1] sat."], "The cat [1] sat."),
        (["Let", "Let me", "Let me see.", "30", "30 days", "30 days."], "30 days."),
        (["-", "--", "---", " a", " b", " b."], "------ a b b."),
        (["30 ", "days", "", ".\n", "30 days."], "30 days."),
        (["The cat sat", "The cat sat"], "The cat sat"),
        (["1", "1"], "11"),
        (["30 ", "days", "30 days", "!"], "30 days30 days!"),
    ],
)
def test_events_that_repeat_the_answer_so_far_do_not_double_it(texts: list[str], answer: str) -> None:
    assert ask(streamed([*pieces(*texts), sse(END)])).text == answer


def test_a_reply_that_is_too_large_is_quoted_from_its_start() -> None:
    error = fail(streamed(itertools.repeat(sse({"answer": "again "}))), max_reply_bytes=100_000)
    assert isinstance(error, EndpointReplyError)
    assert (error.body or "").startswith('data: {"answer": "again "}')


def test_a_connection_is_used_again_after_the_last_event() -> None:
    async def run(url: str) -> None:
        async with RagClient(url) as client:
            for _ in range(3):
                assert (await client.query("How long?")).text == "30 däys"

    with FakeEndpoint(streamed([WHOLE, sse("[DONE]")])) as endpoint:
        asyncio.run(run(endpoint.url))
    assert endpoint.connections == 1


def test_a_line_of_ten_megabytes_is_read() -> None:
    text = "x" * 9_000_000
    assert len(ask(streamed([sse({"answer": text}), sse(END)])).text) == len(text)


def test_an_answer_without_a_word_is_an_abstention_without_a_first_token() -> None:
    answer = ask(streamed([sse({"answer": ""}), sse(END)]))
    assert (answer.text, answer.first_token_seconds) == ("", None)


def test_a_system_that_retrieved_nothing_has_no_contexts() -> None:
    answer = ask(
        streamed([sse({"event": "message", "answer": "I do not know."}, {"event": "message_end"})]), shape="dify"
    )
    assert (answer.contexts, answer.source_ids) == ((), None)


def test_an_answer_that_the_moderation_of_dify_replaces_is_not_joined_to_the_new_one() -> None:
    events = [{"event": "message", "answer": "A bad "}, {"event": "message", "answer": "word."}]
    events += [{"event": "message_replace", "answer": "I cannot say."}, {"event": "message_end"}]
    assert ask(streamed([sse(*events)]), shape="dify").text == "I cannot say."


def test_the_first_token_is_timed_apart_from_the_whole_answer() -> None:
    behaviour = streamed(itertools.chain([sse({"role": "assistant"})], pieces("30", " days"), [sse(END)]), SSE, 0.3)
    answer = ask(behaviour)
    assert answer.first_token_seconds is not None
    assert answer.latency_seconds is not None
    # The first event has no text, and two pauses follow the first piece.
    assert 0.3 <= answer.first_token_seconds < answer.latency_seconds - 0.1


def test_an_app_in_this_process_has_no_first_token() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", SSE.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": WHOLE})

    async def run() -> RagAnswer:
        library = http_library()
        http = library.AsyncClient(transport=library.ASGITransport(app=app))
        async with RagClient("http://app/query", http=http, close_http=True) as client:
            return await client.query("How long?")

    answer = asyncio.run(run())
    assert (answer.text, answer.first_token_seconds) == ("30 däys", None)


def test_the_first_token_is_that_of_the_first_piece_and_the_latency_ends_with_the_stream() -> None:
    parser = parser_for(SSE)
    assert parser is not None
    reply = StreamedReply(parser, read_shape("openai-chat").stream, started=time.perf_counter())
    times = []
    for event in (delta(""), delta("30"), delta(" days"), "[DONE]"):
        reply.feed(sse(event))
        times.append((reply.first_token_seconds, reply.latency_seconds))
    (_, (first, _), *_, (_, latency)) = times
    assert first is not None
    assert latency is not None
    assert 0 < first < latency
    assert times == [(None, None), (first, None), (first, None), (first, latency)]


def test_what_is_not_a_stream_is_read_as_before() -> None:
    answer = ask(json_reply({"answer": "30 days", **END}))
    assert (answer.text, answer.first_token_seconds) == ("30 days", None)


@pytest.mark.parametrize("headers", [{}, {"content_type": "text/plain; charset=utf-8"}, {"content_type": "text/html"}])
def test_json_lines_without_a_type_of_their_own_are_a_stream(headers: dict[str, str]) -> None:
    answer = ask(chunked([LINES[:20], LINES[20:]], 0.3, **headers))
    assert (answer.text, answer.contexts) == ("30 däys", ("Refunds: 30 days.",))
    assert answer.first_token_seconds is not None
    assert answer.latency_seconds is not None
    assert answer.first_token_seconds < answer.latency_seconds - 0.1


@pytest.mark.parametrize("headers", [{}, {"content_type": "text/plain"}])
@pytest.mark.parametrize("indent", [None, 2])
def test_one_json_value_without_a_type_of_its_own_is_no_stream(headers: dict[str, str], indent: int | None) -> None:
    body = json.dumps({"choices": [{"message": {"content": "30 days"}}]} | END, indent=indent) + "\n"
    answer = ask(chunked([body[:9].encode(), body[9:].encode()], 0.0, **headers), **OPENAI)
    assert (answer.text, answer.first_token_seconds) == ("30 days", None)


def test_json_lines_without_a_type_of_their_own_name_the_event_that_is_wrong() -> None:
    error = fail(chunked([b'{"answer": "30"}\n{"error": "no index"}\n']))
    assert 'event 2 of the stream reports an error: "no index"' in str(error)
    refused = fail(chunked([LINES]), stream=False)
    assert "Or stream one a line, with Content-Type: application/x-ndjson and rag_stream = auto." in str(refused)
