from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_ragcheck.cli.command_line import complain, settings_as_typed
from pytest_ragcheck.cli.project.user_project import default_results, endpoint_settings
from pytest_ragcheck.config.table import Given
from pytest_ragcheck.errors import EndpointError
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.scores import ASSERTABLE

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes
    from pytest_ragcheck.rag.documents.uploads import Entries

T = TypeVar("T")


def run(chosen: argparse.Namespace) -> int:
    try:
        settings = _settings(chosen)
        return _by_name(chosen, settings) if chosen.files else _by_ledger(chosen.output or default_results(), settings)
    except EndpointError as error:
        complain("cleanup", error)
        return 1


def _settings(chosen: argparse.Namespace) -> Settings:
    names = ("rag_base_url", "rag_headers", "rag_identities", "rag_timeout")
    typed = {
        "rag_url": Given(chosen.rag_url, "--rag-url"),
        "rag_base_url": Given(chosen.base_url, "--base-url"),
        "rag_headers": Given(chosen.header, "--header"),
        "rag_identities": Given(chosen.identity, "--identity"),
    }
    to_do = "Write --rag-url=http://localhost:8000/query,"
    return settings_as_typed(endpoint_settings(typed, names, to_do=to_do))


def _by_ledger(output: Path, settings: Settings) -> int:
    from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
    from pytest_ragcheck.rag.documents.deletion import clean_up
    from pytest_ragcheck.rag.documents.uploads import Documents, abandoned

    elsewhere: list[str] = []
    failures: dict[str, EndpointError] = {}

    async def clean(routes: DocumentRoutes) -> Documents:
        total = Documents()
        for ledger in abandoned(output):
            entries = ledger.read()
            if entries.base != routes.shown:
                elsewhere.append(_left_elsewhere(ledger.folder.name, entries, routes.shown))
                continue
            try:
                own = routes.of_identity(entries.identity)
                limiter = RequestLimiter(settings.endpoint.concurrency)
                total += await clean_up(ledger, own, limiter, by_command=True)
            except EndpointError as error:
                # The documents of other identities may still be deleted.
                failures.setdefault(str(error), error)
        return total

    found = _with_routes(settings, clean)
    lines = [*found.lines()] if found.deleted or found.left else []
    if lines or elsewhere or not failures:
        print(printable("\n".join([*lines, *elsewhere]) or f"{output}: no run has left a document"))
    for error in failures.values():
        complain("cleanup", error)
    return 1 if found.left or elsewhere or failures else 0


def _left_elsewhere(run: str, entries: Entries, asked: str) -> str:
    names = {*entries.before, *entries.documents.values()} - entries.refused
    many = "1 document is" if len(names) == 1 else f"{len(names)} documents are"
    to_do = "Give the URL of that server by --rag-url or --base-url."
    if entries.base.startswith("app "):
        to_do = "The next run that puts documents into that app deletes them."
    return f"WARNING: {many} left in {entries.base} by the run {run}, not in {asked}. {to_do}"


def _by_name(chosen: argparse.Namespace, settings: Settings) -> int:
    names = _names(chosen.files)

    async def find(routes: DocumentRoutes) -> tuple[int, int]:
        # Each identity may see only its own documents.
        found = [
            (own, document)
            for own in map(routes.of_identity, names)
            for document in await own.listed()
            if document.file_name in names[own.identity]
        ]
        left = 0
        for own, document in found:
            shown = printable(f"{document.id} (file {document.file_name})")
            if not chosen.yes:
                print(f"would delete: {shown}")
                continue
            reason = "the server lists it, but has no document with this id"
            try:
                is_deleted = await own.delete(document.id)
            except EndpointError as error:
                # The other documents may still be deleted.
                is_deleted, reason = False, str(error).partition("\n")[0]
            left += not is_deleted
            print(f"deleted: {shown}" if is_deleted else f"WARNING: document {shown} is left: {printable(reason)}")
        return len(found), left

    found, left = _with_routes(settings, find)
    if not found:
        print("no document there has a file name of these files")
    elif not chosen.yes:
        print("Nothing is deleted: these may be there for another reason. Give --yes to delete them.")
    return 1 if left or (found and not chosen.yes) else 0


def _names(files: Sequence[Path]) -> dict[str, set[str]]:
    from pytest_ragcheck.questions.collected_questions import asked_in
    from pytest_ragcheck.questions.reader import read_question_file
    from pytest_ragcheck.rag.documents.uploads import uploads_of

    questions = [
        question
        for path in files
        for question in asked_in(
            read_question_file(path.absolute(), root=Path.cwd(), known_metrics=ASSERTABLE),
            tier="end_to_end",
            ingest=True,
        ).questions
    ]
    names: dict[str, set[str]] = {}
    for upload in uploads_of(questions):
        names.setdefault(upload.identity, set()).add(upload.file_name)
    return names


def _with_routes(settings: Settings, work: Callable[[DocumentRoutes], Awaitable[T]]) -> T:
    import asyncio

    from pytest_ragcheck.rag.client import RagClient

    async def run() -> T:
        async with RagClient.from_settings(settings) as client:
            return await work(client.documents)

    return asyncio.run(run())
