"""The earlier turns of a conversation in requests and calls, and the session in replies."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit

import pytest

from pytest_ragcheck.errors import EndpointError
from pytest_ragcheck.questions.question import GENERATION, RETRIEVAL_ALONE, EarlierTurn, GoldPassage, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.ask import ask as ask_checked
from pytest_ragcheck.rag.client import RagClient
from tests.servers.fake_endpoint import FakeEndpoint, json_reply, raw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.servers.fake_endpoint import Behaviour, Request

HISTORY = (
    EarlierTurn(question="Is the {query} fee refunded?", answer='Yes, "within" 30 days.', contexts=("a",)),
    EarlierTurn(question="Даже зимой?", answer=""),
)
MESSAGES = [
    {"role": "user", "content": "Is the {query} fee refunded?"},
    {"role": "assistant", "content": 'Yes, "within" 30 days.'},
    {"role": "user", "content": "Даже зимой?"},
    {"role": "assistant", "content": ""},
]
TEXT = 'User: Is the {query} fee refunded?\nAssistant: Yes, "within" 30 days.\nUser: Даже зимой?\nAssistant: '
GOOD = {"answer": "To the card.", "contexts": ["c"]}
USER = {"role": "user", "content": "And to which card?"}


def turn(number: int = 3, **more: Any) -> Question:
    told: dict[str, Any] = {"history": HISTORY[: number - 1]} | more
    return Question(
        dataset_name="t", id=f"t[turn{number}]", question=USER["content"], conversation="t", turn=number, **told
    )


def asked(question: Question, reply: Any = GOOD, **options: Any) -> tuple[Request, RagAnswer]:
    """The request for the question, and the answer that is read from the reply."""
    behaviour = cast("Behaviour", reply) if callable(reply) else json_reply(reply)
    with FakeEndpoint(behaviour) as endpoint:
        with RagClient(endpoint.url, **options).blocking as client:
            answer = client.ask(question)
        [request] = endpoint.requests
    return request, answer


def refused(question: Question, **options: Any) -> str:
    """The error before anything is sent."""
    with FakeEndpoint(json_reply(GOOD)) as endpoint, RagClient(endpoint.url, **options).blocking as client:
        with pytest.raises(EndpointError) as caught:
            client.ask(question)
        assert endpoint.requests == []
        return str(caught.value).removeprefix(f"{endpoint.url}: ")


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ('{"q": "{query}", "past": "{history}"}', {"q": USER["content"], "past": MESSAGES}),
        ('{"q": "{query}", "all": ["a", "{history}", {"c": "{query}"}]}', ["a", *MESSAGES, {"c": USER["content"]}]),
        ('{"q": "{query}", "all": [["{history}"]]}', [MESSAGES]),
        (
            '{"all": ["{history}", {"id": "1", "role": "user", "parts": [{"type": "text", "text": "{query}"}]}]}',
            [
                {"id": "1", "role": each["role"], "parts": [{"type": "text", "text": each["content"]}]}
                for each in (*MESSAGES, USER)
            ],
        ),
        ('{"q": "{query}", "all": "Before:\\n{history}\\nNow: {query}"}', f"Before:\n{TEXT}\nNow: {USER['content']}"),
    ],
)
def test_the_history_is_sent_as_messages_or_as_text(template: str, sent: Any) -> None:
    body = asked(turn(), request=template)[0].json
    assert body.get("all", body) == sent


def test_the_first_turn_has_no_messages_and_no_session() -> None:
    template = '{"q": "{query}", "past": "{history}", "text": "<{history}{session}>", "all": ["{history}"]}'
    assert asked(turn(1), request=template)[0].json == {"q": USER["content"], "past": [], "text": "<>", "all": []}


def test_a_query_string_has_the_history_as_text_and_the_session_once_there_is_one() -> None:
    options = {"request": "GET q={query}&past={history}&s={session}&k={top_k}"}
    options["response"] = "answer=answer contexts=contexts session=session"
    parts = urlsplit(asked(turn(session="s 1"), **options)[0].path)
    assert parse_qsl(parts.query, keep_blank_values=True) == [
        ("q", USER["content"]),
        ("past", TEXT),
        ("s", "s 1"),
        ("k", "5"),
    ]
    parts = urlsplit(asked(turn(1), **options)[0].path)
    assert parse_qsl(parts.query, keep_blank_values=True) == [("q", USER["content"]), ("past", ""), ("k", "5")]


CHAT = {"choices": [{"message": {"content": "To the card.", "reference": []}}], "contexts": ["c"]}
SERVER = {"answer": "To the card.", "sources": [], "session_id": "s2"}


@pytest.mark.parametrize(
    ("shape", "reply", "sent"),
    [
        ("openai-chat", CHAT, {"messages": [*MESSAGES, USER]}),
        ("open-webui", CHAT, {"messages": [*MESSAGES, USER]}),
        ("ragflow", CHAT, {"messages": [*MESSAGES, USER]}),
        ("dify", GOOD | {"conversation_id": "s2", "metadata": {}}, {"conversation_id": "s1"}),
        ("server", SERVER, {"session_id": "s1"}),
    ],
)
def test_named_shapes_carry_conversations_by_themselves(shape: str, reply: Any, sent: Mapping[str, Any]) -> None:
    request, answer = asked(turn(session="s1"), reply, shape=shape)
    assert sent.items() <= request.json.items()
    assert answer.session == (None if "messages" in sent else "s2")


@pytest.mark.parametrize("tier", [GENERATION, RETRIEVAL_ALONE])
def test_each_tier_carries_the_session(tier: str) -> None:
    passages = (GoldPassage(text="The card.", doc_id="d"),)
    question = turn(session="s1", tier=tier, gold_passages=passages)
    request, answer = asked(question, SERVER, shape="server")
    assert request.json["session_id"] == "s1"
    assert ("context_passages" in request.json) == (tier == GENERATION)
    assert answer.session == "s2"


@pytest.mark.parametrize(("session", "is_named"), [("s1", True), (None, False)])
def test_an_unknown_session_is_a_cause_of_a_404_where_the_request_has_one(session: str | None, is_named: bool) -> None:
    request = '{"q": "{query}", "past": "{history}", "id": "{session}"}'
    with FakeEndpoint(json_reply({"error": "expired"}, 404)) as endpoint:
        with RagClient(endpoint.url, request=request).blocking as client, pytest.raises(EndpointError) as caught:
            client.ask(turn(session=session))
        assert str(caught.value).splitlines()[1] == (
            "There is no such route: check the path in the URL."
            + " Or the server no longer knows the session." * is_named
        )


READING = "answer=answer contexts=contexts session=talk.id"
STREAM = b"".join(
    b"data: %s\n\n" % event
    for event in (
        b'{"talk": {"id": "first"}}',
        b'{"answer": "To the card.", "talk": {"id": 17}}',
        b'{"contexts": ["c"], "talk": {"id": null}}',
    )
)


@pytest.mark.parametrize(
    ("reply", "session"),
    [
        (GOOD | {"talk": {"id": "s1"}}, "s1"),
        (GOOD | {"talk": {"id": 17}}, 17),
        (GOOD | {"talk": {"id": 0}}, 0),
        (GOOD | {"talk": {"id": 0.25}}, 0.25),
        (GOOD | {"talk": {"id": None}}, None),
        (GOOD | {"talk": {"id": ""}}, None),
        (GOOD, None),
        (raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + STREAM), 17),
    ],
)
def test_the_session_is_the_text_or_the_number_of_the_reply(reply: Any, session: str | float | None) -> None:
    answer = asked(turn(1), reply, request='{"q": "{query}", "s": "{session}"}', response=READING)[1]
    assert (answer.text, answer.session) == ("To the card.", session)


@pytest.mark.parametrize("session", ["s1", 17, 0, 0.25])
def test_the_session_is_sent_as_it_came(session: str | float) -> None:
    template = '{"q": "{query}", "s": "{session}", "all": ["{session}"], "text": "<{session}>"}'
    body = asked(turn(2, session=session), request=template, response=READING)[0].json
    assert body == {"q": USER["content"], "s": session, "all": [session], "text": f"<{session}>"}
    assert type(body["s"]) is type(session)


def test_a_first_turn_and_a_question_send_no_null_in_place_of_the_session() -> None:
    # Where a schema says that the session is an optional string, null is refused.
    template = '{"q": "{query}", "s": "{session}", "all": [{"s": "{session}"}, "{session}"]}'
    for question in (turn(1), Question(dataset_name="t", id="1", question=USER["content"])):
        assert asked(question, request=template, response=READING)[0].json == {"q": USER["content"], "all": [{}]}
        for shape in ("server", "dify"):
            assert None not in asked(question, SERVER | {"metadata": {}}, shape=shape)[0].json.values()


def test_a_session_of_another_type_is_an_error() -> None:
    with pytest.raises(EndpointError) as caught:
        asked(turn(1), GOOD | {"talk": {"id": ["s"]}}, shape="openai-chat", response=READING)
    assert "session=talk.id is an array of 1, not a string or a number\nName the id of the conversation." in str(
        caught.value
    )


@pytest.mark.parametrize("number", [1, 2])
def test_a_request_that_cannot_carry_a_conversation_is_never_sent(number: int) -> None:
    assert refused(turn(number)) == (
        "the request has no place for the earlier turns of the conversation\n"
        'Write {history} into rag_request, such as {"messages": ["{history}", {"role": "user", "content": "{query}"}]};'
        " or {session}, if the endpoint keeps conversations, and session=EXPRESSION into rag_response."
    )


def test_a_session_that_is_never_read_is_an_error_before_the_first_request() -> None:
    assert refused(turn(1), request='{"query": "{query}", "s": "{session}"}') == (
        "the request has {session}, but rag_response does not say where the session is\n"
        "Add session=EXPRESSION to rag_response, such as session=conversation_id."
    )


def test_a_turn_without_the_session_of_the_turns_before_is_an_error() -> None:
    assert refused(turn(2), shape="dify") == (
        "no earlier reply of the conversation named a session\n"
        "Correct session=EXPRESSION in rag_response, or send the earlier turns by {history} in rag_request."
    )


def test_a_question_outside_of_a_conversation_is_asked_without_either() -> None:
    question = Question(dataset_name="t", id="1", question=USER["content"])
    assert asked(question)[0].json == {"query": USER["content"], "top_k": 5}
    assert asked(question, CHAT, shape="openai-chat")[0].json == {"messages": [USER]}


def with_history(query: str, history: list[dict[str, str]]) -> dict[str, Any]:
    return {"answer": repr(history), "contexts": []}


def with_session(query: str, top_k: int, *, session: str | None) -> dict[str, Any]:
    return {"answer": repr(session), "contexts": [], "session": 17}


def with_defaults(query: str, history: object = "own", session: object = "own") -> dict[str, Any]:
    return {"answer": f"{history} {session}", "contexts": []}


def with_context(query: str, context_passages: object, history: object) -> dict[str, Any]:
    return with_history(query, history)  # type: ignore[arg-type]


def called(function: Callable[..., Any], question: Question, **options: Any) -> RagAnswer:
    return asyncio.run(RagClient.from_callable(function, **options).ask(question))


def test_a_function_gets_the_history_or_the_session_that_it_takes() -> None:
    assert called(with_history, turn()).text == repr(MESSAGES)
    assert called(with_history, turn(1)).text == "[]"
    answer = called(with_session, turn(session="s1"))
    assert (answer.text, answer.session) == ("'s1'", 17)
    assert called(with_session, turn(1)).text == "None"
    assert called(with_context, turn(tier=GENERATION)).text == repr(MESSAGES)
    assert called(with_history, turn(tier=RETRIEVAL_ALONE)).contexts == ()


def test_a_session_is_read_from_any_object_that_a_function_returns() -> None:
    def ask(query: str, session: object) -> dict[str, Any]:
        return {"said": "a", "thread": {"id": "t1"}}

    assert called(ask, turn(1), response="answer=said contexts=`[]` session=thread.id").session == "t1"
    assert called(lambda query, session: RagAnswer(text="a", session="t2"), turn(1)).session == "t2"


def test_a_function_outside_of_a_conversation_keeps_its_own_defaults() -> None:
    question = Question(dataset_name="t", id="1", question="Why?")
    assert called(with_defaults, question).text == "own own"
    assert called(with_history, question).text == "[]"
    assert called(with_session, question).text == "None"
    assert called(lambda query: {"answer": "", "contexts": [], "session": []}, question).extra == {"session": []}


@pytest.mark.parametrize(
    ("function", "number", "text"),
    [
        (
            lambda query: GOOD,
            1,
            "takes no earlier turns of a conversation\nLet it take them as function(query, history), ",
        ),
        (
            lambda query, session: GOOD,
            2,
            "returned no session for the earlier turns of the conversation\nReturn the id of the conversation",
        ),
    ],
)
def test_a_function_that_cannot_know_the_earlier_turns_is_an_error(
    function: Callable[..., Any], number: int, text: str
) -> None:
    with pytest.raises(EndpointError) as caught:
        called(function, turn(number))
    assert str(caught.value).partition(": ")[2].startswith(text)


@pytest.mark.parametrize("session", [["s"], True])
def test_a_client_of_the_users_own_names_its_session_as_text_or_number(session: Any) -> None:
    class Own:
        async def ask(self, question: Question) -> RagAnswer:
            return RagAnswer(text="a", session=session)

    with pytest.raises(EndpointError, match=r"whose session is .*, not a str or a number"):
        asyncio.run(ask_checked(turn(), Own()))
