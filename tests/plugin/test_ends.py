"""
However a run ends, its documents are deleted or in a ledger, and earlier documents stay.

The rows are those of docs/reference/ingestion.md: `pytest tests/plugin/test_ends.py -v` goes through them.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from pytest_ragcheck.rag.documents.uploads import abandoned
from tests.harness import OTHERS, exhaustive, python_of_forks
from tests.servers.document_server import DocumentServer
from tests.servers.fake_endpoint import json_reply

if TYPE_CHECKING:
    import socket

    from typing_extensions import Self

    from tests.harness import Project
    from tests.servers.fake_endpoint import Request

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "ingestion.md"

QUESTIONS = """\
ingest: true
questions:
  - id: refund
    question: Within how many days is a refund possible in the {place}?
    expected_answer: 30 days
    gold_passages: [{{doc_id: "{place}:terms", text: A refund is possible in the {place} within 30 days.}}]
    distractors: [Nobody lives here.]
  - id: opens
    question: At what time does the {place} open?
    expected_answer: at 9
    gold_passages: [{{doc_id: "{place}:hours", text: The {place} opens at 9.}}]
"""

# Waits until the documents are there, and then performs the row's action.
END = """\
import json, os, signal, socket, time, urllib.request
import pytest

direct = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))

def read(path):
    with direct.open("{base}" + path) as reply:
        return json.load(reply)

def is_up():
    try:
        socket.create_connection(("127.0.0.1", {port})).close()
    except OSError:
        return False
    return True

def test_end():
    for _ in range(200):
        # The other worker may have deleted them again.
        if read("/most") >= 4:
            break
        time.sleep(0.05)
    {what}
"""

BROKEN = """\
import pytest

@pytest.fixture(scope="session", autouse=True)
def broken():
    yield
    1 / 0
"""

OWN_CLIENT = """\
import pytest
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client(rag_settings):
    return RagClient(rag_settings.endpoint.url, top_k=4)
"""

DOWN = 'read("/down")\n    while is_up(): pass'

BEFORE = {"old": "shop_terms.txt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a run is brought to its end."""

    what: str = "pass"
    """The action of the last test."""

    arguments: tuple[str, ...] = ()
    conftest: str = ""
    server: dict[str, Any] = field(default_factory=dict)
    """The fault of the server."""

    dies_uploading: bool = False
    """Whether the worker is killed over its last upload."""

    second: str | None = None
    """The prefix of the documents of another run at the same time; None without one."""

    status: int


def sends(name: str, *, to: str = "getpid") -> str:
    return f"os.kill(os.{to}(), signal.{name}); time.sleep(1)"


N2 = ("-n2",)

ENDS = {
    "success": End(status=0),
    "a FAIL": End(arguments=("--rag-min=f1=1",), status=1),
    "an ERROR": End(server={"replies": {"POST /query": (500, {})}}, status=1),
    "the first failure, with `-x`": End(what="assert False", arguments=("-x",), status=1),
    "an exception in a fixture": End(conftest=BROKEN, status=1),
    "`pytest.exit`": End(what="pytest.exit('enough', 7)", status=7),
    "Ctrl-C": End(what=sends("SIGINT"), status=2),
    "SIGTERM": End(what=sends("SIGTERM"), status=143),
    "SIGTERM, with `-n2`": End(what=sends("SIGTERM", to="getppid"), arguments=N2, status=143),
    "a worker is killed, with `-n2`": End(what=sends("SIGKILL"), arguments=N2, status=1),
    "a worker is killed, with `-n2` and a `rag_client` of one's own": End(
        what=sends("SIGKILL"), arguments=N2, conftest=OWN_CLIENT, status=1
    ),
    "SIGTERM, with `-n2` and a `rag_client` of one's own": End(
        what=sends("SIGTERM", to="getppid"), arguments=N2, conftest=OWN_CLIENT, status=143
    ),
    "a worker is killed while it uploads, with `-n1`": End(dies_uploading=True, arguments=("-n1",), status=1),
    "two runs at once, each with documents of its own": End(second="town", status=0),
    "SIGKILL": End(what=sends("SIGKILL"), status=-9),
    "SIGKILL of the controller, with `-n2`": End(what=sends("SIGKILL", to="getppid"), arguments=N2, status=-9),
    "the server is down when they are to be deleted": End(what=DOWN, status=1),
    "the server does not delete one of them": End(server={"undeletable": "hours"}, status=1),
    "two runs at once, with the same documents": End(second="shop", status=1),
}
"""By the words of the page."""

VARIANTS = {
    "a FAIL",
    "an ERROR",
    "an exception in a fixture",
    "`pytest.exit`",
    "SIGTERM",
    "SIGTERM, with `-n2` and a `rag_client` of one's own",
    "SIGKILL of the controller, with `-n2`",
}
"""Ends that take the same way through the code as another one."""


NOTHING_LEFT = (1, 4, 1, 0, 1)
COUNTS = {
    **dict.fromkeys(ENDS, NOTHING_LEFT),
    "two runs at once, each with documents of its own": (1, 7, 1, 0, 1),
    "SIGKILL": (1, 4, 4, 1, 1),
    "SIGKILL of the controller, with `-n2`": (1, 4, 4, 1, 1),
    "the server is down when they are to be deleted": (1, 4, 4, 1, 1),
    "the server does not delete one of them": (1, 4, 2, 1, 1),
    "two runs at once, with the same documents": (1, 7, 7, 2, 7),
}
"""The documents of a server that has one already before, during and after the run, the ledgers that stay, and the
documents after `ragcheck cleanup`."""


def test_the_page_shows_what_each_end_leaves() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## When a run ends")[2]
    rows = re.findall(r"(?m)^\| (.+) \| (\d) \| (\d) \|$", page)
    left = {name: (counts[2] - 1, counts[4] - 1) for name, counts in COUNTS.items() if counts[3]}
    assert {name: (int(after), int(cleaned)) for name, after, cleaned in rows} == left
    assert re.findall(r"(?m)^- (.+)$", page) == [name for name in COUNTS if name not in left]


class Observed(DocumentServer):
    """
    Counts its documents, and can be taken down by a request.

    Args:
        meeting: The number of runs at once; they wait for each other before their uploads and after them.
        more: Its faults.
    """

    def __init__(self, *, meeting: int, **more: Any) -> None:
        super().__init__(there=BEFORE, **more)
        self.most = len(self.documents)
        self._lists = 0
        self._meeting = threading.Barrier(meeting)
        self._down = threading.Event()

    def __enter__(self) -> Self:
        self._down.clear()
        return super().__enter__()

    def end(self) -> None:
        """Has it go down."""
        self._down.set()

    def go_down(self) -> None:
        """Waits until it has to, and does."""
        self._down.wait()
        self.__exit__()

    def _reply(self, connection: socket.socket, request: Request) -> bool:
        if self._down.is_set():  # on connections that were there before, too
            return False
        if request.path == "/most":
            return json_reply(self.most)(connection, request)
        if request.path == "/down":
            json_reply({})(connection, request)
            self.end()
            return False
        if (request.method, request.path) == ("GET", "/documents"):
            self._lists += 1
            if self._lists <= 2 * self._meeting.parties:
                self._meeting.wait(30)
        keep = super()._reply(connection, request)
        self.most = max(self.most, len(self.documents))
        return keep


def start(folder: Path, server: DocumentServer, end: End, place: str) -> subprocess.Popen[str]:
    folder.mkdir()
    (folder / f"a_{place}.rag.yaml").write_text(QUESTIONS.format(place=place))
    code = END.format(base=server.url.removesuffix("/query"), port=server.port, what=end.what)
    (folder / "test_zz_end.py").write_text(code)
    if end.conftest:
        (folder / "conftest.py").write_text(end.conftest)
    options = (f"--rag-url={server.url}", "--rag-judge=offline")
    command = [*python_of_forks("-m", "pytest"), *OTHERS, "-p", "no:cacheprovider", *options, *end.arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def kill_once(folder: Path, server: DocumentServer, _: str) -> None:
    """Kills the only worker when it has sent its three documents."""
    if len(server.uploaded) == 3:
        (lock,) = folder.glob("ragcheck-results/.ragcheck/documents/*/*.lock")
        os.kill(int(lock.stem), signal.SIGKILL)


def ledgers(folders: list[Path]) -> int:
    return sum(len(list(folder.glob("ragcheck-results/.ragcheck/documents/*/ledger.jsonl"))) for folder in folders)


@pytest.mark.parametrize("name", [pytest.param(name, marks=exhaustive if name in VARIANTS else ()) for name in ENDS])
def test_what_a_run_put_in_is_gone_or_known(project: Project, name: str) -> None:
    before, during, after, ledgers_after, cleaned = COUNTS[name]
    end = ENDS[name]
    places = ["shop"] if end.second is None else ["shop", end.second]
    folders = [project.folder / f"run{number}" for number in range(len(places))]
    on_upload = partial(kill_once, folders[0]) if end.dies_uploading else None
    server = Observed(meeting=len(places), on_upload=on_upload, **end.server)
    with server:
        assert len(server.documents) == before
        going_down = threading.Thread(target=server.go_down)
        going_down.start()
        runs = [start(folder, server, end, place) for folder, place in zip(folders, places, strict=True)]
        texts = [run.communicate(timeout=60)[0] for run in runs]
        server.end()
        going_down.join()
    shown = "\n".join(texts)  # pytest would shorten a list
    assert [run.returncode for run in runs] == [end.status] * len(places), shown
    assert (server.most, len(server.documents), ledgers(folders)) == (during, after, ledgers_after), shown
    if ledgers_after:
        # Workers outlive their controller by a moment.
        for _ in range(600):
            if sum(len(list(abandoned(folder / "ragcheck-results"))) for folder in folders) >= ledgers_after:
                break
            time.sleep(0.05)
        server._undeletable = None
        with server:
            left = [main(["cleanup", f"--rag-url={server.url}", f"--output={f / 'ragcheck-results'}"]) for f in folders]
        assert any(left) == (cleaned > before)
    assert len(server.documents) == cleaned
    assert server.documents["old"] == BEFORE["old"]
