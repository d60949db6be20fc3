"""What a user gave -> `Settings`: command line over environment over ini over default, read and checked."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.catalogue import DEFAULT_GROUPS
from pytest_ragcheck.option_values import LOCAL, URL_READERS, read_minimum, read_weight
from pytest_ragcheck.options import OPTIONS, Option
from pytest_ragcheck.redaction import Redactor, is_secret_header, shown_url, url_secrets
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
    fields = {
        option.field: _read(option, text, own_metrics)
        for option in OPTIONS
        if (text := chosen[option.name]) is not None
    }
    keys = _keys(environment)
    filled = _headers(chosen["rag_headers"], fields.get("headers", ()), chosen["rag_url"], environment)
    settled = {
        **fields,
        **_judge(fields, keys),
        **_measures(fields),
        **_places(fields, folder),
        "own_metrics": tuple(own_metrics),
        "headers": MappingProxyType(dict(filled.headers) if filled else {}),
        "secrets": (*(filled.secrets if filled else ()), *_secrets_of(environment)),
    }
    return Settings(**settled)


def _judge(fields: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """Which judge is asked, where that is not said outright, and by which keys."""
    key = _api_key(keys, own_server="judge_url" in fields)
    found: dict[str, Any] = {"judge_api_key": key}
    if "judge" not in fields and (key or "judge_model" in fields):
        found["judge"] = "openai"
    if "judge_concurrency" not in fields and "concurrency" in fields:
        found["judge_concurrency"] = fields["concurrency"]
    other = DUMMY_API_KEY if "embedding_url" in fields else None
    found["embedding_api_key"] = keys.get("RAGCHECK_EMBEDDING_API_KEY", other)
    return found


def _measures(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is measured, asserted and weighed, of what was given one by one."""
    found: dict[str, Any] = {"metrics": _groups(fields.get("metrics", ()))}
    for name in ("minimums", "weights"):
        if fields.get(name):
            found[name] = MappingProxyType(dict(fields[name]))
    return found


def _places(fields: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The files and folders, relative to the folder."""
    found: dict[str, Any] = {name: folder / fields[name] for name in ("replay", "report", "markdown") if name in fields}
    # Not with `..` in it: whether a file lies in the folder is told by their paths.
    found["output"] = Path(os.path.normpath(folder / fields.get("output", Settings().output)))
    found["calibrations"] = tuple(folder / name for name in fields.get("calibrations", ()))
    found["datasets"] = tuple(choice.seen_from(folder) for choice in fields.get("datasets", ()))
    if "bertscore_model" in fields:
        found["bertscore_model"] = _model(fields["bertscore_model"], folder)
    if (name := fields.get("embedding_model", "")).startswith(LOCAL):
        found["embedding_model"] = LOCAL + _model((name.removeprefix(LOCAL), None), folder)
    if "judge_prompt" in fields:
        found["judge_prompt"] = _prompt(fields["judge_prompt"], folder)
    if "baseline" in fields:
        found["baseline"] = folder / fields["baseline"].path
        found["baseline_rev"] = fields["baseline"].rev
    return found


def read_value(name: str, given: Given) -> Any:
    """
    The value of one text option, by the option's name.

    Raises:
        UsageError: It cannot be read; the text names its origin and the way out.
    """
    option = next(option for option in OPTIONS if option.name == name)
    return _read_one(option, given, str(given.text), option.read)


def redactor_of(environment: Mapping[str, str]) -> Redactor:
    """What knows the secrets that the environment holds for this package, whichever run they are of."""
    secrets = _secrets_of(environment)
    for option in OPTIONS:
        if option.environment and option.read in URL_READERS:
            with suppress(ValueError):  # no URL, as only who asks it needs to know
                secrets += url_secrets(environment.get(option.environment, "").strip())
    return Redactor(secrets)


def _chosen(option: Option, given: Mapping[str, Given], environment: Mapping[str, str]) -> Given | None:
    chosen = given.get(option.name)
    if chosen is not None and chosen.origin.startswith("--"):
        return chosen
    if option.environment and environment.get(option.environment):
        return Given(environment[option.environment], option.environment)
    return chosen


def _read(option: Option, given: Given, own_metrics: Collection[str]) -> Any:
    """What was given as the option's values are; all words and lines of it, where there may be several."""
    if option.kind == "switch":
        return bool(given.text)
    read = option.read
    for reader in (read_minimum, read_weight):
        if option.read is reader:
            read = partial(reader, own=own_metrics)
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


def _secrets_of(environment: Mapping[str, str]) -> list[str]:
    """These keys, and what the variables about the openai judge's server hold beside."""
    found = list(_keys(environment).values())
    with suppress(ValueError):  # no URL, as only who asks it needs to know
        found += url_secrets(environment.get("OPENAI_BASE_URL", "").strip())
    for line in environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines():
        name, _, value = line.partition(":")
        if is_secret_header(name):
            # Also what follows the scheme, as in `Bearer TOKEN`.
            found += [value, *value.split()[1:]]
    return found


def _api_key(keys: Mapping[str, str], *, own_server: bool) -> str | None:
    """The judge's key; OpenAI's is for OpenAI alone."""
    other = DUMMY_API_KEY if own_server else keys.get("OPENAI_API_KEY")
    return keys.get("RAGCHECK_JUDGE_API_KEY", other)


def _model(model: tuple[str, int | None], folder: Path) -> str:
    """A folder of the name is meant where there is one; else it is a name on the hub."""
    name, layer = model
    where = str(folder / name) if (folder / name).is_dir() else name
    return where if layer is None else f"{where}@{layer}"


def _prompt(name: str, folder: Path) -> str:
    """A packaged prompt has a plain name; what looks like a path is relative to the folder."""
    return str(folder / name) if re.search(r"[./\\]", name) else name
