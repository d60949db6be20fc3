"""The similarity of meanings, by embeddings of a real server."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.judging.judge_choice import choose_embeddings
from pytest_ragcheck.metrics.similarity import Similarity
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import Score
from tests.making import a_question
from tests.servers.openai_server import OpenAIServer, embeds

VECTORS = {"a month": [1.0, 0.0], "30 days": [3.0, 4.0], "thirty days": [4.0, 3.0], "nothing": [0.0, 0.0]}


def scores(server: OpenAIServer, answer: str = "a month", /, *, model: str | None = "e", **question: Any) -> Any:
    settings = Settings.of(judge_url=server.url, judge_api_key="key-1", embedding_model=model, retries=0)

    async def run() -> dict[str, Score]:
        async with aclosing(Similarity(choose_embeddings(settings))) as metric:
            return await metric.score(a_question(**question), RagAnswer(text=answer))

    return asyncio.run(run())


def test_it_is_the_cosine_to_the_nearest_accepted_answer():
    with OpenAIServer(embeds(VECTORS.__getitem__)) as server:
        measured = scores(server, expected_answer="30 days", all_acceptable_answers=("thirty days",))
    assert measured == {"embedding_similarity": Score(0.8)}
    (request,) = server.requests
    assert request.json["input"] == ["a month", "30 days", "thirty days"]
    assert request.headers["authorization"] == "Bearer key-1", "the judge's server gets the judge's key"


def test_it_does_not_apply_without_an_expected_answer():
    with OpenAIServer() as server:
        assert scores(server) == scores(server, expected_answer="30 days", answerable=False) == {}
    assert server.requests == []


def test_an_empty_answer_is_similar_to_nothing_without_a_request():
    with OpenAIServer() as server:
        assert scores(server, " ", expected_answer="30 days") == {"embedding_similarity": Score(0.0)}
    assert server.requests == []


def test_an_embedding_without_direction_makes_no_number():
    with OpenAIServer(embeds(VECTORS.__getitem__)) as server:
        assert scores(server, "nothing", expected_answer="30 days")["embedding_similarity"] == Score.unscored(
            "an embedding has no direction: all its numbers are 0"
        )


def test_without_an_embedding_model_the_error_says_what_to_set():
    with OpenAIServer() as server, pytest.raises(JudgeError) as caught:
        scores(server, model=None, expected_answer="30 days")
    assert str(caught.value) == "there is no embedding model: set rag_embedding_model"


def test_a_server_of_embeddings_that_has_no_key_says_so():
    settings = Settings.of(embedding_model="e")
    with pytest.raises(JudgeError, match=r"^a metric by embeddings needs a key\. Set RAGCHECK_EMBEDDING_API_KEY"):
        asyncio.run(choose_embeddings(settings).embed(["a"]))
