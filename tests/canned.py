"""Questions of tests that pass, fail or cannot be measured."""

from __future__ import annotations

from typing import Any

from pytest_ragcheck.testing import CannedQuestion


def good(id: str, **entry: Any) -> CannedQuestion:  # noqa: A002 - the question's own word
    """A question that passes; *entry* goes into its file."""
    return CannedQuestion(id=id, question=f"What about {id}?", entry=entry)


def bad(
    id: str,  # noqa: A002 - as above
    *,
    groundedness: float = 0.41,
    reason: str = "No price is in the contexts.",
    **entry: Any,
) -> CannedQuestion:
    """A question that fails for its groundedness."""
    question = f"What about {id}?"
    return CannedQuestion(id=id, question=question, groundedness=groundedness, error_message=reason, entry=entry)


def broken(id: str, message: str = "canned: the endpoint is down.", **entry: Any) -> CannedQuestion:  # noqa: A002 - as above
    """A question that the endpoint does not answer."""
    return CannedQuestion(id=id, question=f"What about {id}?", endpoint_error=message, entry=entry)
