"""
Runs of 500 questions with faults: `python -m tests.benchmarks.faults [ROW...] [--questions N]`.

Every row is a run of pytest of its own, 16 at once, an endpoint that takes 200 ms and a judge that takes 300 ms. The
columns: what the questions should come to and what they came to (PASS/ERROR/not run), requests a question to
endpoint and judge, records lost (questions that the files do not account for), wall seconds, and of the ideal how many
times (the pipeline that keeps the judge full, over all processes of the row).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.faulty_server import Faults, FaultyServer, hits

RAG_SECONDS, JUDGE_SECONDS, AT_ONCE = 0.2, 0.3, 16

KILLED_WORKER = """
import os, signal

def pytest_runtest_setup(item):
    if item.name == "Q-000100":
        os.kill(os.getpid(), signal.SIGKILL)
"""

FULL_DISK = """
import resource, signal

def pytest_collection_finish(session):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, resource.RLIM_INFINITY))

def pytest_sessionfinish(session):
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of trouble."""

    says: str
    faults: Faults = field(default_factory=Faults)
    options: tuple[str, ...] = ()
    conftest: str = ""
    stop: int = 0
    """The signal that the whole run gets when a third of the questions are asked; 0: none."""

    resumes: bool = False
    blocked: bool = False
    """True if a file takes the place of the store's folder."""

    dead: int = 0
    """How many questions are ERRORs because their worker died."""

    at_once: int = AT_ONCE
    """How many the endpoint lets in."""


ROWS = {
    "nothing": Row(says="nothing goes wrong"),
    "500": Row(says="5 % of 500s, which are not repeated", faults=Faults(status_500=0.05)),
    "resets": Row(says="5 % resets", faults=Faults(reset=0.05)),
    "json": Row(says="5 % invalid judge JSON", faults=Faults(invalid_json=0.05)),
    "cap": Row(says="429 beyond 8 at once", faults=Faults(cap=8), at_once=8),
    "every-second": Row(says="503 for every second request", faults=Faults(every_second=True)),
    "hang": Row(says="one judge reply in 50 hangs", faults=Faults(hang=0.02), options=("-o", "rag_timeout=2")),
    "worker": Row(says="a worker of two killed", conftest=KILLED_WORKER, options=("-n2",), dead=1),
    "run": Row(says="kill -9 of the run, resumed", stop=signal.SIGKILL, resumes=True),
    "workers": Row(says="kill -9 with two workers, resumed", stop=signal.SIGKILL, resumes=True, options=("-n2",)),
    "ctrl-c": Row(says="Ctrl-C", stop=signal.SIGINT),
    "ctrl-c-n2": Row(says="Ctrl-C with two workers", stop=signal.SIGINT, options=("-n2",)),
    "term": Row(says="SIGTERM, resumed", stop=signal.SIGTERM, resumes=True),
    "disk": Row(says="full disk", conftest=FULL_DISK),
    "folder": Row(says="no folder for the store", blocked=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """The outcome of a run, by its files."""

    passed: int
    errors: int
    not_run: int
    lost: int

    def __str__(self) -> str:
        return f"{self.passed}/{self.errors}/{self.not_run}"


def names(questions: int) -> list[str]:
    """The questions' ids."""
    return [f"Q-{number:06}" for number in range(questions)]


def expected(row: Row, questions: int) -> str:
    """The expected outcomes; of a stopped run only that no question is lost."""
    if row.stop and not row.resumes:
        return "each reported"
    traces = [name.encode() for name in names(questions)]
    wrong = row.dead + sum(
        hits(row.faults.status_500, b"500", trace) or hits(row.faults.hang, b"hang", trace) for trace in traces
    )
    return f"{questions - wrong}/{wrong}/0"


def command(server: FaultyServer, row: Row) -> list[str]:
    """Pytest as the row runs it."""
    return [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
        f"--rag-url=http://127.0.0.1:{server.port}/query", f"--rag-judge-url=http://127.0.0.1:{server.port}/v1",
        "--rag-judge=openai", "--rag-judge-model=load", f"--rag-concurrency={AT_ONCE}", *row.options,
        "--override-ini=rag_disable=preflight",  # the judge of this server gives every answer the same verdict
    ]  # fmt: skip


def stopped(folder: Path, server: FaultyServer, row: Row, questions: int) -> str:
    """How long after the signal, which comes when a third of the questions are asked, what has ended."""
    with subprocess.Popen(
        command(server, row), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        while server.asked < questions // 3:
            time.sleep(0.005)
        began = time.monotonic()
        os.killpg(process.pid, row.stop)
        process.wait()
    ended, cancelled = time.monotonic() - began, max(0.0, server.wanted_until - began)
    return f"  after the signal {cancelled:.2f} s to the last request cancelled, {ended:.1f} s to the end of the run"


def came(folder: Path, questions: int) -> Came:
    """The outcomes in the files of the results' folder."""
    results = folder / "ragcheck-results"
    found = list(results.glob("*_summary.json"))
    if not found:
        return Came(passed=0, errors=0, not_run=0, lost=questions)
    summary = json.loads(found[0].read_bytes())
    rows = json.loads(found[0].with_name(found[0].name.replace("summary", "predictions")).read_bytes())
    counted = {row["question_id"] for part in ("predictions", "errors") for row in rows[part]}
    return Came(
        passed=summary["counts"]["pass"],
        errors=summary["counts"]["error"],
        not_run=summary["n_not_run"],
        lost=questions - len(counted) - summary["n_not_run"],
    )


def measure(row: Row, questions: int) -> str:
    """The row of the table."""
    with (
        tempfile.TemporaryDirectory() as name,
        FaultyServer(row.faults, rag_seconds=RAG_SECONDS, judge_seconds=JUDGE_SECONDS) as server,
    ):
        folder = Path(name)
        rows = [
            {"id": each, "question": f"{each} How long?", "expected_answer": "30 days"} for each in names(questions)
        ]
        (folder / "many.rag.json").write_text(json.dumps(rows), encoding="utf-8")
        if row.conftest:
            (folder / "conftest.py").write_text(row.conftest, encoding="utf-8")
        if row.blocked:
            (folder / "ragcheck-results").mkdir()
            (folder / "ragcheck-results" / ".ragcheck").write_text("a file", encoding="utf-8")
        ended = ""
        began = time.monotonic()
        if row.stop:
            ended = stopped(folder, server, row, questions)
        if not row.stop or row.resumes:
            resume = ["--rag-resume"] if row.resumes else []
            subprocess.run([*command(server, row), *resume], cwd=folder, check=False, stdout=subprocess.DEVNULL)
        wall = time.monotonic() - began
        result = came(folder, questions)
    slowest = max(JUDGE_SECONDS / AT_ONCE, RAG_SECONDS / row.at_once)
    ideal = questions * slowest + RAG_SECONDS
    rag, judge = (server.requests[side].total() / questions for side in ("rag", "judge"))
    return (
        f"{row.says:<38} {expected(row, questions):>11} {result!s:>11} {rag:6.3f} {judge:6.3f} {result.lost:5} "
        f"{wall:6.1f} {wall / ideal:6.2f}{ended}"
    )


def main() -> None:
    """Prints the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--questions", type=int, default=500)
    given = parser.parse_args()
    print(f"{'':<38} {'expected':>11} {'got':>11} {'rag':>6} {'judge':>6} {'lost':>5} {'wall s':>6} {'ideal':>6}")
    for name in given.rows or ROWS:
        print(measure(ROWS[name], given.questions), flush=True)


if __name__ == "__main__":
    main()
