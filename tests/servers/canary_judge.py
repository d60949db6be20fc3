"""Replies of a judge's server to the canaries of the preflight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ragcheck.judging.trial import canaries
from tests.servers.openai_server import completion, verdict_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.servers.openai_server import Request, Script

RIGHT: Mapping[str, Mapping[str, Any]] = {
    canary.name: {
        "answer_correctness": float(canary.good.get("answer_correctness", True)),
        "groundedness": float(canary.good.get("groundedness", True)),
        "abstained": canary.abstains,
        "error_message": "" if all(canary.good.values()) else f"It is the {canary.name} one.",
    }
    for canary in canaries()
}
"""The verdict of a faultless judge by canary."""


def canary_of(request: Request) -> str:
    """Which canary the judge is asked about; empty where it is another answer."""
    asked = (request.block("question"), tuple(request.block("contexts")), request.block("answer"))
    return next(
        (
            canary.name
            for russian in (False, True)
            for canary in canaries(russian=russian)
            if asked == (canary.question.question, canary.answer.contexts, canary.answer.text)
        ),
        "",
    )


def says_of_canaries(**other: Mapping[str, Any]) -> Script:
    """A script of a faultless judge, with other verdicts by canary; for any other answer it has no reply."""

    def script(request: Request) -> Any:
        name = canary_of(request)
        return completion(verdict_text(request.nonce, **{**RIGHT.get(name, {}), **other.get(name, {})}))

    return script
