"""A server's prefix cache finds most of a prompt that it has seen for the same question."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from tests.servers.openai_server import OpenAIServer, json_reply, verdict

if TYPE_CHECKING:
    from tests.servers.openai_server import Reply, Request

BLOCK = 64
"""Characters, about the 16 tokens of vLLM's blocks."""


class PrefixCache:
    """A script of a server that reports how many tokens of a prompt its cache had, counting four characters each."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.shares: list[float] = []
        """The cached share of each prompt, 0..1."""

    def __call__(self, request: Request) -> Reply:
        prompt = request.prompt
        prefixes = [prompt[:end] for end in range(BLOCK, len(prompt) + 1, BLOCK)]
        cached = BLOCK * sum(prefix in self._seen for prefix in prefixes)
        self._seen.update(prefixes)
        self.shares.append(cached / len(prompt))
        usage = {"prompt_tokens": len(prompt) // 4, "prompt_tokens_details": {"cached_tokens": cached // 4}}
        return json_reply({**json.loads(verdict()(request).body), "usage": usage})


def test_repeats_and_other_answers_of_a_question_share_nearly_all_of_their_prompts():
    contexts = tuple(f"Passage {n}. " + "Returns are taken within 30 days of delivery. " * 17 for n in range(5))
    question = Question(dataset_name="d", id="q", question="How long?", expected_answer="30 days")
    other = Question(dataset_name="d", id="r", question="Who pays?", expected_answer="The customer")
    recorded = RagAnswer(text="For 30 days.", contexts=contexts)
    new = RagAnswer(text="You have a month.", contexts=contexts)

    async def run(url: str) -> None:
        judge = OpenAIJudge(model="m", api_key="k", base_url=url)
        for asked, answer in ((question, recorded), (question, recorded), (question, new), (other, new)):
            await judge.judge(asked, answer)
        await judge.aclose()

    cache = PrefixCache()
    with OpenAIServer(cache) as server:
        asyncio.run(run(server.url))
    first, repeated, side_by_side, of_another = cache.shares
    assert first == 0
    assert repeated > 0.98
    assert side_by_side > 0.9
    # The instructions.
    assert of_another > 0.4
