"""A run without pytest has the same records and files as one with it."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import re
from base64 import b64decode
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import httpx
import httpx2
import pytest

from pytest_ragcheck import (
    EndpointError,
    Evaluation,
    GoldPassage,
    JudgeIdentity,
    Judgement,
    Question,
    QuestionFileError,
    RagAnswer,
    RagClient,
    ResultsError,
    Settings,
    UsageError,
    evaluate,
)
from pytest_ragcheck.errors import StepFailed
from pytest_ragcheck.redaction import REDACTED
from tests.making import a_question
from tests.servers.canary_judge import says_of_canaries
from tests.servers.fake_endpoint import FakeEndpoint, json_reply, reply
from tests.servers.openai_server import OpenAIServer, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project

ROWS: list[dict[str, Any]] = [
    {"id": "terms", "question": "How long?", "expected_answer": "30 days", "metadata": {"team": "billing"}},
    {"id": "prices", "question": "How much?", "expected_answer": "5 euros", "thresholds": 0.9},
    {"id": "hours", "question": "When?"},
    {"id": "later", "question": "And then?", "skip": "later"},
]

CONFTEST = """
import pytest
from pytest_ragcheck import RagClient

def answer(query):
    if query == "When?":
        raise OSError("the index went away")
    return {"answer": "30 days", "contexts": ["Refunds are possible for 30 days."]}

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""


def answer(query: str) -> dict[str, Any]:
    if query == "When?":
        raise OSError("the index went away")
    return {"answer": "30 days", "contexts": ["Refunds are possible for 30 days."]}


class Strict:
    identity = JudgeIdentity(kind="strict")

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        return Judgement(answer_correctness=0.8, groundedness=0.8, error_message="too short")


def run(*arguments: Any, **options: Any) -> Evaluation:
    return asyncio.run(evaluate(*arguments, **options))


def without_times(text: str) -> str:
    # A pytest run also names the test files that it would collect.
    text = re.sub(r'"reach": [^}]+}', "", text)
    text = re.sub(r'"(timestamp|latency_\w+|asked_at)": [^\n]+', r'"\1": 0', text)
    # The function is another one, of the same name.
    return re.sub(r"[\w/.-]*(?:test_evaluation|conftest)\.(?:answer|py:\d+)", "answer", text)


def test_it_writes_what_a_pytest_run_writes(project: Project, tmp_path: Path) -> None:
    project.write("billing.rag.json", json.dumps(ROWS))
    project.write("conftest.py", CONFTEST)
    project.run("--rag-judge=offline")
    theirs = project.folder / "ragcheck-results"
    client = RagClient.from_callable(answer)
    ran = run(project.folder / "billing.rag.json", client, "offline", output=tmp_path)
    assert [(r.question.id, r.verdict.value) for r in ran.records] == [
        ("terms", "PASS"), ("prices", "FAIL"), ("hours", "ERROR"),
    ]  # fmt: skip
    assert (ran.summary.totals.counts.skipped, ran.summary.totals.counts.errors) == (1, 1)
    for name in ("billing_questions.json", "rag_predictions.json", "rag_summary.json"):
        mine = without_times((tmp_path / name).read_text(encoding="utf-8"))
        assert mine == without_times((theirs / name).read_text(encoding="utf-8")), name
    assert ran.files is not None
    assert ran.files.partial == ""


def test_a_fail_that_is_expected_or_in_quarantine_is_written_as_tolerated(tmp_path: Path) -> None:
    questions = a_question("a", quarantine="under repair"), a_question("b", xfail="known"), a_question("c")
    run(questions, answer, lambda *_: Judgement(groundedness=0.1, error_message="unsupported"), output=tmp_path)
    rows = json.loads((tmp_path / "rag_predictions.json").read_bytes())["predictions"]
    assert [(row["verdict"], row.get("tolerated")) for row in rows] == [
        ("FAIL", "in quarantine: under repair"),
        ("FAIL", "expected to fail: known"),
        ("FAIL", None),
    ]


def test_questions_that_pass_and_fail_are_flaky_as_in_a_pytest_run() -> None:
    scores = iter([0.9, 0.3, 0.8])

    def judge(question: Question, answer: RagAnswer) -> Judgement:
        return Judgement(answer_correctness=next(scores), groundedness=1.0, error_message="too short")

    (flaky,) = run([a_question("a")], answer, judge, settings=Settings.of(repeats=3)).summary.flaky
    assert (flaky.question_id, flaky.passes, flaky.fails) == ("a", 2, 1)


def test_questions_may_be_values_and_nothing_is_written_unless_it_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings.of(threshold=0.85)
    ran = run([a_question("a"), a_question("b")], answer, Strict(), settings=settings)
    assert [record.verdict.value for record in ran.records] == ["FAIL", "FAIL"]
    assert ran.records[0].reason == "too short"
    assert ran.files is None
    assert list(tmp_path.iterdir()) == []


def test_the_url_the_output_and_the_agent_of_the_settings_count(tmp_path: Path) -> None:
    with FakeEndpoint(json_reply({"answer": "30 days", "contexts": ["30 days"]})) as endpoint:
        settings = Settings.of(url=endpoint.url, output=tmp_path / "results", agent="mine")
        ran = run([a_question("a")], None, None, settings=settings)
        assert [record.answer for record in ran.records] == ["30 days"]
        assert (tmp_path / "results/mine_summary.json").is_file()
        with pytest.raises(UsageError, match=r"^evaluate: both a client and settings with a url are given\."):
            run([a_question("a")], answer, None, settings=settings)
    with pytest.raises(UsageError, match=r"^evaluate: there is no system to ask\. Give a client, or settings with"):
        run([a_question("a")], None, None)


@pytest.mark.parametrize(
    "given",
    [
        *({"baseline": "b.json"}, {"gate": "regression"}, {"false_alarms": 0.1}, {"baseline_allow": "other-settings"}),
        *({"ingest": True}, {"question_files": "*.json"}, {"dataset": "golden"}, {"samples": 3}, {"shard": "1/2"}),
        *({"resume": True}, {"replay": "p.json"}, {"dry_run": True}, {"max_cost": 1}, {"report": "r.html"}),
        {"calibration": "c.json"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_a_setting_that_needs_pytest_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        run(a_question("a"), answer, None, settings=Settings.of(threshold=0.5, **given))
    (name,) = given
    assert str(caught.value) == (
        f"evaluate: {name} of the settings cannot be honoured without pytest. Run pytest, or "
        f"write settings.replace({name}=None)."
    )


def test_all_settings_that_need_pytest_are_named_and_can_be_taken_out() -> None:
    settings = Settings.of(gate="regression", shard="1/2", threshold=0.5)
    with pytest.raises(
        UsageError, match=r"^evaluate: gate, shard of the .* settings.replace\(gate=None, shard=None\)\.$"
    ):
        run(a_question("a"), answer, None, settings=settings)
    assert run(a_question("a"), answer, None, settings=settings.replace(gate=None, shard=None)).records


def test_without_a_judge_in_the_call_that_of_the_settings_judges() -> None:
    (record,) = run(
        a_question("a", expected_answer="31 days"), answer, None, settings=Settings.of(judge="offline")
    ).records
    assert (record.verdict.value, record.judge and record.judge.kind) == ("FAIL", "offline")
    with pytest.raises(UsageError, match="the openai judge needs a key"):
        run(a_question("a"), answer, None, settings=Settings.of(judge_model="m"))
    (record,) = run(a_question("a"), answer, "none", settings=Settings.of(judge="offline")).records
    assert record.judge is None


def test_without_a_judge_the_keyless_metrics_are_measured() -> None:
    (record,) = run(a_question("a", expected_answer="30 days"), answer, None).records
    assert record.scores["f1"].value == 1.0
    assert "groundedness" not in record.scores


def test_several_agents_at_once_share_nothing_but_the_questions(tmp_path: Path) -> None:
    questions = [a_question(f"q{n}", dataset_name="billing") for n in range(30)]

    async def both() -> list[Evaluation]:
        def said(word: str) -> Any:
            return lambda query: {"answer": word, "contexts": [word]}

        return await asyncio.gather(
            *(evaluate(questions, said(name), Strict(), output=tmp_path, agent_name=name) for name in ("a", "b", "c"))
        )

    for name, ran in zip("abc", asyncio.run(both()), strict=True):
        assert {record.answer for record in ran.records} == {name}
        predictions = json.loads((tmp_path / f"{name}_predictions.json").read_text(encoding="utf-8"))
        assert (predictions["agent_name"], predictions["num_examples"]) == (name, 30)
    names = sorted(path.name for path in tmp_path.iterdir())
    files = [f"{name}_{kind}.json" for name in "abc" for kind in ("predictions", "summary")]
    assert names == sorted(["billing_questions.json", *files])
    assert json.loads((tmp_path / "billing_questions.json").read_text(encoding="utf-8"))["num_questions"] == 30


def test_no_more_are_asked_at_once_than_the_settings_say_and_the_order_is_theirs() -> None:
    now, most = 0, 0

    class Counting:
        async def ask(self, question: Question) -> RagAnswer:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.01 * (1 + ord(question.id[-1]) % 3))
            now -= 1
            return RagAnswer(text="30 days", contexts=("30 days",))

    ran = run([a_question(f"q{n}") for n in range(20)], Counting(), Strict(), settings=Settings.of(concurrency=3))
    assert most == 3
    assert [record.question.id for record in ran.records] == [f"q{n}" for n in range(20)]


def test_a_bug_in_a_client_ends_it_and_an_error_of_the_endpoint_does_not() -> None:
    class Failing:
        def __init__(self, error: Exception) -> None:
            self.error = error

        async def ask(self, question: Question) -> RagAnswer:
            raise self.error

    with pytest.raises(ZeroDivisionError):
        run([a_question("a"), a_question("b")], Failing(ZeroDivisionError()), Strict())
    (record,) = run(a_question("a"), Failing(EndpointError("down", url="u")), Strict()).records
    assert (record.verdict.value, record.reason) == ("ERROR", "down")


def test_the_same_question_twice_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        run([a_question("a"), a_question("a")], answer, None)
    assert str(caught.value) == (
        "evaluate: the dataset 'billing' has 2 questions 'a'. Give them ids or dataset names of their own."
    )


def cited(question: Question, answer: RagAnswer) -> float:
    return 0.5


def test_thresholds_of_questions_may_name_the_given_metrics_and_no_others(tmp_path: Path) -> None:
    file = tmp_path / "x.rag.json"
    file.write_text('[{"question": "How long?", "thresholds": {"cited": 0.6}}]', encoding="utf-8")
    asked = a_question(thresholds={"cited": 0.4})
    assert [each.verdict.value for each in run([file, asked], answer, None, metrics=[cited]).records] == [
        "FAIL",
        "PASS",
    ]
    with pytest.raises(UsageError, match="evaluate: question 'refunds': thresholds: there is no metric 'cited'; the"):
        run(asked, answer, None)
    with pytest.raises(QuestionFileError, match="a threshold for the unknown metric 'cited'"):
        run(file, answer, None)


def test_minimums_of_the_given_metrics_need_their_names_in_the_settings() -> None:
    settings = Settings.of(own_metrics=["cited"], min="cited=0.6")
    (record,) = run(a_question(), answer, None, settings=settings, metrics=[cited]).records
    assert (record.verdict.value, record.shortfalls) == ("FAIL", {"cited": 0.5})
    (record,) = run(a_question(), answer, None, settings=settings).records
    assert (record.verdict.value, record.error_kind) == ("ERROR", "unscored")


def test_the_tier_of_the_settings_is_for_questions_too() -> None:
    settings = Settings.of(tier="retrieval")
    (record,) = run(a_question(expected_answer="30 days"), answer, "offline", settings=settings).records
    assert record.reason.startswith("nothing is left to assert (recall_at_5: no gold passages)")
    asked = a_question(gold_passages=(GoldPassage(text="Refunds are possible for 30 days."),))
    (record,) = run(asked, answer, "offline", settings=settings).records
    assert (record.answer, record.thresholds) == (None, {"recall_at_5": 0.7})


def test_a_minimum_of_a_metric_that_needs_another_judge_is_an_error() -> None:
    settings = Settings.of(metrics="+ragas", min="ragas_faithfulness=0.9")
    (record,) = run(a_question(expected_answer="30 days"), answer, "offline", settings=settings).records
    assert (record.verdict.value, record.reason) == (
        "ERROR",
        (
            "ragas_faithfulness could not be measured: with this judge the run measures offline_faithfulness. "
            "Assert that metric instead"
        ),
    )
    settings = settings.replace(min="offline_faithfulness=0.9")
    (record,) = run(a_question(expected_answer="30 days"), answer, "offline", settings=settings).records
    assert record.verdict.value == "PASS"


def test_a_row_of_a_question_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        run([{"question": "How long?"}], answer, None)
    assert str(caught.value) == (
        "evaluate: {'question': 'How long?'} is neither the path of a question file nor a Question."
    )


def test_an_evaluation_can_be_copied_and_sent_to_another_process(tmp_path: Path) -> None:
    file = tmp_path / "x.rag.json"
    file.write_text('[{"question": "How long?", "thresholds": 0, "metadata": {"team": "a"}}, "Who?"]', encoding="utf-8")
    records = run([file, a_question(expected_answer="30 days")], answer, "offline").records
    assert pickle.loads(pickle.dumps(records)) == copy.deepcopy(records) == records
    assert asdict(records[0])["question"]["metadata"] == {"team": "a"}


def test_mistakes_of_a_question_file_and_of_the_judges_settings_are_reported(tmp_path: Path) -> None:
    (tmp_path / "x.rag.json").write_text('[{"id": "a"}]', encoding="utf-8")
    with pytest.raises(QuestionFileError, match="question 'a' has no 'question'"):
        run(tmp_path / "x.rag.json", answer, None)
    with pytest.raises(UsageError, match="the openai judge needs a model"):
        run(a_question("a"), answer, "openai")
    with pytest.raises(UsageError, match=r"is not a judge; choose one of .* or give your own .* to evaluate$"):
        run(a_question("a"), answer, "gpt")


def test_a_model_judge_is_tried_once_for_a_results_folder(tmp_path: Path) -> None:
    with OpenAIServer(says_of_canaries(instructed={"groundedness": 1.0})) as server:
        settings = Settings.of(judge_model="m", judge_url=server.url, judge_api_key="k")
        for times in (1, 2):
            evaluated = run(a_question("a"), answer, "openai", settings=settings, output=tmp_path / "results")
            assert evaluated.notes == (
                (
                    f"the judge openai (m, en-2, {server.url}) is weak: of the answers that it was tried on, the "
                    "instructed answer passes with groundedness 1. See ragcheck docs reference/judge-preflight."
                ),
            )
            assert len(server.requests) == 6 + times
        (tmp_path / "results" / ".ragcheck" / "preflight.json").write_text("[]", encoding="utf-8")
        run(a_question("a"), answer, "openai", settings=settings, output=tmp_path / "results")
        assert len(server.requests) == 2 * 6 + 3
        # A preflight that cannot be kept there does not prevent the results.
        (tmp_path / "results" / ".ragcheck" / "preflight.json").unlink()
        (tmp_path / "results" / ".ragcheck").rmdir()
        (tmp_path / "results" / ".ragcheck").write_text("a file where a folder should be", encoding="utf-8")
        assert run(a_question("a"), answer, "openai", settings=settings, output=tmp_path / "results").files
        assert len(server.requests) == 3 * 6 + 4
        # Without a folder nothing is kept; switched off, nothing is tried.
        run(a_question("a"), answer, "openai", settings=settings)
        assert len(server.requests) == 4 * 6 + 5
        assert not run(a_question("a"), answer, "openai", settings=settings.replace(disable="preflight")).notes
        assert len(server.requests) == 4 * 6 + 6


def test_a_judge_that_cannot_tell_good_from_bad_ends_it_before_the_system_is_asked() -> None:
    asked: list[str] = []

    def noting(query: str) -> dict[str, Any]:
        asked.append(query)
        return answer(query)

    with OpenAIServer(verdict(groundedness=0.9)) as server:
        settings = Settings.of(judge_model="m", judge_url=server.url, judge_api_key="k")
        with pytest.raises(StepFailed) as caught:
            run(a_question("a"), noting, "openai", settings=settings)
    assert (asked, caught.value.name) == ([], "preflight")
    first, *_, last = str(caught.value).splitlines()
    assert first == (
        f"the judge openai (m, en-2, {server.url}) was tried out before the first question: it cannot tell good "
        "answers from bad ones"
    )
    assert last == (
        "No question was asked. Choose another judge model or rag_judge_prompt, or keep this one with "
        'Settings.of(disable="preflight"). See ragcheck docs reference/judge-preflight.'
    )


def test_libraries_log_no_secret_while_it_runs_and_as_usual_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    settings = Settings.of(headers={"Authorization": "Bearer correct-horse-battery"})
    echoes = json_reply({"answer": "30 days", "contexts": ["30 days"]}, x_echo="correct-horse-battery")
    with FakeEndpoint(echoes) as endpoint:

        async def ask() -> Evaluation:
            client = RagClient(endpoint.url, headers=settings.endpoint.headers)
            try:
                return await evaluate([a_question()], client, "offline", settings=settings)
            finally:
                await client.aclose()

        (record,) = asyncio.run(ask()).records
    assert record.answer == "30 days"
    assert "x-echo" in caplog.text
    assert "correct-horse" not in caplog.text
    logging.getLogger("httpx").info("correct-horse")
    assert "correct-horse" in caplog.text


def test_a_file_of_the_tier_retrieval_asks_no_judge(tmp_path: Path) -> None:
    file = tmp_path / "search.rag.yaml"
    file.write_text("tier: retrieval\nquestions:\n- {id: a, question: How long?, gold_passages: [Within 30 days.]}\n")

    def judged(question: Question, answer: RagAnswer) -> Judgement:
        raise AssertionError(f"the judge was asked about {question.id} and {answer.text}")

    done = asyncio.run(evaluate(str(file), lambda _query: {"contexts": ["It is paid within 30 days."]}, judged))
    (record,) = done.records
    assert (record.verdict.value, record.answer, record.judge) == ("PASS", None, None), record.text()
    assert (record.thresholds, record.scores["mrr"].value) == ({"recall_at_5": 0.7}, 1.0)


def test_a_server_of_the_judge_needs_no_key() -> None:
    with OpenAIServer(verdict(groundedness=0.9)) as server:
        settings = Settings.of(judge_model="m", judge_url=server.url, disable="preflight")
        (record,) = run(a_question("a"), answer, "openai", settings=settings).records
    assert (record.judge and record.judge.model, record.scores["groundedness"].value) == ("m", 0.9)


def test_no_text_names_an_option_of_the_command_line(tmp_path: Path) -> None:
    settings = Settings.of(url="http://127.0.0.1:9/query", retries=0)
    (record,) = run(a_question("a"), None, None, settings=settings).records
    assert record.reason == (
        "http://127.0.0.1:9/query: connection refused\n"
        "Start the RAG service, or set the URL to the port where it listens."
    )
    with pytest.raises(UsageError) as no_model:
        run(a_question("a"), answer, "openai")
    with pytest.raises(UsageError) as no_key:
        run(a_question("a"), answer, "openai", settings=Settings.of(judge_model="m"))
    assert "Settings.of(judge_api_key=...)" in str(no_key.value)
    (tmp_path / "file").touch()
    with pytest.raises(ResultsError) as no_folder:
        run(a_question("a"), lambda query: pytest.fail(f"{query} was asked"), None, output=tmp_path / "file")
    texts = [str(each.value) for each in (no_model, no_key, no_folder)]
    assert [text for text in texts if "--rag" in text] == []


def echo(connection: Any, request: Any) -> bool:
    said = f"30 days {request.headers['authorization']} {request.headers.get('x-tenant')} mine-of-http"
    return json_reply({"answer": said, "contexts": [said]})(connection, request)


def test_no_result_has_a_secret_that_only_the_client_knows(tmp_path: Path) -> None:
    questions = [a_question("a"), a_question("b", identity="alice")]

    async def ask(url: str) -> Evaluation:
        alice = {"Authorization": "Bearer alice-battery", "X-Tenant": "acme"}
        http = httpx.AsyncClient(headers={"X-Api-Key": "mine-of-http"})
        headers = {"Authorization": "Bearer correct-horse"}
        async with RagClient(url, headers=headers, identities={"alice": alice}, http=http, close_http=True) as client:
            return await evaluate(questions, client, "none", output=tmp_path)

    with FakeEndpoint(echo) as endpoint:
        records = asyncio.run(ask(endpoint.url)).records
    assert [record.answer for record in records] == [
        f"30 days {REDACTED} None {REDACTED}",
        f"30 days {REDACTED} acme {REDACTED}",
    ]
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.json"))
    assert [secret for secret in ("alice-battery", "correct-horse", "mine-of-http") if secret in written] == []


def echo_of_credentials(connection: Any, request: Any) -> bool:
    credentials = request.headers["authorization"].removeprefix("Basic ")
    said = f"{credentials} {b64decode(credentials).decode()} {request.headers['cookie']}"
    body = json.dumps({"answer": said, "contexts": ["given-cookie-42"]})
    return reply(body, content_type="application/json", set_cookie="SID=given-cookie-42; Path=/")(connection, request)


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_no_result_has_the_credentials_and_cookies_of_a_users_own_http_client(tmp_path: Path, library: Any) -> None:
    async def ask(url: str) -> Evaluation:
        cookies = {"PORTAL": "sessioncookie778899", "lang": "en"}
        http = library.AsyncClient(auth=("svcuser", "Pa55wordZZ91"), cookies=cookies)
        async with RagClient(url, http=http, close_http=True) as client:
            return await evaluate([a_question("a"), a_question("b")], client, "none", output=tmp_path)

    with FakeEndpoint(echo_of_credentials) as endpoint:
        first, second = asyncio.run(ask(endpoint.url)).records
    assert str(first.answer).startswith(f"{REDACTED} {REDACTED} ")
    assert first.contexts == second.contexts == (REDACTED,)
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.json"))
    secrets = ("Pa55wordZZ91", "sessioncookie778899", "given-cookie-42", "c3ZjdXNlcjpQYTU1d29yZFpaOTE")
    assert [secret for secret in secrets if secret in written] == []


def test_one_metric_needs_no_list_and_other_wrong_arguments_are_refused() -> None:
    (record,) = run(a_question(), answer, None, metrics=cited).records
    assert record.scores["cited"].value == 0.5
    with pytest.raises(UsageError, match=r"^evaluate: settings are \{'threshold': 1\}. Write settings=Settings.of\("):
        run(a_question(), answer, None, settings={"threshold": 1})
    with pytest.raises(UsageError, match=r"^evaluate: there is no question\."):
        run([], answer, None)
    with pytest.raises(UsageError, match=r"^evaluate: None is neither the path of a question file nor a Question\."):
        run(None, answer, None)
