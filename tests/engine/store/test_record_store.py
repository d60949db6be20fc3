"""One process has a question, all others wait for its record, and each record is used once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.store.fallback_store import FallbackStore
from pytest_ragcheck.engine.store.record_store import Claim, MemoryStore
from pytest_ragcheck.engine.store.sqlite_store import SqliteStore
from pytest_ragcheck.engine.store.store_file import FILE, rows
from pytest_ragcheck.errors import StoreError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.scores.score import Score
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, an_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_ragcheck.engine.store.record_store import Store

CLEAN = Redactor(["s3cret-value"])

CLAIM = """
import os, sys
from pathlib import Path
from pytest_ragcheck.engine.store.sqlite_store import SqliteStore
from pytest_ragcheck.redaction import Redactor
store = SqliteStore(Path(sys.argv[1]), Redactor())
print(*store.claim([f"k{n}" for n in range(int(sys.argv[2]))], int(sys.argv[3])), flush=True)
if "fork" in sys.argv and os.fork() == 0:
    os.close(1)
sys.stdin.read()
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path, CLEAN)
    yield store
    store.close()


@pytest.fixture(params=["memory", "disk", "fallback", "fallen"])
def store(request: pytest.FixtureRequest, disk: SqliteStore) -> Store:
    """Each kind of store; the fallen one has lost its file."""
    if request.param == "memory":
        return MemoryStore()
    if request.param == "disk":
        return disk
    fallback = FallbackStore(disk, alone=True, tell=lambda _: None)
    if request.param == "fallen":
        break_writing(disk)
    return fallback


def break_writing(store: SqliteStore) -> None:
    """As on a full disk: what is there can be read, and nothing can be written."""
    store._database.execute("pragma query_only = on")


class Other:
    """Another process with a claim in the store."""

    def __init__(self, folder: Path, *, asked: int, most: int, how: str = "") -> None:
        command = [sys.executable, "-c", CLAIM, str(folder), str(asked), str(most), how]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.claimed = self.process.stdout.readline().split()

    def __enter__(self) -> Other:
        return self

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.process.communicate()


def test_what_is_claimed_is_nobody_elses(store: Store) -> None:
    assert store.claim(["a", "b", "c"], 2) == ["a", "b"]
    assert store.claim(["a", "b", "c"], 5) == ["c"]
    assert store.take("a") is Claim.UNDER_WAY


def test_a_record_is_taken_once(store: Store) -> None:
    record = a_record("a", scores={"f1": Score.unscored("broken")})
    store.claim(["a"], 1)
    store.finish("a", record)
    assert store.take("a") == record
    assert store.take("a") is Claim.USED
    assert store.claim(["a"], 1) == []


def test_what_is_released_is_free_and_what_is_finished_stays(store: Store) -> None:
    store.claim(["a", "b"], 2)
    store.finish("b", a_record("b"))
    store.release(["a", "b"])
    assert store.take("a") is Claim.FREE
    assert store.claim(["a"], 1) == ["a"]
    assert store.take("b") == a_record("b")


def test_what_nobody_claimed_is_free(store: Store) -> None:
    assert store.take("a") is Claim.FREE


def test_claimed_and_finished_ones_count_until_they_are_taken(store: Store) -> None:
    assert store.untaken() == 0
    store.claim(["a", "b", "c"], 3)
    store.finish("a", a_record("a"))
    assert store.untaken() == 3
    store.take("a")
    assert store.untaken() == 2


def test_two_processes_share_the_questions(disk: SqliteStore, tmp_path: Path) -> None:
    assert disk.claim(["k1"], 1) == ["k1"]
    with Other(tmp_path, asked=4, most=2) as other:
        assert other.claimed == ["k0", "k2"]
        assert disk.claim(["k0", "k1", "k2", "k3"], 4) == ["k3"]
        assert disk.take("k0") is Claim.UNDER_WAY


@pytest.mark.parametrize("how", ["", "fork"])
def test_the_claims_of_a_killed_process_are_free_at_once(disk: SqliteStore, tmp_path: Path, how: str) -> None:
    with Other(tmp_path, asked=2, most=2, how=how) as other:
        assert disk.take("k0") is Claim.UNDER_WAY
        os.kill(other.process.pid, signal.SIGKILL)
        other.process.wait()
        assert disk.take("k0") is Claim.FREE
        assert disk.claim(["k0", "k1"], 2) == ["k0", "k1"]


def test_what_was_finished_before_a_kill_is_there(tmp_path: Path) -> None:
    first, second = SqliteStore(tmp_path, CLEAN), SqliteStore(tmp_path, CLEAN)
    first.claim(["a"], 1)
    first.finish("a", a_record("a"))
    assert second.take("a") == a_record("a")
    first.close()
    second.close()


def test_no_secret_is_written(disk: SqliteStore, tmp_path: Path) -> None:
    question = a_question("a", metadata={"note": "s3cret-value"})
    disk.keep("a", a_record(question=question))
    disk.close()
    assert not any(b"s3cret-value" in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    (row,) = rows(tmp_path)
    assert row["question"]["metadata"] == {"note": "[redacted]"}


class TestGoingOn:
    """An earlier run's records, in the next."""

    @pytest.fixture
    def left(self, tmp_path: Path) -> Iterator[SqliteStore]:
        """The store that a killed run left, with one question of each kind."""
        earlier = SqliteStore(tmp_path, CLEAN)
        earlier.claim(["finished", "taken", "failed", "errored", "claimed"], 5)
        earlier.finish("finished", a_record("finished"))
        earlier.finish("taken", a_record("taken"))
        earlier.take("taken")
        earlier.finish("failed", a_record("failed", verdict=Verdict.FAIL, reason="low"))
        earlier.finish("errored", an_error("errored"))
        earlier.keep("on demand", a_record("on demand"))
        earlier.close()
        store = SqliteStore(tmp_path, CLEAN)
        store.go_on()
        yield store
        store.close()

    def test_every_pass_and_fail_can_be_taken_once_more(self, left: SqliteStore) -> None:
        for name in ("finished", "taken", "failed", "on demand"):
            found = left.take(name)
            assert not isinstance(found, Claim)
            assert found.question.id == name
            assert left.take(name) is Claim.USED
        assert left.resumed == 4

    def test_errors_and_what_was_under_way_are_free(self, left: SqliteStore) -> None:
        assert left.claim(["errored", "claimed", "finished"], 3) == ["errored", "claimed"]
        assert left.resumed == 0

    def test_an_earlier_runs_records_hold_up_no_window(self, left: SqliteStore) -> None:
        assert left.untaken() == 0

    def test_a_question_that_nobody_claims_gets_its_earlier_record_once(self, left: SqliteStore) -> None:
        assert left.take_resumed("on demand") == a_record("on demand")
        assert left.take_resumed("on demand") is None
        left.keep("new", a_record("new"))
        assert left.take_resumed("new") is None
        assert left.take_resumed("unheard of") is None


class TestTrouble:
    """Files that cannot be used."""

    def test_a_file_that_is_no_database_is_told_with_its_path(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_bytes(b"no database" * 100)
        with pytest.raises(StoreError, match=r"store\.sqlite: file is not a database$") as caught:
            SqliteStore(tmp_path, CLEAN)
        assert caught.value.path == tmp_path / FILE

    def test_a_row_that_is_no_record_is_told(self, disk: SqliteStore) -> None:
        disk.keep("a", a_record("a"))
        disk._database.execute("update questions set record = '{}', taken = 0")
        with pytest.raises(StoreError, match="'question'"):
            disk.take("a")

    def test_damage_in_the_middle_is_found_before_the_run_goes_on(self, tmp_path: Path) -> None:
        store = SqliteStore(tmp_path, CLEAN)
        for number in range(200):
            store.keep(f"k{number}", a_record(f"k{number}"))
        store._database.execute("pragma wal_checkpoint(truncate)")
        store.close()
        content = bytearray((tmp_path / FILE).read_bytes())
        content[len(content) // 2 : len(content) // 2 + 9000] = b"\xff" * 9000
        (tmp_path / FILE).write_bytes(content)
        store = SqliteStore(tmp_path, CLEAN)
        with pytest.raises(StoreError):
            store.go_on()
        store.close()

    def test_it_is_told_once_and_the_run_goes_on_with_what_can_be_read(self, disk: SqliteStore) -> None:
        told: list[StoreError] = []
        store = FallbackStore(disk, alone=True, tell=told.append)
        store.claim(["a", "b"], 2)
        store.finish("a", a_record("a"))
        break_writing(disk)
        store.finish("b", a_record("b"))
        store.keep("c", a_record("c"))
        assert store.take("b") == a_record("b")
        assert store.take("a") == a_record("a")
        assert store.take("a") is Claim.USED
        assert store.claim(["d"], 1) == ["d"]
        assert (store.resumed, store.take_resumed("a")) == (0, None)
        assert [str(error).rpartition(": ")[2] for error in told] == ["attempt to write a readonly database"]
        assert store.claims_ahead

    def test_of_several_processes_each_asks_only_what_it_needs(self, disk: SqliteStore) -> None:
        store = FallbackStore(disk, alone=False, tell=lambda _: None)
        assert (store.claims_ahead, store.shared) == (True, True)
        break_writing(disk)
        assert store.claim(["a"], 1) == ["a"]
        assert not store.claims_ahead

    def test_others_take_over_what_it_cannot_tell_them(self, disk: SqliteStore, tmp_path: Path) -> None:
        other = SqliteStore(tmp_path, CLEAN)
        store = FallbackStore(disk, alone=False, tell=lambda _: None)
        store.claim(["a"], 1)
        assert other.take("a") is Claim.UNDER_WAY
        break_writing(disk)
        store.finish("a", a_record("a"))
        assert other.take("a") is Claim.FREE
        assert store.take("a") == a_record("a")
        other.close()

    def test_where_nothing_can_be_read_any_more_the_question_is_free(self, disk: SqliteStore) -> None:
        store = FallbackStore(disk, alone=True, tell=lambda _: None)
        store.claim(["a"], 1)
        store.finish("a", a_record("a"))
        disk._database.execute("drop table questions")
        assert store.take("a") is Claim.FREE
        store.close()

    def test_a_transaction_that_fails_leaves_nothing_behind(self, disk: SqliteStore) -> None:
        def half() -> None:
            with disk._transaction():
                disk._database.execute("insert into questions (key) values ('a')")
                disk._database.execute("no sql")

        with pytest.raises(sqlite3.OperationalError):
            half()
        assert disk.take("a") is Claim.FREE
