"""Workers of xdist share the questions: each is asked once in all, whichever worker runs its item."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.store.last_run import last_run
from pytest_ragcheck.engine.store.run_folder import FOLDER
from pytest_ragcheck.plugin.asking.schedule import NARROW
from tests.harness import OTHERS, exhaustive, python_of_forks
from tests.servers.counting import Counting
from tests.servers.fake_endpoint import FakeEndpoint
from tests.servers.openai_server import OpenAIServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.harness import Project, Run


NARROW_CLIENT = """
import pytest

@pytest.fixture(scope="module")
def rag_client(rag_client):
    return rag_client
"""

SLOW_BUT_FOR_ONE = """
import asyncio
import pytest

@pytest.fixture(scope="session")
def rag_client():
    async def answer(question):
        await asyncio.sleep(0.5 if question == "wrong?" else 60)
        return {"answer": "Within 30 days.", "contexts": ["Within 30 days."]}

    return answer
"""


def questions(project: Project, number: int, file: str = "many.rag.json", **more: object) -> None:
    rows = [{"id": f"q{n}", "question": f"{file} {n}?", "expected_answer": "30 days", **more} for n in range(number)]
    project.write(file, json.dumps(rows))


def run(project: Project, system: Counting, *options: str) -> Run:
    with FakeEndpoint(system) as endpoint:
        return project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", *options)


def on_demand(run: Run) -> dict[str, int]:
    found: dict[str, int] = run.summary["on_demand"]
    return found


def times_judged(judge: OpenAIServer, file: str, number: int) -> list[int]:
    """How often the judge was asked about each question of the file."""
    prompts = [json.dumps(request.json, ensure_ascii=False) for request in judge.requests]
    return [sum(f"{file} {n}?" in prompt for prompt in prompts) for n in range(number)]


@contextmanager
def begun(project: Project, endpoint: FakeEndpoint, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A run in processes of its own, one of whose items has passed."""
    command = [*python_of_forks("-m", "pytest"), *OTHERS, "-v", "--rag-judge=offline"]
    with subprocess.Popen(
        [*command, f"--rag-url={endpoint.url}", *options],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert any("PASSED" in line for line in process.stdout)
        yield process


@pytest.mark.parametrize(
    "dist",
    ["load", *(pytest.param(dist, marks=exhaustive) for dist in ("loadfile", "loadscope", "loadgroup", "worksteal"))],
)
def test_each_question_is_asked_and_judged_once_by_all_workers_together(project: Project, dist: str) -> None:
    # The worker that begins with the first file has a client of module scope, then only the run's.
    project.write("a/conftest.py", NARROW_CLIENT)
    for file in ("a/a.rag.json", "b.rag.json", "c.rag.json"):
        questions(project, 8, file)
    with FakeEndpoint(system := Counting()) as endpoint, OpenAIServer() as judge:
        openai = ("--rag-judge=openai", "--rag-judge-model=m", f"--rag-judge-url={judge.url}")
        ended = project.run(f"--rag-url={endpoint.url}", *openai, "-n2", f"--dist={dist}")
    assert ended.outcomes == {"passed": 24}
    assert [times_judged(judge, f"{name}.rag.json", 8) for name in "abc"] == [[1] * 8] * 3
    assert len(judge.requests) == 24
    assert (len(system.answered), set(system.answered.values())) == (24, {1})
    assert system.most <= 8
    assert on_demand(ended) == {NARROW: 8}
    assert [row["question_id"] for row in ended.predictions["predictions"]] == [f"q{n}" for n in range(8)] * 3


LAST_ITEM = """
import asyncio
import pytest

LAST = []

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    LAST[:] = [] if nextitem else [item.path.name]
    return (yield)

@pytest.fixture(scope="session")
def rag_client():
    async def answer(question):
        await asyncio.sleep(0.05 if "fast" in question else 0.3)
        if LAST == ["fast.rag.json"]:
            with open("asked_in_the_last_item.txt", "a") as file:
                print(question, file=file)
        return {"answer": "Within 30 days.", "contexts": ["Within 30 days."]}

    return answer
"""


def test_the_last_item_of_a_worker_does_not_wait_for_the_questions_of_others(project: Project) -> None:
    questions(project, 3, "fast.rag.json")
    questions(project, 24, "slow.rag.json")
    project.write("conftest.py", LAST_ITEM)
    ended = project.run("--rag-judge=offline", "-n2", "--dist=loadfile")
    assert ended.outcomes == {"passed": 27}
    asked = project.folder / "asked_in_the_last_item.txt"
    assert "slow" not in (asked.read_text(encoding="utf-8") if asked.exists() else "")


def test_the_runs_concurrency_is_shared_out(project: Project) -> None:
    questions(project, 24)
    ended = run(project, system := Counting(seconds=0.2), "-n2", "--rag-concurrency=4")
    assert ended.outcomes == {"passed": 24}
    assert system.most == 4
    assert set(system.answered.values()) == {1}


def test_workers_take_turns_at_a_system_that_has_room_for_one_request(project: Project) -> None:
    questions(project, 16)
    # A worker that starts late on a busy machine would find nothing left to ask.
    project.write(
        "conftest.py",
        "import os, pathlib, time\n\nimport pytest\n\n"
        "HERE = pathlib.Path(__file__).parent\n\n"
        "@pytest.fixture(scope='session')\n"
        "def rag_settings(rag_settings):\n"
        "    (HERE / os.environ['PYTEST_XDIST_WORKER']).touch()\n"
        "    while len(list(HERE.glob('gw*'))) < 2:\n        time.sleep(0.01)\n"
        "    return rag_settings\n",
    )
    ended = run(project, system := Counting(seconds=0.05, limit=1), "-n2")
    assert ended.outcomes == {"passed": 16}
    assert set(system.answered.values()) == {1}


def test_under_each_every_worker_asks_everything_and_the_files_say_who(project: Project) -> None:
    questions(project, 3)
    questions(project, 1, "none.rag.json", skip="not now")
    project.write(
        "test_own.py", "def test_own(rag_check):\n    rag_check('own?', expected='30 days').assert_passed()\n"
    )
    ended = run(project, system := Counting(), "--dist=each", "--tx=2*popen")
    assert ended.outcomes == {"passed": 8, "skipped": 2}
    assert system.answered == {**{f"many.rag.json {n}?": 2 for n in range(3)}, "own?": 2}
    assert "ragcheck: --dist each: every worker asks every question; its datasets end in its name" in ended.lines
    names = [f"{name}[gw{worker}]" for worker in (0, 1) for name in ("many", "none", "test_own")]
    assert sorted(ended.summary["datasets"]) == sorted(names)
    assert ended.summary["counts"] == {"pass": 8, "fail": 0, "error": 0, "skipped": 2}
    assert ended.summary["complete"] is True
    assert list((project.folder / "ragcheck-results" / ".ragcheck" / "rag").iterdir()) == []


def test_an_each_run_leaves_the_last_full_result_as_it_is(project: Project) -> None:
    questions(project, 2)
    run(project, Counting())
    ended = run(project, system := Counting(), "--dist=each", "--tx=2*popen", "--rag-resume")
    nothing = "ragcheck: resumed nothing: under --dist each every worker asks every question, and keeps no store"
    assert nothing in ended.lines
    assert system.answered.total() == 4
    assert "partial: the last full result also has many; delete rag_summary.json to start over" in ended.lines
    assert list(ended.document("rag_summary.json")["datasets"]) == ["many"]


def test_a_worker_that_is_killed_loses_no_question(project: Project) -> None:
    questions(project, 12)
    project.write(
        "conftest.py",
        "import os, signal\n\n"
        "def pytest_runtest_setup(item):\n"
        "    if item.name == 'q3':\n        os.kill(os.getpid(), signal.SIGKILL)\n",
    )
    ended = run(project, system := Counting(), "-n2")
    assert ended.counts == {"pass": 11, "fail": 0, "error": 1, "skipped": 0}
    ((name, (kind, message)),) = ended.errors_by_id.items()
    assert (name, kind) == ("q3", "not_evaluated")
    assert "crashed while running" in message
    # Only the requests that the dead worker had under way were repeated.
    assert system.answered.total() <= 12 + 8
    assert ended.summary["complete"] is True


def test_a_question_that_kills_its_worker_is_prefetched_once(project: Project) -> None:
    questions(project, 80)
    project.write(
        "conftest.py",
        "import os, signal\n\nimport pytest\n\nfrom pytest_ragcheck import Judgement\n\n"
        "@pytest.fixture(scope='session')\n"
        "def rag_judge():\n"
        "    async def judge(question, answer):\n"
        "        if question.id == 'q60':\n"
        "            open('died.txt', 'a').write('.')\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return Judgement(answer_correctness=1.0, groundedness=1.0)\n\n"
        "    return judge\n",
    )
    ended = run(project, Counting(), "-n2")
    # Once before its item, together with another item, and once for its item; a locked store may lose a mark.
    assert len((project.folder / "died.txt").read_text(encoding="utf-8")) <= 3
    assert "q60" in ended.errors_by_id
    assert ended.counts["error"] <= 3
    assert ended.counts["pass"] == 80 - ended.counts["error"]
    assert ended.summary["complete"] is True


@pytest.mark.parametrize(
    ("sent", "options", "status"),
    [
        (signal.SIGINT, ("-n2", "--dist=worksteal"), 2),
        (signal.SIGTERM, ("-n2", "--dist=loadfile"), 143),
        (signal.SIGTERM, (), 143),
        pytest.param(signal.SIGTERM, ("-p", "no:xdist"), 143, marks=exhaustive),
    ],
)
def test_a_signal_ends_all_processes_and_the_files_are_written(
    project: Project, sent: signal.Signals, options: tuple[str, ...], status: int
) -> None:
    questions(project, 600)
    with FakeEndpoint(system := Counting(seconds=0.1)) as endpoint, begun(project, endpoint, *options) as process:
        process.send_signal(sent)
        process.communicate()
        # A worker would run all its items before it learned that the run is over.
        assert system.answered.total() < 200
    assert process.returncode == status
    partial = json.loads((project.folder / "ragcheck-results" / "rag.partial_summary.json").read_bytes())
    assert partial["complete"] is False
    assert partial["counts"]["pass"] >= 1
    assert (partial["counts"]["fail"], partial["counts"]["error"]) == (0, 0)


def test_workers_end_with_a_killed_controller_and_the_run_can_be_resumed(
    project: Project,
) -> None:
    questions(project, 300)
    with FakeEndpoint(system := Counting(seconds=0.1)) as endpoint:
        with begun(project, endpoint, "-n2", "--dist=loadfile") as process:
            process.kill()
        while last_run(project.folder / "ragcheck-results" / FOLDER / "rag") is None or system.running:
            time.sleep(0.01)
        before, system.seconds = system.answered.total(), 0
        assert before < 200
        ended = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "--rag-resume")
    assert ended.outcomes == {"passed": 300}
    (resumed,) = re.findall(r"resumed: (\d+) of 300 questions were asked by the earlier run", ended.text)
    # Only the requests under way at the end of the workers were repeated: 8 at the endpoint, and 8 at the judge.
    assert before - int(resumed) <= 16
    assert system.answered.total() == before + 300 - int(resumed)


def test_a_run_that_may_stop_early_does_not_ask_everything(project: Project) -> None:
    questions(project, 150)
    project.write("first.rag.json", json.dumps([{"id": "wrong", "question": "?", "expected_answer": "60 days"}]))
    ended = run(project, system := Counting(seconds=0.05), "-n2", "-x")
    assert ended.document("rag.partial_summary.json")["counts"]["fail"] == 1
    assert system.answered.total() < 120
    assert ended.document("rag.partial_summary.json")["complete"] is False


def test_a_question_that_the_first_failure_of_another_worker_stops_is_not_run(project: Project) -> None:
    rows = [{"id": "wrong", "question": "wrong?", "expected_answer": "60 days"}]
    rows += [{"id": f"q{n}", "question": f"{n}?", "expected_answer": "30 days"} for n in range(5)]
    project.write("many.rag.json", json.dumps(rows))
    project.write("conftest.py", SLOW_BUT_FOR_ONE)
    ended = project.run("--rag-judge=offline", "-n4", "-x")
    summary = ended.document("rag.partial_summary.json")
    assert summary["counts"] == {"pass": 0, "fail": 1, "error": 0, "skipped": 0}, ended.text
    assert "0 PASS, 1 FAIL, 0 ERROR, 0 skipped, 5 not run" in ended.lines


def test_users_own_tests_share_too_and_only_those_that_need_it_rerun(project: Project) -> None:
    questions(project, 8, "billing_questions.json")
    project.write(
        "test_billing.py",
        "import pytest\n\n"
        '@pytest.mark.rag_questions("billing_questions.json")\n'
        "def test_billing(rag_result):\n    rag_result.assert_passed()\n\n"
        "def test_call(rag_check):\n    rag_check('wrong?', expected='60 days').assert_passed()\n",
    )
    ended = run(project, system := Counting(), "-n2", "--reruns=1")
    assert ended.outcomes == {"failed": 1, "passed": 8, "rerun": 1}
    assert system.answered == {"wrong?": 2, **{f"billing_questions.json {n}?": 1 for n in range(8)}}
    assert on_demand(ended) == {"rag_check was called": 1}
    assert "asked on demand: 1: rag_check was called" in ended.lines


def test_each_folders_questions_are_for_workers_that_have_its_client(project: Project) -> None:
    client = (
        "import pytest\nfrom pytest_ragcheck import RagClient\n\n"
        "@pytest.fixture(scope='session')\ndef rag_client():\n    return RagClient('URL')\n"
    )
    systems = [Counting(), Counting()]
    with FakeEndpoint(systems[0]) as north, FakeEndpoint(systems[1]) as south:
        for folder, endpoint in (("north", north), ("south", south)):
            project.write(f"{folder}/conftest.py", client.replace("URL", endpoint.url))
            questions(project, 6, f"{folder}/{folder}.rag.json")
        ended = project.run("--rag-judge=offline", "-n2", "--dist=loadfile")
    assert ended.outcomes == {"passed": 12}
    for folder, system in zip(("north", "south"), systems, strict=True):
        assert system.answered == {f"{folder}/{folder}.rag.json {n}?": 1 for n in range(6)}


def test_the_summary_says_why_questions_ran_on_demand(project: Project) -> None:
    questions(project, 2)
    questions(project, 1, "a_narrow/narrow.rag.json")
    questions(project, 1, "changed/changed.rag.json")
    project.write("a_narrow/conftest.py", NARROW_CLIENT)
    project.write(
        "changed/conftest.py",
        "import pytest\nfrom dataclasses import replace\n\n@pytest.fixture\ndef rag_question(rag_question):\n"
        "    return replace(rag_question, question='else?')\n",
    )
    project.write(
        "a_narrow/test_it.py",
        "import pytest\n\n@pytest.mark.skipif(False, reason='never')\n"
        "@pytest.mark.rag_questions('../many.rag.json')\ndef test_it(rag_result): pass\n\n"
        "class TestOwn:\n"
        "    @pytest.fixture\n    def rag_judge(self, rag_judge):\n        return rag_judge\n\n"
        "    @pytest.mark.rag_questions('../many.rag.json')\n    def test_own(self, rag_result): pass\n",
    )
    with FakeEndpoint(Counting()) as endpoint:
        project.write("pytest.ini", f"[pytest]\nrag_url = {endpoint.url}\nrag_judge = offline\n")
        ended = project.run()
        switched_off = project.run("-o", "rag_disable=prefetch", "many.rag.json", "--rag-output=other")
    assert ended.counts["pass"] == 8
    assert on_demand(ended) == {
        NARROW: 1,
        "rag_question or rag_result is overridden": 1,
        "the item may be skipped": 2,
        "the test, its class or its module may have fixtures of its own": 2,
    }
    assert "asked on demand: 2: prefetch is disabled (rag_disable)" in switched_off.lines


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare to mount folders apart with")
def test_workers_that_share_no_disk_ask_what_they_run_on_demand(project: Project) -> None:
    questions(project, 6)
    copy = project.folder.parent / "copy"
    shutil.copytree(project.folder, copy)
    script = f"mount --bind '{copy}' '{project.folder}' && cd '{project.folder}' && exec '{sys.executable}' \"$@\""
    lines = ["#!/bin/sh", f'exec unshare --user --map-root-user --mount sh -c {shlex.quote(script)} sh "$@"', ""]
    program = project.write("../apart.sh", "\n".join(lines))
    program.chmod(0o755)
    if subprocess.run([program, "-c", ""], check=False, capture_output=True).returncode:
        pytest.skip("mounting folders apart is not allowed here")
    ended = run(project, system := Counting(), f"--tx=popen//python={program.resolve()}", "--tx=popen", "--dist=load")
    assert ended.outcomes == {"passed": 6}
    assert (len(system.answered), ended.counts["error"]) == (6, 0)
    why = on_demand(ended)
    assert why.keys() == {"the workers share no disk"}
    assert re.search(r"asked on demand: \d: the workers share no disk", ended.text)


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_workers_share_the_questions_on_a_system_without_uname(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Windows has none, and tox passes no COMPUTERNAME on.
    monkeypatch.delenv("COMPUTERNAME", raising=False)
    project.write("conftest.py", "import os\n\nvars(os).pop('uname', None)\n")
    questions(project, 4)
    with FakeEndpoint(system := Counting()) as endpoint:
        ended = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", fresh=True)
    assert ended.outcomes == {"passed": 4}
    assert (len(system.answered), on_demand(ended)) == (4, {})
