"""Keeps the replies to the requests of the gate for one question, in the form of the result files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.procedure.candidate import examine
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    ComparedQuestion,
    KnownRun,
    Look,
    Reply,
    Scores,
    drive,
)
from pytest_ragcheck.summary.gate.procedure.gate_findings import Examined
from pytest_ragcheck.verdict.record import Record

_PLAIN = ("gate", "thresholds", "apart", "same", "ids_renamed", "not_judged", "over_budget")
"""Fields whose value is a JSON value."""

_ALWAYS_WRITTEN = ("gate", "thresholds", "now", "known", "saved_runs")


@frozen
class GateReplies:
    """
    One question with its saved runs and the replies to the requests of the gate.

    The process of the item makes the requests, and the decision runs the same procedure over the replies.
    """

    gate: str
    """The procedure that made the requests, `confirmed` or `regression`."""

    thresholds: Scores

    now: Look
    known: tuple[KnownRun, ...] = ()
    """The saved runs that can be compared, oldest first; empty if none can."""

    apart: str = ""
    """Why no saved run can be compared; empty if one can."""

    same: bool = False
    """True if the answer of today equals a recorded one, so that its scores are kept."""

    ids_renamed: bool = False
    """True if the contexts are known texts under document ids that no saved run has."""

    replies: tuple[Reply, ...] = ()
    """The replies to the requests of `examine`, in their order."""

    judged: Mapping[str, tuple[Scores, ...]] = field(default_factory=dict)
    """Further judgements of today by digest of the answer, for the test of the means."""

    drift: tuple[Scores, Scores] | None = None
    """Recorded and new scores of an unchanged answer that was judged again; None if it was not."""

    not_judged: bool = False
    """True if the answers changed and could not all be judged today, so that no mean is over them."""

    over_budget: bool = False
    """True if a request was not made because the run had reached its cost limit."""

    saved_runs: tuple[str, ...] = ()
    """The end of each saved run, which identifies the baseline."""

    def compared(self, record: Record) -> ComparedQuestion:
        """The question in the form of the procedure; `known` must not be empty."""
        question = record.question
        return ComparedQuestion(
            key=question.key,
            thresholds=self.thresholds,
            known=self.known,
            now=self.now,
            documents=frozenset(passage.doc_id for passage in question.gold_passages if passage.doc_id),
            context_documents=frozenset(record.source_ids or ()),
        )

    def examined(self, record: Record, *, deterministic_judge: bool) -> Examined:
        """Run the procedure over the kept replies; a missing reply counts as not measured."""
        kept = iter(self.replies)
        steps = examine(self.compared(record), gate=self.gate, deterministic_judge=deterministic_judge)
        return drive(steps, lambda _: next(kept, None))

    def to_document(self) -> dict[str, Any]:
        """The evidence as JSON values, without the optional ones that are empty or False."""
        document = {
            **{name: getattr(self, name) for name in _PLAIN},
            "thresholds": dict(self.thresholds),
            "now": _look(self.now),
            "known": [list(map(_look, run.looks)) for run in self.known],
            "replies": list(map(_reply, self.replies)),
            "judged": {answer: list(map(dict, times)) for answer, times in self.judged.items()},
            "drift": self.drift and list(map(dict, self.drift)),
            "saved_runs": list(self.saved_runs),
        }
        return {name: value for name, value in document.items() if value or name in _ALWAYS_WRITTEN}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> GateReplies:
        drift = document.get("drift")
        return cls(
            **{name: document[name] for name in _PLAIN if name in document},
            now=Look(**document["now"]),
            known=tuple(KnownRun(looks=tuple(Look(**look) for look in looks)) for looks in document["known"]),
            replies=tuple(map(_read_reply, document.get("replies", ()))),
            judged={key: tuple(times) for key, times in document.get("judged", {}).items()},
            drift=(drift[0], drift[1]) if drift else None,
            saved_runs=tuple(document.get("saved_runs", ())),
        )


def evidence_of(record: Record) -> GateReplies | None:
    return GateReplies.from_document(record.evidence) if record.evidence else None


def _look(look: Look) -> dict[str, Any]:
    fresh = {"fresh": True} if look.fresh else {}
    return {"answer": look.answer, "scores": dict(look.scores), "passed": look.passed, **fresh}


def _reply(reply: Reply) -> Any:
    if reply is None:
        return None
    return _look(reply) if isinstance(reply, Look) else list(map(dict, reply))


def _read_reply(document: Any) -> Reply:
    if document is None:
        return None
    return Look(**document) if isinstance(document, Mapping) else tuple(document)
