"""
Runs the gate end to end: pytest over the example server, with a noisy judge behind HTTP.

    python -m tests.benchmarks.noisy_gate [RUNS]

Five runs are saved into a baseline. The unchanged server is then run RUNS times (20 by default) under each comparing
gate: every run must be green and report no question as changed, and the judge's server counts its requests beyond the
preflight. Then the server gets each of its faults, and the run must be red. The judge is the offline one with normal
noise of standard deviation 0.05 on each score.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck import Question, RagAnswer
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.plugin.collecting.run_baseline import DRIFT_SAMPLE
from tests.servers.canary_judge import RIGHT, canary_of
from tests.servers.openai_server import OpenAIServer, completion, verdict_text

if TYPE_CHECKING:
    from tests.servers.openai_server import Reply, Request

EXAMPLES = Path(__file__).parents[2] / "examples"
SAVES = 5
NOISE = 0.05
WORSE = ("number", "best", "invent", "error=8")
"""The faults that an answer shows; slow answers are right, and task and delete are faults of uploads."""

CONFTEST = 'import runpy\n\nrag_client = runpy.run_path({example!r})["rag_client"]\n'


class NoisyJudge:
    """Replies as an OpenAI-compatible server, and counts the answers that it judges; the preflight's do not count."""

    def __init__(self) -> None:
        self.judged = 0
        self._noise = random.Random(1)
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        """Return the offline judge's scores with noise; of the answers of the preflight the right ones."""
        if name := canary_of(request):
            return completion(verdict_text(request.nonce, **RIGHT[name]))
        question = Question(
            dataset_name="noisy",
            id="q",
            question=request.block("question"),
            expected_answer=next(iter(request.block("expected_answers")), None),
        )
        answer = RagAnswer(text=request.block("answer"), contexts=tuple(request.block("contexts")))
        said = asyncio.run(OfflineJudge().judge(question, answer))
        with self._lock:
            self.judged += 1
            noise = [self._noise.gauss(0.0, NOISE) for _ in range(2)]
        scores = {
            name: min(1.0, max(0.0, score + by))
            for (name, score), by in zip(
                {"answer_correctness": said.answer_correctness, "groundedness": said.groundedness}.items(),
                noise,
                strict=True,
            )
            if score is not None
        }
        return completion(verdict_text(request.nonce, **scores, abstained=bool(said.abstained)))


def main(arguments: list[str]) -> int:
    """Prints the tables; the exit status is 1 if a number is not the expected one."""
    runs = int(arguments[0]) if arguments else 20
    judge = NoisyJudge()
    with tempfile.TemporaryDirectory() as name, OpenAIServer(judge) as server:
        folder = Path(name)
        (folder / "conftest.py").write_text(CONFTEST.format(example=str(EXAMPLES / "first_run/conftest.py")))
        (folder / "pytest.ini").write_text(
            "[pytest]\nrag_metrics = judge\nrag_judge = openai\nrag_judge_model = noisy\n"
            f"rag_judge_url = {server.url}\n"
        )
        shutil.copy(EXAMPLES / "first_run/ragcheck.rag.yaml", folder)
        for number in range(1, SAVES + 1):
            status, said = run(folder, "-p", "no:ragcheck-gate")
            print(f"saved {number}: exit status {status}, {counts(said)}", flush=True)
            save(folder, "history.json")
            if number == 1:
                save(folder, "one.json")
        print("| gate | saved runs | green | with a flip | answers judged |")
        print("| --- | --- | --- | --- | --- |")
        right = [
            is_quiet(folder, gate, baseline, runs, judge)
            for gate in ("confirmed", "regression")
            for baseline in ("one.json", "history.json")
        ]
        print("| made worse by | five runs known | one run known | questions named |")
        print("| --- | --- | --- | --- |")
        right += [is_noticed(folder, fault) for fault in WORSE]
    return 0 if all(right) else 1


def is_quiet(folder: Path, gate: str, baseline: str, runs: int, judge: NoisyJudge) -> bool:
    """Whether all runs of the unchanged server are green, without a flip, and judge the drift sample alone."""
    green, flips, judged = 0, 0, Counter[int]()
    for _ in range(runs):
        before = judge.judged
        status, said = run(folder, f"--rag-gate={gate}", f"--rag-baseline={baseline}")
        green += status == 0
        line = next(iter(re.findall(rf"^baseline {baseline}: (.*)$", said, re.MULTILINE)), said[-500:])
        flips += re.fullmatch(r"(\d+ still failing, )?\d+ as before", line) is None
        judged[judge.judged - before] += 1
    known = {"one.json": 1, "history.json": SAVES}[baseline]
    shown = ", ".join(f"{n} in {times} runs" for n, times in sorted(judged.items()))
    print(f"| {gate} | {known} | {green} of {runs} | {flips} | {shown} |", flush=True)
    return green == runs and not flips and set(judged) == {DRIFT_SAMPLE}


def is_noticed(folder: Path, fault: str) -> bool:
    """Whether a run of the server with the fault is red and names questions."""
    status, said = run(folder, "--rag-gate=regression", "--rag-baseline=history.json", fault=fault)
    alone, _ = run(folder, "--rag-gate=regression", "--rag-baseline=one.json", fault=fault)
    named = dict.fromkeys(re.findall(r"^ +([\w-]+): (?:\w+ [\d.]+ ->|http)", said, re.MULTILINE))
    shown = ", ".join([*list(named)[:4], *([f"{len(named) - 4} more"] if len(named) > 4 else [])])
    colours = {0: "green", 1: "red"}
    print(f"| {fault} | {colours[status]} | {colours[alone]} | {shown} |", flush=True)
    return status == 1 and bool(named)


def save(folder: Path, name: str) -> None:
    """Saves the last run into the baseline."""
    command = [sys.executable, "-c", "import sys; from pytest_ragcheck.cli import main; sys.exit(main())"]
    subprocess.run([*command, "baseline", "save", "-o", name], cwd=folder, check=True, capture_output=True)


def run(folder: Path, *options: str, fault: str = "") -> tuple[int, str]:
    """Exit status and output of one run."""
    environment = {**os.environ, "OPENAI_API_KEY": "none", "RAG_SERVER_FAULT": fault}
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
