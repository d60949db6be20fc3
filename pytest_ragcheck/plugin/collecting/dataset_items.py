"""Collects the datasets of `--rag-dataset` as pytest items."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_ragcheck.errors import DatasetError, QuestionFileError, UsageError
from pytest_ragcheck.plugin.collecting.question_items import QuestionFile, register_tags
from pytest_ragcheck.plugin.configuration import known_metrics, settings_of
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers import has_workers
from pytest_ragcheck.questions.collected_questions import asked_in
from pytest_ragcheck.questions.datasets.loading import load_questions, would_be_sampled
from pytest_ragcheck.questions.datasets.registry import check_choices, known_datasets
from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, DatasetChoice
from pytest_ragcheck.questions.question import QuestionSet

_ALONE = "ragcheck_datasets_alone"
"""Key of the worker input; in a worker, pytest takes every path as given on the command line."""

_LAST_FAILED = "lfplugin-collskip"
"""pytest's plugin that skips files without failures under `--last-failed`; a dataset is not a file."""


class Datasets:
    """Checks the chosen datasets at the start of the session, and collects them after the files."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._choices = settings_of(config).run.datasets
        self._known: dict[str, Dataset] = {}
        self._wanted: dict[str, set[str]] = {}
        self.names = frozenset(choice.dataset_name for choice in self._choices)
        """The first part of the node ids."""

        worker: dict[str, Any] = getattr(config, "workerinput", {})
        self.alone = worker.get(_ALONE, config.args_source is not pytest.Config.ArgsSource.ARGS)
        """True if the run collects nothing else, because no other path was given."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        try:
            self._known = known_datasets(self._own())
        except UsageError as error:
            raise pytest.UsageError(f"ragcheck: {error}") from None
        try:
            check_choices(self._choices, self._known, tier=settings_of(self._config).run.tier)
        except UsageError as error:
            raise pytest.UsageError(f"ragcheck: --rag-dataset: {error}") from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_ALONE] = self.alone

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        others = []
        for argument in self._config.args:
            given, _, question_id = argument.partition("::")
            path = Path(os.path.normpath(self._config.invocation_params.dir / given))
            # Below the root folder pytest shows the node id of a dataset as `../NAME::ID`.
            name = path.name if path.parent == self._config.rootpath else given
            if name not in self.names or path.exists():
                others.append(argument)
            else:
                self._wanted.setdefault(name, set()).add(question_id)
        self.alone = self.alone or not others
        # The controller of xdist passes its arguments on to the workers.
        if not has_workers(self._config):
            self._config.args = [] if self.alone else others

    def expects(self, questions: QuestionSet, question_id: str) -> bool:
        """True if the run would have collected the question if the dataset of these *questions* contained it."""
        wanted = self._wanted.get(questions.dataset_name.partition("[")[0])
        if self._wanted and (wanted is None or not wanted & {"", question_id}):
            return False
        return would_be_sampled(questions, question_id)

    def gives(self, dataset_name: str) -> bool:
        return dataset_name.partition("[")[0] in self.names

    def takes_all(self, questions: QuestionSet) -> bool:
        sampled = questions.origin is not None and questions.origin.samples is not None
        return not self.gives(questions.dataset_name) or (self.expects(questions, "") and not sampled)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            report.result = [*report.result, *self._collectors(collector)]
        return report

    @pytest.hookimpl(specname="pytest_make_collect_report", tryfirst=True)
    def pytest_make_report_despite_last_failed(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Collect a dataset without pytest's plugin that skips files without failures."""
        plugins = self._config.pluginmanager
        # No public API leaves a file out of --last-failed; without this plugin, pytest's own collection runs.
        skipping = plugins.get_plugin(_LAST_FAILED)
        if skipping is None or not isinstance(collector, DatasetCollector):
            return None
        report: pytest.CollectReport = plugins.subset_hook_caller("pytest_make_collect_report", [skipping, self])(
            collector=collector
        )
        return report

    def _collectors(self, session: pytest.Session) -> Iterable[pytest.Collector]:
        for choice in self._choices:
            if self._wanted and choice.dataset_name not in self._wanted:
                continue
            collector = DatasetCollector.from_parent(session, path=self._config.rootpath / choice.dataset_name)
            collector.choice = choice
            collector.dataset = self._known[choice.name]
            wanted = self._wanted.get(choice.dataset_name, set())
            collector.wanted = set() if "" in wanted else wanted
            yield collector

    def _own(self) -> list[Dataset]:
        found: list[Dataset] = []
        for given in self._config.hook.pytest_ragcheck_datasets():
            for each in given if isinstance(given, (list, tuple)) else [given]:
                if not isinstance(each, Dataset):
                    raise UsageError(
                        f"pytest_ragcheck_datasets returned {each!r}, not a dataset. "
                        f"Return a list of pytest_ragcheck.Dataset."
                    )
                found.append(each)
        return found


class DatasetCollector(QuestionFile):
    """
    A dataset, collected as if it were a file of that name in the root folder.

    Its node ids begin with the name, and it uses the fixtures of the conftest.py in the root folder.
    """

    choice: DatasetChoice
    dataset: Dataset
    wanted: set[str]
    """The questions that the arguments name after `DATASET::`; empty for all of them."""

    @property
    def ihook(self) -> Any:
        """The hooks of the conftest.py in the root folder too; pytest looks for them in the folder of an own path."""
        return self.session.gethookproxy(self.config.rootpath)

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        items = list(super().collect())
        for item in items:
            item.path = self.config.rootpath  # exists, as --new-first needs, and has the hooks
        if not self.wanted:
            return items
        named = {item: {item.name, getattr(item, "originalname", item.name)} for item in items}
        if missing := self.wanted.difference(*named.values()):
            names = ", ".join(f"{self.choice.dataset_name}::{name}" for name in sorted(missing))
            raise self.CollectError(
                f"not found: {names}\nIt is not among the {len(items)} questions that the run takes from the dataset: "
                "check --rag-samples."
            )
        return [item for item in items if self.wanted & named[item]]

    def read(self) -> QuestionSet:
        settings = settings_of(self.config)
        try:
            sample = settings.run.samples
            size, seed = (sample.size, sample.seed) if sample else (None, 0)
            loaded = load_questions(
                self.choice, self.dataset, samples=size, seed=seed, known_metrics=known_metrics(self)
            )
            questions = asked_in(
                replace(loaded, path=self.path),
                tier=settings.run.tier,
                ingest=settings.run.ingest or settings.endpoint.url is not None,
            )
            run_of(self.config).questions.add(questions)
        except (DatasetError, UsageError, QuestionFileError) as error:
            raise self.CollectError(str(error)) from None
        register_tags(self.config, questions)
        return questions
