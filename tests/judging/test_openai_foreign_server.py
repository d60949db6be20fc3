"""
The judge against a third-party OpenAI-compatible server: aimock, from npm, in a process of its own.

It is installed into pytest's cache folder at its first use. Without node, npm or the registry these tests are
skipped, except where the environment says CI=true: there they fail.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from pytest_ragcheck.errors import JudgeReplyError, JudgeUnavailable
from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from tests.harness import unavailable

PACKAGE = "@copilotkit/aimock@1.43.0"
SCRIPT = Path(__file__).parent / "foreign_server.mjs"
GROUNDED = Judgement(answer_correctness=1.0, groundedness=1.0, abstained=False)


@pytest.fixture(scope="session")
def node_modules(request, tmp_path_factory):
    """The folder that holds the package's `node_modules`."""
    if absent := [program for program in ("node", "npm") if shutil.which(program) is None]:
        unavailable(f"{' and '.join(absent)} not found on the PATH")
    cache = getattr(request.config, "cache", None)
    parent = cache.mkdir("ragcheck-npm") if cache else tmp_path_factory.getbasetemp()
    folder = parent / PACKAGE.replace("/", "-")
    if not folder.exists():
        fresh = parent / f"fresh-{os.getpid()}"
        arguments = ["--prefix", str(fresh), "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE]
        npm = subprocess.run(["npm", "install", *arguments], capture_output=True, check=False, text=True, timeout=120)
        if npm.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            unavailable(f"npm could not install {PACKAGE}: {npm.stderr.strip()[-300:]}")
        try:
            fresh.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(fresh)
    return folder


@pytest.fixture(scope="module")
def url(node_modules):
    """The base URL of a running server."""
    with subprocess.Popen(
        ["node", str(SCRIPT), str(node_modules)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate(timeout=10)
    assert process.returncode == 0


def judged(url: str, *questions: str, answer: str = "30 days") -> list[Judgement]:
    async def run() -> Any:
        judge = OpenAIJudge(model="gpt-4o-mini", api_key="sk-foreign", base_url=url, max_retries=0)
        async with aclosing(judge):
            return [
                await judge.judge(
                    Question(dataset_name="d", id=text, question=text),
                    RagAnswer(text=answer, contexts=("Returns: 30 days.", "Shipping: <b>free</b>")),
                )
                for text in questions
            ]

    return asyncio.run(run())


def test_a_whole_verdict_comes_from_a_server_of_other_makers(url):
    assert judged(url, "plain") == [GROUNDED]
    assert judged(url, "plain", answer="90 days") == [
        Judgement(
            answer_correctness=1.0,
            groundedness=0.0,
            error_message="No passage says so.",
            abstained=False,
            unsupported_claims=("90 days",),
        )
    ]


def test_thinking_before_a_fenced_verdict_is_read(url):
    assert judged(url, "thinking") == [GROUNDED]


def test_a_server_without_schemas_is_asked_in_another_form(url):
    assert judged(url, "no schema", "no schema") == [GROUNDED, GROUNDED]


def test_a_reply_that_is_cut_off_twice_is_an_error(url):
    with pytest.raises(JudgeReplyError, match="twice gave no verdict: the reply was cut off before its end"):
        judged(url, "cut off")


def test_a_content_filter_is_named(url):
    with pytest.raises(JudgeReplyError, match=r"^the content filter of the judge"):
        judged(url, "filtered")


def test_a_rate_limit_comes_with_the_time_to_wait(url):
    with pytest.raises(JudgeUnavailable, match="HTTP 429") as caught:
        judged(url, "busy")
    assert (caught.value.status, caught.value.retry_after_seconds) == (429, 7.0)


def test_a_refused_key_is_named(url):
    with pytest.raises(JudgeUnavailable, match=r"refused the key: HTTP 401 .*\nThe server says: Incorrect API key"):
        judged(url, "bad key")


def test_a_question_that_the_server_knows_nothing_about_is_its_own_error(url):
    with pytest.raises(JudgeUnavailable, match="does not know model 'gpt-4o-mini' or this path: HTTP 404"):
        judged(url, "unknown to it")
