"""Steps: what does not depend on each other is asked for at once."""

from __future__ import annotations

from pytest_ragcheck.summary.gate.procedure.gate_requests import AskAgain, Steps, drive, together


def asks(name: str, times: int) -> Steps[str]:
    for _ in range(times):
        (reply,) = yield (AskAgain(key=("set", name)),)
        assert reply is None
    return f"{name} {times}"


def test_the_results_come_in_the_order_of_the_steps() -> None:
    several = [asks("a", 2), asks("b", 0), asks("c", 1)]
    assert drive(together(several), lambda request: None) == ["a 2", "b 0", "c 1"]


def test_the_first_requests_of_all_are_one_batch() -> None:
    steps = together([asks("a", 2), asks("b", 1)])
    assert [request.key[1] for request in next(steps)] == ["a", "b"]
    assert [request.key[1] for request in steps.send([None, None])] == ["a"]


def test_nothing_to_do_is_no_batch() -> None:
    assert drive(together([asks("a", 0)]), lambda request: None) == ["a 0"]
