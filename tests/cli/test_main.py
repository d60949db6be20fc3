"""Behaviour that all commands of `ragcheck` share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.baselines import failed, passed, predictions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMAND = (sys.executable, "-c", "import sys; from pytest_ragcheck.cli import main; sys.exit(main())")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--help"], 0), (["schema", "questions"], 0), (["init", "--dry-run"], 0), (["probe", "http://127.0.0.1:9/q"], 1)],
    ids=lambda value: str(value[0]) if isinstance(value, list) else "",
)
def test_a_reader_that_has_seen_enough_changes_no_status_and_is_not_complained_of(
    arguments: list[str], status: int, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, check=False
        )
    finally:
        os.close(writing)
    assert ended.stderr.decode() == ""
    assert ended.returncode == status


@pytest.mark.parametrize("arguments", ["baseline save -o", "merge", "rejudge", "compare here"])
def test_a_blank_path_is_refused(arguments: str, ragcheck: Callable[..., tuple[int, str, str]]) -> None:
    status, _, told = ragcheck(*arguments.split(), "")
    assert (status, told.partition(": '' ")[2]) == (2, "is blank; write a path\n")


FULL = "standard output: No space left on device."


@pytest.mark.parametrize(
    ("arguments", "redirection", "error"),
    [
        ("schema questions", ">/dev/full", f"ragcheck schema: {FULL}"),
        ("docs statistics", ">/dev/full", f"ragcheck docs: {FULL}"),
        ("schema questions", ">&-", "ragcheck: standard output is closed."),
    ],
)
def test_an_output_that_cannot_be_written_is_an_error_of_one_line(
    arguments: str, redirection: str, error: str, tmp_path: Path
) -> None:
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *COMMAND, *arguments.split()]
    ended = subprocess.run(command, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
    assert ended.stderr.decode() == f"{error}\n"
    assert ended.returncode == 2


@pytest.mark.parametrize("kind", ["text", "markdown", "csv", "json"])
def test_no_text_of_a_result_file_commands_a_terminal_or_a_runner(
    ragcheck: Callable[..., tuple[int, str, str]], tmp_path: Path, kind: str
) -> None:
    hostile = "\x1b[31m ##[error]x ##vso[task]y \u200b\U000e0041\n::error::z"
    paths = [tmp_path / f"{name}_predictions.json" for name in ("a\x1b", "b")]
    for path, row in zip(paths, (passed("q", question=hostile), failed("q", question=hostile)), strict=True):
        path.write_text(json.dumps(predictions(row)), encoding="utf-8")
    status, printed, _ = ragcheck("compare", *map(str, paths), f"--format={kind}", "--per-question")
    assert (status, "vso" in printed) == (0, True)
    assert not [line for line in printed.splitlines() if line.strip().startswith("::")]
    assert not [unsafe for unsafe in ("##[", "##vso[", "\x1b", "\u200b", "\U000e0041") if unsafe in printed]
    if kind == "json":
        assert any(row["question"] == hostile for row in json.loads(printed)["questions"])


def test_no_error_of_a_command_commands_a_terminal(
    ragcheck: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = "\x1b[31m##[x]"
    commands = (["report"], ["merge"], ["convert"], ["check"], ["rejudge"], ["baseline", "save"], ["docs"], ["init"])
    for command in commands:
        status, printed, error = ragcheck(*command, name)
        assert (status, printed) == (2, ""), command
        assert error.startswith(f"ragcheck {' '.join(command)}: "), command
        assert "\x1b" not in error, command
        assert "##[" not in error, command


def test_a_terminal_without_the_characters_of_a_file_name_gets_question_marks(tmp_path: Path) -> None:
    (tmp_path / "Öffnungszeiten.rag.yaml").write_text("questions: [{id: a}]\n", encoding="utf-8")
    ended = subprocess.run(
        [*COMMAND, "check"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert ended.stdout.startswith(b"?ffnungszeiten.rag.yaml:1: question 'a' has no 'question'")


def test_a_terminal_keeps_its_stream(tmp_path: Path) -> None:
    """A console of Windows takes text, and would show bytes in its own encoding."""
    pty = pytest.importorskip("pty", exc_type=ImportError)
    (tmp_path / "Öffnungszeiten.rag.yaml").write_text("questions: [{id: a}]\n", encoding="utf-8")
    shown, terminal = pty.openpty()
    try:
        code = "import sys; from pytest_ragcheck.cli import main; main(); sys.exit(sys.stdout is not sys.__stdout__)"
        environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        command = [sys.executable, "-c", code, "check"]
        ended = subprocess.run(
            command, env=environment, stdout=terminal, stderr=subprocess.PIPE, cwd=tmp_path, check=False
        )
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert os.read(shown, 1000).startswith(b"?ffnungszeiten.rag.yaml:1: question 'a' has no 'question'")
    finally:
        os.close(shown)
        os.close(terminal)
