"""`ragcheck comment`: one comment a system on the pull request, over imitations of both APIs."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.report.results import FAILED, PASSED, a_baseline, results_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass
class Host:
    """Keeps the comments of one pull request, 100 a page, as GitHub and GitLab do."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    status: int = 0
    """The status of every reply; 0: the right one."""

    url: str = ""


def handler_of(host: Host) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            host.requests.append((self.command, urlsplit(self.path).path))
            host.tokens.add(self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or "")
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            reply: Any = {}
            if self.command == "GET":
                page = int(parse_qs(urlsplit(self.path).query)["page"][0])
                reply = host.comments[100 * (page - 1) : 100 * page]
            elif self.command == "POST":
                reply = {"id": len(host.comments) + 1, **body}
                host.comments.append(reply)
            else:
                wanted = int(urlsplit(self.path).path.rpartition("/")[2])
                reply = next(each for each in host.comments if each["id"] == wanted)
                reply.update(body)
            text = json.dumps(reply).encode()
            self.send_response(host.status or 200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = _answer  # noqa: N815 - the names that http.server looks for

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server calls
            pass

    return Handler


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler_of(host)) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        host.url = f"http://127.0.0.1:{server.server_port}"
        yield host
        server.shutdown()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    found = results_of(PASSED, FAILED, baseline=a_baseline(terms="PASS", prices="PASS"))
    for name, document in (("predictions", found.predictions), ("summary", found.summary)):
        (tmp_path / f"rag_{name}.json").write_text(json.dumps(document), encoding="utf-8")
    return tmp_path


@pytest.fixture
def github(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}), encoding="utf-8")
    for name, value in {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": host.url,
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_TOKEN": "t0ken",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GITLAB_CI", raising=False)


@pytest.mark.usefixtures("github")
def test_the_comment_is_written_once_and_then_updated(ragcheck: Callable[..., Any], host: Host, results: Path):
    host.comments = [{"id": n, "body": f"talk {n}"} for n in range(1, 131)]
    host.comments[4]["body"] = "> <!-- pytest-ragcheck: rag -->\nsomebody quotes it"
    assert ragcheck("comment", str(results)) == (0, "wrote a comment\n", "")
    assert host.requests == [("GET", "/repos/acme/shop/issues/7/comments")] * 2 + [
        ("POST", "/repos/acme/shop/issues/7/comments")
    ]
    body = host.comments[-1]["body"]
    assert body.startswith("<!-- pytest-ragcheck: rag -->\n## ❌ rag: billing: 1 FAIL")
    assert ragcheck("comment", str(results)) == (0, "updated the comment\n", "")
    assert host.requests[-1] == ("PATCH", "/repos/acme/shop/issues/comments/131")
    assert len(host.comments) == 131
    assert host.tokens == {"Bearer t0ken"}


@pytest.mark.usefixtures("github")
def test_the_default_is_the_output_folder_of_a_run(
    ragcheck: Callable[..., Any], host: Host, results: Path, monkeypatch: pytest.MonkeyPatch
):
    (results / "tests").mkdir()
    monkeypatch.chdir(results / "tests")
    (results / "pytest.ini").write_text("[pytest]\nrag_output = .\n", encoding="utf-8")
    assert ragcheck("comment") == (0, "wrote a comment\n", "")
    (results / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    assert ragcheck("comment") == (
        2,
        "",
        "ragcheck comment: ../ragcheck-results: there is no such file. Give the {agent}_predictions.json of a run.\n",
    )


def test_a_merge_request_of_gitlab_has_one_too(
    ragcheck: Callable[..., Any], host: Host, results: Path, monkeypatch: pytest.MonkeyPatch
):
    for name, value in {
        "GITLAB_CI": "true",
        "CI_API_V4_URL": f"{host.url}/api/v4",
        "CI_PROJECT_ID": "42",
        "CI_MERGE_REQUEST_IID": "3",
        "GITLAB_TOKEN": "glpat",
    }.items():
        monkeypatch.setenv(name, value)
    assert ragcheck("comment", str(results))[:2] == (0, "wrote a comment\n")
    assert ragcheck("comment", str(results))[:2] == (0, "updated the comment\n")
    notes = "/api/v4/projects/42/merge_requests/3/notes"
    assert [request for request in host.requests if request[0] != "GET"] == [("POST", notes), ("PUT", f"{notes}/1")]
    assert host.tokens == {"glpat"}


@pytest.mark.usefixtures("github")
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (403, "the token may not comment here (status 403), as for a pull request from a fork"),
        (502, "/repos/acme/shop/issues/7/comments?per_page=100&page=1: status 502"),
    ],
)
def test_a_host_that_refuses_is_one_line_and_never_red(
    ragcheck: Callable[..., Any], host: Host, results: Path, status: int, said: str
):
    host.status = status
    code, out, err = ragcheck("comment", str(results))
    assert (code, out) == (0, "")
    assert err.startswith("ragcheck comment: nothing written: ")
    assert err.count("\n") == 1
    assert said in err
    assert host.comments == []


@pytest.mark.usefixtures("github")
def test_a_host_that_is_down_is_one_line_and_never_red(
    ragcheck: Callable[..., Any], results: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    code, _, err = ragcheck("comment", str(results))
    assert code == 0
    assert err.startswith("ragcheck comment: nothing written: http://127.0.0.1:9/repos/acme/shop/issues/7/comments: ")


@pytest.mark.usefixtures("github")
def test_a_push_has_nothing_to_comment_on(ragcheck: Callable[..., Any], results: Path, monkeypatch: pytest.MonkeyPatch):
    (results / "event.json").write_text("{}", encoding="utf-8")
    assert ragcheck("comment", str(results)) == (
        0,
        "",
        "ragcheck comment: nothing written: this job is not for a pull request\n",
    )
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert ragcheck("comment", str(results))[2].endswith("this is not a job of GitHub Actions or GitLab CI\n")


@pytest.mark.usefixtures("github")
def test_a_missing_token_is_wrong_usage(ragcheck: Callable[..., Any], results: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("GITHUB_TOKEN")
    code, _, err = ragcheck("comment", str(results))
    assert code == 2
    assert err.startswith("ragcheck comment: GITHUB_TOKEN is not set. ")
