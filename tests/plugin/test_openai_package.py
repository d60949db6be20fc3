"""A run by the openai judge does not import the openai package, which takes as long as pytest takes to start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.servers.openai_server import OpenAIServer, verdict

if TYPE_CHECKING:
    from tests.harness import Project

QUESTION = '[{"id": "terms", "question": "How long?", "expected_answer": "30 days"}]'

TELLING = """
import pytest
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(lambda query: {"answer": "30 days", "contexts": ["30 days"]})

def pytest_unconfigure():
    import sys
    print("imported:", "openai" in sys.modules)
"""

OWN = """
@pytest.fixture(scope="session")
def rag_judge(rag_settings):
    import openai
    from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
    client = openai.AsyncOpenAI(api_key="k", base_url=rag_settings.judge.url)
    return OpenAIJudge(model="m", api_key="", client=client)
"""


@pytest.mark.parametrize(("judge", "imported"), [("", False), (OWN, True)], ids=["the run's", "a client of the user's"])
def test_only_a_users_own_client_brings_it(project: Project, judge: str, imported: bool) -> None:
    project.write("conftest.py", TELLING + judge)
    project.write("billing.rag.json", QUESTION)
    with OpenAIServer(verdict()) as server:
        run = project.run(f"--rag-judge-url={server.url}", "--rag-judge-model=m", fresh=True)
    assert run.outcomes == {"passed": 1}
    assert f"imported: {imported}" in run.lines
    assert any(request.path == "/v1/chat/completions" for request in server.requests)
