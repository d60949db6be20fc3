"""Workers of xdist share the questions: each is asked once in all, whichever worker runs its item."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.servers.counting import Counting
from tests.servers.fake_endpoint import FakeEndpoint

if TYPE_CHECKING:
    from tests.harness import Project, Run


def questions(project: Project, number: int, file: str = "many.rag.json", **more: object) -> None:
    rows = [{"id": f"q{n}", "question": f"{file} {n}?", "expected_answer": "30 days", **more} for n in range(number)]
    project.write(file, json.dumps(rows))


def run(project: Project, system: Counting, *options: str) -> Run:
    with FakeEndpoint(system) as endpoint:
        return project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", *options)


def on_demand(run: Run) -> dict[str, int]:
    found: dict[str, int] = run.summary["on_demand"]
    return found


@pytest.mark.parametrize("dist", ["load", "loadfile", "loadscope", "worksteal"])
def test_each_question_is_asked_once_by_all_workers_together(project: Project, dist: str) -> None:
    for file in ("a.rag.json", "b.rag.json", "c.rag.json"):
        questions(project, 8, file)
    ended = run(project, system := Counting(), "-n2", f"--dist={dist}")
    assert ended.outcomes == {"passed": 24}
    assert (len(system.answered), set(system.answered.values())) == (24, {1})
    assert system.most <= 8
    assert on_demand(ended) == {}
    assert [row["question_id"] for row in ended.predictions["predictions"]] == [f"q{n}" for n in range(8)] * 3


def test_the_runs_concurrency_is_shared_out(project: Project) -> None:
    questions(project, 24)
    ended = run(project, system := Counting(seconds=0.2), "-n2", "--rag-concurrency=4")
    assert ended.outcomes == {"passed": 24}
    assert system.most == 4
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


def test_an_each_run_leaves_the_last_full_result_as_it_is(project: Project) -> None:
    questions(project, 2)
    run(project, Counting())
    ended = run(project, Counting(), "--dist=each", "--tx=2*popen")
    assert "partial: the last full result also has many; delete rag_summary.json to start anew" in ended.lines
    assert list(ended.summary["datasets"]) == ["many"]


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
    # What the dead worker had under way was asked again, and nothing else.
    assert system.answered.total() <= 12 + 8
    assert ended.summary["complete"] is True


def test_a_run_that_may_stop_early_does_not_ask_everything(project: Project) -> None:
    questions(project, 150)
    project.write("first.rag.json", json.dumps([{"id": "wrong", "question": "?", "expected_answer": "60 days"}]))
    ended = run(project, system := Counting(seconds=0.05), "-n2", "-x")
    assert ended.document("rag.partial_summary.json")["counts"]["fail"] == 1
    assert system.answered.total() < 120
    assert ended.document("rag.partial_summary.json")["complete"] is False


def test_users_own_tests_share_too_and_only_whoever_needs_it_reruns(project: Project) -> None:
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
    questions(project, 1, "narrow/narrow.rag.json")
    questions(project, 1, "changed/changed.rag.json")
    project.write(
        "narrow/conftest.py",
        "import pytest\n\n@pytest.fixture\ndef rag_client(rag_client):\n    return rag_client\n",
    )
    project.write(
        "changed/conftest.py",
        "import pytest\nfrom dataclasses import replace\n\n@pytest.fixture\ndef rag_question(rag_question):\n"
        "    return replace(rag_question, question='else?')\n",
    )
    project.write(
        "narrow/test_it.py",
        "import pytest\n\n@pytest.mark.skipif(False, reason='never')\n"
        "@pytest.mark.rag_questions('../many.rag.json')\ndef test_it(rag_result): pass\n\n"
        "class TestOwn:\n"
        "    @pytest.fixture\n    def rag_judge(self, rag_judge):\n        return rag_judge\n\n"
        "    @pytest.mark.rag_questions('../many.rag.json')\n    def test_own(self, rag_result): pass\n",
    )
    with FakeEndpoint(Counting()) as endpoint:
        project.write("pytest.ini", f"[pytest]\nrag_url = {endpoint.url}\nrag_judge = offline\n")
        ended = project.run()
        switched_off = project.run("-o", "rag_read_ahead=off", "many.rag.json", "--rag-output=other")
    assert ended.counts["pass"] == 8
    assert on_demand(ended) == {
        "rag_client, rag_judge or rag_settings is not of session scope": 1,
        "rag_question or rag_result is overridden": 1,
        "the item may be skipped": 2,
        "the test, its class or its module may have fixtures of its own": 2,
    }
    assert "asked on demand: 2: rag_read_ahead is off" in switched_off.lines


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
