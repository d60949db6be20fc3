"""A model in this process is loaded once for any number of texts, and a missing model fails every use alike."""

from __future__ import annotations

import asyncio
import threading
from functools import partial

import pytest

from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.judging.local_model import LocalModel


def test_it_is_loaded_once_and_asked_one_text_at_a_time_in_another_thread() -> None:
    loaded: list[str] = []
    inside: list[int] = []
    most: list[int] = []

    def load(name: str) -> str:
        loaded.append(name)
        return name.upper()

    def ask(text: str, model: str) -> tuple[str, bool]:
        inside.append(1)
        most.append(len(inside))
        inside.pop()
        return f"{model} {text}", threading.current_thread() is threading.main_thread()

    async def run() -> list[tuple[str, bool]]:
        model = LocalModel("mini", setting="rag_embedding_model", load=load)
        return await asyncio.gather(*(model.use(partial(ask, str(number))) for number in range(8)))

    assert asyncio.run(run()) == [(f"MINI {number}", False) for number in range(8)]
    assert loaded == ["mini"]
    assert set(most) == {1}


def test_what_cannot_be_loaded_is_tried_once_and_said_of_every_use() -> None:
    tried: list[str] = []

    def load(name: str) -> str:
        tried.append(name)
        raise OSError("no such model,\n  nor a folder " + "x" * 500)

    model = LocalModel("mini", setting="rag_embedding_model", load=load)
    for _ in range(2):
        with pytest.raises(JudgeError) as caught:
            asyncio.run(model.use(len))
        text = str(caught.value)
        assert text.startswith(
            "the model 'mini' of rag_embedding_model cannot be loaded: no such model, nor a folder x"
        )
        assert len(text) < 400
    assert tried == ["mini"]


def test_an_error_of_one_use_does_not_affect_the_others() -> None:
    model = LocalModel("mini", setting="rag_embedding_model", load=str.upper)

    def fail(model: str) -> None:
        raise ZeroDivisionError(model)

    with pytest.raises(ZeroDivisionError, match="MINI"):
        asyncio.run(model.use(fail))
    assert asyncio.run(model.use(str.lower)) == "mini"
