"""Makes `Settings` from the command line, the environment and the ini file, in this order of precedence."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.config.readers import (
    BASELINE_FILE,
    LOCAL,
    URL_READERS,
    BaselinePlace,
    as_identities,
    model_and_url,
    read_embedding_model,
)
from pytest_ragcheck.config.settings import DUMMY_API_KEY, Settings
from pytest_ragcheck.config.table import TABLE, Given, Setting, read_given
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.redaction import Redactor, header_secrets, url_secrets

if TYPE_CHECKING:
    from pytest_ragcheck.rag.http.endpoint_address import FilledHeaders


def read_settings(
    given: Mapping[str, Given],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    own_metrics: Collection[str] = (),
) -> Settings:
    """
    The settings of a run; a `UsageError` names the origin of a value that cannot be read, and the way out.

    *given* has the values of the command line, or else of the ini file. The *environment*, by default the process's,
    has keys, and settings that *given* lacks. Paths without a folder of their own are relative to *folder*, by default
    the current one. *own_metrics* are names of the users' own metrics.
    """
    environment = os.environ if environment is None else environment
    folder = Path.cwd() if folder is None else folder
    chosen = {setting.name: _chosen(setting, given, environment) for setting in TABLE}
    values = {
        setting.path: read_given(setting, value, own_metrics)
        for setting in TABLE
        if (value := chosen[setting.name]) is not None
    }
    headers = _headers(chosen, values, environment)
    folders = {name: value.folder for name, value in chosen.items() if value is not None}
    absolute = {
        each.path: resolved(folders.get(each.name) or folder, values.get(each.path, each.default)) for each in TABLE
    }
    return Settings.from_values(
        {
            **absolute,
            **_judge(values, _keys(environment)),
            **_judge_of_replay(chosen, values),
            **_models(values, folder),
            **_gate(values, folder),
            **headers,
            "run.own_metrics": tuple(own_metrics),
        }
    )


def read_value(name: str, given: Given) -> Any:
    """The value of one setting; raises a `UsageError` as `read_settings` does."""
    return read_given(next(setting for setting in TABLE if setting.name == name), given)


def environment_redactor() -> Redactor:
    secrets = _secrets_of(os.environ)
    for setting in TABLE:
        if setting.environment and setting.read in (*URL_READERS, read_embedding_model):
            text = os.environ.get(setting.environment, "").strip()
            with suppress(ValueError):  # not a URL: an error only for the command that uses it
                secrets += url_secrets(model_and_url(text)[1] or text)
    return Redactor(secrets)


def _chosen(setting: Setting, given: Mapping[str, Given], environment: Mapping[str, str]) -> Given | None:
    chosen = given.get(setting.name)
    if chosen is not None and chosen.origin.startswith("--"):
        return chosen
    if setting.environment and environment.get(setting.environment):
        return Given(environment[setting.environment], setting.environment)
    return chosen


def resolved(folder: Path, value: Any) -> Any:
    """The value with absolute paths, without `..`, because paths are compared by their text."""
    if isinstance(value, Path):
        return Path(os.path.normpath(folder / value))
    if isinstance(value, tuple):
        return tuple(resolved(folder, each) for each in value)
    return value.resolved_in(folder) if hasattr(value, "resolved_in") else value


def _judge(values: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    # The key of OpenAI must not be sent to another server.
    other = DUMMY_API_KEY if "judge.url" in values else keys.get("OPENAI_API_KEY")
    key = keys.get("RAGCHECK_JUDGE_API_KEY", other)
    _, embeddings = model_and_url(values.get("judge.embedding_model", ""))
    embedding_key = keys.get("RAGCHECK_EMBEDDING_API_KEY", DUMMY_API_KEY if embeddings else None)
    found: dict[str, Any] = {"judge.api_key": key, "judge.embedding_api_key": embedding_key}
    if "judge.name" not in values and (key or "judge.model" in values):
        found["judge.name"] = "openai"
    if values.get("judge.name") == "openai":  # not None, which is that of a judge that only a key points to
        found["judge.model"] = values.get("judge.model", "")
    return found


def _judge_of_replay(chosen: Mapping[str, Given | None], values: Mapping[str, Any]) -> dict[str, Any]:
    # A replay keeps recorded verdicts unless the command line names a judge.
    given = (chosen["rag_judge"], chosen["rag_judge_model"])
    if "run.replay" not in values or any(each is not None and each.origin.startswith("-") for each in given):
        return {}
    return {"judge.name": None, "judge.model": None}


def _models(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "run.metric_groups" in values:
        found["run.metric_groups"] = tuple(_group(group, folder) for group in values["run.metric_groups"])
    if (name := values.get("judge.embedding_model", "")).startswith(LOCAL):
        found["judge.embedding_model"] = LOCAL + _model(name.removeprefix(LOCAL), folder)
    model = values.get("judge.model") if values.get("judge.name") == "local" else None
    if model:
        found["judge.model"] = _folder_or_name(model, folder)
    if re.search(r"[./\\]", prompt := values.get("judge.prompt", "")):
        found["judge.prompt"] = str(folder / prompt)  # a packaged prompt has a plain name
    return found


def _gate(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "gate.baseline" not in values and (folder / BASELINE_FILE).is_file():
        found["gate.baseline"] = BaselinePlace(path=folder / BASELINE_FILE)
    if "gate.rule" not in values and ("gate.baseline" in values or found):
        found["gate.rule"] = "confirmed"
    return found


def _group(group: str, folder: Path) -> str:
    name, equals, model = group.partition("=")
    return f"{name}={_model(model, folder)}" if equals else group


def _model(text: str, folder: Path) -> str:
    name, at, layer = text.rpartition("@")
    return f"{_folder_or_name(name, folder)}@{layer}" if at else _folder_or_name(text, folder)


def _folder_or_name(text: str, folder: Path) -> str:
    # Shells expand no `~` within an option, and ini files none at all.
    place = folder / os.path.expanduser(text)  # noqa: PTH111 - Path's raises an error for an unknown user
    return str(place) if place.is_dir() else text


def _headers(
    chosen: Mapping[str, Given | None], values: Mapping[str, Any], environment: Mapping[str, str]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    secrets: list[str] = []
    asks = "run.replay" not in values
    for group, name, url in (("endpoint", "rag_headers", "rag_url"), ("judge", "rag_judge_headers", "rag_judge_url")):
        needed = asks or group == "judge"
        filled = _filled(chosen[name], values.get(f"{group}.headers", {}), chosen[url], environment, needed)
        found[f"{group}.headers"] = MappingProxyType(dict(filled.headers))
        secrets += filled.secrets
    identities = {}
    for name, headers in values.get("endpoint.identities", {}).items():
        filled = _filled(chosen["rag_identities"], headers, chosen["rag_url"], environment, asks)
        identities[name] = filled.headers
        secrets += filled.secrets
    found["endpoint.identities"] = as_identities(identities.items())
    return {**found, "secrets": (*secrets, *_secrets_of(environment))}


def _filled(
    given: Given | None, headers: Mapping[str, str], url: Given | None, environment: Mapping[str, str], needed: bool
) -> FilledHeaders:
    from pytest_ragcheck.rag.http.endpoint_address import FilledHeaders, check_one_authorization, fill_in

    if given is None:
        return FilledHeaders(headers={}, secrets=())
    try:
        filled = fill_in(headers.items(), environment)
        if url is not None:
            check_one_authorization(str(url.value).strip(), filled.headers, shown=url.origin)
    except UsageError as error:
        if not needed:
            return FilledHeaders(headers={}, secrets=())
        raise UsageError(f"{given.origin}: {error}") from None
    return filled


def _keys(environment: Mapping[str, str]) -> dict[str, str]:
    # Those that this run does not use are secrets too.
    names = ("RAGCHECK_JUDGE_API_KEY", "RAGCHECK_EMBEDDING_API_KEY", "OPENAI_API_KEY")
    found = {name: environment.get(name, "").strip() for name in names}
    return {name: key for name, key in found.items() if key}


def _secrets_of(environment: Mapping[str, str]) -> list[str]:
    found = list(_keys(environment).values())
    with suppress(ValueError):  # not a URL: an error only for the command that uses it
        found += url_secrets(environment.get("OPENAI_BASE_URL", "").strip())
    for line in environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines():
        name, _, value = line.partition(":")
        found += header_secrets(name, value)
    return found
