"""What a run was told: command line over environment over ini over default, read and checked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.options import OPTIONS, Option
from pytest_ragcheck.redaction import Redactor, url_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DUMMY_API_KEY = "no-key"
"""Sent to a judge server that was given without a key: the SDK refuses an empty one."""

_FROM_ENVIRONMENT = re.compile(r"\{env:([^{}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a run; a `rag_settings` fixture makes a changed one with `dataclasses.replace`."""

    url: str | None = None
    """The endpoint; None: questions need a `rag_client` fixture."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request to the endpoint; may hold secrets."""

    top_k: int = 5
    """How many contexts are asked for, >= 1."""

    timeout_seconds: float = 60.0
    """For a whole request to the endpoint, > 0."""

    required: bool = False
    """True: questions that nothing can answer are an error, not skipped."""

    threshold: float = 0.7
    """Minimum of answer_correctness and groundedness, 0..1."""

    minimums: Mapping[str, float] = field(default_factory=dict)
    """Further asserted metrics with their minimum, 0..1; they win over `threshold`."""

    judge: str | None = None
    """One of `JUDGES`; None: none was chosen, and neither a key nor a model points to one."""

    judge_model: str | None = None
    judge_url: str | None = None
    judge_api_key: str | None = field(default=None, repr=False)
    judge_prompt: str = "en"
    """Name of a packaged prompt or path of a user's."""

    judge_timeout_seconds: float = 60.0
    """For one request to the judge, > 0."""

    output: Path = Path("ragcheck-results")
    """Folder of the result files."""

    agent: str = "rag"
    """Name of the system under test; the result files begin with it."""

    session_name: str = "session"
    """`dataset_name` of result files that hold several datasets."""

    question_files: tuple[str, ...] = ()
    """Glob patterns of further question files."""

    redactor: Redactor = field(default_factory=Redactor, repr=False, compare=False)
    """Knows the secrets among these settings."""


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
) -> Settings:
    """
    The settings of a run.

    Args:
        given: By option name what the command line or else the ini file says.
        environment: Where keys, and options that nobody gave on the command line, are looked up.
        folder: What relative paths are relative to; the current folder if None.

    Raises:
        UsageError: A value cannot be read; the text names its origin and the way out.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    for option in OPTIONS:
        chosen = given.get(option.name)
        if option.environment and environment.get(option.environment) and not _on_command_line(chosen):
            chosen = Given(environment[option.environment], option.environment)
        if chosen is not None:
            values[option.name] = _read(option, chosen)
    folder = Path.cwd() if folder is None else folder
    headers = dict(values.get("rag_headers", ()))
    urls = [values[name] for name in ("rag_url", "rag_judge_url") if name in values]
    secrets = [secret for url in urls for secret in url_secrets(url)]
    if headers:
        headers, used = _fill_in(headers, environment)
        secrets += used
    api_key, keys = _api_keys(values, environment)
    prompt = values.get("rag_judge_prompt", "en")
    defaults = Settings()
    return Settings(
        url=values.get("rag_url"),
        headers=MappingProxyType(headers),
        top_k=values.get("rag_top_k", defaults.top_k),
        timeout_seconds=values.get("rag_timeout", defaults.timeout_seconds),
        required=values.get("rag_required", defaults.required),
        threshold=values.get("rag_threshold", defaults.threshold),
        minimums=MappingProxyType(dict(values.get("rag_min", ()))),
        judge=values.get("rag_judge") or _judge_by_what_is_there(values, api_key),
        judge_model=values.get("rag_judge_model"),
        judge_url=values.get("rag_judge_url"),
        judge_api_key=api_key,
        judge_prompt=str(folder / prompt) if Path(prompt).suffix else prompt,
        judge_timeout_seconds=values.get("rag_judge_timeout", defaults.judge_timeout_seconds),
        output=folder / values.get("rag_output", defaults.output),
        agent=values.get("rag_agent", defaults.agent),
        session_name=values.get("rag_session_name", defaults.session_name),
        question_files=tuple(values.get("rag_question_files", ())),
        redactor=Redactor([*secrets, *keys]),
    )


def _on_command_line(given: Given | None) -> bool:
    return given is not None and given.origin.startswith("--")


def _read(option: Option, given: Given) -> Any:
    if option.kind == "switch":
        return bool(given.text)
    if option.kind == "text":
        return _read_one(option, given, str(given.text))
    return tuple(_read_one(option, given, str(text)) for text in given.text)


def _read_one(option: Option, given: Given, text: str) -> Any:
    try:
        return option.read(text.strip())
    except ValueError as error:
        # A header may hold a secret that was written out; its text is not repeated.
        shown = "a line" if option.name == "rag_headers" else repr(Redactor().text(text))
        raise UsageError(f"{given.origin}: {shown} is {error}") from None


def _fill_in(headers: Mapping[str, str], environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    filled: dict[str, str] = {}
    secrets: list[str] = []
    for name, value in headers.items():
        used = _FROM_ENVIRONMENT.findall(value)
        for variable in used:
            if not environment.get(variable):
                raise UsageError(
                    f"rag_headers: {name} needs the environment variable {variable}, which is not set. "
                    f"Set it, or take the header out."
                )
        filled[name] = _FROM_ENVIRONMENT.sub(lambda match: environment[match[1]], value)
        secrets += [environment[variable] for variable in used]
        if re.search(r"(?i)auth|cookie|key|token|secret", name):
            secrets += [filled[name], *filled[name].split()[1:]]
    return filled, secrets


def _api_keys(values: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[str | None, Iterable[str]]:
    own, openai = environment.get("RAGCHECK_JUDGE_API_KEY"), environment.get("OPENAI_API_KEY")
    known = [key for key in (own, openai) if key]
    if own:
        return own, known
    if values.get("rag_judge_url"):
        return DUMMY_API_KEY, known
    return openai or None, known


def _judge_by_what_is_there(values: Mapping[str, Any], api_key: str | None) -> str | None:
    if api_key or values.get("rag_judge_model"):
        return "openai"
    return None
