"""Reads a question file into a `QuestionSet`, or raises all of its mistakes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.compose import compose_file
from pytest_ragcheck.questions.fields.entry import EntryReader
from pytest_ragcheck.questions.fields.field_readers import SettingsReader
from pytest_ragcheck.questions.fields.file_level import read_top
from pytest_ragcheck.questions.nodes.node import Mistakes, Site, Unreadable
from pytest_ragcheck.questions.question import QuestionSet
from pytest_ragcheck.redaction.printable import printable

_SUFFIX = re.compile(r"_questions\.json\Z|(\.rag)?\.[^./]*\Z", re.IGNORECASE)


def default_dataset_name(path: Path, root: Path) -> str:
    """
    The default dataset name: the path below *root* without its suffix, `/` as `__`.

    For a file outside of *root* it is the file name without its suffix.
    """
    below = _below_root(path, root) or path.name
    folder, slash, name = below.rpartition("/")
    return (folder + slash).replace("/", "__") + (_SUFFIX.sub("", name) or "questions")


def read_question_file(
    path: Path, *, root: Path, known_metrics: Collection[str], reserved_tags: Collection[str] = ()
) -> QuestionSet:
    """
    All questions of a YAML, JSON, JSON Lines or CSV file; the suffix decides the format.

    Paths in errors and default names are relative to *root*.

    Raises:
        QuestionFileError: The file has mistakes; the error lists all of them by line.
    """
    mistakes = Mistakes(_below_root(path, root) or path.as_posix())
    site = Site(mistakes, "the file")
    try:
        node = compose_file(path, mistakes)
    except Unreadable as error:
        site.mistake(error.line, error.text)
        raise QuestionFileError(path, mistakes.texts()) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        text = f"{mistakes.shown_path}: the file cannot be read: {reason}. Check its name and its permissions."
        raise QuestionFileError(path, [printable(text)]) from error
    if node is None:
        raise QuestionFileError(path, mistakes.texts())
    settings = SettingsReader(known_metrics=known_metrics, reserved_tags=reserved_tags)
    top = read_top(site, node, settings)
    reader = EntryReader(
        dataset_name=top.dataset_name or default_dataset_name(path, root),
        path=path,
        mistakes=mistakes,
        settings=settings,
        defaults=top.defaults,
    )
    read = (reader.read(entry, number=number) for number, entry in enumerate(top.nodes, start=1))
    questions = tuple(question for each in read for question in each)
    if mistakes.found:
        raise QuestionFileError(path, mistakes.texts())
    return QuestionSet(
        dataset_name=reader.dataset_name, path=path, questions=questions, tier=top.tier, ingest=top.ingest
    )


def _below_root(path: Path, root: Path) -> str | None:
    # The path relative to *root*, with `/`; None outside of it. Links are not followed, as in pytest.
    try:
        return Path(os.path.abspath(path)).relative_to(os.path.abspath(root)).as_posix()  # noqa: PTH100 - see above
    except ValueError:
        return None
