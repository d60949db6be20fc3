"""A resumed run neither asks nor judges again what the interrupted run finished."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from pytest_ragcheck.engine.store.record_file import FILE, rows
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.report.files.results_reader import predictions_path
from tests.harness import OTHERS, WAYS, three_ways, two_ways
from tests.servers.counting import Counting
from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from tests.harness import Project, Run

DOWN = json_reply({"error": "down"}, status=500)


class Failing(Counting):
    """A system that is down for some questions."""

    down: tuple[str, ...] = ()

    def __call__(self, connection: socket.socket, request: Request) -> bool:
        if request.json["query"] in self.down:
            self.answered[request.json["query"]] += 1
            return DOWN(connection, request)
        return super().__call__(connection, request)


def questions(project: Project, number: int, **more: object) -> None:
    rows = [{"id": f"q{n}", "question": f"{n}?", "expected_answer": "30 days", **more} for n in range(number)]
    project.write("many.rag.json", json.dumps(rows))


def run(project: Project, endpoint: FakeEndpoint, *options: str) -> Run:
    return project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", *options)


class Pausing(Counting):
    """A system that answers a number of questions, and the others after a signal."""

    def __init__(self, *, answers: int) -> None:
        super().__init__()
        self.goes_on = threading.Event()
        self._answers = threading.Semaphore(answers)

    def __call__(self, connection: socket.socket, request: Request) -> bool:
        if not self._answers.acquire(blocking=False):
            self.goes_on.wait()
        return super().__call__(connection, request)


def killed(
    project: Project,
    endpoint: FakeEndpoint,
    *options: str,
    after: int = 0,
    when: Callable[[], bool] = lambda: True,
) -> None:
    """A run whose processes are all killed as soon as that number of questions have records, and *when* is true."""
    command = [sys.executable, "-m", "pytest", *OTHERS, "--rag-judge=offline"]
    with subprocess.Popen(
        [*command, f"--rag-url={endpoint.url}", *options],
        cwd=project.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        end = time.monotonic() + 60
        while len(stored(project)) < after or not when():
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)


def without_times(folder: Path) -> dict[str, Any]:
    """The result files by name, without the values that differ between any two runs."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        text = re.sub(r'"(timestamp|latency\w*|asked_at)": [^,\n]+', r'"\1": 0', path.read_text(encoding="utf-8"))
        found[path.name] = re.sub(r"127\.0\.0\.1:\d+", "here", text)
    return found


@three_ways
def test_a_killed_run_is_resumed_and_its_files_are_those_of_an_undisturbed_one(project: Project, way: str) -> None:
    questions(project, 40)
    with FakeEndpoint(system := Pausing(answers=12)) as endpoint:
        killed(project, endpoint, *WAYS[way], after=12)
        finished = stored(project)
        system.goes_on.set()
        ended = run(project, endpoint, "--rag-resume")
        assert {question: system.answered[question] for question in finished} == dict.fromkeys(finished, 1)
        undisturbed = run(project, endpoint, "--rag-output=undisturbed")
    assert len(finished) == 12
    assert "resumed: 12 of 40 questions were asked by the earlier run" in ended.lines
    assert ended.outcomes == undisturbed.outcomes == {"passed": 40}
    assert without_times(project.folder / "ragcheck-results") == without_times(project.folder / "undisturbed")


REFUSED = (
    "a later run ended without results, or is not over yet, so the results here are of an earlier one. "
    "Run again (--rag-resume continues it), or delete"
)


@two_ways
def test_the_results_before_a_killed_run_are_not_taken_for_its_own(
    project: Project, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    questions(project, 1)
    folder = project.folder / "ragcheck-results"
    with FakeEndpoint(system := Pausing(answers=3)) as endpoint:
        run(project, endpoint, "--rag-report=page.html")
        before = without_times(folder)
        questions(project, 4)
        killed(project, endpoint, *WAYS[way], "--rag-report=page.html", after=2)
        assert not (project.folder / "page.html").exists()
        assert without_times(folder) == before
        (mark,) = folder.glob(".ragcheck/rag/*/unwritten")
        for name in ("", "rag", "rag_predictions.json"):
            with pytest.raises(UsageError) as caught:
                predictions_path(folder / name)
            assert str(caught.value) == f"{folder / name}: {REFUSED} {mark} to use the earlier results."
        older = folder / "rag_predictions.json"
        replayed = run(project, endpoint, f"--rag-replay={older}", "--rag-agent=again")
        assert replayed.exit_status == pytest.ExitCode.USAGE_ERROR
        assert f"rag_predictions.json: {REFUSED} {mark}" in replayed.stderr
        assert main(["rejudge", str(older), "--rag-agent=again", "--rag-judge=offline"]) == 2
        assert f"rag_predictions.json: {REFUSED} {mark}" in capsys.readouterr().err
        system.goes_on.set()
        run(project, endpoint, "--rag-resume", "-k", "q1")
    assert predictions_path(folder).name == "rag_predictions.json"
    assert predictions_path(folder, partial=True).name == "rag.partial_predictions.json"


BOOTS = """
import time
from pathlib import Path

import pytest

@pytest.fixture(scope="session", autouse=True)
def server():
    if Path("slow").exists():
        Path("booting").touch()
        time.sleep(60)
"""


def killed_while_a_fixture_starts(project: Project, endpoint: FakeEndpoint, *options: str) -> None:
    project.write("conftest.py", BOOTS)
    project.write("slow", "")
    killed(project, endpoint, *options, when=(project.folder / "booting").exists)
    for name in ("slow", "booting"):
        (project.folder / name).unlink()


@two_ways
def test_a_run_that_was_killed_before_its_first_question_is_not_resumed_by_an_older_one(
    project: Project, way: str
) -> None:
    questions(project, 3)
    folder = project.folder / "ragcheck-results"
    with FakeEndpoint(system := Counting()) as endpoint:
        run(project, endpoint)
        killed_while_a_fixture_starts(project, endpoint, *WAYS[way])
        with pytest.raises(UsageError, match="a later run ended without results"):
            predictions_path(folder)
        ended = run(project, endpoint, "--rag-resume")
        assert predictions_path(folder).name == "rag_predictions.json"
        again = run(project, endpoint, "--rag-resume")
    assert "resumed: " not in ended.text
    assert "resumed: 3 of 3 questions were asked by the earlier run" in again.lines
    assert set(system.answered.values()) == {2}


@two_ways
def test_a_resumed_run_that_is_killed_before_its_first_question_loses_no_answer(project: Project, way: str) -> None:
    questions(project, 3)
    with FakeEndpoint(system := Counting()) as endpoint:
        run(project, endpoint)
        for _ in range(2):
            killed_while_a_fixture_starts(project, endpoint, *WAYS[way], "--rag-resume")
        with pytest.raises(UsageError, match="a later run ended without results"):
            predictions_path(project.folder / "ragcheck-results")
        ended = run(project, endpoint, "--rag-resume")
    assert "resumed: 3 of 3 questions were asked by the earlier run" in ended.lines
    assert set(system.answered.values()) == {1}


@pytest.mark.parametrize(
    ("files", "options", "exit_status"),
    [
        ({"new.rag.yaml": "questions: ["}, [], pytest.ExitCode.INTERRUPTED),
        ({}, ["--rag-baseline=none.json"], pytest.ExitCode.USAGE_ERROR),
        ({}, ["--rag-baseline=none.json", "-n2"], pytest.ExitCode.USAGE_ERROR),
        ({"conftest.py": "import nothing_there"}, [], pytest.ExitCode.USAGE_ERROR),
        ({"folder/conftest.py": "import nothing_there", "folder/test_a.py": ""}, [], pytest.ExitCode.INTERRUPTED),
    ],
    ids=["question file", "usage error", "usage error with workers", "conftest.py", "conftest.py of a folder"],
)
def test_the_results_before_a_run_that_could_not_begin_are_refused(
    project: Project, files: dict[str, str], options: list[str], exit_status: int
) -> None:
    questions(project, 2)
    with FakeEndpoint(Counting()) as endpoint:
        run(project, endpoint)
        for name, text in files.items():
            project.write(name, text)
        arguments = (*OTHERS, f"--rag-url={endpoint.url}", "--rag-judge=offline", *options)
        command = [sys.executable, "-m", "pytest", *arguments]
        ended = subprocess.run(command, cwd=project.folder, capture_output=True, check=False)
    assert ended.returncode == exit_status
    with pytest.raises(UsageError, match="a later run ended without results"):
        predictions_path(project.folder / "ragcheck-results")


@pytest.mark.parametrize("options", [("--collect-only",), ("--rag-dry-run",), ("-k", "other"), ("--markers",)])
def test_a_run_that_asks_for_no_results_leaves_the_earlier_ones(project: Project, options: tuple[str, ...]) -> None:
    questions(project, 2)
    with FakeEndpoint(Counting()) as endpoint:
        run(project, endpoint)
        run(project, endpoint, *options)
    assert predictions_path(project.folder / "ragcheck-results").name == "rag_predictions.json"


@two_ways
def test_a_run_that_skips_every_question_leaves_the_earlier_results(project: Project) -> None:
    questions(project, 2)
    with FakeEndpoint(system := Counting()) as endpoint:
        run(project, endpoint)
        skipping = project.run("--rag-judge=offline")
        assert predictions_path(project.folder / "ragcheck-results").name == "rag_predictions.json"
        run(project, endpoint, "--rag-resume")
    assert skipping.outcomes == {"skipped": 2}
    assert set(system.answered.values()) == {1}


@three_ways
def test_what_was_finished_is_not_asked_again_and_the_header_says_so(project: Project) -> None:
    questions(project, 6)
    with FakeEndpoint(system := Counting()) as endpoint:
        run(project, endpoint)
        ended = run(project, endpoint, "--rag-resume")
    assert set(system.answered.values()) == {1}
    assert ended.outcomes == {"passed": 6}
    assert re.search(r"(?m)^ragcheck: resumed 6 (of 6 )?questions (from|of) the run of 20\d\d-", ended.text)
    assert "resumed: 6 of 6 questions were asked by the earlier run" in ended.lines


def test_errors_and_changed_questions_are_asked_again(project: Project) -> None:
    questions(project, 4)
    with FakeEndpoint(system := Failing()) as endpoint:
        system.down = ("1?",)
        assert run(project, endpoint).outcomes == {"passed": 3, "error": 1}
        system.down = ()
        rows = json.loads((project.folder / "many.rag.json").read_text(encoding="utf-8"))
        rows[2]["expected_answer"] = "60 days"
        project.write("many.rag.json", json.dumps([{"id": "new", "question": "new?"}, *rows]))
        system.answered.clear()
        ended = run(project, endpoint, "--rag-resume")
    assert system.answered == {"1?": 1, "2?": 1, "new?": 1}
    assert ended.counts["error"] == 0
    assert "resumed: 2 of 5 questions were asked by the earlier run" in ended.lines


@two_ways
def test_a_resumed_full_run_forgets_questions_whose_file_is_gone(project: Project) -> None:
    questions(project, 3)
    project.write("old.rag.yaml", "- {id: old, question: old?, expected_answer: 30 days}\n")
    with FakeEndpoint(Counting()) as endpoint:
        run(project, endpoint)
        assert (project.folder / "ragcheck-results" / "old_questions.json").exists()
        run(project, endpoint, "--rag-resume", "many.rag.json")  # a part of the questions
        assert stored(project) == ["0?", "1?", "2?", "old?"]
        (project.folder / "old.rag.yaml").rename(project.folder / "new.rag.yaml")
        ended = run(project, endpoint, "--rag-resume")
    assert ended.outcomes == {"passed": 4}
    assert stored(project) == ["0?", "1?", "2?", "old?"]
    (project.folder / "new.rag.yaml").unlink()
    with FakeEndpoint(Counting()) as endpoint:
        run(project, endpoint, "--rag-resume")
    assert stored(project) == ["0?", "1?", "2?"]
    names = {path.name for path in (project.folder / "ragcheck-results").glob("*.json")}
    assert names == {"many_questions.json", "rag_predictions.json", "rag_summary.json"}


def stored(project: Project) -> list[str]:
    """The questions with a record in the store of the last run; empty without a store."""
    with suppress(sqlite3.OperationalError):
        for store in (project.folder / "ragcheck-results").glob(f".ragcheck/rag/*/{FILE}"):
            return sorted(row["question"]["question"] for row in rows(store.parent))
    return []


def test_what_is_asked_on_demand_is_resumed_too_and_a_rerun_asks_anew(project: Project) -> None:
    questions(project, 2)
    project.write(
        "test_own.py",
        "def test_own(rag_check):\n    rag_check('right?', expected='30 days')\n"
        "    rag_check('wrong?', expected='60 days').assert_passed()\n",
    )
    with FakeEndpoint(system := Counting()) as endpoint:
        first = run(project, endpoint, "-o", "rag_disable=prefetch")
        ended = run(project, endpoint, "-o", "rag_disable=prefetch", "--rag-resume", "--reruns=1")
    assert first.outcomes == {"passed": 2, "failed": 1}
    assert ended.outcomes == {"passed": 2, "failed": 1, "rerun": 1}
    assert system.answered == {"0?": 1, "1?": 1, "right?": 2, "wrong?": 2}


@three_ways
def test_another_run_is_refused_before_any_request(project: Project) -> None:
    questions(project, 3)
    with FakeEndpoint(system := Counting()) as endpoint:
        run(project, endpoint)
        ended = run(project, endpoint, "--rag-resume", "--rag-threshold=0.8", "-q")
        again = run(project, endpoint, "--rag-resume")
    assert ended.exit_status == pytest.ExitCode.USAGE_ERROR
    assert "was another (rag_threshold: 0.7 -> 0.8).\nUse the same settings, or" in ended.stderr
    assert set(system.answered.values()) == {1}
    assert again.outcomes == {"passed": 3}


def test_users_own_tests_are_refused_under_xdist_too(project: Project) -> None:
    questions(project, 2)
    project.write("many_questions.json", (project.folder / "many.rag.json").read_text(encoding="utf-8"))
    (project.folder / "many.rag.json").unlink()
    mark = '@pytest.mark.rag_questions("many_questions.json")'
    project.write("test_own.py", f"import pytest\n\n{mark}\ndef test_own(rag_result): pass\n")
    with FakeEndpoint(system := Counting()) as endpoint:
        assert run(project, endpoint).outcomes == {"passed": 2}
        ended = run(project, endpoint, "-n2", "--rag-resume", "--rag-threshold=0.8")
    assert ended.exit_status != 0
    assert "threshold: 0.7 -> 0.8" in ended.text + ended.stderr
    assert set(system.answered.values()) == {1}


def test_without_an_earlier_run_everything_is_asked_and_the_header_says_so(project: Project) -> None:
    questions(project, 2)
    with FakeEndpoint(system := Counting()) as endpoint:
        ended = run(project, endpoint, "--rag-resume")
    assert ended.outcomes == {"passed": 2}
    assert "ragcheck: resumed nothing: there is no last run with an answer, so every question is asked" in ended.lines
    assert system.answered.total() == 2


def test_a_run_of_some_questions_resumes_them_and_leaves_the_last_full_result(project: Project) -> None:
    questions(project, 4)
    with FakeEndpoint(system := Counting()) as endpoint:
        run(project, endpoint)
        full = (project.folder / "ragcheck-results" / "rag_predictions.json").read_bytes()
        ended = run(project, endpoint, "--rag-resume", "-k", "q1 or q2")
    assert set(system.answered.values()) == {1}
    assert ended.outcomes == {"passed": 2, "deselected": 2}
    assert ended.document("rag.partial_summary.json")["complete"] is False
    assert (project.folder / "ragcheck-results" / "rag_predictions.json").read_bytes() == full


def test_a_damaged_store_is_reported_moved_aside_and_everything_is_asked(project: Project) -> None:
    questions(project, 3)
    with FakeEndpoint(system := Counting()) as endpoint:
        run(project, endpoint)
        (store,) = project.folder.rglob("store.sqlite")
        store.write_bytes(b"no database" * 1000)
        ended = run(project, endpoint, "--rag-resume")
    assert set(system.answered.values()) == {2}
    assert ended.outcomes == {"passed": 3}
    (line,) = [line for line in ended.lines if line.startswith("the store of the last run is damaged")]
    assert line.endswith("It was moved to damaged-store.sqlite. Its questions are asked again.")


@three_ways
def test_where_no_store_can_be_made_the_run_goes_on_without_and_says_so(project: Project, way: str) -> None:
    questions(project, 6)
    project.write("ragcheck-results/.ragcheck", "a file")
    with FakeEndpoint(system := Counting()) as endpoint:
        ended = run(project, endpoint)
    assert ended.outcomes == {"passed": 6}
    assert set(system.answered.values()) == {1}
    (line,) = [line for line in ended.lines if line.startswith("no store:")]
    assert line.endswith("Nothing is shared between processes, and --rag-resume cannot resume this run.")
    expected = {"the workers have no store to share": 6} if way == "n2" else {}
    assert ended.summary["on_demand"] == expected


FULL = """
import resource, signal

def pytest_collection_finish(session):
    # As on a full disk: no file grows beyond this, and whoever writes on is told so.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))

def pytest_sessionfinish(session):
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@three_ways
def test_on_a_full_disk_the_outcome_is_right_and_it_is_said_once(project: Project, way: str) -> None:
    questions(project, 60)
    project.write("conftest.py", FULL)
    with FakeEndpoint(system := Counting()) as endpoint:
        ended = project.run(
            f"--rag-url={endpoint.url}", "--rag-judge=offline", "-p", "no:cacheprovider", subprocess=True
        )
    assert ended.outcomes == {"passed": 60}
    assert ended.counts == {"pass": 60, "fail": 0, "error": 0, "skipped": 0}
    lines = {line for line in ended.lines if line.startswith("the store cannot be used:")}
    assert 1 <= len(lines) <= 2
    assert all(line.endswith("--rag-resume cannot resume this run.") for line in lines)
    if way != "n2":
        assert set(system.answered.values()) == {1}


class Scripted:
    """A system that gives its answers in turn, is silent until a signal, and then gives the right answer."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.is_silent = threading.Event()
        self.goes_on = threading.Event()

    def __call__(self, connection: socket.socket, request: Request) -> bool:
        if not self.answers:
            self.is_silent.set()
            self.goes_on.wait()
        text = self.answers.pop(0) if self.answers else "It is 9."
        return json_reply({"answer": text, "contexts": []})(connection, request)


@two_ways
@pytest.mark.parametrize(
    ("gate", "answers"),
    [
        ("-orag_repeats=2", ["It is 9. NEW"]),
        ("--rag-gate=confirmed", ["It is 9. NEW"]),
        ("--rag-gate=confirmed", ["It is 8.", "It is 8. NEW", "It is 8. OLD"]),
    ],
)
def test_a_leak_before_the_kill_counts_in_the_resumed_run(
    project: Project, way: str, gate: str, answers: list[str]
) -> None:
    question = {"id": "a", "question": "When?", "must_mention": "9", "must_not_mention": ["NEW", "OLD"]}
    project.write("all.rag.json", json.dumps([question]))
    if gate.startswith("--rag-gate"):
        for saved in "It is 9. OLD", "It is 9.":
            with FakeEndpoint(Scripted(saved)) as endpoint:
                run(project, endpoint, "--rag-judge=none", "-p", "no:ragcheck-gate")
            assert main(["baseline", "save"]) == 0
    with FakeEndpoint(system := Scripted(*answers)) as endpoint:
        killed(project, endpoint, *WAYS[way], "--rag-judge=none", gate, when=system.is_silent.is_set)
        system.goes_on.set()
        ended = run(project, endpoint, "--rag-judge=none", gate, "--rag-resume")
    assert ended.outcomes["failed"] == 1
    assert "the answer mentions 'NEW'" in ended.text
    assert "resumed: 1 of 1 questions were asked by the earlier run" in ended.lines


def test_a_known_leak_before_the_kill_leaves_all_repeats_to_the_resumed_run(project: Project) -> None:
    question = {"id": "a", "question": "When?", "must_mention": "9", "must_not_mention": ["NEW", "OLD"]}
    project.write("all.rag.json", json.dumps([question]))
    options = ("--rag-judge=none", "-orag_repeats=2")
    with FakeEndpoint(Scripted("It is 9. OLD", "It is 9. OLD")) as endpoint:
        run(project, endpoint, *options)
    assert main(["baseline", "save"]) == 0
    with FakeEndpoint(system := Scripted("It is 9. OLD")) as endpoint:
        killed(project, endpoint, *options, when=system.is_silent.is_set)
        system.answers += ["It is 9. NEW"] * 3
        system.goes_on.set()
        ended = run(project, endpoint, *options, "--rag-resume")
    assert ended.outcomes["failed"] == 1
    assert "the answer mentions 'NEW'" in ended.text


JUDGE = """
from pathlib import Path

import pytest
from pytest_ragcheck import Judgement
from pytest_ragcheck.errors import JudgeError

class Judge:
    async def judge(self, question, answer):
        if Path("down").exists() and question.id != "judged":
            raise JudgeError("no quota")
        return Judgement(answer_correctness=1, groundedness=1)

@pytest.fixture(scope="session")
def rag_judge():
    return Judge()
"""


def test_a_leak_beside_a_failed_judge_is_not_asked_again_and_no_baseline_tolerates_it(project: Project) -> None:
    rows = [{"id": name, "question": f"When, {name}?"} for name in ("leaks", "unjudged", "judged")]
    rows[0]["must_not_mention"] = "NEW"
    project.write("all.rag.json", json.dumps(rows))
    project.write("conftest.py", JUDGE)
    answers = ["It is 9. NEW"]

    def system(connection: socket.socket, request: Request) -> bool:
        return json_reply({"answer": answers[-1], "contexts": answers})(connection, request)

    with FakeEndpoint(system) as endpoint:
        url = f"--rag-url={endpoint.url}"
        project.run(url)
        assert main(["baseline", "save"]) == 0
        assert project.run(url).outcomes == {"xfailed": 1, "passed": 2}
        project.write("down", "")
        answers.append("It is 10. NEW")
        first = project.run(url)
        n_asked = len(endpoint.requests)
        resumed = project.run(url, "--rag-resume")
        assert len(endpoint.requests) == n_asked + 1  # the ERROR
    leak = "the answer mentions 'NEW'; answer_correctness and groundedness could not be measured: no quota"
    for run in first, resumed:
        assert run.outcomes == {"failed": 1, "error": 1, "passed": 1}
        assert run.counts == {"pass": 1, "fail": 1, "error": 1, "skipped": 0}
        assert f"must_not_mention 0.00 < 1.00: {leak}" in run.lines
