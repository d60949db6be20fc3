"""A question's record for an item: what a fixture returns, and what its next report takes along."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.budget import OverBudget
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.catalogue import ASSERTABLE
from pytest_ragcheck.plugin.ahead import Evaluated, ahead_of
from pytest_ragcheck.plugin.configuration import names_of_own_metrics
from pytest_ragcheck.plugin.keys import RECORDS
from pytest_ragcheck.plugin.processes import own_suffix
from pytest_ragcheck.questions.call import id_of_call, question_of_call
from pytest_ragcheck.record import Record
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_ragcheck.plugin.plan import Means
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.settings import Settings


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
