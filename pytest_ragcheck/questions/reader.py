"""Reads a question file into a `QuestionSet`, or raises all of its mistakes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.fields.entry import EntryReader, read_top
from pytest_ragcheck.questions.fields.field_readers import SettingsReader
from pytest_ragcheck.questions.nodes.json_nodes import compose_json, compose_jsonl
from pytest_ragcheck.questions.nodes.node import Mistakes, Node, Scalar, Site, Unreadable
from pytest_ragcheck.questions.question import QuestionSet
from pytest_ragcheck.redaction.printable import printable

_SUFFIX = re.compile(r"_questions\.json\Z|(\.rag)?\.[^./]*\Z", re.IGNORECASE)

_FIRST_QUESTION = {
    **dict.fromkeys((".yaml", ".yml"), "a question, such as '- question: ...'"),
    ".json": """a question, such as [{"question": "..."}]""",
    ".jsonl": """a question on each line, such as {"question": "..."}""",
    ".csv": "the names of the keys into a first row, such as question,expected_answer, and a question into each other",
}
"""The remedy for an empty file by the ending of its name."""

_SAVE = "Save it as UTF-8; in Excel, choose 'CSV UTF-8'."
_BINARY = {
    b"\x1f\x8b": "compressed with gzip. Unpack it.",
    b"PK\x03\x04": "a workbook or an archive. In Excel, save the sheet as 'CSV UTF-8'.",
}
"""The kinds of files that are no text, by their first bytes, each with its remedy."""

_NO_QUESTIONS = {
    "\0": "has a NUL character, so it is not text. Save it as UTF-8 text.",
    "\n<<<<<<< ": "has a merge conflict. Keep the lines of one side, or of both, and delete the marks.",
}


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
        node = _compose_file(path, mistakes)
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


def _compose_file(path: Path, mistakes: Mistakes) -> Node | None:
    # Invalid lines and rows are noted as mistakes and skipped; None if no line is valid.
    suffix = path.suffix.lower()
    if suffix not in _FIRST_QUESTION:
        known = ", ".join(_FIRST_QUESTION)
        raise Unreadable(1, f"ends in {suffix!r}, but question files end in {known}. Convert and rename it.")
    text = decoded(path.read_bytes())
    node = _compose(text, suffix, mistakes) if text.strip() else None
    if not mistakes.found and (node is None or (isinstance(node, Scalar) and node.is_null)):
        raise Unreadable(1, f"is empty. Write {_FIRST_QUESTION[suffix]}, or delete the file.")
    return node


def _compose(text: str, suffix: str, mistakes: Mistakes) -> Node | None:
    if suffix == ".csv":
        from pytest_ragcheck.questions.csv_nodes import compose_csv

        return compose_csv(text, mistakes)
    if suffix == ".jsonl":
        return compose_jsonl(text, mistakes)
    if suffix == ".json":
        return compose_json(text)
    from pytest_ragcheck.questions.nodes.yaml_nodes import compose_yaml

    return compose_yaml(text)


def decoded(content: bytes) -> str:
    """Raises `Unreadable` if the content is neither UTF-8 nor UTF-16 with a byte order mark."""
    for begin, what in _BINARY.items():
        if content.startswith(begin):
            raise Unreadable(1, f"is {what}")
    try:
        # Excel's "Unicode Text" is UTF-16, and PowerShell writes it too.
        text = content.decode("utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError as error:
        # `utf-8-sig` counts from the end of the byte order mark.
        offset = error.start + len(content) - len(error.object)
        line = content.count(b"\n", 0, offset) + 1
        raise Unreadable(line, f"is not UTF-8: byte 0x{content[offset]:02x} at offset {offset}. {_SAVE}") from error
    for mark, what in _NO_QUESTIONS.items():
        if (offset := f"\n{text}".find(mark)) >= 0:
            raise Unreadable(text.count("\n", 0, offset) + 1, what)
    return text
