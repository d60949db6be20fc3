"""Reruns, killed workers and Ctrl-C lose no question, and the last outcome counts."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.guests.interruption import shorten
from tests.canned import bad, broken, good
from tests.harness import exhaustive, three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project

JUDGE = """
@pytest.fixture
def rag_judge():
    return CannedJudge()
"""

BETTER_THE_SECOND_TIME = (
    JUDGE
    + """
class Improving(CannedRag):
    async def ask(self, question):
        answer = await super().ask(question)
        asked = (HERE / "asked.txt").read_text().splitlines().count(question.question)
        if asked == 1:
            FIRST
        return answer

@pytest.fixture
def rag_client():
    return Improving()
"""
)


@pytest.mark.parametrize(
    ("way", "first"),
    [
        ("plain", 'return RagAnswer(text="")'),
        pytest.param("n2", 'return RagAnswer(text="")', marks=exhaustive),
        ("plain", 'raise EndpointError("down", url="u")'),
        ("plain", 'raise OSError("a bug")'),
    ],
    indirect=["way"],
)
def test_the_last_record_counts_after_a_rerun(project: Project, first: str) -> None:
    project.conftest(BETTER_THE_SECOND_TIME.replace("FIRST", first))
    project.ask(good("terms"), good("hours"))
    run = project.run("--reruns=1")
    assert run.outcomes == {"passed": 2, "rerun": 2}
    assert run.verdicts == {"terms": "PASS", "hours": "PASS"}
    assert run.counts == {"pass": 2, "fail": 0, "error": 0, "skipped": 0}


def test_a_rerun_that_does_not_get_to_a_verdict_is_an_error(project: Project) -> None:
    project.conftest(
        JUDGE
        + """
@pytest.fixture
def rag_client():
    if (HERE / "asked.txt").exists():
        raise OSError("the index went away")
    return CannedRag()
"""
    )
    project.ask(bad("prices"))
    run = project.run("--reruns=1")
    assert run.outcomes == {"error": 1, "rerun": 1}
    assert run.errors_by_id == {"prices": ("not_evaluated", "OSError: the index went away")}


def test_every_rerun_asks_anew(project: Project) -> None:
    project.ask(bad("prices"))
    run = project.run("--reruns=2")
    assert run.asked == ["What about prices?"] * 3
    assert run.verdicts == {"prices": "FAIL"}


@exhaustive
@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_a_killed_worker_loses_no_question(project: Project) -> None:
    project.conftest(
        JUDGE
        + """
import os, signal

class Killing(CannedRag):
    async def ask(self, question):
        answer = await super().ask(question)
        if "kill" in question.question:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

@pytest.fixture
def rag_client():
    return Killing()
"""
    )
    project.ask(good("a"), good("b"), good("kill"), good("d"), good("e"))
    run = project.run()
    assert run.exit_status == 1
    assert run.verdicts == {"a": "PASS", "b": "PASS", "d": "PASS", "e": "PASS", "kill": "ERROR"}
    ((kind, message),) = run.errors_by_id.values()
    assert kind == "not_evaluated"
    assert "crashed while running" in message
    assert run.summary["complete"] is True


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_a_worker_that_is_killed_while_it_waits_for_another_loses_no_record(project: Project) -> None:
    project.conftest(
        """
import asyncio, os, signal, sys, threading, time

def pytest_runtest_setup(item):
    if item.name == "slow" and not (HERE / "killed.txt").exists():
        while not (HERE / "begun.txt").exists():  # the other worker asks for this question
            time.sleep(0.01)
        threading.Thread(target=die, daemon=True).start()

def die():
    while "_wait" not in names_of_main():
        time.sleep(0.01)
    (HERE / "killed.txt").touch()
    os.kill(os.getpid(), signal.SIGKILL)

def names_of_main():
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back

class Slow(CannedRag):
    async def ask(self, question):
        answer = await super().ask(question)
        if "slow" in question.question:
            (HERE / "begun.txt").touch()
            while not (HERE / "killed.txt").exists():
                await asyncio.sleep(0.01)
        return answer

@pytest.fixture(scope="session")
def rag_client():
    return Slow()

@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()
"""
    )
    project.ask(good("a"), good("b"), good("slow"), good("d"))
    run = project.run(subprocess=True)
    assert "crashed while running 'billing.rag.yaml::slow'" in run.text
    assert run.verdicts == {"a": "PASS", "b": "PASS", "slow": "ERROR", "d": "PASS"}
    assert sorted(run.asked) == [f"What about {name}?" for name in ("a", "b", "d", "slow")]
    again = project.run("--rag-resume", subprocess=True)
    assert again.verdicts == dict.fromkeys(["a", "b", "slow", "d"], "PASS")
    assert again.asked == []


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_workers_that_die_before_they_tell_of_any_question_leave_the_run_red(project: Project) -> None:
    project.conftest(
        JUDGE
        + """
import os, signal

@pytest.fixture
def rag_client():
    os.kill(os.getpid(), signal.SIGKILL)
"""
    )
    project.ask(good("a"), good("b"))
    run = project.run("--max-worker-restart=1")
    assert run.exit_status == 1
    assert "crashed while running 'billing.rag.yaml::a'" in run.text


def interrupting(where: str) -> str:
    return (
        JUDGE
        + f"""
class Interrupting(CannedRag):
    {"async " if where == "the client" else ""}def ask(self, question):
        if "stop" in question.question:
            raise KeyboardInterrupt
        return RagAnswer(text="30 days", contexts=("c",))

@pytest.fixture
def rag_client(request):
    if {where == "a fixture"} and "stop" in request.node.name:
        raise KeyboardInterrupt
    return Interrupting()
"""
    )


@pytest.mark.parametrize("where", ["a fixture", "the client", "the client's thread"])
def test_an_interrupted_run_writes_what_it_has_as_partial(project: Project, where: str) -> None:
    project.conftest(interrupting(where))
    project.ask(good("terms"), good("stop"), good("hours"))
    run = project.run(subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert run.files == ["billing_questions.json", "rag.partial_predictions.json", "rag.partial_summary.json"]
    partial = run.document("rag.partial_summary.json")
    assert (partial["complete"], partial["n_not_run"]) == (False, 2)
    assert partial["counts"] == {"pass": 1, "fail": 0, "error": 0, "skipped": 0}


@pytest.mark.parametrize("way", ["n2"], indirect=True)
@pytest.mark.parametrize("raised", ["KeyboardInterrupt", pytest.param("pytest.exit('enough')", marks=exhaustive)])
def test_a_client_that_interrupts_a_worker_interrupts_the_run_and_crashes_no_worker(
    project: Project, raised: str
) -> None:
    project.conftest(interrupting("the client").replace("raise KeyboardInterrupt", f"raise {raised}"))
    project.ask(good("terms"), good("stop"), good("hours"))
    run = project.run(subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert "crashed" not in run.text
    assert f"Interrupted: {'KeyboardInterrupt' if raised == 'KeyboardInterrupt' else 'Exit: enough'}" in run.text
    partial = run.document("rag.partial_summary.json")
    assert (partial["complete"], partial["counts"]["error"], partial["counts"]["fail"]) == (False, 0, 0)


@three_ways
def test_ctrl_c_before_anything_came_to_an_end_leaves_files_too(project: Project) -> None:
    project.conftest(
        """
import asyncio, os, signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what it runs in the background
worker = "PYTEST_XDIST_WORKER" in os.environ

def pytest_collectreport():
    if not worker:
        (HERE / "heard.txt").touch()

class Hanging(CannedRag):
    async def ask(self, question):
        if "terms" in question.question:
            # Ctrl-C overtakes what a worker has just told.
            while not (HERE / "heard.txt").exists():
                await asyncio.sleep(0.01)
            os.kill(os.getppid() if worker else os.getpid(), signal.SIGINT)
        await asyncio.sleep(3600)

@pytest.fixture(scope="session")
def rag_client():
    return Hanging()

@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()
"""
    )
    project.ask(good("terms"), good("hours"))
    run = project.run(subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert "partial: 2 of the collected questions were not run" in run.lines
    assert run.files == ["billing_questions.json", "rag.partial_predictions.json", "rag.partial_summary.json"]
    partial = run.document("rag.partial_summary.json")
    assert (partial["complete"], partial["n_not_run"]) == (False, 2)
    assert partial["counts"] == {"pass": 0, "fail": 0, "error": 0, "skipped": 0}


@pytest.mark.parametrize("option", ["--tb=auto", "--full-trace"])
def test_ctrl_c_cancels_what_is_under_way_before_anything_is_shown(project: Project, option: str) -> None:
    project.conftest(
        """
import asyncio, os, signal

cancelled = []
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what it runs in the background

class Slow(CannedRag):
    async def ask(self, question):
        if "terms" in question.question:
            return await super().ask(question)
        if "stop" in question.question:
            os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(3600)
        finally:
            cancelled.append(question.id)

@pytest.fixture(scope="session")
def rag_client():
    return Slow()

@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()

def pytest_keyboard_interrupt():
    (HERE / "cancelled.txt").write_text(" ".join(sorted(cancelled)))
"""
    )
    project.ask(good("terms"), good("hours"), good("stop"))
    run = project.run(option, subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert (project.folder / "cancelled.txt").read_text(encoding="utf-8") == "hours stop"
    assert ("(to show a full traceback on KeyboardInterrupt use --full-trace)" in run.lines) is (option == "--tb=auto")
    assert (run.text.count("wrap_session") > 0) is (option == "--full-trace")


def test_sigterm_ends_a_run_whose_test_swallows_its_exception(project: Project) -> None:
    project.conftest(
        JUDGE
        + """
@pytest.fixture
def rag_client():
    return CannedRag()
"""
    )
    project.ask(good("terms"))
    project.write(
        "test_swallows.py",
        """
import os, signal, time

def test_swallows():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    except Exception:
        pass

def test_after():
    pass
""",
    )
    run = project.run(subprocess=True)
    assert run.exit_status == 128 + signal.SIGTERM
    assert run.outcomes == {"passed": 2}
    assert "!!! _pytest.outcomes.Exit: ended by SIGTERM !!!" in run.text


@three_ways
def test_sigterm_ends_a_run_whose_main_loop_raises_another_exception_for_it(project: Project) -> None:
    project.ask(good("terms"))
    project.conftest(
        JUDGE
        + """
import os, signal, time

@pytest.fixture(scope="session")
def rag_client():
    return CannedRag()

def pytest_runtest_logreport(report):
    if report.when == "call" and "PYTEST_XDIST_WORKER" not in os.environ:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(10)
        except BaseException:
            raise RuntimeError("an assertion about a state that the signal left half made")
"""
    )
    run = project.run(subprocess=True)
    assert run.exit_status == 128 + signal.SIGTERM
    assert (project.folder / "ragcheck-results" / "rag.partial_summary.json").is_file()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("billing.qa.json", ""),
        ("own.json", '@pytest.mark.rag_questions("own.json")\ndef test_all(rag_result):\n    assert rag_result\n'),
        ("none.json", "def test_terms(rag_check):\n    assert rag_check('terms')\n"),
    ],
    ids=["rag_question_files", "rag_questions", "rag_check"],
)
def test_sigterm_ends_workers_whose_node_ids_name_no_question_file(project: Project, name: str, code: str) -> None:
    project.ask(good("terms"), good("hours"), file=name)
    project.write("pytest.ini", "[pytest]\nrag_question_files = *.qa.json\n")
    project.write("test_own.py", f"import pytest\n\n{code}")
    project.conftest(
        JUDGE
        + """
import os, signal, time

@pytest.fixture(scope="session")
def rag_client():
    return CannedRag()

def pytest_runtest_logreport(report):
    if report.when == "call" and "PYTEST_XDIST_WORKER" not in os.environ:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
"""
    )
    run = project.run("-n2", subprocess=True)
    assert run.exit_status == 128 + signal.SIGTERM
    assert (project.folder / "ragcheck-results" / "rag.partial_summary.json").is_file()
    # As in one process, a run with calls of rag_check alone has no header.
    assert ("endpoint from the rag_client fixture" in run.text) is (name != "none.json")


@two_ways
def test_sigterm_while_a_session_fixture_starts_leaves_a_partial_result(project: Project) -> None:
    project.ask(good("terms"), good("hours"))
    project.conftest(
        JUDGE
        + """
import os, signal, time

@pytest.fixture(scope="session")
def rag_client():
    time.sleep(0.5)  # until the controller knows that a question is set up
    os.kill(os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid(), signal.SIGTERM)
    time.sleep(60)
"""
    )
    run = project.run(subprocess=True)
    assert run.exit_status == 128 + signal.SIGTERM
    assert run.document("rag.partial_summary.json")["n_not_run"] == 2


def test_a_quick_second_sigterm_loses_no_file(project: Project) -> None:
    project.ask(good("terms"))
    # `timeout` signals the process and then its group.
    project.write(
        "test_timeout.py",
        """
import os, signal, time

def test_timeout():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
""",
    )
    run = project.run(subprocess=True)
    assert run.exit_status == 128 + signal.SIGTERM
    assert (project.folder / "ragcheck-results" / "rag.partial_summary.json").is_file()


@three_ways
def test_a_quick_second_ctrl_c_loses_no_file(project: Project) -> None:
    project.conftest(
        JUDGE
        + """
import asyncio, os, signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what it runs in the background
worker = "PYTEST_XDIST_WORKER" in os.environ

class Interrupted(CannedRag):
    async def ask(self, question):
        await asyncio.sleep(0.5)  # until the controller knows that the question has begun
        os.kill(os.getppid() if worker else os.getpid(), signal.SIGINT)
        await asyncio.sleep(3600)

@pytest.fixture(scope="session")
def rag_client():
    return Interrupted()

def pytest_keyboard_interrupt():
    os.kill(os.getpid(), signal.SIGINT)
"""
    )
    project.ask(good("terms"))
    run = project.run(subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert "partial: 1 of the collected questions was not run" in run.lines
    assert "rag.partial_summary.json" in run.files


STUBBORN = """
import asyncio, os, signal, threading, time

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what it runs in the background

class Stubborn(CannedRag):
    async def ask(self, question):
        if "terms" in question.question:
            return await super().ask(question)
        BODY
        (HERE / "waited_for.txt").touch()

@pytest.fixture(scope="session")
def rag_client():
    return Stubborn()

@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()
"""

BLOCKING = """
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)
"""

BLOCKING_AGAIN = """
        os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        time.sleep(30)
"""

SWALLOWING = """
        os.kill(os.getpid(), signal.SIGINT)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                pass
"""


AGAIN = SWALLOWING.replace(
    "pass", "if not (HERE / 'again.txt').exists(): (HERE / 'again.txt').touch(); os.kill(os.getpid(), signal.SIGINT)"
)


@pytest.mark.parametrize(
    "body",
    [BLOCKING, BLOCKING_AGAIN, SWALLOWING, AGAIN],
    ids=[
        "blocks the loop",
        "blocks it while Ctrl-C is pressed again",
        "swallows its cancellation",
        "swallows it while Ctrl-C is pressed again",
    ],
)
def test_ctrl_c_waits_for_no_client_that_goes_on(project: Project, body: str) -> None:
    project.conftest(STUBBORN.replace("        BODY", body.strip("\n")))
    project.ask(good("terms"), good("hours"))
    run = project.run(subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert not (project.folder / "waited_for.txt").exists()
    assert run.document("rag.partial_summary.json")["complete"] is False


@two_ways
def test_a_client_that_blocks_the_event_loop_is_named_once(project: Project) -> None:
    project.conftest(STUBBORN.replace("BODY", "time.sleep(4); return await super().ask(question)"))
    project.ask(good("hours"), good("terms"))
    run = project.run(subprocess=True)
    assert run.outcomes == {"passed": 2}
    line = (
        "your async rag_client blocks the event loop in Stubborn.ask (conftest.py:50): until it returns no other "
        "question is asked, and no time limit runs. Make it a plain function, which runs in a thread of its own, or "
        "await what takes long."
    )
    assert [each.removeprefix("ragcheck: ") for each in run.lines if "blocks the event loop" in each] == [line]


@exhaustive
@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_a_client_that_blocks_the_event_loop_of_a_worker_is_named_while_it_does(project: Project) -> None:
    project.conftest(STUBBORN.replace("BODY", "time.sleep(4); os.kill(os.getppid(), signal.SIGINT); time.sleep(30)"))
    project.ask(good("hours"), good("terms"))
    run = project.run(subprocess=True)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert run.text.count("your async rag_client blocks the event loop in Stubborn.ask (conftest.py:50)") == 1


def test_a_client_that_stops_the_event_loop_loses_no_file(project: Project) -> None:
    project.conftest(
        JUDGE
        + """
import asyncio

class Stopping(CannedRag):
    async def ask(self, question):
        asyncio.get_running_loop().stop()
        return await super().ask(question)

@pytest.fixture(scope="session")
def rag_client():
    return Stopping()
"""
    )
    project.ask(good("terms"), good("hours"))
    run = project.run(subprocess=True)
    assert run.verdicts == {"terms": "PASS", "hours": "PASS"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
def test_a_forked_child_asks_on_its_own(project: Project) -> None:
    project.reply_to(good("terms"))
    project.write(
        "test_own.py",
        """
import os

def test_own(rag_check):
    rag_check("What about terms?").assert_passed()
    child = os.fork()
    if not child:
        try:
            rag_check("What about terms?").assert_passed()
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    rag_check("What about terms?").assert_passed()
""",
    )
    run = project.run("-W", "ignore::DeprecationWarning", subprocess=True)
    assert run.outcomes == {"passed": 1}
    assert len(run.asked) == 3


def test_a_client_that_cancels_itself_is_an_error_of_its_question(project: Project) -> None:
    project.conftest(
        JUDGE
        + """
import asyncio

class Cancelling(CannedRag):
    async def ask(self, question):
        raise asyncio.CancelledError

@pytest.fixture
def rag_client():
    return Cancelling()
"""
    )
    project.ask(good("terms"))
    run = project.run()
    assert run.errors_by_id == {"terms": ("not_evaluated", "the client or the judge raised its own cancellation")}
    assert run.summary["complete"] is True


# pytest-forked runs items in this way.
ITEMS_IN_CHILDREN = """
import marshal
import os
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item):
    hook, config = item.config.hook, item.config
    reading, writing = os.pipe()
    if not os.fork():
        reports = runtestprotocol(item, log=False)
        sent = [hook.pytest_report_to_serializable(config=config, report=report) for report in reports]
        with open(writing, "wb") as pipe:
            pipe.write(marshal.dumps(sent))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        received = marshal.loads(pipe.read())
    os.wait()
    for each in received:
        hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=config, data=each))
    return True
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
def test_items_that_run_in_forked_children_are_asked_once_and_have_their_records(project: Project) -> None:
    project.ask(good("terms"), bad("prices"), broken("hours"))
    project.write("test_own.py", 'def test_own(rag_check): rag_check("What about terms?").assert_passed()\n')
    project.extend_conftest(ITEMS_IN_CHILDREN)
    run = project.run("-p", "no:xdist", "-W", "ignore::DeprecationWarning", subprocess=True)
    assert run.outcomes == {"passed": 2, "failed": 1, "error": 1}
    assert run.verdicts == {"terms": "PASS", "prices": "FAIL", "hours": "ERROR", "test_own-1": "PASS"}
    assert run.summary["complete"] is True
    assert len(run.asked) == 4


@pytest.mark.parametrize(
    ("statement", "outcomes"),
    [
        ("pytest.skip('not today')", {"passed": 1, "skipped": 1}),
        ("import unittest; raise unittest.SkipTest('not today')", {"passed": 1, "skipped": 1}),
        ("pytest.fail('no index')", {"passed": 1, "error": 1}),
        ("pytest.xfail('known')", {"passed": 1, "xfailed": 1}),
    ],
)
def test_what_a_client_tells_pytest_is_heard(project: Project, statement: str, outcomes: dict[str, int]) -> None:
    project.conftest(
        JUDGE
        + f"""
class Telling(CannedRag):
    async def ask(self, question):
        if "terms" in question.question:
            {statement}
        return await super().ask(question)

@pytest.fixture
def rag_client():
    return Telling()
"""
    )
    project.ask(good("terms"), good("hours"))
    run = project.run()
    assert run.outcomes == outcomes
    assert (", 0 ERROR, " in run.text) == ("error" not in outcomes)


@pytest.mark.parametrize(
    ("way", "statement", "said"),
    [
        ("plain", "sys.exit(3)", "SystemExit: 3"),
        pytest.param("n2", "sys.exit(3)", "SystemExit: 3", marks=exhaustive),
        ("plain", "raise GeneratorExit", "GeneratorExit"),
        ("plain", "raise Stop('now')", "Stop: now"),
        ("plain", "raise OSError('gone')", "OSError: gone"),
    ],
    indirect=["way"],
)
def test_a_client_that_would_end_more_than_its_question_takes_no_other_with_it(
    project: Project, statement: str, said: str
) -> None:
    project.conftest(
        JUDGE
        + f"""
import sys

class Stop(BaseException):
    pass

class Exiting(CannedRag):
    async def ask(self, question):
        if "stop" in question.question:
            {statement}
        return await super().ask(question)

@pytest.fixture(scope="session")
def rag_client():
    return Exiting()
"""
    )
    project.ask(good("stop"), good("terms"), good("hours"))
    run = project.run()
    assert run.outcomes == {"passed": 2, "error": 1}
    assert run.errors_by_id == {"stop": ("not_evaluated", said)}
    assert ("RuntimeError: the client or the judge raised " in run.text) is (not said.startswith("OSError"))
    # The traceback shows the user's frames and none of the package's.
    section = "\n".join(run.section("ERROR at setup of stop"))
    assert f"{statement}" in section
    assert "pytest_ragcheck/" not in section


def test_a_question_that_its_client_fails_is_an_error_of_a_call_too(project: Project) -> None:
    project.conftest(
        JUDGE
        + """
class Telling(CannedRag):
    async def ask(self, question):
        pytest.fail("no index, api_key=sk-abcdef0123456789abcdef")

@pytest.fixture
def rag_client():
    return Telling()
"""
    )
    project.ask(good("terms"))
    project.write("test_own.py", "def test_own(rag_check):\n    rag_check('What about terms?')\n")
    run = project.run()
    assert run.outcomes == {"failed": 1, "error": 1}
    said = ("not_evaluated", "no index, api_key=[redacted]")
    assert run.errors_by_id == {"terms": said, "test_own-1": said}
    section = run.section("ERROR at setup of terms")
    assert "question  What about terms?" in section
    assert not any(".py" in line for line in section)


def test_an_internal_end_of_the_run_in_a_test_leaves_files(project: Project) -> None:
    project.ask(good("terms"), good("hours"))
    project.write("test_zz.py", "import pytest\ndef test_zz(): pytest.exit('enough', returncode=9)\n")
    run = project.run()
    assert run.exit_status == 9
    assert run.document("rag.partial_summary.json")["counts"]["pass"] == 2


def test_one_run_after_another_in_one_process_share_nothing(project: Project) -> None:
    project.ask(good("terms"), broken("hours"))
    first, second = project.run(), project.run("-k", "terms", "--rag-output=other")
    assert first.counts == {"pass": 1, "fail": 0, "error": 1, "skipped": 0}
    assert second.outcomes == {"passed": 1, "deselected": 1}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="every place has a line")
def test_an_interruption_between_two_lines_is_shown_at_the_last_place_that_has_one(pytestconfig: pytest.Config) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    # As the interpreter marks instructions that belong to no line: an entry for each, and none beyond the last, for a
    # tracer writes as many lines as the table has into room for the code's.
    units = len(interrupted.__code__.co_code) // 2
    interrupted.__code__ = interrupted.__code__.replace(co_linetable=b"\xf8" * units)
    with pytest.raises(KeyboardInterrupt) as caught:
        interrupted()
    assert list(traceback.walk_tb(caught.tb))[-1][1] is None
    shorten(caught, pytestconfig)
    assert [entry.name for entry in caught.traceback] == [
        "test_an_interruption_between_two_lines_is_shown_at_the_last_place_that_has_one"
    ]
