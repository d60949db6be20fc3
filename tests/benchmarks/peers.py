"""
Measures the same run by other programs: `python -m tests.benchmarks.peers [NAME...] [--questions N] [--times N]`.

Names: ragcheck, deepeval, inspect_ai, promptfoo; without any, all. Each is installed as its own documentation says, in
an environment of its own in a temporary folder; one that cannot be installed is reported and left out.

All ask the server of `tests.benchmarks.speed` in 200 ms, with five contexts of 800 characters, and its judge in
300 ms: one request to each for every question, counted, at most 16 at once. `ideal` keeps the judge full, as in
`tests.benchmarks.speed`; `total` is the wall time of the process over it, start-up included, after a run of 16
questions that nobody counts. Telemetry and caches of earlier replies are switched off.

deepeval evaluates answers that are there, so its script asks for them first, 16 at once. The judge's prompts differ:
each program sends its own, with question, answer and contexts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.speed import load_server, run

if TYPE_CHECKING:
    from collections.abc import Callable

AT_ONCE = 16
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "NO_PROXY": "127.0.0.1",
}

DEEPEVAL = """
import asyncio, os
import httpx2 as httpx
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import GEval
from deepeval.models import OpenAIModel
from deepeval.test_case import LLMTestCase, SingleTurnParams as P

BASE, NUMBER, AT_ONCE = os.environ["BASE"], int(os.environ["NUMBER"]), int(os.environ["AT_ONCE"])


async def ask_all():
    slots = asyncio.Semaphore(AT_ONCE)
    async with httpx.AsyncClient(timeout=60) as client:

        async def ask(question):
            async with slots:
                reply = (await client.post(f"{BASE}/query", json={"query": question, "top_k": 5})).json()
            return LLMTestCase(input=question, actual_output=reply["answer"], retrieval_context=reply["contexts"])

        return await asyncio.gather(*(ask(f"Q-{n:06} How long is the refund window?") for n in range(NUMBER)))


if __name__ == "__main__":
    metric = GEval(
        name="groundedness",
        evaluation_steps=["Check that the retrieval context supports the actual output, which answers the input."],
        evaluation_params=[P.INPUT, P.ACTUAL_OUTPUT, P.RETRIEVAL_CONTEXT],
        model=OpenAIModel(model="gpt-4o", api_key="none", base_url=f"{BASE}/v1"),
    )
    result = evaluate(
        asyncio.run(ask_all()),
        [metric],
        async_config=AsyncConfig(max_concurrent=AT_ONCE),
        display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
        cache_config=CacheConfig(write_cache=False),
    )
    assert len([each for each in result.test_results if each.success]) == NUMBER
"""

INSPECT = """
import os
import httpx
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import solver

BASE, NUMBER, AT_ONCE = os.environ["BASE"], int(os.environ["NUMBER"]), int(os.environ["AT_ONCE"])


@solver
def system():
    client = httpx.AsyncClient(timeout=60)

    async def solve(state, generate):
        reply = (await client.post(f"{BASE}/query", json={"query": state.input_text, "top_k": 5})).json()
        text = "\\n".join([reply["answer"], *reply["contexts"]])
        state.output = ModelOutput.from_content("system", text)
        return state

    return solve


if __name__ == "__main__":
    judge = get_model("openai/gpt-4o", base_url=f"{BASE}/v1", api_key="none")
    questions = [f"Q-{n:06} How long is the refund window?" for n in range(NUMBER)]
    samples = [Sample(input=question, target="30 days from delivery") for question in questions]
    task = Task(dataset=samples, solver=system(), scorer=model_graded_qa(model=judge))
    [log] = eval(task, model="mockllm/model", max_samples=AT_ONCE, max_connections=AT_ONCE, display="none")
    assert log.status == "success", log.error
    assert log.results.scores[0].metrics["accuracy"].value == 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A program that is installed in a folder, and its run in another."""

    install: Callable[[Path], str]
    """Installs it, and returns its version; raises `CalledProcessError` or `OSError`."""

    command: Callable[[Path, Path, int], list[str]]
    """The command for the folder of the installation, the folder of the run with `questions.jsonl`, and the port."""


def in_venv(package: str, *others: str) -> Callable[[Path], str]:
    """Installs packages in a virtual environment, and returns the version of the first."""

    def install(home: Path) -> str:
        said([sys.executable, "-m", "venv", str(home)])
        python = str(home / "bin" / "python")
        said([python, "-m", "pip", "install", "--quiet", *(others or (package,))])
        return said([python, "-c", f"from importlib.metadata import version; print(version({package!r}))"])

    return install


def by_npm(home: Path) -> str:
    """Installs promptfoo with npm."""
    home.mkdir()
    said(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(home), "promptfoo"])
    package = home / "node_modules" / "promptfoo" / "package.json"
    version: str = json.loads(package.read_text())["version"]
    return version


def said(command: list[str]) -> str:
    """The last line of a command's output."""
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().splitlines()
    return lines[-1] if lines else ""


def ragcheck(home: Path, folder: Path, port: int) -> list[str]:
    """A run of pytest."""
    shutil.copy(folder / "questions.jsonl", folder / "load.rag.jsonl")
    base = f"http://127.0.0.1:{port}"
    return [
        *(str(home / "bin" / "python"), "-m", "pytest", "-q", f"--rag-concurrency={AT_ONCE}"),
        *(f"--rag-url={base}/query", "--rag-judge=openai", "--rag-judge-model=load", f"--rag-judge-url={base}/v1"),
        # The judge of this server gives every answer the same verdict.
        "--override-ini=rag_disable=preflight",
    ]


def script(text: str) -> Callable[[Path, Path, int], list[str]]:
    """A run of a Python script."""

    def command(home: Path, folder: Path, port: int) -> list[str]:
        (folder / "script.py").write_text(text)
        return [str(home / "bin" / "python"), "script.py"]

    return command


def promptfoo(home: Path, folder: Path, port: int) -> list[str]:
    """A run of `promptfoo eval`, with an assertion of llm-rubric for each question."""
    base = f"http://127.0.0.1:{port}"
    body = {"query": "{{question}}", "top_k": 5}
    system = {
        "url": f"{base}/query",
        "method": "POST",
        "headers": {"Content-Type": "application/json"},
        "body": body,
        "transformResponse": "[json.answer, ...json.contexts].join('\\n')",
    }
    judge = {"id": "openai:chat:gpt-4o", "config": {"apiBaseUrl": f"{base}/v1", "apiKey": "none"}}
    rubric = {"type": "llm-rubric", "value": "The contexts support the answer to {{question}}", "provider": judge}
    lines = (folder / "questions.jsonl").read_text().splitlines()
    config = {
        "prompts": ["{{question}}"],
        "providers": [{"id": "http", "config": system}],
        "defaultTest": {"assert": [rubric]},
        "tests": [{"vars": json.loads(line)} for line in lines],
    }
    (folder / "promptfooconfig.json").write_text(json.dumps(config))
    options = ("--no-cache", "--no-table", "--no-progress-bar", "--output", "results.json")
    command = str(home / "node_modules" / ".bin" / "promptfoo")
    return [command, "eval", "-c", "promptfooconfig.json", "-j", str(AT_ONCE), *options]


PEERS = {
    "ragcheck": Peer(install=in_venv("pytest-ragcheck", "."), command=ragcheck),
    "deepeval": Peer(install=in_venv("deepeval"), command=script(DEEPEVAL)),
    "inspect_ai": Peer(install=in_venv("inspect_ai", "inspect_ai", "openai"), command=script(INSPECT)),
    "promptfoo": Peer(install=by_npm, command=promptfoo),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The time and CPU of a run."""

    ideal_seconds: float
    seconds: float
    cpu_seconds: float


def measure(peer: Peer, home: Path, questions: int) -> Taken:
    """One run in an empty folder."""
    with load_server("--passage-characters=800") as port, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [json.dumps({"question": f"Q-{n:06} How long is the refund window?"}) for n in range(questions)]
        (folder / "questions.jsonl").write_text("\n".join(lines))
        base = f"http://127.0.0.1:{port}"
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        # The files that a program keeps between runs go into the folder.
        environment |= {**QUIET, "HOME": str(folder), "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo")}
        environment |= {"BASE": base, "NUMBER": str(questions), "AT_ONCE": str(AT_ONCE)}
        command = peer.command(home, folder, port)
        began = time.monotonic()
        usage = run(command, folder, environment)
        seconds = time.monotonic() - began
        with urllib.request.urlopen(f"{base}/figures") as reply:
            figures = json.load(reply)
    for found in figures.values():
        assert found["requests"] == questions, f"{found['requests']} requests for {questions} questions"
        assert found["most_at_once"] <= AT_ONCE, f"{found['most_at_once']} requests at once"
    rag, judge = figures["/query"], figures["/v1/chat/completions"]
    return Taken(
        ideal_seconds=judge["seconds"] / AT_ONCE + rag["seconds"] / questions,
        seconds=seconds,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
    )


def installed(name: str, home: Path) -> str:
    """The version of the installed program, after a run that does not count; empty if it cannot be installed."""
    try:
        version = PEERS[name].install(home)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{name} cannot be installed: {getattr(error, 'stderr', None) or error}")
        return ""
    measure(PEERS[name], home, 16)
    return version


def main() -> None:
    """Installs the programs, and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--questions", type=int, action="append", help="200 and 2000 if left out")
    parser.add_argument("--times", type=int, default=1, help="how often each row is run")
    given = parser.parse_args()
    if unknown := set(given.names) - set(PEERS):
        parser.error(f"no program is called {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    with tempfile.TemporaryDirectory() as folder:
        versions = {name: version for name in given.names or PEERS if (version := installed(name, Path(folder) / name))}
        print("program                  questions   ideal s   seconds   total   CPU ms a question")
        for questions in given.questions or (200, 2000):
            runs: dict[str, list[Taken]] = {name: [] for name in versions}
            for _ in range(given.times):
                for name, found in runs.items():
                    found.append(measure(PEERS[name], Path(folder) / name, questions))
            for name, found in runs.items():
                print(line(f"{name} {versions[name]}", questions, found), flush=True)


def line(name: str, questions: int, found: list[Taken]) -> str:
    """The medians of a row."""
    ideal = found[0].ideal_seconds
    seconds = statistics.median(each.seconds for each in found)
    cpu = statistics.median(each.cpu_seconds for each in found)
    return f"{name:24} {questions:9} {ideal:9.1f} {seconds:9.1f} {seconds / ideal:7.2f} {cpu / questions * 1000:19.1f}"


if __name__ == "__main__":
    main()
