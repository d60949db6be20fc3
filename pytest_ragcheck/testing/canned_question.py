"""Defines a question with the answer and the judgement that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from pytest_ragcheck.frozen import frozen


@frozen
class CannedQuestion:
    """
    One question of a test, with the reply of the system and the scores of the judge.

    Authors of metrics, judges and datasets pass it to `RagProject.ask`.
    """

    id: str
    question: str
    answer: str = "The window is 30 days."
    """The answer of the system."""

    contexts: tuple[str, ...] = ("Refunds are possible for 30 days.",)
    """The texts that the system retrieved."""

    source_ids: tuple[str, ...] | None = None
    """The document ids of the contexts, in order; None if the system returns none."""

    answer_correctness: float | None = 1.0
    """The judge's score, 0..1; None if there is none."""

    groundedness: float | None = 1.0
    """The judge's score, 0..1; None if there is none."""

    error_message: str = ""
    """The weakness of the answer that the judge names."""

    abstained: bool | None = None
    """True if the judge finds that the system declined to answer."""

    unsupported_claims: tuple[str, ...] = ()
    """The claims that the judge finds in no context."""

    endpoint_error: str = ""
    """The message of the `EndpointError` that the system raises; empty if it answers."""

    judge_error: str = ""
    """The message of the `JudgeError` that the judge raises; empty if it judges."""

    entry: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the question in its file, such as `expected_answer`."""

    def but(self, **changes: Any) -> CannedQuestion:
        """Return a copy with other replies."""
        return replace(self, **changes)
