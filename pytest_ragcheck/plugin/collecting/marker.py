"""Runs a test with `@pytest.mark.rag_questions(path)` once for each question of the file."""

from __future__ import annotations

from itertools import chain

import pytest

from pytest_ragcheck.plugin.collecting.question_items import marks, questions_of_file
from pytest_ragcheck.questions.question import Question


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
        questions += questions_of_file(test.config, path, test=name_in_file).questions
    parameters = [pytest.param(question, id=question.id, marks=marks(question)) for question in questions]
    metafunc.parametrize("rag_question", parameters, indirect=True)


def require_question(item: pytest.Item) -> None:
    """Fail a test of a `unittest.TestCase`: pytest does not parametrize it, so it would pass without a question."""
    if isinstance(item, pytest.Function) and "rag_question" not in item.fixturenames:
        item.fixturenames.append("rag_question")
