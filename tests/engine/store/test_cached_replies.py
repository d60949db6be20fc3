"""The model's facts for the RAGAS metrics are cached like verdicts."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import aclosing, closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.store.verdict_cache import FILE, CachingJudge, VerdictCache
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.embeds import NoEmbeddings
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.metrics.ragas.model_ragas import RagasMetrics
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import Redactor
from tests.making import a_question
from tests.metrics.ragas.finding import finds, statement
from tests.servers.openai_server import OpenAIServer, says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUESTION = a_question(expected_answer="30 days")
ANSWER = RagAnswer(text="30 days", contexts=("Within 30 days.",))


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(finds(statements=[statement(), statement("B.", supported=False)])) as server:
        yield server


def faithfulness(
    folder: Path,
    run: str,
    url: str,
    *,
    question: Any = QUESTION,
    answer: RagAnswer = ANSWER,
    model: str = "m",
    afresh: bool = False,
) -> float | None:
    """The scores of the answer in a run in its own process."""

    async def measured() -> float | None:
        judge = OpenAIJudge(model=model, api_key="k", base_url=url, max_retries=0)
        caching = CachingJudge(
            judge, VerdictCache(folder, run=run, redactor=Redactor(["hunter2hunter2"])), afresh=afresh
        )
        async with aclosing(caching):
            assert caching.chat is not None
            scores = await RagasMetrics(caching.chat, NoEmbeddings(reason="none")).score(question, answer)
        return scores["ragas_faithfulness"].value

    return asyncio.run(measured())


def test_a_later_run_measures_by_what_the_model_found(tmp_path: Path, server: OpenAIServer) -> None:
    found = [faithfulness(tmp_path, run, server.url) for run in ("run 1", "run 2", "run 3")]
    assert found == [0.5, 0.5, 0.5]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"question": replace(QUESTION, question="What about prices?")},
        {"question": replace(QUESTION, expected_answer="60 days")},
        {"question": replace(QUESTION, all_acceptable_answers=("30 days", "a month"))},
        {"answer": replace(ANSWER, text="30 days.")},
        {"answer": replace(ANSWER, contexts=("Within 60 days.",))},
        {"answer": replace(ANSWER, contexts=("Within 30", "days."))},
        {"afresh": True},
    ],
)
def test_what_differs_in_anything_in_the_models_request_is_asked_anew(
    tmp_path: Path, server: OpenAIServer, change: dict[str, Any]
) -> None:
    faithfulness(tmp_path, "run 1", server.url)
    faithfulness(tmp_path, "run 2", server.url, **change)
    assert len(server.requests) == 2


def test_another_server_is_asked_anew(tmp_path: Path, server: OpenAIServer) -> None:
    faithfulness(tmp_path, "run 1", server.url)
    with OpenAIServer(finds(statements=[statement()])) as other:
        assert faithfulness(tmp_path, "run 2", other.url) == 1.0


def test_a_second_time_in_a_run_is_asked_anew(tmp_path: Path, server: OpenAIServer) -> None:
    for _ in range(2):
        faithfulness(tmp_path, "run 1", server.url)
    assert len(server.requests) == 2


def test_a_reply_that_cannot_be_read_is_never_kept(tmp_path: Path) -> None:
    nothing = says("I like it.")
    with OpenAIServer(nothing, nothing, finds(statements=[statement()])) as server:
        with pytest.raises(JudgeReplyError, match="twice gave no verdict"):
            faithfulness(tmp_path, "run 1", server.url)
        assert faithfulness(tmp_path, "run 2", server.url) == 1.0


@pytest.mark.parametrize("stored", ["no JSON", "[]", "{}", '{"nonce": "5f0c9a1e77b2d304", "text": "{}"}'])
def test_what_is_kept_may_be_damaged(tmp_path: Path, server: OpenAIServer, stored: str) -> None:
    faithfulness(tmp_path, "run 1", server.url)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE verdicts SET judgement = ?", (stored,))
    assert faithfulness(tmp_path, "run 2", server.url) == 0.5
    assert len(server.requests) == 2


def test_a_reply_is_kept_without_secrets(tmp_path: Path) -> None:
    with OpenAIServer(finds(statements=[statement("The key is hunter2hunter2.")])) as server:
        found = [faithfulness(tmp_path, run, server.url) for run in ("run 1", "run 2")]
        assert (found, len(server.requests)) == ([1.0, 1.0], 1)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        ((kept,),) = connection.execute("SELECT judgement FROM verdicts").fetchall()
    assert "The key is" in json.loads(kept)["text"]
    assert "hunter2" not in kept
