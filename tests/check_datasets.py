"""
The standard datasets over the example server, as a user runs them; tox has it as `test-eval` and `test-eval-full`:

    python tests/check_datasets.py            ragbench, 5 questions, end to end
    python tests/check_datasets.py --full     all six, in every tier that each supports

The files are small ones in the official shapes. The server's answers need not be right, so a FAIL is shown and does
not fail the check; an ERROR does, and so do metrics that are missing, that do not belong to a tier, or that are 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1]
FILES = PROJECT / "tests" / "questions" / "datasets" / "files"

RAGBENCH = {"ragbench:hagrid": "ragbench.jsonl"}
FULL = {
    "generation": {**RAGBENCH, "squad_v2": "squad_v2.json", "golden": "golden.json"},
    "end_to_end": {**RAGBENCH, "qasper": "qasper.json", "hotpotqa": "hotpotqa.json", "msmarco": "msmarco.json"},
}
"""By tier the files of the datasets that support it."""


def main() -> int:
    runs = FULL if "--full" in sys.argv[1:] else {"end_to_end": RAGBENCH}
    samples = () if "--full" in sys.argv[1:] else ("--rag-samples=5",)
    command = [sys.executable, "-m", "rag_server", "--port", "0", "--stop-with-stdin"]
    wrong = []
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            command, cwd=PROJECT / "examples", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server,
    ):
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        for tier, files in runs.items():
            wrong += check(tier, files, url, Path(folder) / tier, samples)
            if left := documents(url):
                wrong.append(f"{tier}: {len(left)} documents are left on the server")
        server.terminate()
    print("\n".join(wrong) or "all as it should be")
    return 1 if wrong else 0


def check(tier: str, files: dict[str, str], url: str, folder: Path, samples: tuple[str, ...]) -> list[str]:
    """Runs the datasets in the tier, and returns the problems of the results."""
    folder.mkdir()
    datasets = [f"--rag-dataset={name}={FILES / file}" for name, file in files.items()]
    options = [f"--rag-url={url}/query", f"--rag-tier={tier}", "--rag-judge=offline", "--tb=no", *samples]
    print(f"== {tier}: {', '.join(files)}", flush=True)
    ended = subprocess.run([sys.executable, "-m", "pytest", *datasets, *options], cwd=folder, check=False)
    if ended.returncode not in (0, 1):
        return [f"{tier}: pytest ended with status {ended.returncode}"]
    summary = json.loads((folder / "ragcheck-results" / "rag_summary.json").read_bytes())
    return [
        f"{tier}: {name}: {problem}"
        for name in files
        for problem in problems(tier, summary["datasets"].get(name, {"counts": {}, "overall_metrics": {}}))
    ]


def problems(tier: str, numbers: dict[str, Any]) -> list[str]:
    """The problems of a dataset's numbers."""
    counts, means = numbers["counts"], numbers["overall_metrics"]
    wanted = ["groundedness", "answer_correctness", *(["recall_at_5", "mrr"] if tier == "end_to_end" else [])]
    found = [f"{metric} is {means.get(metric, 'missing')}" for metric in wanted if not means.get(metric)]
    if tier == "generation" and "mrr" in means:
        found.append("retrieval was measured, and nothing was retrieved")
    if not counts or counts["error"] or counts["skipped"]:
        found.append(f"not every question came to a PASS or a FAIL: {counts}")
    return found


def documents(url: str) -> list[Any]:
    with urllib.request.urlopen(f"{url}/documents") as reply:
        listed: list[Any] = json.load(reply)
    return listed


if __name__ == "__main__":
    sys.exit(main())
