"""The one writer of result files: redacted, rounded, atomic, and never outside its folder."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import ResultsError
from pytest_ragcheck.questions.rows import questions_document
from pytest_ragcheck.report.documents import predictions_document, summary_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_ragcheck.redaction import Redactor
    from pytest_ragcheck.summary.aggregate import Summary
    from pytest_ragcheck.summary.outcomes import Outcomes

DECIMALS = 6
_UNSAFE = re.compile(r"[^\w.()\[\]@+-]+")
_LONGEST_NAME = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What stands in the output folder after a run."""

    predictions: Path
    summary: Path
    questions: tuple[Path, ...]
    partial: str
    """Why the results were kept apart from the last full ones; empty for a full run."""


def write_results(outcomes: Outcomes, summary: Summary, folder: Path, redactor: Redactor) -> Written:
    """
    Writes the question files, the predictions and the summary of a run.

    A partial run writes `{agent}.partial_*.json`, so that the last full result stays as it was.

    Raises:
        ResultsError: A file cannot be written.
    """
    agent = safe_name(outcomes.agent_name)
    partial = _why_partial(outcomes, folder / f"{agent}_summary.json")
    prefix = f"{agent}.partial" if partial else agent
    names = unique_names([questions.dataset_name for questions in outcomes.sets])
    writer = Writer(folder, redactor)
    questions = tuple(
        writer.write(f"{name}_questions.json", questions_document(questions.dataset_name, questions.questions))
        for name, questions in zip(names, outcomes.sets, strict=True)
    )
    return Written(
        predictions=writer.write(f"{prefix}_predictions.json", predictions_document(outcomes)),
        summary=writer.write(f"{prefix}_summary.json", summary_document(outcomes, summary)),
        questions=questions,
        partial=partial,
    )


class Writer:
    """Writes JSON files into one folder, which it makes when there is something to write."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self.folder = folder
        self._redactor = redactor

    def write(self, name: str, document: dict[str, Any]) -> Path:
        """The path of the written file: the whole document, or what stood there before, never a half."""
        path = self.folder / name
        text = json.dumps(rounded(self._redactor.document(document)), ensure_ascii=False, indent=2, allow_nan=False)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(path, text + "\n")
        except OSError as error:
            raise ResultsError(
                f"{path}: cannot be written ({error.strerror or error}). "
                f"Make the folder writable, or choose another with --rag-output.",
                path=path,
            ) from error
        return path


def safe_name(name: str) -> str:
    """The name as the beginning of a file name: it leads to no other folder, and is neither empty nor hidden."""
    return _UNSAFE.sub("_", name).strip(".")[:_LONGEST_NAME] or "_"


def unique_names(names: Iterable[str]) -> list[str]:
    """The safe form of each name; where two would be the same file, both get a hash of their own name."""
    names = list(names)
    safe = [safe_name(name) for name in names]
    folded = [name.casefold() for name in safe]
    return [
        s if folded.count(s.casefold()) == 1 else f"{s}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        for name, s in zip(names, safe, strict=True)
    ]


def rounded(value: Any) -> Any:
    """The JSON value with every float at `DECIMALS` decimals."""
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value


def _replace(path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", suffix=".tmp", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            # A temporary file is readable by its owner only; results are read by others too.
            temporary.chmod(0o666 & ~_umask())
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    temporary.replace(path)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _why_partial(outcomes: Outcomes, last_full: Path) -> str:
    if outcomes.not_run:
        return f"{outcomes.not_run} of the collected questions were not run"
    if not outcomes.complete:
        return outcomes.cut_short
    try:
        before = set(json.loads(last_full.read_bytes())["datasets"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    missing = sorted(before - {questions.dataset_name for questions in outcomes.sets})
    if not missing:
        return ""
    return f"the last full result also has {', '.join(missing)}; delete {last_full.name} to start anew"
