from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Any

import pytest

from pytest_ragcheck import Judgement, Panel, evaluate
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.scores import (
    CITATION_VALIDITY,
    DEFAULT_GROUPS,
    DEMANDED,
    EXTRAS,
    LOCAL_PACKAGES,
    OVERLAP,
    RAGAS_STAND_INS,
    RETRIEVAL,
)
from tests.making import a_question


def names(*groups: str) -> list[str]:
    return [name for metric in choose_metrics(Settings.of(metrics=groups)) for name in metric.names]


OF_EVERY_RUN = (*DEMANDED, CITATION_VALIDITY)


def test_the_groups_bring_their_metrics_and_some_come_with_every_run() -> None:
    assert names("performance") == list(OF_EVERY_RUN)
    assert names("retrieval") == [*RETRIEVAL, *OF_EVERY_RUN]
    assert names(*DEFAULT_GROUPS) == [*OVERLAP, *RETRIEVAL, *OF_EVERY_RUN]


class WithAChat:
    """A judge of a user's, which keeps the client of its model under a usual name."""

    def __init__(self) -> None:
        self.chat = object()

    def judge(self, question: object, answer: object) -> Judgement:
        return Judgement(answer_correctness=1.0, groundedness=1.0)


def test_a_chat_of_a_users_judge_is_no_model_for_other_metrics() -> None:
    settings = Settings.of(metrics=("judge", "ragas", "citations"))
    for judge in (WithAChat(), Panel([WithAChat(), WithAChat()])):
        record = asyncio.run(evaluate(a_question(), a_client, judge, settings=settings)).records[0]
        assert record.scores.keys() >= {RAGAS_STAND_INS[0], *RAGAS_STAND_INS[2:]}


def a_client(query: str) -> dict[str, str | list[str]]:
    return {"answer": "30 days.", "contexts": ["Refunds are possible within 30 days."]}


def len_of(question: object, answer: object) -> float:
    return 1.0


MISSING = [package for package in EXTRAS["lexical"] if find_spec(package) is None]


@pytest.mark.skipif(not MISSING, reason="the extra lexical is installed")
def test_a_group_whose_packages_are_not_installed_is_refused_with_how_to_install_them() -> None:
    with pytest.raises(UsageError) as caught:
        choose_metrics(Settings.of(metrics=("lexical",)))
    assert str(caught.value) == (
        f"rag_metrics: the group lexical needs {' and '.join(MISSING)}, not installed here: "
        'pip install "pytest-ragcheck[lexical]", or leave the group out'
    )


NO_MODELS = [package for package in LOCAL_PACKAGES if find_spec(package) is None]


@pytest.mark.skipif(not NO_MODELS, reason="the extra semantic is installed")
@pytest.mark.parametrize("wanting", [{"metrics": ("semantic",)}, {"metrics": ("ragas",)}, {"judge": "ragas"}])
def test_a_local_embedding_model_without_its_packages_is_refused_where_it_is_used(wanting: Any) -> None:
    with pytest.raises(UsageError) as caught:
        choose_metrics(Settings.of(**wanting, embedding_model="local:models/mini"))
    assert str(caught.value) == (
        f"rag_embedding_model: a local model needs {' and '.join(NO_MODELS)}, not installed here: "
        'pip install "pytest-ragcheck[semantic]", or name the model of a server'
    )
    assert choose_metrics(Settings.of(embedding_model="local:models/mini"))
