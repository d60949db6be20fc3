"""
Provides the public test harness for authors of metrics, judges and datasets.

Questions and canned replies go in; verdicts, files and printed lines come out. A conftest.py with `pytest_plugins =
["pytester", "pytest_ragcheck.testing"]` gives its tests the fixture `rag_project`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text

__all__ = ["CannedQuestion", "RagProject", "RunResult", "rag_project"]

RESULTS = "ragcheck-results"

# pytester unloads the modules that its runs import. A second import costs time, and breaks PyYAML and httpx, whose
# C part and error tables keep the classes of the first import.
for _module in ("yaml", "httpcore", "httpcore2"):
    with suppress(ImportError):
        import_module(_module)
for _found in walk_packages([str(Path(__file__).parents[1])], "pytest_ragcheck."):
    if not _found.name.startswith("pytest_ragcheck.testing"):
        import_module(_found.name)


@frozen
class CannedQuestion:
    """
    One question of a test, with the reply of the system and the scores of the judge.

    Authors of metrics, judges and datasets pass it to `RagProject.ask`.
    """

    id: str
    question: str
    answer: str = "The window is 30 days."
    """The answer of the system."""

    contexts: tuple[str, ...] = ("Refunds are possible for 30 days.",)
    """The texts that the system retrieved."""

    source_ids: tuple[str, ...] | None = None
    """The document ids of the contexts, in order; None if the system returns none."""

    answer_correctness: float | None = 1.0
    """The judge's score, 0..1; None if there is none."""

    groundedness: float | None = 1.0
    """The judge's score, 0..1; None if there is none."""

    error_message: str = ""
    """The weakness of the answer that the judge names."""

    abstained: bool | None = None
    """True if the judge finds that the system declined to answer."""

    unsupported_claims: tuple[str, ...] = ()
    """The claims that the judge finds in no context."""

    endpoint_error: str = ""
    """The message of the `EndpointError` that the system raises; empty if it answers."""

    judge_error: str = ""
    """The message of the `JudgeError` that the judge raises; empty if it judges."""

    entry: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the question in its file, such as `expected_answer`."""

    def but(self, **changes: Any) -> CannedQuestion:
        """Return a copy with other replies."""
        return replace(self, **changes)


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
        """The content of `rag_predictions.json`; of a partial run, of `rag.partial_predictions.json`."""
        return self.document(f"{self._agent}_predictions.json")

    @property
    def summary(self) -> Any:
        """The content of `rag_summary.json`; of a partial run, of `rag.partial_summary.json`."""
        return self.document(f"{self._agent}_summary.json")

    @property
    def _agent(self) -> str:
        # The files without "partial" are those of an earlier run.
        return "rag.partial" if "rag.partial_summary.json," in self.text else "rag"

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of PASS, FAIL, ERROR and skipped questions in the summary."""
        counts: dict[str, int] = self.summary["counts"]
        return counts

    @property
    def verdicts(self) -> dict[str, str]:
        """PASS, FAIL or ERROR by question id, in the order of the file, the ERRORs last; without questions not run."""
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


CLASSES = package_text("testing/canned_classes.txt")
"""The system and the judge of a project's conftest.py, which read their replies from canned.json."""

FIXTURES = package_text("testing/canned_fixtures.txt")


class RagProject:
    """
    A folder with question files and a conftest.py whose system and judge give canned replies.

    The replies come from classes in that conftest.py, as a user would write them. Nothing of the plugin is replaced.

    Args:
        pytester: pytest's fixture of that name.
        options: Options of every run, such as `-n2`.
    """

    def __init__(self, pytester: pytest.Pytester, *options: str) -> None:
        self.folder: Path = pytester.path
        self._pytester = pytester
        self._options = options
        self._questions: dict[str, CannedQuestion] = {}

    def ask(self, *questions: CannedQuestion, file: str = "billing.rag.yaml", **top: Any) -> None:
        """
        Write a question file, and prepare the replies to its questions.

        Args:
            questions: The questions in the order of the file.
            file: Name of the file.
            top: Further keys at the top of the file, such as `thresholds`.
        """
        entries = [{"id": each.id, "question": each.question, **each.entry} for each in questions]
        self.write(file, json.dumps({**top, "questions": entries}, indent=2, ensure_ascii=False))
        self.reply_to(*questions)

    def reply_to(self, *questions: CannedQuestion) -> None:
        """Prepare the replies to questions of no question file, such as those of a dataset or `rag_check`."""
        given = {each.question: each for each in questions}
        for each in questions:
            text = each.question
            if each != given[text].but(id=each.id, entry=each.entry):
                raise UsageError(f"RagProject: two questions are {text!r:.80}, with other replies. Change one.")
        if not (self.folder / "conftest.py").exists():
            self.write("conftest.py", CLASSES + FIXTURES)
        self._questions |= given
        self.write("canned.json", json.dumps({text: asdict(each) for text, each in self._questions.items()}))

    def extend_conftest(self, code: str) -> None:
        """Append code to conftest.py, such as a hook that returns a metric or another fixture `rag_judge`."""
        path = self.folder / "conftest.py"
        self.write("conftest.py", (path.read_text(encoding="utf-8") if path.exists() else CLASSES + FIXTURES) + code)

    def write(self, name: str, text: str) -> Path:
        """Write a file and the folders above it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *arguments: str, subprocess: bool = False) -> RunResult:
        """
        Run pytest in the folder.

        Args:
            arguments: The arguments of pytest.
            subprocess: True to run pytest in a process of its own, as for a test of a signal.
        """
        run = self._pytester.runpytest_subprocess if subprocess else self._pytester.runpytest_inprocess
        asked_before = len(self._asked())
        ended = run(*self._options, *arguments)
        return RunResult(
            folder=self.folder,
            exit_status=int(ended.ret),
            text=ended.stdout.str(),
            stderr=ended.stderr.str(),
            asked=self._asked()[asked_before:],
        )

    def _asked(self) -> list[str]:
        log = self.folder / "asked.txt"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


@pytest.fixture
def rag_project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> RagProject:
    """Return an empty project, whose runs ignore the settings in this environment."""
    for name in [name for name in os.environ if name.startswith(("RAGCHECK_", "OPENAI_", "PYTEST_", "CI"))]:
        monkeypatch.delenv(name)
    return RagProject(pytester)
