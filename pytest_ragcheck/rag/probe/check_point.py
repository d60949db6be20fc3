"""`CHECKLIST` lists the checks of the probe; a `Point` is a check with its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CheckOutcome(str, Enum):
    """The outcome of a check; `ragcheck probe` prints the value."""

    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"
    ADVICE = "advice"
    """The endpoint works, but may surprise a user in one respect."""

    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of the checklist, as the probe runs it."""

    name: str
    """Identifier for scripts; the same in every version."""

    title: str
    """The requirement in words."""

    required: bool = True
    """False if the contract does not require the check; such a check fails only if the endpoint breaks down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A check with its outcome, as `ragcheck probe` reports it."""

    check: Check
    outcome: CheckOutcome
    seen: str
    """The behaviour of the endpoint, or the reason why the check was skipped."""

    mend: str = ""
    """The remedy; empty unless the outcome is FAIL or ADVICE."""


REACHABLE = Check(name="reachable", title="a server answers")
POST = Check(name="post", title="takes POST with application/json")
REQUEST = Check(name="request", title='takes {"query", "top_k"}')
STATUS = Check(name="status", title="replies with status 200")
JSON = Check(name="json", title="replies with a JSON object")
ANSWER = Check(name="answer", title='"answer" is a string')
CONTEXTS = Check(name="contexts", title='"contexts" is an array of strings')
TOP_K = Check(name="top_k", title='"top_k" limits the contexts')
UNICODE = Check(name="unicode", title="a question in any script works")
CONCURRENT = Check(name="concurrent", title="several requests at once work")
TIME = Check(name="time", title="every reply comes in time")
TOP_K_OPTIONAL = Check(name="top_k_optional", title='"top_k" may be null, missing, 0', required=False)
EMPTY_QUERY = Check(name="empty_query", title="an empty query gets status 400", required=False)
GET = Check(name="get", title="GET gets status 405", required=False)
SHORT_CONTEXTS = Check(name="short_contexts", title="contexts are short", required=False)
KEEP_ALIVE = Check(name="keep_alive", title="the connection stays open", required=False)

FIRST_REPLY = (REACHABLE, POST, REQUEST, STATUS, JSON, ANSWER, CONTEXTS)
"""The checks that the first reply decides; each depends on those before it."""

CHECKLIST = (
    *FIRST_REPLY,
    # These run only if the first reply is usable.
    *(TOP_K, UNICODE, CONCURRENT, TIME),
    *(TOP_K_OPTIONAL, EMPTY_QUERY, GET, SHORT_CONTEXTS, KEEP_ALIVE),
)
"""All checks in display order."""


def passed(check: Check, seen: str) -> Point:
    return Point(check=check, outcome=CheckOutcome.PASS, seen=seen)


def failed(check: Check, seen: str, mend: str) -> Point:
    return Point(check=check, outcome=CheckOutcome.FAIL, seen=seen, mend=mend)


def advised(check: Check, seen: str, mend: str) -> Point:
    return Point(check=check, outcome=CheckOutcome.ADVICE, seen=seen, mend=mend)


def not_checked(check: Check, why: str) -> Point:
    return Point(check=check, outcome=CheckOutcome.NOT_CHECKED, seen=why)
