"""Writes question files and reads them as pytest does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.reader import read_question_file

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.questions.question import Question, QuestionSet

METRICS = ("answer_correctness", "groundedness", "exact_match", "f1")


def read(folder: Path, content: Any, name: str = "billing.rag.yaml") -> QuestionSet:
    """The questions of a file *name* in *folder* with *content*: a text, bytes, or a value to write as JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode("utf-8")
    elif not isinstance(content, bytes):
        content = json.dumps(content, indent=2).encode("utf-8")
    path.unlink(missing_ok=True)  # a file that is truncated may be waited for until it is on disk
    path.write_bytes(content)
    return read_question_file(path, root=folder, known_metrics=METRICS, reserved_tags=("slow", "skipif"))


def read_one(folder: Path, content: Any, name: str = "billing.rag.yaml") -> Question:
    """The only question of the file."""
    (question,) = read(folder, content, name).questions
    return question


def problems(folder: Path, content: Any, name: str = "billing.rag.yaml") -> list[str]:
    """The texts of all mistakes of the file."""
    with pytest.raises(QuestionFileError) as caught:
        read(folder, content, name)
    assert caught.value.path == folder / name
    assert str(caught.value) == "\n".join(caught.value.problems)
    return list(caught.value.problems)
