"""Reads the baseline and the recording of a run, and compares questions with the former where they are asked."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.judgement import digest_of
from pytest_ragcheck.plugin.configuration import given_options, settings_of
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.questions.call import id_of_caller
from pytest_ragcheck.rag.ask import earlier_turn
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow, read_baseline
from pytest_ragcheck.summary.gate.saved_answer import ASKED, EXPECTED, SavedAnswer, context_digest
from pytest_ragcheck.summary.predictions_reader import InGit
from pytest_ragcheck.summary.run_outcomes import COMPARING, GateRules
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_ragcheck.config.readers import BaselinePlace
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.replay.recorded_run import Recording
    from pytest_ragcheck.verdict.record import Record

_BASELINE: pytest.StashKey[Baseline] = pytest.StashKey()


def baseline_of(config: pytest.Config) -> Baseline:
    """The baseline, read at the first call; a `pytest.UsageError` if it cannot be read or is in the output folder."""
    if _BASELINE not in config.stash:
        place, name = baseline_place(config), baseline_name(config)
        file = place.path if place.rev is None else InGit(rev=place.rev, path=place.path)
        try:
            if place.rev is None:
                from pytest_ragcheck.report.files.output_folder import check_outside

                check_outside(place.path, settings_of(config).run.output, name=name)
            config.stash[_BASELINE] = read_baseline(file, name=name)
        except UsageError as error:
            given = given_options(config).get("rag_baseline")
            origin = f"{given.origin}: " if given is not None else ""
            raise pytest.UsageError(f"ragcheck: {origin}{error}") from None
    return config.stash[_BASELINE]


def baseline_if_read(config: pytest.Config) -> Baseline | None:
    return config.stash.get(_BASELINE, None)


def baseline_place(config: pytest.Config) -> BaselinePlace:
    place = settings_of(config).gate.baseline
    assert place is not None, "the caller has checked that there is a baseline"  # noqa: S101 - for type checkers
    return place


def baseline_name(config: pytest.Config) -> str:
    place, root = baseline_place(config), config.rootpath
    inside = place.path.is_relative_to(root)
    return str(replace(place, path=place.path.relative_to(root)) if inside else place)


def rules_of(config: pytest.Config) -> GateRules:
    """The rules of the gate; they are those of `each` if `-p no:ragcheck-gate` blocks the gate."""
    rules = GateRules.of(settings_of(config))
    return replace(rules, gate="each") if config.pluginmanager.is_blocked("ragcheck-gate") else rules


def check_baseline(config: pytest.Config) -> None:
    """Read the run's baseline; raise a `pytest.UsageError` if that fails, or if the gate needs one and has none."""
    settings = settings_of(config)
    if settings.gate.baseline is not None:
        baseline_of(config)
    elif GateRules.of(settings).gate in COMPARING:
        raise pytest.UsageError(
            f"ragcheck: --rag-gate={settings.gate.rule} has nothing to compare with. Save a run with ragcheck baseline "
            "save, or give --rag-gate=each."
        )


DRIFT_SAMPLE = 20
"""Maximum number of unchanged answers that are judged again, to measure the drift of the judge."""


class RunBaseline:
    def __init__(self, config: pytest.Config) -> None:
        self._settings = settings_of(config)
        self._run = run_of(config)
        self.baseline = baseline_of(config)
        self.rules = rules_of(config)

    @classmethod
    def of(cls, config: pytest.Config) -> RunBaseline | None:
        """The baseline of the run; None if its gate compares with none, or the run asks nothing."""
        settings = settings_of(config)
        if rules_of(config).gate not in COMPARING or settings.gate.baseline is None or settings.run.replay is not None:
            return None
        return cls(config)

    @cached_property
    def gate(self) -> str:
        """The gate's procedure, which depends on the number of comparable questions."""
        # A run whose gate compares nothing does not import it.
        from pytest_ragcheck.summary.gate.procedure.gate_session import procedure_for

        return procedure_for(self.rules.gate, self._n_comparable)

    def row(self, question: Question) -> BaselineRow | None:
        """The row of a question with the same text; None if no saved run measured it."""
        clean = self._settings.redactor.text
        row = self.baseline.row(question, clean)
        if row is None or row.verdict is Verdict.ERROR or row.question != clean(question.question):
            return None
        return row

    def with_saved_turns(self, question: Question, run: int) -> Question:
        """The question after the turns of a saved run, -1 for the latest; unchanged if the baseline lacks one."""
        history = []
        for turn in question.earlier:
            row = self.row(turn)
            answer = row.saved[run][0].answer if row is not None and len(row.saved) >= -run else None
            if answer is None:
                return question
            history.append(earlier_turn(turn, answer))
        return replace(question, history=tuple(history))

    def recorded_ids(self, record: Record) -> tuple[str, ...]:
        """The baseline's ids of the contexts if most are known texts with unknown ids; otherwise empty."""
        # With renamed ids, a forbidden document may have any id.
        ids = () if record.question.must_not_retrieve or self._has_unknown_gold(record) else record.source_ids or ()
        known = [self._ids_by_text.get(context_digest(text)) for text in record.contexts]
        if not self._known_ids.isdisjoint(ids) or 2 * known.count(None) > len(known):
            return ()
        return tuple(recorded or id_ for recorded, id_ in zip(known, ids, strict=False))

    def renames_gold(self, record: Record) -> bool:
        """True if the baseline has few ids of the contexts, and none of the gold passages without texts."""
        ids = record.source_ids or ()
        return self._has_unknown_gold(record) and 2 * len(self._known_ids.intersection(ids)) < max(1, len(ids))

    def compares(self, question: Question) -> bool:
        """True if a FAIL of the question today can count against a saved run."""
        row = self.row(question)
        if row is None or question.skip is not None or question.quarantine is not None or question.xfail:
            return False
        # A recorded answer is judged again under another expected answer; retrieval is measured again.
        return not question.is_answered or any(
            looks[0].has_labels_of(question, ASKED, *([EXPECTED] if looks[0].answer is None else []))
            for looks in row.saved
        )

    @cached_property
    def _n_comparable(self) -> int:
        questions = self._run.questions
        # The shards of a run are decided together, so each of them counts all questions.
        shards = self._settings.run.shard is not None
        asked = [q for s in questions.sets.values() for q in s.questions] if shards else questions.selected.values()
        # The questions of a `rag_check` test are unknown until it asks them.
        saved = ((name.removesuffix(questions.suffix), id_of_caller(id_)) for name, id_ in self.baseline.rows)
        return len({q.key for q in asked if self.compares(q)}) + sum(caller in self._run.callers for caller in saved)

    @cached_property
    def drift_sample(self) -> frozenset[tuple[str, str]]:
        keys = [row.key for row in self.baseline.rows.values() if row.saved]
        return frozenset(sorted(keys, key=lambda key: digest_of(["judge drift", *key]))[:DRIFT_SAMPLE])

    def _has_unknown_gold(self, record: Record) -> bool:
        gold = {passage.doc_id for passage in record.question.gold_passages if not passage.text}
        return bool(gold and self._known_ids) and self._known_ids.isdisjoint(gold)

    @cached_property
    def _known_ids(self) -> frozenset[str]:
        return frozenset(source_id for look in self._looks for source_id in look.source_ids or ())

    @cached_property
    def _ids_by_text(self) -> dict[str, str]:
        pairs = (zip(look.context_digests, look.source_ids or (), strict=False) for look in self._looks)
        return dict(chain.from_iterable(pairs))

    @property
    def _looks(self) -> Iterator[SavedAnswer]:
        return (look for row in self.baseline.rows.values() for look in row.answers)


_RECORDING: pytest.StashKey[Recording] = pytest.StashKey()


def recording_of(config: pytest.Config, path: Path) -> Recording:
    """The recording, read at the first call; raises a `UsageError` if the file, or that of the folder, is none."""
    if _RECORDING not in config.stash:
        from pytest_ragcheck.replay.recording_reader import read_recording

        path = _file_of(path)
        config.stash[_RECORDING] = read_recording(path, name=shown_name(path, config.rootpath))
    return config.stash[_RECORDING]


def _file_of(path: Path) -> Path:
    from pytest_ragcheck.report.files.results_reader import predictions_path

    return predictions_path(path) if path.is_dir() else path


def shown_name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def check_replay(config: pytest.Config, settings: Settings, path: Path) -> None:
    """Raise a `UsageError` if the file is no recording, would be overwritten, or needs a judge that the run lacks."""
    from pytest_ragcheck.plugin.workers import home_of
    from pytest_ragcheck.replay.recorded_run import missing_for_replay
    from pytest_ragcheck.report.files.output_folder import safe_name, without_links
    from pytest_ragcheck.report.files.result_files import is_result_of

    # Without a look into the own folder, which this run has marked.
    own = path / f"{safe_name(settings.run.agent)}_predictions.json"
    is_own = own.is_file() and without_links(path) == without_links(settings.run.output)
    file = own if is_own else _file_of(path)
    name = shown_name(file, config.rootpath)
    if is_result_of(file, settings.run.output, settings.run.agent):
        raise UsageError(
            f"--rag-replay: {name} is where this run writes its own results. "
            "Give the run another --rag-agent or --rag-output."
        )
    if without_links(path).is_relative_to(without_links(home_of(settings))):
        raise UsageError(
            f"--rag-replay: {name} is in the folder of an earlier run, which this run deletes. "
            "Give a copy of the folder, or give the run another --rag-agent or --rag-output."
        )
    if problem := missing_for_replay(settings, recording_of(config, path)):
        raise UsageError(problem)
