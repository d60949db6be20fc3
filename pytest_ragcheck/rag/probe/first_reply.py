"""Defines the checks of the probe, and decides those that need only the reply to the first question."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import Enum
from http import HTTPStatus
from typing import Any

from pytest_ragcheck.errors import EndpointReplyError, EndpointStatusError, EndpointTimeout
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.event_parsers import parser_for
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, excerpt, parse_json
from pytest_ragcheck.rag.http.connections import Phase
from pytest_ragcheck.rag.probe.probe_exchange import Exchange
from pytest_ragcheck.rag.shapes.shape import read_reply

Clean = Callable[[Any], Any]

SHOWN = 60
"""Most characters of an endpoint's text in one line."""


class CheckOutcome(str, Enum):
    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"
    ADVICE = "advice"
    """The endpoint works, but may surprise a user."""

    NOT_CHECKED = "not checked"


class Check(Enum):
    """One check of the probe. The members are in display order; the names are the same in every version."""

    # The first reply decides these; each depends on those before it.
    REACHABLE = "a server answers"
    POST = "takes POST with application/json"
    REQUEST = 'takes {"query", "top_k"}'
    STATUS = "replies with status 200"
    JSON = "replies with a JSON object"
    ANSWER = '"answer" is a string'
    CONTEXTS = '"contexts" is an array of strings'

    # These run only if the first reply is usable.
    TOP_K = '"top_k" limits the contexts'
    UNICODE = "a question in any script works"
    CONCURRENT = "several requests at once work"
    TIME = "every reply comes in time"

    # The contract does not require these, which fail only if the endpoint breaks down.
    TOP_K_OPTIONAL = '"top_k" may be null, missing, 0', False
    EMPTY_QUERY = "an empty query gets status 400", False
    GET = "GET gets status 405", False
    SHORT_CONTEXTS = "contexts are short", False
    KEEP_ALIVE = "the connection stays open", False

    def __init__(self, title: str, required: bool = True) -> None:
        self.title = title
        self.required = required

    def passed(self, seen: str) -> Point:
        return Point(check=self, outcome=CheckOutcome.PASS, seen=seen)

    def failed(self, seen: str, mend: str) -> Point:
        return Point(check=self, outcome=CheckOutcome.FAIL, seen=seen, mend=mend)

    def advised(self, seen: str, mend: str) -> Point:
        return Point(check=self, outcome=CheckOutcome.ADVICE, seen=seen, mend=mend)

    def skipped(self, why: str) -> Point:
        return Point(check=self, outcome=CheckOutcome.NOT_CHECKED, seen=why)


@frozen
class Point:
    check: Check
    outcome: CheckOutcome
    seen: str
    """The behaviour of the endpoint, or the reason why the check was skipped."""

    mend: str = ""
    """The remedy; empty unless the outcome is FAIL or ADVICE."""


FIRST_REPLY = tuple(Check)[: list(Check).index(Check.TOP_K)]
"""The checks that the first reply decides."""


def points_of_first_reply(first: Exchange, clean: Clean) -> list[Point]:
    """
    The points of `FIRST_REPLY`, and TIME if the reply came too late; the last point of a check counts.

    Secrets are removed by *clean* before a text is shortened, since half a secret is not recognized.
    """
    if isinstance(first.error, EndpointTimeout) and first.phase is not Phase.CONNECTING:
        return [
            *_unknown("no reply came in time"),
            Check.REACHABLE.passed("connected"),
            Check.TIME.failed(first.found, "Answer sooner: clients give up then. --timeout sets another limit."),
        ]
    if first.status is None and not isinstance(first.error, EndpointReplyError):
        return [*_unknown("no reply came"), Check.REACHABLE.failed(first.found, first.to_do)]
    # Without a response, the reply could not be decompressed.
    version = getattr(first.response, "http_version", "HTTP")
    reached = Check.REACHABLE.passed(f"{version}, {first.seconds:.2f} s")
    if isinstance(first.error, EndpointStatusError):
        return [*_points_of_status(first, first.error.status or 0), reached]
    return [
        reached,
        Check.POST.passed("taken"),
        Check.REQUEST.passed(excerpt(json.dumps(first.sent, ensure_ascii=False), 2 * SHOWN)),
        _success(first),
        *_points_of_body(first, clean),
    ]


def _points_of_status(first: Exchange, status: int) -> list[Point]:
    if status in {400, 413, 422}:
        check = Check.REQUEST
        mend = 'Take a JSON object with "query", a string, and "top_k", a number, and no further required key.'
    elif 300 <= status < 400 or status in {404, 405, 415, 501}:
        check, mend = Check.POST, first.to_do
    else:
        check, mend = Check.STATUS, first.to_do
    # After a failure of the service, nothing is known about the route.
    taken = [Check.POST.passed("taken")] if check is Check.REQUEST else []
    return [*_unknown(f"status {status} came"), *taken, check.failed(first.found, mend)]


def _success(first: Exchange) -> Point:
    status = first.status or HTTPStatus.OK
    shown = f"{int(status)} {getattr(first.response, 'reason_phrase', '')}".rstrip()
    if status == HTTPStatus.OK:
        return Check.STATUS.passed(shown)
    return Check.STATUS.failed(f"status {shown}", "Return 200, the contract's status of success.")


def _points_of_body(first: Exchange, clean: Clean) -> list[Point]:
    if first.answer is not None and first.stream is not None:
        return _points_of_stream(first, first.answer, clean)
    why = "no object came"
    try:
        reply = parse_json(first.body, first.content_type)
    except ReplyMismatch:
        reply, why = None, "no JSON came"
    # Use the client's error, since the client may have stopped reading at the end of this body.
    failed = Check.JSON.failed(first.found, first.to_do)
    if not isinstance(reply, Mapping):
        return [failed, Check.ANSWER.skipped(why), Check.CONTEXTS.skipped(why)]
    answer, contexts = _answer_point(reply, clean), _contexts_point(reply, clean)
    # For example, a reply that is too large.
    if first.error is not None and answer.outcome is contexts.outcome is CheckOutcome.PASS:
        return [failed, answer, contexts]
    return [_type_point(first, clean, f", {len(first.body):,} bytes", "application/json"), answer, contexts]


def _points_of_stream(first: Exchange, answer: RagAnswer, clean: Clean) -> list[Point]:
    piece = f", the first piece in {answer.first_token_seconds:.2f} s" if answer.first_token_seconds else ""
    return [
        _type_point(first, clean, piece, "application/x-ndjson"),
        _text_point(answer.text, clean),
        _count_point(len(answer.contexts)),
    ]


def _type_point(first: Exchange, clean: Clean, seen: str, wanted: str) -> Point:
    media_type = first.content_type.partition(";")[0].strip().lower()
    parser = parser_for(media_type)
    if media_type == wanted or media_type.endswith("+json") or (parser is not None and parser.is_declared):
        return Check.JSON.passed(f"{media_type}{seen}")
    shown = f"Content-Type {excerpt(clean(media_type), SHOWN)}" if media_type else "no Content-Type"
    return Check.JSON.advised(f"{shown}{seen}", f"Send Content-Type: {wanted}; other clients check it.")


def _answer_point(reply: Mapping[str, Any], clean: Clean) -> Point:
    # Check the field alone, so that a mistake in "contexts" is not reported for "answer".
    alone = {**reply, "contexts": [], "source_ids": None}
    mismatch = _mismatch(alone if "answer" in reply else reply, clean)
    if mismatch is not None:
        return Check.ANSWER.failed(mismatch.found, mismatch.to_do)
    return _text_point(reply["answer"], clean)


def _text_point(answer: str, clean: Clean) -> Point:
    if not answer.strip():
        return Check.ANSWER.passed("an empty one: the system declined to answer")
    return Check.ANSWER.passed(f'"{excerpt(clean(answer), SHOWN)}"')


def _contexts_point(reply: Mapping[str, Any], clean: Clean) -> Point:
    has_key = "contexts" in reply
    alone = {"answer": "", "contexts": reply["contexts"]} if has_key else {**reply, "answer": "..."}
    if (mismatch := _mismatch(alone, clean)) is not None:
        return Check.CONTEXTS.failed(mismatch.found if has_key else 'the reply has no "contexts"', mismatch.to_do)
    return _count_point(len(reply["contexts"]))


def _count_point(contexts: int) -> Point:
    return Check.CONTEXTS.passed(f"{contexts} of them" if contexts else "an empty one")


def _mismatch(reply: Mapping[str, Any], clean: Clean) -> ReplyMismatch | None:
    try:
        read_reply(reply)
    except ReplyMismatch as mismatch:
        try:
            read_reply(clean(reply))
        except ReplyMismatch as with_clean_texts:
            return with_clean_texts
        return mismatch  # a lone surrogate, which `clean` removes; the message quotes no text
    return None


def _unknown(why: str) -> list[Point]:
    return [check.skipped(why) for check in FIRST_REPLY]
