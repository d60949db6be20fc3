"""Creates the folder of a run and its store, resumes the last run, and removes earlier ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TypeAlias

from pytest_ragcheck.concurrency.file_lock import FileLock
from pytest_ragcheck.engine.fingerprint import differences
from pytest_ragcheck.engine.store.record_file import FILE, FILES, LAYOUT, RecordFile, layout_of
from pytest_ragcheck.engine.store.record_store import JournaledStore, SharedStore
from pytest_ragcheck.engine.store.run_folder import STOP_FILE, UNWRITTEN, is_in_use, make_home
from pytest_ragcheck.errors import StoreError, UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.redaction import Redactor

_RUN = "run.json"

LIMITS = "limits"

RunStore: TypeAlias = JournaledStore | SharedStore


@frozen
class LastRun:
    """The last run of an agent that is over, however it ended."""

    folder: Path
    began: str
    """ISO 8601, UTC."""

    fingerprint: Mapping[str, str]


def last_run(home: Path) -> LastRun | None:
    """The last run that is over; None without one, or if it has no answer or cannot be read."""
    for folder in sorted(_runs(home), reverse=True):
        try:
            if is_in_use(folder) or (not (folder / _RUN).exists() and (folder / UNWRITTEN).read_bytes()):
                continue
            run = json.loads((folder / _RUN).read_bytes())
            return LastRun(folder=folder, began=run["began"], fingerprint=run["fingerprint"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
    return None


def check_same(last: LastRun | None, fingerprint: Mapping[str, str]) -> None:
    """Raise a `UsageError` if the last run has another fingerprint, or another version of this package wrote it."""
    if last is None:
        return
    if changed := differences(last.fingerprint, fingerprint):
        raise UsageError(
            f"--rag-resume: the last run, of {last.began}, was another ({'; '.join(changed)}).\n"
            "Use the same settings, or leave --rag-resume out to ask every question."
        )
    with suppress(StoreError):  # `open_store` reports the error
        layout = layout_of(last.folder)
        if layout not in (None, LAYOUT):
            raise UsageError(
                f"--rag-resume: the last run, of {last.began}, was written by another version of pytest-ragcheck "
                f"(the layout of its store is {layout}, that of this version {LAYOUT}).\n"
                "Resume it with the version that wrote it, or leave --rag-resume out to ask every question."
            )


def open_store(
    home: Path,
    run_id: str,
    *,
    fingerprint: Mapping[str, str],
    redactor: Redactor,
    resume: bool,
    alone: bool,
    on_failure: Callable[[StoreError], None],
) -> RunStore:
    """
    The store of the run. The first process creates it and removes the stores of earlier runs.

    *home* is the folder of all runs of the agent, and is created if missing. *run_id* is equal in all processes of the
    run. *resume* is True if the run resumes the last one, *alone* if it has a single process. *on_failure* is called
    once if the file fails later.

    A `StoreError` if the folder or the file cannot be written, and a `UsageError` as of `check_same`.
    """
    opened = partial(RecordFile, redactor=redactor, on_failure=on_failure)
    try:
        make_home(home)
        with FileLock(home / "lock"):
            folder = home / run_id
            resumes = False
            if not (folder.is_file() or (folder / _RUN).exists()):
                resumes = _begin(folder, last_run(home) if resume else None, fingerprint)
                for other in _runs(home):
                    if other != folder and not is_in_use(other):
                        shutil.rmtree(other, ignore_errors=True)
            file = _intact(folder, opened, resumes=resumes)
            return JournaledStore(file) if alone else SharedStore(file)
    except OSError as error:
        raise StoreError(f"{home}: {error.strerror or error}", path=home) from error


def _begin(folder: Path, last: LastRun | None, fingerprint: Mapping[str, str]) -> bool:
    # Create the folder of the run, or rename the folder of *last* if given; return True in the latter case.
    check_same(last, fingerprint)
    began = datetime.now(timezone.utc).isoformat(timespec="seconds")
    if last is not None:
        # A run that is resumed several times still has answers from its first start.
        began = last.began
        (last.folder / UNWRITTEN).touch()
        shutil.rmtree(folder, ignore_errors=True)
        last.folder.rename(folder)
        (folder / STOP_FILE).unlink(missing_ok=True)
        for name in ("steps", LIMITS):
            shutil.rmtree(folder / name, ignore_errors=True)
    else:
        folder.mkdir(exist_ok=True)
    (folder / UNWRITTEN).touch()
    (folder / _RUN).write_text(json.dumps({"began": began, "fingerprint": dict(fingerprint)}), encoding="utf-8")
    return last is not None


def _intact(folder: Path, opened: partial[RecordFile], *, resumes: bool) -> RecordFile:
    try:
        return opened(folder, resumes=resumes)
    except StoreError as error:
        if not (folder / FILE).exists():
            raise
        aside = folder / f"damaged-{FILE}"
        (folder / FILE).replace(aside)
        for name in FILES[1:]:
            (folder / name).unlink(missing_ok=True)
        return opened(folder, damaged=f"{error}. It was moved to {aside.name}.")


def _runs(home: Path) -> list[Path]:
    return [path for path in home.iterdir() if path.is_dir()] if home.is_dir() else []
