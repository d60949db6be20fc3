"""The one writer of result files: redacted, rounded, atomic, and never outside its folder."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.questions.rows import questions_document
from pytest_ragcheck.report.documents import JUDGEMENT, predictions_document, summary_document
from pytest_ragcheck.report.folder import not_written
from pytest_ragcheck.summary.shards import shard_document, shard_name

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.redaction import Redactor
    from pytest_ragcheck.summary.aggregate import Summary
    from pytest_ragcheck.summary.outcomes import Outcomes

DECIMALS = 6

_ENCODED = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_SHORT_WAYS: dict[type, Callable[[Any], str]] = {float: repr, bool: {True: "true", False: "false"}.__getitem__}
"""How the commonest values but strings are encoded, which takes the encoder ten times as long."""

_UNSAFE = frozenset('<>:"/\\|?*')

_LONGEST_NAME_BYTES = 180
"""File systems take 255 bytes; `.partial_predictions.json`, a hash and a temporary file's ending come to it."""

_DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))})
"""What Windows takes for a device, whatever follows the first dot."""


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

    A partial run writes `{agent}.partial_*.json`, so that the last full result stays as it was. A full run takes those
    away where it has all of their datasets: they are older, and whoever reads the folder would count questions twice.

    Raises:
        ResultsError: A file cannot be written.
    """
    agent = safe_name(outcomes.agent_name)
    why_partial = _why_partial(outcomes, folder / f"{agent}_summary.json")
    prefix = f"{agent}.partial" if why_partial else agent
    names = unique_names([questions.dataset_name for questions in outcomes.sets])
    writer = Writer(folder, redactor)
    questions = tuple(
        writer.write(
            f"{name}_questions.json", questions_document(questions.dataset_name, questions.questions, rows=iter)
        )
        for name, questions in zip(names, outcomes.sets, strict=True)
    )
    predictions = predictions_document(outcomes, rows=partial(map, rounded))
    written = Written(
        predictions=writer.write(f"{prefix}_predictions.json", rounded(predictions)),
        summary=writer.write(f"{prefix}_summary.json", rounded(summary_document(outcomes, summary))),
        questions=questions,
        partial=why_partial,
    )
    if not why_partial:
        _take_away_partial(outcomes, folder / f"{agent}.partial_summary.json")
    return written


def write_shard(outcomes: Outcomes, folder: Path, redactor: Redactor) -> Path:
    """
    Writes all that is known of one part of a run, of which `ragcheck merge` makes the whole.

    A whole run is the only part of itself.

    Raises:
        ResultsError: It cannot be written.
    """
    name = shard_name(safe_name(outcomes.agent_name), *(outcomes.shard or (1, 1)))
    return Writer(folder, redactor).write(name, shard_document(outcomes, rows=iter))


def is_result_of(path: Path, folder: Path, agent: str) -> bool:
    """Whether a full or a partial run of the agent writes its predictions there."""
    names = (f"{safe_name(agent)}_predictions.json", f"{safe_name(agent)}.partial_predictions.json")
    return path.resolve() in {(folder / name).resolve() for name in names}


class Writer:
    """Writes JSON files into one folder, which it makes when there is something to write."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self.folder = folder
        self._redactor = redactor

    def write(self, name: str, document: dict[str, Any]) -> Path:
        """
        The path of the written file: the whole document, or what stood there before, never a half.

        An iterator among the document's values is an array, whose rows are made as they are written.
        """
        path = self.folder / name
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _replace(path, self._pieces(document))
        except OSError as error:
            raise not_written(path, error) from error
        return path

    def _pieces(self, document: dict[str, Any]) -> Iterator[str]:
        """The document's text, as `json.dumps` with an indent of two writes it."""
        between = "{"
        for key, value in document.items():
            yield f"{between}\n  {self._text(key)}: "
            between = ","
            if not isinstance(value, Iterator):
                yield self._text(value, depth=1)
                continue
            before = "["
            for row in value:
                yield f"{before}\n    {self._text(row, depth=2)}"
                before = ","
            yield "[]" if before == "[" else "\n  ]"
        yield "{}\n" if between == "{" else "\n}\n"

    def _text(self, value: Any, *, depth: int = 0) -> str:
        return _indented(self._redactor.document(value), "\n" + "  " * depth)


def safe_name(name: str) -> str:
    """
    The name as the beginning of a file name, on every system: the name itself where that can be.

    Otherwise what cannot stand there is replaced or cut, and a hash of the name added, so that no two names meet.
    """
    kept = "".join(char if char.isprintable() and char not in _UNSAFE else "_" for char in name)
    # A file that begins with a dot is hidden.
    kept = kept.strip(". ").encode()[:_LONGEST_NAME_BYTES].decode("utf-8", "ignore")
    if kept.partition(".")[0].strip().upper() in _DEVICES:
        kept = f"_{kept}"
    return kept if kept and kept == name else _with_hash(kept, name)


def unique_names(names: Iterable[str]) -> list[str]:
    """The safe form of each name; those that some systems do not tell apart get a hash of their name."""
    safe = {name: safe_name(name) for name in names}
    folded = Counter(map(_folded, safe.values()))
    return [kept if folded[_folded(kept)] == 1 else _with_hash(kept, name) for name, kept in safe.items()]


def rounded(value: Any) -> Any:
    """
    The JSON value with every float at `DECIMALS` decimals, except in `metadata`, which is the user's, and in
    `judgement`, by which a run can be decided anew.
    """
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: item if key in {"metadata", JUDGEMENT} else rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def _indented(value: Any, line: str) -> str:
    """
    The JSON value as `json.dumps` with an indent of two writes it, which takes four times as long.

    Args:
        value: As the redactor leaves it: of dicts, lists and what stands in them, without infinities.
        line: A line break and the indent of the line that the value begins in.
    """
    inner = line + "  "
    if type(value) is dict:
        begin, rows, end = "{", [f"{_ENCODED(key)}: {_indented(item, inner)}" for key, item in value.items()], "}"
    elif type(value) is list:
        begin, rows, end = "[", [_indented(item, inner) for item in value], "]"
    else:
        return _SHORT_WAYS.get(type(value), _ENCODED)(value)
    return f"{begin}{inner}{f',{inner}'.join(rows)}{line}{end}" if rows else begin + end


def _folded(name: str) -> str:
    """Without what macOS and Windows do not distinguish."""
    return unicodedata.normalize("NFC", name).casefold()


def _with_hash(kept: str, name: str) -> str:
    return f"{kept or '_'}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _replace(path: Path, pieces: Iterable[str]) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _why_partial(outcomes: Outcomes, last_full: Path) -> str:
    if outcomes.shard is not None and outcomes.shard[1] > 1:
        return f"shard {outcomes.shard[0]} of {outcomes.shard[1]}; ragcheck merge puts all of them together"
    if outcomes.not_run:
        return f"{outcomes.not_run} of the collected questions were not run"
    if not outcomes.complete:
        return outcomes.cut_short
    missing = sorted(_datasets_in(last_full) - {questions.dataset_name for questions in outcomes.sets})
    if not missing:
        return ""
    return f"the last full result also has {', '.join(missing)}; delete {last_full.name} to start anew"


def _take_away_partial(outcomes: Outcomes, summary: Path) -> None:
    """Deletes what an earlier partial run left, where the full one has all of its datasets."""
    datasets = _datasets_in(summary)
    if datasets and datasets <= {questions.dataset_name for questions in outcomes.sets}:
        # The summary last: as long as it is there, a next full run finds what is left.
        for path in (summary.with_name(f"{summary.name.removesuffix('summary.json')}predictions.json"), summary):
            with suppress(OSError):
                path.unlink()


def _datasets_in(summary: Path) -> set[str]:
    """The datasets of a summary file; none where it is not there or cannot be read."""
    try:
        return set(json.loads(summary.read_bytes())["datasets"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
