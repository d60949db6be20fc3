"""Jobs begin in their order, a limited number at once, and each record is handed out once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.conversation import Job
from pytest_ragcheck.engine.prefetch import PrefetchEnded, Prefetcher
from pytest_ragcheck.engine.store.record_store import MemoryStore
from tests.engine.store.other_process import OtherProcess, store_in
from tests.making import a_record

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from pathlib import Path

    from pytest_ragcheck.engine.store.record_store import SharedStore
    from pytest_ragcheck.verdict.record import Record


class Work:
    """Jobs 0, 1, 2, ... that note their beginning, and end at a signal of the test."""

    def __init__(self, number: int, *, ends: bool = True) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.may_end = asyncio.Event()
        self.cancelled = asyncio.Event()
        if ends:
            self.may_end.set()
        self.jobs = [Job(key=key, evaluate=partial(self._evaluate, key)) for key in range(number)]

    async def _evaluate(self, key: int) -> Any:
        self.begun.append(key)
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        self.ended.append(key)
        if key == 13:
            raise ZeroDivisionError
        return f"record {key}"


def beside(most: int) -> Callable[[int], int]:
    return lambda under_way: most - under_way


async def take(reader: Prefetcher, key: Hashable) -> Any:
    return await reader.take(key)


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_every_record_is_there_in_whatever_order_it_is_wanted() -> None:
    async def scenario() -> None:
        work = Work(10)
        reader = Prefetcher(room=beside(3))
        await reader.add(work.jobs)
        assert [await take(reader, key) for key in (0, 1, 9, 2, 8)] == [f"record {key}" for key in (0, 1, 9, 2, 8)]
        await settle()
        assert sorted(work.begun) == list(range(10))
        await reader.close()

    asyncio.run(scenario())


def test_a_record_is_handed_out_once_and_what_was_never_added_not_at_all() -> None:
    async def scenario() -> None:
        work = Work(2)
        reader = Prefetcher(room=beside(3))
        await reader.add(work.jobs)
        assert await take(reader, 0) == "record 0"
        assert await take(reader, 0) is None
        assert await take(reader, "other") is None
        await reader.close()

    asyncio.run(scenario())


def test_no_more_are_under_way_than_may_be() -> None:
    async def scenario() -> None:
        work = Work(10, ends=False)
        reader = Prefetcher(room=beside(4))
        await reader.add(work.jobs)
        await settle()
        assert work.begun == [0, 1, 2, 3]
        work.may_end.set()
        await settle()
        assert work.ended == list(range(10))
        await reader.close()

    asyncio.run(scenario())


def test_the_first_job_runs_before_the_last_one_has_begun() -> None:
    async def scenario() -> None:
        begun_before: list[int] = []

        async def first() -> Any:
            await asyncio.sleep(0)
            begun_before.append(len(work.begun))
            return "record"

        work = Work(30)
        reader = Prefetcher(room=beside(30))
        await reader.add([Job(key="first", evaluate=first), *work.jobs])
        await reader.take(29)
        assert begun_before[0] < 29
        await reader.close()

    asyncio.run(scenario())


def test_jobs_are_read_as_they_can_begin_or_their_records_are_wanted() -> None:
    async def scenario() -> None:
        work = Work(10, ends=False)
        jobs = iter(work.jobs)
        reader = Prefetcher(room=beside(2))
        await reader.add(jobs)
        await settle()
        assert work.begun == [0, 1]
        wanted = asyncio.create_task(take(reader, 4))
        await settle()
        assert work.begun == [0, 1, 4]
        assert len(list(jobs)) == 4  # job 5 was read to see where the unit of job 4 ends
        work.may_end.set()
        assert await wanted == "record 4"
        await settle()
        assert sorted(work.ended) == [0, 1, 2, 3, 4, 5]
        await reader.close()

    asyncio.run(scenario())


def test_a_finished_prefetcher_begins_a_job_only_for_its_item() -> None:
    async def scenario() -> None:
        work = Work(10)
        reader = Prefetcher(room=beside(0))
        await reader.add(work.jobs)
        await reader.finish(0)
        await reader.add(Turns(2).jobs)
        assert await take(reader, 6) == "record 6"
        await settle()
        assert work.ended == [6]
        await reader.close()

    asyncio.run(scenario())


def test_who_holds_a_prefetcher_waits_for_all_its_jobs() -> None:
    async def scenario() -> None:
        work = Work(10, ends=False)
        reader = Prefetcher(room=beside(3))
        await reader.add(work.jobs)
        held = asyncio.create_task(reader.hold())
        await settle()
        assert not held.done()
        work.may_end.set()
        await held
        assert work.ended == list(range(10))
        await reader.close()

    asyncio.run(scenario())


def test_a_held_prefetcher_with_a_limit_begins_jobs_only_for_their_items_until_it_resumes() -> None:
    async def scenario() -> None:
        work = Work(10, ends=False)
        reader = Prefetcher(room=beside(3), ahead=4)
        await reader.add(work.jobs)
        await settle()
        held = asyncio.create_task(reader.hold())
        await settle()
        assert not held.done()
        work.may_end.set()
        await held
        assert work.ended == [0, 1, 2]
        assert await take(reader, 7) == "record 7"
        await settle()
        assert work.begun == [0, 1, 2, 7]
        await reader.resume()
        await settle()
        assert work.ended == [0, 1, 2, 7, 3]
        await reader.close()

    asyncio.run(scenario())


def test_no_more_are_begun_and_not_handed_out_than_may_be() -> None:
    async def scenario() -> None:
        work = Work(10)
        reader = Prefetcher(room=beside(4), ahead=3)
        await reader.add(work.jobs)
        await settle()
        assert work.begun == [0, 1, 2]
        await take(reader, 0)
        await settle()
        assert work.begun == [0, 1, 2, 3]
        await reader.drop(1)
        await settle()
        assert work.begun == [0, 1, 2, 3, 4]
        assert [await take(reader, key) for key in range(2, 10)] == [f"record {key}" for key in range(2, 10)]
        await reader.close()

    asyncio.run(scenario())


def test_who_comes_before_the_turn_is_evaluated_at_once_and_only_once() -> None:
    async def scenario() -> None:
        work = Work(30)
        reader = Prefetcher(room=beside(2), ahead=2)
        await reader.add(work.jobs)
        await settle()
        assert await take(reader, 20) == "record 20"
        for key in (k for k in range(30) if k not in (20, 13)):
            assert await take(reader, key) == f"record {key}"
        assert work.begun.count(20) == 1
        await reader.close()

    asyncio.run(scenario())


def test_a_bug_in_a_job_is_raised_where_its_record_is_wanted() -> None:
    async def scenario() -> None:
        work = Work(14)
        reader = Prefetcher(room=beside(20))
        await reader.add(work.jobs)
        with pytest.raises(ZeroDivisionError):
            await take(reader, 13)
        assert await take(reader, 12) == "record 12"
        await reader.close()

    asyncio.run(scenario())


def test_jobs_that_come_later_are_begun_too() -> None:
    async def scenario() -> None:
        work = Work(4)
        reader = Prefetcher(room=beside(2))
        await reader.add(work.jobs[:2])
        await settle()
        await reader.add(work.jobs[2:])
        assert [await take(reader, key) for key in range(4)] == [f"record {key}" for key in range(4)]
        await reader.close()

    asyncio.run(scenario())


def test_closing_ends_what_is_under_way_and_begins_nothing_more() -> None:
    async def scenario() -> None:
        work = Work(10, ends=False)
        reader = Prefetcher(room=beside(2))
        await reader.add(work.jobs)
        await settle()
        await reader.close()
        work.may_end.set()
        await settle()
        assert (work.begun, work.ended) == ([0, 1], [])

    asyncio.run(scenario())


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_what_would_end_the_loop_reaches_its_taker(stop: type[BaseException]) -> None:
    async def stopping() -> Any:
        raise stop

    async def scenario() -> None:
        reader, work = Prefetcher(room=beside(3)), Work(1)
        await reader.add([Job(key="stopping", evaluate=stopping), *work.jobs])
        assert await take(reader, 0) == "record 0"
        with pytest.raises(stop):
            await reader.take("stopping")
        await reader.close()

    # The loop outlives it, or the run would end in the exception.
    asyncio.run(scenario())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SharedStore]:
    """The store of this process, in a run with another process."""
    store = store_in(tmp_path)
    yield store
    store.file.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[OtherProcess]:
    """Another process of the run."""
    with OtherProcess(tmp_path) as process:
        yield process


class Records(Work):
    """Work with keys q0, q1, q2, ... whose results are records that can be stored."""

    def __init__(self, number: int, *, ends: bool = True) -> None:
        super().__init__(number, ends=ends)
        self.jobs = [replace(job, key=f"q{job.key}") for job in self.jobs]

    async def _evaluate(self, key: int) -> Any:
        await super()._evaluate(key)
        return a_record(f"q{key}")


SHARE = """
import asyncio, sys
from functools import partial
from pathlib import Path
from pytest_ragcheck.engine.conversation import Job
from pytest_ragcheck.engine.prefetch import Prefetcher
from tests.engine.store.other_process import store_in
from tests.making import a_record

folder, own = Path(sys.argv[1]), int(sys.argv[2])

async def evaluate(key):
    with (folder / "begun.txt").open("a") as log:
        log.write(f"{own} {key}\\n")
    await asyncio.sleep(0.02)
    return a_record(key)

async def run():
    store = store_in(folder)
    reader = Prefetcher(room=lambda under_way: 2 - under_way, store=store)
    print("ready", flush=True)
    sys.stdin.readline()
    keys = [f"q{number}" for number in range(24)]
    await reader.add(Job(key=key, evaluate=partial(evaluate, key)) for key in keys)
    for key in keys[own::2]:
        assert await reader.take(key) == a_record(key)
    await reader.finish(10)
    await reader.close()
    store.file.close()

asyncio.run(run())
"""


def test_two_processes_do_each_job_once_and_each_gets_what_the_other_did(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SHARE, str(tmp_path), str(own)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for own in (0, 1)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        print("go", file=process.stdin, flush=True)
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0, 0]
    begun = [line.split() for line in (tmp_path / "begun.txt").read_text(encoding="utf-8").splitlines()]
    assert sorted(key for _, key in begun) == sorted(f"q{number}" for number in range(24))
    assert {own for own, _ in begun} == {"0", "1"}


@pytest.mark.parametrize("how", ["it gives up", "it dies"])
def test_who_waits_for_a_process_does_it_itself_when(store: SharedStore, other: OtherProcess, how: str) -> None:
    async def scenario() -> None:
        work = Records(1)
        reader = Prefetcher(room=beside(2), store=store)
        assert other("claim", "q0") == "q0"
        await reader.add(work.jobs)
        waiting = asyncio.create_task(take(reader, "q0"))
        await settle()
        assert work.begun == []
        if how == "it dies":
            other.kill()
        else:
            other("release", "q0")
        assert await waiting == a_record("q0")
        assert work.begun == [0]
        await reader.close()

    asyncio.run(scenario())


def test_what_another_process_took_over_is_not_the_error_that_it_was_here(
    store: SharedStore, other: OtherProcess
) -> None:
    async def scenario() -> None:
        async def refused() -> Record:
            raise ZeroDivisionError

        reader = Prefetcher(room=beside(2), store=store)
        await reader.add([Job(key=key, evaluate=refused) for key in ("q0", "q1", "q2")])
        await settle()
        assert other("claim", "q0", "q1") == "q0 q1"
        other("finish", "q0")
        assert await take(reader, "q0") == a_record("q0")
        wanted = asyncio.create_task(take(reader, "q1"))
        await settle()
        other("finish", "q1")
        assert await wanted == a_record("q1")
        with pytest.raises(ZeroDivisionError):
            await take(reader, "q2")
        assert other("claim", "q2") == "q2"
        await reader.close()

    asyncio.run(scenario())


def test_together_they_are_no_further_ahead_than_may_be(store: SharedStore, other: OtherProcess) -> None:
    async def scenario() -> None:
        work = Records(20)
        reader = Prefetcher(room=beside(4), ahead=3, store=store)
        other("claim", "q0", "q1")
        other("finish", "q0", "q1")
        await reader.add(work.jobs)
        await settle()
        assert work.begun == [2]
        # A record that one process takes makes room for another.
        assert other("take", "q0") == "q0"
        assert await take(reader, "q1") == a_record("q1")
        assert [await take(reader, key) for key in ("q3", "q4")] == [a_record("q3"), a_record("q4")]
        assert work.begun == [2, 3, 4, *range(5, 5 + len(work.begun) - 3)]
        await reader.close()

    asyncio.run(scenario())


def test_a_process_at_its_last_item_finishes_begun_questions_and_begins_no_more(
    store: SharedStore,
) -> None:
    async def scenario() -> None:
        work = Records(9, ends=False)
        reader = Prefetcher(room=beside(2), store=store)
        await reader.add(work.jobs)
        await settle()
        finishing = asyncio.create_task(reader.finish(10))
        await settle()
        assert not finishing.done()
        work.may_end.set()
        await finishing
        assert work.ended == [0, 1]
        assert await reader.take("q8") == a_record("q8")
        await reader.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("finishes", [True, False])
def test_a_stopped_run_does_not_go_on(store: SharedStore, other: OtherProcess, finishes: bool) -> None:
    async def scenario() -> None:
        work = Records(9, ends=False)
        stopped = asyncio.Event()
        reader = Prefetcher(room=beside(2), store=store, stopped=stopped.is_set)
        await reader.add(work.jobs)
        await settle()
        assert work.begun == [0, 1]
        stopped.set()
        if finishes:
            await reader.finish(10)
        else:
            await work.cancelled.wait()
            await settle()
        assert (work.begun, work.ended) == ([0, 1], [])
        # Its claims are free again.
        assert other("claim", "q0", "q1") == "q0 q1"
        await reader.close()

    asyncio.run(scenario())


def test_a_record_that_is_wanted_when_the_run_is_stopped_does_not_come_and_is_no_bug() -> None:
    async def scenario() -> None:
        work = Work(9, ends=False)
        stopped = asyncio.Event()
        reader = Prefetcher(room=beside(2), stopped=stopped.is_set)
        await reader.add(work.jobs)
        await settle()
        begun = asyncio.create_task(take(reader, 0))
        stopped.set()
        with pytest.raises(PrefetchEnded):
            await begun
        work.begun.clear()
        await reader.add([replace(work.jobs[0], key="late")])
        for key in ("late", 8):
            with pytest.raises(PrefetchEnded):
                await take(reader, key)
        await settle()
        assert work.begun == []
        await reader.close()

    asyncio.run(scenario())


def test_an_item_that_ends_while_it_waits_discards_the_question_for_all_processes(
    store: SharedStore, other: OtherProcess
) -> None:
    async def scenario() -> None:
        reader = Prefetcher(room=beside(2), store=store)
        other("claim", "q0")
        await reader.add(Records(1).jobs)
        waiting = asyncio.create_task(take(reader, "q0"))
        await settle()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert other("used", "q0") == "True"
        await reader.close()

    asyncio.run(scenario())


def test_a_question_that_another_process_discards_is_ended_for_good(store: SharedStore, other: OtherProcess) -> None:
    async def scenario() -> None:
        hanging = Records(2, ends=False)
        reader = Prefetcher(room=beside(2), store=store, stopped=lambda: False)
        await reader.add(hanging.jobs)
        await settle()
        wanted = asyncio.create_task(take(reader, "q0"))
        await settle()
        other("discard", "q0", "q1")
        assert await asyncio.wait_for(wanted, 10) is None
        await asyncio.wait_for(reader.finish(10), 10)
        assert hanging.ended == []
        # No process begins a hung job again.
        assert other("claim", "q0", "q1") == ""
        assert (await store.claim(["q0", "q1"], 2), await store.untaken()) == ([], 0)
        await reader.close()

    asyncio.run(scenario())


def test_questions_go_on_while_another_process_locks_the_store_for_2_s(store: SharedStore, other: OtherProcess) -> None:
    async def scenario() -> None:
        work = Records(30)
        reader = Prefetcher(room=beside(5), store=store, stopped=lambda: False)
        other("lock")
        await reader.add(work.jobs)
        wanted = asyncio.create_task(take(reader, "q0"))
        await asyncio.sleep(2)
        # Five are answered, and wait to store their records.
        assert (work.ended, wanted.done()) == ([0, 1, 2, 3, 4], False)
        assert other("unlock") == "unlock"
        assert await wanted == a_record("q0")
        assert [await take(reader, f"q{key}") for key in (1, 29)] == [a_record("q1"), a_record("q29")]
        await reader.close()

    asyncio.run(scenario())


def test_a_job_that_cancels_itself_is_a_bug_and_is_not_begun_again_and_again() -> None:
    async def evaluate() -> Any:
        raise asyncio.CancelledError

    async def scenario() -> None:
        reader = Prefetcher(room=beside(2))
        await reader.add([Job(key=0, evaluate=evaluate)])
        with pytest.raises(RuntimeError, match=r"^the client or the judge raised its own cancellation$"):
            await reader.take(0)
        await reader.close()

    asyncio.run(scenario())


def test_a_job_cancelled_before_its_first_step_is_evaluated_on_demand() -> None:
    async def run() -> None:
        work = Work(3)

        async def cancels_the_others() -> Any:
            for task in asyncio.all_tasks() - others - {asyncio.current_task()}:
                task.cancel()
            return "first"

        others = asyncio.all_tasks()
        reader = Prefetcher(room=beside(4))
        await reader.add([Job(key="first", evaluate=cancels_the_others), *work.jobs])
        taken: list[Any] = [await reader.take(key) for key in ("first", 0, 1, 2)]
        assert taken == ["first", "record 0", "record 1", "record 2"]
        await reader.close()

    async def bounded() -> None:
        await asyncio.wait_for(run(), 10)

    asyncio.run(bounded())


def test_a_record_that_cannot_be_stored_is_a_bug_where_it_is_wanted() -> None:
    async def scenario() -> None:
        reader = Prefetcher(room=beside(2), store=Refusing())
        await reader.add(Work(1).jobs)
        with pytest.raises(LookupError):
            await reader.take(0)
        await reader.close()

    asyncio.run(scenario())


class Refusing(MemoryStore):
    """A store of somebody's that has a bug."""

    async def finish(self, key: Hashable, record: Record) -> None:
        raise LookupError


class Turns:
    """A unit of jobs q0, q1, q2, ... each of which ends at a signal of the test."""

    def __init__(self, number: int, *, unit: str = "talk", first: int = 0) -> None:
        self.begun: list[int] = []
        self.running = 0
        self.most = 0
        self.may_end = [asyncio.Event() for _ in range(number)]
        self.jobs = [
            Job(key=f"q{first + key}", evaluate=partial(self._evaluate, key), unit=unit) for key in range(number)
        ]
        self._first = first

    def let_end(self, *keys: int) -> None:
        for key in keys or range(len(self.may_end)):
            self.may_end[key].set()

    async def _evaluate(self, key: int) -> Record:
        self.begun.append(key)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.may_end[key].wait()
        finally:
            self.running -= 1
        if key == 13:
            raise ZeroDivisionError
        return a_record(f"q{self._first + key}")


def test_the_jobs_of_a_unit_run_in_order_and_each_record_is_available_at_once() -> None:
    async def scenario() -> None:
        turns, others = Turns(3), Work(2)
        reader = Prefetcher(room=beside(5))
        await reader.add([*turns.jobs, *others.jobs])
        await settle()
        assert (turns.begun, others.begun) == ([0], [0, 1])
        turns.let_end(0)
        assert await take(reader, "q0") == a_record("q0")
        await settle()
        assert turns.begun == [0, 1]
        turns.let_end()
        assert [await take(reader, key) for key in ("q2", "q1")] == [a_record("q2"), a_record("q1")]
        assert (turns.begun, turns.most) == ([0, 1, 2], 1)
        assert await take(reader, "q1") is None
        await reader.close()

    asyncio.run(scenario())


def test_each_record_of_a_unit_counts_among_those_that_may_be_ahead() -> None:
    async def scenario() -> None:
        talks = [Turns(4, unit=f"talk {number}", first=4 * number) for number in range(5)]
        reader = Prefetcher(room=beside(5), ahead=8)
        await reader.add(job for turns in talks for job in turns.jobs)
        await settle()
        assert [bool(turns.begun) for turns in talks] == [True, True, False, False, False]
        for turns in talks:
            turns.let_end()
        await settle()
        assert [len(turns.begun) for turns in talks] == [4, 4, 0, 0, 0]
        taken = [await take(reader, f"q{key}") for key in range(20)]
        assert taken == [a_record(f"q{key}") for key in range(20)]
        await reader.close()

    asyncio.run(scenario())


def test_a_bug_in_one_job_of_a_unit_does_not_stop_those_after_it() -> None:
    async def scenario() -> None:
        turns = Turns(15)
        turns.let_end()
        reader = Prefetcher(room=beside(5))
        await reader.add(turns.jobs)
        assert await take(reader, "q14") == a_record("q14")
        with pytest.raises(ZeroDivisionError):
            await take(reader, "q13")
        assert turns.begun == list(range(15))
        await reader.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("at", ["before it began", "under way"])
def test_a_dropped_job_of_a_unit_leaves_the_others_to_be_made(at: str) -> None:
    async def scenario() -> None:
        turns = Turns(3)
        reader = Prefetcher(room=beside(5))
        await reader.add(turns.jobs)
        await settle()
        await reader.drop("q1" if at == "before it began" else "q0")
        turns.let_end()
        left = ["q0", "q2"] if at == "before it began" else ["q1", "q2"]
        assert [await take(reader, key) for key in left] == [a_record(key) for key in left]
        assert turns.begun == ([0, 2] if at == "before it began" else [0, 1, 2])
        await reader.close()

    asyncio.run(scenario())


def test_a_unit_belongs_to_one_process_and_is_taken_over_without_what_has_a_record(
    store: SharedStore, other: OtherProcess
) -> None:
    async def scenario() -> None:
        turns = Turns(3)
        turns.let_end()
        assert other("claim", "q2") == "q2"
        reader = Prefetcher(room=beside(5), store=store)
        await reader.add(turns.jobs)
        waiting = asyncio.create_task(take(reader, "q1"))
        await settle()
        other("finish", "q0")
        assert await take(reader, "q0") == a_record("q0")
        assert turns.begun == []
        other.kill()
        assert await waiting == a_record("q1")
        assert await take(reader, "q2") == a_record("q2")
        assert turns.begun == [1, 2]
        await reader.close()

    asyncio.run(scenario())


def test_a_job_in_the_middle_of_a_unit_may_be_the_only_one_without_a_record(
    store: SharedStore, other: OtherProcess
) -> None:
    async def scenario() -> None:
        turns = Turns(3)
        turns.let_end()
        for key in ("q0", "q2"):
            other("claim", key)
            other("finish", key)
        reader = Prefetcher(room=beside(5), store=store)
        await reader.add(turns.jobs)
        assert [await take(reader, f"q{key}") for key in range(3)] == [a_record(f"q{key}") for key in range(3)]
        assert turns.begun == [1]
        await reader.close()

    asyncio.run(scenario())


def test_closing_ends_a_unit_and_begins_none_of_its_jobs() -> None:
    async def scenario() -> None:
        turns = Turns(3)
        reader = Prefetcher(room=beside(5))
        await reader.add(turns.jobs)
        await settle()
        await reader.close()
        turns.let_end()
        await settle()
        assert turns.begun == [0]
        with pytest.raises(PrefetchEnded):
            await take(reader, "q1")

    asyncio.run(scenario())


def test_a_process_finishes_the_unit_of_its_last_item_for_the_others() -> None:
    async def scenario() -> None:
        turns, other_turns = Turns(2), Turns(1, unit="other", first=2)
        reader = Prefetcher(room=beside(5))
        await reader.add([*turns.jobs, *other_turns.jobs])
        turns.let_end(0)
        assert await take(reader, "q0") == a_record("q0")
        finishing = asyncio.create_task(reader.finish_unit("q0", 60))
        await settle()
        assert not finishing.done()
        turns.let_end()
        await finishing
        assert (turns.begun, turns.running, other_turns.running) == ([0, 1], 0, 1)
        await reader.close()

    asyncio.run(scenario())
