from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.rag.body.json_body import DEEPEST, ReplyMismatch, parse_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_whatever_is_written_as_json_is_read_as_it_was(value):
    assert parse_json(json.dumps(value).encode()) == value


@given(st.binary(max_size=50))
def test_any_bytes_are_json_or_a_mismatch(body):
    try:
        parse_json(body)
    except ReplyMismatch as mismatch:
        assert mismatch.found.startswith("the reply")  # noqa: PT017 - most bytes are no JSON, some are
        assert mismatch.to_do.endswith(".")  # noqa: PT017


def test_the_lines_of_ai_sdk_4_are_an_array():
    lines = b'f:{"messageId":"m"}\n0:"a\\nb"\r\n8:[{"data":{"nodes":[]}}]\n\nd:{"finishReason":"stop"}\n'
    assert parse_json(lines) == [
        {"f": {"messageId": "m"}},
        {"0": "a\nb"},
        {"8": [{"data": {"nodes": []}}]},
        {"d": {"finishReason": "stop"}},
        {"finishReason": "stop"},
    ]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (b'0:"Refunds"\n3:"no index"\n', 'the stream reports an error: "no index"'),
        (b'0:"Refunds"\n3:\n', "the stream reports an error: "),
        (b'0:"Ref"\nd:{"finishReason":"error"}', 'the stream reports an error: "finishReason":"error"'),
        (b'0:"Refunds"\n0:"take', "the reply's JSON breaks off, at line 1, column "),
        (b'0:"Refunds"\nplain\n', "the reply is not JSON (Expecting value at line 1, column "),
    ],
)
def test_lines_of_ai_sdk_4_that_are_no_answer_are_refused(lines, found):
    with pytest.raises(ReplyMismatch) as caught:
        parse_json(lines)
    assert caught.value.found.startswith(found)


def test_a_byte_order_mark_is_skipped():
    assert parse_json(b'\xef\xbb\xbf{"answer": "\xc3\xa9"}') == {"answer": "é"}


def test_the_charset_that_a_reply_declares_is_named_where_it_is_not_utf_8():
    with pytest.raises(ReplyMismatch) as caught:
        parse_json('"é"'.encode("latin-1"), "application/json; charset=iso-8859-1")
    assert caught.value.found == (
        "the reply is not UTF-8, as its Content-Type 'application/json; charset=iso-8859-1' says: "
        "byte 0xe9 at position 1"
    )


def test_a_body_of_gzip_without_its_header_is_named():
    with pytest.raises(ReplyMismatch) as caught:
        parse_json(gzip.compress(b'{"answer": "30 days"}'), "application/json")
    assert caught.value.found == "the reply's body is compressed with gzip, but has no Content-Encoding"
    assert caught.value.to_do == "Send Content-Encoding: gzip, or the body without compression."


def test_nesting_is_allowed_up_to_the_limit_and_not_beyond():
    def nested(levels: int) -> bytes:
        return b"[" * levels + b"]" * levels

    assert parse_json(nested(DEEPEST)) is not None
    assert parse_json(b"[" + b",".join([nested(DEEPEST - 1)] * 3) + b"]") is not None
    for levels in (DEEPEST + 1, 100_000):
        with pytest.raises(ReplyMismatch, match=rf"nested more than {DEEPEST} levels deep"):
            parse_json(nested(levels))
    with pytest.raises(ReplyMismatch, match="nested more than"):
        parse_json(b'{"a":' * 200 + b"1" + b"}" * 200)


def test_many_shallow_values_are_not_deep():
    assert len(parse_json(b"[" + b",".join([b"[]", b"{}"] * 500) + b"]")) == 1000


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_the_constants_that_python_reads_beyond_json_are_refused(constant):
    with pytest.raises(ReplyMismatch, match=f"the reply holds {constant}, which is not JSON"):
        parse_json(f'{{"score": {constant}}}'.encode())


def test_a_line_break_within_a_string_is_named_with_its_place():
    with pytest.raises(ReplyMismatch, match=r"is not JSON \(Invalid control character at line 1, column 3\)"):
        parse_json(b'["\n"]')


@pytest.mark.parametrize(("body", "is_a_stream"), [(b'{"a": 1}\n{"a": 2}\n', True), (b'{"a": 1}]', False)])
def test_json_lines_that_are_not_declared_are_named_with_their_content_type(body, is_a_stream):
    with pytest.raises(ReplyMismatch, match="the reply goes on after its JSON has ended") as caught:
        parse_json(body, "application/json")
    assert ("application/x-ndjson" in caught.value.to_do) == is_a_stream


def test_a_mismatch_reads_as_what_was_found_and_what_to_do():
    with pytest.raises(ReplyMismatch) as caught:
        parse_json(b"")
    assert str(caught.value) == "the reply has an empty body. Return JSON."
