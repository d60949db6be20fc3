"""One process claims a question, the others wait for its record, and each record is used once."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.store.record_file import FILE, RecordFile, forget_unused, rows
from pytest_ragcheck.engine.store.record_store import JournaledStore, MemoryStore, SharedStore
from pytest_ragcheck.errors import StoreError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.scores import Score
from pytest_ragcheck.verdict.verdict import Verdict
from tests.engine.store.other_process import OtherProcess, store_in
from tests.making import a_question, a_record, an_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator
    from pathlib import Path

    from pytest_ragcheck.engine.store.last_run import RunStore

    Store = MemoryStore | SharedStore


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SharedStore]:
    store = store_in(tmp_path)
    yield store
    store.file.close()


@pytest.fixture
def told() -> list[StoreError]:
    """The errors of the store."""
    return []


@pytest.fixture
def failing(tmp_path: Path, told: list[StoreError]) -> Iterator[SharedStore]:
    """A store of several processes whose file may fail."""
    store = SharedStore(RecordFile(tmp_path, Redactor(), on_failure=told.append))
    yield store
    store.file.close()


@pytest.fixture
def alone(tmp_path: Path, told: list[StoreError]) -> Iterator[JournaledStore]:
    """The store of a single process, whose file may fail."""
    store = JournaledStore(RecordFile(tmp_path, Redactor(), on_failure=told.append))
    yield store
    store.file.close()


@pytest.fixture(params=["memory", "disk", "failing", "alone", "alone and failing"])
def store(request: pytest.FixtureRequest) -> Store:
    """Each kind of store; the failing ones cannot write to their file."""
    if request.param == "memory":
        return MemoryStore()
    found: RunStore = request.getfixturevalue(request.param.partition(" ")[0])
    if request.param.endswith("failing"):
        break_writing(found)
    return found


def break_writing(store: RunStore) -> None:
    """As on a full disk: the file can be read and not written."""
    store.file._database.execute("pragma query_only = on")


def run(call: Awaitable[Any]) -> Any:
    async def awaited() -> Any:
        return await call

    return asyncio.run(awaited())


def test_a_claim_is_exclusive(store: Store) -> None:
    assert run(store.claim(["a", "b", "c"], 2)) == ["a", "b"]
    assert run(store.claim(["a", "b", "c"], 5)) == ["c"]
    assert run(store.take("a")) is None
    assert not run(store.is_used("a"))


def test_a_record_is_taken_once(store: Store) -> None:
    record = a_record("a", scores={"f1": Score.unscored("broken")})
    run(store.claim(["a"], 1))
    run(store.finish("a", record))
    assert not run(store.is_used("a"))
    assert run(store.take("a")) == record
    assert run(store.take("a")) is None
    assert run(store.is_used("a"))
    assert run(store.claim(["a"], 1)) == []


def test_what_is_released_is_free_and_what_is_finished_stays(store: Store) -> None:
    run(store.claim(["a", "b"], 2))
    run(store.finish("b", a_record("b")))
    for key in ("a", "b", "never claimed"):
        store.release(key)
    assert run(store.claim(["a", "b"], 2)) == ["a"]
    assert run(store.take("b")) == a_record("b")


@pytest.mark.parametrize("finished", [True, False])
def test_what_is_discarded_is_used_and_is_not_begun_again(store: Store, finished: bool) -> None:
    run(store.claim(["a"], 1))
    if finished:
        run(store.finish("a", a_record("a")))
    run(store.discard("a"))
    store.release("a")
    assert (run(store.take("a")), run(store.is_used("a"))) == (None, True)
    assert (run(store.claim(["a"], 1)), run(store.untaken())) == ([], 0)


def test_finished_ones_count_until_they_are_taken(store: Store) -> None:
    run(store.claim(["a", "b"], 2))
    assert run(store.untaken()) == 0
    run(store.finish("a", a_record("a")))
    assert run(store.untaken()) == 1
    run(store.take("a"))
    assert run(store.untaken()) == 0


def test_two_processes_share_the_questions_and_their_records(disk: SharedStore, tmp_path: Path) -> None:
    assert run(disk.claim(["k1"], 1)) == ["k1"]
    with OtherProcess(tmp_path) as other:
        assert other("claim", "k0", "k1", "k2") == "k0 k2"
        assert run(disk.claim(["k0", "k1", "k2", "k3"], 4)) == ["k3"]
        other("finish", "k0")
        run(disk.finish("k1", a_record("k1")))
        assert (other("claim", "k0", "k1"), run(disk.claim(["k0", "k1"], 2))) == ("", [])
        assert other("take", "k1", "k1") == "k1 -"
        assert (run(disk.take("k1")), run(disk.is_used("k1"))) == (None, True)
        assert run(disk.take("k0")) == a_record("k0")
        assert other("used", "k0", "k2") == "True False"


def test_the_claims_of_a_killed_process_are_free_at_once_and_its_records_stay(
    disk: SharedStore, tmp_path: Path
) -> None:
    with OtherProcess(tmp_path) as other:
        assert other("claim", "k0", "k1") == "k0 k1"
        other("finish", "k1")
        assert run(disk.claim(["k0"], 1)) == []
        other.kill()
        assert run(disk.claim(["k0", "k1"], 2)) == ["k0"]
    assert run(disk.take("k1")) == a_record("k1")


def test_a_question_that_a_process_began_and_did_not_finish_is_not_claimed_ahead_again(
    disk: SharedStore, tmp_path: Path
) -> None:
    with OtherProcess(tmp_path) as other:
        assert other("claim", "k0", "k1") == "k0 k1"
        other.kill()
    assert run(disk.claim_ahead(["k0", "k1", "k2"], 3)) == ["k2"]
    assert run(disk.claim(["k0"], 1)) == ["k0"]
    run(disk.finish("k0", a_record("k0")))
    assert (run(disk.untaken()), run(disk.has("k1"))) == (1, False)
    assert run(disk.take("k0")) == a_record("k0")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_of_a_process_neither_keeps_nor_frees_its_claims(disk: SharedStore, tmp_path: Path) -> None:
    assert run(disk.claim(["k0"], 1)) == ["k0"]
    if (child := os.fork()) == 0:
        os.close(disk.file.locks._file._descriptor)
        os._exit(0)
    os.waitpid(child, 0)
    with OtherProcess(tmp_path) as other:
        assert other("claim", "k0") == ""


def test_keys_that_share_a_lock_are_claimed_one_after_the_other(disk: SharedStore, tmp_path: Path) -> None:
    # Both have the CRC-32 4DDB0C25.
    one, two = "plumless", "buckeroo"
    assert run(disk.claim([one, two], 2)) == [one]
    run(disk.finish(one, a_record(one)))
    assert run(disk.claim([one, two], 2)) == [two]
    with OtherProcess(tmp_path) as other:
        assert other("claim", two) == ""


def test_no_secret_is_written(tmp_path: Path) -> None:
    file = RecordFile(tmp_path, Redactor(["s3cret-value"]), on_failure=lambda _: None)
    question = a_question("a", metadata={"note": "s3cret-value"})
    run(file.add("a", a_record(question=question), taken=True))
    file.close()
    assert not any(b"s3cret-value" in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    (row,) = rows(tmp_path)
    assert row["question"]["metadata"] == {"note": "[redacted]"}


class TestGoingOn:
    """An earlier run's records, in the next."""

    @pytest.fixture(params=["shared, then shared", "shared, then alone", "alone, then shared", "alone, then alone"])
    def left(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunStore]:
        """The store that a killed run left, with one question of each kind."""
        before, _, after = request.param.partition(", then ")
        kinds: dict[str, type[RunStore]] = {"shared": SharedStore, "alone": JournaledStore}
        earlier = kinds[before](store_in(tmp_path).file)
        run(earlier.claim(["finished", "taken", "failed", "errored", "claimed", "discarded"], 6))
        run(earlier.finish("finished", a_record("finished")))
        run(earlier.finish("taken", a_record("taken")))
        run(earlier.take("taken"))
        run(earlier.finish("failed", a_record("failed", verdict=Verdict.FAIL, reason="low")))
        run(earlier.finish("errored", an_error("errored")))
        run(earlier.keep("on demand", a_record("on demand")))
        run(earlier.discard("discarded"))
        earlier.file.close()
        store = kinds[after](store_in(tmp_path, resumes=True).file)
        yield store
        store.file.close()

    def test_every_pass_and_fail_can_be_taken_once_more(self, left: RunStore) -> None:
        names = ("finished", "taken", "failed", "on demand")
        assert run(left.claim(names, 4)) == []
        for name in names:
            assert run(left.take(name)).question.id == name
            assert run(left.take(name)) is None
        assert left.resumed == 4

    def test_what_it_does_not_take_or_discard_can_be_forgotten(self, left: RunStore, tmp_path: Path) -> None:
        run(left.take("taken"))
        run(left.discard("failed"))
        run(left.keep("finished", a_record("finished")))
        forget_unused(tmp_path)
        assert [row["question"]["id"] for row in rows(tmp_path)] == ["taken", "failed", "finished"]

    def test_errors_and_what_was_under_way_are_free(self, left: RunStore) -> None:
        names = ["errored", "claimed", "discarded"]
        assert run(left.claim([*names, "finished"], 4)) == names
        assert left.resumed == 0

    def test_an_earlier_runs_records_hold_up_no_window(self, left: RunStore) -> None:
        assert run(left.untaken()) == 0

    def test_an_unclaimed_question_gets_its_earlier_record_once(self, left: RunStore) -> None:
        assert run(left.take_resumed("on demand")) == a_record("on demand")
        assert run(left.take_resumed("on demand")) is None
        run(left.keep("new", a_record("new")))
        assert run(left.take_resumed("new")) is None
        assert run(left.take_resumed("unheard of")) is None


class TestTrouble:
    """Files that cannot be used."""

    def test_a_file_that_is_no_database_is_reported_with_its_path(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_bytes(b"no database" * 100)
        with pytest.raises(StoreError, match=r"store\.sqlite: file is not a database$") as caught:
            store_in(tmp_path)
        assert caught.value.path == tmp_path / FILE

    def test_a_row_that_is_no_record_is_reported_and_the_question_can_be_asked(
        self, failing: SharedStore, told: list[StoreError]
    ) -> None:
        run(failing.keep("a", a_record("a")))
        failing.file._database.execute("update questions set record = '{}', taken = 0")
        assert run(failing.take("a")) is None
        assert [str(error).endswith("arguments: 'question' and 'verdict'") for error in told] == [True]
        assert run(failing.claim(["a"], 1)) == ["a"]

    def test_damage_in_the_middle_is_found_before_the_run_goes_on(self, tmp_path: Path) -> None:
        store = store_in(tmp_path)
        for number in range(200):
            run(store.keep(f"k{number}", a_record(f"k{number}")))
        store.file._database.execute("pragma wal_checkpoint(truncate)")
        store.file.close()
        content = bytearray((tmp_path / FILE).read_bytes())
        content[len(content) // 2 : len(content) // 2 + 9000] = b"\xff" * 9000
        (tmp_path / FILE).write_bytes(content)
        with pytest.raises(StoreError):
            store_in(tmp_path, resumes=True)

    def test_an_earlier_row_that_is_no_record_is_reported_and_asked_by_a_process_alone(
        self, tmp_path: Path, told: list[StoreError]
    ) -> None:
        earlier = store_in(tmp_path).file
        run(earlier.add("a", a_record("a"), taken=True))
        earlier._database.execute("update questions set record = '{}'")
        earlier.close()
        store = JournaledStore(RecordFile(tmp_path, Redactor(), on_failure=told.append, resumes=True))
        assert (run(store.take_resumed("a")), store.resumed) == (None, 0)
        assert [str(error).endswith("arguments: 'question' and 'verdict'") for error in told] == [True]
        assert run(store.claim(["a"], 1)) == ["a"]
        store.file.close()

    @pytest.mark.parametrize("kind", ["failing", "alone"])
    def test_it_is_reported_once_and_the_run_goes_on_with_what_can_be_read(
        self, request: pytest.FixtureRequest, kind: str, told: list[StoreError]
    ) -> None:
        failing: RunStore = request.getfixturevalue(kind)
        run(failing.claim(["a", "b"], 2))
        run(failing.finish("a", a_record("a")))
        run(failing.finish("taken before", a_record("taken before")))
        assert run(failing.take("taken before")) == a_record("taken before")
        break_writing(failing)
        run(failing.finish("b", a_record("b")))
        run(failing.keep("c", a_record("c")))
        assert run(failing.take("b")) == a_record("b")
        assert run(failing.take("a")) == a_record("a")
        assert run(failing.take("a")) is None
        assert run(failing.claim(["a", "taken before", "d"], 3)) == ["d"]
        assert (failing.resumed, run(failing.take_resumed("a"))) == (0, None)
        assert [str(error).rpartition(": ")[2] for error in told] == ["attempt to write a readonly database"]
        assert failing.claims_ahead == (kind == "alone")

    def test_of_several_processes_each_asks_only_what_it_needs(self, tmp_path: Path) -> None:
        store = SharedStore(RecordFile(tmp_path, Redactor(), on_failure=lambda _: None))
        assert (store.claims_ahead, store.shared) == (True, True)
        break_writing(store)
        run(store.keep("a", a_record("a")))
        assert not store.claims_ahead
        store.file.close()

    def test_others_take_over_what_it_cannot_tell_them(self, failing: SharedStore, tmp_path: Path) -> None:
        run(failing.claim(["a"], 1))
        with OtherProcess(tmp_path) as other:
            assert other("claim", "a") == ""
            break_writing(failing)
            run(failing.finish("a", a_record("a")))
            assert other("claim", "a") == "a"
        assert run(failing.take("a")) == a_record("a")

    def test_where_nothing_can_be_read_any_more_the_question_is_free(self, tmp_path: Path) -> None:
        store = SharedStore(RecordFile(tmp_path, Redactor(), on_failure=lambda _: None))
        run(store.claim(["a"], 1))
        run(store.finish("a", a_record("a")))
        store.file._database.execute("drop table questions")
        assert run(store.take("a")) is None
        assert run(store.claim(["a"], 1)) == ["a"]
        store.file.close()

    def test_a_process_alone_needs_no_file_to_take_what_it_has_finished(self, alone: JournaledStore) -> None:
        run(alone.claim(["a"], 1))
        run(alone.finish("a", record := a_record("a")))
        alone.file._database.execute("drop table questions")
        assert run(alone.take("a")) is record
        assert run(alone.take("a")) is None

    def test_where_locks_fail_the_questions_are_asked_all_the_same(
        self, failing: SharedStore, told: list[StoreError], tmp_path: Path
    ) -> None:
        # A file that is open for reading only cannot be locked.
        os.dup2(os.open(tmp_path / FILE, os.O_RDONLY), failing.file.locks._file._descriptor)
        assert run(failing.claim(["a"], 1)) == ["a"]
        assert [str(error).rpartition(": ")[2] for error in told] == ["[Errno 9] Bad file descriptor"]
