"""
A user's project to run pytest in: questions and canned replies go in, verdicts, files and printed lines come out.

    project.ask(good("refund-window"), bad("prices", groundedness=0.41, reason="No price is in the contexts."))
    run = project.run("-v")
    assert run.verdicts == {"refund-window": "PASS", "prices": "FAIL"}

The replies come from classes in the project's own conftest.py, as a user would write them; nothing of the plugin is
replaced.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree as ET

import pytest

from pytest_ragcheck.engine.place import FOLDER
from tests.canned import CONFTEST, FIXTURES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.canned import Case

WAYS: dict[str, tuple[str, ...]] = {"plain": (), "n2": ("-n2",), "no-xdist": ("-p", "no:xdist")}
"""How pytest is run, with the options for it."""

three_ways = pytest.mark.parametrize("way", WAYS, indirect=True)
"""For a test whose behaviour could differ between one process, workers, and a pytest that knows no workers."""

two_ways = pytest.mark.parametrize("way", ["plain", "n2"], indirect=True)

# Hypothesis' plugin imports the whole of it at the end of every run.
OTHERS = ("-p", "no:hypothesispytest")

# What the judge is tried out with would be among the requests that tests count, and most of their judges say one thing
# of all answers.
UNTRIED = ("-o", "rag_preflight=off")

RESULTS = "ragcheck-results"


class Project:
    """
    A folder with question files, a conftest.py and whatever else a test writes into it.

    Args:
        pytester: pytest's own.
        options: Given in every run, such as `-n2`.
    """

    def __init__(self, pytester: pytest.Pytester, options: tuple[str, ...] = ()) -> None:
        self.folder = pytester.path
        self._pytester = pytester
        self._options = options
        self.junit = True
        """Whether runs write JUnit's file."""

        self._cases: dict[str, Case] = {}

    def ask(self, *cases: Case, file: str = "billing.rag.yaml", **top: Any) -> None:
        """Writes a question file with these questions, and has their replies ready."""
        entries = [{"id": case.id, "question": case.question, **case.entry} for case in cases]
        self.write(file, json.dumps({**top, "questions": entries}, indent=2, ensure_ascii=False))
        self.can(*cases)

    def can(self, *cases: Case) -> None:
        """Has replies ready for these questions, and a conftest.py that gives them unless there is one."""
        if not (self.folder / "conftest.py").exists():
            self.write("conftest.py", CONFTEST + FIXTURES)
        self._cases |= {case.question: case for case in cases}
        self.write("canned.json", json.dumps({question: asdict(case) for question, case in self._cases.items()}))

    def conftest(self, code: str) -> None:
        """Writes a conftest.py that has the canned classes; their fixtures, or others, are in *code*."""
        self.write("conftest.py", CONFTEST + code)

    def extend_conftest(self, code: str) -> None:
        """Adds to the conftest.py that there is."""
        self.write("conftest.py", (self.folder / "conftest.py").read_text(encoding="utf-8") + "\n" + code)

    def write(self, name: str, text: str) -> Path:
        """Writes a file, and the folders above it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *arguments: str, where: Literal["here", "apart"] = "here") -> Run:
        """Runs pytest in the folder, in this process or in one of its own."""
        run = self._pytester.runpytest_inprocess if where == "here" else self._pytester.runpytest_subprocess
        asked_before = len(self._asked())
        junit = [f"--junitxml={self.folder / 'junit.xml'}"] if self.junit else []
        # A run that is given nothing of ours is to pay nothing.
        untried = UNTRIED if any(argument.startswith("--rag-") for argument in arguments) else ()
        result = run(*OTHERS, *untried, *self._options, *junit, *arguments)
        return Run(
            folder=self.folder,
            exit_status=int(result.ret),
            text=result.stdout.str(),
            errors=result.stderr.str(),
            asked=self._asked()[asked_before:],
        )

    def _asked(self) -> list[str]:
        log = self.folder / "asked.txt"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run of pytest came to; its files are read when they are asked for."""

    folder: Path
    exit_status: int
    text: str
    """What it printed."""

    errors: str
    """What it printed to stderr."""

    asked: list[str]
    """The questions that the canned system was asked, in order."""

    @property
    def lines(self) -> list[str]:
        """What it printed, by line, without blanks at the ends."""
        return [line.strip() for line in self.text.splitlines()]

    @cached_property
    def outcomes(self) -> dict[str, int]:
        """What pytest counted, such as `{"passed": 2, "failed": 1}`."""
        (last,) = re.findall(r"(?m)^=*\s*((?:\d+ [a-z]+(?:, )?)+) in [\d.]+s", self.text)[-1:] or [""]
        counts = re.findall(r"(\d+) ([a-z]+)", last)
        return {re.sub(r"^(error|warning)s$", r"\1", word): int(number) for number, word in counts}

    @property
    def progress(self) -> list[str]:
        """All but what differs from run to run: pytester's first two lines, and the time that it took."""
        return [re.sub(r" in [\d.]+s", "", line) for line in self.lines if not re.match(r"(running|in): ", line)]

    def section(self, title: str) -> list[str]:
        """The lines under a heading of pytest's that has *title* in it, up to the next."""
        lines = iter(self.text.splitlines())
        for line in lines:
            if re.fullmatch(r"(_{3,}|={3,}) .* (_{3,}|={3,})", line) and title in line:
                break
        return list(takewhile(lambda line: not re.match(r"_{3,} |={3,} |-{3,} ", line), lines))

    @property
    def short_summary(self) -> list[str]:
        """The lines of pytest's short summary."""
        _, _, rest = self.text.partition("short test summary info")
        return [line for line in rest.splitlines()[1:] if re.match(r"(FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", line)]

    @property
    def files(self) -> list[str]:
        """The names in the output folder, but for that of the runs' stores; empty where there is no such folder."""
        output = self.folder / RESULTS
        return sorted(path.name for path in output.iterdir() if path.name != FOLDER) if output.exists() else []

    def document(self, name: str) -> Any:
        """A result file, read."""
        return json.loads((self.folder / RESULTS / name).read_text(encoding="utf-8"))

    @property
    def predictions(self) -> Any:
        return self.document("rag_predictions.json")

    @property
    def summary(self) -> Any:
        return self.document("rag_summary.json")

    @property
    def counts(self) -> dict[str, int]:
        """PASS, FAIL, ERROR and skipped, as the summary counts them."""
        counts: dict[str, int] = self.summary["counts"]
        return counts

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict by question id, in the files' order, the ERRORs last."""
        found = {row["question_id"]: row["verdict"] for row in self.predictions["predictions"]}
        return found | {row["question_id"]: "ERROR" for row in self.predictions["errors"]}

    @property
    def errors_by_id(self) -> dict[str, tuple[str, str]]:
        """Kind and message of the ERRORs by question id."""
        return {row["question_id"]: (row["kind"], row["message"]) for row in self.predictions["errors"]}

    @cached_property
    def junit(self) -> dict[str, tuple[str, str]]:
        """By test name what JUnit's file says: `failure`, `error`, `skipped` or `passed`, and the message."""
        found = {}
        for case in ET.parse(self.folder / "junit.xml").iter("testcase"):
            problem = next((part for part in case if part.tag in {"failure", "error", "skipped"}), None)
            what = ("passed", "") if problem is None else (problem.tag, problem.get("message", ""))
            found[case.get("name", "")] = what
        return found
