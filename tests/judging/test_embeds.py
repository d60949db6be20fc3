"""Embeddings from a real server, and the errors about replies without them."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from pytest_ragcheck.errors import JudgeUnavailable, UsageError
from pytest_ragcheck.judging.embeds import OpenAIEmbeddings
from pytest_ragcheck.judging.model.model_server import ModelServer
from pytest_ragcheck.judging.model.server_address import EMBEDDING_MODEL
from tests.servers.openai_server import OpenAIServer, Reply, embeddings, embeds, json_reply


def embedded(server: OpenAIServer, *texts: str) -> Any:
    async def run() -> Any:
        model = ModelServer(model="e-1", api_key="k", base_url=server.url, max_retries=0, kind=EMBEDDING_MODEL)
        async with aclosing(OpenAIEmbeddings(server=model)) as vectors:
            return await vectors.embed(texts)

    return asyncio.run(run())


def rows(*rows: dict[str, Any]) -> Reply:
    return json_reply({"object": "list", "data": list(rows)})


def test_every_text_has_its_vector_and_is_sent_once():
    with OpenAIServer(embeds(lambda text: [len(text), 1])) as server:
        assert embedded(server, "a", "bb", "a") == {"a": (1.0, 1.0), "bb": (2.0, 1.0)}
    (request,) = server.requests
    assert request.json == {"model": "e-1", "encoding_format": "float", "input": ["a", "bb"]}
    assert request.headers["authorization"] == "Bearer k"


def test_the_index_says_whose_vector_it_is_where_there_is_one():
    with OpenAIServer(rows({"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]})) as server:
        assert embedded(server, "a", "b") == {"a": (1.0,), "b": (2.0,)}
    with OpenAIServer(rows({"embedding": [2]}, {"embedding": [1]})) as server:
        assert embedded(server, "a", "b") == {"a": (2.0,), "b": (1.0,)}


def test_a_lone_surrogate_does_not_keep_a_text_from_being_sent():
    with OpenAIServer(embeds(lambda text: [1])) as server:
        assert embedded(server, "a\ud800") == {"a\ud800": (1.0,)}
    assert server.requests[0].json["input"] == ["a?"]


@pytest.mark.parametrize(
    ("reply", "sent"),
    [
        (Reply(body=b"<html>hello</html>", content_type="text/html"), "text"),
        (json_reply({"error": "no"}), "an error"),
        (json_reply({"data": None}), "JSON without embeddings"),
        (embeddings([1.0]), "1 embeddings for 2 texts"),
        (embeddings([1.0], [1.0, 2.0]), "embeddings of different lengths"),
        (embeddings([1.0], "AAAA"), "an embedding that is not a list of numbers"),
        (embeddings([1.0], []), "an embedding that is not a list of numbers"),
        (embeddings([1.0], [None]), "an embedding that is not a list of numbers"),
        (embeddings([1.0], [float("inf")]), "an embedding that is not a list of numbers"),
        (embeddings([1.0], [10**400]), "an embedding that is not a list of numbers"),
    ],
)
def test_a_reply_without_the_embeddings_says_what_came(reply, sent):
    with OpenAIServer(reply) as server, pytest.raises(JudgeUnavailable) as caught:
        embedded(server, "a", "b")
    assert str(caught.value).splitlines()[0] == (
        f"the embedding server at {server.url} (model 'e-1') sent {sent} instead of a list of embeddings (status 200). "
        "Check that the URL in rag_embedding_model is the API's base, often ending in /v1."
    )


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"model": " "}, "a metric by embeddings needs a model. Set rag_embedding_model."),
        (
            {"api_key": ""},
            "a metric by embeddings needs a key. Set RAGCHECK_EMBEDDING_API_KEY or the judge's key.",
        ),
        (
            {"base_url": "http://h/v1/embeddings"},
            (
                "the embedding server's URL 'http://h/v1/embeddings' is the path of one call. "
                "Give the API's base, without /embeddings."
            ),
        ),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(said, text):
    with pytest.raises(UsageError) as caught:
        ModelServer(**{"model": "e", "api_key": "k", "kind": EMBEDDING_MODEL, **said})
    assert str(caught.value) == text
