"""Collects question files as pytest items, one for each question."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import QuestionFileError, UsageError
from pytest_ragcheck.metrics.retrieval import has_short_gold, short_gold_note
from pytest_ragcheck.plugin.configuration import known_metrics, settings_of
from pytest_ragcheck.plugin.guests.traceback_texts import PYTEST_RICH, failure_repr
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.questions.collected_questions import asked_in, renamed
from pytest_ragcheck.questions.question import Question, QuestionSet
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.verdict.record import QuestionFailed, Record

if TYPE_CHECKING:
    import os


def assert_question_passes(rag_result: Record) -> None:
    __tracebackhide__ = True
    if not isinstance(rag_result, Record):
        raise UsageError(
            f"the rag_result fixture returned {rag_result!r:.80}, not a Record. "
            "Return the rag_result that your fixture overrides."
        )
    rag_result.assert_passed()


def assert_contexts_pass(_rag_result_without_judge: Record) -> None:
    __tracebackhide__ = True
    _rag_result_without_judge.assert_passed()


_FUNCTIONS: tuple[Any, ...] = (assert_question_passes, assert_contexts_pass)
for _function in _FUNCTIONS:
    # The python_functions setting of a project does not apply.
    _function.__test__ = True
    # pytest reads it three times for each question; computing it took an eighth of the collection time.
    _function.__signature__ = inspect.signature(_function)

_PAGE = "errors/question-files"

_NAMELESS = ("_pytest.", "pytest_ragcheck.", "anyio.")
"""Modules whose hooks make the same items of a function under any name."""


class QuestionFile(pytest.Module):
    """A question file, which is a Module because users' fixtures may have module scope."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        self.obj = types.ModuleType(self.path.stem)
        self.obj.__file__ = str(self.path)
        self._single: set[Any] = set()
        """The functions that pytest makes into one item without parameters, under any name."""

        for conversation, questions in groupby(self.read().questions, key=lambda question: question.conversation):
            if conversation:
                yield from self._turns(conversation, tuple(questions))
            else:
                for question in questions:
                    yield from self._items(question.id, question)

    def read(self) -> QuestionSet:
        return questions_of_file(self, self.path)

    def _turns(self, conversation: str, turns: tuple[Question, ...]) -> Iterator[pytest.Item]:
        def parametrize(metafunc: pytest.Metafunc) -> None:
            if "rag_question" not in metafunc.fixturenames:
                raise self.CollectError(
                    f"{self.nodeid}::{conversation}: a conversation needs the fixture rag_question. "
                    "Let the rag_result that overrides the fixture of pytest-ragcheck request it."
                )
            ids = [f"turn{turn.turn}" for turn in turns]
            metafunc.parametrize("rag_question", turns, ids=ids, indirect=True)

        # pytest calls the hook of a module first, so that `refund[turn2-Paris]` begins with the turn.
        vars(self.obj)["pytest_generate_tests"] = parametrize
        yield from self._items(conversation, turns[0])
        del self.obj.pytest_generate_tests

    def _items(self, name: str, question: Question) -> Iterator[pytest.Item]:
        function = assert_question_passes if question.is_answered else assert_contexts_pass
        setattr(self.obj, name, function)
        if function in self._single and question.turn is None:
            yield self._item(name, question, originalname=name, callobj=function)
            return
        # pytest makes an item for each parameter set of the function's fixtures, which took half of the collection.
        variants = list(self.ihook.pytest_pycollect_makeitem(collector=self, name=name, obj=function))
        for variant in variants:
            callspec: Any = getattr(variant, "callspec", None)
            parameters = variant.name.removeprefix(name)
            if question.turn is not None:
                question = callspec.params["rag_question"]
                others = parameters.removeprefix(f"[turn{question.turn}").removeprefix("-")
                parameters = "" if others == "]" else f"[{others}"
            yield self._item(variant.name, question, parameters, originalname=name, callobj=function, callspec=callspec)
        if [variant.name for variant in variants] == [name] and self._makes_items_by_function:
            self._single.add(function)

    def _item(self, name: str, question: Question, parameters: str = "", **arguments: Any) -> QuestionItem:
        item: QuestionItem = QuestionItem.from_parent(self, name=name, **arguments)
        if self.config.option.collectonly and self.config.pluginmanager.has_plugin("vscode_pytest"):
            # The plugin of VS Code splits the node id of a parametrized item at `.py`, and lists no test if it cannot.
            vars(item).pop("callspec", None)
        item.question = run_of(self.config).questions.use(question, parameters)
        for mark in marks(question):
            item.add_marker(mark)
        return item

    @property
    def _makes_items_by_function(self) -> bool:
        # True if no conftest.py and no other plugin makes other items of a function by its name.
        hooks = (self.ihook.pytest_generate_tests, self.ihook.pytest_pycollect_makeitem)
        made_by = [impl.function.__module__ for hook in hooks for impl in hook.get_hookimpls()]
        return all(module.startswith(_NAMELESS) for module in made_by)


class QuestionItem(pytest.Function):
    """One question; the `rag_result` fixture asks and judges it."""

    question: Question

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """The file and line of the question, so that a failure points there, and the heading."""
        file = self.nodeid.partition("::")[0]
        # A dataset from the hub has no file, only a name.
        path = self.question.path or self.config.rootpath / file
        return printable(str(path)), (self.question.line or 1) - 1, f"{self.name} ({file})"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **options: Any) -> Any:
        if isinstance(excinfo.value, QuestionFailed):
            if self.config.pluginmanager.has_plugin(PYTEST_RICH):
                return excinfo.value.record.text()
            return failure_repr(excinfo, excinfo.value.record, whole=self.config.getoption("tbstyle", "") != "line")
        return super().repr_failure(excinfo, *args, **options)


def question_file(parent: pytest.Collector, path: Path) -> QuestionFile:
    """The collector of the file, with a printable node id."""
    root = parent.config.rootpath
    shown = printable(path.relative_to(root).as_posix()) if path.is_relative_to(root) else ""
    if not shown or root / shown == path:
        return QuestionFile.from_parent(parent, path=path)
    return QuestionFile.from_parent(parent, path=path, nodeid=shown)


def questions_of_file(node: pytest.Item | pytest.Collector, path: Path, *, test: str = "") -> QuestionSet:
    """
    Read the file of a run, or of a marked *test*, and register its tags as markers.

    The `CollectError` lists all mistakes.
    """
    config = node.config
    try:
        run = settings_of(config).run
        known = known_metrics(node)
    except pytest.UsageError as error:
        raise pytest.Collector.CollectError(str(error)) from None
    state = run_of(config)
    markers = {re.split(r"[:(]", line, maxsplit=1)[0].strip() for line in config.getini("markers")}
    try:
        questions = read_question_file(
            path, root=config.rootpath, known_metrics=known, reserved_tags=markers - state.questions.tags
        )
        questions = asked_in(questions, tier=run.tier, ingest=run.ingest, root=config.rootpath)
        if test:
            questions = renamed(questions, f"{questions.dataset_name}[{test}]")
        state.questions.add(questions)
        if run.samples and not run.datasets:
            state.queue_note("rag_samples samples rag_dataset alone; question files are asked whole")
        if short := [question.id for question in questions.questions if has_short_gold(question)]:
            named = ", ".join(short[:5]) + (" ..." if short[5:] else "")
            state.queue_note(short_gold_note(questions.dataset_name, named))
    except QuestionFileError as error:
        raise pytest.Collector.CollectError(f"{error}\nSee: ragcheck docs {_PAGE}") from None
    register_tags(config, questions)
    return questions


def register_tags(config: pytest.Config, questions: QuestionSet) -> None:
    known = run_of(config).questions.tags
    for tag in sorted({tag for question in questions.questions for tag in question.tags} - known):
        config.addinivalue_line("markers", f"{tag}: a tag of questions")
        known.add(tag)


def marks(question: Question) -> list[pytest.MarkDecorator]:
    found = [getattr(pytest.mark, tag) for tag in question.tags]
    if question.skip is not None:
        found.append(pytest.mark.skip(reason=printable(question.skip)))
    if question.xfail is not None:
        # Without `raises`, xfail would hide an ERROR.
        found.append(pytest.mark.xfail(raises=QuestionFailed, strict=False, reason=printable(question.xfail)))
    return found


def question_of(item: pytest.Item) -> Question | None:
    if isinstance(item, QuestionItem):
        return item.question
    test: Any = item
    callspec: Any = getattr(test, "callspec", None)
    found = callspec.params.get("rag_question") if callspec else None
    if not isinstance(found, Question):
        return None
    variant = ""
    if len(callspec.params) > 1:
        # In `test_billing[refund-window-Paris]` pytest may have escaped the id of the question.
        own = found.id if found.id in callspec.id else found.id.encode("unicode_escape").decode("ascii")
        variant = f"[{callspec.id.replace(own, '', 1).replace('--', '-').strip('-')}]"
    # The test or its fixtures may get the result by its name.
    is_asked = "rag_result" in test.fixturenames or "request" in inspect.signature(test.function).parameters
    homes = (test.module, test.cls, *item.config.pluginmanager.get_plugins())
    fixtures = (getattr(home, name, None) for home in homes for name in test.fixturenames)
    codes = (getattr(inspect.unwrap(each), "__code__", None) for each in (test.function, *fixtures) if callable(each))
    is_asked = is_asked or any(code and "rag_result" in code.co_consts for code in codes)
    return run_of(item.config).questions.use(found, variant, is_asked=is_asked)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Parametrize the test with the questions of the files of all its markers, relative to the test file."""
    test = metafunc.definition
    # pytest lists the nearest mark first, which is the last in the source.
    markers = list(test.iter_markers("rag_questions"))[::-1]
    for marker in markers:
        if not marker.args or marker.kwargs or not all(isinstance(path, str) for path in marker.args):
            raise pytest.Collector.CollectError(
                f'{test.nodeid}: rag_questions takes the paths of question files, as rag_questions("billing.rag.yaml").'
            )
    if "rag_question" not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(
            f"{test.nodeid}: the test is marked rag_questions but uses no question. "
            f"Give it the argument rag_result or rag_question."
        )
    name_in_file = ".".join(test.nodeid.split("::")[1:])
    questions: list[Question] = []
    for name in chain.from_iterable(marker.args for marker in markers):
        path = test.path.parent / name
        if not path.is_file():
            raise pytest.Collector.CollectError(
                f"{test.nodeid}: there is no question file {name!r} in {test.path.parent}. "
                f"The path is relative to the test's file."
            )
        questions += questions_of_file(test, path, test=name_in_file).questions
    parameters = [pytest.param(question, id=question.id, marks=marks(question)) for question in questions]
    metafunc.parametrize("rag_question", parameters, indirect=True)


def require_question(item: pytest.Item) -> None:
    """Fail a test of a `unittest.TestCase`: pytest does not parametrize it, so it would pass without a question."""
    if isinstance(item, pytest.Function) and "rag_question" not in item.fixturenames:
        item.fixturenames.append("rag_question")
