"""The limit that refusals lower and successes raise, step by step."""

from __future__ import annotations

import pytest

from pytest_ragcheck.engine.limits.adaptive_limit import AdaptiveLimit


class Server:
    """Notes successes and refusals one second after the other; each request began after all earlier ones."""

    def __init__(self) -> None:
        self.limit = AdaptiveLimit(most=16.0, allowed=16.0)
        self.now = 0.0

    def serve(self, times: int, *, running: int) -> None:
        for _ in range(times):
            self.now += 1
            self.limit.served(running, now=self.now)

    def refuse(self, *, running: int) -> None:
        self.now += 1
        self.limit.refused(running, began=self.now - 0.5, now=self.now)


def test_the_limit_returns_more_slowly_each_time_that_a_level_is_refused_again() -> None:
    server = Server()
    limit = server.limit
    server.refuse(running=9)
    assert (limit.number, limit.refused_at) == (8, 9)
    rounds = []
    for _ in range(5):
        served = 0
        while limit.number < 9:
            server.serve(1, running=8)
            served += 1
        rounds.append((limit.growth, served))
        server.refuse(running=9)
        assert limit.number == 8
    # A growth of 1/2 a round makes 1 more after two rounds of 8 to 9 requests, and so on.
    assert [growth for growth, _ in rounds] == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 16]
    assert [served for _, served in rounds] == [17, 34, 68, 136, 136]


def test_above_the_refused_level_the_limit_grows_with_each_success() -> None:
    server = Server()
    limit = server.limit
    server.refuse(running=5)
    # No more than half is taken away at once.
    assert (limit.number, limit.refused_at, limit.is_lowered) == (8, 9, True)
    server.serve(100, running=7)
    assert limit.allowed == 8, "more at once were not tried"
    while limit.allowed < 10:
        server.serve(1, running=limit.number)
    before = limit.allowed
    server.serve(1, running=limit.number)
    assert limit.allowed == before + 1
    server.serve(10, running=16)
    assert (limit.allowed, limit.is_lowered) == (16, False)


def test_refusals_that_a_lower_limit_does_not_help_against_have_no_effect_until_chance_does_not_explain_them() -> None:
    server = Server()
    limit = server.limit
    server.refuse(running=9)
    for number in (8, 7, 6):
        assert (limit.number, limit.share) == (number, 0.0)
        # A full round below the refused level succeeds, and then comes a refusal.
        server.serve(8, running=1)
        server.refuse(running=number)
    # Three refusals and 16 successes since the first of them.
    assert limit.number == 6
    assert limit.share == pytest.approx(3 / 19)
    server.serve(1, running=1)
    server.refuse(running=6)
    server.refuse(running=6)
    assert (limit.number, limit.is_chance) == (6, True)
    # (3 / 19)^3 is 0.004.
    server.refuse(running=6)
    assert (limit.number, limit.is_chance) == (5, False)
    # After 51 successes in a row, 8 refusals were to be expected.
    server.serve(50, running=1)
    assert limit.share > 0
    server.serve(1, running=1)
    assert limit.share == 0
