"""
Measures time and memory of large runs: `python -m tests.benchmarks.scale [QUESTIONS...]`, by default 1000 10000 50000.

The system is a function in the process, the judge the offline one, so that what is measured is the plugin. Beside
each run stands one of as many empty tests: what pytest itself takes for its items. Like any test with a client, they
have a fixture that uses one of session scope, for which pytest keeps 700 bytes a test until the end of the session.
Seconds are of CPU; `bytes` is the memory that a further question takes beyond a further empty test, its own texts
included.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.speed import run

CONFTEST = """\
import pytest
from pytest_ragcheck import RagClient

async def answer(query):
    return {"answer": f"30 days ({query}).", "contexts": [f"Refunds are possible within 30 days. {query}"]}

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""

EMPTY = """\
import pytest

@pytest.fixture(scope="session")
def client():
    return object()

@pytest.fixture
def question(request, client):
    return request.param

@pytest.mark.parametrize("question", [f"Question {n}" for n in range(NUMBER)], indirect=True)
def test_question(question):
    pass
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The time and memory of a run."""

    seconds: float
    memory_bytes: int


def questions(number: int, folder: Path) -> list[str]:
    """Write that number of questions into the folder, and return the options to run them."""
    rows = (
        {"id": f"q{n}", "question": f"How long is the refund window of order {n}?", "expected_answer": "30 days"}
        for n in range(number)
    )
    (folder / "many.rag.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "conftest.py").write_text(CONFTEST)
    return ["--rag-judge=offline"]


def empty_tests(number: int, folder: Path) -> list[str]:
    """Write that number of empty tests into the folder."""
    (folder / "test_empty.py").write_text(EMPTY.replace("NUMBER", str(number)))
    return []


def measure(options: list[str], folder: Path) -> Taken:
    """Runs pytest in the folder."""
    usage = run([sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", *options], folder, None)
    return Taken(seconds=usage.ru_utime + usage.ru_stime, memory_bytes=usage.ru_maxrss * 1024)


def main() -> None:
    """Prints a line for each number of questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("numbers", nargs="*", type=int, default=[1000, 10_000, 50_000])
    print("questions  seconds  ms each  MiB   empty tests: seconds  ms each  MiB   bytes a question beyond")
    before: tuple[int, int] | None = None
    for number in parser.parse_args().numbers:
        taken = []
        for make in (questions, empty_tests):
            with tempfile.TemporaryDirectory() as folder:
                taken.append(measure(make(number, Path(folder)), Path(folder)))
        ours, theirs = taken
        beyond = ours.memory_bytes - theirs.memory_bytes
        # The cost of a run without questions is in both of two lines.
        growth = f"{(beyond - before[1]) / (number - before[0]):.0f}" if before else "-"
        before = (number, beyond)
        columns = [f"{t.seconds:8.1f} {t.seconds / number * 1000:8.2f} {t.memory_bytes / 2**20:5.0f}" for t in taken]
        print(f"{number:9} {columns[0]}         {columns[1]}   {growth:>10}", flush=True)


if __name__ == "__main__":
    main()
