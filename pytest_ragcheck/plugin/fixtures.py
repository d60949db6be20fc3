"""Defines the fixtures for users' tests. A conftest.py can override each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.configuration import names_of_own_metrics, settings_of

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import GivenJudge, Judge
    from pytest_ragcheck.plugin.asking.rag_check import RagCheck
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.verdict.record import Record


@pytest.fixture(scope="session")
def rag_settings(request: pytest.FixtureRequest) -> Settings:
    """The settings of the run. An override can return `rag_settings.replace(threshold=0.9)`."""
    # `pytestconfig` would be set up for each item, which takes 0.03 ms.
    settings = settings_of(request.config)
    # A conftest.py that pytest has read since may define further metrics, which an override can name.
    own = names_of_own_metrics(request.config)
    return settings if settings.run.own_metrics == own else settings.replace(own_metrics=own)


@pytest.fixture(scope="session")
def rag_client(rag_settings: Settings, request: pytest.FixtureRequest) -> Asks | None:
    """The client of the endpoint of --rag-url. An override can return another RagClient or a function."""
    from pytest_ragcheck.plugin.asking.default_backends import default_client

    return default_client(request, rag_settings, for_all=True)


@pytest.fixture(scope="session")
def rag_judge(rag_settings: Settings, request: pytest.FixtureRequest) -> Judge | None:
    """The judge of --rag-judge; None for `none`. An override can return an object with `judge`, or a function."""
    from pytest_ragcheck.plugin.asking.default_backends import default_judge

    return default_judge(request, rag_settings)


@pytest.fixture
def rag_question(request: pytest.FixtureRequest) -> Question:
    """The question of the test."""
    from pytest_ragcheck.plugin.collecting.question_items import question_of

    question = question_of(request.node)
    if question is None:
        remedy = 'Mark the test with @pytest.mark.rag_questions("billing.rag.yaml"), or use rag_check.'
        if request.node.get_closest_marker("rag_questions") is not None:
            remedy = "pytest does not parametrize a unittest.TestCase: use rag_check, or a class without this base."
        pytest.fail(f"{request.node.nodeid}: there is no question. {remedy}", pytrace=False)
    return question


@pytest.fixture
def rag_result(
    request: pytest.FixtureRequest,
    rag_settings: Settings,
    rag_question: Question,
    rag_client: Any,
    rag_judge: GivenJudge | None,
) -> Record:
    """The record of the question. An ERROR ends the test here, a FAIL only in `assert_passed`."""
    __tracebackhide__ = True
    return _result(request, rag_settings, rag_question, rag_client, rag_judge)


@pytest.fixture(name="_rag_result_without_judge")
def rag_result_without_judge(
    request: pytest.FixtureRequest, rag_settings: Settings, rag_question: Question, rag_client: Any
) -> Record:
    """The same as `rag_result` for an item of the tier retrieval, without setting up `rag_judge`."""
    __tracebackhide__ = True
    return _result(request, rag_settings, rag_question, rag_client, None)


def _result(
    request: pytest.FixtureRequest,
    settings: Settings,
    question: Any,
    client: Any,
    judge: GivenJudge | None,
) -> Record:
    __tracebackhide__ = True
    from pytest_ragcheck.plugin.asking.default_backends import backends_of
    from pytest_ragcheck.plugin.asking.question_session import question_session_of
    from pytest_ragcheck.plugin.asking.rag_check import record_for

    _check_question(question, request.node)
    judged = question.is_answered
    backends = backends_of(request, client, judge if judged else None, settings, judged=judged)
    item = request.node
    record = record_for(
        item, question, settings, lambda: question_session_of(request.session).record(item, question, backends)
    )
    record.assert_measured()
    return record


def _check_question(given: Any, item: pytest.Item) -> None:
    # In a frame of its own: pytest notes an error of hidden frames alone.
    from pytest_ragcheck.plugin.collecting.question_items import question_of
    from pytest_ragcheck.questions.question import Question

    if not isinstance(given, Question):
        pytest.fail(
            f"the rag_question fixture returned {given!r:.80}, not a Question. Return the rag_question that your "
            'fixture overrides, or a changed one, such as dataclasses.replace(rag_question, question="...").',
            pytrace=False,
        )
    own = question_of(item)
    if own and given.key != own.key:
        pytest.fail(
            f"the rag_question fixture changed {own.key} to {given.key}: keep dataset_name and id.", pytrace=False
        )


@pytest.fixture
def rag_check(
    request: pytest.FixtureRequest, rag_settings: Settings, rag_client: Any, rag_judge: Judge | None
) -> RagCheck:
    """A function that asks and judges: `rag_check("How long?", expected="30 days").assert_passed()`."""
    from pytest_ragcheck.plugin.asking.default_backends import backends_of
    from pytest_ragcheck.plugin.asking.rag_check import RagCheck

    return RagCheck(request, backends_of(request, rag_client, rag_judge, rag_settings))
