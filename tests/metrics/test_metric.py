from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from pytest_ragcheck import RagAnswer
from pytest_ragcheck.concurrency.limiter import NO_LIMIT
from pytest_ragcheck.errors import EndpointTimeout, MeasurementError, UsageError
from pytest_ragcheck.metrics.metric import OwnMetric, distinct, measure, read_own
from pytest_ragcheck.scores import Score
from tests.making import a_question

ANSWER = RagAnswer(text="four", contexts=("a", "b"))


def measured(metric: Any) -> dict[str, Score]:
    return asyncio.run(measure(OwnMetric(metric), a_question(), ANSWER, NO_LIMIT))


def given(said: Any) -> dict[str, Score]:
    """The scores from the value that a metric returns."""

    def stated(question: object, answer: object) -> Any:
        if isinstance(said, Exception):
            raise said
        return said

    return measured(stated)


class Length:
    name = "length"

    def __init__(self) -> None:
        self.longest = 8

    def score(self, question: object, answer: RagAnswer) -> float:
        return len(answer.text) / self.longest


class Both:
    names = ("letters", "passages")

    def __init__(self, said: Any, names: Any = names) -> None:
        self._said = said
        self.names = names

    async def score(self, question: object, answer: RagAnswer) -> Any:
        return self._said


async def awaited(question: object, answer: RagAnswer) -> float:
    await asyncio.sleep(0)
    return 0.5


def test_a_function_an_object_and_an_async_one_are_metrics() -> None:
    assert measured(awaited) == {"awaited": Score(0.5)}
    assert measured(Length()) == {"length": Score(0.5)}
    assert measured(Length().score) == {"score": Score(0.5)}


def test_one_with_several_names_gives_a_mapping_and_leaves_out_what_does_not_apply() -> None:
    assert measured(Both({"letters": 4, "passages": None})) == {"letters": Score(4.0)}
    assert measured(Both({})) == {}
    assert measured(Both({"letters": 4}, names=(name for name in Both.names))) == {"letters": Score(4.0)}


@pytest.mark.parametrize("said", [None, 0.3, {"letters": 1, "words": 2}])
def test_one_with_several_names_that_gives_something_else_could_not_be_measured(said: Any) -> None:
    reason = f"score() returned {said!r}, not a mapping of letters, passages"
    assert measured(Both(said)) == dict.fromkeys(Both.names, Score.unscored(reason))


@pytest.mark.parametrize("said", [0, 1, True, 0.25, -3, Score(0.5), Score.unscored("no model")])
def test_a_number_or_a_score_is_taken_as_it_is(said: Any) -> None:
    assert given(said) == {"stated": said if isinstance(said, Score) else Score(float(said))}


def test_an_exception_may_be_the_reason_of_a_score() -> None:
    reason: Any = ValueError("no model")
    assert given(Score.unscored(reason)) == {"stated": Score.unscored("no model")}


def test_none_does_not_apply() -> None:
    assert given(None) == {}


@pytest.mark.parametrize("said", [math.nan, math.inf, 1e308, "0.5", [1], 10**400])
def test_what_is_no_finite_number_could_not_be_measured(said: Any) -> None:
    assert given(said) == {"stated": Score.unscored(f"score() returned {said!r:.80}, not a number up to 1e+100")}


def test_what_it_raises_is_the_reason_why_it_could_not_be_measured() -> None:
    assert given(ZeroDivisionError("by zero")) == {"stated": Score.unscored("ZeroDivisionError: by zero")}
    assert given(EndpointTimeout("no reply", url="h")) == {"stated": Score.unscored("no reply")}


def test_it_waits_for_room_and_is_repeated_where_that_may_help() -> None:
    times = []

    class Twice:
        async def run(self, operation: Any) -> Any:
            try:
                return await operation()
            except MeasurementError:
                return await operation()

    def flaky(question: object, answer: object) -> float:
        times.append(1)
        if len(times) == 1:
            raise MeasurementError("busy")
        return 1.0

    assert asyncio.run(measure(OwnMetric(flaky), a_question(), ANSWER, Twice())) == {"flaky": Score(1.0)}


class Nameless:
    def score(self, question: object, answer: object) -> float:
        return 1.0


def named(name: Any) -> Nameless:
    metric = Nameless()
    metric.name = name  # type: ignore[attr-defined]
    return metric


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (
            Length,
            "pytest_ragcheck_metrics: <class 'tests.metrics.test_metric.Length'> was returned: return a list of ",
        ),
        ([1], "pytest_ragcheck_metrics: 1 is not a metric: give functions of (question, answer), or objects with a "),
        ([named("Word Count")], " has the name 'Word Count': give it a name of lower-case letters, digits and '_' "),
        ([lambda q, a: 1], " has the name '<lambda>': give it a name of lower-case letters, digits and '_' that beg"),
        ([Nameless()], " has the name None: give it a name of lower-case letters, digits and '_' that begins with a "),
        ([Both(None, names=5)], " has the name 5: give it a name of lower-case letters, digits and '_' that begins w"),
        ([named(7)], " has the name 7: give it a name of lower-case letters, digits and '_' that begins with a "),
    ],
)
def test_what_is_no_metric_is_refused(returned: Any, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_own(returned)
    assert problem in str(caught.value)


def test_a_hook_that_returns_nothing_gives_none() -> None:
    assert read_own(None) == read_own([]) == ()


@pytest.mark.parametrize(
    ("metrics", "problem"),
    [
        ([named("f1")], "'f1' is also the name of a metric of pytest-ragcheck's: give it another name."),
        ([named("cost_usd")], "'cost_usd' is also the name of a metric of pytest-ragcheck's: give it another name."),
        ([Length(), Length()], "'length' is also the name of another metric: give it another name."),
    ],
)
def test_two_metrics_of_one_name_are_refused(metrics: list[Any], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        distinct(read_own(metrics))
    assert str(caught.value) == f"pytest_ragcheck_metrics: {problem}"
