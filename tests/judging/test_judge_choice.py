from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.config.settings import DUMMY_API_KEY, Settings
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.judge_choice import choose_judge, missing_for
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from tests.servers.openai_server import OpenAIServer

if TYPE_CHECKING:
    from pathlib import Path


def test_none_is_no_judge() -> None:
    assert choose_judge(Settings.of(judge="none")) is None


def test_offline_is_the_offline_judge_whatever_else_is_set() -> None:
    assert isinstance(choose_judge(Settings.of(judge="offline", judge_model="m", judge_api_key="k")), OfflineJudge)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "the ragas judge needs a model: set rag_judge_model or RAGCHECK_JUDGE_MODEL"),
        (
            {"judge_model": "m"},
            "the ragas judge needs an embedding model: set rag_embedding_model, or RAGCHECK_EMBEDDING_MODEL",
        ),
        (
            {"judge_model": "m", "embedding_model": "e"},
            (
                "the ragas judge needs a key: set OPENAI_API_KEY or Settings.of(judge_api_key=...), or "
                "rag_judge_url to a server of your own "
                "(its key, if it needs one, is read from RAGCHECK_JUDGE_API_KEY)"
            ),
        ),
    ],
)
def test_the_ragas_judge_says_what_it_lacks(settings: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose_judge(Settings.of(judge="ragas", **settings))
    assert str(caught.value) == problem


@pytest.mark.skipif(find_spec("ragas") is not None, reason="ragas is installed")
def test_the_ragas_judge_names_the_extra_where_the_library_is_not_installed() -> None:
    with pytest.raises(UsageError) as caught:
        choose_judge(Settings.of(judge="ragas", judge_model="m", judge_api_key="k", embedding_model="e"))
    assert str(caught.value) == (
        'the ragas judge needs the ragas library, which is an extra: pip install "pytest-ragcheck[ragas]"'
    )


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (
            {"judge_api_key": "k"},
            "the openai judge needs a model: set rag_judge_model or RAGCHECK_JUDGE_MODEL",
        ),
        (
            {"judge_model": "m"},
            (
                "the openai judge needs a key: set OPENAI_API_KEY or Settings.of(judge_api_key=...), or "
                "rag_judge_url to a server of your own "
                "(its key, if it needs one, is read from RAGCHECK_JUDGE_API_KEY)"
            ),
        ),
    ],
)
def test_the_openai_judge_says_what_it_lacks(settings: dict[str, str], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose_judge(Settings.of(judge="openai", **settings))
    assert str(caught.value) == problem


def test_the_openai_judge_lacks_nothing_with_a_model_and_a_key() -> None:
    assert missing_for(Settings.of(judge="openai", judge_model="m", judge_api_key="k")) == ""


def test_the_openai_judge_is_made_of_the_settings(tmp_path: Path) -> None:
    prompt = tmp_path / "mine.txt"
    prompt.write_text("Judge {answer} to {question} by {contexts}.\n", encoding="utf-8")
    with OpenAIServer() as server:
        settings = Settings.of(
            judge="openai",
            judge_model="tiny",
            judge_url=server.url,
            judge_api_key=DUMMY_API_KEY,
            judge_prompt=str(prompt),
        )
        judge = choose_judge(settings)
        assert isinstance(judge, OpenAIJudge)
        assert (judge.identity.kind, judge.identity.model, judge.identity.url) == ("openai", "tiny", server.url)
        assert str(judge.identity.prompt_version).startswith("mine-")
        asyncio.run(judge.aclose())


def test_a_prompt_that_is_not_there_is_a_usage_error() -> None:
    settings = Settings.of(judge="openai", judge_model="m", judge_api_key="k", judge_prompt="/nowhere/mine.txt")
    with pytest.raises(UsageError, match=r"judge prompt '/nowhere/mine\.txt': there is no such file"):
        choose_judge(settings)
