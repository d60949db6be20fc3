"""Jobs are begun in their order, so many at once, and each record is handed out once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.prefetch import Job, PrefetchEnded, Prefetcher
from pytest_ragcheck.engine.store.record_store import Claim, MemoryStore
from pytest_ragcheck.engine.store.sqlite_store import SqliteStore
from pytest_ragcheck.redaction import Redactor
from tests.making import a_record

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from pathlib import Path

    from pytest_ragcheck.verdict.record import Record


class Work:
    """Jobs 0, 1, 2, ... that note when they begin, and end when they are told."""

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
def test_what_would_end_the_loop_reaches_whoever_takes_it(stop: type[BaseException]) -> None:
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
def stores(tmp_path: Path) -> Iterator[list[SqliteStore]]:
    """The same store, opened by two processes of a run; here they are one."""
    opened = [SqliteStore(tmp_path, Redactor()) for _ in range(2)]
    yield opened
    for store in opened:
        store.close()


class Records(Work):
    """Work that comes to records that can be stored."""

    async def _evaluate(self, key: int) -> Any:
        await super()._evaluate(key)
        return a_record(f"q{key}")


def test_two_processes_do_each_job_once_and_each_gets_what_the_other_did(stores: list[SqliteStore]) -> None:
    async def scenario() -> None:
        works = [Records(13), Records(13)]
        readers = [Prefetcher(room=beside(2), store=store) for store in stores]
        for reader, work in zip(readers, works, strict=True):
            await reader.add(work.jobs)
        for key in range(13):
            record = await readers[key % 2].take(key)
            assert record == a_record(f"q{key}")
        assert sorted(works[0].begun + works[1].begun) == list(range(13))
        assert all(work.begun for work in works)
        assert await readers[0].take(1) is None, "the other has used it"
        for reader in readers:
            await reader.close()

    asyncio.run(scenario())


def test_who_waits_for_a_process_that_gives_up_does_it_itself(stores: list[SqliteStore]) -> None:
    async def scenario() -> None:
        works = [Records(1, ends=False), Records(1)]
        readers = [Prefetcher(room=beside(2), store=store) for store in stores]
        await readers[0].add(works[0].jobs)
        await settle()
        await readers[1].add(works[1].jobs)
        waiting = asyncio.create_task(take(readers[1], 0))
        await settle()
        assert works[1].begun == []
        await readers[0].close()
        assert await waiting == a_record("q0")
        await readers[1].close()

    asyncio.run(scenario())


def test_a_bug_elsewhere_is_met_here_too(stores: list[SqliteStore]) -> None:
    async def scenario() -> None:
        works = [Records(14), Records(14)]
        readers = [Prefetcher(room=beside(20), store=store) for store in stores]
        await readers[0].add(works[0].jobs)
        await settle()
        await readers[1].add(works[1].jobs)
        with pytest.raises(ZeroDivisionError):
            await readers[1].take(13)
        for reader in readers:
            await reader.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("when", ["done", "under way"])
def test_what_another_process_took_over_is_not_the_error_that_it_was_here(stores: list[SqliteStore], when: str) -> None:
    async def scenario() -> None:
        async def refused() -> Record:
            raise ZeroDivisionError

        readers, work = [Prefetcher(room=beside(1), store=store) for store in stores], Records(1, ends=when == "done")
        await readers[0].add([replace(work.jobs[0], evaluate=refused)])
        await settle()
        await readers[1].add(work.jobs)
        await settle()
        wanted = asyncio.create_task(take(readers[0], 0))
        await settle()
        work.may_end.set()
        assert await wanted == a_record("q0")
        for reader in readers:
            await reader.close()

    asyncio.run(scenario())


def test_together_they_are_no_further_ahead_than_may_be(stores: list[SqliteStore]) -> None:
    async def scenario() -> None:
        works = [Records(20), Records(20)]
        readers = [Prefetcher(room=beside(4), ahead=3, store=store) for store in stores]
        for reader, work in zip(readers, works, strict=True):
            await reader.add(work.jobs)
        await settle()
        assert sorted(works[0].begun + works[1].begun) == [0, 1, 2]
        # What one takes makes room for the other.
        assert await readers[0].take(0) == a_record("q0")
        assert [await readers[1].take(key) for key in (1, 2, 3)] == [a_record(f"q{key}") for key in (1, 2, 3)]
        for reader in readers:
            await reader.close()

    asyncio.run(scenario())


def test_a_process_whose_last_item_comes_ends_what_it_has_begun_for_the_others_and_begins_no_more(
    stores: list[SqliteStore],
) -> None:
    async def scenario() -> None:
        work = Records(9, ends=False)
        reader = Prefetcher(room=beside(2), store=stores[0])
        await reader.add(work.jobs)
        await settle()
        finishing = asyncio.create_task(reader.finish())
        await settle()
        assert not finishing.done()
        work.may_end.set()
        await finishing
        assert work.ended == [0, 1]
        assert await reader.take(8) == a_record("q8")
        await reader.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("finishes", [True, False])
def test_a_run_that_was_stopped_goes_on_for_nobody(stores: list[SqliteStore], finishes: bool) -> None:
    async def scenario() -> None:
        work = Records(9, ends=False)
        stopped = asyncio.Event()
        reader = Prefetcher(room=beside(2), store=stores[0], stopped=stopped.is_set)
        await reader.add(work.jobs)
        await settle()
        assert work.begun == [0, 1]
        stopped.set()
        if finishes:
            await reader.finish()
        else:
            await work.cancelled.wait()
        assert (work.begun, work.ended) == ([0, 1], [])
        # What it had claimed is anybody's again.
        assert stores[1].claim([0], 1) == [0]
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


def test_a_record_that_is_wanted_again_by_the_process_that_was_to_end_it_is_none(stores: list[SqliteStore]) -> None:
    async def scenario() -> None:
        hanging, other = Records(1, ends=False), Records(1)
        readers = [Prefetcher(room=beside(2), store=store, stopped=lambda: False) for store in stores]
        await readers[0].add([replace(hanging.jobs[0], key="q0")])
        await settle()
        await readers[1].add([replace(other.jobs[0], key="q0")])
        elsewhere = asyncio.create_task(take(readers[1], "q0"))
        await settle()
        here = asyncio.create_task(take(readers[0], "q0"))
        await settle()
        elsewhere.cancel()
        assert await asyncio.wait_for(here, 10) is None
        for reader in readers:
            await reader.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("how", ["its item ended", "it died"])
def test_what_the_process_that_wants_it_gave_up_is_ended_for_good(stores: list[SqliteStore], how: str) -> None:
    async def scenario() -> None:
        hanging, other = Records(1, ends=False), Records(1)
        readers = [Prefetcher(room=beside(2), store=store, stopped=lambda: False) for store in stores]
        await readers[0].add([replace(hanging.jobs[0], key="q0")])
        await settle()
        await readers[1].add([replace(other.jobs[0], key="q0")])
        waiting = asyncio.create_task(take(readers[1], "q0"))
        await settle()
        if how == "it died":
            stores[1].leave()
        else:
            waiting.cancel()
        await asyncio.wait_for(readers[0].finish(), 10)
        assert hanging.cancelled.is_set()
        waiting.cancel()
        # Nobody is to begin what has hung once.
        assert (stores[0].claim(["q0"], 1), stores[0].take("q0"), stores[0].untaken()) == ([], Claim.USED, 0)
        for reader in readers:
            await reader.close()

    asyncio.run(scenario())


def test_a_job_that_cancels_itself_is_a_bug_and_is_not_begun_again_and_again() -> None:
    async def evaluate() -> Any:
        raise asyncio.CancelledError

    async def scenario() -> None:
        reader = Prefetcher(room=beside(2))
        await reader.add([Job(key=0, evaluate=evaluate)])
        with pytest.raises(RuntimeError, match=r"^the client or the judge let its own cancellation out$"):
            await reader.take(0)
        await reader.close()

    asyncio.run(scenario())


def test_a_job_that_a_client_cancels_before_its_first_step_is_evaluated_when_it_is_wanted() -> None:
    async def run() -> None:
        work = Work(3)

        async def cancels_the_others() -> Any:
            for task in asyncio.all_tasks() - others - {asyncio.current_task()}:
                task.cancel()
            return "first"

        others = asyncio.all_tasks()
        reader = Prefetcher(room=beside(4))
        await reader.add([Job(key="first", evaluate=cancels_the_others), *work.jobs])
        taken = [await reader.take(key) for key in ("first", 0, 1, 2)]
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

    def finish(self, key: Hashable, record: Record) -> None:
        raise LookupError
