"""The members of `Check` are the checks of the probe; a `Point` is a check with its outcome."""

from __future__ import annotations

from enum import Enum

from pytest_ragcheck.frozen import frozen


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
