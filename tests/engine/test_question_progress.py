"""The requests of a question share one time limit, and the question's stage is known."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck import EndpointError, Judgement, RagAnswer, Settings, Verdict
from pytest_ragcheck.check import PreparedQuestion
from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.engine.question_progress import ProgressBoard
from pytest_ragcheck.metrics.metric import OwnMetric
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from tests.making import a_question

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record

ANSWER = RagAnswer(text="30 days", contexts=("30 days",))


@dataclass
class System:
    """A system and a judge that hang at a chosen stage."""

    hangs: str = ""
    refusals: int = 0
    began: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, question: Any) -> RagAnswer:
        if self.refusals:
            self.refusals -= 1
            raise EndpointError("busy", url="u", status=502)
        await self._perhaps("asked")
        return ANSWER

    async def judge(self, question: Any, answer: Any) -> Judgement:
        await self._perhaps("judged")
        return Judgement(answer_correctness=1.0, groundedness=1.0)

    async def _perhaps(self, stage: str) -> None:
        if self.hangs == stage:
            self.began.set()
            await asyncio.Event().wait()


async def check(
    system: System, board: ProgressBoard, name: str = "terms", *, seconds: float = 600, **rooms: Any
) -> Record:
    settings = Settings.of(timeout=seconds / 10)
    prepared = PreparedQuestion(question=a_question(name), client=system, judge=system, settings=settings)
    return await board.check(prepared, **rooms)


@pytest.mark.parametrize(
    ("system", "spent"),
    [
        (System(hangs="asked"), r"the endpoint had it for 0\.[2-9] s"),
        (System(hangs="judged"), r"the judge had it for 0\.[2-9] s"),
        (System(refusals=9), r"between repeats it waited 0\.[2-9] s, the last time after HTTP 502 from the endpoint"),
    ],
    ids=["the endpoint hangs", "the judge hangs", "repeats take too long"],
)
def test_a_question_whose_time_is_over_is_an_error_that_says_where_it_went(system: System, spent: str) -> None:
    record = asyncio.run(check(system, ProgressBoard(), seconds=0.2, asking=RequestLimiter(8, retries=9)))
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "question_timeout")
    first, _, advice = record.reason.partition("\n")
    assert re.fullmatch(rf"no verdict within 0\.2 s: {spent}", first)
    assert advice == "Check what takes so long there, or raise rag_timeout: the limit of a question is ten times that."
    assert record.judge is not None
    assert (record.endpoint, record.top_k) == ("System", 5)


def test_a_question_that_waits_its_turn_loses_no_time() -> None:
    async def scenario() -> Record:
        gate, courses = RequestLimiter(1), ProgressBoard()
        first = System(hangs="asked")
        hanging = asyncio.ensure_future(check(first, courses, "first", asking=gate))
        await first.began.wait()
        second = asyncio.ensure_future(check(System(), courses, "second", seconds=0.05, asking=gate))
        # Longer than its limit, without an effect.
        assert not (await asyncio.wait([second], timeout=0.2))[0]
        hanging.cancel()
        return await second

    assert asyncio.run(scenario()).verdict is Verdict.PASS


def test_a_limit_that_is_not_reached_leaves_the_record_as_it_is() -> None:
    assert asyncio.run(check(System(), ProgressBoard())).verdict is Verdict.PASS


def test_the_line_says_where_the_question_is_and_how_many_others_are_where() -> None:
    async def scenario() -> list[str]:
        courses, asking = ProgressBoard(), RequestLimiter(2)
        systems = [System(hangs="judged"), System(hangs="asked"), System(hangs="asked"), System()]
        names = ["judged", "asked", "too", "queued"]
        lines = [courses.line(a_question("terms"), to_go=4)]
        tasks = []
        for system, name in zip(systems, names, strict=True):
            tasks.append(asyncio.ensure_future(check(system, courses, name, asking=asking)))
            if system.hangs:
                await system.began.wait()
        await asyncio.sleep(0)
        lines += [courses.line(a_question(name), to_go=0) for name in ("judged", "asked", "queued")]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return lines

    counts = "(2 being asked, 1 being judged, 0 to go)"
    assert asyncio.run(scenario()) == [
        "waiting for terms: it has not begun (0 being asked, 0 being judged, 4 to go)",
        f"waiting for judged: the judge has had it for 0 s {counts}",
        f"waiting for asked: the endpoint has had it for 0 s {counts}",
        f"waiting for queued: it has waited its turn for 0 s {counts}",
    ]


def test_the_line_names_the_error_after_which_a_request_waits() -> None:
    async def scenario() -> str:
        courses = ProgressBoard()
        task = asyncio.ensure_future(check(System(refusals=9), courses, asking=RequestLimiter(8, retries=9)))
        await asyncio.sleep(0.05)
        line = courses.line(a_question("terms"), to_go=0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return line

    assert "terms: it has waited to be sent again for 0 s, after HTTP 502 from the endpoint (" in asyncio.run(
        scenario()
    )


def test_the_limit_holds_while_one_of_several_judgements_hangs() -> None:
    class Uneven(System):
        async def judge(self, question: Any, answer: Any) -> Judgement:
            self.refusals += 1  # here the number of judgements
            if self.refusals == 2:
                await asyncio.Event().wait()
            return Judgement(answer_correctness=1.0, groundedness=1.0)

    async def scenario() -> Record:
        system = Uneven()
        settings = Settings.of(timeout=0.01, judge_repeats=3)
        prepared = PreparedQuestion(question=a_question("terms"), client=system, judge=system, settings=settings)
        return await ProgressBoard().check(prepared)

    assert asyncio.run(scenario()).error_kind == "question_timeout"


def test_a_metric_that_hangs_is_not_taken_for_the_judge() -> None:
    async def helpful(question: Any, answer: Any) -> float:
        await asyncio.Event().wait()
        return 1.0

    async def scenario() -> tuple[str, Record]:
        board, system = ProgressBoard(), System()
        prepared = PreparedQuestion(
            question=a_question("terms"),
            client=system,
            judge=system,
            metrics=[OwnMetric(helpful)],
            settings=Settings.of(timeout=0.03),
        )
        checked = asyncio.ensure_future(board.check(prepared))
        await asyncio.sleep(0.1)
        return board.line(prepared.question, to_go=0), await checked

    line, record = asyncio.run(scenario())
    assert line == "waiting for terms: a metric has had it for 0 s (0 being asked, 1 being judged, 0 to go)"
    assert re.match(r"no verdict within 0\.3 s: a metric had it for 0\.[3-9] s\n", record.reason)


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_leak_is_a_fail_though_the_time_of_its_question_is_over(repeats: int) -> None:
    system = System(hangs="judged")
    settings = Settings.of(timeout=0.02, repeats=repeats)
    prepared = PreparedQuestion(
        question=a_question(must_not_mention=("30 days",)),
        client=system,
        judge=system,
        metrics=choose_metrics(settings, system),
        settings=settings,
    )
    record = asyncio.run(ProgressBoard().check(prepared))
    assert (record.verdict, record.answer, record.leaks) == (Verdict.FAIL, "30 days", True)
    assert f"no verdict within {0.2 * repeats:g} s: the judge had it for " in record.reason
