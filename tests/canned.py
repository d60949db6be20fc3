"""Questions of tests, and the classes of a user's conftest.py that answer and judge them as the test says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFTEST = """\
import json
from pathlib import Path

import pytest

from pytest_ragcheck import EndpointError, JudgeError, JudgeIdentity, Judgement, RagAnswer

HERE = Path(__file__).parent
CANNED = json.loads((HERE / "canned.json").read_text(encoding="utf-8"))


class CannedRag:
    endpoint = "canned system"

    async def ask(self, question):
        with (HERE / "asked.txt").open("a", encoding="utf-8") as log:
            log.write(question.question + "\\n")
        said = CANNED[question.question]
        if said["endpoint_error"]:
            raise EndpointError(said["endpoint_error"], url="canned")
        return RagAnswer(text=said["answer"], contexts=tuple(said["contexts"]), latency_seconds=0.25)


class CannedJudge:
    identity = JudgeIdentity(kind="canned", model="model-1", prompt_version="canned-1")

    async def judge(self, question, answer):
        said = CANNED[question.question]
        if said["judge_error"]:
            raise JudgeError(said["judge_error"])
        return Judgement(
            answer_correctness=said["correctness"],
            groundedness=said["groundedness"],
            error_message=said["reason"],
            abstained=said["abstained"],
            unsupported_claims=tuple(said["unsupported_claims"]),
        )
"""

FIXTURES = """

@pytest.fixture(scope="session")
def rag_client():
    return CannedRag()


@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question of a test's: what its file says, what the system answers, and what the judge says of that."""

    id: str
    question: str
    answer: str = "The window is 30 days."
    contexts: tuple[str, ...] = ("Refunds are possible for 30 days.",)
    correctness: float | None = 1.0
    groundedness: float | None = 1.0
    reason: str = ""
    abstained: bool | None = None
    unsupported_claims: tuple[str, ...] = ()
    endpoint_error: str = ""
    judge_error: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the question in its file."""

    def but(self, **changes: Any) -> Case:
        """The same with other replies."""
        return replace(self, **changes)


def good(id: str, **entry: Any) -> Case:  # noqa: A002 - the question's own word
    """A question that passes; *entry* goes into its file."""
    return Case(id=id, question=f"What about {id}?", entry=entry)


def bad(
    id: str,  # noqa: A002 - as above
    *,
    groundedness: float = 0.41,
    reason: str = "No price is in the contexts.",
    **entry: Any,
) -> Case:
    """A question that fails for its groundedness."""
    return Case(id=id, question=f"What about {id}?", groundedness=groundedness, reason=reason, entry=entry)


def broken(id: str, message: str = "canned: the endpoint is down.", **entry: Any) -> Case:  # noqa: A002 - as above
    """A question that the endpoint does not answer."""
    return Case(id=id, question=f"What about {id}?", endpoint_error=message, entry=entry)
