from __future__ import annotations

import asyncio
import gc
import inspect
import subprocess
import sys
import threading
from typing import Any

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import EndpointError, EndpointTimeout, UsageError
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.client_calls import BlockingRagClient, ClientCalls
from pytest_ragcheck.rag.http.connections import http_library
from tests.rag.misbehaviours import GOOD
from tests.servers.fake_endpoint import FakeEndpoint, hang, json_reply


def question(**more) -> Question:
    return Question(dataset_name="billing", id="q1", question="What is the refund window?", **more)


def test_the_questions_own_top_k_wins_over_the_clients():
    async def run(url: str) -> None:
        async with RagClient(url, top_k=3) as client:
            await client.ask(question())
            await client.ask(question(top_k=9))
            await client.query("?")
            await client.query("?", top_k=2)
        async with RagClient(url) as client:
            await client.query("?")

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
    assert [request.json["top_k"] for request in endpoint.requests] == [3, 9, 3, 2, 5]
    assert endpoint.requests[0].json["query"] == "What is the refund window?"


def test_the_client_is_shown_by_its_endpoint_without_secrets():
    client = RagClient("http://me:pw@rag.example/query?api_key=1", headers={"X-Api-Key": "key-5"})
    assert client.endpoint == "http://rag.example/query?api_key=[redacted]"
    assert repr(client) == "<RagClient of http://rag.example/query?api_key=[redacted]>"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"top_k": 0}, "top_k is 0; give a whole number, at least 1."),
        ({"top_k": True}, "top_k is True; give a whole number, at least 1."),
        ({"top_k": "5"}, "top_k is '5'; give a whole number, at least 1."),
        ({"timeout_seconds": 0}, "timeout_seconds is 0; give a number of seconds above 0, such as 60."),
        ({"timeout_seconds": float("nan")}, "timeout_seconds is nan; give a number of seconds above 0, such as 60."),
        ({"timeout_seconds": float("inf")}, "timeout_seconds is inf; give a number of seconds above 0, such as 60."),
        ({"timeout_seconds": "60"}, "timeout_seconds is '60'; give a number of seconds above 0, such as 60."),
        ({"max_reply_bytes": 0.5}, "max_reply_bytes is 0.5; give a whole number of bytes, at least 1."),
    ],
)
def test_a_limit_that_cannot_work_is_refused_at_once(options, text):
    with pytest.raises(UsageError) as caught:
        RagClient("http://rag.example/query", **options)
    assert str(caught.value) == text
    if "max_reply_bytes" not in options:
        with pytest.raises(UsageError):
            RagClient.from_callable(lambda query: {}, **options)


def test_an_expression_that_is_no_text_is_refused_at_once():
    request: Any = {"input": "{query}"}
    with pytest.raises(UsageError) as caught:
        RagClient("http://rag.example/query", request=request)
    assert str(caught.value) == "request is dict, not str. Write it as text, as in the setting rag_request."
    with pytest.raises(UsageError, match="response is dict, not str"):
        RagClient.from_callable(lambda query: {}, response=request)


def test_a_text_is_no_question():
    text: Any = "How long?"
    with pytest.raises(UsageError) as caught:
        RagClient.from_callable(lambda query: GOOD).blocking.ask(text)
    assert str(caught.value) == (
        "ask() takes a Question, not a text. Write query(text), or make a Question of the text."
    )


def test_a_subclass_makes_clients_of_its_own_kind():
    class Mine(RagClient):
        pass

    assert type(Mine.from_callable(lambda query: {})) is Mine


def test_importing_the_client_or_asking_a_function_needs_no_http_library():
    code = """
import asyncio, sys
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.connections import http_library
client = RagClient.from_callable(lambda query: {"answer": query, "contexts": []})
assert asyncio.run(client.query("hello")).text == "hello"
assert client.blocking.query("hello").text == "hello"
print(sorted({"httpx", "httpx2", "ssl", "openai", "pydantic", "yaml", "pytest"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not {"httpx", "httpx2", "openai", "pydantic", "yaml", "pytest"} & set(eval(done.stdout))


def test_a_closed_client_opens_connections_anew():
    async def run(url: str) -> None:
        client = RagClient(url)
        for _ in range(2):
            await client.query("?")
            await client.query("?")
            await client.aclose()

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
        assert endpoint.connections == 2


def test_a_users_own_client_stays_open(library):
    async def run(url: str) -> None:
        async with library.AsyncClient() as http:
            async with RagClient(url, http=http) as client:
                await client.query("?")
            assert not http.is_closed
            await client.query("?")

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
        assert endpoint.connections == 1


def test_a_users_own_client_is_closed_where_that_is_wished(library):
    async def run(url: str) -> None:
        http = library.AsyncClient()
        async with RagClient(url, http=http, close_http=True) as client:
            await client.query("?")
        assert http.is_closed

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))


def test_a_client_is_made_from_settings():
    settings = Settings.of(
        headers={"x-team": "search"},
        top_k=2,
        request='{"q": "{query}", "k": "{top_k}"}',
        response="answer=a contexts=c",
    )
    with pytest.raises(UsageError) as caught:
        RagClient.from_settings(settings)
    assert str(caught.value) == (
        "the settings name no endpoint: set rag_url or RAGCHECK_URL, or name it in the call, "
        "RagClient.from_settings(rag_settings, url=URL)."
    )
    assert RagClient.from_settings(settings.replace(url="http://a/q"), url="http://b/q").endpoint == "http://b/q"
    with FakeEndpoint(json_reply({"a": "30 days", "c": []})) as endpoint:
        with RagClient.from_settings(settings.replace(url=endpoint.url)).blocking as client:
            assert client.query("?").text == "30 days"
        [asked] = endpoint.requests
    assert asked.json == {"q": "?", "k": 2}
    assert asked.headers["x-team"] == "search"


def test_asking_in_the_contracts_own_shape_needs_no_jmespath():
    code = """
import sys
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.connections import http_library
with RagClient(sys.argv[1]).blocking as client:
    assert client.query("?").text == "30 days"
print("jmespath" in sys.modules)
"""
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        done = subprocess.run([sys.executable, "-c", code, endpoint.url], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_the_auth_of_an_own_http_client_does_not_replace_the_token_of_an_identity() -> None:
    async def run(url: str) -> None:
        identities = {"alice": {"Authorization": "Bearer alice"}, "bob": {"X-Tenant": "bob"}}
        async with http_library().AsyncClient(auth=("service", "x")) as http:
            client = RagClient(url, http=http, identities=identities)
            for name in identities:
                await client.ask(Question(dataset_name="a", id="a", question="When?", identity=name))

    with FakeEndpoint(json_reply({"answer": "Now.", "contexts": []})) as endpoint:
        asyncio.run(run(endpoint.url))
    assert [request.headers["authorization"] for request in endpoint.requests] == [
        "Bearer alice",
        "Basic c2VydmljZTp4",
    ]


def test_a_client_without_identities_names_where_it_takes_them_from() -> None:
    question = Question(dataset_name="a", id="a", question="When?", identity="bob")
    with RagClient("http://127.0.0.1:9/query").blocking as client, pytest.raises(EndpointError) as caught:
        client.ask(question)
    assert str(caught.value) == (
        "http://127.0.0.1:9/query: the identity 'bob' is not in rag_identities (known: none)\n"
        "Add a line such as 'bob: Authorization: Bearer {env:TOKEN}', or correct the question's 'as'. "
        "A RagClient of your own takes them from RagClient.from_settings, or as identities=; "
        "ragcheck cleanup takes them as --identity too."
    )


# blocking


def test_plain_calls_have_the_names_of_the_coroutines_but_close() -> None:
    coroutines = {name for name in dir(ClientCalls) if inspect.iscoroutinefunction(getattr(ClientCalls, name))}
    plain = {name for name in dir(BlockingRagClient) if not name.startswith("_")}
    assert plain == coroutines - {"aclose"} | {"close"}


def test_plain_calls_keep_their_connection_until_they_are_closed():
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        with RagClient(endpoint.url).blocking as client:
            assert client.query("?").text == "30 days"
            assert client.query("?", top_k=2).text == "30 days"
            assert client.ask(question(top_k=4)).text == "30 days"
        assert endpoint.connections == 1
        assert [request.json["top_k"] for request in endpoint.requests] == [5, 2, 4]
        assert client.query("?").text == "30 days"  # opens anew
        client.close()
        client.close()
        assert endpoint.connections == 2


def test_plain_calls_work_inside_a_running_event_loop_and_close_with_the_client():
    async def run(url: str) -> None:
        async with RagClient(url) as client:
            assert client.blocking.query("?").text == "30 days"
            assert (await client.query("?")).text == "30 days"
            assert client.blocking is client.blocking
        assert "ragcheck client" not in {thread.name for thread in threading.enumerate()}

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))


def test_plain_calls_of_several_threads_run_side_by_side():
    together = threading.Barrier(3)

    def answer(query):
        together.wait(10)
        return {"answer": query, "contexts": []}

    with RagClient.from_callable(answer).blocking as client:
        threads = [threading.Thread(target=client.query, args=("?",)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not together.broken


def test_what_an_endpoint_does_wrong_is_raised_by_the_plain_call():
    with (
        FakeEndpoint(hang) as endpoint,
        RagClient(endpoint.url, timeout_seconds=0.1).blocking as client,
        pytest.raises(EndpointTimeout),
    ):
        client.query("?")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_function_reaches_the_caller_and_leaves_the_client_usable(kind):
    stops = [kind("stop")]

    async def answer(query):
        if stops:
            raise stops.pop()
        return {"answer": query, "contexts": []}

    with RagClient.from_callable(answer).blocking as client:
        with pytest.raises(kind, match="stop"):
            client.query("?")
        assert client.query("again").text == "again"


INTERRUPTED = """
import asyncio, os, signal, threading
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.connections import http_library
cancelled = threading.Event()
async def answer(query):
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        cancelled.set()
        raise
client = RagClient.from_callable(answer).blocking
try:
    client.query("?")
except KeyboardInterrupt:
    assert cancelled.wait(10)
    print("stopped")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill() ends the process there")
def test_ctrl_c_cancels_the_question_and_an_unclosed_client_ends_with_the_process():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopped\n", "")


def test_closing_cancels_what_still_runs():
    begun = threading.Event()
    outcomes: list[type[BaseException]] = []

    async def answer(query: str) -> Any:
        begun.set()
        await asyncio.sleep(60)

    def wait() -> None:
        try:
            client.query("?")
        except BaseException as error:  # shown by the assertion
            outcomes.append(type(error))

    client = RagClient.from_callable(answer).blocking
    waiting = threading.Thread(target=wait)
    waiting.start()
    begun.wait(10)
    client.close()
    waiting.join(10)
    assert [kind.__name__ for kind in outcomes] == ["UsageError"]


def test_an_unclosed_client_leaves_no_warning(recwarn):
    async def run(url: str) -> None:
        await RagClient(url).query("?")

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
        gc.collect()
    assert not list(recwarn)


@pytest.mark.parametrize(
    "wrong",
    [{"headers": "x: y"}, {"headers": [("x", "y")]}, {"identities": ["alice"]}, {"identities": {"alice": "Bearer x"}}],
    ids=str,
)
def test_headers_that_are_no_mappings_are_refused_without_their_values(wrong: dict[str, Any]):
    with pytest.raises(UsageError) as caught:
        RagClient("http://a/q", **wrong)
    assert str(caught.value) == (
        "RagClient takes headers={'Name': 'value'} and identities={'alice': {'Name': 'value'}}."
    )


def test_a_header_of_an_identity_is_checked_at_once():
    with pytest.raises(UsageError, match="the value of the header 'Authorization' is int, not str"):
        RagClient("http://a/q", identities={"alice": {"Authorization": 3}})  # type: ignore[dict-item]
