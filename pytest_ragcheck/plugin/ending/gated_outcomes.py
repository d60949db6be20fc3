"""Makes the outcomes and the reach of a run from the questions and results of its process, and decides the gate."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.engine.fingerprint import fingerprint
from pytest_ragcheck.plugin.collecting.run_baseline import baseline_name, baseline_of, baseline_place
from pytest_ragcheck.plugin.configuration import DATASETS_PLUGIN, settings_of
from pytest_ragcheck.plugin.question_files import is_question_of
from pytest_ragcheck.plugin.run_state import GATE_ID, Run
from pytest_ragcheck.plugin.workers import runs_everything
from pytest_ragcheck.questions.call import caller_of
from pytest_ragcheck.questions.question import Question, QuestionSet
from pytest_ragcheck.questions.reader import default_dataset_name
from pytest_ragcheck.report.files.results_reader import place_of_results
from pytest_ragcheck.report.terminal.comparison_lines import accept_command
from pytest_ragcheck.report.terminal.run_lines import run_thresholds
from pytest_ragcheck.summary.gate.baseline_comparison import Comparison, compare
from pytest_ragcheck.summary.gate.gate_decision import Decision, decide
from pytest_ragcheck.summary.judge_calibration import read_agreements
from pytest_ragcheck.summary.run_outcomes import GateRules, Outcomes, Reach
from pytest_ragcheck.verdict.failure_text import first_line
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.collecting.dataset_items import Datasets


def outcomes_of(run: Run, settings: Settings) -> Outcomes:
    records = {**_lost(run), **run.results.records}
    sets = list(_sets_with_calls(run).values())
    order = {q.key: i for i, q in enumerate(q for s in sets for q in s.questions)}
    # A fixture `rag_judge` may return None.
    judges = {record.judge for record in records.values() if record.endpoint}
    skipped = [question for node, question in run.questions.asked.items() if node in run.results.skipped]
    outcomes = Outcomes(
        agent_name=settings.run.agent,
        timestamp=datetime.now(timezone.utc),
        sets=tuple(sets),
        records=tuple(record for _, record in sorted(records.items(), key=lambda row: order[row[0]])),
        skipped=Counter(question.dataset_name for question in skipped if question.key not in records),
        complete=False,
        thresholds=run_thresholds(settings, sets, judged=judges != {None}),
        groups=settings.run.metrics,
        settings=fingerprint(settings),
        cut_short=run.cut_short,
        stopped=run.stopped,
        failed_otherwise=tuple(sorted(_failed_otherwise(run))),
        excused={
            key: why
            for node_id, why in run.results.excused.items()
            for key in run.results.keys_of(node_id)
            if run.results.records[key].verdict is Verdict.FAIL
        },
        rules=GateRules.of(settings),
        documents=run.documents,
        agreements=read_agreements(settings.judge.calibrations),
        shard=settings.run.shard,
        replay_of=run.questions.shown(settings.run.replay).as_posix() if settings.run.replay else "",
        on_demand=Counter(why for key in records if (why := run.results.on_demand.get(key, ""))),
    )
    part = settings.run.shard is not None and settings.run.shard[1] > 1
    return replace(outcomes, complete=outcomes.not_run == 0 and not run.cut_short and not part)


def _lost(run: Run) -> dict[tuple[str, str], Record]:
    # An ERROR for each question without a record, because a fixture failed or its worker died.
    # A question on which this package failed has no verdict: it counts as not run.
    failed = run.results.failed
    return {
        question.key: Record(question=question, verdict=Verdict.ERROR, error_kind="not_evaluated", reason=failed[node])
        for node, question in run.questions.asked.items()
        if node in failed and node not in run.results.own_failures
    }


def _failed_otherwise(run: Run) -> Iterator[str]:
    asked, results = run.questions.asked, run.results
    for node, text in results.failed.items():
        is_lost = node in asked and asked[node].key not in results.records
        own = {first_line(results.records[key]).partition("\n")[0] for key in results.keys_of(node)}
        if not (is_lost or node == GATE_ID or text in own):
            yield node


def _sets_with_calls(run: Run) -> dict[str, QuestionSet]:
    # All sets, with a set of `rag_check` calls for each test file, in the order of its tests.
    known = {(s.dataset_name, question.id) for s in run.questions.sets.values() for question in s.questions}
    by_dataset: dict[str, list[Question]] = {}
    for key, record in run.results.records.items():
        if key not in known:
            by_dataset.setdefault(record.question.dataset_name, []).append(record.question)
    sets = dict(run.questions.sets)
    for name, called in sorted(by_dataset.items()):
        called.sort(key=lambda question: (question.line or 0, question.id))
        # A question file in the test's folder may have the same name.
        empty = QuestionSet(dataset_name=name, path=called[0].path or Path(name), questions=())
        known_set = sets.get(name, empty)
        sets[name] = replace(known_set, questions=(*known_set.questions, *called))
    return sets


def decided(config: pytest.Config, run: Run, *, not_passed: Collection[str]) -> Decision:
    settings = settings_of(config)
    outcomes = outcomes_of(run, settings)
    compares = settings.gate.baseline is not None
    return decide(outcomes, _comparison(config, run, outcomes, not_passed) if compares else None, outcomes.rules)


def gate_name(config: pytest.Config) -> str:
    settings = settings_of(config)
    return f"baseline {baseline_name(config)}" if settings.gate.baseline is not None else f"gate {settings.gate.rule}"


def _comparison(config: pytest.Config, run: Run, outcomes: Outcomes, not_passed: Collection[str]) -> Comparison:
    settings, baseline = settings_of(config), baseline_of(config)
    reach = reach_of(config, run, complete=outcomes.complete, not_passed=not_passed)
    datasets: Datasets | None = config.pluginmanager.get_plugin(DATASETS_PLUGIN)

    def expects(dataset_name: str, question_id: str) -> bool:
        questions = run.questions.sets.get(dataset_name)
        if datasets is None or questions is None or not datasets.gives(dataset_name):
            return reach.expects(dataset_name, question_id)
        return datasets.expects(questions, question_id)

    compared = compare(baseline, outcomes, outcomes.rules, clean=settings.redactor.text, expects=expects)
    start = config.invocation_params.dir
    # `ragcheck merge` writes the full run of the shards.
    results = settings.run.output if settings.run.shard is None else start / "ragcheck-results"
    results = place_of_results(results, settings.run.agent)
    is_plain = start == config.rootpath and config.getini("rag_baseline") is None
    # The command does not see -o of this run.
    output = Path("ragcheck-results") if config.getini("rag_output") is None else None
    command = accept_command(
        results=results, baseline=baseline_place(config).path, start=start, is_plain=is_plain, output=output
    )
    return replace(compared, accept=command)


def reach_of(config: pytest.Config, run: Run, *, complete: bool, not_passed: Collection[str]) -> Reach:
    """
    The questions that the run, after its last item, was asked to collect.

    *complete* is True if every collected question was asked or skipped. *not_passed* has the node ids of failed tests,
    which may not have made all of their `rag_check` calls, and of skipped files.
    """
    # A collected file counts as a whole, unless the arguments name single questions of it. The path of a file that was
    # not collected is guessed from its dataset name.
    root, start = config.rootpath, config.invocation_params.dir
    datasets: Datasets | None = config.pluginmanager.get_plugin(DATASETS_PLUGIN)
    asked = run.questions.asked
    callers = {caller_of(each, root) for each in not_passed if each not in asked}
    skipped_files = any("::" not in node_id for node_id in not_passed)
    narrowed = not complete or skipped_files or config.getoption("lf", False) or config.getoption("ignore_glob")
    searched = [_absolute(start / argument.partition("::")[0]) for argument in config.args]
    # Under --dist each, dataset names end in the names of workers, so no other dataset can be missing.
    if narrowed or runs_everything(config) or (datasets is not None and datasets.alone):
        searched = []
    elif config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        searched = [root]
    ignored = [_absolute(start / path) for path in config.getoption("ignore") or ()]
    reach = Reach(
        searched=tuple(_patterns(searched, root)),
        left_out=(
            *_patterns(ignored, root),
            *(f"{dataset}::{caller}-*" for dataset, caller in sorted(callers)),
            *(f"{dataset}::*" for dataset in sorted(_singled_out(config, run))),
        ),
        test_files=tuple(config.getini("python_files")),
        root=root,
    )
    others = (
        f"{name}::*"
        for name, questions in run.questions.sets.items()
        if not reach.expects(name) and (datasets is None or datasets.takes_all(questions))
    )
    return replace(reach, searched=(*reach.searched, *others))


def _patterns(paths: Iterable[Path], root: Path) -> Iterator[str]:
    for path in paths:
        if root.is_relative_to(path):
            yield "*"
        elif path.is_dir() and path.is_relative_to(root):
            yield "__".join(path.relative_to(root).parts) + "__*"
        elif path.is_relative_to(root):
            yield default_dataset_name(path, root) + "::*"


def _singled_out(config: pytest.Config, run: Run) -> set[str]:
    # The datasets whose questions are named one by one, while no argument contains their whole file.
    start, root = config.invocation_params.dir, config.rootpath
    whole, single = [], []
    for argument in config.args:
        path, colons, name = argument.partition("::")
        absolute = _absolute(start / path)
        if not colons:
            whole.append(absolute)
        elif absolute.is_relative_to(root):
            single.append(f"{absolute.relative_to(root).as_posix()}::{name}")
    reached: dict[str, bool] = {}
    for node_id, question in run.questions.selected.items():
        file = node_id.partition("::")[0]
        # A question's node id has its variant in brackets, and a test's has the question.
        named = {node_id, node_id.partition("[")[0]} if is_question_of(config, node_id) else {node_id}
        alone = not named.isdisjoint(single) and not any(map((root / file).is_relative_to, whole))
        reached[question.dataset_name] = reached.get(question.dataset_name, True) and alone
    return {dataset_name for dataset_name, alone in reached.items() if alone}


def _absolute(path: Path) -> Path:
    # pytest and the dataset names do not follow links either.
    return Path(os.path.abspath(path))  # noqa: PTH100 - see above
