"""Events are those of the HTML standard, wherever the chunks end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.rag.body.event_parsers import JsonLines, ServerSentEvents, is_lines, parser_for


def events_of(*chunks: bytes, lines: bool = False) -> list[tuple[str, str]]:
    parser = JsonLines() if lines else ServerSentEvents()
    found = [event for chunk in chunks for event in parser.feed(chunk)]
    found += [last] if (last := parser.finish()) else []
    return [(event.type, event.data.decode()) for event in found]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        pytest.param("data: a\n\ndata: b\n\n", ["a", "b"], id="two events"),
        pytest.param("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"], id="CR LF"),
        pytest.param("data: a\r\rdata: b\r\r", ["a", "b"], id="CR"),
        pytest.param("data: a\r\n\rdata: b\n\r\n", ["a", "b"], id="mixed line ends"),
        pytest.param("\ufeffdata: a\n\n", ["a"], id="byte order mark"),
        pytest.param("data: a\n\n\ufeffdata: b\n\n", ["a"], id="a byte order mark later is part of a name"),
        pytest.param("data: a\ndata: b\n\n", ["a\nb"], id="several data lines"),
        pytest.param("data: a\r\ndata: b\r\n\r\n", ["a\nb"], id="several data lines with CR LF"),
        pytest.param("data:a\n\ndata:  b\n\n", ["a", " b"], id="one blank after the colon is left out"),
        pytest.param(": comment\ndata: a\n: another\n\n:\n\n", ["a"], id="comments"),
        pytest.param("id: 1\nretry: 5\ndata: a\nunknown: x\n\n", ["a"], id="other fields"),
        pytest.param("data\n\ndata\ndata\n\n", ["", "\n"], id="a field without a colon has an empty value"),
        pytest.param("data: a\n\n\n\n\ndata: b\n\n", ["a", "b"], id="more blank lines"),
        pytest.param("event: x\n\ndata: a\n\n", ["a"], id="an event without data is none, and its type is forgotten"),
        pytest.param("data: a:b: c\n\n", ["a:b: c"], id="colons in the data"),
        pytest.param("Data: a\n\n data: b\n\ndata: c\n\n", ["c"], id="names are exact"),
        pytest.param("data: \u2028\u0085\x0b\x0c\n\n", ["\u2028\u0085\x0b\x0c"], id="no other line ends"),
    ],
)
def test_events_are_read_as_the_standard_says_in_chunks_of_any_size(stream: str, events: list[str]) -> None:
    encoded = stream.encode()
    for size in (len(encoded), 1, 2, 3):
        chunks = [encoded[start : start + size] for start in range(0, len(encoded), size)]
        assert events_of(*chunks) == [("", event) for event in events]


@pytest.mark.parametrize("line_end", ["", "\r", "\n", "\r\n"])
def test_the_end_returns_the_event_that_no_blank_line_follows(line_end: str) -> None:
    parser = ServerSentEvents()
    assert [event.data for event in parser.feed(b"data: a\n\ndata: b" + line_end.encode())] == [b"a"]
    assert parser.is_within_event
    assert (last := parser.finish()) is not None
    assert last.data == b"b"


def test_an_event_has_the_last_type_that_it_names() -> None:
    assert events_of(b"event: a\nevent: error\ndata: 1\n\ndata: 2\n\n") == [("error", "1"), ("", "2")]


def test_json_lines_end_at_line_feeds_and_at_the_end() -> None:
    stream = '\ufeff{"a": "ä"}\r\n\n  \n{"b": 2}'.encode()
    for size in (1, 2, 100):
        chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert events_of(*chunks, lines=True) == [("", '{"a": "ä"}'), ("", '{"b": 2}')]


@given(
    st.lists(st.sampled_from(["data", "event", "id", ":", ": ", " ", "\n", "\r", "\r\n", "a", "é", "\ufeff", "\n\n"])),
    st.integers(1, 7),
)
def test_chunks_never_change_the_events(pieces: list[str], size: int) -> None:
    stream = "".join(pieces).encode()
    chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert events_of(*chunks) == events_of(stream)


@pytest.mark.parametrize(
    ("content_type", "parser"),
    [
        ("text/event-stream", ServerSentEvents),
        ("Text/Event-Stream; charset=utf-8", ServerSentEvents),
        ("application/x-ndjson", JsonLines),
        ("application/jsonl", JsonLines),
        ("application/stream+json", JsonLines),
        ("application/json", type(None)),
        ("application/problem+json", type(None)),
    ],
)
def test_the_media_type_decides(content_type: str, parser: type) -> None:
    found = parser_for(content_type)
    assert isinstance(found, parser)
    assert found is None or found.is_declared


@pytest.mark.parametrize("content_type", ["", "text/plain; charset=utf-8", "text/html", "application/octet-stream"])
def test_a_media_type_of_anything_may_have_json_lines(content_type: str) -> None:
    found = parser_for(content_type)
    assert isinstance(found, JsonLines)
    assert not found.is_declared


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b'{"a": 1}\n{"a": 2}\n', True),
        (b'{"a": 1}\r\n\r\n {"a"', True),
        (b'{"a": 1}\n', False),
        (b'{"a":\n{"b": 1}}', False),
        (b'{\n  "a": {}\n}\n', False),
        (b'[{"a": 1},\n{"a": 2}]', False),
        (b"A plain text\n{", False),
        (b"", False),
    ],
)
def test_two_lines_of_objects_are_json_lines_and_one_json_value_is_not(body: bytes, lines: bool) -> None:
    assert is_lines(body) == lines
