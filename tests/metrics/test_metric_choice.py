from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.scores.catalogue import (
    CITATION_VALIDITY,
    DEFAULT_GROUPS,
    DEMANDED,
    EXTRAS,
    LOCAL_PACKAGES,
    OVERLAP,
    RETRIEVAL,
)


def names(*groups: str) -> list[str]:
    return [name for metric in choose_metrics(Settings.of(metrics=groups)) for name in metric.names]


OF_EVERY_RUN = (*DEMANDED, CITATION_VALIDITY)


def test_the_groups_bring_their_metrics_and_some_come_with_every_run() -> None:
    assert names("performance") == list(OF_EVERY_RUN)
    assert names("retrieval") == [*RETRIEVAL, *OF_EVERY_RUN]
    assert names(*DEFAULT_GROUPS) == [*OVERLAP, *RETRIEVAL, *OF_EVERY_RUN]


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
