"""Identifies runs and questions, so that a resumed run uses only records that it would make itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from pytest_ragcheck._version import __version__
from pytest_ragcheck.check import settings_with
from pytest_ragcheck.config.readers import model_and_url
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.config.table import TABLE
from pytest_ragcheck.judging.checked_judgement import judge_identity
from pytest_ragcheck.judging.judgement import Judge, digest_of
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.questions.question_rows import question_to_wire
from pytest_ragcheck.rag.ask import endpoint_name
from pytest_ragcheck.redaction import REDACTED, is_secret_header, shown_url

IGNORED_SETTINGS = frozenset(
    {
        "rag_agent", "rag_baseline", "rag_calibration", "rag_concurrency", "rag_delay",
        "rag_judge_concurrency", "rag_output", "rag_disable", "rag_max_cost", "rag_question_files",
        "rag_report", "rag_require_endpoint", "rag_resume", "rag_retries", "rag_timeout",
    }
)  # fmt: skip
"""Settings that do not change a verdict. Any other setting, and so each new one, is part of the fingerprint."""

_IGNORED_KEYS = ("path", "line", "tags", "skip", "xfail", "history")
"""Keys of a question that neither the answer nor the judgement depends on, or that the run fills."""

_LOOPBACK = re.compile(r"localhost|127\.[\d.]+|::1")


def fingerprint(settings: Settings) -> dict[str, str]:
    """
    The values that two runs must share if one resumes the other, by setting, without secrets.

    The port of a server on this machine is left out, because test suites start their server on any free port.
    """
    values = settings.values()
    found = {each.name: values[each.path] for each in TABLE if each.name not in IGNORED_SETTINGS}
    found["own_metrics"] = settings.run.own_metrics
    for name in ("rag_headers", "rag_judge_headers"):
        found[name] = {
            header: REDACTED if is_secret_header(header) else value for header, value in sorted(found[name].items())
        }
    found["rag_identities"] = {name: sorted(headers) for name, headers in sorted(found["rag_identities"].items())}
    for name in ("rag_min", "rag_max", "rag_weights", "rag_judge_parameters"):
        found[name] = dict(sorted(found[name].items()))
    found["rag_judge_prompt"] = None
    if settings.judge.name == "openai":
        from pytest_ragcheck.judging.judge_prompt import load_prompt

        found["rag_judge_prompt"] = load_prompt(settings.judge.prompt).version
    for name in ("rag_url", "rag_base_url", "rag_judge_url"):
        found[name] = _without_port(shown_url(found[name])) if found[name] else None
    model, url = model_and_url(found["rag_embedding_model"] or "")
    if url is not None:
        found["rag_embedding_model"] = f"{model}@{_without_port(shown_url(url))}"
    found["plugin_version"] = __version__
    return {name: settings.redactor.text(_text(value)) for name, value in found.items()}


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    nothing = _text(None)
    pairs = {name: (before.get(name, nothing), now.get(name, nothing)) for name in sorted({**before, **now})}
    return [f"{name}: {was} -> {now_is}" for name, (was, now_is) in pairs.items() if was != now_is]


def question_digest(question: Question) -> str:
    """A digest of all values that affect the answer or the judgement, not of the place in the file."""
    wire = question_to_wire(question) | {"earlier": [turn.question for turn in question.earlier]}
    return digest_of({name: value for name, value in wire.items() if name not in _IGNORED_KEYS})[:32]


def backends_digest(client: Any, judge: Judge | None, settings: Settings) -> str:
    """A digest that is equal if the same system answers and the same judge judges in the same way."""
    identity = judge_identity(judge)
    judged_by = {**asdict(identity), "url": _without_port(identity.url)} if identity else None
    run = fingerprint(settings_with(client, settings))
    return digest_of([_without_port(endpoint_name(client)), judged_by, run])[:32]


def store_key(question: Question, backends: str) -> str:
    return f"{question_digest(question)}.{backends}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, default=str)


def _without_port(name: str | None) -> str | None:
    # The address without its port if it is on this machine, and any other address unchanged.
    try:
        host = urlsplit(name or "").hostname
        port = urlsplit(name or "").port
    except ValueError:
        return name
    if name is None or host is None or port is None or not _LOOPBACK.fullmatch(host):
        return name
    return name.replace(f":{port}", "", 1)
