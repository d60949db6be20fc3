"""A user's conftest.py makes uvloop the event loop of the whole process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.speed import load_server
from tests.harness import two_ways

if TYPE_CHECKING:
    from tests.harness import Project

pytestmark = pytest.mark.usefixtures("all_plugins")

CONFTEST = """\
import asyncio
import uvloop

asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
"""


@two_ways
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_questions_are_asked_and_judged_over_http(project: Project, host: str) -> None:
    project.write("conftest.py", CONFTEST)
    lines = [f'{{"question": "Q-{number:06} How long is the refund window?"}}\n' for number in range(40)]
    project.write("billing.rag.jsonl", "".join(lines))
    with load_server("--rag-seconds=0.01", "--judge-seconds=0.01", "--passage-characters=50000") as port:
        run = project.run(
            *("-p", "no:randomly", "-o", "asyncio_default_fixture_loop_scope=function"),
            f"--rag-url=http://{host}:{port}/query",
            "--rag-judge=openai",
            "--rag-judge-model=load",
            f"--rag-judge-url=http://{host}:{port}/v1",
            fresh=True,
        )
    assert run.outcomes == {"passed": 40}
