"""The points of the checklist, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(str, Enum):
    """What became of a point; the value stands in texts."""

    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"
    ADVICE = "advice"
    """The endpoint works, and something about it may surprise somebody."""

    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the checklist."""

    name: str
    """For scripts; the same in every version."""

    title: str
    """What has to hold."""

    required: bool = True
    """False: the contract does not ask for it, and it fails only where the endpoint breaks down over it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A check with its outcome."""

    check: Check
    outcome: Outcome
    seen: str
    """What the endpoint did, or why it was not asked."""

    mend: str = ""
    """What to do about it; empty unless the outcome is FAIL or ADVICE."""


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
"""What the reply to the first question decides, in the order in which one rests on the other."""

CHECKLIST = (
    *FIRST_REPLY,
    # Asked of an endpoint whose first reply could be used.
    *(TOP_K, UNICODE, CONCURRENT, TIME),
    *(TOP_K_OPTIONAL, EMPTY_QUERY, GET, SHORT_CONTEXTS, KEEP_ALIVE),
)
"""All of them, in the order in which they are shown."""


def passed(check: Check, seen: str) -> Point:
    return Point(check=check, outcome=Outcome.PASS, seen=seen)


def failed(check: Check, seen: str, mend: str) -> Point:
    return Point(check=check, outcome=Outcome.FAIL, seen=seen, mend=mend)


def advised(check: Check, seen: str, mend: str) -> Point:
    return Point(check=check, outcome=Outcome.ADVICE, seen=seen, mend=mend)


def not_checked(check: Check, why: str) -> Point:
    return Point(check=check, outcome=Outcome.NOT_CHECKED, seen=why)
