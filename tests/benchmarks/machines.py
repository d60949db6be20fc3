"""
Measures whether several processes shorten a run: `python -m tests.benchmarks.machines [--questions N] [--times N]`.

Rows: one process, 2 and 4 workers of pytest-xdist, and 4 shards side by side that are merged; each with contexts of
430 and of 800 characters. First an endpoint of 20 ms and a judge of 30 ms, where the CPU of the run is the limit, then
200 and 300 ms, where the judge is; 64 requests at once in all, so a shard has 16. Each figure is the median.

`merge` is the time of `ragcheck merge`. The server has a core of its own where there are several, so that four workers
need five cores. The dev environment has what other plugins need to start, too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.speed import load_server, pin, run

AT_ONCE = 64
SHARDS = 4
PAYLOADS = {"small": 430, "large": 800}
"""Characters of each of the five contexts."""

DELAYS = {"fast": (0.02, 0.03), "slow": (0.2, 0.3)}
"""Seconds of the endpoint and of the judge."""

WAYS = {"1 process": (), "-n 2": ("-n2",), "-n 4": ("-n4",), f"{SHARDS} shards": None}
"""The options of each row; None for shards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The time and CPU of a run."""

    seconds: float
    cpu_seconds: float
    merge_seconds: float = 0.0


def command(port: int, at_once: int, *options: str) -> list[str]:
    """A run against the server."""
    base = f"http://127.0.0.1:{port}"
    return [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest"),
        *(f"--rag-url={base}/query", "--rag-judge=openai", "--rag-judge-model=load", f"--rag-judge-url={base}/v1"),
        # The judge of this server gives every answer the same verdict.
        *(f"--rag-concurrency={at_once}", "--override-ini=rag_disable=preflight", *options),
    ]


def measure(questions: int, delay: str, payload: str, way: str) -> Taken:
    """One run in an empty folder, or one run in each of several."""
    rag, judge = DELAYS[delay]
    options = (f"--rag-seconds={rag}", f"--judge-seconds={judge}", f"--passage-characters={PAYLOADS[payload]}")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with load_server(*options) as port, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [json.dumps({"question": f"Q-{n:06} How long is the refund window?"}) for n in range(questions)]
        (folder / "load.rag.jsonl").write_text("\n".join(lines))
        given = WAYS[way]
        taken = (
            _shards(folder, port, environment)
            if given is None
            else _process(folder, command(port, AT_ONCE, *given), environment)
        )
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/figures") as reply:
            figures = json.load(reply)
    assert {found["requests"] for found in figures.values()} == {questions}, figures
    return taken


def _process(folder: Path, asked: list[str], environment: dict[str, str]) -> Taken:
    began = time.monotonic()
    usage = run(asked, folder, environment)
    return Taken(seconds=time.monotonic() - began, cpu_seconds=usage.ru_utime + usage.ru_stime)


def _shards(folder: Path, port: int, environment: dict[str, str]) -> Taken:
    """Run all shards at once, each in its own process, as on several machines; then merge them."""
    before, began = os.times(), time.monotonic()
    processes = []
    for part in range(1, SHARDS + 1):
        options = (f"--rag-shard={part}/{SHARDS}", f"--rag-output=part-{part}", "-p", "no:cacheprovider")
        process = subprocess.Popen(
            command(port, AT_ONCE // SHARDS, *options), cwd=folder, env=environment, stdout=subprocess.DEVNULL
        )
        pin(process.pid, first=False)
        processes.append(process)
    assert [process.wait() for process in processes] == [0] * SHARDS
    seconds, after = time.monotonic() - began, os.times()
    merge = [str(Path(sys.executable).with_name("ragcheck")), "merge", *(f"part-{n}" for n in range(1, SHARDS + 1))]
    began = time.monotonic()
    subprocess.run(merge, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return Taken(
        seconds=seconds,
        cpu_seconds=after.children_user + after.children_system - before.children_user - before.children_system,
        merge_seconds=time.monotonic() - began,
    )


def main() -> None:
    """Prints a line for each row; the runs of one table take turns, so that all see the same neighbours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--times", type=int, default=3, help="how often each row is run")
    given = parser.parse_args()
    for delay, (rag, judge) in DELAYS.items():
        ideal = given.questions * judge / AT_ONCE + rag
        for payload in PAYLOADS:
            print(f"\n{delay}, {payload}: {given.questions} questions, ideal {ideal:.1f} s")
            print("way          seconds  of the ideal  CPU ms a question  merge s")
            runs: dict[str, list[Taken]] = {way: [] for way in WAYS}
            for _ in range(given.times):
                for way, found in runs.items():
                    found.append(measure(given.questions, delay, payload, way))
            for way, found in runs.items():
                print(line(way, found, given.questions, ideal), flush=True)


def line(way: str, found: list[Taken], questions: int, ideal: float) -> str:
    """The medians of a row."""
    seconds, cpu, merge = (
        statistics.median(figures)
        for figures in zip(*((each.seconds, each.cpu_seconds, each.merge_seconds) for each in found), strict=True)
    )
    merged = f"{merge:.2f}" if merge else ""
    return f"{way:12} {seconds:7.2f} {seconds / ideal:13.2f} {cpu / questions * 1000:18.2f} {merged:>8}"


if __name__ == "__main__":
    main()
