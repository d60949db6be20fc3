from __future__ import annotations

import asyncio
import math
import threading
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from pytest_ragcheck import Question, RagAnswer
from pytest_ragcheck.errors import EndpointError, EndpointReplyError
from pytest_ragcheck.rag.ask import ask, endpoint_name, settled
from pytest_ragcheck.scores import number
from tests.making import Answers, a_question


def asked(answer: Any) -> RagAnswer:
    return asyncio.run(ask(a_question(), Answers(answer)))


def test_an_answer_that_is_as_it_should_be_is_handed_on() -> None:
    answer = RagAnswer(text="30 days", contexts=("a", "b"), source_ids=("1", "2"), latency_seconds=0.5, extra={"k": 1})
    assert asked(answer) == answer
    assert asked(RagAnswer(text="")) == RagAnswer(text="")


def test_lists_and_other_numbers_become_what_records_hold() -> None:
    given: Any = {"contexts": ["a"], "source_ids": ["1"], "latency_seconds": Decimal("0.5")}
    answer = asked(RagAnswer(text="x", **given))
    assert (answer.contexts, answer.source_ids, answer.latency_seconds) == (("a",), ("1",), 0.5)
    assert type(answer.latency_seconds) is float


def test_a_class_in_place_of_its_object_is_an_endpoint_error() -> None:
    client: Any = Answers
    with pytest.raises(EndpointError) as caught:
        asyncio.run(ask(a_question(), client))
    assert str(caught.value) == ("Answers: the rag_client is a class\nReturn an object of it, such as Answers(...).")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("30 days", "ask() returned str, not a RagAnswer."),
        (None, "ask() returned NoneType, not a RagAnswer."),
        ({"text": None}, "ask() returned a RagAnswer whose text is None, not a str."),
        ({"contexts": "abc"}, "ask() returned a RagAnswer whose contexts are 'abc', not a tuple of str."),
        ({"contexts": (1,)}, "ask() returned a RagAnswer whose contexts are (1,), not a tuple of str."),
        ({"contexts": None}, "ask() returned a RagAnswer whose contexts are None, not a tuple of str."),
        (
            {"contexts": ("a",), "source_ids": (None,)},
            "ask() returned a RagAnswer whose source_ids are (None,), not a tuple of str, one for each context.",
        ),
        (
            {"contexts": ("a",), "source_ids": ("1", "2")},
            "ask() returned a RagAnswer whose source_ids are ('1', '2'), not a tuple of str, one for each context.",
        ),
        ({"extra": None}, "ask() returned a RagAnswer whose extra is None, not a mapping."),
        ({"latency_seconds": -1}, "ask() returned a RagAnswer whose latency_seconds is -1, not a number from 0."),
        (
            {"latency_seconds": math.nan},
            "ask() returned a RagAnswer whose latency_seconds is nan, not a number from 0.",
        ),
        (
            {"latency_seconds": math.inf},
            "ask() returned a RagAnswer whose latency_seconds is inf, not a number from 0.",
        ),
        ({"latency_seconds": "1"}, "ask() returned a RagAnswer whose latency_seconds is '1', not a number from 0."),
    ],
)
def test_an_answer_that_cannot_be_judged_is_an_endpoint_error(answer: Any, problem: str) -> None:
    given = RagAnswer(**{"text": "x", **answer}) if isinstance(answer, dict) else answer
    with pytest.raises(EndpointReplyError) as caught:
        asked(given)
    assert str(caught.value) == f"canned system: {problem}"
    assert caught.value.url == "canned system"


def test_what_is_quoted_of_a_wrong_answer_is_cut() -> None:
    wrong: Any = "x" * 1000
    with pytest.raises(EndpointReplyError) as caught:
        asked(RagAnswer(text="x", contexts=wrong))
    assert len(str(caught.value)) < 200


def test_a_client_that_names_no_endpoint_is_known_by_its_class() -> None:
    class Mine:
        async def ask(self, question: Question) -> RagAnswer:
            return RagAnswer(text=question.id)

    assert endpoint_name(Mine()).endswith("Mine")
    assert endpoint_name(Answers(None)) == "canned system"
    assert asyncio.run(ask(a_question("a"), Mine())).text == "a"


def test_coroutine_functions_run_in_the_loop_and_plain_ones_beside_it() -> None:
    async def coroutine(value: str) -> tuple[str, threading.Thread]:
        return value, threading.current_thread()

    def plain(value: str) -> tuple[str, threading.Thread]:
        return value, threading.current_thread()

    def passing_on(value: str) -> Any:
        return coroutine(value)

    here = threading.current_thread()
    assert asyncio.run(settled(coroutine, "a")) == ("a", here)
    assert asyncio.run(settled(partial(coroutine, "a"))) == ("a", here)
    assert asyncio.run(settled(passing_on, "a")) == ("a", here)
    value, thread = asyncio.run(settled(plain, "a"))
    assert (value, thread is here) == ("a", False)


class Tensor:
    """A tensor of several elements, as of PyTorch."""

    def __float__(self) -> float:
        raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")


@pytest.mark.parametrize("value", ["0.5", b"1", None, [], "x", 10**400, object(), 1j, Tensor()])
def test_what_is_no_number_is_in_no_range(value: object) -> None:
    assert math.isnan(number(value))
