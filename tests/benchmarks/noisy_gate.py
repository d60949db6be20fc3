"""
The gate end to end, over the example server with a judge that is not sure.

    python -m tests.benchmarks.noisy_gate [RUNS]

Five runs are saved into a baseline, as somebody does who keeps a history. Then the unchanged server is run RUNS times
(20 without a number), each with another seed of the judge's noise, and has to stay green nine times of ten. Then the
server is made worse in each of its ways that a question can tell, and the run has to turn red with the questions named;
beside it stands what a baseline of one run alone makes of the same. The noise is normal, with a deviation of 0.05 on
each score.
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
SAVES = 5
WORSE = ("number", "best", "invent", "error=8")
"""The faults that an answer shows; slow answers are right, and task and delete are faults of uploads."""

CONFTEST = """\
import os, random, runpy
from dataclasses import replace

import pytest

from pytest_ragcheck import JudgeIdentity
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge

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
    """Prints the tables; the exit status is 1 where something is not what it has to be."""
    runs = int(arguments[0]) if arguments else 20
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(CONFTEST.format(example=str(EXAMPLES / "first_run/conftest.py")))
        (folder / "pytest.ini").write_text("[pytest]\nrag_metrics = judge\n")
        shutil.copy(EXAMPLES / "first_run/ragcheck.rag.yaml", folder)
        for seed in range(-SAVES + 1, 1):
            status, said = run(folder, seed=seed)
            print(f"saved, seed {seed}: exit status {status}, {counts(said)}", flush=True)
            save(folder, "history.json")
        save(folder, "one.json")
        green = [is_green(folder, seed) for seed in range(1, runs + 1)]
        print(f"green: {sum(green)} of {runs}")
        print("| made worse by | five runs known | one run known | questions named |")
        print("| --- | --- | --- | --- |")
        right = [is_noticed(folder, fault) for fault in WORSE]
    return 0 if sum(green) >= 0.9 * runs and all(right) else 1


def is_green(folder: Path, seed: int) -> bool:
    """Whether a run of the unchanged server is green."""
    status, said = run(folder, *gated("history.json"), seed=seed)
    print(f"unchanged, seed {seed}: {'green' if status == 0 else 'RED'}, {counts(said)}", flush=True)
    return status == 0


def is_noticed(folder: Path, fault: str) -> bool:
    """Whether a run of the server with the fault is red and names questions."""
    status, said = run(folder, *gated("history.json"), seed=1, fault=fault)
    alone, _ = run(folder, *gated("one.json"), seed=1, fault=fault)
    named = dict.fromkeys(re.findall(r"^ +([\w-]+): (?:FAIL, asked|\w+ [\d.]+ ->|http)", said, re.MULTILINE))
    shown = ", ".join([*list(named)[:4], *([f"{len(named) - 4} more"] if len(named) > 4 else [])])
    colours = {0: "green", 1: "red"}
    print(f"| {fault} | {colours[status]} | {colours[alone]} | {shown} |", flush=True)
    return status == 1 and bool(named)


def gated(baseline: str) -> tuple[str, ...]:
    """The options of a run that is held against the baseline."""
    return "--rag-gate=regression", f"--rag-baseline={baseline}"


def save(folder: Path, name: str) -> None:
    """Saves the last run into the baseline."""
    command = [sys.executable, "-c", "import sys; from pytest_ragcheck.cli import main; sys.exit(main())"]
    command += ["baseline", "save", "ragcheck-results/rag_predictions.json", "-o", name]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


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
