from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.cli.command_line import json_text, settings_as_typed
from pytest_ragcheck.cli.project.user_project import configuration_of, endpoint_settings
from pytest_ragcheck.config.table import Given
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.body.json_body import excerpt
from pytest_ragcheck.rag.probe.first_reply import Check, CheckOutcome, Point
from pytest_ragcheck.redaction import Redactor, shown_url
from pytest_ragcheck.redaction.printable import printable

if TYPE_CHECKING:
    from pytest_ragcheck.rag.probe.probe_exchange import Fit, Target

_SHAPE_SETTINGS = ("rag_shape", "rag_request", "rag_response")
_FROM_THE_INI_FILE = ("rag_headers", "rag_top_k", "rag_timeout", *_SHAPE_SETTINGS)
_COLOURS = {CheckOutcome.PASS: "32", CheckOutcome.FAIL: "31", CheckOutcome.ADVICE: "33", CheckOutcome.NOT_CHECKED: "2"}

_SHAPE_CHECKS = frozenset({Check.POST, Check.REQUEST, Check.JSON, Check.ANSWER, Check.CONTEXTS})
_OTHER_BODY = (
    "If the endpoint takes another request, write it into pytest's ini file with {query} in the place of the question, "
    'such as rag_request = {"input": {"text": "{query}"}}, and probe again to find the rag_response.'
)
_CONTEXTS_ALONE = "For contexts alone, pytest --rag-tier=retrieval names the setting."
_READ = "These settings read the endpoint as it is (the points above are without settings)"
_LEFT = "To leave the endpoint as it is,"


def run(chosen: argparse.Namespace) -> int:
    import asyncio

    from pytest_ragcheck.rag.probe.checklist import probe_endpoint

    target, redactor = _read(chosen)
    report = (lambda _: None) if chosen.json else _printer(target)
    points = asyncio.run(probe_endpoint(target, redactor=redactor, report=report))
    broken = {point.check for point in points if point.outcome is CheckOutcome.FAIL}
    has_another_shape = not _SHAPE_CHECKS.isdisjoint(broken)
    fit = None
    if has_another_shape or Check.STATUS in broken:
        fit = _fitting(target, redactor, "\n".join(map(_without_value, chosen.header or ())))
    if chosen.json:
        settings = fit.settings if fit and fit.parts else None
        print(json_text({**_document(target, points), "settings": settings}), end="")
        return 1 if broken else 0
    print(f"\n{_counted(points)}")
    if fit and (fit.parts or (fit.found and not broken.isdisjoint({Check.REQUEST, Check.STATUS}))):
        unread = f"The endpoint takes these settings, but {printable(fit.found)}"
        print(f"{_READ if fit.parts else unread}:\n")
        shown: Mapping[str, Any] = fit.settings
        if (found := configuration_of(Path.cwd())) and found.path.suffix == ".toml":
            lists = {"rag_headers": shown.get("rag_headers", "").splitlines()}
            shown = {name: json.dumps(lists.get(name, value), ensure_ascii=False) for name, value in shown.items()}
        for name, value in shown.items():
            # The further lines of a value are indented in an ini file.
            print("\n    ".join(printable(line.strip()) for line in f"{name} = {value}".splitlines()))
        if fit.context:
            print(f'\nThe first context, which has to be a text and not a name: "{excerpt(fit.context, 60)}"')
        print("", _in_conversations(fit.settings), *[_CONTEXTS_ALONE] * ('no "answer"' in fit.found), sep="\n")
    elif fit is None and Check.JSON in broken:
        print(f"No settings read such a reply. {_LEFT} ask it by a function: ragcheck docs reference/client")
    elif has_another_shape:
        print(f"{_LEFT} describe its requests and replies by settings: ragcheck docs how-to/own-endpoint-shape")
        if fit is None:
            print(_OTHER_BODY)
        else:
            to_do = "give --question TEXT that your documents answer."
            print(f"Settings are found only for an answer with contexts: {to_do}\n{_CONTEXTS_ALONE}")
    return 1 if broken else 0


def _read(chosen: argparse.Namespace) -> tuple[Target, Redactor]:
    from pytest_ragcheck.rag.probe.checklist import QUESTION
    from pytest_ragcheck.rag.probe.probe_exchange import Target

    question = QUESTION if chosen.question is None else chosen.question
    if not question.strip():
        raise UsageError("--question: the text is blank. Write a question that your documents answer.")
    typed = {
        "rag_url": Given(chosen.url, "URL"),
        "rag_headers": Given(chosen.header, "--header"),
        "rag_top_k": Given(chosen.top_k, "--top-k"),
        "rag_timeout": Given(chosen.timeout, "--timeout"),
    }
    given = endpoint_settings(typed, _FROM_THE_INI_FILE, to_do="Write it, such as http://localhost:8000/query,")
    settings = settings_as_typed(given)
    target = Target(
        url=settings.endpoint.url or "",
        headers=settings.endpoint.headers,
        question=question,
        top_k=settings.endpoint.top_k,
        timeout_seconds=settings.endpoint.timeout_seconds,
        shape_settings={name: getattr(settings.endpoint, name[4:]) for name in _SHAPE_SETTINGS if name in given},
    )
    return target, settings.redactor


def _without_value(header: str) -> str:
    name, value = map(str.strip, header.split(":", 1))
    scheme = next(filter(value.startswith, ("Bearer ", "Basic ", "Token ")), "")
    secret = value.removeprefix(scheme)
    if not re.fullmatch(r"\{env:[^{}]+\}", secret):
        secret = f"{{env:{'RAG_TOKEN' if scheme else re.sub('[^A-Z0-9]', '_', name.upper())}}}"
    return f"{name}: {scheme}{secret}"


def _fitting(target: Target, redactor: Redactor, headers: str) -> Fit | None:
    # The settings that fit, with the target's URL, without secrets; None if there are none.
    import asyncio

    from pytest_ragcheck.rag.http.endpoint_address import read_address
    from pytest_ragcheck.rag.probe.probe_exchange import fitting_settings

    fit = asyncio.run(fitting_settings(target))
    if fit is None:
        return None
    of_target = read_address(target.url, target.headers).redactor
    given = {"rag_headers": headers} if headers else {}
    shown = {"settings": fit.settings, "found": fit.found, "context": fit.context}
    fit = replace(fit, **of_target.document(redactor.document(shown)))
    return replace(fit, settings={"rag_url": shown_url(target.url), **given, **fit.settings})


def _in_conversations(settings: Mapping[str, str]) -> str:
    from pytest_ragcheck.rag.shapes.shape import read_shape

    shape = read_shape(settings.get("rag_shape", "query"), settings.get("rag_request"))
    carried = {"history", "session"} & set(shape.request.carried)
    if carried:
        return f"In conversations the request carries {' and '.join(f'{{{name}}}' for name in sorted(carried))}."
    return "Conversations need {history} or {session} in rag_request: ragcheck docs how-to/own-endpoint-shape"


def _printer(target: Target) -> Callable[[Point], None]:
    # Each point is printed at once, so that slow points show.
    # Consoles of Windows may show the codes as text.
    coloured = os.name == "posix" and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    title_width = max(len(check.title) for check in Check)

    def show(point: Point) -> None:
        if point.check is Check.REACHABLE:
            print(f"{shown_url(target.url)}\n")
        word = f"{point.outcome.value:<{len(CheckOutcome.NOT_CHECKED.value)}}"
        if coloured:
            word = f"\033[{_COLOURS[point.outcome]}m{word}\033[0m"
        print(f"{word}  {point.check.title:<{title_width}}  {printable(point.seen)}", flush=True)
        if point.mend:
            print(f"{'':>{len(CheckOutcome.NOT_CHECKED.value)}}  -> {printable(point.mend)}", flush=True)

    return show


def _counted(points: list[Point]) -> str:
    counts = {outcome: sum(point.outcome is outcome for point in points) for outcome in CheckOutcome}
    words = {CheckOutcome.PASS: "passed", CheckOutcome.FAIL: "failed"}
    shown = ", ".join(f"{count} {words.get(outcome, outcome.value)}" for outcome, count in counts.items() if count)
    if counts[CheckOutcome.FAIL]:
        return f"{shown}: the endpoint does not keep the contract."
    if counts[CheckOutcome.NOT_CHECKED]:
        return f"{shown}: no checked point breaks the contract."
    return f"{shown}: the endpoint keeps the contract."


def _document(target: Target, points: list[Point]) -> dict[str, Any]:
    return {
        "schema_version": "1",
        "url": shown_url(target.url),
        "passed": all(point.outcome is not CheckOutcome.FAIL for point in points),
        "points": [
            {
                "name": point.check.name.lower(),
                "title": point.check.title,
                "required": point.check.required,
                "outcome": point.outcome.name.lower(),
                "seen": point.seen,
                "mend": point.mend or None,
            }
            for point in points
        ],
    }
