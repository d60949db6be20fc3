from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_ragcheck import errors
from pytest_ragcheck.errors import (
    EndpointError,
    EndpointStatusError,
    EndpointUnreachable,
    JudgeError,
    JudgeReplyError,
    JudgeUnavailable,
    MeasurementError,
    QuestionFileError,
    RagcheckError,
    RecordedError,
    ResultsError,
    StepFailed,
    StoreError,
    UsageError,
)
from pytest_ragcheck.verdict.record import QuestionErrored, QuestionFailed
from tests.making import a_record

ALL = [thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, Exception)]
ALL += [QuestionFailed, QuestionErrored]


def drawn_tree() -> dict[str, str]:
    """By class the class above it, as the comment of the module draws them."""
    above: dict[str, str] = {}
    path: list[str] = []
    for line in Path(errors.__file__).read_text(encoding="utf-8").splitlines():
        if match := re.match(r"# ( *)([A-Z]\w+)", line):
            depth = len(match[1]) // 4
            path[depth:] = [match[2]]
            above[match[2]] = path[depth - 1] if depth else "Exception"
    return above


def test_the_tree_in_the_comment_is_the_tree_that_there_is() -> None:
    assert drawn_tree() == {error.__name__: error.__bases__[0].__name__ for error in ALL}


def test_every_error_says_in_its_docstring_what_it_means() -> None:
    assert not [error.__name__ for error in ALL if not error.__doc__]


def test_every_kind_of_error_row_is_of_one_class() -> None:
    kinds = [error.kind for error in ALL if issubclass(error, MeasurementError) and error is not RecordedError]
    assert len(set(kinds)) == len(kinds)


def test_an_error_can_be_caught_as_what_python_calls_it() -> None:
    assert issubclass(UsageError, ValueError)
    assert issubclass(QuestionFileError, ValueError)
    assert issubclass(QuestionFailed, AssertionError)


def test_each_error_carries_its_object() -> None:
    file = QuestionFileError(Path("a.rag.yaml"), ["a.rag.yaml:1: one", "a.rag.yaml:2: two"])
    assert (file.path, file.problems) == (Path("a.rag.yaml"), ("a.rag.yaml:1: one", "a.rag.yaml:2: two"))
    assert str(file) == "a.rag.yaml:1: one\na.rag.yaml:2: two"
    status = EndpointStatusError("status 500", url="http://localhost/query", status=500, body="oops")
    assert (status.url, status.status, status.body, status.kind) == (
        "http://localhost/query", 500, "oops", "endpoint_status",
    )  # fmt: skip
    judge = JudgeUnavailable("busy", reply="later", status=429, retry_after_seconds=2.0)
    assert (judge.reply, judge.status, judge.retry_after_seconds, judge.kind) == (
        "later",
        429,
        2.0,
        "judge_unavailable",
    )
    assert ResultsError("full", path=Path("x.json")).path == Path("x.json")
    record = a_record()
    assert QuestionFailed("low", record=record).record is record
    assert QuestionErrored("broken", record=record).record is record


@pytest.mark.parametrize("error", ALL, ids=lambda error: error.__name__)
def test_every_error_is_a_ragcheck_error(error: type[Exception]) -> None:
    assert issubclass(error, RagcheckError)


EXAMPLES: list[Exception] = [
    QuestionFileError(Path("a.rag.yaml"), ["a.rag.yaml:1: one", "a.rag.yaml:2: two"]),
    ResultsError("full", path=Path("x.json")),
    StoreError("locked", path=Path("store.db")),
    StepFailed("no key", name="preflight"),
    RecordedError("down", kind="endpoint_timeout"),
    EndpointUnreachable("refused", url="bus://index", transient=False),
    JudgeError("no words", reply="..."),
    JudgeUnavailable("busy", reply="later", status=429, retry_after_seconds=2.0, transient=True),
    JudgeReplyError("declined", reply="no", declined=True),
    QuestionFailed("low", record=a_record()),
    QuestionErrored("broken", record=a_record()),
]
of_endpoint = [each for each in ALL if issubclass(each, EndpointError) and each is not EndpointUnreachable]
EXAMPLES += [each("down", url="bus://index", status=500, body="x", retry_after_seconds=1.0) for each in of_endpoint]
EXAMPLES += [each("wrong") for each in ALL if each not in map(type, EXAMPLES)]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_a_copy_of_an_error_from_another_process_has_all_its_parts(error: Exception) -> None:
    error.my_part = ["added"]  # type: ignore[attr-defined]
    copies: list[Any] = [pickle.loads(pickle.dumps(error, each)) for each in range(pickle.HIGHEST_PROTOCOL + 1)]
    for copied in (*copies, copy.copy(error), copy.deepcopy(error)):
        assert (type(copied), str(copied), copied.args, vars(copied)) == (
            type(error), str(error), error.args, vars(error),
        )  # fmt: skip


def test_a_client_without_a_url_can_raise_an_endpoint_error() -> None:
    assert EndpointError("the index is down").url == EndpointUnreachable("no route").url == ""
