"""Documents are uploaded once before the questions and deleted after the run; test_ends.py has the ends of runs."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli import main
from tests.check_documents import THERE
from tests.check_documents import run as shared
from tests.harness import exhaustive, three_ways, two_ways
from tests.servers.document_server import DocumentServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from tests.harness import Project, Run

QUESTIONS = """\
ingest: true
questions:
  - id: refund
    question: Within how many days is a refund possible?
    expected_answer: 30 days
    gold_passages: [{doc_id: "shop:terms", text: A refund is possible within 30 days.}]
    distractors: [Nobody lives here.]
  - id: opens
    question: When does the shop open?
    expected_answer: at 9
    gold_passages: [{doc_id: "shop:hours", text: The shop opens at 9.}]
    distractors: [{doc_id: "shop:terms", text: A refund is possible within 30 days.}]
"""

# Notes the server's documents as soon as they are there, and then performs the row's action.
END = """\
import json, os, signal, time, urllib.request
import pytest

def test_end(pytestconfig):
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
    for _ in range(200):
        with direct.open({url!r}) as reply:
            names = sorted(row["file_name"] for row in json.load(reply))
        if len(names) == 4:
            break
        time.sleep(0.05)
    with open("during.json", "w") as file:
        json.dump(names, file)
    {what}
"""

BEFORE = {"old": "shop_terms.txt"}
DURING = 4


def run_to(project: Project, server: DocumentServer, what: str, *arguments: str, subprocess: bool = False) -> Run:
    project.write("shop.rag.yaml", QUESTIONS)
    project.write("test_zz_end.py", END.format(url=f"{server.url.removesuffix('/query')}/documents", what=what))
    options = (f"--rag-url={server.url}", "--rag-judge=offline", "-o", "rag_disable=cache", *arguments)
    return project.run(*options, subprocess=subprocess)


def ledgers(project: Project) -> list[str]:
    folder = project.folder / "ragcheck-results" / ".ragcheck" / "documents"
    return sorted(path.name for path in folder.glob("*/ledger.jsonl"))


def seen_during(project: Project) -> list[str]:
    names: list[str] = json.loads((project.folder / "during.json").read_text())
    return names


@three_ways
def test_documents_are_there_during_the_run_and_gone_after_it(project: Project) -> None:
    with DocumentServer(there=BEFORE) as server:
        run = run_to(project, server, "pass")
        assert sorted(server.uploaded) == sorted(set(server.uploaded))
        assert len(server.uploaded) == 3
        assert server.documents == BEFORE
        assert all(r.json["include_chunks"] for r in server.requests if (r.method, r.path) == ("POST", "/query"))
    assert run.verdicts == {"refund": "PASS", "opens": "PASS"}, run.text
    assert len(seen_during(project)) == DURING
    assert ledgers(project) == []
    assert run.summary["documents"] == {"deleted": 3, "kept": 0, "left": []}
    assert "documents: 3 deleted" in run.lines
    (row,) = (row for row in run.predictions["predictions"] if row["question_id"] == "opens")
    assert row["source_ids"] == ["shop:hours"]
    assert row["metadata"]["server_source_ids"][0].startswith("id-")
    assert run.summary["overall_metrics"]["recall_at_1"] == 1.0


def test_what_a_killed_run_left_is_deleted_by_the_next(project: Project) -> None:
    with DocumentServer(there=BEFORE) as server:
        run_to(project, server, "os.kill(os.getpid(), signal.SIGKILL)", subprocess=True)
        assert len(server.documents) == DURING
        assert len(ledgers(project)) == 1
        run = run_to(project, server, "pass")
        assert server.documents == BEFORE, run.text
    assert run.summary["documents"]["deleted"] == 6
    assert ledgers(project) == []


@exhaustive  # waits 10 s for them; tests/rag/documents has the same with less patience
def test_documents_created_after_the_run_are_reported_and_deleted_by_cleanup(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS)
    with DocumentServer(there=BEFORE, stuck="", replies={"GET /tasks": (500, {})}) as server:
        run = project.run(f"--rag-url={server.url}", "--rag-judge=offline", "-o", "rag_disable=cache")
        documents = run.document("rag.partial_summary.json")["documents"]
        names = sorted(left["file_name"] for left in documents["left"])
        assert names == sorted(server.uploaded)
        assert (run.exit_status, documents["deleted"], len(ledgers(project))) == (1, 0, 1)
        assert f"WARNING: document ? (file {names[-1]}) is left: its batch {names[-1]} cannot be followed" in run.text
        for number, name in enumerate(server.uploaded):
            server.documents[f"late-{number}"] = name
        output = f"--output={project.folder / 'ragcheck-results'}"
        assert main(["cleanup", f"--rag-url={server.url}", output]) == 0
        assert server.documents == BEFORE
    assert ledgers(project) == []


def test_what_cannot_be_deleted_is_reported_and_turns_the_run_red_and_no_verdict(project: Project) -> None:
    with DocumentServer(there=BEFORE, undeletable="hours") as server:
        run = run_to(project, server, "pass", "--rag-report=report.md")
        assert sorted(server.documents.values()) == ["shop_hours.txt", "shop_terms.txt"]
    (left,) = run.summary["documents"]["left"]
    assert left["file_name"] == "shop_hours.txt"
    assert f"WARNING: document {left['id']} (file shop_hours.txt) is left: {left['reason']}" in run.lines
    assert "documents: the run is red because documents are left; the verdicts are not affected" in run.lines
    assert run.exit_status == 1
    assert run.verdicts == {"refund": "PASS", "opens": "PASS"}
    assert len(ledgers(project)) == 1
    assert main(["report", "ragcheck-results", "-o", "later.md"]) == 0
    for name in ("report.md", "later.md"):
        text = project.folder.joinpath(name).read_text(encoding="utf-8")
        assert text.startswith("## ❌ rag: shop: 1 document left in the system\n")


def test_a_merge_of_shards_that_left_documents_is_red(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with DocumentServer(there=BEFORE, undeletable="hours") as server:
        assert run_to(project, server, "pass", "--rag-shard=1/1", "--rag-output=part").exit_status == 1
    capsys.readouterr()
    assert main(["merge", "part"]) == 1
    text = "documents: the run is red because documents are left; the verdicts are not affected\n"
    assert capsys.readouterr().out.endswith(text)


@pytest.mark.parametrize(
    ("disabled", "what", "left"),
    [("cleanup", "pass", 4), ("cleanup-on-failure", "assert False", 4), ("cleanup-on-failure", "pass", 1)],
)
def test_documents_are_kept_where_that_is_asked_for(project: Project, disabled: str, what: str, left: int) -> None:
    with DocumentServer(there=BEFORE) as server:
        run = run_to(project, server, what, "-o", f"rag_disable={disabled}")
        assert len(server.documents) == left
    assert run.summary["documents"]["kept"] == left - 1
    assert len(ledgers(project)) == (left > 1)


def test_the_questions_of_a_document_that_failed_are_errors_and_the_rest_runs(project: Project) -> None:
    with DocumentServer(failing="hours") as server:
        project.write("shop.rag.yaml", QUESTIONS.replace("ingest: true\n", ""))
        run = project.run(f"--rag-url={server.url}", "--rag-judge=offline", "--rag-ingest")
        assert server.documents == {}
    assert run.verdicts == {"refund": "PASS", "opens": "ERROR"}
    kind, message = run.errors_by_id["opens"]
    assert kind == "ingestion"
    assert "document 'shop:hours' (file shop_hours.txt) was uploaded, and the server could not read it" in message


@pytest.mark.parametrize("way", ["plain", "n2", pytest.param("no-xdist", marks=exhaustive)], indirect=True)
def test_a_server_that_takes_no_documents_ends_the_run_with_its_first_question(project: Project) -> None:
    with DocumentServer(replies={"POST /upload": (404, {})}) as server:
        project.write("shop.rag.yaml", MANY)
        run = project.run(f"--rag-url={server.url}", "--rag-judge=none")
        assert [request.path for request in server.requests].count("/upload") == 1
    assert run.exit_status == 1, run.text
    (line,) = run.short_summary
    assert "/upload: status 404 Not Found" in line
    assert "the system takes no further documents" in run.text
    assert run.document("rag.partial_summary.json")["counts"] == {"pass": 0, "fail": 0, "error": 1, "skipped": 0}
    assert "partial: 5 of the collected questions were not run" in run.lines


@pytest.mark.parametrize("route", ["POST /upload", "GET /tasks"])
def test_a_server_that_fails_with_every_document_ends_the_run_with_its_first_question(
    project: Project, route: str
) -> None:
    with DocumentServer(replies={route: (500, {})}) as server:
        project.write("shop.rag.yaml", MANY)
        run = project.run(f"--rag-url={server.url}", "--rag-judge=none", "-orag_disable=cleanup")
        assert [request.path for request in server.requests].count("/upload") == 3
    assert run.exit_status == 1, run.text
    assert len(run.short_summary) == 1
    assert "status 500 Internal Server Error" in run.text
    assert "3 documents in a row failed; no further one was sent." in run.text
    assert run.document("rag.partial_summary.json")["counts"]["error"] == 1


@two_ways
def test_a_rerun_does_not_lose_the_error_of_a_server_that_takes_no_documents(project: Project) -> None:
    with DocumentServer(replies={"POST /upload": (404, {})}) as server:
        project.write("shop.rag.yaml", MANY)
        run = project.run(f"--rag-url={server.url}", "--rag-judge=none", "--reruns=1")
    (line,) = run.short_summary
    assert "/upload: status 404 Not Found" in line
    assert run.document("rag.partial_summary.json")["counts"]["error"] == 1


@pytest.mark.parametrize("way", ["plain", "n2", pytest.param("no-xdist", marks=exhaustive)], indirect=True)
def test_a_server_whose_worker_is_dead_ends_the_run_with_its_first_question(project: Project) -> None:
    with DocumentServer(stuck="") as server:
        project.write("shop.rag.yaml", MANY)
        run = project.run(f"--rag-url={server.url}", "--rag-judge=none", "-orag_timeout=1", "-orag_disable=cleanup")
        assert len(server.uploaded) == 1
    assert run.exit_status == 1, run.text
    (line,) = run.short_summary
    assert "was uploaded, and the server has read nothing for 2 s (0 of 1 files)" in line
    assert "partial: 5 of the collected questions were not run" in run.lines


@two_ways
def test_a_worker_that_dies_between_uploads_ends_the_run_at_the_first_question_that_needs_one(
    project: Project,
) -> None:
    def die(server: DocumentServer, _: str) -> None:
        server.stuck = None if len(server.uploaded) == 1 else ""

    with DocumentServer(on_upload=die) as server:
        project.write("shop.rag.yaml", MANY)
        run = project.run(f"--rag-url={server.url}", "--rag-judge=none", "-orag_timeout=0.4", "-orag_disable=cleanup")
        assert len(server.uploaded) == 3
    assert run.exit_status == 1, run.text
    (line,) = run.short_summary
    assert "was uploaded, and the server has read nothing for 0.8 s (0 of 1 files)" in line
    # With workers the first question can still be behind the document that is not read.
    totals = {f"{passed} PASS, 0 FAIL, 1 ERROR, 0 skipped, {5 - passed} not run" for passed in (0, 1)}
    assert not totals.isdisjoint(run.lines)


@two_ways
def test_a_ledger_that_cannot_be_written_is_an_error_that_says_so(project: Project) -> None:
    project.write("ragcheck-results/.ragcheck", "")
    with DocumentServer() as server:
        project.write("shop.rag.yaml", MANY)
        run = project.run(f"--rag-url={server.url}", "--rag-judge=none")
        assert server.uploaded == []
    assert "the ledger of the uploads cannot be written: Not a directory" in run.text
    assert "the system takes no further documents" in run.text
    assert "NotADirectoryError" not in run.text


BLOCKING_JUDGE = """
import os, signal, time
import pytest

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what it runs in the background

class Blocking:
    async def judge(self, question, answer):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)

@pytest.fixture(scope="session")
def rag_judge():
    return Blocking()
"""


def test_ctrl_c_deletes_the_documents_while_a_judge_blocks_the_event_loop(project: Project) -> None:
    project.write("conftest.py", BLOCKING_JUDGE)
    with DocumentServer() as server:
        project.write("shop.rag.yaml", MANY)
        run = project.run(f"--rag-url={server.url}", subprocess=True)
        assert run.exit_status == pytest.ExitCode.INTERRUPTED, run.text
        assert len(server.uploaded) == 3
        assert server.documents == {}
    assert "documents: 3 deleted" in run.lines


NOTES_ITS_PID = """
import os, signal

signal.signal(signal.SIGINT, signal.default_int_handler)
if "PYTEST_XDIST_WORKER" not in os.environ:
    open("pid.txt", "w").write(str(os.getpid()))
"""


@pytest.mark.parametrize(("way", "number"), [("plain", 15), ("plain", 2), ("n2", 15), ("n2", 2)], indirect=["way"])
def test_a_signal_during_the_deletion_loses_neither_documents_nor_results(project: Project, number: int) -> None:
    class Interrupting(DocumentServer):
        signals = 1

        def _delete(self, key: str) -> tuple[int, Any]:
            if self.signals:
                self.signals = 0
                os.kill(int((project.folder / "pid.txt").read_text()), number)
                time.sleep(0.3)
            return super()._delete(key)

    project.write("conftest.py", NOTES_ITS_PID)
    project.write("shop.rag.yaml", MANY)
    with Interrupting() as server:
        run = project.run(f"--rag-url={server.url}", "--rag-judge=none", subprocess=True)
        assert len(server.uploaded) == 3
        assert server.documents == {}
    assert run.exit_status == {2: 2, 15: 143}[number], run.text
    (summary,) = (project.folder / "ragcheck-results").glob("*_summary.json")
    assert json.loads(summary.read_text())["counts"]["pass"] == 6


def test_without_being_asked_for_nothing_goes_up(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS.replace("ingest: true\n", ""))
    with DocumentServer() as server:
        project.run(f"--rag-url={server.url}", "--rag-judge=offline", "-o", "rag_shape=server")
        assert server.uploaded == []
        assert {request.path for request in server.requests} == {"/query"}


def test_a_function_takes_no_documents(project: Project) -> None:
    project.write(
        "conftest.py",
        "import pytest\n"
        "@pytest.fixture(scope='session')\n"
        "def rag_client():\n"
        "    return lambda query: {'answer': query, 'contexts': []}\n",
    )
    project.write("shop.rag.yaml", QUESTIONS)
    run = project.run("--rag-judge=offline")
    kind, message = run.errors_by_id["opens"]
    assert kind == "ingestion"
    assert "is a function, which has no routes for documents" in message


@pytest.mark.parametrize("options", [(), pytest.param(("-n2",), marks=exhaustive)], ids=["plain", "n2"])
def test_documents_that_questions_share_go_up_once(tmp_path: Path, options: tuple[str, ...]) -> None:
    seen = shared(tmp_path / "run", *options, documents=20, questions=100)
    assert (seen.status, seen.uploads, seen.distinct, seen.left) == (0, 20, 20, THERE), seen.text


def both_workers(project: Project) -> Callable[[DocumentServer, str], None]:
    """Holds back the first upload until two workers wait for it, so that each of them has questions."""
    met = False

    def wait(_: DocumentServer, __: str) -> None:
        nonlocal met
        end = time.monotonic() + 30
        while not met:
            met = len(list(project.folder.glob("ragcheck-results/.ragcheck/documents/*/*.lock"))) == 2
            assert time.monotonic() < end
            time.sleep(0.01)

    return wait


# More than one worker takes upon itself, so that every worker has some.
MANY = "ingest: true\nquestions:\n" + "".join(
    f"  - {{id: q{number}, question: What does item {number} cost?, expected_answer: {number} euro, "
    f"gold_passages: [{{doc_id: 'shop:{number % 3}', text: Item {number % 3} costs {number % 3} euro.}}]}}\n"
    for number in range(6)
)

OWN_CLIENT = """\
import pytest
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client():
    return RagClient({url!r}, headers={{"Authorization": "Bearer of-the-conftest"}})
"""

NAMESAKES = """\
import os
import httpx, pytest
from pytest_ragcheck import RagClient

class Own(httpx.AsyncHTTPTransport):
    async def handle_async_request(self, request):
        request.url = request.url.copy_with(host="127.0.0.1", port={ports}[os.environ["PYTEST_XDIST_WORKER"]])
        return await super().handle_async_request(request)

@pytest.fixture(scope="session")
def rag_client():
    return RagClient("http://shop.test/query", http=httpx.AsyncClient(transport=Own()), close_http=True)
"""


def run_many(project: Project, conftest: str, *options: str) -> Run:
    project.write("shop.rag.yaml", MANY)
    project.write("conftest.py", conftest)
    return project.run("--rag-judge=none", "--rag-concurrency=2", "-o", "rag_judge_concurrency=2", *options)


@pytest.mark.parametrize("known", [True, False], ids=["same_url", "no_url"])
def test_a_client_of_one_s_own_puts_the_documents_in_once_for_all_workers(project: Project, known: bool) -> None:
    with DocumentServer(there=BEFORE, on_upload=both_workers(project)) as server:
        url = [f"--rag-url={server.url}"] if known else []
        run = run_many(project, OWN_CLIENT.format(url=server.url), "-n2", *url)
        assert len(server.uploaded) == 3, run.text
        assert server.documents == BEFORE
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer of-the-conftest"}
    assert run.counts["pass"] == 6, run.text
    assert run.summary["documents"] == {"deleted": 3, "kept": 0, "left": []}
    assert ledgers(project) == []


NEXT_RUN = """

@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    # Between the last worker and the end of the controller another run begins.
    if not hasattr(session.config, "workerinput"):
        from pytest_ragcheck.engine.store.last_run import open_store
        from pytest_ragcheck.redaction import Redactor

        home = session.config.rootpath / "ragcheck-results" / ".ragcheck" / "rag"
        run = {"fingerprint": {}, "redactor": Redactor(), "resume": False, "alone": True, "on_failure": print}
        open_store(home, "29991231", **run).file.close()
"""


def test_another_run_that_begins_loses_nothing_of_what_the_workers_deleted(project: Project) -> None:
    with DocumentServer(there=BEFORE) as server:
        run = run_many(project, OWN_CLIENT.format(url=server.url) + NEXT_RUN, "-n2")
        assert server.documents == BEFORE
    assert run.summary["documents"] == {"deleted": 3, "kept": 0, "left": []}
    assert not list(project.folder.glob("ragcheck-results/.ragcheck/documents/*"))


def test_a_system_of_the_same_name_in_every_worker_has_its_documents_in_each(project: Project) -> None:
    wait = both_workers(project)
    with DocumentServer(there=BEFORE, on_upload=wait) as one, DocumentServer(there=BEFORE, on_upload=wait) as other:
        run = run_many(project, NAMESAKES.format(ports={"gw0": one.port, "gw1": other.port}), "-n2")
        assert (len(one.uploaded), len(other.uploaded)) == (3, 3), run.text
        assert one.documents == other.documents == BEFORE
    assert run.counts["pass"] == 6, run.text
    assert run.summary["documents"] == {"deleted": 6, "kept": 0, "left": []}


ENDING = """

@pytest.fixture(scope="session", autouse=True)
def worker_that_is_at_its_end(pytestconfig):
    from pytest_ragcheck.plugin.workers import worker_info
    from pytest_ragcheck.rag.documents.uploads import Ledger, folder_of_documents

    folder = folder_of_documents(pytestconfig.rootpath / "ragcheck-results")
    ledger = Ledger(folder / f"{worker_info(pytestconfig).run_id}-other")
    ledger.write(base=URL)
    ledger.write(document="old", file_name="shop_terms.txt")
"""


def test_a_worker_leaves_the_documents_that_another_one_deletes_at_its_end(project: Project) -> None:
    with DocumentServer(there=BEFORE) as server:
        run = run_many(
            project, OWN_CLIENT.format(url=server.url) + ENDING.replace("URL", repr(server.url.removesuffix("/query")))
        )
        assert server.documents == BEFORE
    assert run.summary["documents"] == {"deleted": 3, "kept": 0, "left": []}


WAKES = """

import signal
from pathlib import Path

def pytest_configure(config):
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        Path(worker).write_text(str(os.getpid()))

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    item.is_last = nextitem is None
    return (yield)

def pytest_runtest_call(item):
    if item.is_last and (stopped := Path("stopped")).exists():
        os.kill(int(stopped.read_text()), signal.SIGCONT)
        stopped.unlink()
"""


@pytest.mark.skipif(os.name == "nt", reason="stops a process by a signal")
def test_documents_of_a_worker_that_ends_before_another_has_its_own_are_deleted(project: Project) -> None:
    wait = both_workers(project)

    def stops(other: str) -> Callable[[DocumentServer, str], None]:
        """Stops the other worker, which waits for the documents, until this one ends."""

        def stop(server: DocumentServer, name: str) -> None:
            wait(server, name)
            stopped = project.folder / "stopped"
            if len(server.uploaded) == 3 and not ended:
                ended.append(other)
                pid = (project.folder / other).read_text(encoding="utf-8")
                stopped.write_text(pid, encoding="utf-8")
                os.kill(int(pid), signal.SIGSTOP)

        return stop

    ended: list[str] = []
    with (
        DocumentServer(there=BEFORE, on_upload=stops("gw1")) as one,
        DocumentServer(there=BEFORE, on_upload=stops("gw0")) as other,
    ):
        run = run_many(
            project,
            NAMESAKES.format(ports={"gw0": one.port, "gw1": other.port}) + WAKES,
            "-n2",
            "-o",
            "rag_disable=prefetch",
        )
        assert one.documents == other.documents == BEFORE, run.text
    assert run.counts["pass"] == 6, run.text
    assert run.summary["documents"]["left"] == []


def test_what_dead_workers_alone_could_delete_is_reported_and_left_to_the_command(project: Project) -> None:
    with DocumentServer(there=BEFORE) as server:
        project.write("conftest.py", OWN_CLIENT.format(url=server.url))
        project.write("shop.rag.yaml", QUESTIONS)
        url = f"{server.url.removesuffix('/query')}/documents"
        project.write("test_zz_end.py", END.format(url=url, what="os.kill(os.getpid(), signal.SIGKILL)"))
        run = project.run("--rag-judge=offline", "-n1", "--max-worker-restart=0")
        left = {row["id"]: row["file_name"] for row in run.summary["documents"]["left"]}
        assert left == {key: name for key, name in server.documents.items() if key != "old"}
        assert len(left) == 3
        reason = "the workers that had a client of its server have died; ragcheck cleanup deletes it"
        assert {row["reason"] for row in run.summary["documents"]["left"]} == {reason}
        assert main(["cleanup", f"--rag-url={server.url}", f"--output={project.folder / 'ragcheck-results'}"]) == 0
        assert server.documents == BEFORE


def test_a_failure_of_any_worker_keeps_the_documents_of_a_client_of_one_s_own(project: Project) -> None:
    with DocumentServer(there=BEFORE, on_upload=both_workers(project)) as server:
        project.write("test_first.py", "def test_first(): assert False")
        conftest = OWN_CLIENT.format(url=server.url)
        run = run_many(project, conftest, "-n2", "-o", "rag_disable=cleanup-on-failure")
        assert len(server.documents) == DURING
    assert run.counts["pass"] == 6, run.text
    assert run.summary["documents"] == {"deleted": 0, "kept": 3, "left": []}


def test_the_tier_retrieval_uploads_documents_too_and_finds_them_by_their_ids(project: Project) -> None:
    project.write(
        "search.rag.yaml",
        "tier: retrieval\ningest: true\nquestions:\n- id: opens\n  question: When does the shop open?\n"
        "  gold_passages: [{doc_id: 'shop:hours', text: The shop opens at nine.}]\n",
    )
    with DocumentServer(there=BEFORE) as server:
        run = project.run(f"--rag-url={server.url}")
        assert len(server.uploaded) == 1
        assert server.documents == BEFORE
    assert run.verdicts == {"opens": "PASS"}, run.text
    (row,) = run.predictions["predictions"]
    assert (row["prediction"], row["source_ids"]) == (None, ["shop:hours"])


CITED = """\
ingest: true
questions:
  - id: refund
    question: Within how many days is a refund possible?
    expected_answer: 30 days
    must_cite: ["shop:terms"]
    gold_passages: [{doc_id: "shop:terms", text: A refund is possible within 30 days.}]
"""


def cites_the_id_of_the_server(answer: str) -> DocumentServer:
    sources = [{"document_id": "id-1", "text": "A refund is possible within 30 days."}]
    return DocumentServer(replies={"POST /query": (200, {"answer": f"{answer} [id-1].", "sources": sources})})


def test_a_citation_of_an_uploaded_document_by_the_id_of_the_server_counts_in_a_replay(project: Project) -> None:
    project.write("shop.rag.yaml", CITED)
    with cites_the_id_of_the_server("A refund is possible within 30 days") as server:
        recorded = project.run(f"--rag-url={server.url}", "--rag-judge=offline", "--rag-output=recorded")
    run = project.run("--rag-replay=recorded", "--rag-judge=offline")
    assert run.verdicts == recorded.verdicts == {"refund": "PASS"}
    assert run.predictions["predictions"] == recorded.predictions["predictions"]
    assert main(["rejudge", str(project.folder / "recorded"), "--rag-judge=offline"]) == 0


def test_a_recorded_citation_of_an_uploaded_document_by_the_id_of_the_server_counts_side_by_side(
    project: Project,
) -> None:
    project.write("shop.rag.yaml", CITED)
    with cites_the_id_of_the_server("A refund is possible within 30 days") as server:
        project.run_before(f"--rag-url={server.url}", "--rag-judge=offline")
    assert main(["baseline", "save"]) == 0
    with cites_the_id_of_the_server("A refund costs 90 euros") as server:
        run = project.run(f"--rag-url={server.url}", "--rag-judge=offline")
    # Without the ids, the recorded answer would cite nothing, and fail side by side too.
    assert "baseline ragcheck-baseline.json: 1 confirmed as failing" in run.lines
    assert run.exit_status == 1
