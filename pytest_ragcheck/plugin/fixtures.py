"""The fixtures of users' tests, each to be overridden in any conftest.py."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import CLIENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.plugin.keeping import RagCheck
    from pytest_ragcheck.plugin.plan import Means
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.record import Record
    from pytest_ragcheck.settings import Settings

NO_ENDPOINT = (
    "there is no RAG endpoint to ask: give --rag-url=URL, set RAGCHECK_URL, or override the rag_client fixture"
)
NO_JUDGE = (
    "no judge was chosen: give --rag-judge=offline (no model, no key), or --rag-judge=openai with --rag-judge-model "
    "and OPENAI_API_KEY or --rag-judge-url, or --rag-judge=none (keyless metrics only), or override the rag_judge "
    "fixture"
)


@pytest.fixture(scope="session")
def rag_settings(pytestconfig: pytest.Config) -> Settings:
    """The run's settings; an override changes them for its folder with `dataclasses.replace`."""
    return settings_of(pytestconfig)


@pytest.fixture(scope="session")
def rag_client(rag_settings: Settings, pytestconfig: pytest.Config) -> Asks:
    """The system under test: the endpoint of --rag-url. An override may return a RagClient or a function."""
    if rag_settings.replay is not None:
        from pytest_ragcheck.plugin.replay import recording_of  # noqa: PLC0415 - only where a run is replayed

        with _usage_errors_as_failures():
            return recording_of(pytestconfig, rag_settings.replay)
    if rag_settings.url is None:
        if rag_settings.required:
            pytest.fail(NO_ENDPOINT, pytrace=False)
        pytest.skip(NO_ENDPOINT)
    from pytest_ragcheck.rag.client import RagClient  # noqa: PLC0415 - only where a question is asked

    with _usage_errors_as_failures():
        pytestconfig.stash[CLIENT] = client = RagClient.from_settings(rag_settings)
    return client


@pytest.fixture(scope="session")
def rag_judge(rag_settings: Settings, pytestconfig: pytest.Config) -> Iterator[Judge | None]:
    """The judge of --rag-judge; None for `none`. An override may return anything with a `judge` method."""
    if rag_settings.judge is None and rag_settings.needs_judge and rag_settings.replay is None:
        pytest.fail(NO_JUDGE, pytrace=False)
    with _usage_errors_as_failures():
        judge = _chosen_judge(rag_settings, pytestconfig) if rag_settings.needs_judge else None
    with _with_cache(judge, rag_settings, pytestconfig) as used:
        yield used
        close = getattr(used, "aclose", None)
        if close is not None:
            from pytest_ragcheck.plugin.private_loop import loop_of  # noqa: PLC0415 - only where there is a judge

            loop_of(pytestconfig).run(close)


@pytest.fixture
def rag_question(request: pytest.FixtureRequest) -> Question:
    """The question that the test runs."""
    from pytest_ragcheck.plugin.collection import question_of  # noqa: PLC0415 - only where a question runs

    question = question_of(request.node)
    if question is None:
        pytest.fail(
            f"{request.node.nodeid}: there is no question. Mark the test with "
            f'@pytest.mark.rag_questions("billing.rag.yaml"), or use rag_check.',
            pytrace=False,
        )
    return question


@pytest.fixture
def rag_result(
    request: pytest.FixtureRequest,
    rag_settings: Settings,
    rag_question: Question,
    rag_client: Any,
    rag_judge: Judge | None,
) -> Record:
    """The evaluated question; an ERROR ends the test here, a FAIL only in `assert_passed`."""
    __tracebackhide__ = True
    from pytest_ragcheck.plugin.ahead import ahead_of  # noqa: PLC0415 - only where a question is asked
    from pytest_ragcheck.plugin.keeping import kept  # noqa: PLC0415 - as above

    means = _means(rag_client, rag_judge, rag_settings)
    ahead = ahead_of(request.session)
    record = kept(request.node, rag_question, rag_settings, partial(ahead.record, request.node, rag_question, means))
    record.assert_measured()
    return record


@pytest.fixture
def rag_check(
    request: pytest.FixtureRequest, rag_settings: Settings, rag_client: Any, rag_judge: Judge | None
) -> RagCheck:
    """Asks and judges one question: `rag_check("How long?", expected="30 days").assert_passed()`."""
    from pytest_ragcheck.plugin.keeping import RagCheck  # noqa: PLC0415 - only for who calls

    return RagCheck(request, _means(rag_client, rag_judge, rag_settings))


def _means(client: Any, judge: Judge | None, settings: Settings) -> Means:
    """With what questions are evaluated; settings of an override may name what is not installed."""
    from pytest_ragcheck.metrics.choice import check_installed  # noqa: PLC0415 - only where a question is asked
    from pytest_ragcheck.plugin.plan import Means  # noqa: PLC0415 - as above

    with _usage_errors_as_failures():
        check_installed(settings)
    return Means(client=client, judge=judge, settings=settings)


def _chosen_judge(settings: Settings, config: pytest.Config) -> Judge | None:
    if settings.replay is not None:
        from pytest_ragcheck.engine.replay_judge import choose_replay_judge  # noqa: PLC0415 - only for a replay
        from pytest_ragcheck.plugin.replay import recording_of  # noqa: PLC0415 - as above

        return choose_replay_judge(settings, recording_of(config, settings.replay))
    from pytest_ragcheck.judging.choice import choose_judge  # noqa: PLC0415 - only where one is needed

    return choose_judge(settings)


def _with_cache(judge: Any, settings: Settings, config: pytest.Config) -> AbstractContextManager[Judge | None]:
    """The judge with the verdict cache before it, if it says what its verdicts depend on."""
    if not settings.cache or not getattr(judge, "fingerprint", ""):
        return nullcontext(judge)
    from pytest_ragcheck.plugin.cached import with_cache  # noqa: PLC0415 - only for a judge that costs something

    return with_cache(judge, settings, config)


@contextmanager
def _usage_errors_as_failures() -> Iterator[None]:
    """Ends the test with the text alone: a traceback through this package would say nothing more to a user."""
    from pytest_ragcheck.errors import UsageError  # noqa: PLC0415 - only where a question is asked

    try:
        yield
    except UsageError as error:
        # `pytest.fail` would leave the context, and pytest say the text once for each of the two.
        raise pytest.fail.Exception(str(error), pytrace=False) from None
