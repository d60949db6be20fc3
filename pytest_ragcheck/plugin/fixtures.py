"""Defines the fixtures for users' tests. A conftest.py can override each of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.question_files import calls_rag_check
from pytest_ragcheck.plugin.run_state import RUN

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import GivenJudge, Judge
    from pytest_ragcheck.plugin.asking.rag_check import RagCheck
    from pytest_ragcheck.plugin.asking.schedule import Backends
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.verdict.record import Record

_JUDGES: pytest.StashKey[list[tuple[tuple[Any, ...], Judge | None]]] = pytest.StashKey()
"""The judges of the session, by the settings that choose them."""


@pytest.fixture(scope="session")
def rag_settings(request: pytest.FixtureRequest) -> Settings:
    """The settings of the run. An override can return `rag_settings.replace(threshold=0.9)`."""
    # `pytestconfig` would be set up for each item, which takes 0.03 ms.
    return settings_of(request.config)


@pytest.fixture(scope="session")
def rag_client(rag_settings: Settings, request: pytest.FixtureRequest) -> Asks | None:
    """The client of the endpoint of --rag-url. An override can return another RagClient or a function."""
    if _lacks_system(rag_settings) and _is_overridden(request.config, "rag_settings"):
        return None  # a skip would hold for all folders
    return _client(rag_settings, request)


@pytest.fixture(scope="session")
def rag_judge(rag_settings: Settings, request: pytest.FixtureRequest) -> Judge | None:
    """The judge of --rag-judge; None for `none`. An override can return an object with `judge`, or a function."""
    return _judge(rag_settings, request)


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
    return _result(request, rag_settings, rag_question, rag_client, rag_judge if rag_question.is_answered else None)


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
    question: Question,
    client: Any,
    judge: GivenJudge | None,
) -> Record:
    __tracebackhide__ = True
    from pytest_ragcheck.plugin.asking.question_session import question_session_of
    from pytest_ragcheck.plugin.asking.rag_check import record_for

    backends = _backends(request, client, judge, settings, judged=question.is_answered)
    with _usage_errors_as_failures():
        questions = question_session_of(request.session)
    record = record_for(request.node, question, settings, partial(questions.record, request.node, question, backends))
    record.assert_measured()
    return record


@pytest.fixture
def rag_check(
    request: pytest.FixtureRequest, rag_settings: Settings, rag_client: Any, rag_judge: Judge | None
) -> RagCheck:
    """A function that asks and judges: `rag_check("How long?", expected="30 days").assert_passed()`."""
    from pytest_ragcheck.plugin.asking.rag_check import RagCheck

    return RagCheck(request, _backends(request, rag_client, rag_judge, rag_settings))


def _asks_for_answers(session: pytest.Session) -> bool:
    # False if every question of the session is of the tier retrieval.
    from pytest_ragcheck.plugin.collecting.question_items import question_of

    if RUN not in session.config.stash or any(map(calls_rag_check, session.items)):
        return True
    questions = list(map(question_of, session.items))
    return any(question is not None and question.is_answered for question in questions)


def _backends(
    request: pytest.FixtureRequest, client: Any, judge: GivenJudge | None, settings: Settings, *, judged: bool = True
) -> Backends:
    # The client, judge and settings of a question; overridden settings can name an uninstalled package.
    from pytest_ragcheck.judging.checked_judgement import as_judge
    from pytest_ragcheck.metrics.metric_choice import check_installed
    from pytest_ragcheck.plugin.asking.schedule import Backends

    _check_settings(settings)
    with _usage_errors_as_failures():
        check_installed(settings)
    # pytest makes the default client and judge once, with the settings of the first folder.
    own_client = _client(settings, request) if _is_default(request.config, client) else client
    own_judge = _own_judge(judge, settings, request) if judged else None
    return Backends(
        client=own_client,
        judge=None if own_judge is None else as_judge(own_judge),
        settings=settings,
        given=(client, judge, settings),
    )


def _is_default(config: pytest.Config, client: Any) -> bool:
    from pytest_ragcheck.plugin.asking.session_loop import is_client_of_url

    return not _is_overridden(config, "rag_client") if client is None else is_client_of_url(config, client)


def _own_judge(given: Any, settings: Settings, request: pytest.FixtureRequest) -> Any:
    # The judge of the settings instead of the default one of others.
    known = [choice for choice, judge in request.config.stash.get(_JUDGES, []) if judge is given]
    is_other = bool(known) and _choice(settings) not in known
    if is_other and (given is not None or not _is_overridden(request.config, "rag_judge")):
        return _judge(settings, request)
    return given


def _choice(settings: Settings) -> tuple[Any, ...]:
    return settings.judge, settings.endpoint, settings.needs_judge


def _is_overridden(config: pytest.Config, fixture: str) -> bool:
    from pytest_ragcheck.plugin.collecting.overrides import is_overridden

    return is_overridden(config, fixture)


def _lacks_system(settings: Settings) -> bool:
    _check_settings(settings)
    return settings.endpoint.url is None and settings.run.replay is None


def _client(settings: Settings, request: pytest.FixtureRequest) -> Asks:
    if _lacks_system(settings):
        from pytest_ragcheck.plugin.collecting.preconditions import NO_ENDPOINT

        if settings.run.require_endpoint:
            pytest.fail(NO_ENDPOINT, pytrace=False)
        pytest.skip(NO_ENDPOINT)
    with _usage_errors_as_failures():
        if settings.run.replay is not None:
            from pytest_ragcheck.plugin.collecting.replay_source import recording_of

            return recording_of(request.config, settings.run.replay)
        from pytest_ragcheck.plugin.asking.session_loop import client_of_url

        return client_of_url(request.session, settings)


def _judge(settings: Settings, request: pytest.FixtureRequest) -> Judge | None:
    # The judge of the settings, until the end of the session.
    _check_settings(settings)
    judges = request.config.stash.setdefault(_JUDGES, [])
    for choice, judge in judges:
        if choice == _choice(settings):
            return judge
    needs_judge = settings.needs_judge and _asks_for_answers(request.session)
    if settings.judge.name is None and needs_judge and settings.run.replay is None:
        from pytest_ragcheck.plugin.collecting.preconditions import NO_JUDGE

        pytest.fail(NO_JUDGE, pytrace=False)
    with _usage_errors_as_failures():
        made = _chosen_judge(settings, request.config) if needs_judge else None
    stack = ExitStack()
    used = stack.enter_context(_with_cache(made, settings, request.config))
    if (close := getattr(used, "aclose", None)) is not None:
        from pytest_ragcheck.plugin.asking.session_loop import close_in_loop

        stack.callback(close_in_loop, request.config, close)
    request.session.addfinalizer(stack.close)
    judges.append((_choice(settings), used))
    return used


def _check_settings(given: Any) -> None:
    from pytest_ragcheck.config.settings import Settings

    if not isinstance(given, Settings):
        pytest.fail(
            f"the rag_settings fixture returned {given!r:.80}, not Settings. "
            "Return the settings that it changes, such as rag_settings.replace(threshold=0.9).",
            pytrace=False,
        )


def _chosen_judge(settings: Settings, config: pytest.Config) -> Judge | None:
    if settings.run.replay is not None:
        from pytest_ragcheck.plugin.collecting.replay_source import recording_of
        from pytest_ragcheck.replay.recorded_run import choose_replay_judge

        return choose_replay_judge(settings, recording_of(config, settings.run.replay))
    from pytest_ragcheck.judging.judge_choice import choose_judge

    return choose_judge(settings)


def _with_cache(judge: Any, settings: Settings, config: pytest.Config) -> AbstractContextManager[Judge | None]:
    if "cache" in settings.run.disabled or not getattr(judge, "fingerprint", ""):
        return nullcontext(judge)
    from pytest_ragcheck.plugin.asking.cached_judge import with_cache

    return with_cache(judge, settings, config)


@contextmanager
def _usage_errors_as_failures() -> Iterator[None]:
    # Fail the test with the text of the usage error, without a traceback through this package.
    from pytest_ragcheck.errors import UsageError

    try:
        yield
    except UsageError as error:
        # `pytest.fail` has no `from None`, so that pytest would show the text twice.
        raise pytest.fail.Exception(str(error), pytrace=False) from None
