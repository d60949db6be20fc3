"""The reference endpoints, started as a user starts them, keep the contract."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from pytest_ragcheck import RagClient
from pytest_ragcheck.cli import main
from tests.harness import python_of_forks, unavailable
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REPOSITORY = Path(__file__).parents[2]
ENDPOINTS = REPOSITORY / "examples" / "endpoints"
EXPRESS = ENDPOINTS / "express"
REFUNDS = "Refunds are possible within 30 days of delivery."
DELIVERY = "Standard delivery takes 3 working days."
QUESTION = "Within how many days of delivery are refunds possible?"


@contextmanager
def started(command: list[str], folder: Path, **environment: str) -> Iterator[str]:
    """The URL of the endpoint that a process serves, which has to say where it listens."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout
            said = []
            for line in process.stdout:
                said.append(line)
                if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                    yield f"{found[0]}/query"
                    return
            raise AssertionError(f"it does not serve, but says: {''.join(said)}")
        finally:
            process.terminate()


def node_modules() -> Path:
    """The packages of `npm ci`, in an ignored folder, installed once for each package-lock.json."""
    lock = (EXPRESS / "package-lock.json").read_bytes()
    target = REPOSITORY / "build" / f"express-{hashlib.sha256(lock).hexdigest()[:12]}" / "node_modules"
    if not target.is_dir():
        target.parents[1].mkdir(exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=target.parents[1]))
        try:
            for name in ("package.json", "package-lock.json", ".npmrc"):
                shutil.copy(EXPRESS / name, work)
            command = [str(shutil.which("npm")), "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            ended = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, timeout=300)
            if ended.returncode:
                unavailable(f"npm ci does not work here: {ended.stderr.strip()[-300:]}")
            if not target.is_dir():  # another worker may have been quicker
                work.rename(target.parent)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return target


@contextmanager
def fastapi() -> Iterator[str]:
    with started([*python_of_forks("-m", "uvicorn"), "main:app", "--port", "0"], ENDPOINTS / "fastapi") as url:
        yield url


@contextmanager
def express() -> Iterator[str]:
    if not shutil.which("node") or not shutil.which("npm"):
        unavailable("the Express endpoint needs node and npm, which are not installed here")
    # The example has its modules beside it; here they are where the checkout stays clean.
    with started(["node", "server.js"], EXPRESS, PORT="0", NODE_PATH=str(node_modules())) as url:
        yield url


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture(scope="module", params=[fastapi, express])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with ExitStack() as stack:
        yield stack.enter_context(request.param())


@pytest.fixture
def post(url: str) -> Iterator[Callable[[object], httpx.Response]]:
    with httpx.Client(trust_env=False, timeout=30) as client:
        yield lambda body: client.post(url, json=body)


def test_it_passes_every_point_of_the_probe(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["probe", url, "--question", QUESTION, "--json"])
    points = json.loads(capsys.readouterr().out)["points"]
    assert status == 0
    assert [point["name"] for point in points if point["outcome"] != "pass"] == []


def test_it_answers_with_the_passage_that_has_most_of_the_question(post) -> None:
    assert post({"query": QUESTION, "top_k": 5}).json() == {"answer": REFUNDS, "contexts": [REFUNDS, *others()]}


def others() -> list[str]:
    """The passages that share the word `days` or `delivery` with the question, in the order of both."""
    return [
        DELIVERY,
        "Support answers from 9:00 to 17:00 on working days.",
        "A return label is free of charge and valid for 14 days.",
    ]


@pytest.mark.parametrize(
    ("top_k", "contexts"), [({}, 4), ({"top_k": None}, 4), ({"top_k": 1}, 1), ({"top_k": 0}, 0), ({"top_k": -1}, 0)]
)
def test_top_k_limits_the_contexts_and_may_be_left_out(top_k: dict[str, int | None], contexts: int, post) -> None:
    assert len(post({"query": QUESTION, **top_k}).json()["contexts"]) == contexts


@pytest.mark.parametrize("body", [{"query": ""}, {"query": "  "}, {}])
def test_no_query_is_400_with_an_error(body: dict[str, str], post) -> None:
    response = post(body)
    assert (response.status_code, response.json()) == (400, {"error": "query is required"})


def test_it_declines_what_the_passages_do_not_answer(post) -> None:
    assert post({"query": "Who founded the company?"}).json() == {
        "answer": "The documents do not answer this question.",
        "contexts": [],
    }


def test_the_lock_file_names_no_host_to_download_from() -> None:
    packages = json.loads((EXPRESS / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    installed = [package for name, package in packages.items() if name]
    assert installed
    assert not [package for package in installed if "resolved" in package]
    assert all(package["integrity"].startswith("sha512-") for package in installed)


# The page about them


def blocks(language: str) -> list[str]:
    pages = ("expose-an-endpoint.md", "check-an-endpoint.md")
    text = "".join((REPOSITORY / "docs" / "how-to" / name).read_text(encoding="utf-8") for name in pages)
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text)


def test_the_page_shows_both_examples_whole() -> None:
    assert blocks("python") == [(ENDPOINTS / "fastapi" / "main.py").read_text(encoding="utf-8")]
    assert blocks("javascript") == [(EXPRESS / "server.js").read_text(encoding="utf-8")]


def test_the_page_shows_what_the_probe_prints(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = [block for block in blocks("console") if block.startswith("$ ragcheck probe http://127.0.0.1:8000")]
    command, _, output = shown.partition("\n")
    _, _, _, *arguments = shlex.split(command.removeprefix("$ "))
    with fastapi() as url:
        assert main(["probe", url, *arguments]) == 0
    printed = re.sub(r"\d+\.\d\d s", "0.01 s", capsys.readouterr().out)
    assert re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8000", printed) == output


def test_the_page_shows_what_a_failure_looks_like(capsys: pytest.CaptureFixture[str]) -> None:
    lines = blocks("text")[0].splitlines()
    with FakeEndpoint(json_reply({"answer": "Within 30 days.", "sources": [{"text": "Refunds: 30 days."}]})) as server:
        assert main(["probe", server.url]) == 1
    assert re.sub(r"\d+\.\d\d s", "0.01 s", capsys.readouterr().out).splitlines()[2:][: len(lines)] == lines


def test_the_page_shows_what_curl_prints() -> None:
    (shown,) = [block for block in blocks("console") if block.startswith("$ curl ")]
    command, output, _ = shown.split("\n")
    body = shlex.split(command)[-1]
    with fastapi() as url, httpx.Client(trust_env=False, timeout=30) as client:
        assert client.post(url, content=body, headers={"content-type": "application/json"}).text == output
    assert json.loads(output) == json.loads(blocks("json")[0])


def test_the_page_shows_a_request_as_the_client_sends_it() -> None:
    _, body = blocks("http")[0].split("\n\n")
    with FakeEndpoint(json_reply({"answer": "", "contexts": []})) as server:
        with RagClient(server.url).blocking as client:
            client.query("Within how many days are refunds possible?")
        (sent,) = server.requests
    assert sent.body.decode() == body.strip()
    assert (sent.method, sent.path, sent.headers["content-type"]) == ("POST", "/query", "application/json")
