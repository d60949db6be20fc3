from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pytest_ragcheck.cli.printing import say
from pytest_ragcheck.cli.project.docs import QUESTIONS, shipped_texts
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.report.terminal.comparison_lines import shell_word

_INI = """\
[pytest]
rag_judge = offline
rag_report = report.html
"""


def run(chosen: argparse.Namespace) -> int:
    texts = shipped_texts()
    if not texts:
        raise UsageError("this installation has no pages. Install the package from its wheel.")
    # The system clears its temporary files.
    folder = Path(tempfile.mkdtemp(prefix="ragcheck-demo-")) if chosen.keep is None else _new_folder(chosen.keep)
    _write(folder, texts)
    status = _run_pytest(folder, chosen.fault)
    say("", f"Report:  {folder / 'report.html'}", f"Again:   pytest {shell_word(folder)}")
    if chosen.fault is None:
        say("Red:     ragcheck demo --fault number")
    return status


def _new_folder(path: Path) -> Path:
    folder = path.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{path} is not an empty folder. Name a new one.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be created ({error.strerror}). Name another folder.") from None
    return folder


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        document = folder / name if name == QUESTIONS else folder / "documents" / name
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_text(text, encoding="utf-8")
    (folder / "conftest.py").write_text(package_text("cli/project/demo_conftest.txt"), encoding="utf-8")
    (folder / "pytest.ini").write_text(_INI, encoding="utf-8")


def _run_pytest(folder: Path, fault: str | None) -> int:
    # Settings for the user's own runs would change this one.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAGCHECK_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "no:cacheprovider", str(folder)]
    environment = kept | {"RAG_SERVER_FAULT": fault or ""}
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode  # noqa: S603 - our own command
