"""Predictions files of earlier runs, as tests compare with them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project


def passed(id: str = "terms", **said: Any) -> dict[str, Any]:  # noqa: A002 - the question's own word
    """A row of a question that passed."""
    return {
        "question_id": id,
        "dataset_name": "billing",
        "question": f"What about {id}?",
        "prediction": "The window is 30 days.",
        "metrics": {"answer_correctness": 0.95, "groundedness": 0.91},
        "metadata": {},
        "verdict": "PASS",
        "reason": "",
        "blame": None,
        "contexts": [],
        "source_ids": None,
        "thresholds": {"answer_correctness": 0.7, "groundedness": 0.7},
        "unscored": {},
        "overall_score_lacks": [],
        "unsupported_claims": [],
        "latency_seconds": None,
        "judgement": None,
        "prompt_version": "canned-1",
        "judge": None,
        "endpoint": "canned system",
        "tier": "end_to_end",
        "top_k": 5,
        **said,
    }


def failed(id: str = "prices", **said: Any) -> dict[str, Any]:  # noqa: A002 - as above
    """A row of a question that failed for its groundedness."""
    default = {"verdict": "FAIL", "reason": "unsupported", "metrics": {"answer_correctness": 1.0, "groundedness": 0.3}}
    return passed(id, **{**default, **said})


def errored(id: str = "hours", **said: Any) -> dict[str, Any]:  # noqa: A002 - as above
    """A row of a question that could not be measured."""
    return {
        "question_id": id,
        "dataset_name": "billing",
        "question": f"What about {id}?",
        "kind": "endpoint_timeout",
        "message": "no reply within 60 s",
        "judge": None,
        "endpoint": "canned system",
        "tier": "end_to_end",
        "top_k": 5,
        **said,
    }


def predictions(*rows: dict[str, Any], **top: Any) -> dict[str, Any]:
    """The predictions file with these rows, of a full run."""
    measured = [row for row in rows if "verdict" in row]
    return {
        "schema_version": "1",
        "agent_name": "rag",
        "dataset_name": "billing",
        "timestamp": "2126-11-05T12:30:00+00:00",
        "num_examples": len(measured),
        "complete": True,
        "reach": {"searched": ["*"], "left_out": [], "test_files": []},
        "predictions": measured,
        "errors": [row for row in rows if "verdict" not in row],
        **top,
    }


def write_baseline(project: Project, *rows: dict[str, Any], name: str = "baseline.json", **top: Any) -> Path:
    """Writes the predictions file into the project."""
    return project.write(name, json.dumps(predictions(*rows, **top)))
