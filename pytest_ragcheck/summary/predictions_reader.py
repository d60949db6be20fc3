"""Reads predictions files from the disk or from git, and names the wrong field or the actual kind of a file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pytest_ragcheck.engine.store.run_folder import unwritten
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.questions.question import EarlierTurn
from pytest_ragcheck.scores import LARGEST
from pytest_ragcheck.verdict.verdict import Verdict

T = TypeVar("T")

SCHEMA_VERSION = "1"

ENDING = "_predictions.json"

Key = tuple[str, str]
"""Dataset name and id of a question."""

AS_WRITTEN = "Restore the file as the run wrote it."
_TAKE_ONE_SIDE = (
    "Take the file of one side with git checkout --ours or --theirs, run again, and accept what the other side changed "
    "with ragcheck baseline accept."
)
_OTHER_FILES = {"overall_metrics": "a summary", "questions": "a questions file"}
"""Other result files, by a key that a predictions file does not have."""


class Unusable(Exception):
    """The file cannot be used; the message has the reason and the remedy, and the caller adds the name."""


@contextmanager
def naming(name: object) -> Iterator[None]:
    """Turns `Unusable` into a `UsageError` that names the file."""
    try:
        yield
    except Unusable as error:
        raise UsageError(f"{name}: {error}") from None


def refuse_older(path: Path) -> None:
    """Raise `Unusable` if a later run of the same agent has not written its results."""
    for mark in unwritten(path.parent, path.name.removesuffix(ENDING).removesuffix(".partial")):
        raise Unusable(
            "a later run ended without results, or is not over yet, so the results here are of an earlier one. "
            f"Run again (--rag-resume continues it), or delete {mark} to use the earlier results."
        )


def read_document(read: Callable[[], bytes], *, wrong_kind: str, wrong_version: str) -> dict[str, Any]:
    """
    The predictions document in the file whose bytes *read* returns.

    *wrong_kind* and *wrong_version* are the remedies for a file of another kind and of another version.

    Raises:
        Unusable: The file is not a predictions file of this version.
    """
    document = read_json(read, wrong_kind)
    if not isinstance(document, dict) or not isinstance(document.get("predictions"), list):
        keys = document if isinstance(document, dict) else ()
        what = next((what for key, what in _OTHER_FILES.items() if key in keys), "not a predictions file")
        raise Unusable(f"it is {what}. {wrong_kind}")
    version = document.get("schema_version")
    if version is None:
        raise Unusable(f'it has no "schema_version", so its format is unknown. {wrong_kind}')
    if version != SCHEMA_VERSION:
        raise Unusable(
            f'it has "schema_version" {shown(version)}, and this pytest-ragcheck reads '
            f"{shown(SCHEMA_VERSION)}. {wrong_version}"
        )
    return document


def rows(document: Mapping[str, Any], part: str, within: str = "") -> Iterator[Fields]:
    found = document.get(part)
    if not isinstance(found, list):
        raise Unusable(f'{within.removesuffix(".") or "it"} has no list under "{part}". {AS_WRITTEN}')
    for number, row in enumerate(found):
        place = f"{within}{part}[{number}]"
        if not isinstance(row, dict):
            raise Unusable(f"{place} is {shown(row)}, not an object. {AS_WRITTEN}")
        yield Fields(row, place)


def key_of(row: Mapping[str, Any]) -> Key:
    return row["dataset_name"], row["question_id"]


class Fields:
    """
    The fields of one row, each checked as it is read.

    Every number is finite. A method `..._or_null` returns None for null or a missing key.
    """

    def __init__(self, row: Mapping[str, Any], place: str) -> None:
        self.row = row
        self.place = place

    def text(self, key: str) -> str:
        return self._checked(key, str)

    def text_or_null(self, key: str) -> str | None:
        return self._or_null(key, str)

    def verdict(self) -> Verdict:
        """Return PASS or FAIL; a row with another verdict was not measured."""
        value = self.row.get("verdict")
        if value not in ("PASS", "FAIL"):
            raise self.mistake("verdict")
        return Verdict(value)

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(self._of_each(key, list, lambda each: isinstance(each, str)))

    def texts_or_null(self, key: str) -> tuple[str, ...] | None:
        return None if self.row.get(key) is None else self.texts(key)

    def number_or_null(self, key: str) -> float | None:
        value = self.row.get(key)
        if value is not None and not _is_number(value):
            raise self.mistake(key)
        return value

    def whole_or_null(self, key: str) -> int | None:
        self.number_or_null(key)
        return self._or_null(key, int)

    def boolean_or_null(self, key: str) -> bool | None:
        return self._or_null(key, bool)

    def numbers(self, key: str) -> dict[str, float]:
        return self._of_each(key, dict, _is_number)

    def list_of_numbers(self, key: str) -> list[float]:
        return self._of_each(key, list, _is_number)

    def object_or_null(self, key: str) -> Fields | None:
        value = self._or_null(key, dict)
        return None if value is None else Fields(value, f'{self.place.removesuffix(",")}, under "{key}",')

    def server_ids(self) -> tuple[str, ...] | None:
        """The server's ids of the contexts, which an answer may cite; None without ingestion."""
        metadata = self.object_or_null("metadata")
        ids = metadata.row.get("server_source_ids") if metadata else None
        # A user's metadata may have this key, too.
        return tuple(ids) if isinstance(ids, list) and all(isinstance(each, str) for each in ids) else None

    def earlier_turns(self) -> tuple[EarlierTurn, ...]:
        turns = self.row.get("earlier_turns", ())
        try:
            return tuple(EarlierTurn(**{**turn, "contexts": tuple(turn["contexts"])}) for turn in turns)
        except (KeyError, TypeError):
            raise self.mistake("earlier_turns") from None

    def _checked(self, key: str, kind: type[T]) -> T:
        value = self.row.get(key)
        if not isinstance(value, kind):
            raise self.mistake(key)
        return value

    def _of_each(self, key: str, kind: type[T], is_right: Callable[[Any], bool]) -> T:
        value = self._checked(key, kind)
        found: Any = value.values() if isinstance(value, dict) else value
        if not all(map(is_right, found)):
            raise self.mistake(key)
        return value

    def _or_null(self, key: str, kind: type[T]) -> T | None:
        return None if self.row.get(key) is None else self._checked(key, kind)

    def mistake(self, key: str) -> Unusable:
        found = shown(self.row[key]) if key in self.row else "nothing"
        return Unusable(f'{self.place} has {found} under "{key}". {AS_WRITTEN}')


def shown(value: Any) -> str:
    """The value as ASCII JSON, shortened."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]} ..."


def read_json(read: Callable[[], bytes], give: str) -> Any:
    try:
        text = read().decode("utf-8-sig")
    except FileNotFoundError:
        raise Unusable(f"there is no such file. {give}") from None
    except OSError as error:
        raise Unusable(f"it cannot be read: {error.strerror or error}. {give}") from None
    except UnicodeDecodeError as error:
        raise Unusable(f"it is not UTF-8 (byte {error.start}). {AS_WRITTEN}") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if text.split("\n")[error.lineno - 1].startswith("<<<<<<<"):
            raise Unusable(f"line {error.lineno} is a merge conflict. {_TAKE_ONE_SIDE}") from None
        raise Unusable(f"line {error.lineno} is not JSON: {error.msg}. {AS_WRITTEN}") from None
    except (ValueError, RecursionError):  # thousands of digits or of nested brackets
        raise Unusable(f"it is not readable JSON. {AS_WRITTEN}") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def judge_of(row: Fields) -> JudgeIdentity | None:
    judge = row.object_or_null("judge")
    if judge is None:
        return None
    further = ("model", "url", "prompt_version", "parameters")
    return _identity(kind=judge.text("kind"), **{name: judge.text_or_null(name) for name in further})


def judgement_of(fields: Fields, row: Fields) -> Judgement:
    votes = fields.object_or_null("votes")
    return Judgement(
        answer_correctness=fields.number_or_null("answer_correctness"),
        groundedness=fields.number_or_null("groundedness"),
        error_message=fields.text_or_null("error_message") or "",
        abstained=fields.boolean_or_null("abstained"),
        unsupported_claims=row.texts_or_null("unsupported_claims") or (),
        votes={score: votes.list_of_numbers(score) for score in votes.row} if votes else {},
        served_by=fields.text_or_null("served_by") or "",
    )


_identity = lru_cache(100)(JudgeIdentity)  # of most rows the same


def judge_name(judge: JudgeIdentity | None) -> str:
    """`openai gpt-5`, `offline` or `none`."""
    if judge is None:
        return "none"
    return f"{judge.kind} {judge.model}" if judge.model else judge.kind


_LIMIT_SECONDS = 60


@frozen
class InGit:
    rev: str
    path: Path
    """The path of the file in the work tree, where it need not exist."""

    def read_bytes(self) -> bytes:
        """The content of the file in the revision; `Unusable` if it has no such file, or git is not installed."""
        folder, place = _folder_and_place(self.path)
        return _output(folder, "show", f"{self.rev}:./{place}")


def versions(file: InGit) -> list[InGit]:
    """
    The file in each commit up to its revision that changed it, oldest first.

    The revision may be a range such as `v1..main`. Merges follow the first parent, the main branch.

    Raises:
        Unusable: There is no such version, or git is not installed.
    """
    folder, place = _folder_and_place(file.path)
    options = ("--first-parent", "-m", "--diff-filter=AMT", "--reverse", "--format=%h")
    found = _output(folder, "log", *options, file.rev, "--", place).decode("ascii", "replace").split()
    if not found:
        raise Unusable(f"no commit of {file.rev} has it. Give git:REV:PATH of a file that is committed there.")
    return [InGit(rev=rev, path=file.path) for rev in found]


def _folder_and_place(path: Path) -> tuple[Path, str]:
    folder = next(folder for folder in path.parents if folder.is_dir())
    return folder, path.relative_to(folder).as_posix()


def _output(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - its arguments are the user's own
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the user has
            capture_output=True,
            check=False,
            timeout=_LIMIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(f"git cannot be run: {error}. Give the path of a file.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0] or "no reason given"
        raise Unusable(
            f"git does not have it ({said}). Give git:REV:PATH or git:REV:./PATH of a file that is committed there; "
            "a shallow clone has to fetch REV first."
        )
    return done.stdout
