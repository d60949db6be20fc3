"""Question files -> pytest items, one a question."""

from __future__ import annotations

import inspect
import re
import types
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import QuestionFailed, QuestionFileError
from pytest_ragcheck.metrics.catalogue import ASSERTABLE
from pytest_ragcheck.plugin.configuration import names_of_own_metrics, settings_of
from pytest_ragcheck.plugin.reprs import failure_repr
from pytest_ragcheck.plugin.run import renamed, run_of
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.questions.tiers import asked_in

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pytest_ragcheck.questions.question import QuestionSet
    from pytest_ragcheck.record import Record


def check_question(rag_result: Record) -> None:
    """What every collected question runs."""
    __tracebackhide__ = True
    rag_result.assert_passed()


# Collected whatever the user's python_functions setting says.
check_question.__test__ = True  # type: ignore[attr-defined]
# pytest wants it three times a question, and to work it out anew took an eighth of the time of a collection.
check_question.__signature__ = inspect.signature(check_question)  # type: ignore[attr-defined]


_PAGE = "errors/question-files"
"""It has every text about a question file, and what to do."""


class QuestionFile(pytest.Module):
    """
    A question file.

    A Module and not a plain File, because the fixtures of users may have module scope.
    """

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The items of the file's questions."""
        self.obj = types.ModuleType(self.path.stem)
        self.obj.__file__ = str(self.path)
        for question in self.read().questions:
            yield from self._items(question)

    def read(self) -> QuestionSet:
        """The questions, registered with the run."""
        return questions_of_file(self.config, self.path)

    def _items(self, question: Question) -> Iterator[pytest.Item]:
        # pytest makes a variant for each parameter set of the fixtures that the question comes to use, of what it
        # finds under the item's name in the module.
        setattr(self.obj, question.id, check_question)
        variants = self.ihook.pytest_pycollect_makeitem(collector=self, name=question.id, obj=check_question)
        for variant in variants:
            item = QuestionItem.from_parent(
                self,
                name=variant.name,
                originalname=question.id,
                callobj=check_question,
                callspec=getattr(variant, "callspec", None),
            )
            item.question = run_of(self.config).use(question, variant.name.removeprefix(question.id))
            for mark in marks(question):
                item.add_marker(mark)
            yield item


class QuestionItem(pytest.Function):
    """One question, to be asked, judged and decided by the fixtures that it uses."""

    question: Question

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """The question's own line, so that a failure points there."""
        # A dataset's questions are collected at a path that is a mere name.
        return self.question.path or self.path, (self.question.line or 1) - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **options: Any) -> Any:
        """A FAIL as its text alone; everything else with a traceback."""
        if isinstance(excinfo.value, QuestionFailed):
            return failure_repr(excinfo, excinfo.value.record, whole=self.config.getoption("tbstyle", "") != "line")
        return super().repr_failure(excinfo, *args, **options)


def questions_of_file(config: pytest.Config, path: Path, *, test: str = "") -> QuestionSet:
    """
    The questions of a file, read, registered with the run, their tags registered as markers.

    Args:
        config: pytest's.
        path: The file.
        test: Name of the test that takes its questions from the file; empty for the file's own items.

    Raises:
        pytest.Collector.CollectError: The file has mistakes; the text names them all.
    """
    try:
        settings_of(config)
        known = (*ASSERTABLE, *names_of_own_metrics(config))
    except pytest.UsageError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    run = run_of(config)
    markers = {re.split(r"[:(]", line, maxsplit=1)[0].strip() for line in config.getini("markers")}
    try:
        questions = read_question_file(
            path, root=config.rootpath, known_metrics=known, reserved_tags=markers - run.tags
        )
        settings = settings_of(config)
        questions = asked_in(questions, tier=settings.tier, ingest=settings.ingest, root=config.rootpath)
        if test:
            questions = renamed(questions, f"{questions.dataset_name}[{test}]")
        run.add(questions)
    except QuestionFileError as error:
        raise pytest.Collector.CollectError(f"{error}\nSee: ragcheck docs {_PAGE}") from None
    for tag in sorted({tag for question in questions.questions for tag in question.tags} - run.tags):
        config.addinivalue_line("markers", f"{tag}: a tag of questions")
        run.tags.add(tag)
    return questions


def marks(question: Question) -> list[pytest.MarkDecorator]:
    """The question's tags, skip and xfail as markers."""
    found = [getattr(pytest.mark, tag) for tag in question.tags]
    if question.skip is not None:
        found.append(pytest.mark.skip(reason=question.skip))
    if question.xfail is not None:
        # A plain xfail would also swallow an ERROR.
        found.append(pytest.mark.xfail(raises=QuestionFailed, strict=False, reason=question.xfail))
    return found


def question_of(item: pytest.Item) -> Question | None:
    """The question that the item runs; None for an item that runs none."""
    if isinstance(item, QuestionItem):
        return item.question
    callspec: Any = getattr(item, "callspec", None)
    found = callspec.params.get("rag_question") if callspec else None
    if not isinstance(found, Question):
        return None
    variant = ""
    if len(callspec.params) > 1:
        # `test_billing[refund-window-Paris]`; by default pytest escapes the question's part.
        own = found.id if found.id in callspec.id else found.id.encode("unicode_escape").decode("ascii")
        variant = f"[{callspec.id.replace(own, '', 1).replace('--', '-').strip('-')}]"
    return run_of(item.config).use(found, variant)
