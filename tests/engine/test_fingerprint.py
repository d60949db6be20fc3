"""Two runs have the same fingerprint if every question would have the same outcome."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_ragcheck import __version__
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.config.table import TABLE
from pytest_ragcheck.engine.fingerprint import (
    IGNORED_SETTINGS,
    backends_digest,
    differences,
    fingerprint,
    question_digest,
    store_key,
)
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.rag.client import RagClient
from tests.making import Answers, Judges, a_question

BASE = Settings.of(url="http://rag.example/query", judge="offline")


def system(endpoint: str) -> Any:
    return SimpleNamespace(endpoint=endpoint)


def judge(**said: str) -> Any:
    return SimpleNamespace(identity=JudgeIdentity(**{"kind": "openai", "model": "m", **said}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threshold": 0.8}, ["rag_threshold: 0.7 -> 0.8"]),
        ({"top_k": 3}, ["rag_top_k: 5 -> 3"]),
        ({"min": {"f1": 0.5}}, ['rag_min: {} -> {"f1": 0.5}']),
        ({"judge": None}, ['rag_judge: "offline" -> null']),
        ({"url": "http://other/q"}, ['rag_url: "http://rag.example/query" -> "http://other/q"']),
        ({"shape": "server"}, ['rag_shape: null -> "server"']),
        ({"response": "answer=a contexts=c"}, ['rag_response: null -> "answer=a contexts=c"']),
        ({"headers": {"X-Tenant": "b"}}, ['rag_headers: {} -> {"X-Tenant": "b"}']),
        ({"metrics": ("judge",)}, None),
    ],
)
def test_what_changes_a_verdict_tells_two_runs_apart(changes: dict[str, Any], said: list[str] | None) -> None:
    found = differences(fingerprint(BASE), fingerprint(BASE.replace(**changes)))
    assert len(found) == 1
    assert said is None or found == said


def test_the_openai_judge_is_known_by_its_model_and_the_version_of_its_prompt(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("{question} {contexts} {answer}", encoding="utf-8")
    first = BASE.replace(judge="openai", judge_model="a", judge_prompt=str(own))
    before = fingerprint(first)
    own.write_text("{question} {contexts} {answer} Be strict.", encoding="utf-8")
    changed = differences(before, fingerprint(first.replace(judge_model="b")))
    assert [line.partition(":")[0] for line in changed] == ["rag_judge_model", "rag_judge_prompt"]
    assert "own-" in changed[1]


def test_what_changes_how_a_run_goes_does_not() -> None:
    others: dict[str, Any] = {
        "timeout": 5.0,
        "concurrency": 2,
        "output": Path("x"),
        "retries": 0,
        "resume": True,
        "max_cost": 0.5,
        "report": "r.html",
    }
    assert fingerprint(BASE.replace(**others)) == fingerprint(BASE)


def test_a_setting_that_is_named_as_of_no_account_is_one() -> None:
    assert {setting.name for setting in TABLE} >= IGNORED_SETTINGS


def test_the_version_of_the_plugin_counts() -> None:
    assert fingerprint(BASE)["plugin_version"] == f'"{__version__}"'


def test_no_secret_is_in_it() -> None:
    settings = BASE.replace(
        url="http://user:hunter2222@rag.example/q?api_key=k3yk3yk3y",
        headers={"Authorization": "Bearer t0kent0ken"},
    )
    settings = settings.replace(
        judge_headers={"Authorization": "Bearer t0kent0ken"}, embedding_model="m@http://e/v1?api_key=k3yk3yk3y"
    )
    text = repr(fingerprint(settings))
    assert not [secret for secret in ("hunter2222", "k3yk3yk3y", "t0kent0ken", "j0dgekey") if secret in text]


def test_a_question_that_only_moved_is_the_same() -> None:
    question = a_question("a", path=Path("a.rag.yaml"), line=3, tags=("smoke",))
    assert question_digest(question) == question_digest(replace(question, line=9, tags=(), xfail="known"))


@pytest.mark.parametrize(
    "changes",
    [
        {"question": "Else?"},
        {"id": "b"},
        {"dataset_name": "other"},
        {"expected_answer": "x"},
        {"thresholds": {"f1": 1.0}},
    ],
)
def test_a_changed_question_is_another(changes: dict[str, Any]) -> None:
    question = a_question("a")
    assert question_digest(question) != question_digest(replace(question, **changes))
    assert store_key(question, "m") != store_key(replace(question, **changes), "m")


def test_the_same_backends_have_the_same_digest_and_others_do_not() -> None:
    digest = backends_digest(system("http://rag/q"), judge(), BASE)
    assert digest == backends_digest(system("http://rag/q"), judge(), BASE)
    others = [
        backends_digest(system("http://rag:81/q"), judge(), BASE),
        backends_digest(system("http://rag/q"), judge(model="n"), BASE),
        backends_digest(system("http://rag/q"), judge(prompt_version="2"), BASE),
        backends_digest(system("http://rag/q"), None, BASE),
        backends_digest(system("http://rag/q"), judge(), BASE.replace(threshold=0.1)),
    ]
    assert len({digest, *others}) == 6


def test_the_clients_own_number_of_contexts_is_part_of_the_digest() -> None:
    def digest(**arguments: Any) -> str:
        return backends_digest(RagClient("http://rag.example/query", **arguments), None, BASE)

    assert digest() == digest(top_k=5) == backends_digest(system("http://rag.example/query"), None, BASE)
    assert digest(top_k=3) not in {digest(), digest(top_k=4)}


@pytest.mark.parametrize(("one", "other"), [("127.0.0.1:1", "127.0.0.1:2"), ("localhost:1", "localhost:2")])
def test_the_port_of_a_server_on_this_machine_is_of_no_account(one: str, other: str) -> None:
    pair = [backends_digest(system(f"http://{host}/q"), judge(url=f"http://{host}/v1"), BASE) for host in (one, other)]
    assert pair[0] == pair[1]
    addresses = [{"url": f"http://{host}/q", "embedding_model": f"m@http://{host}/v1"} for host in (one, other)]
    first, second = (fingerprint(BASE.replace(**each)) for each in addresses)
    assert first == second
    assert first["rag_embedding_model"] == f'"m@http://{one.partition(":")[0]}/v1"'


def test_clients_and_judges_that_do_not_say_who_they_are_are_known_by_their_class() -> None:
    assert backends_digest(Answers(None), Judges(), BASE) == backends_digest(Answers("x"), Judges(), BASE)
    assert backends_digest(system("http://[half/q"), None, BASE) != backends_digest(system("a function"), None, BASE)
