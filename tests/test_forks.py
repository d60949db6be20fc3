"""A program in a fork is signalled, and ends, as one in a process of its own; see `tests.forks`."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.forks import POSSIBLE
from tests.harness import python_of_forks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="needs os.fork")

CODE = """
import os, signal, sys, time

signal.signal(signal.SIGINT, signal.default_int_handler)
{what}
"""


def started(what: str, *arguments: str) -> subprocess.Popen[str]:
    command = python_of_forks("-c", CODE.format(what=what), *arguments)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("pass", 0),
        ("sys.exit(7)", 7),
        ("1 / 0", 1),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("raise KeyboardInterrupt", -signal.SIGINT),
    ],
)
def test_its_end_is_that_of_the_fork(project: Project, what: str, status: int) -> None:
    with started(what) as process:
        process.communicate()
    assert process.returncode == status


WAITING = "print('ready', flush=True); time.sleep(30); print('late')"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signals_reach_the_fork(project: Project, sent: signal.Signals) -> None:
    caught = f"def say(*_): print('caught', flush=True); sys.exit(3)\nsignal.signal({sent:d}, say)\n"
    with started(caught + WAITING) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(sent)
        assert process.communicate()[0] == "caught\n"
    assert process.returncode == 3


def test_no_fork_outlives_its_process(project: Project) -> None:
    with started(WAITING) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.kill()
        assert process.stdout.read() == ""  # the output ends with the fork


def test_code_modules_and_scripts_have_the_arguments_and_the_path_of_python(project: Project, tmp_path: Path) -> None:
    shown = "import sys; print(sys.argv[1:], sys.path[0])"
    (script := tmp_path / "folder" / "shown.py").parent.mkdir()
    script.write_text(shown)
    for command, path in (
        (("-c", shown), ""),
        (("-m", "folder.shown"), str(tmp_path)),
        ((str(script),), str(script.parent)),
    ):
        ran = subprocess.run(
            python_of_forks(*command, "-u", "y"), cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert ran.stdout == f"['-u', 'y'] {path}\n"


def test_the_modules_of_a_program_are_cleared_at_its_end(project: Project, tmp_path: Path) -> None:
    (tmp_path / "lasting.py").write_text(
        "class Lasting:\n    def __del__(self): print('deleted')\n\nlasting = Lasting()\n"
    )
    command = python_of_forks("-c", "import lasting; print('end')")
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("end\ndeleted\n", "")
