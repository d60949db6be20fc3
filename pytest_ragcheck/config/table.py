"""The table of settings, and their reading. Their help texts are in `help.json`."""

# The pytest options, the ini values, `Settings`, error texts and a reference page come from it. Every pytest run loads
# this module, so it imports nothing heavy.

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Literal

from pytest_ragcheck.config.metric_readers import (
    chosen_groups,
    read_chance,
    read_count,
    read_delay,
    read_fraction,
    read_group,
    read_maximum,
    read_minimum,
    read_number,
    read_price,
    read_seconds,
    read_shard,
    read_usd,
    read_weight,
)
from pytest_ragcheck.config.readers import (
    URL_READERS,
    as_identities,
    as_mapping,
    model_and_url,
    read_base_url,
    read_baseline_place,
    read_dataset,
    read_difference,
    read_embedding_model,
    read_gate,
    read_header,
    read_identity,
    read_judge,
    read_name,
    read_parameters,
    read_path,
    read_report,
    read_request,
    read_response,
    read_sample,
    read_shape,
    read_step,
    read_stream,
    read_switch,
    read_tier,
    read_url,
)
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores import DEFAULT_GROUPS, DEFAULT_WEIGHTS


@frozen
class Setting:
    name: str
    """Such as `rag_top_k`, in the ini file."""

    group: Literal["endpoint", "judge", "gate", "run"]

    read: Callable[[str], Any]
    """Returns the value of a text. The text of its ValueError continues a sentence: `is not ...; write ...`."""

    field: str = ""
    """The field of the group; by default the name without `rag_` and without the group's name."""

    collect: Callable[[Iterable[Any]], Any] = tuple
    """Makes one value of the words or lines."""

    default: Any = None
    """The value if none is given: None by default, or `collect(())` for words and lines."""

    environment: str | None = None

    metavar: str = ""
    """Placeholder of the value on the command line; empty for a switch or an ini-only setting."""

    kind: Literal["text", "words", "lines", "switch"] = "text"
    """One text, several texts separated by blanks (a repeatable option), one text a line, or on/off."""

    default_text: str = ""

    whole_run: bool | tuple[str, ...] = False
    """True if it holds for the whole run, so that a folder cannot change it; or the words that a folder cannot add."""

    def __post_init__(self) -> None:
        if self.default is None and self.kind in ("words", "lines"):
            object.__setattr__(self, "default", self.collect(()))

    @property
    def path(self) -> str:
        """Such as `endpoint.top_k`."""
        return f"{self.group}.{self.field or self.keyword.removeprefix(f'{self.group}_')}"

    @property
    def on_command_line(self) -> bool:
        return self.metavar != "" or self.kind == "switch"

    @property
    def option(self) -> str:
        """Such as `--rag-top-k`."""
        return "--" + self.name.replace("_", "-")

    @property
    def keyword(self) -> str:
        """Such as `top_k`, in `Settings.of`."""
        return self.name.removeprefix("rag_")

    @property
    def shown_default(self) -> str:
        """For help texts; empty without a default."""
        return self.default_text or _shown(self.default)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return f"{value:g}"
    if isinstance(value, str | PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_shown(each)}" for name, each in value.items())
    return " ".join(map(_shown, value or ()))


_endpoint = partial(Setting, group="endpoint")
_judge = partial(Setting, group="judge")
_gate = partial(Setting, group="gate")
_run = partial(Setting, group="run")
_whole_run = partial(_run, whole_run=True)
_switch = partial(_run, default=False, read=read_switch, kind="switch")

TABLE: tuple[Setting, ...] = (
    _endpoint(name="rag_url", read=read_url, environment="RAGCHECK_URL", metavar="URL"),
    _endpoint(name="rag_base_url", read=read_base_url, default_text="rag_url without a final /query"),
    _endpoint(
        name="rag_shape",
        read=read_shape,
        default_text="server for questions whose passages are sent along or uploaded, query for all others",
    ),
    _endpoint(name="rag_request", read=read_request),
    _endpoint(name="rag_response", read=read_response),
    _endpoint(name="rag_stream", default=True, default_text="auto", read=read_stream),
    _endpoint(name="rag_headers", read=read_header, collect=as_mapping, kind="lines"),
    _endpoint(name="rag_identities", read=read_identity, collect=as_identities, kind="lines"),
    _endpoint(name="rag_top_k", default=5, read=read_count),
    _endpoint(name="rag_timeout", field="timeout_seconds", default=60.0, read=read_seconds),
    _endpoint(name="rag_concurrency", default=8, read=read_count, metavar="NUMBER", whole_run=True),
    _endpoint(name="rag_delay", field="delay_seconds", default=0.0, read=read_delay, whole_run=True),
    _endpoint(name="rag_retries", default=2, read=read_number, whole_run=True),
    _judge(
        name="rag_judge",
        field="name",
        read=read_judge,
        environment="RAGCHECK_JUDGE",
        metavar="NAME",
        default_text="openai if a key, a model or a server for it is given",
    ),
    _judge(name="rag_judge_model", read=read_name, environment="RAGCHECK_JUDGE_MODEL", metavar="MODEL"),
    _judge(name="rag_judge_url", read=read_base_url, environment="RAGCHECK_JUDGE_URL", metavar="URL"),
    _judge(name="rag_judge_headers", read=read_header, collect=as_mapping, kind="lines"),
    _judge(name="rag_judge_parameters", default=MappingProxyType({}), read=read_parameters),
    _judge(name="rag_judge_prompt", default="en", read=read_name),
    _judge(name="rag_judge_concurrency", default_text="as rag_concurrency", read=read_count, whole_run=True),
    _judge(name="rag_judge_repeats", default=1, read=read_count),
    _judge(name="rag_judge_price", read=read_price),
    _judge(name="rag_calibration", field="calibrations", read=read_path, kind="lines", whole_run=True),
    _judge(name="rag_embedding_model", read=read_embedding_model, environment="RAGCHECK_EMBEDDING_MODEL"),
    _gate(name="rag_threshold", default=0.7, read=read_fraction, metavar="NUMBER"),
    _gate(
        name="rag_min", field="minimums", read=read_minimum, collect=as_mapping, metavar="METRIC=VALUE", kind="words"
    ),
    _gate(
        name="rag_max", field="maximums", read=read_maximum, collect=as_mapping, metavar="METRIC=VALUE", kind="words"
    ),
    _gate(
        name="rag_baseline",
        default_text="ragcheck-baseline.json in the rootdir, if it exists",
        read=read_baseline_place,
        metavar="PREDICTIONS",
        whole_run=True,
    ),
    _gate(
        name="rag_gate",
        field="rule",
        default="each",
        default_text="confirmed with a baseline, each without",
        read=read_gate,
        metavar="GATE",
        whole_run=True,
    ),
    _gate(name="rag_false_alarms", default=0.01, read=read_chance, whole_run=True),
    _gate(name="rag_baseline_allow", field="baseline_allows", read=read_difference, kind="words", whole_run=True),
    _whole_run(name="rag_tier", default="end_to_end", read=read_tier, metavar="TIER"),
    _switch(name="rag_ingest", whole_run=True),
    _run(name="rag_repeats", default=1, read=read_count),
    _switch(name="rag_require_endpoint"),
    _run(
        name="rag_disable", field="disabled", read=read_step, kind="words", whole_run=("cleanup", "cleanup-on-failure")
    ),
    _run(
        name="rag_metrics",
        field="metric_groups",
        default=DEFAULT_GROUPS,
        read=read_group,
        collect=chosen_groups,
        kind="words",
    ),
    _run(name="rag_weights", default=DEFAULT_WEIGHTS, read=read_weight, collect=as_mapping, kind="words"),
    _whole_run(name="rag_question_files", read=read_name, kind="words"),
    _whole_run(
        name="rag_dataset",
        field="datasets",
        read=read_dataset,
        metavar="NAME[:SUBSET][@SPLIT][=PATH]",
        kind="words",
    ),
    _whole_run(name="rag_samples", read=read_sample, metavar="NUMBER[@SEED]"),
    _whole_run(name="rag_shard", read=read_shard, metavar="I/N"),
    _switch(name="rag_resume", whole_run=True),
    _whole_run(name="rag_replay", read=read_path, metavar="PREDICTIONS"),
    _switch(name="rag_dry_run", whole_run=True),
    _whole_run(name="rag_max_cost", field="max_cost_usd", read=read_usd, metavar="USD"),
    _whole_run(name="rag_output", default=Path("ragcheck-results"), read=read_path, metavar="FOLDER"),
    _whole_run(name="rag_agent", default="rag", read=read_name, metavar="NAME"),
    _whole_run(name="rag_report", field="reports", read=read_report, metavar="FILE", kind="words"),
)


@dataclass(frozen=True, slots=True)
class Given:
    value: Any
    """A text, or a native value of TOML or Python: a number, a bool, a list, a mapping."""

    origin: str
    """`--rag-url`, `RAGCHECK_URL`, `rag_url in pytest.ini`, or `Settings: url`."""

    folder: Path | None = None
    """The folder of relative paths, if it is not the run's."""


def read_given(setting: Setting, given: Given, own_metrics: Collection[str] = ()) -> Any:
    """Minimums and weights may name *own_metrics*. A `UsageError` names the value's origin and the way out."""
    if setting.kind == "lines" and isinstance(given.value, Mapping):
        return setting.collect(given.value.items())
    read: Callable[..., Any] = setting.read
    if read in (read_minimum, read_weight):
        read = partial(read, own=own_metrics)
    values = []
    text = ""
    try:
        texts = _texts(setting, given.value)
        for text in texts:
            values.append(read(text.strip()))
    except ValueError as error:
        from pytest_ragcheck.errors import UsageError

        raise UsageError(f"{given.origin}: {_quoted(setting, text)} {error}") from None
    if setting.kind in ("text", "switch"):
        return values[0]
    return setting.collect(values) if values else setting.default


def _texts(setting: Setting, value: Any) -> list[str]:
    if setting.kind in ("text", "switch"):
        if isinstance(value, Mapping):
            return [json.dumps(dict(value), default=str)]
        return [" ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)]
    if isinstance(value, Mapping):
        return [f"{name}={each}" for name, each in value.items()]
    if isinstance(value, str):
        return shlex.split(value) if setting.kind == "words" else [line for line in value.splitlines() if line.strip()]
    return list(map(str, value)) if isinstance(value, Iterable) else [str(value)]


def _quoted(setting: Setting, text: str) -> str:
    from pytest_ragcheck.redaction import shown_url

    if setting.read in (read_header, read_identity):
        return "a line"  # it may hold a secret
    model, url = model_and_url(text) if setting.read is read_embedding_model else ("", None)
    if url is not None:
        return repr(f"{model}@{shown_url(url)}")
    return repr(shown_url(text) if setting.read in URL_READERS else text)
