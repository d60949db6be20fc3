"""Reads the result of one pytest run in a test's project."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

RESULTS = "ragcheck-results"


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """The verdicts, files and printed lines of a run; each result file is read on demand."""

    folder: Path
    """The folder of the project."""

    exit_status: int
    text: str
    """The text on stdout."""

    stderr: str
    asked: list[str]
    """The questions that the canned system was asked, in order."""

    @property
    def lines(self) -> list[str]:
        """The lines on stdout, without blanks at the ends."""
        return [line.strip() for line in self.text.splitlines()]

    @cached_property
    def outcomes(self) -> dict[str, int]:
        """The counts of pytest's last line, such as `{"passed": 2, "failed": 1}`."""
        (last,) = re.findall(r"(?m)^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", self.text)[-1:] or [""]
        counts = re.findall(r"(\d+) ([a-z]+)", last)
        return {re.sub(r"^(error|warning)s$", r"\1", word): int(number) for number, word in counts}

    @property
    def files(self) -> list[str]:
        """The names in the folder of the result files; empty if there is no such folder."""
        output = self.folder / RESULTS
        return sorted(path.name for path in output.iterdir() if path.name[0] != ".") if output.exists() else []

    def document(self, name: str) -> Any:
        """Return the content of a JSON result file."""
        return json.loads((self.folder / RESULTS / name).read_text(encoding="utf-8"))

    @property
    def predictions(self) -> Any:
        """The content of `rag_predictions.json`."""
        return self.document("rag_predictions.json")

    @property
    def summary(self) -> Any:
        """The content of `rag_summary.json`."""
        return self.document("rag_summary.json")

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of PASS, FAIL, ERROR and skipped questions in the summary."""
        counts: dict[str, int] = self.summary["counts"]
        return counts

    @property
    def verdicts(self) -> dict[str, str]:
        """PASS, FAIL or ERROR by question id, in the order of the file, the ERRORs last."""
        found = {row["question_id"]: row["verdict"] for row in self.predictions["predictions"]}
        return found | {row["question_id"]: "ERROR" for row in self.predictions["errors"]}

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """The measured metrics by question id; an ERROR has none."""
        return {row["question_id"]: row["metrics"] for row in self.predictions["predictions"]}

    @property
    def errors_by_id(self) -> dict[str, tuple[str, str]]:
        """Kind and message of each ERROR by question id."""
        return {row["question_id"]: (row["kind"], row["message"]) for row in self.predictions["errors"]}
