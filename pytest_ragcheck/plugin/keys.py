"""Where the state of a run and of an item is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_ragcheck.engine.replay import Recording
    from pytest_ragcheck.loop import PrivateLoop
    from pytest_ragcheck.metrics.own import OwnMetric
    from pytest_ragcheck.plugin.ahead import Ahead, Evaluated
    from pytest_ragcheck.plugin.ingestion import RunDocuments
    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.rag.client import RagClient
    from pytest_ragcheck.settings import Settings
    from pytest_ragcheck.summary.baseline import Baseline

OVER_BUDGET = "--rag-max-cost"
"""Stands in the reason why an item was not run."""

STOPPED = "ragcheck: the run was stopped"
"""The reason why a worker's item came to nothing."""

EVALUATED_WITH = ("rag_client", "rag_judge", "rag_settings")
"""The fixtures that a question is evaluated with."""

USELESS_JUDGE = "the judge did not pass its preflight"
"""Why a run ends whose judge is of no use."""

REFUSAL = "ragcheck_refusal"
"""Attribute of the report by which a worker of xdist tells the controller why the run cannot begin."""

BEGUN = "ragcheck_begun"
"""Attribute of the report by which a worker of xdist tells the controller that it comes to a first question."""

TOLERATED = "ragcheck_tolerated"
"""Attribute of the report of a FAIL that the run's gate does not hold against its question."""

BASELINE: pytest.StashKey[Baseline] = pytest.StashKey()
"""Of the config: what the run is compared with."""

SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
"""Of the config: what the run was told."""

RUN: pytest.StashKey[Run] = pytest.StashKey()
"""Of the config: the questions and what became of them; absent in a run without questions."""

LOOP: pytest.StashKey[PrivateLoop] = pytest.StashKey()
"""Of the config: the event loop that questions are asked in."""

HEADED: pytest.StashKey[bool] = pytest.StashKey()
"""Of the config: the header was written."""

RECORDS: pytest.StashKey[list[Evaluated]] = pytest.StashKey()
"""Of an item: what its fixtures recorded and no report has taken yet."""

AHEAD: pytest.StashKey[Ahead] = pytest.StashKey()
"""Of the config: the questions that are asked before their items come to them."""

DOCUMENTS: pytest.StashKey[RunDocuments] = pytest.StashKey()
"""Of the config: the documents that this process put into systems under test; absent where there are none."""

SET_UP: pytest.StashKey[dict[pytest.FixtureDef[Any], int]] = pytest.StashKey()
"""Of the config: the fixtures of `EVALUATED_WITH` that are set up and not yet torn down, with their values' ids."""

CLIENT: pytest.StashKey[RagClient] = pytest.StashKey()
"""Of the config: the client of --rag-url that the plugin made; any process of the run could make the same."""

RECORDING: pytest.StashKey[Recording] = pytest.StashKey()
"""Of the config: the run that is replayed."""

OWN_METRICS: pytest.StashKey[dict[object, tuple[OwnMetric, ...]]] = pytest.StashKey()
"""Of the config: the users' own metrics by the conftest.py or plugin that gave them."""

RUN_ID: pytest.StashKey[str] = pytest.StashKey()
"""Of the config: the name of the run, the same in all of its processes."""

SHARDING: pytest.StashKey[bool] = pytest.StashKey()
"""Of the config: whether what is being deselected belongs to other shards."""
