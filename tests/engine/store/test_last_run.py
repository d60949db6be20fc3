"""The folder of a run: its first process creates it, and the next run resumes or removes it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.store.last_run import check_same, last_run, open_store
from pytest_ragcheck.engine.store.record_file import FILE, finished_keys
from pytest_ragcheck.engine.store.run_folder import STOP_FILE, stop, stop_reason
from pytest_ragcheck.errors import StoreError, UsageError
from pytest_ragcheck.redaction import Redactor
from tests.engine.store.other_process import OtherProcess, store_in
from tests.making import a_record, an_error

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.engine.store.last_run import RunStore
    from pytest_ragcheck.verdict.record import Record

SAME = {"threshold": "0.7", "top_k": "5"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "results" / ".ragcheck" / "rag"


def opened(home: Path, run_id: str, *, resume: bool = False, **changed: str) -> RunStore:
    return open_store(
        home,
        run_id,
        fingerprint={**SAME, **changed},
        redactor=Redactor(),
        resume=resume,
        alone=False,
        on_failure=lambda _: None,
    )


def taken(run: RunStore, name: str) -> Record | None:
    return asyncio.run(run.take(name))


def keep(run: RunStore, name: str, record: Record | None = None) -> None:
    asyncio.run(run.keep(name, a_record(name) if record is None else record))


def leave(home: Path, run_id: str, *names: str) -> Path:
    """A run that finished these questions and is over."""
    run = opened(home, run_id)
    for name in names:
        keep(run, name)
    run.file.close()
    return home / run_id


def runs(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir() if path.is_dir())


def test_all_processes_of_a_run_open_one_store(home: Path) -> None:
    run = opened(home, "1")
    with OtherProcess(home / "1") as other:
        other("claim", "a")
        other("finish", "a")
        later = opened(home, "1")
        assert runs(home) == ["1"]
        assert taken(later, "a") == a_record("a")
        later.file.close()
    run.file.close()


def test_it_stays_out_of_version_control(home: Path) -> None:
    leave(home, "1")
    assert (home.parent / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_new_run_takes_away_those_that_are_over(home: Path) -> None:
    leave(home, "1", "a")
    leave(home, "2", "a")
    assert runs(home) == ["2"]


def test_a_run_that_is_going_on_is_left_alone(home: Path) -> None:
    with OtherProcess(leave(home, "1", "a")) as other:
        leave(home, "2", "a")
        assert runs(home) == ["1", "2"]
        last = last_run(home)
        assert last is not None
        assert last.folder.name == "2"
        other.kill()
        leave(home, "3", "a")
        assert runs(home) == ["3"]


@pytest.mark.parametrize("name", ["1", "2"])
def test_a_run_that_is_going_on_is_not_resumed(home: Path, name: str) -> None:
    folder = leave(home, "1", "a")
    with OtherProcess(folder):
        run = opened(home, "2", resume=True)
        assert taken(run, "a") is None
        run.file.close()
    assert (home / name / FILE).exists()


def test_a_run_resumes_the_last_one_that_has_ended(home: Path) -> None:
    leave(home, "1", "a")
    run = opened(home, "2", resume=True)
    assert taken(run, "a") == a_record("a")
    run.file.close()
    assert runs(home) == ["2"]


def test_without_the_option_it_does_not(home: Path) -> None:
    leave(home, "1", "a")
    run = opened(home, "2")
    assert taken(run, "a") is None
    run.file.close()


def test_a_resumed_run_can_be_resumed_again(home: Path) -> None:
    leave(home, "1", "a")
    second = opened(home, "2", resume=True)
    keep(second, "b")
    stop(home / "2", "Ctrl-C")
    second.file.close()
    third = opened(home, "3", resume=True)
    assert [taken(third, name) for name in "ab"] == [a_record("a"), a_record("b")]
    assert stop_reason(home / "3") is None
    third.file.close()


def test_a_resumed_run_began_when_its_first_answers_came(home: Path) -> None:
    folder = leave(home, "1", "a")
    said = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (folder / "run.json").write_text(json.dumps({**said, "began": "2026-01-01T00:00:00+00:00"}), encoding="utf-8")
    opened(home, "2", resume=True).file.close()
    last = last_run(home)
    assert last is not None
    assert (last.folder.name, last.began) == ("2", "2026-01-01T00:00:00+00:00")


def test_with_nothing_to_go_on_with_it_begins_anew(home: Path) -> None:
    assert last_run(home) is None
    run = opened(home, "1", resume=True)
    assert taken(run, "a") is None
    run.file.close()


def test_another_run_is_not_resumed(home: Path) -> None:
    leave(home, "1", "a")
    with pytest.raises(UsageError) as caught:
        opened(home, "2", resume=True, threshold="0.8", judge='"offline"')
    last = last_run(home)
    assert last is not None
    assert str(caught.value) == (
        f"--rag-resume: the last run, of {last.began}, was another "
        '(judge: null -> "offline"; threshold: 0.7 -> 0.8).\n'
        "Use the same settings, or leave --rag-resume out to ask every question."
    )
    assert runs(home) == ["1"]
    check_same(last, SAME)
    check_same(None, SAME)


def test_the_finished_questions_of_a_run_that_is_over(home: Path) -> None:
    folder = leave(home, "1", "a", "b")
    run = opened(home, "1")
    keep(run, "c", an_error("c"))
    asyncio.run(run.claim(["d"], 1))
    run.file.close()
    assert sorted(finished_keys(folder)) == ["a", "b"]
    (folder / FILE).unlink()
    with pytest.raises(StoreError, match=r"store\.sqlite: unable to open database file$"):
        finished_keys(folder)


def rewritten(folder: Path, *statements: str) -> None:
    """The store of a run as another version of the package would have left it."""
    database = sqlite3.connect(folder / FILE)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


@pytest.mark.parametrize("layout", [0, 2])
def test_a_run_that_another_version_wrote_is_not_resumed_and_stays(home: Path, layout: int) -> None:
    folder = leave(home, "1", "a")
    rewritten(folder, "alter table questions drop column verdict", f"pragma user_version = {layout}")
    with pytest.raises(UsageError) as caught:
        opened(home, "2", resume=True)
    began = json.loads((folder / "run.json").read_text(encoding="utf-8"))["began"]
    assert str(caught.value) == (
        f"--rag-resume: the last run, of {began}, was written by another version of pytest-ragcheck "
        f"(the layout of its store is {layout}, that of this version 1).\n"
        "Resume it with the version that wrote it, or leave --rag-resume out to ask every question."
    )
    assert runs(home) == ["1"]
    with pytest.raises(StoreError, match=rf"another version .* wrote it \(its layout is {layout}, that of this"):
        store_in(folder)


def test_a_store_that_had_no_table_yet_is_of_any_version(home: Path) -> None:
    folder = leave(home, "1")
    rewritten(folder, "drop table questions", "pragma user_version = 0")
    run = opened(home, "2", resume=True)
    assert (run.file.damaged, taken(run, "a")) == ("", None)
    run.file.close()


@pytest.mark.parametrize("content", ["", "{}", "[]"])
def test_a_run_without_a_readable_file_is_not_the_last_run(home: Path, content: str) -> None:
    folder = leave(home, "1", "a")
    (folder / "run.json").write_text(content, encoding="utf-8")
    assert last_run(home) is None


def test_a_damaged_store_is_moved_aside_and_the_run_begins_anew(home: Path) -> None:
    folder = leave(home, "1", "a")
    (folder / FILE).write_bytes(b"no database" * 1000)
    run = opened(home, "2", resume=True)
    assert run.file.damaged.endswith("store.sqlite: file is not a database. It was moved to damaged-store.sqlite.")
    assert taken(run, "a") is None
    keep(run, "a")
    assert (home / "2" / "damaged-store.sqlite").read_bytes().startswith(b"no database")
    run.file.close()
    assert json.loads((home / "2" / "run.json").read_text(encoding="utf-8"))["fingerprint"] == SAME


def test_a_store_whose_middle_is_damaged_is_moved_aside_too(home: Path) -> None:
    folder = leave(home, "1", *(f"q{number}" for number in range(200)))
    content = bytearray((folder / FILE).read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    (folder / FILE).write_bytes(content)
    run = opened(home, "2", resume=True)
    assert "It was moved to damaged-store.sqlite." in run.file.damaged
    run.file.close()


def test_a_place_that_cannot_be_written_to_is_reported(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file", encoding="utf-8")
    home = tmp_path / "results" / ".ragcheck" / "rag"
    with pytest.raises(StoreError, match=rf"^{home}: Not a directory$"):
        opened(home, "1")


def test_a_store_that_cannot_be_made_is_reported(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "1").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreError, match=r"Not a directory: .*locks'$"):
        opened(home, "1")


def test_the_processes_of_a_run_hear_that_it_was_stopped(home: Path, tmp_path: Path) -> None:
    folder = leave(home, "1")
    assert stop_reason(folder) is None
    assert stop(folder, "Ctrl-C")
    assert not stop(folder, "no documents")
    assert stop_reason(folder) == "Ctrl-C"
    assert stop(tmp_path / "nowhere", "Ctrl-C")
    assert stop_reason(tmp_path / "nowhere") is None


def test_the_reason_is_read_when_it_is_written(home: Path) -> None:
    folder = leave(home, "1")
    with (folder / STOP_FILE).open("w", encoding="utf-8") as file:
        writing = threading.Timer(0.03, print, ["Ctrl-C"], {"file": file, "end": "", "flush": True})
        writing.start()
        assert stop_reason(folder) == "Ctrl-C"
        writing.join()


def test_a_run_that_was_stopped_on_a_full_disk_has_no_reason(home: Path) -> None:
    folder = leave(home, "1")
    (folder / STOP_FILE).touch()
    assert stop_reason(folder) == ""
