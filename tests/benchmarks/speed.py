"""
Measures a run against the limit of endpoint and judge: `python -m tests.benchmarks.speed [ROW...] [--times N]`.

Rows: 200, 2000, tails (2,000 with lognormal waiting times, sigma 1), wide (2,000 at 64 at once), widest (10,000 at 64),
plain (200 in a sequential parametrized test); without any, all. `--passage-characters` is the length of each of five
contexts. Server and pytest each have a core of their own where there are two.

The endpoint takes 200 ms, the judge 300 ms. Ideal is the pipeline that keeps the judge full: the judge's seconds
divided by how many are asked at once, and the first answer before them. `served` is from the first request that
the server saw to its last reply, `total` the wall time of the pytest process, both over the ideal. A run before them
all has Python keep what it compiles, as after anybody's first run.

Other plugins of the environment take time to start, too: the figures are of one with this package alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.servers.load_server import PASSAGE_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN = """\
import json, os, re

import httpx
import openai
import pytest

QUESTIONS = [f"Q-{n:06} How long is the refund window?" for n in range(NUMBER)]
rag = httpx.Client(timeout=60)
judge = openai.OpenAI(base_url=os.environ["JUDGE"], api_key="none")


@pytest.mark.parametrize("question", QUESTIONS)
def test_question(question):
    answer = rag.post(os.environ["RAG"], json={"query": question, "top_k": 5}).json()
    prompt = f"=== BEGIN question {0:016x} ===\\n{question}\\n" + json.dumps(answer)
    reply = judge.chat.completions.create(model="load", messages=[{"role": "user", "content": prompt}])
    said = json.loads(reply.choices[0].message.content)
    assert said["answer_correctness"] >= 0.7
    assert said["groundedness"] >= 0.7
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured run."""

    questions: int
    at_once: int = 16
    sigma: float = 0.0
    plain: bool = False


ROWS = {
    "200": Row(questions=200),
    "2000": Row(questions=2000),
    "tails": Row(questions=2000, sigma=1.0),
    "wide": Row(questions=2000, at_once=64),
    "widest": Row(questions=10_000, at_once=64),
    "plain": Row(questions=200, plain=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The time and CPU of a run."""

    ideal_seconds: float
    before_seconds: float
    """Until the first request."""

    requests_seconds: float
    after_seconds: float
    """From the last reply on."""

    cpu_seconds: float
    memory_mib: float

    @property
    def whole_seconds(self) -> float:
        """From the start of the process to its end."""
        return self.before_seconds + self.requests_seconds + self.after_seconds


@contextlib.contextmanager
def load_server(*options: str) -> Iterator[int]:
    """The port of a running server."""
    command = [sys.executable, "-m", "tests.servers.load_server", *options]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True) as server:
        pin(server.pid, first=True)
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def pin(pid: int, *, first: bool) -> None:
    """Gives the process the first of this one's cores, or all others; does nothing where there is but one."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(pid, cores[:1] if first else cores[1:])


def measure(row: Row, folder: Path, passage_characters: int) -> Measured:
    """One run of pytest in the folder, which is empty."""
    options = ["--sigma", str(row.sigma), "--passage-characters", str(passage_characters)]
    with load_server(*options) as port:
        base = f"http://127.0.0.1:{port}"
        if row.plain:
            (folder / "test_plain.py").write_text(PLAIN.replace("NUMBER", str(row.questions)))
            arguments = []
        else:
            lines = [{"question": f"Q-{n:06} How long is the refund window?"} for n in range(row.questions)]
            (folder / "load.rag.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            arguments = [
                f"--rag-url={base}/query",
                "--rag-judge=openai",
                "--rag-judge-model=load",
                f"--rag-judge-url={base}/v1",
                f"--rag-concurrency={row.at_once}",
                # The judge of this server gives every answer the same verdict.
                "--override-ini=rag_disable=preflight",
            ]
        environment = {**os.environ, "RAG": f"{base}/query", "JUDGE": f"{base}/v1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", *arguments]
        began = time.monotonic()
        usage = run(command, folder, environment)
        ended = time.monotonic()
        with urllib.request.urlopen(f"{base}/figures") as reply:
            figures: dict[str, Any] = json.load(reply)
    rag, judge = figures["/query"], figures["/v1/chat/completions"]
    for found in (rag, judge):
        assert found["requests"] == row.questions, f"{found['requests']} requests for {row.questions} questions"
    return Measured(
        ideal_seconds=judge["seconds"] / row.at_once + rag["seconds"] / row.questions,
        # The server's clock is that of the machine.
        before_seconds=rag["first"] - began,
        requests_seconds=judge["last"] - rag["first"],
        after_seconds=ended - judge["last"],
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        memory_mib=usage.ru_maxrss / 1024,
    )


def run(command: list[str], folder: Path, environment: dict[str, str] | None) -> Any:
    """The resources that a command took, which has to end well."""
    output = folder / "output.txt"
    with output.open("w") as file:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT)
        pin(process.pid, first=False)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, output.read_text()[-2000:]
    return usage


def main() -> None:
    """Prints a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--times", type=int, default=1, help="how often each row is run")
    parser.add_argument("--passage-characters", type=int, default=PASSAGE_CHARACTERS, help="of each of five contexts")
    given = parser.parse_args()
    unknown = set(given.rows) - set(ROWS)
    if unknown:
        parser.error(f"no row is called {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    with tempfile.TemporaryDirectory() as folder:
        measure(Row(questions=16), Path(folder), given.passage_characters)
    print("row     ideal s    served  total    seconds before, served, after    CPU ms a question  most MiB")
    whole: dict[str, float] = {}
    for name in given.rows or ROWS:
        for _ in range(given.times):
            with tempfile.TemporaryDirectory() as folder:
                measured = measure(ROWS[name], Path(folder), given.passage_characters)
            print(line(name, measured), flush=True)
            whole[name] = min(measured.whole_seconds, whole.get(name, measured.whole_seconds))
    if {"plain", "200"} <= whole.keys():
        print(f"200 questions: {whole['plain'] / whole['200']:.1f} times as fast as one after another")


def line(name: str, m: Measured) -> str:
    """A run as a line of the table."""
    return (
        f"{name:6} {m.ideal_seconds:8.2f} {m.requests_seconds / m.ideal_seconds:9.3f} "
        f"{m.whole_seconds / m.ideal_seconds:7.3f} {m.before_seconds:14.2f} {m.requests_seconds:9.2f} "
        f"{m.after_seconds:8.2f} {m.cpu_seconds / ROWS[name].questions * 1000:18.2f} {m.memory_mib:9.0f}"
    )


if __name__ == "__main__":
    main()
