"""Defines the groups of the settings. The table of settings gives the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.frozen import frozen

if TYPE_CHECKING:
    from pytest_ragcheck.config.baseline_place import BaselinePlace
    from pytest_ragcheck.questions.datasets.dataset_names import DatasetChoice, Sample


@frozen
class JudgeSettings:
    """The settings of the judge and of the embeddings. `config/help.json` describes each field."""

    name: str | None
    """One of `JUDGES`; None if no judge was named, and no key and no model point to one."""

    model: str | None
    url: str | None
    headers: Mapping[str, str]
    parameters: Mapping[str, Any]
    prompt: str
    concurrency: int | None
    repeats: int
    price: tuple[float, float] | None
    calibrations: tuple[Path, ...]
    embedding_model: str | None
    """`MODEL`, `MODEL@URL`, or `local:MODEL`."""

    api_key: str | None = None
    embedding_api_key: str | None = None
    """Key of the server in `embedding_model`. Without one the judge's key is used."""

    @property
    def is_chosen(self) -> bool:
        """True if a judge was named. A key in the environment alone chooses none."""
        return self.name is not None and (self.name != "openai" or self.model is not None)

    @property
    def own_prices(self) -> Mapping[str, tuple[float, float]]:
        """The given price, by the model that it is for."""
        return {self.model: self.price} if self.model and self.price else {}


@frozen
class GateSettings:
    """The settings that decide which questions and which runs pass. `config/help.json` describes each field."""

    threshold: float
    minimums: Mapping[str, float]
    maximums: Mapping[str, float]
    rule: str
    """`each`, `confirmed`, `regression`, `regression:D`, or `rate:R`."""

    baseline: BaselinePlace | None
    false_alarms: float
    baseline_allows: tuple[str, ...]
    """Some of `DIFFERENCES`."""


@frozen
class RunSettings:
    """The questions, the metrics, the limits and the files of a run. `config/help.json` describes each field."""

    question_files: tuple[str, ...]
    datasets: tuple[DatasetChoice, ...]
    samples: Sample | None
    tier: str
    ingest: bool
    repeats: int
    metric_groups: tuple[str, ...]
    """Names of groups; `bertscore` is followed by `=` and its model."""

    weights: Mapping[str, float]
    shard: tuple[int, int] | None
    resume: bool
    replay: Path | None
    dry_run: bool
    disabled: tuple[str, ...]
    """Some of `STEPS`."""

    max_cost_usd: float | None
    require_endpoint: bool
    output: Path
    agent: str
    reports: tuple[Path, ...]
    own_metrics: tuple[str, ...] = ()
    """Names of the users' own metrics, which `minimums` and `weights` may name."""

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(group.partition("=")[0] for group in self.metric_groups)

    @property
    def bertscore_model(self) -> str:
        """The model of the group bertscore, as `MODEL` or `MODEL@LAYER`; empty without the group."""
        parts = (group.partition("=") for group in self.metric_groups)
        return next((model for name, _, model in parts if name == "bertscore"), "")

    def keeps_documents(self, *, failed: bool) -> bool:
        """True if uploaded documents stay in the system, after a run that *failed* or passed."""
        return "cleanup" in self.disabled or (failed and "cleanup-on-failure" in self.disabled)
