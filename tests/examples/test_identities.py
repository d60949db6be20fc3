"""Questions that are asked as several identities, with documents of each, over the example server and another one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from tests.examples.conftest import EXAMPLES, running
from tests.harness import two_ways
from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from tests.harness import Project, Run

QUESTIONS = """\
ingest: true
questions:
  - id: own
    as: bob
    question: What does the founder of Globex earn?
    expected_answer: 90000 EUR
    gold_passages: [{doc_id: salaries, text: The founder of Globex earns 90000 EUR. Code BOB-7Q2.}]
  - id: foreign
    as: alice
    question: What does the founder of Globex earn?
    answerable: false
    must_not_retrieve: [salaries]
    must_not_mention: [BOB-7Q2]
    distractors:
      - {doc_id: salaries, text: The founder of Globex earns 90000 EUR. Code BOB-7Q2., as: bob}
      - {doc_id: hours, text: The shop of Acme opens at 9.}
"""
INI = """\
[pytest]
rag_identities =
    alice: Authorization: Bearer {env:ALICE_TOKEN}
    bob: Authorization: Bearer {env:BOB_TOKEN}
"""
TOKENS = {"ALICE_TOKEN": "token-of-alice-1", "BOB_TOKEN": "token-of-bob-2"}
ACCOUNTS = {"RAG_SERVER_ACCOUNTS": "token-of-alice-1=acme,token-of-bob-2=globex"}


@pytest.fixture
def tenants(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name, token in TOKENS.items():
        monkeypatch.setenv(name, token)
    project.write("pytest.ini", INI)
    project.write("shop.rag.yaml", QUESTIONS)
    return project


def over_accounts(project: Project, folder: Path, *options: str, fault: str = "") -> tuple[Run, list[int]]:
    """The run, and the number of documents that each account has after it."""
    (folder / "corpus").mkdir()
    with running(folder / "corpus", fault=fault, environment=ACCOUNTS) as server:
        run = project.run(f"--rag-url={server.url}/query", "--rag-judge=offline", *options)
        left = [
            len(server.client.get("/documents", headers={"Authorization": f"Bearer {token}"}).json())
            for token in TOKENS.values()
        ]
        assert server.client.get("/documents").status_code == 401
    return run, left


def test_a_call_asks_as_an_identity_and_names_what_it_must_not_see(tenants: Project) -> None:
    seen: list[str] = []

    def reply(connection: socket.socket, request: Request) -> bool:
        seen.append(request.headers["authorization"])
        found = {"contexts": ["The founder of Globex earns 90000 EUR."], "source_ids": ["salaries"]}
        return json_reply({"answer": "He earns 90000 EUR.", **found})(connection, request)

    (tenants.folder / "shop.rag.yaml").unlink()
    tenants.write(
        "test_shop.py",
        "def test_tenants(rag_check):\n"
        "    asked = 'What does the founder of Globex earn?'\n"
        "    rag_check(asked, identity='bob').assert_passed()\n"
        "    rag_check(asked, identity='alice', must_not_retrieve='salaries').assert_passed()\n"
        "def test_search(rag_check):\n"
        "    rag_check('Who earns what?', identity='bob', must_not_retrieve='pay', tier='retrieval').assert_passed()\n",
    )
    with FakeEndpoint(reply) as server:
        run = tenants.run(f"--rag-url={server.url}", "--rag-judge=none")
    assert seen == ["Bearer token-of-bob-2", "Bearer token-of-alice-1", "Bearer token-of-bob-2"]
    assert run.verdicts == {"test_tenants-1": "PASS", "test_tenants-2": "FAIL", "test_search-1": "PASS"}
    assert "must_not_retrieve 0.00 < 1.00: " in run.text


@two_ways
def test_tenants_that_are_kept_apart_are_green(tenants: Project, tmp_path: Path) -> None:
    run, left = over_accounts(tenants, tmp_path)
    assert run.verdicts == {"own": "PASS", "foreign": "PASS"}, run.text
    assert left == [0, 0]
    assert "documents: 2 deleted" in run.text
    rows = {row["question_id"]: row for row in run.predictions["predictions"]}
    assert {key: row["identity"] for key, row in rows.items()} == {"own": "bob", "foreign": "alice"}
    assert rows["foreign"]["metrics"]["must_not_retrieve"] == 1.0


def test_a_document_of_ones_own_in_another_file_is_no_leak(tenants: Project, tmp_path: Path) -> None:
    tenants.write(
        "acme.rag.yaml",
        "ingest: true\n"
        "questions:\n"
        "  - id: acme\n"
        "    as: alice\n"
        "    question: What does the founder of Acme earn?\n"
        "    expected_answer: 10000 EUR\n"
        "    gold_passages: [{doc_id: salaries, text: The founder of Acme earns 10000 EUR.}]\n",
    )
    run, left = over_accounts(tenants, tmp_path)
    assert run.verdicts == {"acme": "PASS", "own": "PASS", "foreign": "PASS"}, run.text
    assert left == [0, 0]
    rows = {row["question_id"]: row for row in run.predictions["predictions"]}
    assert rows["acme"]["source_ids"][0] == rows["own"]["source_ids"][0] == "salaries"
    assert any(name.startswith("salaries-") for name in rows["foreign"]["source_ids"]), rows["foreign"]


@pytest.mark.parametrize(("fault", "verdict"), [("", "PASS"), ("leaks", "FAIL")])
def test_a_search_without_answers_needs_no_gold_passage(
    fault: str, verdict: str, tenants: Project, tmp_path: Path
) -> None:
    run, left = over_accounts(tenants, tmp_path, "--rag-tier=retrieval", fault=fault)
    assert run.verdicts == {"own": "PASS", "foreign": verdict}, run.text
    assert left == [0, 0]


def test_a_wrong_token_is_an_error_that_names_the_setting(tenants: Project, tmp_path: Path) -> None:
    tenants.write("pytest.ini", INI.replace("Bearer {env:ALICE", "Bearer x{env:ALICE"))
    run, left = over_accounts(tenants, tmp_path)
    assert run.outcomes == {"passed": 1, "error": 1}
    assert left == [0, 0]
    assert "Give the endpoint's credentials by rag_headers, or an identity's by rag_identities." in run.lines


@two_ways
def test_a_wrong_token_leaves_the_questions_of_the_other_identities(tenants: Project, tmp_path: Path) -> None:
    tenants.write("pytest.ini", INI.replace("Bearer {env:BOB", "Bearer x{env:BOB"))
    tenants.write(
        "shop.rag.yaml",
        QUESTIONS + "  - id: hours\n    as: alice\n    question: When does the shop of Acme open?\n"
        "    must_mention: at 9\n"
        "    gold_passages: [{doc_id: hours, text: The shop of Acme opens at 9.}]\n",
    )
    run, left = over_accounts(tenants, tmp_path)
    assert run.verdicts == {"own": "ERROR", "foreign": "ERROR", "hours": "PASS"}, run.text
    assert {kind for kind, _ in run.errors_by_id.values()} == {"ingestion"}
    assert left == [0, 0]


@two_ways
def test_a_server_that_leaks_is_red_without_a_judge(tenants: Project, tmp_path: Path) -> None:
    run, left = over_accounts(tenants, tmp_path, "--rag-judge=none", fault="leaks")
    assert run.verdicts == {"own": "PASS", "foreign": "FAIL"}, run.text
    assert left == [0, 0]
    assert "as        alice" in run.lines
    page = (EXAMPLES.parent / "docs" / "how-to" / "tenants.md").read_text(encoding="utf-8")
    assert page.partition("the failure text begins with `")[2].partition("`.")[0] in run.lines
    assert "token-of" not in run.text
    for path in (tenants.folder / "ragcheck-results").rglob("*"):
        assert not path.is_file() or b"token-of" not in path.read_bytes(), path


def test_the_tier_retrieval_finds_leaks_too(tenants: Project, tmp_path: Path) -> None:
    tenants.write(
        "shop.rag.yaml",
        "tier: retrieval\n"
        + QUESTIONS.replace(
            "answerable: false\n", "gold_passages: [{doc_id: hours, text: The shop of Acme opens at 9.}]\n"
        ).replace("      - {doc_id: hours, text: The shop of Acme opens at 9.}\n", ""),
    )
    run, _ = over_accounts(tenants, tmp_path, fault="leaks")
    assert run.scores["foreign"]["must_not_retrieve"] == 0.0


def test_an_unknown_identity_is_an_error_that_names_the_known_ones(tenants: Project, tmp_path: Path) -> None:
    tenants.write("shop.rag.yaml", "- {id: a, question: When?, as: carol, expected_answer: now}\n")
    run, _ = over_accounts(tenants, tmp_path)
    assert run.verdicts == {"a": "ERROR"}
    assert "the identity 'carol' is not in rag_identities (known: alice, bob)" in run.text


def test_a_missing_variable_ends_the_run_before_it_begins(tenants: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BOB_TOKEN")
    run = tenants.run("--rag-url=http://127.0.0.1:9/query", "--rag-judge=offline")
    assert run.exit_status == 4
    assert (
        "rag_identities in pytest.ini: Authorization needs the environment variable 'BOB_TOKEN', which is" in run.stderr
    )


FUNCTION = """
import pytest

SECRET = "The founder of Globex earns 90000 EUR. Code BOB-7Q2."

def answer(query{parameter}):
    return {{"answer": SECRET if {condition} else "", "contexts": [SECRET] if {condition} else []}}

@pytest.fixture(scope="session")
def rag_client():
    return answer
"""


@pytest.mark.parametrize(
    ("parameter", "condition", "verdicts"),
    [
        (", identity", "identity == 'bob'", {"own": "PASS", "foreign": "PASS"}),
        (", identity=None", "identity", {"own": "PASS", "foreign": "FAIL"}),
        ("", "True", {"own": "ERROR", "foreign": "ERROR"}),
    ],
)
def test_a_function_gets_the_name_of_the_identity(
    tenants: Project, parameter: str, condition: str, verdicts: dict[str, str]
) -> None:
    tenants.write("conftest.py", FUNCTION.format(parameter=parameter, condition=condition))
    tenants.write("shop.rag.yaml", QUESTIONS.replace("ingest: true\n", ""))
    run = tenants.run("--rag-judge=none")
    assert run.verdicts == verdicts, run.text
    if not parameter:
        assert "takes no identity, and the question is asked as 'bob'" in run.text
    elif verdicts["foreign"] == "FAIL":
        assert "the answer leaks 'salaries' (its text is in context 1, its canary is in the answer)" in run.text


OWN_CLIENT = """
import pytest
from pytest_ragcheck import RagAnswer

class System:
    async def ask(self, question):
        return RagAnswer(text="He earns 90000 EUR.", contexts=(question.identity,))

@pytest.fixture(scope="session")
def rag_client():
    return System()
"""


@pytest.mark.parametrize("client", [FUNCTION.format(parameter=", identity", condition="True"), OWN_CLIENT])
def test_an_unknown_identity_is_an_error_of_a_client_of_ones_own_too(tenants: Project, client: str) -> None:
    tenants.write("conftest.py", client)
    rows = ("id: a, as: carol", "id: b, as: bob", "id: c")
    tenants.write("shop.rag.yaml", "".join(f"- {{{row}, question: Wage?, must_mention: 90000 EUR}}\n" for row in rows))
    run = tenants.run("--rag-judge=none")
    assert run.verdicts == {"a": "ERROR", "b": "PASS", "c": "PASS"}, run.text
    assert "the identity 'carol' is not in rag_identities (known: alice, bob)" in run.text


PASSAGES: tuple[dict[str, Any], ...] = (
    {
        "page_content": "The founder of Globex earns 90000 EUR. Code BOB-7Q2.",
        "metadata": {"id": "salaries", "tenant": "globex"},
    },
    {"page_content": "The shop of Acme opens at 9.", "metadata": {"id": "hours", "tenant": "acme"}},
)
KEYS = {"token-of-alice-1": "acme", "token-of-bob-2": "globex"}


@pytest.mark.parametrize("filters", [True, False])
def test_a_retriever_with_a_filter_on_metadata(tenants: Project, filters: bool) -> None:
    """A server of another shape, with headers of its own, whose documents are there already."""

    def reply(connection: socket.socket, request: Request) -> bool:
        tenant = KEYS.get(request.headers.get("x-api-key", ""))
        if tenant is None:
            return json_reply({"detail": "no key"}, 401)(connection, request)
        words = set(re.findall(r"\w+", json.loads(request.body)["input"]["text"].lower()))
        found = [
            passage
            for passage in PASSAGES
            if (not filters or passage["metadata"]["tenant"] == tenant)
            and len(words & set(re.findall(r"\w+", passage["page_content"].lower()))) > 2
        ]
        output = {"text": found[0]["page_content"] if found else "", "documents": found}
        return json_reply({"output": output})(connection, request)

    tenants.write(
        "pytest.ini",
        "[pytest]\nrag_identities =\n    alice: X-Api-Key: {env:ALICE_TOKEN}\n    bob: X-Api-Key: {env:BOB_TOKEN}\n"
        'rag_request = {"input": {"text": "{query}"}}\n'
        "rag_response = answer=output.text contexts=output.documents[].page_content "
        "source_ids=output.documents[].metadata.id\n",
    )
    tenants.write("shop.rag.yaml", QUESTIONS.replace("ingest: true\n", ""))
    with FakeEndpoint(reply) as endpoint:
        run = tenants.run(f"--rag-url={endpoint.url}", "--rag-judge=none")
    assert run.verdicts == {"own": "PASS", "foreign": "PASS" if filters else "FAIL"}, run.text


def test_ctrl_c_and_the_command_delete_as_the_identity_that_uploaded(
    tenants: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus").mkdir()
    tenants.write("conftest.py", "def pytest_runtest_teardown(): raise KeyboardInterrupt")
    with running(tmp_path / "corpus", environment=ACCOUNTS) as server:
        url = f"--rag-url={server.url}/query"
        bob = {"Authorization": f"Bearer {TOKENS['BOB_TOKEN']}"}
        stopped = tenants.run(url, "--rag-judge=none", subprocess=True)
        assert stopped.exit_status == 2
        assert server.client.get("/documents", headers=bob).json() == []
        (tenants.folder / "conftest.py").unlink()
        tenants.run(url, "--rag-judge=none", "-orag_disable=cleanup")
        assert len(server.client.get("/documents", headers=bob).json()) == 1
        output = f"--output={tenants.folder / 'ragcheck-results'}"
        identities = [f"--identity={line.strip()}" for line in INI.splitlines()[2:]]
        (tenants.folder / "pytest.ini").unlink()
        assert main(["cleanup", url, output]) == 1
        assert "the identity 'bob' is not in rag_identities (known: none)" in capsys.readouterr().err
        # Alice's document is deleted, in either order.
        assert main(["cleanup", url, output, identities[0]]) == 1
        assert "documents: 1 deleted\n" in capsys.readouterr().out
        assert main(["cleanup", url, output, *identities]) == 0
        assert server.client.get("/documents", headers=bob).json() == []


def test_the_command_finds_the_documents_of_identities_without_a_ledger(
    tenants: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus").mkdir()
    with running(tmp_path / "corpus", environment=ACCOUNTS) as server:
        url = f"--rag-url={server.url}/query"
        tenants.run(url, "--rag-judge=none", "-orag_disable=cleanup")
        identities = [f"--identity={line.strip()}" for line in INI.splitlines()[2:]]
        command = ["cleanup", url, str(tenants.folder / "shop.rag.yaml")]
        assert main(command) == 1
        assert capsys.readouterr().out.count("would delete: ") == 2
        (tenants.folder / "pytest.ini").unlink()
        assert main([*command, "--yes"]) == 1
        assert "ragcheck cleanup takes them as --identity" in capsys.readouterr().err
        assert main([*command, *identities]) == 1
        assert capsys.readouterr().out.count("would delete: ") == 2
        assert main([*command, *identities, "--yes"]) == 0
        for token in TOKENS.values():
            listed = server.client.get("/documents", headers={"Authorization": f"Bearer {token}"})
            assert listed.json() == []
