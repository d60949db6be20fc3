"""The pages of the endpoint's errors show the first line of every error, and no other error."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_ragcheck.errors import EndpointError
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.connections import http_library
from pytest_ragcheck.verdict.failure_text import failure_text
from tests.docs.error_pages import shown_on
from tests.making import an_error
from tests.rag.misbehaviours import MISBEHAVIOURS, Misbehaviour

PAGES = [
    Path(__file__).parents[2] / "docs" / "reference" / "errors" / name
    for name in ("endpoint.md", "endpoint-replies.md")
]
SHOWN = {heading: text for page in PAGES for heading, text in shown_on(page).items()}


def returns_text(query):
    return "30 days"


def raises(query):
    raise KeyError(query)


async def hangs(query):
    await asyncio.sleep(60)


CONVERSATIONS: dict[str, tuple[int, dict[str, Any]]] = {
    "A conversation without a place for its earlier turns": (1, {}),
    "A session that is not read": (1, {"request": '{"query": "{query}", "session_id": "{session}"}'}),
    "No reply named a session": (2, {"shape": "dify"}),
}
"""The number of the turn, and the settings of the endpoint; no request is sent."""

FUNCTIONS = {
    "The function raises": raises,
    "The function returns something else": returns_text,
    "The function takes too long": hangs,
    "The function cannot know the earlier turns": returns_text,
}


async def does_not_start(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    raise KeyError("INDEX")


async def hangs_at_startup(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await asyncio.sleep(60)


async def breaks(scope: Any, receive: Any, send: Any) -> None:
    raise KeyError("INDEX")


async def sends_nothing(scope: Any, receive: Any, send: Any) -> None:
    return


async def does_not_stop(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        raise KeyError("INDEX")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b'{"answer": "30 days", "contexts": []}'})


APPS = {
    "The app does not start": does_not_start,
    "The app takes too long to start": hangs_at_startup,
    "The app raises": breaks,
    "The app sends no reply": sends_nothing,
    "The app does not shut down": does_not_stop,
}


def ask_app(name: str) -> EndpointError:
    async def ask() -> None:
        limit = 0.05 if name == "The app takes too long to start" else 5
        async with RagClient("/query", app=APPS[name], timeout_seconds=limit) as client:
            await client.query("What is the refund window?")

    with pytest.raises(EndpointError) as caught:
        asyncio.run(ask())
    return caught.value


def ask_function(name: str) -> EndpointError:
    limit = 0.05 if name == "The function takes too long" else 5
    client = RagClient.from_callable(FUNCTIONS[name], timeout_seconds=limit)
    with pytest.raises(EndpointError) as caught:
        asyncio.run(client.ask(turn(1)) if "earlier turns" in name else client.query("What is the refund window?"))
    return caught.value


def turn(number: int) -> Question:
    return Question(dataset_name="refunds", id=f"card[turn{number}]", question="Why?", turn=number)


def shown(error: EndpointError) -> str:
    """The first line, with hosts, ports and places as the page has them."""
    line = str(error).partition("\n")[0]
    line = re.sub(r"127\.0\.0\.1:\d+/query", "rag.example/query", line)
    line = re.sub(r"(localhost|rag\.example|127\.0\.0\.1):\d+", r"\1:PORT", line)
    line = line.replace(f"{__name__}.", "conftest.").replace(f"{__name__}:", "conftest:")
    return re.sub(r"\(\S*test_endpoint_errors\.py:\d+\)", "(conftest.py:LINE)", line)


def assert_is_shown(name: str, error: EndpointError) -> None:
    """The text is below the heading, on the page that the failure text names."""
    assert SHOWN[name] == shown(error)
    page = failure_text(an_error("a", error_kind=error.kind)).rpartition("/")[2]
    assert name in shown_on(PAGES[0].with_name(f"{page}.md"))


def test_every_block_of_the_page_is_produced_here_and_the_reverse():
    assert sorted(SHOWN) == sorted([*MISBEHAVIOURS, *CONVERSATIONS, *APPS, *FUNCTIONS])
    blocks = [block for page in PAGES for block in re.findall("(?m)^```text$", page.read_text(encoding="utf-8"))]
    assert len(blocks) == len(SHOWN)


@pytest.mark.parametrize(("name", "misbehaviour"), MISBEHAVIOURS.items(), ids=list(MISBEHAVIOURS))
def test_the_page_shows_what_an_endpoints_error_says(name: str, misbehaviour: Misbehaviour, monkeypatch, tmp_path):
    for variable in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    error = asyncio.run(misbehaviour.fail(http_library(), monkeypatch, tmp_path))
    assert_is_shown(name, error)


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_the_page_shows_the_errors_of_conversations(name: str) -> None:
    number, options = CONVERSATIONS[name]
    with pytest.raises(EndpointError) as caught:
        asyncio.run(RagClient("http://rag.example/query", **options).ask(turn(number)))
    assert_is_shown(name, caught.value)


@pytest.mark.parametrize("name", APPS)
def test_the_page_shows_what_an_apps_error_says(name):
    assert_is_shown(name, ask_app(name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_page_shows_what_a_functions_error_says(name):
    assert_is_shown(name, ask_function(name))
