"""
`--rag-judge=local` in a whole run, by a tiny model that the tests make.

    tox run -e local
"""

from __future__ import annotations

import json
import os
import shutil
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from tests.harness import two_ways
from tests.judging.tiny_classifier import make_classifier, needs_torch
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

    from tests.harness import Project, Run
    from tests.servers.fake_endpoint import Request

ON = "-orag_disable="
VERSION = f"local-1+{OfflineJudge.identity.prompt_version}"
ANSWERS = {
    "Returns?": "You have 30 days.",
    "Members?": "Members have 90 days. Others have 60 days.",
    "Gifts?": "I don't know.",
    "Fees?": "It costs 5 euros.",
}
ROWS = [
    {"id": "returns", "question": "Returns?", "expected_answer": "30 days"},
    {"id": "members", "question": "Members?", "expected_answer": "90 days"},
    {"id": "gifts", "question": "Gifts?", "expected_answer": "60 days"},
    {"id": "fees", "question": "Fees?", "expected_answer": "5 euros"},
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_classifier(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def endpoint(project: Project) -> Iterator[FakeEndpoint]:
    project.write("shop.rag.json", json.dumps(ROWS))
    contexts = ["Returns are possible within 30 days.", "Members have 90 days.", "It costs 5 euros."]

    def answer(connection: socket.socket, request: Request) -> bool:
        reply = json_reply({"answer": ANSWERS[request.json["query"]], "contexts": contexts})
        return reply(connection, request)

    with FakeEndpoint(answer) as endpoint:
        yield endpoint


def run(project: Project, endpoint: FakeEndpoint, model: object, *options: str) -> Run:
    return project.run(f"--rag-url={endpoint.url}", "--rag-judge=local", f"--rag-judge-model={model}", ON, *options)


@needs_torch
@two_ways
def test_a_failure_names_the_words_that_the_contexts_do_not_support(
    project: Project, endpoint: FakeEndpoint, model: Path
) -> None:
    ran = run(project, endpoint, model)
    assert ran.verdicts == {"returns": "PASS", "members": "FAIL", "gifts": "FAIL", "fees": "PASS"}
    assert 'groundedness 0.50 < 0.70: the contexts do not support "60" (probability 1.00)' in ran.lines
    assert f"judge: local (tiny, {VERSION})" in ran.lines
    rows = {row["question_id"]: row for row in ran.predictions["predictions"]}
    assert rows["members"]["unsupported_claims"] == ["60"]
    assert rows["members"]["judge"] == {"kind": "local", "model": "tiny", "url": None, "prompt_version": VERSION}
    assert "Loading" not in ran.stderr
    again = run(project, endpoint, model)
    assert again.verdicts == ran.verdicts
    assert "verdict cache: 4 of 4 verdicts from an earlier run" in again.lines


@needs_torch
@two_ways
@pytest.mark.parametrize("config", [None, "{}", '{"model_type": "bert", "architectures": ["BertForMaskedLM"]}'])
def test_a_folder_that_is_no_token_classifier_ends_the_run_before_the_system_is_asked(
    project: Project, endpoint: FakeEndpoint, model: Path, config: str | None
) -> None:
    spoilt = project.folder / "spoilt"
    shutil.copytree(model, spoilt)
    (spoilt / "config.json").unlink()
    if config is not None:
        (spoilt / "config.json").write_text(config, encoding="utf-8")
    ran = run(project, endpoint, "spoilt")
    assert endpoint.requests == []
    assert ran.exit_status == pytest.ExitCode.TESTS_FAILED
    assert [line.partition(" - ")[0] for line in ran.short_summary] == ["ERROR ragcheck::judge"]
    assert f"the judge local (spoilt, {VERSION}) was tried out before the first question: " in ran.text
    assert f"the model {str(spoilt)!r} of rag_judge_model cannot be loaded: " in ran.text


@needs_torch
def test_a_model_whose_labels_are_the_other_way_round_is_refused(
    project: Project, endpoint: FakeEndpoint, model: Path
) -> None:
    swapped = shutil.copytree(model, project.folder / "swapped")
    safetensors: Any = import_module("safetensors.torch")
    weights = safetensors.load_file(swapped / "model.safetensors")
    for name in ("classifier.weight", "classifier.bias"):
        weights[name] = weights[name].flip(0).contiguous()
    safetensors.save_file(weights, swapped / "model.safetensors", metadata={"format": "pt"})
    ran = run(project, endpoint, "swapped")
    assert endpoint.requests == []
    assert "it cannot tell good answers from bad ones\ngroundedness: right 0, ungrounded 0, contradicted 0" in ran.text
    assert "Choose another judge model, or keep this one with rag_disable = preflight." in ran.text


@needs_torch
def test_a_folder_in_the_ini_file_is_relative_to_it(project: Project, endpoint: FakeEndpoint, model: Path) -> None:
    shutil.copytree(model, project.folder / "models" / "mine")
    project.write("pytest.ini", "[pytest]\nrag_judge = local\nrag_judge_model = models/mine\n")
    (project.folder / "below").mkdir()
    (project.folder / "shop.rag.json").rename(project.folder / "below" / "shop.rag.json")
    ran = project.run(f"--rag-url={endpoint.url}", ON, "below")
    assert ran.verdicts == {"returns": "PASS", "members": "FAIL", "gifts": "FAIL", "fees": "PASS"}
    assert f"judge: local (mine, {VERSION})" in ran.lines


PANEL = """
import os
import sys
import threading

import pytest
import torch

from pytest_ragcheck import LocalJudge, OfflineJudge, Panel


@pytest.fixture(scope="session")
def rag_judge():
    return Panel([LocalJudge("tiny"), OfflineJudge()])


def pytest_sessionfinish(session):
    def write():  # the number of a new thread, such as those in which answers are judged
        session.config.rootpath.joinpath(f"{worker}.threads").write_text(str(torch.get_num_threads()))

    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker and "transformers" in sys.modules:  # it has loaded the model
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
"""


@needs_torch
@pytest.mark.parametrize("chosen", [False, True])
def test_in_a_panel_of_workers_each_loads_the_model_and_takes_its_share_of_the_cpus(
    project: Project, endpoint: FakeEndpoint, model: Path, monkeypatch: pytest.MonkeyPatch, chosen: bool
) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    cpus = len(os.sched_getaffinity(0))  # of which torch takes no more than there are
    if chosen:
        monkeypatch.setenv("OMP_NUM_THREADS", str(cpus))
    shutil.copytree(model, project.folder / "tiny")
    project.write("conftest.py", PANEL)
    ran = project.run(f"--rag-url={endpoint.url}", ON, "-n2")
    assert ran.verdicts["fees"] == "PASS"
    assert ran.verdicts["members"] == "FAIL"
    assert f"judge: panel (mean of local tiny, offline, {VERSION}, {OfflineJudge.identity.prompt_version})" in ran.lines
    threads = {file.read_text() for file in project.folder.glob("*.threads")}
    assert threads == {str(cpus if chosen else max(1, cpus // 2))}


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_missing_packages_are_a_usage_error_that_names_the_extra(project: Project, endpoint: FakeEndpoint) -> None:
    ran = run(project, endpoint, "anywhere")
    assert ran.exit_status == pytest.ExitCode.USAGE_ERROR
    assert 'not installed here: pip install "pytest-ragcheck[local]".' in ran.stderr
    assert endpoint.requests == []
