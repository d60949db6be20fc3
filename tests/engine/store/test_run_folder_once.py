"""One process runs a step once in a run; the others get its result or its error."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.store.run_folder import Once
from pytest_ragcheck.errors import StepFailed
from pytest_ragcheck.redaction import Redactor

if TYPE_CHECKING:
    from pathlib import Path

CLEAN = Redactor(["s3cret-value"])

PROCESS = """
import asyncio, os, sys
from pathlib import Path
from pytest_ragcheck.engine.store.run_folder import Once
from pytest_ragcheck.errors import StepFailed
from pytest_ragcheck.redaction import Redactor

folder, what = Path(sys.argv[1]), sys.argv[2]

async def step():
    with (folder / "done.txt").open("a") as log:
        log.write(f"{os.getpid()}\\n")
    if what == "dies":
        os._exit(9)
    await asyncio.sleep(0.05)
    if what == "fails":
        raise OSError("the index is empty")
    return "ready"

try:
    print(asyncio.run(Once(folder, Redactor()).do("ingestion", step)))
except StepFailed as error:
    print(f"{error.name}: {error}")
"""


def processes(folder: Path, *whats: str) -> list[str]:
    """The output of each of these processes, which run at the same time."""
    running = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(folder), what], stdout=subprocess.PIPE, text=True)
        for what in whats
    ]
    return [process.communicate(timeout=60)[0].strip() for process in running]


def done_in(folder: Path) -> list[str]:
    return (folder / "done.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("what", "said"), [("works", "ready"), ("fails", "ingestion: the index is empty")])
def test_one_of_several_processes_does_it_and_all_hear_what_it_came_to(tmp_path: Path, what: str, said: str) -> None:
    assert processes(tmp_path, what, what, what) == [said] * 3
    assert len(done_in(tmp_path)) == 1


def test_a_process_that_dies_over_it_leaves_it_to_the_next(tmp_path: Path) -> None:
    assert processes(tmp_path, "dies") == [""]
    assert processes(tmp_path, "works") == ["ready"]
    assert len(done_in(tmp_path)) == 2


def test_in_one_process_too_it_is_done_once(tmp_path: Path) -> None:
    done = []

    async def step() -> str:
        done.append(1)
        await asyncio.sleep(0)
        return "ready"

    async def scenario() -> list[str]:
        once = Once(tmp_path / "run", CLEAN)
        return await asyncio.gather(*(once.do("preflight", step) for _ in range(3)))

    assert asyncio.run(scenario()) == ["ready"] * 3
    assert len(done) == 1


@pytest.mark.parametrize(("come_to_it", "times"), [(True, 2), (False, 1)])
def test_what_was_undone_is_done_anew_for_the_next_caller(tmp_path: Path, come_to_it: bool, times: int) -> None:
    done = []

    async def step() -> str:
        done.append(1)
        return "ready"

    async def opposite() -> bool:
        # Another caller has to wait.
        asking.append(asyncio.ensure_future(once.do("documents", step)))
        await asyncio.sleep(0.05)
        assert not asking[0].done()
        return come_to_it

    async def scenario() -> list[str]:
        said = await once.do("documents", step)
        await once.undo("documents", opposite)
        return [said, await asking[0]]

    once = Once(tmp_path, CLEAN)
    asking: list[asyncio.Future[str]] = []
    assert asyncio.run(scenario()) == ["ready"] * 2
    assert len(done) == times


def test_steps_of_other_names_are_other_steps(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        once = Once(tmp_path, CLEAN)
        return [await once.do("a", lambda: said("1")), await once.do("b", lambda: said("2"))]

    assert asyncio.run(scenario()) == ["1", "2"]


async def said(text: str) -> str:
    return text


async def breaks(error: Exception) -> str:
    raise error


def test_the_error_of_a_step_that_failed_is_raised_each_time(tmp_path: Path) -> None:
    once = Once(tmp_path, CLEAN)
    for _ in range(2):
        with pytest.raises(StepFailed, match=r"^no rights for \[redacted\]$") as caught:
            asyncio.run(once.do("ingestion", lambda: breaks(OSError("no rights for s3cret-value"))))
        assert caught.value.name == "ingestion"


def test_an_error_without_a_text_is_reported_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"^ingestion: ZeroDivisionError$"):
        asyncio.run(Once(tmp_path, CLEAN).do("ingestion", lambda: breaks(ZeroDivisionError())))


def test_no_secret_is_written_down(tmp_path: Path) -> None:
    assert asyncio.run(Once(tmp_path, CLEAN).do("a", lambda: said("token s3cret-value"))) == "token [redacted]"
    written = json.loads((tmp_path / "steps" / "a.json").read_text(encoding="utf-8"))
    assert written == {"result": "token [redacted]"}
