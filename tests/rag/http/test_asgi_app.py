"""An ASGI app in this process: its lifespan, its event loop, its replies and its failures."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import subprocess
import sys
import threading
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from fastapi import BackgroundTasks, FastAPI, Request
from fastapi.responses import StreamingResponse
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from pytest_ragcheck import RagClient
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import EndpointError, EndpointTimeout, EndpointUnreachable, UsageError
from pytest_ragcheck.evaluation import evaluate
from pytest_ragcheck.questions.question import Question

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

REPLY = {"answer": "Within 30 days.", "contexts": ["Refunds are possible within 30 days."]}
HERE = __name__


class Steps(list[str]):
    """The steps of an app, each with a check that all run in one loop."""

    loop: asyncio.AbstractEventLoop | None = None

    def add(self, step: str) -> None:
        loop = asyncio.get_running_loop()
        self.loop = self.loop or loop
        self.append(step if self.loop is loop else f"{step} in another loop")


def service(steps: Steps, *, shutdown: Exception | None = None, state: bool = True) -> FastAPI:
    """An app whose resources are bound to the loop of its startup: a lock, a queue with a worker, an HTTP client."""

    @asynccontextmanager
    async def lifespan(app: FastAPI):
        steps.add("startup")
        asked: asyncio.Queue[tuple[str, asyncio.Future[dict[str, Any]]]] = asyncio.Queue()

        async def work() -> None:
            while True:
                _, replied = await asked.get()
                replied.set_result(REPLY)

        worker = asyncio.create_task(work())
        async with httpx.AsyncClient() as http:
            yield {"lock": asyncio.Lock(), "asked": asked, "http": http}
        worker.cancel()
        steps.add("shutdown")
        if shutdown is not None:
            raise shutdown

    app = FastAPI(lifespan=lifespan)

    @app.post("/query")
    async def query(request: Request) -> dict[str, Any]:
        async with request.state.lock:
            steps.add("request")
            assert not request.state.http.is_closed
            replied: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
            await request.state.asked.put(((await request.json())["query"], replied))
            return await replied

    return app


async def several(client: RagClient, count: int = 3) -> list[str]:
    return [answer.text for answer in await asyncio.gather(*(client.query("How long?") for _ in range(count)))]


def fail(app: Any, url: str = "/query", **options: Any) -> EndpointError:
    async def run() -> None:
        async with RagClient(url, app=app, **options) as client:
            await client.query("How long?")

    with pytest.raises(EndpointError) as caught:
        asyncio.run(run())
    return caught.value


def test_the_lifespan_runs_once_in_the_loop_of_the_requests():
    steps = Steps()

    async def run() -> None:
        async with RagClient("/query", app=service(steps)) as client:
            assert steps == []
            assert await several(client) == ["Within 30 days."] * 3

    asyncio.run(run())
    assert steps == ["startup", "request", "request", "request", "shutdown"]


def test_requests_of_other_loops_cross_over_to_the_loop_of_the_app():
    steps = Steps()

    async def run() -> None:
        async with RagClient("/query", app=service(steps)) as client:
            await several(client)
            with client.blocking as blocking:
                assert await asyncio.to_thread(lambda: blocking.query("How long?").text) == "Within 30 days."
            # Leaving `blocking` ends its thread, not the app of this loop.
            assert await several(client) == ["Within 30 days."] * 3

    asyncio.run(run())
    assert steps == ["startup", *["request"] * 7, "shutdown"]


def test_a_blocking_call_in_the_loop_of_the_app_is_refused():
    steps = Steps()

    async def run() -> None:
        async with RagClient("/query", app=service(steps)) as client:
            await client.query("How long?")
            with client.blocking as blocking, pytest.raises(UsageError) as refused:
                blocking.query("How much?")
            assert str(refused.value) == (
                "client.blocking was called in the event loop of app FastAPI, which would wait for itself. "
                "Await the client's own method, such as client.query(text)."
            )

    asyncio.run(run())
    assert steps == ["startup", "request", "shutdown"]


def test_a_closed_client_starts_the_app_again():
    steps = Steps()
    client = RagClient("/query", app=service(steps))
    for _ in range(2):
        with client.blocking as blocking:
            assert blocking.query("How long?").text == "Within 30 days."
        steps.loop = None
    assert steps == ["startup", "request", "shutdown"] * 2


@pytest.mark.parametrize("end", ["", "loop.close()"], ids=["unclosed", "closed"])
def test_a_loop_that_is_not_run_to_its_end_prints_no_warning_about_the_app(end: str):
    script = f"""
import asyncio
from pytest_ragcheck import RagClient

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        await send({{"type": "lifespan.startup.complete"}})
        await receive()
    else:
        await send({{"type": "http.response.start", "status": 200, "headers": []}})
        await send({{"type": "http.response.body", "body": b'{{"answer": "30 days", "contexts": []}}'}})

loop = asyncio.new_event_loop()
print(loop.run_until_complete(RagClient("/query", app=app).query("?")).text)
{end}
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout, ran.stderr) == ("30 days\n", "")


def test_the_app_of_an_unclosed_client_shuts_down_with_its_loop(caplog):
    steps = Steps()
    client = RagClient("/query", app=service(steps, shutdown=RuntimeError("cannot flush")))
    asyncio.run(several(client))
    assert steps[-1] == "shutdown"
    assert "its lifespan raised RuntimeError: cannot flush (" in caplog.text


def test_the_app_shuts_down_at_the_end_of_a_script_that_closes_nothing():
    script = """
from contextlib import asynccontextmanager
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from pytest_ragcheck import RagClient

@asynccontextmanager
async def lifespan(app):
    yield
    print("shut down")

async def query(request):
    return JSONResponse({"answer": "30 days", "contexts": []})

app = Starlette(routes=[Route("/query", query, methods=["POST"])], lifespan=lifespan)
client = RagClient("/query", app=app)
print(client.blocking.query("How long?").text)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout, ran.stderr) == ("30 days\nshut down\n", "")


def test_evaluate_asks_an_app_and_leaves_it_open():
    steps = Steps()

    async def run() -> None:
        async with RagClient("/query", app=service(steps)) as client:
            question = Question(id="q", question="How long?", expected_answer="30 days", dataset_name="billing")
            for _ in range(2):
                evaluation = await evaluate(question, client, "offline")
                assert [record.verdict.name for record in evaluation.records] == ["PASS"]

    asyncio.run(run())
    assert steps == ["startup", "request", "request", "shutdown"]


def test_each_client_of_an_app_has_its_own_lifespan():
    steps = Steps()
    app = service(steps)

    async def run() -> None:
        async with RagClient("/query", app=app) as one, RagClient("/query", app=app) as other:
            await several(one, 1)
            await several(other, 1)

    asyncio.run(run())
    assert sorted(steps) == ["request", "request", "shutdown", "shutdown", "startup", "startup"]


async def refuses_lifespans(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        raise ValueError(f"cannot handle {scope['type']}")
    await JSONResponse(REPLY)(scope, receive, send)


async def ignores_lifespans(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await JSONResponse(REPLY)(scope, receive, send)


@pytest.mark.parametrize("app", [refuses_lifespans, ignores_lifespans])
def test_an_app_without_a_lifespan_works(app):
    with RagClient("/query", app=app).blocking as client:
        assert client.query("How long?").text == "Within 30 days."


def test_starlette_receives_the_state_and_the_request_of_a_server():
    seen: dict[str, Any] = {}

    @asynccontextmanager
    async def lifespan(app: Starlette):
        yield {"index": "ready"}

    async def query(request: Request) -> JSONResponse:
        seen.update(index=request.state.index, url=str(request.url), body=await request.json(), **request.headers)
        request.state.index = "used"  # a request has a copy
        return JSONResponse(REPLY)

    app = Starlette(routes=[Route("/ä b/query", query, methods=["POST"])], lifespan=lifespan)
    client = RagClient("/%C3%A4%20b/query?k=a%20b", app=app, headers={"Authorization": "Bearer s3cret"})
    with client.blocking as blocking:
        blocking.query("How long?")
        blocking.query("How much?", top_k=3)
    assert seen["index"] == "ready"
    assert seen["url"] == "http://localhost/ä b/query?k=a%20b"
    assert seen["body"] == {"query": "How much?", "top_k": 3}
    assert (seen["authorization"], seen["user-agent"]) == ("Bearer s3cret", "pytest-ragcheck")


# Failures


@asynccontextmanager
async def without_an_index(app: Any):
    look_up("index")
    yield


def test_a_startup_that_raises_is_an_error_with_the_place():
    lines = [look_up.__code__.co_firstlineno + 2, without_an_index.__wrapped__.__code__.co_firstlineno + 2]  # type: ignore[attr-defined]
    error = fail(FastAPI(lifespan=without_an_index))
    assert isinstance(error, EndpointUnreachable)
    assert not error.transient
    assert str(error) == (
        "app FastAPI: its startup raised KeyError: 'index' "
        f"(tests/rag/http/test_asgi_app.py:{lines[0]}, from tests/rag/http/test_asgi_app.py:{lines[1]})\n"
        "Fix the lifespan of the app, which runs once before the first question."
    )


def test_a_failed_startup_is_not_repeated_until_the_client_is_closed():
    starts = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        starts.append(scope["type"])
        await send({"type": "lifespan.startup.failed", "message": "the model is missing"})

    async def run() -> list[str]:
        async with RagClient("/query", app=app) as client:
            errors = await asyncio.gather(*(client.query("?") for _ in range(3)), return_exceptions=True)
        return [str(error) for error in errors]

    found = asyncio.run(run())
    assert starts == ["lifespan"]
    assert [each.splitlines()[0].partition(": ")[2] for each in found] == [
        "its startup failed: the model is missing"
    ] * 3


def test_a_startup_has_a_time_limit():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await asyncio.sleep(60)

    assert str(fail(app, timeout_seconds=0.1)).partition(": ")[2] == (
        "its startup did not end within 0.1 s\nMake it faster, or raise the limit (rag_timeout)."
    )


def test_the_startup_does_not_count_as_time_of_the_request():
    @asynccontextmanager
    async def lifespan(app: FastAPI):
        await asyncio.sleep(0.3)
        yield

    app = FastAPI(lifespan=lifespan)
    app.post("/query")(lambda: REPLY)
    with RagClient("/query", app=app, timeout_seconds=5).blocking as client:
        answer = client.query("How long?")
    assert answer.latency_seconds is not None
    assert answer.latency_seconds < 0.3


def test_a_shutdown_that_fails_is_an_error_of_aclose():
    steps = Steps()
    error = fail(service(steps, shutdown=RuntimeError("cannot flush")))
    assert steps == ["startup", "request", "shutdown"]
    assert str(error).startswith("app FastAPI: its shutdown raised RuntimeError: cannot flush (tests/rag/http/")
    assert str(error).endswith("\nFix the lifespan of the app. The answers are not affected.")


def test_a_shutdown_has_a_time_limit():
    @asynccontextmanager
    async def lifespan(app: FastAPI):
        yield
        await asyncio.sleep(60)

    app = FastAPI(lifespan=lifespan)
    app.post("/query")(lambda: REPLY)
    assert "its shutdown did not end within 0.3 s\n" in str(fail(app, timeout_seconds=0.3))


def failing_app() -> FastAPI:
    app = FastAPI()

    @app.post("/raises")
    async def raises() -> None:
        look_up("chunk")

    @app.post("/refused-inside")
    async def refused_inside() -> None:
        raise httpx.ConnectError("the vector store is down")

    @app.post("/exits")
    async def exits() -> None:
        raise SystemExit(3)

    @app.post("/slow")
    async def slow() -> None:
        await asyncio.sleep(60)

    return app


def look_up(key: str) -> str:
    known: dict[str, str] = {}
    return known[key]


def test_what_a_route_raises_is_an_error_with_the_frames_of_the_app():
    error = fail(failing_app(), "/raises")
    place, route = look_up.__code__.co_firstlineno + 2, failing_app.__code__.co_firstlineno + 5
    here = "tests/rag/http/test_asgi_app.py"
    assert type(error) is EndpointError
    assert str(error) == (
        f"app FastAPI /raises: the app raised KeyError: 'chunk' ({here}:{place}, from {here}:{route})\nFix the app."
    )


@pytest.mark.parametrize(
    ("path", "found"),
    [("/refused-inside", "raised ConnectError: the vector store is down ("), ("/exits", "raised SystemExit: 3 (")],
)
def test_no_error_of_the_app_is_taken_for_one_of_the_connection(path, found):
    error = fail(failing_app(), path)
    assert type(error) is EndpointError
    assert f"app FastAPI {path}: the app {found}" in str(error)


def test_a_request_has_a_time_limit_and_the_app_ends_with_it():
    error = fail(failing_app(), "/slow", timeout_seconds=0.2)
    assert isinstance(error, EndpointTimeout)
    assert "no complete reply within 0.2 s: timed out while waiting for the reply" in str(error)


def test_the_shutdown_waits_for_no_route_that_swallows_its_cancellation():
    steps = []

    @asynccontextmanager
    async def lifespan(app: FastAPI):
        yield
        steps.append("shutdown")

    app = FastAPI(lifespan=lifespan)

    @app.post("/query")
    async def query() -> None:
        for _ in range(20):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)
        steps.append("reply")

    async def run() -> None:
        async with RagClient("/query", app=app, timeout_seconds=0.6) as client:
            with pytest.raises(EndpointTimeout):
                await client.query("How long?")
        assert steps == ["shutdown"]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ([], "returned without a reply"),
        ([{"type": "http.response.start", "status": 200, "headers": []}], "returned before its reply was complete"),
    ],
)
def test_an_app_that_does_not_finish_its_reply_is_an_error(sent, found):
    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in sent if scope["type"] == "http" else ():
            await send(message)

    assert f": the app {found}\n" in str(fail(app))


def test_a_status_of_the_app_is_reported_as_that_of_a_server():
    error = str(fail(FastAPI()))
    assert error.startswith("app FastAPI /query: status 404 Not Found")
    assert error.endswith('\nThere is no such route: check the path, such as url="/chat".')


def test_a_redirect_of_the_app_is_reported_with_its_target():
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await RedirectResponse("/elsewhere")(scope, receive, send)

    found = "status 307 Temporary Redirect, which leads to http://localhost/elsewhere (no body)"
    assert found in str(fail(app)).splitlines()[0]


# Replies


def test_a_streamed_reply_is_read_as_it_comes():
    app = FastAPI()

    @app.post("/query/stream")
    async def stream() -> StreamingResponse:
        async def events() -> AsyncIterator[str]:
            yield f"data: {json.dumps({'answer': 'Within '})}\n\n"
            await asyncio.sleep(0.3)
            yield f"data: {json.dumps({'answer': '30 days.'})}\n\n"
            yield f"data: {json.dumps({'contexts': REPLY['contexts']})}\n\ndata: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    with RagClient("/query/stream", app=app).blocking as client:
        answer = client.query("How long?")
    assert (answer.text, list(answer.contexts)) == (REPLY["answer"], REPLY["contexts"])
    assert answer.first_token_seconds is not None
    assert answer.latency_seconds is not None
    assert answer.first_token_seconds + 0.2 < answer.latency_seconds


def test_a_stream_without_end_is_cut_off_and_the_app_gets_a_disconnect():
    ended = threading.Event()
    app = FastAPI()

    @app.post("/query")
    async def endless() -> StreamingResponse:
        async def events() -> AsyncIterator[str]:
            try:
                while True:
                    yield f"data: {json.dumps({'answer': 'x' * 1000})}\n\n"
            finally:
                ended.set()

        return StreamingResponse(events(), media_type="text/event-stream")

    assert "the reply is larger than 20,000 bytes" in str(fail(app, max_reply_bytes=20_000))
    gc.collect()
    assert ended.wait(5)


def test_work_after_the_reply_is_waited_for_at_the_end_and_its_failure_is_logged(caplog):
    done = []
    app = FastAPI()

    async def after() -> None:
        await asyncio.sleep(0.3)
        done.append("saved")
        raise RuntimeError("cannot save twice")

    @app.post("/query")
    async def query(tasks: BackgroundTasks) -> dict[str, Any]:
        tasks.add_task(after)
        return REPLY

    with caplog.at_level(logging.WARNING), RagClient("/query", app=app).blocking as client:
        started = time.perf_counter()
        assert client.query("How long?").text == REPLY["answer"]
        assert time.perf_counter() - started < 0.3
    assert done == ["saved"]
    assert "the app raised RuntimeError: cannot save twice (" in caplog.text


# Arguments and names


def test_settings_give_the_paths_and_the_headers():
    app = FastAPI()
    asked = []

    @app.post("/v1/ask")
    async def ask(request: Request) -> dict[str, Any]:
        asked.append(request.headers["x-team"])
        return REPLY

    settings = Settings.of().replace(url="https://user:s3cret@staging.example/v1/ask", headers={"X-Team": "billing"})
    client = RagClient.from_settings(settings, app=app)
    assert client.endpoint == "app FastAPI /v1/ask"
    with client.blocking as blocking:
        blocking.query("How long?")
    assert asked == ["billing"]
    assert RagClient.from_settings(Settings.of(), app=app).endpoint == "app FastAPI /query"
    assert RagClient.from_settings(settings, app=app, url="/other?api_key=s3cret").endpoint == (
        "app FastAPI /other?api_key=[redacted]"
    )


app_of_this_module = FastAPI()


def test_an_app_has_the_name_that_a_server_would_take():
    assert RagClient("/query", app=app_of_this_module).endpoint == f"app {HERE}:app_of_this_module /query"
    assert RagClient("/query", app=refuses_lifespans).endpoint == f"app {HERE}:refuses_lifespans /query"


def wsgi(environ: Any, start_response: Any) -> list[bytes]:
    return []


@pytest.mark.parametrize(("app", "shown"), [(wsgi, "'wsgi'"), ("my_service:app", "'my_service:app'")])
def test_what_is_no_asgi_app_is_refused(app, shown):
    with pytest.raises(UsageError) as caught:
        RagClient("/query", app=app)
    assert str(caught.value) == (
        f"app= takes an ASGI app, which is called as app(scope, receive, send), not {shown}. Give the app of FastAPI, "
        "Starlette or Django's asgi.py; a WSGI app, such as Flask's, needs a server and rag_url."
    )


def test_an_app_and_an_http_client_are_refused_together():
    with pytest.raises(UsageError, match=r"takes http= or app=, not both"):
        RagClient("/query", app=refuses_lifespans, http=httpx.AsyncClient())
