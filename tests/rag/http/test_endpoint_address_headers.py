from __future__ import annotations

import asyncio

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.endpoint_address import fill_in
from tests.rag.misbehaviours import GOOD
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

URL = "http://rag.example/query"


def refusal(headers: dict[str, str], url: str = URL) -> str:
    with pytest.raises(UsageError) as caught:
        RagClient(url, headers=headers)
    assert caught.value.__cause__ is caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("value", ["Bearer secret-1\n", " secret-1", "secret-1\x00", "sécret-1"])
def test_a_header_that_cannot_be_sent_is_refused_without_showing_its_value(value: str) -> None:
    assert refusal({"Authorization": value}) == (
        "the value of the header 'Authorization' cannot be sent: it has a line break, another control character, "
        "a character beyond ASCII, or white space at an end (its value is not shown). "
        "Check the place it comes from: a secret read from a file often ends in a line break."
    )


def test_a_header_without_a_name_or_with_a_value_that_is_no_text_is_refused() -> None:
    assert refusal({"X Key": "1"}) == "the header name 'X Key' cannot be sent. Use letters, digits and '-' only."
    number: dict[str, str] = {"X-Key": 1}  # type: ignore[dict-item]
    assert refusal(number) == "the value of the header 'X-Key' is int, not str. Write it as text."


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding"])
def test_a_header_that_says_where_a_request_ends_is_refused(name: str) -> None:
    text = f"the header {name!r} cannot be set: it follows from the body of each request. Take it out."
    assert refusal({name: "3"}) == text


def test_an_empty_header_value_can_be_sent() -> None:
    assert RagClient(URL, headers={"X-Key": ""}).endpoint == URL


def test_the_host_may_be_another_than_the_urls_for_a_server_that_has_several() -> None:
    async def ask(url: str) -> None:
        async with RagClient(url, headers={"Host": "docs.example"}) as client:
            await client.query("How long?")

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(ask(endpoint.url))
    assert endpoint.requests[0].headers["host"] == "docs.example"


@pytest.mark.parametrize("userinfo", ["me:pw-12345", "me", ":pw-12345"])
def test_a_header_and_a_user_name_for_the_same_are_refused(userinfo: str) -> None:
    assert refusal({"authorization": "Bearer abc"}, f"http://{userinfo}@rag.example/query") == (
        "the header 'authorization' cannot be sent with the user name and password in the endpoint's URL, "
        "which are sent as the same header. Take one of them out."
    )


@pytest.mark.parametrize("value", ["$TOKEN", "Bearer ${TOKEN}", "Bearer {TOKEN}", "%TOKEN%"])
def test_a_variable_as_a_shell_writes_it_is_refused_with_the_right_form(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        fill_in([("Authorization", value)], {"TOKEN": "t-1"})
    text = "the value of Authorization is the name of a variable. Write {env:NAME} to insert its value."
    assert str(caught.value) == text


@pytest.mark.parametrize("value", ["{env:TOKEN}", "pa$$word", "$2b$10$abc", "{}", "$ 5", "a $TOKEN b"])
def test_a_value_with_signs_of_a_variable_is_sent_as_it_is(value: str) -> None:
    assert fill_in([("X-Key", value)], {"TOKEN": "{env:TOKEN}"}).headers == {"X-Key": value}


def test_variables_of_the_environment_are_filled_in_and_known_as_secrets() -> None:
    lines = [("Authorization", "Bearer {env:TOKEN}"), ("X-By", "{env:USER}/{env:TOKEN}"), ("X-Team", "billing")]
    filled = fill_in(lines, {"TOKEN": "t-1", "USER": "bob"})
    assert filled.headers == {"Authorization": "Bearer t-1", "X-By": "bob/t-1", "X-Team": "billing"}
    assert set(filled.secrets) == {"t-1", "bob"}
    assert "t-1" not in repr(filled)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("Bearer {env:TOKEN}", "the environment's 'TOKEN'"),
        ("{env:USER}:{env:TOKEN}:{env:TOKEN}", "the environment's 'USER' and 'TOKEN'"),
        ("ключ", "the value"),
    ],
)
def test_a_value_that_cannot_be_sent_is_refused_with_where_it_can_be_mended(value: str, place: str) -> None:
    with pytest.raises(UsageError) as caught:
        fill_in([("Authorization", value)], {"TOKEN": "secret-1\n", "USER": "bob"})
    assert str(caught.value).startswith("the value of the header 'Authorization' cannot be sent: it has a line break")
    assert f"Check {place}: a secret read from a file often ends in a line break." in str(caught.value)
    assert "secret-1" not in str(caught.value)
