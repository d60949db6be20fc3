"""A pytest run without questions does not notice the installed plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.canned import good
from tests.harness import three_ways, two_ways
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project

HEAVY = (
    "openai", "httpx", "httpx2", "pydantic", "jsonschema", "jmespath", "yaml", "sqlite3", "ragas", "numpy", "anyio",
)  # fmt: skip

TEST = f"""
import sys

def test_nothing_is_loaded():
    # What other plugins load is not ours: nothing of the package beyond what every run needs may be there.
    ours = {{name.removeprefix("pytest_ragcheck.") for name in sys.modules if name.startswith("pytest_ragcheck.")}}
    assert ours <= {{
        "_version", "config", "config.metric_readers",
        "config.readers", "config.table", "frozen", "package_text", "plugin",
        "plugin.configuration", "plugin.ending", "plugin.ending.recorder", "plugin.fixtures", "plugin.extensions",
        "plugin.plain_modules", "plugin.question_files", "plugin.run_state",
        "plugin.workers", "questions", "scores",
    }}
    assert not {{*{HEAVY!r}}} & set(sys.modules)

def test_no_fixture_is_wrapped(pytestconfig):
    wrappers = pytestconfig.hook.pytest_fixture_setup.get_hookimpls()
    assert not [each.plugin_name for each in wrappers if "ragcheck" in each.plugin_name]

def test_red():
    assert 1 == 2
"""

NO_ANYIO = ("-p", "no:anyio")
"""Its own plugin loads itself."""


@three_ways
def test_nothing_is_printed_written_or_imported(project: Project) -> None:
    project.junit = False
    project.write("test_own.py", TEST)
    run = project.run(*NO_ANYIO, "-v", fresh=True)
    assert run.outcomes == {"passed": 2, "failed": 1}
    without_plugins = [line for line in run.lines if not line.startswith(("plugins:", "rootdir:"))]
    assert "ragcheck" not in "\n".join(without_plugins).replace(str(project.folder), "")
    of_pytester = {"runpytest-0", "runpytest-current", "stdout", "stderr"}
    names = {path.name for path in project.folder.iterdir()} - of_pytester
    assert names - {"__pycache__"} == {"test_own.py", ".pytest_cache"}


LATER = """
import sys

def pytest_runtest_setup():
    parts = ("judging.offline", "plugin.ending.", "report.files.result", "summary.gate.", "verdict_cache")
    ours = [name for name in sys.modules if name.startswith("pytest_ragcheck.") and any(map(name.__contains__, parts))]
    assert sorted(ours) == ["pytest_ragcheck.plugin.ending.recorder"]
    assert not {"httpx", "httpx2", "pydantic", "jmespath", "sqlite3"} & sys.modules.keys()
"""


def test_what_the_first_question_does_not_need_is_imported_after_it(project: Project) -> None:
    project.write("conftest.py", LATER)
    project.ask(good("terms"))
    with FakeEndpoint(json_reply({"answer": "a", "contexts": ["a"]})) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=none", fresh=True)
    assert run.outcomes == {"passed": 1}


LOADERS = """
import sys

import pytest

pytest.register_assert_rewrite("pytest_ragcheck")  # as for a package that is not installed in place

def pytest_unconfigure():
    ours = {name: module for name, module in sys.modules.items() if name.startswith("pytest_ragcheck.")}
    rewritten = {name for name, module in ours.items() if type(module.__loader__).__name__ != "SourceFileLoader"}
    assert len(ours) > 100
    assert rewritten == {f"pytest_ragcheck.{name}" for name in ("_version", "plugin", "plugin.plain_modules")}
"""


def test_pytest_rewrites_no_module_of_the_package(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("plugins/loaders.py", LOADERS)
    monkeypatch.setenv("PYTHONPATH", str(project.folder / "plugins"))
    project.ask(good("terms"))
    run = project.run("-p", "loaders", fresh=True)
    assert (run.exit_status, run.outcomes) == (0, {"passed": 1})


def test_the_output_is_the_same_as_without_the_plugin(project: Project) -> None:
    project.junit = False
    project.write("test_own.py", TEST.replace("assert 1 == 2", "pass"))
    mine = project.run(*NO_ANYIO, "-q", fresh=True)
    without = project.run(*NO_ANYIO, "-q", "-p", "no:ragcheck", fresh=True)
    assert mine.progress == without.progress


WATCH = """
import atexit, os, sys

OPENED = []

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if isinstance(path, str) and flags & (os.O_WRONLY | os.O_RDWR):
            # The names of pytest's temporary files differ from run to run.
            OPENED.append(f"opens for writing in {os.path.dirname(os.path.abspath(path))}")
    elif event in {"socket.connect", "socket.bind", "sqlite3.connect", "subprocess.Popen", "os.mkdir", "os.rename"}:
        OPENED.append(event)

sys.addaudithook(watch)

@atexit.register
def tell():
    with open(f"{os.environ['OPENED']}.{os.getpid()}", "w") as file:
        file.write("\\n".join(sorted(OPENED)))
"""


def test_a_run_without_questions_works_in_a_build_without_bz2(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    project.write("build/bz2.py", "raise ImportError('No module named _bz2')\n")
    monkeypatch.setenv("PYTHONPATH", str(project.folder / "build"))
    assert project.run(fresh=True).outcomes == {"passed": 1}


def test_the_traceback_of_a_users_own_fixture_has_nothing_of_the_plugin(project: Project) -> None:
    fixture = "import pytest\n@pytest.fixture\ndef own():\n    raise OSError('no disk')\n"
    project.write("test_own.py", f"{fixture}def test_it(own): ...\n")
    run = project.run()
    assert "raise OSError('no disk')" in run.text
    assert "pytest_ragcheck" not in run.text


@two_ways
def test_nothing_is_opened_that_is_not_without_the_plugin(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.junit = False
    project.write("test_own.py", "def test_own(): pass\n")
    project.write("watch/sitecustomize.py", WATCH)
    monkeypatch.setenv("PYTHONPATH", str(project.folder / "watch"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    opened = {}
    for options in ((), ("-p", "no:ragcheck")):
        notes = tmp_path / f"opened{len(options)}"
        monkeypatch.setenv("OPENED", str(notes))
        assert project.run("-p", "no:cacheprovider", *options, fresh=True).outcomes == {"passed": 1}
        opened[options] = sorted(path.read_text(encoding="utf-8") for path in tmp_path.glob(f"{notes.name}.*"))
    mine, without = opened.values()
    assert mine == without
    assert any(mine), "the watch is at work"


@pytest.mark.parametrize("options", [["--rag-threshold=0.8"], ["--rag-url=http://localhost:9/q"]])
def test_options_alone_change_nothing(project: Project, options: list[str]) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    run = project.run(*options)
    assert (run.exit_status, run.outcomes, run.files) == (0, {"passed": 1}, [])
    assert "ragcheck:" not in run.text
    assert "no question was collected" not in run.text


@three_ways
def test_a_run_that_requires_its_endpoint_is_red_without_a_question(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    run = project.run("--rag-require-endpoint")
    assert (run.exit_status, run.outcomes, run.files) == (pytest.ExitCode.TESTS_FAILED, {"passed": 1}, [])
    assert (
        "no question was collected; --rag-require-endpoint turns such a run red. "
        "Check testpaths and the names of the files."
    ) in run.lines
    assert project.run("--rag-require-endpoint", "test_own.py").exit_status == 0
    project.write("pytest.ini", "[pytest]\nrag_require_endpoint = true\n")
    assert project.run().exit_status == 0


def test_questions_that_are_not_run_change_nothing(project: Project) -> None:
    project.ask(good("terms"))
    project.write("test_own.py", "def test_own(): pass\n")
    run = project.run("test_own.py")
    assert (run.outcomes, run.files, run.asked) == ({"passed": 1}, [], [])
    assert "ragcheck:" not in run.text


@pytest.mark.parametrize("options", [["--strict-markers", "--strict-config"], ["-W", "error"]])
def test_strict_runs_are_content_with_the_plugin(project: Project, options: list[str]) -> None:
    project.write("pytest.ini", "[pytest]\nrag_threshold = 0.8\n")
    project.ask(good("terms", tags=["smoke"]))
    run = project.run(*options, fresh=True)
    assert run.outcomes == {"passed": 1}
    assert "warning" not in run.text.lower()


def test_the_marker_is_described(project: Project) -> None:
    run = project.run("--markers")
    assert (
        "@pytest.mark.rag_questions(*paths): run the test for each question of the files, relative to the test file."
    ) in run.lines


def test_the_fixtures_are_described(project: Project) -> None:
    run = project.run("--fixtures")
    for fixture in ("rag_client", "rag_judge", "rag_settings", "rag_question", "rag_result", "rag_check"):
        assert any(line.startswith(fixture) for line in run.lines)


@two_ways
def test_a_run_leaves_signals_and_the_garbage_collector_alone(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(
        """
import signal, weakref

signal.signal(signal.SIGINT, signal.default_int_handler)

class Cycle:
    def __init__(self):
        self.itself = self

cycle = Cycle()
alive = weakref.ref(cycle)

class Looking(CannedRag):
    def ask(self, question):
        (HERE / "handler.txt").write_text(str(signal.getsignal(signal.SIGINT) is signal.default_int_handler))
        return RagAnswer(text="30 days", contexts=("30 days",))

@pytest.fixture(scope="session")
def rag_client():
    return Looking()
"""
    )
    project.write(
        "test_own.py",
        """
import gc

def test_own(request, rag_check):
    rag_check("What about terms?")
    own = next(each for each in request.config.pluginmanager.get_plugins() if hasattr(each, "Cycle"))
    del own.cycle
    gc.collect()
    assert own.alive() is None
""",
    )
    run = project.run(fresh=True)
    assert run.outcomes == {"passed": 2}
    assert (project.folder / "handler.txt").read_text(encoding="utf-8") == "True"
