"""
What the plugin costs a pytest run without questions: `python -m tests.benchmarks.guest [PAIRS] [PYTEST OPTION...]`.

The same run with the plugin and without it, in turn; the figures are user + system CPU seconds of whole process trees.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = "import pytest\n\n@pytest.mark.parametrize('i', range(50))\ndef test_nothing(i):\n    pass\n"


def cpu_seconds(folder: Path, *options: str) -> float:
    """CPU seconds of one pytest run, its workers included."""
    before = os.times()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Prints the medians and the median of the differences pair by pair."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    options = sys.argv[2:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_nothing.py").write_text(TESTS)
        cpu_seconds(folder, *options)
        without, with_plugin = [], []
        for _ in range(pairs):
            without.append(cpu_seconds(folder, *options, "-p", "no:ragcheck"))
            with_plugin.append(cpu_seconds(folder, *options))
    differences = [b - a for a, b in zip(without, with_plugin, strict=True)]
    print(f"without the plugin  {statistics.median(without) * 1000:7.1f} ms")
    print(f"with the plugin     {statistics.median(with_plugin) * 1000:7.1f} ms")
    print(f"difference          {statistics.median(differences) * 1000:7.1f} ms, median of {pairs} pairs")


if __name__ == "__main__":
    main()
