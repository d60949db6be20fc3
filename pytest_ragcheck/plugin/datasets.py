"""Standard datasets -> pytest items, beside those that pytest finds in files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import DatasetError, QuestionFileError, UsageError
from pytest_ragcheck.plugin.collection import QuestionFile
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run import run_of
from pytest_ragcheck.questions.datasets.catalogue import check_choices, known_datasets
from pytest_ragcheck.questions.datasets.dataset import Dataset
from pytest_ragcheck.questions.datasets.load import load_questions
from pytest_ragcheck.questions.datasets.sample import would_be_taken
from pytest_ragcheck.questions.tiers import asked_in

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from pytest_ragcheck.questions.datasets.choice import DatasetChoice
    from pytest_ragcheck.questions.question import QuestionSet

_ALONE = "ragcheck_datasets_alone"
"""What a worker of xdist is told, whose arguments always look as if the user had given them."""

_LAST_FAILED = "lfplugin-collskip"
"""What pytest registers in a run of the last failed, to leave out files without a failure; a dataset is no file."""


class Datasets:
    """The datasets of a run: checked before it begins, collected after what pytest finds in files."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._choices = settings_of(config).datasets
        self._known: dict[str, Dataset] = {}
        self._wanted: dict[str, set[str]] = {}
        self.names = frozenset(choice.dataset_name for choice in self._choices)
        """With what the node ids of their questions begin."""

        worker: dict[str, Any] = getattr(config, "workerinput", {})
        self.alone = worker.get(_ALONE, config.args_source is not pytest.Config.ArgsSource.ARGS)
        """Whether nothing else is collected, for the user named nothing else."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        try:
            self._known = known_datasets(self._own())
        except UsageError as error:
            raise pytest.UsageError(f"ragcheck: {error}") from None
        try:
            check_choices(self._choices, self._known, tier=settings_of(self._config).tier)
        except UsageError as error:
            # The controller of xdist says it before there are any workers.
            raise pytest.UsageError(f"ragcheck: --rag-dataset: {error}") from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_ALONE] = self.alone

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        others = []
        for argument in self._config.args:
            name, _, question_id = argument.partition("::")
            if name not in self.names or (self._config.invocation_params.dir / name).exists():
                others.append(argument)
            else:
                self._wanted.setdefault(name, set()).add(question_id)
        self.alone = self.alone or not others
        # The controller of xdist collects nothing, and may yet have to tell a new worker what was given.
        if not self._config.pluginmanager.has_plugin("dsession"):
            self._config.args = [] if self.alone else others

    def would_meet(self, questions: QuestionSet | None, question_id: str) -> bool:
        """
        Whether the run would have a question if it were still in its dataset.

        Args:
            questions: What the run has of the dataset; None: nothing.
            question_id: The question's id.
        """
        if questions is None:
            return False
        wanted = self._wanted.get(questions.dataset_name.partition("[")[0])
        if self._wanted and (wanted is None or not wanted & {"", question_id}):
            return False
        return would_be_taken(questions, question_id)

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
        """The report of a dataset in a run of the last failed, which would take it for a file without failures."""
        plugins = self._config.pluginmanager
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
                        f"pytest_ragcheck_datasets gave {each!r}, which is no dataset. "
                        f"Return a list of pytest_ragcheck.Dataset."
                    )
                found.append(each)
        return found


class DatasetCollector(QuestionFile):
    """
    A dataset, collected as if it were a file of its name in the root folder.

    So its node ids begin with the name, and the fixtures of the root's conftest.py are its own.
    """

    choice: DatasetChoice
    dataset: Dataset
    wanted: set[str]
    """What follows the dataset's name in the node ids that were given as arguments; empty: all questions are."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The items of the questions, those of the sample; of single ones that were given, these."""
        items = list(super().collect())
        if not self.wanted:
            return items
        found = [item for item in items if self.wanted & {item.name, getattr(item, "originalname", item.name)}]
        missing = self.wanted - {name for item in found for name in (item.name, getattr(item, "originalname", ""))}
        if missing:
            names = ", ".join(f"{self.choice.dataset_name}::{name}" for name in sorted(missing))
            raise self.CollectError(
                f"not found: {names}\nIt is not among the {len(items)} questions that the run takes of the dataset: "
                f"check --rag-samples and rag_seed."
            )
        return found

    def read(self) -> QuestionSet:
        """The questions of the run's sample, registered with the run."""
        settings = settings_of(self.config)
        try:
            loaded = load_questions(self.choice, self.dataset, samples=settings.samples, seed=settings.seed)
            questions = asked_in(
                replace(loaded, path=self.path), tier=settings.tier, ingest=settings.ingest or settings.url is not None
            )
            run_of(self.config).add(questions)
        except (DatasetError, UsageError, QuestionFileError) as error:
            raise self.CollectError(str(error)) from None
        return questions
