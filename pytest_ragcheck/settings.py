"""What a run was told: command line over environment over ini over default, read and checked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.catalogue import DEFAULT_GROUPS, DEFAULT_WEIGHTS, JUDGE_GROUPS, OVERALL, group_of
from pytest_ragcheck.options import (
    OPTIONS,
    Option,
    read_base_url,
    read_count,
    read_fraction,
    read_gate,
    read_group,
    read_judge,
    read_keep,
    read_minimum,
    read_model,
    read_request,
    read_response,
    read_shape,
    read_tier,
    read_url,
    read_weight,
)
from pytest_ragcheck.redaction import Redactor, is_secret_header, shown_url, url_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from pytest_ragcheck.questions.datasets.choice import DatasetChoice
    from pytest_ragcheck.rag.headers import FilledHeaders

_URL_READERS = (read_url, read_base_url)

DUMMY_API_KEY = "no-key"
"""Sent to a judge server that was given without a key: the SDK refuses an empty one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    The settings of a run; a `rag_settings` fixture makes a changed one with `dataclasses.replace`.

    Raises:
        UsageError: A number is not in its range, or a URL, a judge or a metric is none.
    """

    url: str | None = None
    """The endpoint; None: questions need a `rag_client` fixture."""

    base_url: str | None = None
    """What the endpoint's routes for passages and documents follow; None: `url` without a final `/query`."""

    shape: str | None = None
    """How the endpoint is asked and its reply read: the name of a shape. None: `query`, and `server` where passages
    go along or documents were uploaded."""

    request: str | None = None
    """A template of requests in place of the shape's."""

    response: str | None = None
    """Expressions for the parts of a reply in place of the shape's."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request to the endpoint; may hold secrets."""

    top_k: int = 5
    """How many contexts are asked for, >= 1."""

    timeout_seconds: float = 60.0
    """For a whole request to the endpoint, > 0."""

    concurrency: int = 8
    """How many requests to the endpoint run at once, >= 1."""

    judge_concurrency: int = 8
    """How many requests to the judge run at once, >= 1."""

    delay_seconds: float = 0.0
    """From the start of one request to the endpoint to that of the next, >= 0."""

    retries: int = 2
    """How often a request that failed in passing is repeated, >= 0."""

    question_timeout_seconds: float = 600.0
    """For all requests of a question and what lies between them, > 0; time in which it waits its turn is not in it."""

    waiting_line_seconds: float = 30.0
    """How long nothing may come before the terminal says what is waited for, >= 0; 0: it does not."""

    tier: str = "end_to_end"
    """How questions are asked whose file does not say it: one of `TIERS`."""

    ingest: bool = False
    """Whether the passages of questions are put into the system first; their file's own word goes over it."""

    keep_documents: str = "never"
    """When the run leaves its documents in the system: one of `KEEP`."""

    read_ahead: bool = True
    """Whether questions are asked before pytest comes to them."""

    resume: bool = False
    """Whether the run goes on with the last one, instead of asking what that one has finished."""

    required: bool = False
    """True: questions that nothing can answer are an error, not skipped."""

    threshold: float = 0.7
    """Minimum of answer_correctness and groundedness, 0..1."""

    minimums: Mapping[str, float] = field(default_factory=dict)
    """Further asserted metrics with their minimum, 0..1; they win over `threshold`."""

    metrics: tuple[str, ...] = DEFAULT_GROUPS
    """The groups of metrics that are measured."""

    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    """What `overall_score` is made of, each > 0."""

    own_metrics: tuple[str, ...] = ()
    """Names of the users' own metrics, which `minimums` and `weights` may name too."""

    judge: str | None = None
    """One of `JUDGES`; None: none was chosen, and neither a key nor a model points to one."""

    judge_model: str | None = None
    judge_url: str | None = None
    judge_api_key: str | None = field(default=None, repr=False)
    judge_prompt: str = "en"
    """Name of a packaged prompt or path of a user's."""

    judge_timeout_seconds: float = 60.0
    """For one request to the judge, > 0."""

    calibrations: tuple[Path, ...] = ()
    """Files that say how often the judge agrees with people."""

    judge_price: tuple[float, float] | None = None
    """US dollars, >= 0, for a million tokens that the judge's model reads, and that it writes; None: the table's."""

    cache: bool = True
    """Whether the openai judge is spared what it judged in an earlier run."""

    preflight: bool = True
    """Whether a judge that is a language model is tried out before the first question."""

    judge_repeats: int = 1
    """How often each answer is judged, >= 1; the median counts."""

    repeats: int = 1
    """How often each question is asked, >= 1; the median counts."""

    spread_limit: float = 0.2
    """The largest difference between repeated values that is not called unstable, 0..1."""

    bertscore_model: str | None = None
    """`MODEL[@LAYER]` of the group `bertscore`, a folder or a name on the hub; None: the group cannot be measured."""

    embedding_model: str | None = None
    """Model of the metrics that compare meanings by embeddings; None: they could not be measured."""

    embedding_url: str | None = None
    """Its server; None: the judge's."""

    embedding_api_key: str | None = field(default=None, repr=False)
    """Of that server; None: the judge's key, where there is no `embedding_url`."""

    datasets: tuple[DatasetChoice, ...] = ()
    """Whose questions run beside those of question files."""

    samples: int | None = None
    """How many questions of each dataset are taken at most, >= 1; None: all."""

    seed: int = 0
    """Which questions are taken, >= 0."""

    baseline: Path | None = None
    """The predictions file that the run is compared with; None: it is compared with nothing."""

    baseline_rev: str | None = None
    """The git revision in which that file is; None: it is where its path says."""

    gate: str = "each"
    """What makes the run fail: `each` FAIL, a `regression`, or by `rate:R` less than R of the questions passing."""

    tolerance: float = 0.01
    """By how much a metric's mean may drop under the gate `regression`, 0..1."""

    false_alarms: float = 0.01
    """How often the gate `regression` may turn red with nothing changed, 0..1."""

    missing: str = "regression"
    """Whether a question of the baseline that is gone is a `regression` or `allowed`."""

    other_baseline: str = "refuse"
    """`refuse` or `compare`: what becomes of a baseline that was made with another judge, tier, top_k and the like."""

    max_errors: int | None = None
    """How many questions may be ERRORs before the run stops, >= 0; None: any number."""

    replay: Path | None = None
    """The predictions file that answers and verdicts are taken from; None: the system is asked."""

    shard: tuple[int, int] | None = None
    """Which part of the questions is run, from 1, and of how many; None: all of them."""

    report: Path | None = None
    """The HTML report; None: none is written."""

    markdown: Path | None = None
    """The file that the results are added to as Markdown; None: they are not."""

    dry_run: bool = False
    """Whether questions are only counted."""

    max_cost_usd: float | None = None
    """What the run may cost, > 0; None: it may cost anything."""

    output: Path = Path("ragcheck-results")
    """Folder of the result files."""

    agent: str = "rag"
    """Name of the system under test; the result files begin with it."""

    session_name: str = "session"
    """`dataset_name` of result files that hold several datasets."""

    question_files: tuple[str, ...] = ()
    """Glob patterns of further question files."""

    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that nothing may show, further to those in the headers, the URLs and the keys above."""

    redactor: Redactor = field(init=False, repr=False, compare=False)
    """Knows all secrets of these settings."""

    def __post_init__(self) -> None:
        # A threshold that is no number would be one that nothing is below.
        _check("threshold", self.threshold, read_fraction)
        _check("gate", self.gate, read_gate)
        _check("tolerance", self.tolerance, read_fraction)
        _check("false_alarms", self.false_alarms, read_fraction)
        _check("spread_limit", self.spread_limit, read_fraction)
        _check("judge_repeats", self.judge_repeats, read_count)
        _check("repeats", self.repeats, read_count)
        for group in self.metrics:
            _check("metrics", group, read_group)
        self._check_bertscore()
        for metric, weight in self.weights.items():
            _check("weights", f"{metric}={weight}", partial(read_weight, own=self.own_metrics))
        for metric, minimum in self.minimums.items():
            _check("minimums", f"{metric}={minimum}", partial(read_minimum, own=self.own_metrics))
            self._check_measured(metric)
        for name in ("url", "base_url", "judge_url", "embedding_url"):
            if getattr(self, name) is not None:
                _check(name, getattr(self, name), read_url if name == "url" else read_base_url)
        _check("tier", self.tier, read_tier)
        _check("keep_documents", self.keep_documents, read_keep)
        if self.shape is not None:
            _check("shape", self.shape, read_shape)
        if self.request is not None:
            _check("request", self.request, read_request)
        if self.response is not None:
            _check("response", self.response, read_response)
        if self.judge is not None:
            _check("judge", self.judge, read_judge)
        object.__setattr__(self, "redactor", Redactor(self._all_secrets()))

    @property
    def gate_rate(self) -> float | None:
        """The lowest share of passing questions, 0..1; None where the gate is no rate."""
        kind, _, rate = self.gate.partition(":")
        return float(rate) if kind == "rate" else None

    def _check_bertscore(self) -> None:
        if self.bertscore_model is not None:
            _check("bertscore_model", self.bertscore_model, read_model)
        elif "bertscore" in self.metrics:
            raise UsageError(
                "rag_metrics: the group bertscore needs a model; "
                "set rag_bertscore_model to a folder or a name on the hub, such as roberta-large@17"
            )

    def _check_measured(self, metric: str) -> None:
        """Raises where no group measures what is to be asserted: it would be of no question, and nobody would know."""
        groups = [group_of(name) for name in (self.weights if metric == OVERALL else (metric,))]
        if not any(group is None or group in self.metrics for group in groups):
            raise UsageError(
                f"rag_min: {metric} is measured by the group {groups[0]!r}, which rag_metrics leaves out; "
                f"write rag_metrics = +{groups[0]}, or leave the minimum out"
            )

    @property
    def judged(self) -> bool:
        """Whether anybody is asked for judgements: there is a judge, and its group is measured."""
        return self.judge != "none" and "judge" in self.metrics

    @property
    def own_prices(self) -> Mapping[str, tuple[float, float]]:
        """By model the price that was given for it."""
        return {self.judge_model: self.judge_price} if self.judge_model and self.judge_price else {}

    @property
    def chooses_judge(self) -> bool:
        """Whether a judge was chosen; a key in the environment alone chooses none."""
        return self.judge is not None and (self.judge != "openai" or self.judge_model is not None)

    @property
    def needs_judge(self) -> bool:
        """Whether something is measured that is nothing without a judge."""
        return not JUDGE_GROUPS.isdisjoint(self.metrics)

    def _all_secrets(self) -> list[str]:
        found = list(self.secrets)
        for url in filter(None, (self.url, self.base_url, self.judge_url, self.embedding_url)):
            found += url_secrets(url)
        for name, value in self.headers.items():
            if is_secret_header(name):
                # Also what follows the scheme, as in `Bearer TOKEN`.
                found += [value, *value.split()[1:]]
        for key in (self.judge_api_key, self.embedding_api_key):
            if key not in (None, DUMMY_API_KEY):
                found.append(str(key))
        return found


def _check(name: str, value: Any, read: Callable[[str], Any]) -> None:
    try:
        read(str(value))
    except ValueError as error:
        shown = shown_url(str(value)) if read in _URL_READERS else str(value)
        raise UsageError(f"Settings: {name}: {shown!r} {error}") from None


@dataclass(frozen=True, slots=True)
class Given:
    """One text as a user gave it, and where."""

    text: Any
    origin: str
    """`--rag-url`, `RAGCHECK_URL`, or `rag_url in pytest.ini`."""


def read_settings(
    given: Mapping[str, Given],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    own_metrics: Collection[str] = (),
) -> Settings:
    """
    The settings of a run.

    Args:
        given: By option name what the command line or else the ini file says.
        environment: Where keys, and options that nobody gave on the command line, are looked up.
        folder: What relative paths are relative to; the current folder if None.
        own_metrics: Names of the users' own metrics.

    Raises:
        UsageError: A value cannot be read; the text names its origin and the way out.
    """
    environment = os.environ if environment is None else environment
    folder = Path.cwd() if folder is None else folder
    chosen = {option.name: _chosen(option, given, environment) for option in OPTIONS}
    read = {option.name: _reader(option, own_metrics) for option in OPTIONS}
    values = {
        option.name: _read(option, text, read[option.name])
        for option in OPTIONS
        if (text := chosen[option.name]) is not None
    }
    filled = _headers(chosen["rag_headers"], values.get("rag_headers", ()), chosen["rag_url"], environment)
    keys = _keys(environment)
    api_key = _api_key(keys, own_server="rag_judge_url" in values)
    defaults = Settings()
    return Settings(
        url=values.get("rag_url"),
        base_url=values.get("rag_base_url"),
        shape=values.get("rag_shape"),
        request=values.get("rag_request"),
        response=values.get("rag_response"),
        headers=MappingProxyType(dict(filled.headers) if filled else {}),
        top_k=values.get("rag_top_k", defaults.top_k),
        timeout_seconds=values.get("rag_timeout", defaults.timeout_seconds),
        concurrency=(at_once := values.get("rag_concurrency", defaults.concurrency)),
        judge_concurrency=values.get("rag_judge_concurrency", at_once),
        delay_seconds=values.get("rag_delay", defaults.delay_seconds),
        retries=values.get("rag_retries", defaults.retries),
        question_timeout_seconds=values.get("rag_question_timeout", defaults.question_timeout_seconds),
        waiting_line_seconds=values.get("rag_waiting_line", defaults.waiting_line_seconds),
        tier=values.get("rag_tier", defaults.tier),
        ingest=values.get("rag_ingest", defaults.ingest),
        keep_documents=values.get("rag_keep_documents", defaults.keep_documents),
        read_ahead=values.get("rag_read_ahead", defaults.read_ahead),
        resume=values.get("rag_resume", defaults.resume),
        required=values.get("rag_required", defaults.required),
        threshold=values.get("rag_threshold", defaults.threshold),
        minimums=MappingProxyType(dict(values.get("rag_min", ()))),
        weights=MappingProxyType(dict(values.get("rag_weights", ()) or defaults.weights)),
        metrics=_groups(values.get("rag_metrics", ())),
        own_metrics=tuple(own_metrics),
        judge=values.get("rag_judge") or ("openai" if api_key or "rag_judge_model" in values else None),
        judge_model=values.get("rag_judge_model"),
        judge_url=values.get("rag_judge_url"),
        judge_api_key=api_key,
        judge_repeats=values.get("rag_judge_repeats", defaults.judge_repeats),
        repeats=values.get("rag_repeats", defaults.repeats),
        spread_limit=values.get("rag_spread_limit", defaults.spread_limit),
        bertscore_model=_model(values.get("rag_bertscore_model"), folder),
        embedding_model=values.get("rag_embedding_model"),
        embedding_url=values.get("rag_embedding_url"),
        embedding_api_key=keys.get(
            "RAGCHECK_EMBEDDING_API_KEY", DUMMY_API_KEY if "rag_embedding_url" in values else None
        ),
        judge_prompt=_prompt(values.get("rag_judge_prompt", defaults.judge_prompt), folder),
        judge_timeout_seconds=values.get("rag_judge_timeout", defaults.judge_timeout_seconds),
        calibrations=tuple(folder / name for name in values.get("rag_calibration", ())),
        judge_price=values.get("rag_judge_price"),
        cache=values.get("rag_cache", defaults.cache),
        preflight=values.get("rag_preflight", defaults.preflight),
        datasets=tuple(choice.seen_from(folder) for choice in values.get("rag_dataset", ())),
        samples=values.get("rag_samples"),
        seed=values.get("rag_seed", defaults.seed),
        **_baseline(values.get("rag_baseline"), folder),
        gate=values.get("rag_gate", defaults.gate),
        tolerance=values.get("rag_tolerance", defaults.tolerance),
        false_alarms=values.get("rag_false_alarms", defaults.false_alarms),
        missing=values.get("rag_missing", defaults.missing),
        other_baseline=values.get("rag_other_baseline", defaults.other_baseline),
        max_errors=values.get("rag_max_errors"),
        shard=values.get("rag_shard"),
        report=folder / values["rag_report"] if "rag_report" in values else None,
        markdown=folder / values["rag_markdown"] if "rag_markdown" in values else None,
        replay=folder / values["rag_replay"] if "rag_replay" in values else None,
        dry_run=values.get("rag_dry_run", defaults.dry_run),
        max_cost_usd=values.get("rag_max_cost"),
        # Not with `..` in it: whether a file lies in the folder is told by their paths.
        output=Path(os.path.normpath(folder / values.get("rag_output", defaults.output))),
        agent=values.get("rag_agent", defaults.agent),
        session_name=values.get("rag_session_name", defaults.session_name),
        question_files=tuple(values.get("rag_question_files", ())),
        secrets=(*(filled.secrets if filled else ()), *keys.values()),
    )


def _baseline(text: str | None, folder: Path) -> dict[str, Any]:
    """The two fields of `Settings` that say where the baseline is."""
    if text is None:
        return {}
    if not text.startswith("git:"):
        return {"baseline": folder / text}
    _, rev, path = text.split(":", 2)
    return {"baseline": folder / path, "baseline_rev": rev}


def _chosen(option: Option, given: Mapping[str, Given], environment: Mapping[str, str]) -> Given | None:
    chosen = given.get(option.name)
    if chosen is not None and chosen.origin.startswith("--"):
        return chosen
    if option.environment and environment.get(option.environment):
        return Given(environment[option.environment], option.environment)
    return chosen


def _reader(option: Option, own_metrics: Collection[str]) -> Callable[[str], Any]:
    if option.read is read_minimum:
        return partial(read_minimum, own=own_metrics)
    return partial(read_weight, own=own_metrics) if option.read is read_weight else option.read


def _read(option: Option, given: Given, read: Callable[[str], Any]) -> Any:
    if option.kind == "switch":
        return bool(given.text)
    if option.kind == "text":
        return _read_one(option, given, str(given.text), read)
    return tuple(_read_one(option, given, str(text), read) for text in given.text)


def _groups(words: Iterable[str]) -> tuple[str, ...]:
    """The groups that are named without `+`, or else the default ones, and those with it."""
    words = tuple(words)
    named = tuple(word for word in words if not word.startswith("+")) or DEFAULT_GROUPS
    return tuple(dict.fromkeys((*named, *(word.removeprefix("+") for word in words))))


def _read_one(option: Option, given: Given, text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text.strip())
    except ValueError as error:
        raise UsageError(f"{given.origin}: {_shown(option, text)} {error}") from None


def _shown(option: Option, text: str) -> str:
    if option.name == "rag_headers":
        # It may hold a secret that was written out.
        return "a line"
    return repr(shown_url(text) if option.read in _URL_READERS else text)


def _headers(
    given: Given | None, headers: Iterable[tuple[str, str]], url: Given | None, environment: Mapping[str, str]
) -> FilledHeaders | None:
    """The headers as they are sent; None where none are."""
    if given is None:
        return None
    from pytest_ragcheck.rag.headers import check_one_authorization, fill_in  # noqa: PLC0415 - only for whoever gives any

    try:
        filled = fill_in(headers, environment)
        if url is not None:
            check_one_authorization(str(url.text).strip(), filled.headers, shown=url.origin)
    except UsageError as error:
        raise UsageError(f"{given.origin}: {error}") from None
    return filled


def _keys(environment: Mapping[str, str]) -> dict[str, str]:
    """The keys that the environment has, whether or not this run uses them: none may be shown."""
    names = ("RAGCHECK_JUDGE_API_KEY", "RAGCHECK_EMBEDDING_API_KEY", "OPENAI_API_KEY")
    found = {name: environment.get(name, "").strip() for name in names}
    return {name: key for name, key in found.items() if key}


def _api_key(keys: Mapping[str, str], *, own_server: bool) -> str | None:
    """The judge's key; OpenAI's is for OpenAI alone."""
    other = DUMMY_API_KEY if own_server else keys.get("OPENAI_API_KEY")
    return keys.get("RAGCHECK_JUDGE_API_KEY", other)


def _model(model: tuple[str, int | None] | None, folder: Path) -> str | None:
    """A folder of the name is meant where there is one; else it is a name on the hub."""
    if model is None:
        return None
    name, layer = model
    where = str(folder / name) if (folder / name).is_dir() else name
    return where if layer is None else f"{where}@{layer}"


def _prompt(name: str, folder: Path) -> str:
    """A packaged prompt has a plain name; what looks like a path is relative to the folder."""
    return str(folder / name) if re.search(r"[./\\]", name) else name
