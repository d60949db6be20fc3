"""Makes the records of the questions of an item, for its fixtures and its next report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.concurrency.frames import from_users_frame, is_own_failure
from pytest_ragcheck.engine.budget import OverBudget
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.retrieval import has_short_gold, short_gold_note
from pytest_ragcheck.plugin.asking.question_session import question_session_of
from pytest_ragcheck.plugin.asking.session_loop import loop_of
from pytest_ragcheck.plugin.configuration import known_metrics
from pytest_ragcheck.plugin.run_state import Evaluated, keep_record, run_of
from pytest_ragcheck.plugin.workers import own_suffix
from pytest_ragcheck.questions.call import id_of_call, question_of_call
from pytest_ragcheck.questions.question import END_TO_END, GoldPassage, Question
from pytest_ragcheck.verdict.maximums import with_maximums
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.plugin.asking.schedule import Backends


class RagCheck:
    """Asks and judges questions in a test; the `rag_check` fixture returns it."""

    def __init__(self, request: pytest.FixtureRequest, backends: Backends) -> None:
        self._request = request
        self._backends = backends
        self._calls = 0

    def __call__(
        self,
        question: str,
        *,
        expected: str | Sequence[str] | None = None,
        answerable: bool = True,
        must_mention: str | Sequence[str] = (),
        must_not_mention: str | Sequence[str] = (),
        must_cite: str | Sequence[str] = (),
        must_not_retrieve: str | Sequence[str] = (),
        thresholds: float | Mapping[str, float] | None = None,
        top_k: int | None = None,
        gold_passages: Sequence[str | Mapping[str, str] | GoldPassage] = (),
        tier: str = END_TO_END,
        identity: str = "",
    ) -> Record:
        """
        The record of the question.

        Args:
            question: Its text.
            expected: The expected answer, or all acceptable ones, the primary one first.
            answerable: False if the system should decline to answer.
            must_mention: Strings, or regular expressions in slashes, that the answer must contain.
            must_not_mention: The same for what it must not contain.
            must_cite: Ids of the documents that the answer must cite with a marker.
            must_not_retrieve: Ids of the documents that contexts and answer must not come from.
            thresholds: One minimum for answer_correctness and groundedness, or minimums by metric; 0..1.
            top_k: Number of contexts to ask for, >= 1.
            gold_passages: The passages that answer the question: texts, or mappings with `text`, `doc_id` or both,
                or their other names in question files.
            tier: `end_to_end`, or `retrieval` to measure the contexts alone.
            identity: The name in `rag_identities` that asks, which question files call `as`; empty for the headers of
                the run.

        Raises:
            QuestionErrored: The endpoint or the judge failed.
        """
        __tracebackhide__ = True
        self._calls += 1
        item = self._request.node
        try:
            asked = question_of_call(
                question,
                test_file=(item.getparent(pytest.File) or item).path,
                root=self._request.config.rootpath,
                line=(item.location[1] or 0) + 1,
                id=id_of_call(item.nodeid, self._calls),
                expected=expected,
                answerable=answerable,
                must_mention=must_mention,
                must_not_mention=must_not_mention,
                must_cite=must_cite,
                must_not_retrieve=must_not_retrieve,
                thresholds=thresholds,
                top_k=top_k,
                gold_passages=gold_passages,
                tier=tier,
                identity=identity,
                known_metrics=known_metrics(item),
            )
        except UsageError as error:
            # A new error, so that its traceback ends in the user's own line.
            raise UsageError(str(error)) from None
        record = self._record(replace(asked, dataset_name=asked.dataset_name + own_suffix(self._request.config)))
        record.assert_measured()
        return record

    def _record(self, question: Question) -> Record:
        __tracebackhide__ = True
        run = run_of(self._request.config)
        same = run.questions.sets.get(question.dataset_name)
        for each in same.questions if same else ():
            if each.id == question.id:
                raise UsageError(f"rag_check: {each.location} has the id {each.id!r} too; give it another one.")
        if has_short_gold(question):
            # The note has no id, so that many calls queue it once.
            run.queue_note(short_gold_note(question.dataset_name, "a rag_check"))
        # The tier retrieval needs no judge, and so no preflight of one.
        backends = self._backends if question.is_answered else replace(self._backends, judge=None)
        session = self._request.session
        return record_for(
            self._request.node,
            question,
            self._backends.settings,
            lambda: question_session_of(session).called(question, backends),
        )


def record_for(item: pytest.Item, question: Question, settings: Settings, evaluate: Callable[[], Evaluated]) -> Record:
    """Return the record of the question, and keep it for the item's next report."""
    __tracebackhide__ = True
    lost = partial(_not_evaluated, question, settings)
    try:
        # Before there is a question session, whose end would try to start the loop again.
        loop_of(item.config).start()
        evaluated = evaluate()
    except (KeyboardInterrupt, pytest.skip.Exception, pytest.xfail.Exception, pytest.exit.Exception):
        raise
    except OverBudget as reached:
        pytest.skip(str(reached))
    except pytest.fail.Exception as stopped:
        # Raised by pytest-timeout or the user's client; the question must still be among the results.
        evaluated = lost(str(stopped))
    except CancelledError:
        # Neither Ctrl-C nor the end of the loop raises CancelledError here.
        evaluated = lost("the client or the judge raised its own cancellation")
    except BaseException as error:
        from unittest import SkipTest

        if is_own_failure(error) or isinstance(error, SkipTest):  # pytest skips a test that raises it
            raise
        # A bug in a client or a judge: the traceback stays, and the question gets its row.
        reason = f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(": ")
        evaluated = lost(str(error) if isinstance(error, UsageError) else reason)
        if users := from_users_frame(error.__traceback__):
            keep_record(item, evaluated)
            if isinstance(error, Exception):
                raise error.with_traceback(users)  # noqa: B904 - the same error, without the frames of this package
            # pytest does not end a fixture that raises any other exception, and later items with that fixture fail.
            raise RuntimeError(f"the client or the judge raised {error!r}") from error.with_traceback(users)
    keep_record(item, evaluated)
    return evaluated.record


def _not_evaluated(question: Question, settings: Settings, reason: str) -> Evaluated:
    text = settings.redactor.text(reason)
    record = Record(question=question, verdict=Verdict.ERROR, error_kind="not_evaluated", reason=text)
    return Evaluated(record=with_maximums(record, settings.gate.maximums))
