"""What a user gave -> `Settings`: command line over environment over ini over default, read and checked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.catalogue import DEFAULT_GROUPS
from pytest_ragcheck.option_values import URL_READERS, read_minimum, read_weight
from pytest_ragcheck.options import OPTIONS, Option
from pytest_ragcheck.redaction import shown_url
from pytest_ragcheck.settings import DUMMY_API_KEY, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from pytest_ragcheck.rag.headers import FilledHeaders


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
    return repr(shown_url(text) if option.read in URL_READERS else text)


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
