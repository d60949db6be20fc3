from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_ragcheck.cli.command_line import say
from pytest_ragcheck.cli.project.user_project import default_results, root_of
from pytest_ragcheck.cli.results.gate_arguments import default_baseline
from pytest_ragcheck.concurrency.file_lock import FileLock
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.files.results_reader import (
    RUN_AGAIN,
    asked_rows,
    confirmed_in,
    ended_of,
    predictions_path,
    questions_files,
)
from pytest_ragcheck.report.terminal.gate_lines import flaky_lines
from pytest_ragcheck.short_texts import counted, some
from pytest_ragcheck.summary.gate.baseline_comparison import flaky_in_history
from pytest_ragcheck.summary.gate.baseline_file import (
    BaselineFile,
    asked_in,
    baseline_documents,
    differing,
    passed_again,
)
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow, read_baseline
from pytest_ragcheck.summary.gate.comparability import described, other_settings_of_rows
from pytest_ragcheck.summary.gate.saved_answer import contexts_path, read_contexts
from pytest_ragcheck.summary.predictions_reader import Key
from pytest_ragcheck.summary.result_schemas import is_compact
from pytest_ragcheck.summary.run_outcomes import Reach
from pytest_ragcheck.verdict.verdict import Verdict

_ADVICE = "Give the {agent}_predictions.json of a full run."
_OTHER = "Give -o another file, or move that one away."


def run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.report.files.output_folder import check_outside

    path: Path = chosen.output or default_baseline().path
    chosen.output = path
    root = root_of(Path.cwd())
    chosen.results = predictions_path(chosen.results or default_results())
    if any(path.parent.glob("*_summary.json")):
        check_outside(path, path.parent, name=str(path))
    now = _read(chosen.results, _ADVICE, wrong_version=RUN_AGAIN)
    if is_compact(now.document):
        raise UsageError(f"{chosen.results}: it is a baseline, and not the results of a run. {_ADVICE}")
    with ExitStack() as held:
        # Some disks have no locks, and the writer names a folder that cannot be written.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(FileLock(path.with_name(f".{path.name}.lock"), stays=False))
        say(*_changed(chosen, now, root))
    return 0


def _changed(chosen: argparse.Namespace, now: BaselineFile, root: Path) -> list[str]:
    path: Path = chosen.output
    rows = now.runs.rows
    earlier = _read(path, _OTHER) if path.exists() else None
    recorded = earlier.runs.rows if earlier is not None else {}
    # A file whose questions were all skipped has no row.
    files = questions_files(chosen.results.parent, {dataset for dataset, _ in (*rows, *recorded)})
    absent = recorded.keys() - rows.keys() - asked_rows(files).keys()
    reach = replace(Reach.from_row(now.document.get("reach", {})), root=root)
    gone = {key for key in absent if reach.expects(*key)}
    if gone and recorded.keys().isdisjoint(rows):
        raise UsageError(f"{chosen.results}: it shares no question with {path}. {_OTHER}")
    if not now.document["predictions"]:
        kinds = ", ".join(dict.fromkeys(row.error_kind for row in rows.values()))
        raise UsageError(
            f"{chosen.results}: every question is an ERROR ({kinds}), so the run has no answers to keep. "
            "Fix what its messages name, and run again."
        )
    make = _saved if chosen.action == "save" else _accepted
    return [*make(chosen, replace(now, gone=gone), earlier), *_of_datasets("kept, because not run", absent - gone)]


def _read(path: Path, advice: str, **remedy: str) -> BaselineFile:
    runs = read_baseline(path, name=str(path), advice=advice, **remedy)
    return BaselineFile(document=json.loads(path.read_bytes()), runs=runs)


def _saved(chosen: argparse.Namespace, now: BaselineFile, earlier: BaselineFile | None) -> list[str]:
    path: Path = chosen.output
    if earlier is not None and now.runs.timestamp in earlier.runs.runs:
        raise UsageError(f"{chosen.results}: this run was saved into {path} before. Save each run once.")
    confirmed = confirmed_in(chosen.results)
    asked_before = {} if earlier is None else asked_in(now, earlier)
    held = {key for key in asked_before if "::".join(key) in confirmed}
    _write(path, *baseline_documents(now, earlier, read_contexts(path), left_out=held))
    saved, texts = read_baseline(path, name=str(path), advice=_ADVICE), contexts_path(path).name
    runs = counted(max(len(row.saved) for row in saved.rows.values()), "saved run")
    return [
        f"{path}: {counted(len(saved.rows), 'question')}, {runs}; contexts in {texts}",
        *_left_out(now.runs, saved),
        *_of_datasets("left out, because confirmed as failing (ragcheck baseline accept takes the answers)", held),
        *_of_datasets("asked in a saved run, and counted once", {key for key, each in asked_before.items() if each}),
        *(_replaced(now.runs, earlier.runs) if earlier is not None else ()),
        *_tolerated(saved, {} if earlier is None else earlier.runs.rows, confirmed),
        *_of_datasets("dropped, because missing", now.gone),
        *flaky_lines(flaky_in_history(saved)),
    ]


def _accepted(chosen: argparse.Namespace, now: BaselineFile, earlier: BaselineFile | None) -> list[str]:
    path: Path = chosen.output
    if earlier is None:
        raise UsageError(f"{path}: there is no such file. Make it with ragcheck baseline save.")
    notes = [*_later_partial(chosen.results, now.runs)]
    if chosen.ids:
        keys = _named(chosen.ids, now, earlier.runs)
    else:
        again = passed_again(now, earlier)
        keys = [key for key in differing(now, earlier, confirmed_in(chosen.results)) if key not in again]
        words = "left out, because they passed when asked again (an ID accepts one)"
        notes[:0] = [*_left_out(now.runs, earlier.runs), *_of_datasets(words, again)]
    if not keys:
        return [f"{path}: no answer differs from the recorded ones", *notes]
    compact, contexts = baseline_documents(now, earlier, read_contexts(path), keys)
    _write(path, compact, contexts)
    before, after = ({key: row.verdict.value for key, row in each.runs.rows.items()} for each in (earlier, now))
    return [
        f"{path}: {len(keys)} accepted of {now.runs.timestamp}",
        *(_change(key, before.get(key, "new"), after.get(key, "gone")) for key in keys),
        *notes,
    ]


def _of_datasets(words: str, keys: Set[Key]) -> Iterator[str]:
    if keys:
        datasets = some(sorted({dataset for dataset, _ in keys}), 10)
        yield f"{words}: {counted(len(keys), 'question')} of {datasets}"


def _replaced(now: Baseline, recorded: Baseline) -> Iterator[str]:
    # Later runs with the settings of the replaced ones will be refused.
    known = {key: recorded.rows[key] for key, row in now.rows.items() if key in recorded.rows and not row.error_kind}
    found = {key: other for key, row in known.items() if (other := other_settings_of_rows(row, now.rows[key]))}
    for line in _of_datasets(f"replaced, because of other settings ({'; '.join(described(found))})", found.keys()):
        yield f"{line}. Run with these settings from now on, or restore the earlier {recorded.name}."


def _tolerated(saved: Baseline, before: Mapping[Key, BaselineRow], confirmed: Set[str]) -> Iterator[str]:
    for key, row in saved.rows.items():
        passed = key in before and before[key].verdict is Verdict.PASS
        if row.verdict is Verdict.FAIL and len(row.saved) == 1 and (passed or "::".join(key) in confirmed):
            yield _change(key, before[key].verdict.value if key in before else "new", "FAIL")


def _change(key: Key, before: str, after: str) -> str:
    return f"{'::'.join(key)}: {before} -> {after}{', which the gate tolerates from now on' if after == 'FAIL' else ''}"


def _left_out(now: Baseline, recorded: Baseline) -> Iterator[str]:
    for key, row in now.rows.items():
        if row.verdict is Verdict.ERROR:
            earlier = "; its recorded answers stay" if key in recorded.rows else ""
            yield f"left out: {'::'.join(key)} is an ERROR in this run ({row.error_kind}){earlier}"


def _later_partial(results: Path, now: Baseline) -> Iterator[str]:
    # A user may expect the answers of a later partial run.
    partial = results.with_name(results.name.replace("_predictions.json", ".partial_predictions.json"))
    if (ended := ended_of(partial)) > now.timestamp:
        yield f"left out: the partial run of {ended}, which is later; run all questions to accept its answers"


def _named(ids: Sequence[str], now: BaselineFile, earlier: Baseline) -> list[Key]:
    known = {**now.runs.rows, **earlier.rows}
    found: dict[Key, None] = {}
    for given in ids:
        keys = [key for key in known if given in (key[1], "::".join(key))]
        if not keys:
            raise UsageError(f"{given!r} is not a question of the run or the baseline. Give one of their ids.")
        if len(keys) > 1:
            names = ", ".join(map("::".join, keys))
            raise UsageError(f"{given!r} is a question of several datasets. Give one of {names}.")
        row = now.runs.rows.get(keys[0])
        if row is None and keys[0] not in now.gone:
            raise UsageError(f"{given!r} was not run, so there is no answer to accept. Run it, or leave it out.")
        if row is not None and row.verdict is Verdict.ERROR:
            raise UsageError(f"{given!r} is an ERROR in the run, so there is no answer to accept. Run it again.")
        found[keys[0]] = None
    return [*found]


def _write(path: Path, compact: dict[str, Any], contexts: dict[str, Any]) -> None:
    from pytest_ragcheck.config.resolve import environment_redactor
    from pytest_ragcheck.report.files.json_writer import JsonWriter

    redactor = environment_redactor()
    texts, used = contexts_path(path), contexts["contexts"]
    both = {**read_contexts(path), **used}

    def write(target: Path, document: dict[str, Any]) -> None:
        if target.is_symlink():
            # The link stays, such as one to the baseline of several projects.
            target = Path(os.path.realpath(target))
        JsonWriter(target.parent, redactor).write(target.name, document)

    # If this process is killed between two writes, the baseline has its contexts, be it the old or the new one.
    write(texts, {"contexts": dict(sorted(both.items()))})
    write(path, compact)
    if len(both) > len(used):
        write(texts, contexts)
