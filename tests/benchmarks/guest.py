"""
Measures the cost of the plugin in a pytest run: `python -m tests.benchmarks.guest [--pairs N] [PYTEST OPTION...]`.

Runs with the plugin and without it take turns. The first figures are of runs without questions: user + system CPU of
whole process trees. The others are of start-up, from the start of the process: a run without the plugin to its first
test, and a run of 200 questions to its first request; endpoint and judge are on this machine, and the preflight of the
judge is disabled.

Other plugins of the environment take time to start, too: the figures are of one with this package alone.
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
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.speed import load_server

if TYPE_CHECKING:
    from collections.abc import Callable

TESTS = "import pytest\n\n@pytest.mark.parametrize('i', range(50))\ndef test_nothing(i):\n    pass\n"
FIRST_TEST = "import time\n\ndef test_first():\n    open('began', 'w').write(repr(time.monotonic()))\n"
WITHOUT = ("-p", "no:ragcheck")


def pytest_in(folder: Path, *options: str) -> None:
    """Run pytest in the folder; it has to end well."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def cpu_seconds(*options: str) -> float:
    """CPU seconds of one pytest run without questions, its workers included."""
    before = os.times()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_nothing.py").write_text(TESTS)
        pytest_in(Path(folder), *options)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def seconds_to_first_test(*options: str) -> float:
    """Seconds from the start of a pytest run to its first test."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_first.py").write_text(FIRST_TEST)
        began = time.monotonic()
        pytest_in(Path(folder), *options)
        return float((Path(folder) / "began").read_text()) - began


def seconds_to_first_request(*options: str) -> float:
    """Seconds from the start of a pytest run of 200 questions to its first request."""
    with load_server("--rag-seconds=0.02", "--judge-seconds=0.02") as port, tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps({"question": f"Q-{n:06} How long is the refund window?"}) for n in range(200)]
        (Path(folder) / "load.rag.jsonl").write_text("\n".join(lines))
        base = f"http://127.0.0.1:{port}"
        judge = ("--rag-judge=openai", "--rag-judge-model=load", f"--rag-judge-url={base}/v1")
        began = time.monotonic()
        pytest_in(Path(folder), f"--rag-url={base}/query", *judge, "--override-ini=rag_disable=preflight", *options)
        with urllib.request.urlopen(f"{base}/figures") as reply:
            first: float = json.load(reply)["/query"]["first"]
        # The server's clock is that of the machine.
        return first - began


def compare(pairs: int, one: Callable[[], float], other: Callable[[], float]) -> tuple[float, float, float]:
    """The medians of both and of their differences, run in turn; the first pair does not count."""
    found = [(one(), other()) for _ in range(pairs + 1)][1:]
    ones, others = zip(*found, strict=True)
    return statistics.median(ones), statistics.median(others), statistics.median(b - a for a, b in found)


def main() -> None:
    """Prints the medians and the median of the differences pair by pair."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=15)
    given, options = parser.parse_known_args()
    cpu = compare(given.pairs, lambda: cpu_seconds(*WITHOUT, *options), lambda: cpu_seconds(*options))
    show("CPU of a run without the plugin", "CPU of a run with the plugin, without questions", cpu)
    start = compare(
        given.pairs, lambda: seconds_to_first_test(*WITHOUT, *options), lambda: seconds_to_first_request(*options)
    )
    show("start to the first test, without the plugin", "start to the first request, with questions", start)


def show(one: str, other: str, medians: tuple[float, float, float]) -> None:
    """Print a line for each of the three figures of `compare`."""
    for name, seconds in zip((one, other, "difference"), medians, strict=True):
        print(f"{name:48} {seconds * 1000:7.1f} ms")


if __name__ == "__main__":
    main()
