"""Holds the code of a test project's conftest.py, whose system and judge read their replies from canned.json."""

CLASSES = """\
import json
from pathlib import Path

import pytest

from pytest_ragcheck import EndpointError, JudgeError, JudgeIdentity, Judgement, RagAnswer

HERE = Path(__file__).parent
CANNED = json.loads((HERE / "canned.json").read_text(encoding="utf-8"))


class CannedRag:
    endpoint = "canned system"

    async def ask(self, question):
        with (HERE / "asked.txt").open("a", encoding="utf-8") as log:
            log.write(question.question + "\\n")
        canned = CANNED[question.question]
        if canned["endpoint_error"]:
            raise EndpointError(canned["endpoint_error"], url="canned")
        ids = None if canned["source_ids"] is None else tuple(canned["source_ids"])
        return RagAnswer(
            text=canned["answer"], contexts=tuple(canned["contexts"]), source_ids=ids, latency_seconds=0.25
        )


class CannedJudge:
    identity = JudgeIdentity(kind="canned", model="model-1", prompt_version="canned-1")

    async def judge(self, question, answer):
        canned = CANNED[question.question]
        if canned["judge_error"]:
            raise JudgeError(canned["judge_error"])
        return Judgement(
            answer_correctness=canned["answer_correctness"],
            groundedness=canned["groundedness"],
            error_message=canned["error_message"],
            abstained=canned["abstained"],
            unsupported_claims=tuple(canned["unsupported_claims"]),
        )
"""

FIXTURES = """

@pytest.fixture(scope="session")
def rag_client():
    return CannedRag()


@pytest.fixture(scope="session")
def rag_judge():
    return CannedJudge()
"""
