from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import pydantic
import pytest

from pytest_ragcheck.concurrency.frames import is_own_failure
from pytest_ragcheck.errors import EndpointError, EndpointReplyError, EndpointTimeout, UsageError
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.client import RagClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

HERE = "tests.rag.test_function_endpoint"


def ask(function: Any, **options: Any) -> RagAnswer:
    return asyncio.run(RagClient.from_callable(function, **options).query("What is the refund window?"))


def fail(function: Any, **options: Any) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        ask(function, **options)
    return caught.value


def echo(query):
    return {"answer": query, "contexts": [threading.current_thread().name]}


async def echo_async(query: str, top_k: int = 0) -> dict[str, Any]:
    return {"answer": f"{query} {top_k}", "contexts": []}


def passes_on(query: str) -> Awaitable[dict[str, Any]]:
    return echo_async(query)


class App:
    async def __call__(self, query, *, top_k):
        return {"answer": f"{query} {top_k}", "contexts": []}

    def answer(self, query, **more):
        return {"answer": f"{query} {more}", "contexts": []}


def test_a_plain_function_runs_in_a_thread_and_without_a_top_k_that_it_does_not_take():
    answer = ask(echo)
    assert answer.text == "What is the refund window?"
    assert answer.contexts != (threading.current_thread().name,)
    assert answer.latency_seconds is not None


@pytest.mark.parametrize(
    ("function", "text", "name"),
    [
        (echo_async, "What is the refund window? 3", f"{HERE}.echo_async"),
        (App(), "What is the refund window? 3", f"{HERE}.App"),
        (App().answer, "What is the refund window? {}", f"{HERE}.App.answer"),
        (functools.partial(echo_async, top_k=7), "What is the refund window? 3", f"{HERE}.echo_async"),
        (passes_on, "What is the refund window? 0", f"{HERE}.passes_on"),
    ],
)
def test_anything_that_can_be_called_with_a_query_is_a_rag_system(function, text, name):
    client = RagClient.from_callable(function, top_k=3)
    assert asyncio.run(client.query("What is the refund window?")).text == text
    assert client.endpoint == name


def test_a_function_without_a_signature_is_called_with_the_query_alone():
    class NoSignature:
        __signature__ = "none"

        def __call__(self, query):
            return {"answer": query, "contexts": []}

    assert ask(NoSignature()).text == "What is the refund window?"


def test_contexts_of_a_function_may_be_any_sequence_and_the_reply_any_mapping():
    assert ask(lambda _: MappingProxyType({"answer": "a", "contexts": ("x",), "n": 1})).extra == {"n": 1}


def test_a_rag_answer_is_taken_with_all_that_it_says():
    given = RagAnswer(text="a", contexts=("x",), source_ids=("doc-1",), latency_seconds=0.25, extra={"n": 1})
    assert ask(lambda _: given) == given


def test_a_rag_answer_gets_the_latency_of_the_call_where_it_gives_none():
    latency_seconds = ask(lambda _: RagAnswer(text="a")).latency_seconds
    assert latency_seconds is not None
    assert latency_seconds >= 0


def test_a_rag_answer_is_checked_like_any_reply():
    error = fail(lambda _: RagAnswer(text="a", contexts=("x", 7)))  # type: ignore[arg-type]
    assert type(error) is EndpointReplyError
    assert str(error) == (
        f'{HERE}.<lambda>: "contexts"[1] is the number 7, not a string\nReturn the text of each passage.'
    ).replace("<lambda>", "test_a_rag_answer_is_checked_like_any_reply.<locals>.<lambda>")


def test_a_list_of_contexts_in_a_rag_answer_becomes_a_tuple():
    assert ask(lambda _: RagAnswer(text="a", contexts=["x"])).contexts == ("x",)  # type: ignore[arg-type]


def test_bytes_are_no_contexts():
    for contexts in (b"", b"x"):
        error = fail(lambda _, contexts=contexts: SimpleNamespace(a="x", c=contexts), response="answer=a contexts=c")
        assert '"c" is one string, not an array' in str(error)


def returns_none(query): ...


PATHS = (
    " Or give RagClient.from_callable the paths of its parts, such as "
    'response="answer=result.text contexts=result.sources[].text".'
)


def returns_text(query: str) -> Any:
    return "30 days"


def returns_pair(query):
    return "30 days", ["Refunds are paid within 30 days."]


def returns_stream(query):
    yield "30"


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (returns_none, "None"),
        (returns_text, "a str ('30 days')"),
        (returns_pair, "a tuple (('30 days', ['Refunds are paid within 30 days.']))"),
        (returns_stream, "a generator (<generator object returns_stream at 0x"),
    ],
)
def test_anything_but_a_mapping_or_a_rag_answer_is_refused(function, found):
    error = fail(function)
    assert type(error) is EndpointReplyError
    assert str(error).startswith(f"{HERE}.{function.__name__}: returned {found}")
    to_do = 'Return {"answer": "...", "contexts": ["...", ...]}, or a RagAnswer.'
    # A text has no parts.
    assert str(error).endswith(f"\n{to_do}" if function in (returns_none, returns_text) else f"\n{to_do}{PATHS}")


def test_a_mapping_in_another_shape_is_refused_as_over_http():
    def answer(query):
        return {"response": "30 days"}

    assert str(fail(answer)).endswith(
        f'answer: the reply has no "answer" (found "response")\nRename "response" to "answer".{PATHS}'
    )


def raises(query):
    return json.loads("not\njson")


async def raises_async(query):
    raise ValueError("no index\nat all")


def raises_without_a_text(query):
    raise RuntimeError


def test_what_the_function_raises_names_the_users_own_line():
    error = fail(raises)
    line = raises.__code__.co_firstlineno + 1
    assert type(error) is EndpointError
    assert isinstance(error.__cause__, json.JSONDecodeError)
    here = Path(__file__).relative_to(Path.cwd()) if Path(__file__).is_relative_to(Path.cwd()) else Path(__file__)
    assert str(error) == (
        f"{HERE}.raises: raised JSONDecodeError: Expecting value: line 1 column 1 (char 0) ({here}:{line})\n"
        'Fix the function; where the system declines to answer, return "" as its answer.'
    )
    assert f": raised ValueError: no index at all ({here}:" in str(fail(raises_async))
    assert f": raised RuntimeError ({here}:" in str(fail(raises_without_a_text))


def test_a_mistake_of_ours_in_reading_the_reply_is_no_error_of_the_function():
    with pytest.raises(ValueError, match="Exceeds the limit") as caught:
        ask(lambda _: {"answer": 10**5000, "contexts": []})  # Python writes 4,300 digits at most
    assert is_own_failure(caught.value)


def raises_from_itself(query):
    try:
        json.loads("not json")
    except ValueError as error:
        raise error from error


def test_an_error_that_is_its_own_cause_is_an_error_like_any_other():
    error = fail(raises_from_itself)
    assert ": raised JSONDecodeError: Expecting value: line 1 column 1 (char 0) (" in str(error)
    assert "caused by" not in str(error)
    assert not is_own_failure(error)


def test_a_line_of_a_library_is_named_where_there_is_none_of_the_users():
    error = fail(json.JSONDecoder().decode)
    assert "json/decoder.py:" in str(error)
    assert not is_own_failure(error)


RETRIES = """
def retry(function):
    def retried(query):
        try:
            return function(query)
        except ConnectionError as error:
            raise RuntimeError(f"gave up on {object()}") from error
    return retried
"""


def test_an_error_of_a_retry_has_its_cause_and_no_address() -> None:
    names: dict[str, Any] = {}
    exec(RETRIES, names)  # without a file, as a library in a zip

    def refuse(query: str) -> None:
        raise ConnectionError("llm:8000 refuses connections")

    line = refuse.__code__.co_firstlineno + 1
    text = str(fail(names["retry"](refuse))).splitlines()[0]
    assert ": raised RuntimeError: gave up on <object object>, caused by ConnectionError: llm:8000 refuses" in text
    assert text.endswith(f"{Path(__file__).name}:{line})")


def test_a_stop_iteration_is_an_error_like_any_other():
    assert ": raised RuntimeError: StopIteration (" in (text := str(fail(lambda _: next(iter(())))))
    assert f"{Path(__file__).name}:" in text


def test_an_error_of_another_client_that_the_function_asks_passes_through():
    inner = RagClient.from_callable(returns_text)
    with pytest.raises(EndpointReplyError, match=r"returns_text: returned a str"):
        ask(inner.query)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_is_no_error_passes_through_untouched(kind, is_async):
    stop = kind("stop")

    def leave(query):
        raise stop

    async def leave_async(query):
        raise stop

    with pytest.raises(kind) as caught:
        ask(leave_async if is_async else leave)
    assert caught.value is stop


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_that_takes_too_long_is_given_up(is_async):
    released = threading.Event()

    def hangs(query):
        released.wait(10)

    async def hangs_async(query):
        await asyncio.sleep(10)

    try:
        error = fail(hangs_async if is_async else hangs, timeout_seconds=0.05)
    finally:
        released.set()
    assert type(error) is EndpointTimeout
    loop = (
        " Questions have an event loop of their own: make queues, tasks and pools in the function's first "
        "call, because those of a fixture's loop never answer."
    )
    assert str(error).endswith(
        f"hangs{'_async' * is_async}: returned nothing within 0.05 s\n"
        f"Make it return sooner, or raise timeout_seconds.{loop * is_async}"
    )


def test_an_answer_that_comes_after_it_was_given_up_disturbs_nothing():
    released, returned = threading.Event(), threading.Event()

    def slow(query):
        released.wait(10)
        returned.set()
        return {"answer": "late", "contexts": []}

    async def run() -> None:
        client = RagClient.from_callable(slow, timeout_seconds=0.05)
        with pytest.raises(EndpointTimeout):
            await client.query("?")
        released.set()
        await asyncio.to_thread(returned.wait, 10)
        await asyncio.sleep(0.05)

    asyncio.run(run())


HANG = """
import asyncio, threading
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.errors import EndpointTimeout
client = RagClient.from_callable(lambda query: threading.Event().wait(), timeout_seconds=0.05)
try:
    asyncio.run(client.query("?"))
except EndpointTimeout:
    print("given up")
"""


def test_a_function_that_hangs_for_ever_does_not_keep_the_process_from_ending():
    done = subprocess.run([sys.executable, "-c", HANG], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "given up\n", "")


def test_more_functions_run_at_once_than_a_pool_of_threads_has():
    together = threading.Barrier(100)

    def answer(query):
        together.wait(30)
        return {"answer": query, "contexts": []}

    async def run() -> list[RagAnswer]:
        client = RagClient.from_callable(answer)
        return await asyncio.gather(*(client.query(str(number)) for number in range(100)))

    assert [answered.text for answered in asyncio.run(run())] == [str(number) for number in range(100)]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            "http://localhost:8000/query",
            (
                "RagClient.from_callable takes a function, not 'http://localhost:8000/query'. "
                "Give a function(query) or function(query, top_k); a URL goes to RagClient(url)."
            ),
        ),
        (
            lambda query, k: {},
            (
                f"{HERE}.<lambda>(query, k) cannot be asked. "
                "RagClient.from_callable takes a function(query) or a function(query, top_k)."
            ),
        ),
    ],
)
def test_what_cannot_be_called_with_a_query_is_refused_at_once(function, text):
    with pytest.raises(UsageError) as caught:
        RagClient.from_callable(function)
    assert str(caught.value) == text


@dataclasses.dataclass
class Passage:
    page_content: str
    metadata: dict[str, Any]


@dataclasses.dataclass
class Found:
    context: list[Passage]

    @property
    def answer(self) -> str:
        return "30 days"

    @property
    def broken(self) -> str:
        raise OSError("the index went away")


RESPONSE = "answer=answer contexts=context[].page_content source_ids=context[].metadata.source"
PASSAGES = [Passage("Within 30 days.", {"source": "terms.md"}), Passage("Free.", {"source": "prices.md"})]


class Model(pydantic.BaseModel):
    answer: str = "30 days"
    context: list[Passage] = PASSAGES


@pytest.mark.parametrize("returned", [Found(PASSAGES), Model(), {"answer": "30 days", "context": PASSAGES, "n": 2}])
def test_expressions_read_keys_of_mappings_and_attributes_of_objects(returned: Any) -> None:
    answer = ask(lambda query: returned, response=RESPONSE)
    assert (answer.text, answer.contexts) == ("30 days", ("Within 30 days.", "Free."))
    assert answer.source_ids == ("terms.md", "prices.md")
    assert answer.latency_seconds is not None
    assert answer.extra.get("n") == (2 if isinstance(returned, dict) else None)


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (
            "answer=text contexts=context[].page_content",
            'the reply has no "text" (found "context", "answer", "broken")',
        ),
        (
            "answer=answer contexts=context[].content",
            'contexts=context[].content finds nothing: context[0] has no "content" (found "page_content", "metadata")',
        ),
        ("answer=broken contexts=context[].page_content", "raised OSError: the index went away"),
        ("contexts=context[].page_content", "response= does not say where the answer is"),
    ],
)
def test_a_wrong_expression_says_what_the_returned_object_has(response: str, text: str) -> None:
    error = fail(lambda query: Found(PASSAGES), response=response)
    assert text in str(error)


class OfClass:
    answer = "30 days"

    @functools.cached_property
    def context(self) -> list[Passage]:
        return PASSAGES


def test_a_wrong_expression_lists_attributes_of_the_class_too() -> None:
    error = fail(lambda query: OfClass(), response="answer=text contexts=context[].page_content")
    assert 'the reply has no "text" (found "answer", "context")' in str(error)


class Text(str):
    """A text that may be called, as LangChain's messages have."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


def test_a_result_may_contain_itself_occur_twice_or_be_nested_deeply() -> None:
    section: dict[str, Any] = {"chunks": []}
    section["chunks"].append({"text": "a passage", "section": section})
    state: dict[str, Any] = {}
    for _ in range(2000):
        state = {"input": state, "previous": state}
    answer = ask(
        lambda _: {"answer": "30 days", "hits": section["chunks"], "state": state},
        response="answer=answer contexts=hits[].text",
    )
    assert answer.contexts == ("a passage",)


@pytest.mark.parametrize(
    ("reply", "remedy"),
    [
        ({"error": "no index"}, "Fix its cause in the RAG system, and raise an exception for such failures."),
        ({"answer": "", "contexts": [], "status": "pending"}, "Wait for the answer in the function."),
    ],
)
def test_a_failure_in_the_reply_has_the_remedy_of_a_function(reply: dict[str, Any], remedy: str) -> None:
    assert str(fail(lambda _: reply)).endswith(f"\n{remedy}")


def test_bytes_are_no_text() -> None:
    error = fail(lambda _: SimpleNamespace(answer=b"30 days", contexts=()), response="answer=answer contexts=contexts")
    assert ': "answer" is a bytes, not a string\n' in str(error)


class Lazy:
    contexts = ("a passage",)

    @property
    def answer(self) -> str:
        return asyncio.run(self._ask_the_model())

    async def _ask_the_model(self) -> str:
        return threading.current_thread().name


def test_the_result_of_a_plain_function_is_read_in_its_thread() -> None:
    answer = ask(lambda _: Lazy(), response="answer=answer contexts=contexts")
    assert answer.text != threading.current_thread().name
    assert answer.latency_seconds is not None


def test_the_time_limit_holds_for_a_property_of_the_result() -> None:
    released = threading.Event()

    class Slow:
        contexts = ()

        @property
        def answer(self) -> str:
            released.wait(10)
            return "late"

    try:
        error = fail(lambda _: Slow(), response="answer=answer contexts=contexts", timeout_seconds=0.05)
    finally:
        released.set()
    assert type(error) is EndpointTimeout


def test_a_text_that_may_be_called_is_a_text() -> None:
    answer = ask(lambda query: SimpleNamespace(answer=Text("30 days"), context=PASSAGES), response=RESPONSE)
    assert answer.text == "30 days"


class Named(NamedTuple):
    answer: str
    context: deque[Passage]


def test_a_named_tuple_has_names_and_any_sequence_has_elements() -> None:
    answer = ask(lambda query: Named("30 days", deque(PASSAGES)), response=RESPONSE)
    assert answer.source_ids == ("terms.md", "prices.md")


def test_what_stands_beside_the_answer_stays_what_it_was() -> None:
    metadata = Found(PASSAGES)
    answer = ask(lambda query: {"answer": "30 days", "context": PASSAGES, "run": metadata}, response=RESPONSE)
    assert answer.extra["run"] is metadata


async def pieces(query: str) -> AsyncIterator[str]:
    yield "30 days"


@pytest.mark.parametrize(
    ("function", "kind"), [(lambda query: iter(["30 days"]), "a list_iterator"), (pieces, "an async_generator")]
)
def test_a_generator_is_an_error_that_names_it(function: Any, kind: str) -> None:
    error = str(fail(function, response=RESPONSE))
    assert f"returned {kind}, " in error
    assert "such as invoke instead of stream" in error


def test_an_invalid_expression_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="does not say where the contexts are"):
        RagClient.from_callable(echo, response="answer=answer")
