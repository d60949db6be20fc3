from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.config.metric_readers import nearest
from pytest_ragcheck.config.readers import BaselinePlace, model_and_url, read_header, read_identity
from pytest_ragcheck.config.table import TABLE, Given, read_given
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.endpoint_settings import EndpointSettings
from pytest_ragcheck.redaction import Redactor, header_secrets, url_secrets
from pytest_ragcheck.scores import JUDGE_GROUPS, OVERALL, group_of

if TYPE_CHECKING:
    from pytest_ragcheck.questions.datasets.standard_dataset import DatasetChoice, Sample


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


DUMMY_API_KEY = "no-key"
"""Sent to a judge server that was given without a key, because some servers refuse a request without one."""


_GROUPS = {"endpoint": EndpointSettings, "judge": JudgeSettings, "gate": GateSettings, "run": RunSettings}

_DEFAULTS = {setting.path: setting.default for setting in TABLE}

_BY_KEYWORD = {setting.keyword: setting for setting in TABLE}

_NOT_IN_TABLE = {
    "judge_api_key": "judge.api_key",
    "embedding_api_key": "judge.embedding_api_key",
    "own_metrics": "run.own_metrics",
    "secrets": "secrets",
}
"""Keywords of `Settings.of` that no ini value gives."""


@frozen
class Settings:
    """
    The settings of a run.

    `Settings.of` makes them, and `replace` changes some, as in an override of the fixture `rag_settings`.
    """

    endpoint: EndpointSettings
    judge: JudgeSettings
    gate: GateSettings
    run: RunSettings
    secrets: tuple[str, ...] = ()
    """Values to redact, in addition to those in the headers, the URLs and the keys."""

    redactor: Redactor = field(init=False, compare=False)

    @classmethod
    def of(cls, **given: Any) -> Settings:
        """
        The defaults, except for the given settings.

        Args:
            given: Values by setting. The keyword is the ini name without `rag_`, as in
                `Settings.of(url="http://localhost:8000/query", min={"f1": 0.5})`. Texts are read as in the ini file.
                `judge_api_key`, `embedding_api_key`, `own_metrics` and `secrets` are keywords too. Nothing is read from
                the environment.

        Raises:
            UsageError: The setting does not exist, or its value cannot be used.
        """
        return cls.from_values(_DEFAULTS | _read(given, ()))

    def replace(self, **changes: Any) -> Settings:
        """
        The same settings, except for the given ones, as for `Settings.of`.

        Raises:
            UsageError: The setting does not exist, or its value cannot be used.
        """
        return self.from_values(self.values() | _read(changes, self.run.own_metrics))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Settings:
        groups: dict[str, dict[str, Any]] = {group: {} for group in _GROUPS}
        for path, value in values.items():
            group, dot, name = path.partition(".")
            if dot:
                groups[group][name] = value
        made: Any = {group: make(**groups[group]) for group, make in _GROUPS.items()}
        return cls(**made, secrets=values.get("secrets", ()))

    def values(self) -> dict[str, Any]:
        found = {
            f"{group}.{each.name}": getattr(getattr(self, group), each.name)
            for group, made in _GROUPS.items()
            for each in fields(made)
        }
        return {**found, "secrets": self.secrets}

    def __post_init__(self) -> None:
        _check_measured(self)
        object.__setattr__(self, "redactor", Redactor(self._all_secrets()))

    def __repr__(self) -> str:
        """The settings as code, without secrets, because pytest's --showlocals prints it."""
        values = self.values()
        shown = (
            f"{setting.keyword}={values[setting.path]!r}"
            for setting in TABLE
            if setting.read not in (read_header, read_identity) and values[setting.path] != setting.default
        )
        return self.redactor.text(f"Settings.of({', '.join(shown)})")

    @property
    def judge_concurrency(self) -> int:
        """Requests to the judge that may run at once, >= 1."""
        return self.judge.concurrency or self.endpoint.concurrency

    @property
    def judged(self) -> bool:
        """True if answers are judged: there is a judge, and its group of metrics is measured."""
        return self.judge.name != "none" and "judge" in self.run.metrics

    @property
    def needs_judge(self) -> bool:
        return not JUDGE_GROUPS.isdisjoint(self.run.metrics)

    def _all_secrets(self) -> list[str]:
        found = list(self.secrets)
        judge = self.judge
        _, embeddings = model_and_url(judge.embedding_model or "")
        for url in filter(None, (self.endpoint.url, self.endpoint.base_url, judge.url, embeddings)):
            found += url_secrets(url)
        of_identities = (pair for headers in self.endpoint.identities.values() for pair in headers.items())
        for name, value in (*self.endpoint.headers.items(), *judge.headers.items(), *of_identities):
            found += header_secrets(name, value)
        return found + [key for key in (judge.api_key, judge.embedding_api_key) if key and key != DUMMY_API_KEY]


def _several(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _read(given: Mapping[str, Any], own_metrics: tuple[str, ...]) -> dict[str, Any]:
    # By `group.field`.
    own = _several(given.get("own_metrics", own_metrics))
    values: dict[str, Any] = {}
    for keyword, value in given.items():
        if keyword in _NOT_IN_TABLE:
            values[_NOT_IN_TABLE[keyword]] = value if keyword.endswith("_key") else _several(value)
            continue
        setting = _BY_KEYWORD.get(keyword)
        if setting is None:
            raise UsageError(f"Settings: there is no setting {keyword!r}; {nearest(keyword, _BY_KEYWORD)}")
        values[setting.path] = (
            setting.default if value is None else read_given(setting, Given(value, f"Settings: {keyword}"), own)
        )
    return values


def _check_measured(settings: Settings) -> None:
    metrics = settings.run.metrics
    for metric in settings.gate.minimums:
        groups = list(map(group_of, settings.run.weights if metric == OVERALL else (metric,)))
        if not any(group is None or group in metrics for group in groups):
            raise UsageError(
                f"rag_min: {metric} is measured by the group {groups[0]!r}, which rag_metrics leaves out; "
                f"write rag_metrics = +{groups[0]}, or leave the minimum out"
            )
