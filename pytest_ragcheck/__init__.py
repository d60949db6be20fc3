"""
Regression testing of RAG systems with pytest.

The public names, for tests and conftest.py files. Each is imported when it is first used, so that a pytest run
without questions pays nothing for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ragcheck._version import __version__

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.errors import (
        DatasetError,
        EndpointError,
        EndpointReplyError,
        EndpointStatusError,
        EndpointTimeout,
        EndpointUnreachable,
        JudgeError,
        JudgeReplyError,
        JudgeUnavailable,
        MeasurementError,
        QuestionFileError,
        RagcheckError,
        ResultsError,
        StepFailed,
        UsageError,
    )
    from pytest_ragcheck.evaluation import Evaluation, evaluate
    from pytest_ragcheck.judging.judge_prompt import load_prompt
    from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement
    from pytest_ragcheck.judging.local_judge import LocalJudge
    from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
    from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
    from pytest_ragcheck.judging.panel import Panel
    from pytest_ragcheck.metrics.metric import Metric
    from pytest_ragcheck.questions.datasets.standard_dataset import Dataset
    from pytest_ragcheck.questions.question import GoldPassage, Question
    from pytest_ragcheck.rag.answer import Asks, RagAnswer
    from pytest_ragcheck.rag.client import RagClient
    from pytest_ragcheck.scores import Score
    from pytest_ragcheck.verdict.record import QuestionErrored, QuestionFailed, Record
    from pytest_ragcheck.verdict.verdict import Verdict

_HOMES = {
    name: home
    for home, names in {
        "config.settings": "Settings",
        "errors": "DatasetError EndpointError EndpointReplyError EndpointStatusError EndpointTimeout "
        "EndpointUnreachable JudgeError JudgeReplyError JudgeUnavailable MeasurementError QuestionFileError "
        "RagcheckError ResultsError StepFailed UsageError",
        "evaluation": "Evaluation evaluate",
        "judging.judgement": "Judge JudgeIdentity Judgement",
        "judging.local_judge": "LocalJudge",
        "judging.model.openai_judge": "OpenAIJudge",
        "judging.offline.offline_judge": "OfflineJudge",
        "judging.panel": "Panel",
        "judging.judge_prompt": "load_prompt",
        "metrics.metric": "Metric",
        "questions.datasets.standard_dataset": "Dataset",
        "questions.question": "GoldPassage Question",
        "rag.answer": "Asks RagAnswer",
        "rag.client": "RagClient",
        "scores": "Score",
        "verdict.record": "QuestionErrored QuestionFailed Record",
        "verdict.verdict": "Verdict",
    }.items()
    for name in names.split()
}

__all__ = [
    "Asks", "Dataset", "DatasetError", "EndpointError", "EndpointReplyError", "EndpointStatusError",
    "EndpointTimeout", "EndpointUnreachable", "Evaluation", "GoldPassage", "Judge", "JudgeError", "JudgeIdentity",
    "JudgeReplyError", "JudgeUnavailable", "Judgement", "LocalJudge", "MeasurementError", "Metric", "OfflineJudge",
    "OpenAIJudge", "Panel", "Question", "QuestionErrored", "QuestionFailed", "QuestionFileError", "RagAnswer",
    "RagClient", "RagcheckError", "Record", "ResultsError", "Score", "Settings", "StepFailed", "UsageError",
    "Verdict", "__version__", "evaluate", "load_prompt",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
