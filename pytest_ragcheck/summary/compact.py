"""The predictions of a full run -> a compact baseline, which carries how often each question passed and failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ragcheck.summary.baseline import read_baseline
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_ragcheck.summary.baseline import Baseline, BaselineRow

_KEPT = ("schema_version", "agent_name", "dataset_name", "timestamp", "num_examples", "complete")
_OF_A_ROW = ("question_id", "dataset_name", "question", "metrics", "verdict", "thresholds", "prompt_version", "judge")
_HOW_ASKED = ("tier", "top_k")
_OF_AN_ERROR = ("question_id", "dataset_name", "question", "kind")


def compact_document(document: Mapping[str, Any], now: Baseline, earlier: Baseline | None) -> dict[str, Any]:
    """
    The document of a compact baseline: no answers, contexts or reasons.

    Args:
        document: The predictions file.
        now: The same, read.
        earlier: A compact baseline that this one takes the place of; its counts are added where the text of a
            question is still the same.
    """

    def row(given: Mapping[str, Any]) -> dict[str, Any]:
        key = given["dataset_name"], given["question_id"]
        kept = {name: given[name] for name in (*_OF_A_ROW, *_HOW_ASKED) if name in given}
        return {**kept, "history": _history(now.rows[key], earlier.rows.get(key) if earlier else None)}

    errors = [{name: given[name] for name in _OF_AN_ERROR} for given in document["errors"]]
    return {
        **{name: document[name] for name in _KEPT if name in document},
        "predictions": [row(given) for given in document["predictions"]],
        "errors": errors,
    }


def _history(now: BaselineRow, earlier: BaselineRow | None) -> dict[str, int]:
    known = earlier if earlier is not None and earlier.question == now.question else None
    if known is None or known.verdict is Verdict.ERROR:
        return {"passes": now.passes, "fails": now.fails}
    return {"passes": now.passes + known.passes, "fails": now.fails + known.fails}


def read_compact(path: Path, *, advice: str) -> Baseline | None:
    """The compact baseline at the path; None where there is no file yet."""
    return read_baseline(path, name=str(path), advice=advice) if path.exists() else None
