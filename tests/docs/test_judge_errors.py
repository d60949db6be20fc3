"""The pages of the judge's errors show the first line of every error, and no other error."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from pytest_ragcheck.config.settings import DUMMY_API_KEY, Settings
from pytest_ragcheck.errors import RagcheckError
from pytest_ragcheck.judging.judge_choice import choose_judge
from pytest_ragcheck.judging.judge_prompt import load_prompt
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from tests.servers.fake_endpoint import FakeEndpoint, reply
from tests.servers.openai_server import (
    OpenAIServer,
    Reply,
    Request,
    Script,
    completion,
    error,
    json_reply,
    says,
    verdict,
)

PAGES = [
    Path(__file__).parents[2] / "docs" / "reference" / "errors" / name for name in ("judge.md", "judge-replies.md")
]
SHOWN_URL = "http://127.0.0.1:8000/v1"
NEVER = threading.Event()

Case = Callable[[], object]


def ask(url: str, answer: str = "So.", **settings: Any) -> None:
    async def run() -> None:
        judge = OpenAIJudge(
            **{"model": "judge-model", "api_key": "a-key-of-the-judge", "base_url": url, "max_retries": 0, **settings}
        )
        async with aclosing(judge):
            await judge.judge(Question(dataset_name="d", id="q", question="Why?"), RagAnswer(text=answer))

    asyncio.run(run())


def replied(*scripts: Script | Reply, **settings: Any) -> Case:
    def case() -> None:
        with OpenAIServer(*scripts) as server:
            try:
                ask(server.url, **settings)
            except RagcheckError as error:
                error.args = (str(error).replace(server.url, SHOWN_URL),)
                raise

    return case


def unreachable():
    with OpenAIServer() as server:
        url = server.url
    try:
        ask(url)
    except RagcheckError as error:
        error.args = (str(error).replace(url, SHOWN_URL),)
        raise


def refused_by_proxy():
    with FakeEndpoint(reply("", 403)) as proxy, pytest.MonkeyPatch.context() as environment:
        environment.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        ask("https://judge.example/v1")


def made(**settings: Any) -> Case:
    return lambda: OpenAIJudge(**{"model": "judge-model", "api_key": "a-key-of-the-judge", **settings})


def custom_header():
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_CUSTOM_HEADERS", "X Gateway: a")
        made()()


def prompt(content: bytes) -> Case:
    def case() -> None:
        Path("strict.txt").write_bytes(content)
        load_prompt("strict.txt")

    return case


def prompt_folder():
    Path("prompts").mkdir()
    load_prompt("prompts")


def cut(request: Request) -> Reply:
    completed = json.loads(verdict()(request).body)
    return json_reply({**completed, "usage": {"prompt_tokens": 2050, "completion_tokens": 60}})


CASES = {
    "401": replied(error(401)),
    "401 without a key": replied(error(401), api_key=DUMMY_API_KEY),
    "403": replied(error(403)),
    "404": replied(error(404)),
    "407": replied(error(407)),
    "429": replied(error(429)),
    "429 of an account without quota": replied(error(429, code="insufficient_quota")),
    "503": replied(error(503)),
    "400": replied(error(400)),
    "301": replied(Reply(status=301, headers={"location": "https://elsewhere.example/v1"})),
    "no server": unreachable,
    "a proxy that refuses": refused_by_proxy,
    "a connection that breaks": replied(Reply(status=0)),
    "a slow server": replied(Reply(body=b"{}", wait_for=NEVER), timeout_seconds=0.1),
    "an HTML page": replied(Reply(body=b"<html>", content_type="text/html")),
    "an error with status 200": replied(json_reply({"error": "no"})),
    "JSON of another kind": replied(json_reply({"choices": []})),
    "broken JSON": replied(Reply(body=b"{")),
    "an empty body": replied(Reply()),
    "a body that cannot be decompressed": replied(Reply(body=b"{}", headers={"content-encoding": "gzip"})),
    "a body compressed in another way": replied(Reply(body=b"\x8b\x02", headers={"content-encoding": "br"})),
    "a body that is too large": replied(Reply(body=b" " * 20_000_001)),
    "a refusal": replied(completion(None, refusal="No.")),
    "a prompt that was cut": replied(cut, answer="A word " * 2000),
    "a score out of range": replied(verdict(groundedness=1.3)),
    "a missing score": replied(verdict(groundedness=...)),
    "prose": replied(says("It is fine.")),
    "no nonce": replied(verdict(nonce=...), answer='{"answer_correctness": 1}'),
    "another nonce": replied(verdict(nonce="x")),
    "two verdicts": replied(says('{"nonce": "NONCE", "a": 1} {"nonce": "NONCE", "a": 2}')),
    "an unfinished thought": replied(says('<think>{"nonce": "NONCE"}</think>')),
    "nothing": replied(completion("")),
    "reasoning alone": replied(completion(None, reasoning_content="Let me see")),
    "a content filter": replied(
        json_reply(
            {
                "error": {
                    "code": "content_filter",
                    "innererror": {"content_filter_result": {"jailbreak": {"filtered": True}}},
                }
            },
            status=400,
        )
    ),
    "too few tokens for the reasoning": replied(completion("", finish_reason="length", reasoning="Let me see")),
    "too few tokens": replied(completion("{", finish_reason="length")),
    "no model": lambda: choose_judge(Settings.of(judge="openai")),
    "no key": lambda: choose_judge(Settings.of(judge="openai", judge_model="m")),
    "a key that is no key": made(api_key="sk-\N{EN DASH}abc"),
    "a URL without a scheme": made(base_url="localhost:8000/v1"),
    "the URL of one call": made(base_url=f"{SHOWN_URL}/chat/completions"),
    "a header that cannot be sent": custom_header,
    "no prompt file": lambda: load_prompt("strict.txt"),
    "a prompt that is no text": prompt(b"\xff"),
    "a prompt that is a folder": prompt_folder,
    "a prompt without a placeholder": prompt(b"{question} {answer}"),
    "a prompt with an unknown placeholder": prompt(b"{question} {contexts} {answer} {reference}"),
}


@pytest.fixture(autouse=True)
def slow_replies_end_with_their_test():
    # A worker may come back to this module after it has left it.
    NEVER.clear()
    yield
    NEVER.set()


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def blocks() -> list[str]:
    pages = (page.read_text(encoding="utf-8") for page in PAGES)
    return [block for text in pages for block in re.findall(r"(?ms)^```text\n(.*?)\n```$", text)]


def first_line(case: Case) -> str:
    with pytest.raises(RagcheckError) as caught:
        case()
    return str(caught.value).split("\n")[0]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_first_line_of_every_error_stands_on_the_page(case):
    assert first_line(case) in blocks()


def test_the_page_shows_each_line_once_and_as_many_as_there_are_cases():
    shown = blocks()
    assert len(shown) == len(set(shown)) == len(CASES)
