"""What a run is told apart by: a record of another run is used again only where it would have come out the same."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_ragcheck import __version__
from pytest_ragcheck.judging.judge import judge_identity
from pytest_ragcheck.questions.wire import question_to_wire
from pytest_ragcheck.rag.ask import endpoint_name
from pytest_ragcheck.redaction import REDACTED, is_secret_header, shown_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.settings import Settings

OF_NO_ACCOUNT = frozenset(
    {
        "agent", "baseline", "cache", "calibrations", "concurrency", "delay_seconds",
        "judge_concurrency", "judge_timeout_seconds", "output", "preflight", "question_files", "read_ahead",
        "required", "resume", "retries", "session_name", "timeout_seconds",
    }
)  # fmt: skip
"""Settings that change how a run goes, and no verdict of it. Any other one, a new one too, tells two runs apart."""

_NO_MATTER = ("path", "line", "tags", "skip", "xfail")
"""What of a question is nothing to those who answer and judge it."""

_LOOPBACK = re.compile(r"localhost|127\.[\d.]+|::1")


def fingerprint(settings: Settings) -> dict[str, str]:
    """
    What two runs must have in common for one to go on with the other, by setting, without secrets.

    Of a server on this machine the port is of no account: a test suite that starts one has it anywhere.
    """
    # What is not to be shown may be a secret.
    found = {f.name: getattr(settings, f.name) for f in fields(settings) if f.repr and f.name not in OF_NO_ACCOUNT}
    found["headers"] = {
        name: REDACTED if is_secret_header(name) else value for name, value in sorted(settings.headers.items())
    }
    found["minimums"] = dict(sorted(settings.minimums.items()))
    found["judge_prompt"] = _prompt_version(settings)
    for name in ("url", "base_url", "judge_url", "embedding_url"):
        found[name] = _without_port(shown_url(found[name])) if found[name] else None
    found["plugin_version"] = __version__
    return {name: settings.redactor.text(_text(value)) for name, value in found.items()}


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What is not as it was, each as `name: before -> now`."""
    names = sorted(before.keys() | now.keys())
    nothing = _text(None)
    pairs = ((name, before.get(name, nothing), now.get(name, nothing)) for name in names)
    return [f"{name}: {was} -> {now_is}" for name, was, now_is in pairs if was != now_is]


def question_digest(question: Question) -> str:
    """The same for two questions that are asked and judged alike; moved in their file, they still are."""
    wire = question_to_wire(question)
    return _digest({name: value for name, value in wire.items() if name not in _NO_MATTER})


def means_digest(client: Any, judge: Judge | None, settings: Settings) -> str:
    """The same wherever a question would be asked of the same system and judged by the same judge in the same way."""
    identity = judge_identity(judge)
    said = {**asdict(identity), "url": _without_port(identity.url)} if identity else None
    return _digest([_without_port(endpoint_name(client)), said, fingerprint(settings)])


def store_key(question: Question, means: str) -> str:
    """The key of a question in the store of a run; it begins with the question's digest."""
    return f"{question_digest(question)}.{means}"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, default=str)


def _prompt_version(settings: Settings) -> str | None:
    if settings.judge != "openai":
        return None
    from pytest_ragcheck.judging.prompt import load_prompt  # noqa: PLC0415 - only this judge has one

    return load_prompt(settings.judge_prompt).version


def _without_port(name: str | None) -> str | None:
    """The address without its port, if it is one on this machine; anything else as it is."""
    try:
        host = urlsplit(name or "").hostname
        port = urlsplit(name or "").port
    except ValueError:
        return name
    if name is None or host is None or port is None or not _LOOPBACK.fullmatch(host):
        return name
    return name.replace(f":{port}", "", 1)
