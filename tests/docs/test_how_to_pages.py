"""How-to pages are followed from an empty folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli.project.docs import read_schema
from tests.docs.pages import page
from tests.servers.canary_judge import canary_of, says_of_canaries
from tests.servers.openai_server import OpenAIServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Block, Reader


@pytest.mark.parametrize(
    ("blocks", "environment"),
    [
        (page("how-to/repeats-and-panels.md"), {}),
        (page("how-to/conversations.md"), {}),
        (page("how-to/cost.md"), {"OPENAI_API_KEY": "your-key"}),
        (page("how-to/test-an-app.md", "An app in this process"), {}),
        (page("how-to/standard-datasets.md"), {}),
        (page("how-to/test-your-own-parts.md"), {}),
    ],
    ids=["repeats and panels", "conversations", "cost", "an app in this process", "standard datasets", "own parts"],
)
def test_what_the_page_shows_is_what_comes_out(
    blocks: list[Block], environment: dict[str, str], reader: Callable[..., Reader]
) -> None:
    someone = reader(environment=environment)
    someone.follow(blocks)  # raises at the first block that comes out otherwise
    assert someone.ran


def test_add_questions(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page("how-to/add-questions.md"))
    schema = (someone.folder / "question-file.schema.json").read_text(encoding="utf-8")
    assert schema == read_schema("questions")


def test_a_judge_of_ones_own(reader: Callable[..., Reader]) -> None:
    with OpenAIServer(says_of_canaries()) as hosted, OpenAIServer(says_of_canaries()) as local:
        someone = reader(
            stands_for={"https://api.openai.com/v1": hosted.url, "http://localhost:11434/v1": local.url},
            environment={"OPENAI_BASE_URL": hosted.url},
        )
        blocks = page("how-to/own-judge-model.md")
        someone.follow(blocks)
    (own,) = [block.text for block in blocks if block.file == "shop/conftest.py"]
    assert len(own.splitlines()) <= 15, "with the line of its name"
    keys = [{request.headers["authorization"] for request in server.requests} for server in (hosted, local)]
    assert keys[0] == {"Bearer your-key"}
    assert "Bearer your-key" not in keys[1]
    assert {request.json["model"] for request in local.requests} == {"qwen3:8b"}
    assert sum(bool(canary_of(request)) for request in local.requests) == 2 * 6, "tried with each of the two prompts"
    asked = [request for request in local.requests if not canary_of(request)]
    assert len(asked) == 2, "by command line and with the prompt; by ini file the verdict is known already"
    assert ["Durations in other units" in request.prompt for request in asked] == [False, True]


def test_calibrate_a_judge(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page("how-to/calibrate-a-judge.md"))
    assert (someone.folder / "calibration.svg").read_text(encoding="utf-8").startswith("<svg ")


def test_a_metric_of_ones_own(reader: Callable[..., Reader]) -> None:
    someone = reader()
    blocks = page("how-to/own-metric.md")
    someone.follow(blocks)
    (code,) = [block.text for block in blocks if block.file == "conftest.py"]
    assert len(code.splitlines()) < 15


def test_replay(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page("how-to/replay.md"))
    lines = (someone.folder / "asked.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3, "the recorded run asked, and no other"


def test_compare_agents(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page("how-to/compare-agents.md"))
    assert (someone.folder / "agents.csv").read_text(encoding="utf-8").startswith("Agent,Answer Correctness,")
    assert len((someone.folder / "questions.csv").read_text(encoding="utf-8").splitlines()) == 3


def test_read_the_report(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page("how-to/read-the-report.md"))
    assert (someone.folder / "later.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "rag: 2 runs" in (someone.folder / "trend.html").read_text(encoding="utf-8")


def test_with_xdist(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page("how-to/with-xdist.md"))
    assert sorted(path.name for path in (someone.folder / "ragcheck-results").glob("[!.]*")) == [
        "billing_questions.json",
        "rag_predictions.json",
        "rag_summary.json",
    ]
