"""Secrets in URLs, headers, the environment and replies appear in no output."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from pytest_ragcheck.cli import main
from tests.servers import openai_server
from tests.servers.fake_endpoint import FakeEndpoint, json_reply, reply
from tests.servers.openai_server import OpenAIServer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.harness import Project

VERBOSE = (
    *("-vv", "-rA", "--tb=long", "--full-trace", "--showlocals", "--log-level=DEBUG", "--log-file=log.txt"),
    *("-olog_cli=true", "-olog_cli_level=DEBUG"),
)
"""The options for the most output about a failure: locals, frames, and the logs of libraries."""

OWN_TEST = """\
def test_own(rag_check, rag_client, rag_settings):
    result = rag_check("Which secrets are set?", expected="none")
    assert result.latency_seconds < 0
"""

USER = "svc-reader-7719"
"""The name beside a password is no secret."""

IN_URL = {
    "password": "pa55/w0rd+of&the=url",
    "parameter": "q-key-5521aa9917cd",
    "signature": "c2lnbmF0dXJl0099881122",
}
IN_HEADERS = {
    "api key": "hdr-key-a1b2c3d4e5f6",
    "cookie": "session=5f2c9e8a7b6d4c3e",
    "custom": "team-token-0099-zz-8812",
}
IN_ENVIRONMENT = {
    "OPENAI_API_KEY": "sk-proj-envAAAA1111bbbb2222cccc",
    "RAGCHECK_JUDGE_API_KEY": "judge-key-77aa66bb55cc",
    "RAGCHECK_EMBEDDING_API_KEY": "embed-key-11dd22ee33ff",
}
ECHOED = {
    "OpenAI": "sk-echoed1234567890abcdEFGH",
    "GitHub": "ghp_echoed1234567890abcdefghij1234567890",
    "AWS": "AKIAECHOED7890ABCD12",
    "Slack": "xoxb-1234567890-echoedAbCdEfGh12",
    "Google": "AIzaEchoed1234567890abcdefghijklmnopqrs",
    "Hugging Face": "hf_echoed1234567890abcdefghijkl",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJlY2hvZWQifQ.c2lnbmF0dXJlZWNob2Vk",
    "webhook": "T0ECHOED1/B0ECHOED2/echoedechoedechoed12",
    "database": "db-pa55-echoed-4411",
    "password": "hunter2-echoed-99",
    "bearer": "tok-echoed-123456789012",
    "private key": "MIIEechoedkeymaterial0123456789",
}
"""Secrets that only the endpoint knew, by their owner."""

WORDS = {
    "webhook": "https://hooks.slack.com/services/{}",
    "database": "postgres://app:{}@db.internal/prod",
    "password": "password: {}",
    "bearer": "Authorization: Bearer {}",
    "private key": "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
}
"""Texts in which the place of a secret, not its form, identifies it."""


def said() -> str:
    """The reply of an endpoint that shows its configuration and the whole request."""
    basic = base64.b64encode(f"{USER}:{IN_URL['password']}".encode()).decode()
    lines = [f"Authorization: Basic {basic}", '{"escaped": "' + IN_URL["password"] + '"}']
    return "\n".join([said_of({**IN_URL, **IN_HEADERS, **IN_ENVIRONMENT}), *lines])


def said_of(known: Mapping[str, str]) -> str:
    """These, in two forms, and the secrets that only the endpoint knew."""
    lines = [f"{name} {value} {quote(value, safe='')}" for name, value in known.items()]
    return "\n".join([*lines, *(WORDS.get(name, "{}").format(value) for name, value in ECHOED.items())])


def forms() -> list[str]:
    """Every text that may be found nowhere."""
    values = [*IN_URL.values(), *IN_HEADERS.values(), *IN_ENVIRONMENT.values(), *ECHOED.values()]
    basic = base64.b64encode(f"{USER}:{IN_URL['password']}".encode()).decode()
    return [*values, quote(IN_URL["password"], safe=""), basic.rstrip("=")]


def test_there_are_twenty_kinds_and_more() -> None:
    assert len(IN_URL) + len(IN_HEADERS) + len(IN_ENVIRONMENT) + len(ECHOED) >= 20


def test_no_secret_is_in_any_output_the_store_included(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in IN_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for number, value in enumerate(IN_HEADERS.values()):
        monkeypatch.setenv(f"SECRET_{number}", value)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    question = project.write(
        "leaks.rag.yaml", "questions:\n  - {id: leaks, question: What is set?, expected_answer: nothing}\n"
    )
    ini = project.write(
        "pytest.ini",
        "[pytest]\nrag_headers =\n"
        "    X-Api-Key: {env:SECRET_0}\n    Cookie: {env:SECRET_1}\n    X-Team-Token: {env:SECRET_2}\n",
    )
    given = {question, ini, project.write("test_own.py", OWN_TEST)}
    echo = ", ".join([*forms()[:8], ECHOED["OpenAI"]])
    answer = {"answer": said(), "contexts": [said()], "debug": said()}
    answers = json_reply(answer, set_cookie=f"sid={IN_HEADERS['cookie']}", x_echo=echo)
    fails = reply(said(), 500, reason=f"no {IN_HEADERS['api key']}", content_type=f"text/{IN_HEADERS['custom']}")
    for behaviour in (answers, fails):
        with FakeEndpoint(behaviour) as endpoint:
            host = endpoint.url.removeprefix("http://")
            password = quote(IN_URL["password"], safe="")
            url = f"http://{USER}:{password}@{host}?api_key={IN_URL['parameter']}&sig={IN_URL['signature']}"
            run = project.run(
                *(*VERBOSE, f"--rag-url={url}", "--rag-judge=offline", "--rag-shard=1/1", "-orag_retries=0"),
                *("--rag-report=report.html", "--rag-report=step.md"),
            )
            assert any(IN_HEADERS["api key"] in request.headers.values() for request in endpoint.requests)
            sent = ("X-Api-Key: {env:SECRET_0}", "Cookie: {env:SECRET_1}", "X-Team-Token: {env:SECRET_2}")
            # Its output is checked below.
            assert main(["probe", url, *(f"--header={header}" for header in sent)]) in {0, 1}
        results = run.folder / "ragcheck-results"
        printed = [run.text]
        for arguments in (
            ["report", str(results), "-o", str(run.folder / "later.html")],
            ["report", str(results), "-o", str(run.folder / "later.csv")],
            ["report", str(results), "-o", str(run.folder / "later.md")],
            ["baseline", "save", str(results / "rag_predictions.json"), "-o", str(run.folder / "compact.json")],
            ["merge", str(results), "-o", str(run.folder / "merged")],
        ):
            # A run with ERRORs alone is refused as a baseline.
            refused = behaviour is fails and arguments[0] == "baseline"
            assert main(arguments) in ({2} if refused else {0, 1}), capsys.readouterr()
            printed += capsys.readouterr()
        assert "leaks" in run.text
        assert "[redacted]" in "".join(printed)
        for text in printed:
            assert found(text.encode("utf-8", "surrogateescape")) == []
        everything = [path for path in run.folder.rglob("*") if path.is_file() and path not in given]
        # The store, the shard, the three files, reports, JUnit's file, the cache.
        assert {
            "store.sqlite",
            "rag.shard-1-of-1.json",
            "rag_predictions.json",
            "report.html",
            "step.md",
            "junit.xml",
            "log.txt",
        } <= {path.name for path in everything}
        assert {str(path.relative_to(run.folder)): leaked for path in everything if (leaked := leaks(path))} == {}


def test_what_a_judge_s_server_says_of_its_key_is_nowhere(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in IN_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    key = IN_ENVIRONMENT["RAGCHECK_JUDGE_API_KEY"]
    question = project.write("leaks.rag.yaml", "questions:\n  - {id: leaks, question: What is set?}\n")

    def refuse(_: openai_server.Request) -> openai_server.Reply:
        return openai_server.json_reply({"error": {"message": said_of(IN_ENVIRONMENT)}}, status=401, x_echo=key)

    with (
        FakeEndpoint(json_reply({"answer": said_of(IN_ENVIRONMENT), "contexts": []})) as endpoint,
        OpenAIServer(refuse) as judge,
    ):
        run = project.run(
            *(*VERBOSE, f"--rag-url={endpoint.url}", "--rag-judge=openai", "--rag-judge-model=m"),
            f"--rag-judge-url={judge.url}",
        )
    assert "x-echo" in run.text
    assert found(run.text.encode("utf-8", "surrogateescape")) == []
    everything = [path for path in run.folder.rglob("*") if path.is_file() and path != question]
    assert {path.name: leaked for path in everything if (leaked := leaks(path))} == {}


def leaks(path: Path) -> list[str]:
    return found(path.read_bytes())


def found(content: bytes) -> list[str]:
    return [form for form in forms() if form.encode() in content]


RAISING = """\
import os

import pytest
from pytest_ragcheck import RagClient

TOKEN, PLACE = os.environ["RAG_TOKEN"], {place!r}


class OwnClient:
    async def ask(self, question):
        local = TOKEN
        raise ConnectionError(f"401 for https://rag.example/query?api_key={{local}}") from ValueError(TOKEN)


def answer(query):
    if PLACE == "exit":
        raise SystemExit("cannot log in with " + TOKEN)
    return {{"answer": "30 days", "contexts": ["30 days"]}}


@pytest.fixture(scope="session")
def rag_client():
    assert PLACE != "fixture", TOKEN
    return OwnClient() if PLACE == "client" else RagClient.from_callable(answer)


@pytest.fixture(scope="session")
def rag_judge():
    def judge(question, answer):
        raise ConnectionError("401 for " + TOKEN)

    return judge
"""


@pytest.mark.parametrize("options", [(), ("--tb=native",), ("-n1", "--tb=short", "--showlocals")])
@pytest.mark.parametrize("place", ["client", "judge", "exit", "fixture"])
def test_what_a_users_code_raises_is_shown_without_secrets(
    project: Project, monkeypatch: pytest.MonkeyPatch, place: str, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("RAG_TOKEN", "tok-9f8e7d6c5b4a3210")
    project.write("conftest.py", RAISING.format(place=place))
    project.write("pytest.ini", "[pytest]\nrag_headers = Authorization: Bearer {env:RAG_TOKEN}\n")
    project.write("q.rag.yaml", "- {id: a, question: How long?, expected_answer: 30 days}\n")
    project.write("test_own.py", "def test_own(rag_check):\n    rag_check('How long?', expected='30 days')\n")
    run = project.run(*options)
    assert "passed" not in run.outcomes
    assert "[redacted]" in run.text
    assert "tok-9f8e7d6c5b4a3210" not in run.text + (project.folder / "junit.xml").read_text(encoding="utf-8")
