"""
The gate end to end, over the example server with a judge that is not sure.

    python -m tests.benchmarks.noisy_gate [RUNS]

A baseline is made; then the unchanged server is run RUNS times (20 without a number), each with another seed of the
judge's noise, and has to stay green nine times of ten; then the server is made worse in each of its ways, and has to
turn red where enough questions change. The noise is normal, with a deviation of 0.05 on each score.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
WORSE = {"number": True, "best": True, "invent": False}
"""By fault whether so many questions change that noise cannot be the cause; three alone are suspects."""

CONFTEST = """\
import os, random, runpy
from dataclasses import replace

import pytest

from pytest_ragcheck import JudgeIdentity
from pytest_ragcheck.judging.offline import OfflineJudge

rag_client = runpy.run_path({example!r})["rag_client"]


class UnsureJudge:
    identity = JudgeIdentity(kind="offline with noise", prompt_version="0.05")

    def __init__(self):
        self._sure = OfflineJudge()
        self._asked = {{}}

    async def judge(self, question, answer):
        said = await self._sure.judge(question, answer)
        times = self._asked[question.id] = self._asked.get(question.id, 0) + 1
        noise = random.Random(f"{{os.environ['SEED']}} {{question.id}} {{times}}")

        def unsure(score):
            return None if score is None else min(1.0, max(0.0, score + noise.gauss(0.0, 0.05)))

        return replace(
            said, answer_correctness=unsure(said.answer_correctness), groundedness=unsure(said.groundedness)
        )


@pytest.fixture(scope="session")
def rag_judge():
    return UnsureJudge()
"""


def main(arguments: list[str]) -> int:
    """Prints what came of each run; the exit status is 1 where it is not what it has to be."""
    runs = int(arguments[0]) if arguments else 20
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(CONFTEST.format(example=str(EXAMPLES / "first_run/conftest.py")))
        (folder / "pytest.ini").write_text("[pytest]\nrag_metrics = judge\n")
        shutil.copy(EXAMPLES / "first_run/ragcheck.rag.yaml", folder)
        status, said = run(folder, seed=0)
        print(f"baseline, seed 0: exit status {status}, {counts(said)}")
        shutil.copy(folder / "ragcheck-results/rag_predictions.json", folder / "baseline.json")
        gated = ("--rag-gate=regression", "--rag-baseline=baseline.json")
        green = []
        for seed in range(1, runs + 1):
            status, said = run(folder, *gated, seed=seed)
            green.append(status == 0)
            print(f"unchanged, seed {seed}: {'green' if green[-1] else 'RED'}, {counts(said)}", flush=True)
        print(f"green: {sum(green)} of {runs}")
        right = []
        for fault, is_clear in WORSE.items():
            status, said = run(folder, *gated, seed=1, fault=fault)
            right.append((status == 1) == is_clear)
            named = dict.fromkeys(re.findall(r"^ +([\w-]+): \w+ [\d.]+ ->", said, re.MULTILINE))
            print(
                f"worse by {fault}: {'red' if status else 'green, with suspects'}, {counts(said)}; {', '.join(named)}"
            )
            assert named, said
    return 0 if sum(green) >= 0.9 * runs and all(right) else 1


def run(folder: Path, *options: str, seed: int, fault: str = "") -> tuple[int, str]:
    """Exit status and output of one run."""
    environment = {**os.environ, "SEED": str(seed), "RAG_SERVER_FAULT": fault}
    if not fault:
        del environment["RAG_SERVER_FAULT"]
    command = [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "-p", "no:cacheprovider", *options]
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout


def counts(said: str) -> str:
    """The line of the counts."""
    return next(iter(re.findall(r"^\d+ PASS, .*$", said, re.MULTILINE)), said[-500:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
