from __future__ import annotations

import json
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.shapes.shape import read_template
from tests.rag.misbehaviours import GOOD
from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply

URL = "http://rag.example/q"


def sent(template: str, query: str = "How long?", top_k: int = 3):
    read = read_template(template)
    return json.loads(read.sent(read.fill(query, top_k), "").get("content", b"null"))


def url_of(template: str, query: str, url: str = URL) -> str:
    read = read_template(template)
    return str(read.sent(read.fill(query, 3), url)["url"])


def test_the_question_and_the_number_stand_where_their_names_stood():
    template = '{"a": {"b": ["{query}", {"c": "{top_k}"}]}, "d": "Q: {query} ({top_k} of {n})", "e": [1, null, true]}'
    assert sent(template) == {
        "a": {"b": ["How long?", {"c": 3}]},
        "d": "Q: How long? (3 of {n})",
        "e": [1, None, True],
    }


def test_a_key_is_no_place_for_the_question():
    assert sent('{"{top_k}": "{query}"}') == {"{top_k}": "How long?"}


@given(st.text())
def test_a_question_is_put_in_as_text_whatever_it_holds(query):
    assert sent('{"q": "{query}", "k": "{top_k}"}', query) == {"q": query, "k": 3}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_question_comes_out_of_the_query_string_as_it_went_in(query):
    url = url_of("GET q={query}&k={top_k}", query, URL + "?lang=ru")
    assert url.isascii()
    pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True, strict_parsing=True)
    assert pairs == [("lang", "ru"), ("q", query), ("k", "3")]


def test_text_that_was_put_in_is_not_searched_for_places():
    assert sent('{"q": "{query}!"}', "{top_k} {query}") == {"q": "{top_k} {query}!"}
    assert url_of("GET q={query}!", "{top_k}") == URL + "?q=%7Btop_k%7D!"


def test_half_a_character_does_not_stop_a_query_string():
    assert url_of("GET q={query}", "a\ud83d") == URL + "?q=a%3F"


def test_what_the_url_has_of_the_same_name_gives_way_and_the_rest_stays():
    url = "http://rag.example/q?questions={TEXT}&code=a%2Fb&flag#part"
    assert url_of("GET questions={query}", "да", url) == "http://rag.example/q?code=a%2Fb&flag&questions=%D0%B4%D0%B0"


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        (
            '{"input": "{question}"}',
            'has no place for the question; write {query} where it goes, such as {"input": "{query}", "k": "{top_k}"}',
        ),
        (
            '{"input": {query}}',
            (
                "is neither JSON, from character 12 on, nor a query string after GET; "
                'write {"input": "{query}", "k": "{top_k}"} or GET q={query}'
            ),
        ),
        (
            '{"q": "{query}", "n": ' + "9" * 5000 + "}",
            (
                "is neither JSON nor a query string after GET; "
                'write {"input": "{query}", "k": "{top_k}"} or GET q={query}'
            ),
        ),
        (
            "POST q={query}",
            (
                "is neither JSON, from character 1 on, nor a query string after GET; "
                'write {"input": "{query}", "k": "{top_k}"} or GET q={query}; '
                "a form needs a function (ragcheck docs how-to/own-endpoint-shape)"
            ),
        ),
        ("GET q={question}", None),
        *(
            (
                text,
                (
                    "has no query string after GET; write, for example, GET q={query}&k={top_k}, "
                    "with %20 for a blank, %26 for & and %23 for #"
                ),
            )
            for text in ("GET {query}", "GET q={query}&", "GET q={query} k={top_k}", "GET q={query}#", "GET ={query}")
        ),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_with_what_to_write(template, problem):
    with pytest.raises(ValueError, match=r"\A(is|has) ") as caught:
        read_template(template)
    if problem is not None:
        assert str(caught.value) == problem


def asked(shape: str, url_end: str = "", **options) -> Request:
    with FakeEndpoint(json_reply(GOOD | {"choices": [{"message": {"content": "a"}}]})) as endpoint:
        with RagClient(endpoint.url + url_end, shape=shape, **options).blocking as client:
            client.query("Сколько дней?", 2)
        [request] = endpoint.requests
    return request


def test_each_named_shape_sends_its_request():
    assert asked("query").json == {"query": "Сколько дней?", "top_k": 2}
    assert asked("server").json == {"query": "Сколько дней?", "top_k": 2, "include_chunks": True}
    assert asked("openai-chat").json == {"messages": [{"role": "user", "content": "Сколько дней?"}]}
    get = asked("search-rag", "?token=tok-98765")
    assert get.method == "GET"
    assert get.path == (
        "/query?token=tok-98765&questions=%D0%A1%D0%BA%D0%BE%D0%BB%D1%8C%D0%BA%D0%BE%20%D0%B4%D0%BD%D0%B5%D0%B9%3F"
    )
    assert get.body == b""
    assert "content-type" not in get.headers
