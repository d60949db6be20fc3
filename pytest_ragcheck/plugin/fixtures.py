"""The fixtures of users' tests, each to be overridden in any conftest.py."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.configuration import names_of_own_metrics, settings_of
from pytest_ragcheck.plugin.keys import CLIENT, LOOP, RECORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.loop import PrivateLoop
    from pytest_ragcheck.plugin.ahead import Evaluated
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
    return RagCheck(request, _means(rag_client, rag_judge, rag_settings))


def _means(client: Any, judge: Judge | None, settings: Settings) -> Means:
    """With what questions are evaluated; settings of an override may name what is not installed."""
    from pytest_ragcheck.metrics.choice import check_installed  # noqa: PLC0415 - only where a question is asked
    from pytest_ragcheck.plugin.plan import Means  # noqa: PLC0415 - as above

    with _usage_errors_as_failures():
        check_installed(settings)
    return Means(client=client, judge=judge, settings=settings)


class RagCheck:
    """What the `rag_check` fixture gives."""

    def __init__(self, request: pytest.FixtureRequest, means: Means) -> None:
        self._request = request
        self._means = means
        self._calls = 0

    def __call__(
        self,
        question: str,
        *,
        expected: str | Sequence[str] | None = None,
        answerable: bool = True,
        must_mention: str | Sequence[str] = (),
        must_not_mention: str | Sequence[str] = (),
        thresholds: float | Mapping[str, float] | None = None,
        top_k: int | None = None,
    ) -> Record:
        """
        The evaluated question.

        Args:
            question: What is asked.
            expected: The expected answer, or all acceptable ones, the primary one first.
            answerable: False: the system should decline to answer.
            must_mention: Strings, or regular expressions in slashes, that the answer has to contain.
            must_not_mention: The same, that it must not contain.
            thresholds: One minimum for answer_correctness and groundedness, or minimums by metric; 0..1.
            top_k: How many contexts are asked for, >= 1.

        Raises:
            QuestionErrored: The endpoint or the judge did not do its work.
        """
        __tracebackhide__ = True
        from pytest_ragcheck.errors import UsageError  # noqa: PLC0415 - only for who calls
        from pytest_ragcheck.metrics.catalogue import ASSERTABLE  # noqa: PLC0415 - as above
        from pytest_ragcheck.plugin.ahead import ahead_of  # noqa: PLC0415 - only for who calls
        from pytest_ragcheck.plugin.processes import own_suffix  # noqa: PLC0415 - as above
        from pytest_ragcheck.questions.call import id_of_call, question_of_call  # noqa: PLC0415 - as above

        self._calls += 1
        item = self._request.node
        try:
            asked = question_of_call(
                question,
                test_file=item.path,
                root=self._request.config.rootpath,
                line=(item.location[1] or 0) + 1,
                id=id_of_call(item.nodeid, self._calls),
                expected=expected,
                answerable=answerable,
                must_mention=must_mention,
                must_not_mention=must_not_mention,
                thresholds=thresholds,
                top_k=top_k,
                known_metrics=(*ASSERTABLE, *names_of_own_metrics(self._request.config)),
            )
        except UsageError as error:
            # Anew, so that its traceback ends in the user's own line.
            raise UsageError(str(error)) from None
        asked = replace(asked, dataset_name=asked.dataset_name + own_suffix(self._request.config))
        evaluate = partial(ahead_of(self._request.session).called, asked, self._means)
        record = kept(item, asked, self._means.settings, evaluate)
        record.assert_measured()
        return record


def kept(item: pytest.Item, question: Question, settings: Settings, evaluate: Callable[[], Evaluated]) -> Record:
    """The question's record, left for the item's next report to take."""
    from pytest_ragcheck.engine.budget import OverBudget  # noqa: PLC0415 - only where a question is asked
    from pytest_ragcheck.plugin.ahead import Evaluated  # noqa: PLC0415 - as above
    from pytest_ragcheck.record import Record  # noqa: PLC0415 - as above
    from pytest_ragcheck.verdict import Verdict  # noqa: PLC0415 - as above

    try:
        evaluated = evaluate()
    except (pytest.xfail.Exception, pytest.exit.Exception):
        raise
    except OverBudget as reached:
        pytest.skip(str(reached))
    except pytest.fail.Exception as stopped:
        # By pytest-timeout, or by the user's own client: the question is not to be missing among the results.
        reason = settings.redactor.text(str(stopped))
        record = Record(question=question, verdict=Verdict.ERROR, error_kind="not_evaluated", reason=reason)
        evaluated = Evaluated(record=record)
    except (Exception, SystemExit) as error:
        # A bug in a client, in a judge or here: it keeps its traceback, and the question its row.
        reason = settings.redactor.text(f"{type(error).__name__}: {error}".partition("\n")[0])
        record = Record(question=question, verdict=Verdict.ERROR, error_kind="not_evaluated", reason=reason)
        item.stash.setdefault(RECORDS, []).append(Evaluated(record=record))
        if isinstance(error, SystemExit):
            # pytest 9.2 does not end a fixture that raises it, and every later item with that fixture fails.
            raise RuntimeError(f"the client or the judge called sys.exit({error.code!r})") from error  # noqa: TRY004
        raise
    item.stash.setdefault(RECORDS, []).append(evaluated)
    return evaluated.record


def loop_of(config: pytest.Config) -> PrivateLoop:
    """The process's private event loop; it ends with the process's pytest run."""
    if LOOP not in config.stash:
        from pytest_ragcheck.library_logs import redact_logs  # noqa: PLC0415 - only where a question is asked
        from pytest_ragcheck.loop import PrivateLoop  # noqa: PLC0415 - as above

        config.stash[LOOP] = loop = PrivateLoop()
        # Ended in the opposite order: what is closed is logged too.
        config.add_cleanup(redact_logs(settings_of(config).redactor))
        config.add_cleanup(loop.close)
    return config.stash[LOOP]


def close_client(client: object, config: pytest.Config) -> None:
    """
    Closes a RagClient whose fixture ends, be it ours or an override's, in the loop that its connections belong to.

    Left to the garbage collector, they were closed too late in two of eight runs, with a ResourceWarning.
    """
    from pytest_ragcheck.rag.client import RagClient  # noqa: PLC0415 - only where a question was asked

    if isinstance(client, RagClient):
        loop_of(config).run(client.aclose)


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
