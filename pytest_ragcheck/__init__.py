"""
Regression testing of RAG systems with pytest.

The names here are the ones that tests and conftest.py files use. They are loaded when they are first used,
so that a pytest run without questions pays nothing for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_ragcheck.errors import (
        DatasetError,
        EndpointError,
        JudgeError,
        MeasurementError,
        QuestionErrored,
        QuestionFailed,
        QuestionFileError,
        RagcheckError,
        UsageError,
    )
    from pytest_ragcheck.evaluation import Evaluation, evaluate
    from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement
    from pytest_ragcheck.judging.panel import Panel
    from pytest_ragcheck.metrics.metric import Metric
    from pytest_ragcheck.metrics.score import Score
    from pytest_ragcheck.questions.datasets.dataset import Dataset
    from pytest_ragcheck.questions.question import GoldPassage, Question
    from pytest_ragcheck.rag.answer import Asks, RagAnswer
    from pytest_ragcheck.rag.client import RagClient
    from pytest_ragcheck.record import Record
    from pytest_ragcheck.settings import Settings
    from pytest_ragcheck.verdict import Verdict

__version__ = "0.1.0"

_HOMES = {
    "Asks": "rag.answer",
    "Dataset": "questions.datasets.dataset",
    "DatasetError": "errors",
    "EndpointError": "errors",
    "Evaluation": "evaluation",
    "GoldPassage": "questions.question",
    "Judge": "judging.judgement",
    "JudgeError": "errors",
    "JudgeIdentity": "judging.judgement",
    "Judgement": "judging.judgement",
    "MeasurementError": "errors",
    "Metric": "metrics.metric",
    "Panel": "judging.panel",
    "Question": "questions.question",
    "QuestionErrored": "errors",
    "QuestionFailed": "errors",
    "QuestionFileError": "errors",
    "RagAnswer": "rag.answer",
    "RagClient": "rag.client",
    "RagcheckError": "errors",
    "Record": "record",
    "Score": "metrics.score",
    "Settings": "settings",
    "UsageError": "errors",
    "Verdict": "verdict",
    "evaluate": "evaluation",
}

__all__ = [
    "Asks",
    "Dataset",
    "DatasetError",
    "EndpointError",
    "Evaluation",
    "GoldPassage",
    "Judge",
    "JudgeError",
    "JudgeIdentity",
    "Judgement",
    "MeasurementError",
    "Metric",
    "Panel",
    "Question",
    "QuestionErrored",
    "QuestionFailed",
    "QuestionFileError",
    "RagAnswer",
    "RagClient",
    "RagcheckError",
    "Record",
    "Score",
    "Settings",
    "UsageError",
    "Verdict",
    "__version__",
    "evaluate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only for whoever asks

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
