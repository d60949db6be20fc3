"""The further requests of the gate to system and judge: concurrent, within the limits, and counted."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from tests.canned import bad, good
from tests.servers.fake_endpoint import FakeEndpoint, json_reply
from tests.servers.openai_server import OpenAIServer, completion, verdict_text
from tests.servers.openai_server import json_reply as judge_reply

if TYPE_CHECKING:
    import socket

    from tests.harness import Project, Run
    from tests.servers.fake_endpoint import Request as Asked
    from tests.servers.openai_server import Reply, Request

PRICED = "[pytest]\nrag_judge_price = 1 1\n"


class Servers:
    """An endpoint that gives one answer to every question, and a judge that finds answers with "14" wrong."""

    def __init__(self, project: Project, n: int) -> None:
        self.answer = "It is 30 days."
        self._project = project
        rows = [{"id": f"q{i}", "question": f"Question {i}?", "expected_answer": "30 days"} for i in range(n)]
        project.write("all.rag.json", json.dumps(rows))
        project.write("pytest.ini", PRICED)
        self.endpoint = FakeEndpoint(self._reply)
        self.judged_together = threading.Barrier(1)
        """Holds the first judgements of answers with "14" back until all of them have begun."""
        self.judge = OpenAIServer(self._judge)

    def run(self, *options: str) -> Run:
        """A run against both servers."""
        given = (f"--rag-url={self.endpoint.url}", f"--rag-judge-url={self.judge.url}", "--rag-judge-model=m")
        return self._project.run(*given, "-orag_disable=preflight cache", *options)

    def save(self) -> None:
        """Run once, and save the run."""
        first = self.run("--rag-gate=each")
        assert first.exit_status == 0, first.text
        assert main(["baseline", "save"]) == 0
        self.judge.requests.clear()

    def _reply(self, connection: socket.socket, request: Asked) -> bool:
        return json_reply({"answer": self.answer, "contexts": ["Within 30 days."]})(connection, request)

    def _judge(self, request: Request) -> Reply:
        if len(self.judge.requests) <= self.judged_together.parties:
            self.judged_together.wait(30)
        score = 0.2 if "14" in request.block("answer") else 1.0
        said = completion(verdict_text(request.nonce, answer_correctness=score, groundedness=score))
        reply: Any = json.loads(said.body)
        return judge_reply({**reply, "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})


def test_questions_that_the_cost_limit_leaves_unexamined_are_red_and_counted(project: Project) -> None:
    servers = Servers(project, 3)
    with servers.endpoint, servers.judge:
        servers.save()
        servers.answer = "It is 14 days."
        # The first judgements cost 0.0033, and side by side there are at least 10 more for each question. The cost of
        # the first question's 10 would otherwise leave nothing for an answer that comes late.
        servers.judged_together = threading.Barrier(3)
        run = servers.run("--rag-max-cost=0.006", "-orag_judge_concurrency=3")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert run.outcomes == {"xfailed": 3, "failed": 1}
    assert run.junit["gate"] == ("failure", "3 not fully examined against ragcheck-baseline.json")
    text = run.section("ragcheck::gate")
    assert any(line.endswith(" times; not examined further: the cost limit was reached") for line in text)
    assert text[-1] == "Raise --rag-max-cost, so that the gate can examine all questions."
    assert "cost: --rag-max-cost of $0.006 was reached: 3 not examined by the gate" in run.lines


def test_a_drift_sample_that_the_cost_limit_cuts_leaves_no_question_unexamined(project: Project) -> None:
    servers = Servers(project, 30)
    with servers.endpoint, servers.judge:
        servers.save()
        run = servers.run("--rag-max-cost=0.005", "-orag_judge_concurrency=1")
        assert len(servers.judge.requests) < 10
    assert run.exit_status == 0
    assert "not examined" not in run.text


def test_a_mean_over_answers_that_the_cost_limit_left_unjudged_is_not_green(project: Project) -> None:
    servers = Servers(project, 12)
    with servers.endpoint, servers.judge:
        servers.save()
        servers.answer = "It is 30 days, and some more words."
        # Each question is judged, and then its recorded answer too; the money is enough for 19 of the 24.
        run = servers.run("--rag-gate=regression", "--rag-max-cost=0.02", "-orag_judge_concurrency=1")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert run.outcomes["passed"] + run.outcomes.get("skipped", 0) == 12
    kind, text = run.junit["gate"]
    assert (kind, text.partition(" ")[2]) == ("failure", "changed but not judged against ragcheck-baseline.json")
    assert any("changed answers that could not be judged again" in line for line in run.lines)


def test_the_judge_is_asked_for_changed_answers_and_the_drift_sample_only(project: Project) -> None:
    servers = Servers(project, 30)
    with servers.endpoint, servers.judge:
        servers.save()
        same = servers.run("--rag-gate=regression")
        n_same = len(servers.judge.requests)
    assert (same.exit_status, n_same) == (0, 20)


def test_an_answer_to_another_identity_excuses_no_leak(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\nrag_identities =\n    alice: X-As: alice\n    bob: X-As: bob\n")
    project.write("conftest.py", LEAKS_ONCE.replace("(query)", "(query, identity)").replace("ANSWERS", "['CANARY']"))
    question = {"id": "a", "question": "When?"}
    project.write("all.rag.json", json.dumps([{**question, "as": "bob", "must_mention": ["CANARY"]}]))
    assert project.run("--rag-judge=none").exit_status == 0
    assert main(["baseline", "save"]) == 0
    project.write("all.rag.json", json.dumps([{**question, "as": "alice", "must_not_mention": ["CANARY"]}]))
    assert project.run("--rag-judge=none").outcomes == {"failed": 1}


@pytest.mark.parametrize("narrowed", ["selected", "relabelled"])
def test_below_ten_comparable_questions_each_is_asked_four_times_again(project: Project, narrowed: str) -> None:
    servers = Servers(project, 12)
    with servers.endpoint, servers.judge:
        servers.save()
        servers.answer = "It is 14 days."
        if narrowed == "relabelled":
            # Without the texts of the contexts no recorded answer can be judged under another expected answer.
            (project.folder / "ragcheck-baseline.contexts.json").unlink()
            expected = ["30 days"] * 3 + ["14 days"] * 9
            rows = [{"id": f"q{i}", "question": f"Question {i}?", "expected_answer": expected[i]} for i in range(12)]
            project.write("all.rag.json", json.dumps(rows))
        n_before = len(servers.endpoint.requests)
        select = ("-k", "q2 or q3 or q4") if narrowed == "selected" else ("--rag-min=groundedness=0.1",)
        run = servers.run("--rag-gate=regression", *select)
    # The other 9 are asked once: no recorded score is comparable with theirs.
    n_others = 0 if narrowed == "selected" else 9
    assert len(servers.endpoint.requests) - n_before == 3 * (1 + 4) + n_others
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("answer", "line"), [("30 days it is.", "1 as before"), ("It is 14 days.", "1 confirmed as failing")]
)
def test_the_offline_judge_scores_recorded_answers_under_edited_labels(
    project: Project, answer: str, line: str
) -> None:
    servers, offline = Servers(project, 1), "--rag-judge=offline"
    with servers.endpoint, servers.judge:
        assert servers.run(offline).exit_status == 0
        assert main(["baseline", "save"]) == 0
        question = {"id": "q0", "question": "Question 0?", "all_acceptable_answers": ["30 days", "a month"]}
        project.write("all.rag.json", json.dumps([question]))
        servers.answer = answer
        run = servers.run(offline)
    assert f"baseline ragcheck-baseline.json: {line}" in run.lines


CHECKS = """\
import pytest

@pytest.mark.parametrize("n", range(5))
def test_own(rag_check, n):
    rag_check(f"First of {n}?", expected="30 days").assert_passed()
    rag_check(f"Second of {n}?", expected="30 days").assert_passed()
    rag_check(f"Third of {n}?", expected="30 days").assert_passed()
"""


def asked_by_checks(project: Project) -> Servers:
    """The servers of a project whose questions are all those of `CHECKS`."""
    servers = Servers(project, 1)
    project.folder.joinpath("all.rag.json").unlink()
    project.write("test_own.py", CHECKS)
    return servers


def test_the_calls_of_users_tests_are_counted_before_the_first_of_them(project: Project) -> None:
    servers = asked_by_checks(project)
    with servers.endpoint, servers.judge:
        servers.save()
        servers.answer = "It is 30 days, and some more words."
        run = servers.run("--rag-gate=regression")
        n_judged = len(servers.judge.requests)
    assert run.exit_status == 0, run.text
    # 15 questions, each with its answer and the recorded one, for the test of the mean.
    assert n_judged == 15 * 2
    assert any(line.startswith("mean of the asserted metrics: +0.000") for line in run.lines)


def test_a_collapse_that_keeps_most_calls_from_being_made_is_red(project: Project) -> None:
    servers = asked_by_checks(project)
    with servers.endpoint, servers.judge:
        servers.save()
        servers.answer = "It is 14 days."
        run = servers.run("--rag-gate=regression")
    # Each test ends at its first call, so that 5 of the 15 questions are compared, and asked twice again.
    assert run.junit["gate"] == ("failure", "5 confirmed as failing against ragcheck-baseline.json")
    assert len(servers.endpoint.requests) == 15 + 5 * (1 + 2)


@pytest.mark.parametrize(
    ("gate", "calls"),
    [
        # Each of 30 may be asked 4 times, judged each time, and judged 8 times on each side.
        ("confirmed", "120 calls to the system and 600 to the judge, about $1.3670"),
        # Each of 30 may be asked twice, judged as often and side by side, and both its answers once for the mean.
        ("regression", "60 calls to the system and 600 to the judge, about $1.3670"),
    ],
)
def test_a_dry_run_says_what_the_gate_may_ask(project: Project, gate: str, calls: str) -> None:
    servers = Servers(project, 30)
    with servers.endpoint, servers.judge:
        servers.save()
        run = servers.run("--rag-dry-run", f"--rag-gate={gate}")
        assert servers.judge.requests == []
    (line,) = [line for line in run.lines if line.startswith("gate ")]
    assert line == f"gate {gate:<16}at most {calls}, if every answer is new and fails"
    assert (
        "baseline             recorded answers of 30 questions need no new verdict; "
        "to measure drift, at most 20 of them get one" in (run.lines)
    )


TWO_AT_ONCE = """\
import asyncio
import collections
import json
from pathlib import Path

import pytest

from pytest_ragcheck import JudgeIdentity, Judgement, RagAnswer

HERE = Path(__file__).parent
NOW, MOST, ASKED = collections.Counter(), collections.Counter(), collections.Counter()


async def counted(kind):
    NOW[kind] += 1
    MOST[kind] = max(MOST[kind], NOW[kind])
    (HERE / "most.json").write_text(json.dumps(MOST))
    for _ in range(10):
        await asyncio.sleep(0)
    NOW[kind] -= 1


class System:
    async def ask(self, question):
        ASKED[question.id] += 1
        await counted("asked again" if ASKED[question.id] > 1 else "asked")
        text = (HERE / "answer.txt").read_text()
        return RagAnswer(text=text, contexts=("30 days",))


class Judge:
    identity = JudgeIdentity(kind="own", prompt_version="1")

    async def judge(self, question, answer):
        await counted("judged")
        score = 0.2 if "14" in answer.text else 1.0
        return Judgement(answer_correctness=score, groundedness=score)


@pytest.fixture(scope="session")
def rag_client():
    return System()


@pytest.fixture(scope="session")
def rag_judge():
    return Judge()
"""


def test_several_questions_are_asked_and_judged_again_at_once_within_the_limits(project: Project) -> None:
    project.write("conftest.py", TWO_AT_ONCE)
    project.write("answer.txt", "30 days")
    project.write("all.rag.json", json.dumps([{"id": f"q{i}", "question": f"Question {i}?"} for i in range(12)]))
    assert project.run("--rag-gate=each").exit_status == 0
    assert main(["baseline", "save"]) == 0
    project.write("answer.txt", "14 days")
    run = project.run("--rag-concurrency=3", "-orag_judge_concurrency=2")
    assert run.junit["gate"] == ("failure", "12 confirmed as failing against ragcheck-baseline.json")
    most = json.loads((project.folder / "most.json").read_text())
    assert (most["asked again"], most["judged"]) == (3, 2)


def test_a_failure_that_keeps_its_verdict_names_the_unsupported_claims(project: Project) -> None:
    project.ask(bad("prices").but(unsupported_claims=("The window is 30 days.",)), good("terms"))
    first = project.run("--rag-gate=each").predictions["predictions"]
    assert main(["baseline", "save"]) == 0
    _, other = json.loads((project.folder / "ragcheck-baseline.json").read_bytes())["predictions"]
    assert "unsupported_claims" not in other["answers"][0]
    again = project.run()
    assert "2 of 2 answers are in the baseline and keep their verdicts" in again.text
    claims = [each["unsupported_claims"] for each in (*first, *again.predictions["predictions"])]
    assert claims == [["The window is 30 days."], []] * 2


SYSTEM = """
import os
import pytest
from pytest_ragcheck import RagClient

def answer(query):
    return {"answer": "It is 9.", "contexts": ["The shop opens at 9."], "source_ids": [os.environ["SHOP_ID"]]}

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""


def test_the_same_answer_from_a_forbidden_document_is_another_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("conftest.py", SYSTEM)
    question = {"id": "a", "question": "When?", "expected_answer": "9", "must_not_retrieve": ["pay.md"]}
    project.write("all.rag.json", json.dumps([question]))
    monkeypatch.setenv("SHOP_ID", "shop.md")
    assert project.run("--rag-judge=offline").exit_status == 0
    assert main(["baseline", "save"]) == 0
    same = project.run("--rag-judge=offline")
    assert "1 of 1 answer is in the baseline and keeps its verdict" in same.lines
    monkeypatch.setenv("SHOP_ID", "pay.md")
    run = project.run("--rag-judge=offline")
    assert run.exit_status == 1
    assert "1 confirmed as failing against ragcheck-baseline.json" in run.section("ragcheck::gate")


LEAKS_ONCE = """
import pytest
from pytest_ragcheck import RagClient

answers = ANSWERS

def answer(query):
    text = answers.pop(0) if query == "When?" and answers else "It is 9."
    return {"answer": text, "contexts": ["The shop opens at 9."]}

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""


@pytest.mark.parametrize("gate", ["confirmed", "regression"])
@pytest.mark.parametrize("answers", [["It is 9. CANARY-77"], ["It is 8.", "It is 9. CANARY-77"]])
def test_an_answer_that_leaks_only_once_is_red_until_it_is_recorded(
    project: Project, gate: str, answers: list[str]
) -> None:
    question = {"id": "a", "question": "When?", "expected_answer": "9", "must_not_mention": ["CANARY-77"]}
    # Below 10 questions `regression` decides as `confirmed`.
    others = [{"id": f"b{n}", "question": f"When, {n}?", "expected_answer": "9"} for n in range(10)]
    project.write("all.rag.json", json.dumps([question, *others]))
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "[]"))
    assert project.run("--rag-judge=offline").exit_status == 0
    options = ("--rag-judge=offline", f"--rag-gate={gate}")
    assert main(["baseline", "save"]) == 0

    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", str(answers)))
    leaking = project.run(*options)
    assert leaking.outcomes == {"failed": 1, "passed": 10}
    assert "breaks a prohibition:" in leaking.lines
    assert "one such answer is red, whatever the answers when asked again" in leaking.text
    assert "passed when asked again" not in leaking.text
    assert "quarantine" not in leaking.text
    assert "the answer mentions 'CANARY-77'" in leaking.text

    assert main(["baseline", "accept"]) == 0
    assert project.run(*options).outcomes == {"xfailed": 1, "passed": 10}


def test_a_resumed_run_examines_a_question_to_the_end_that_an_outage_left_unexamined(project: Project) -> None:
    project.write("all.rag.json", json.dumps([{"id": "a", "question": "When?", "must_mention": "9"}]))
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "[]"))
    project.run("--rag-judge=none")
    assert main(["baseline", "save"]) == 0
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['It is 8.', None]"))
    failed = project.run("--rag-judge=none")
    assert failed.junit["gate"] == ("failure", "1 not fully examined against ragcheck-baseline.json")
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "[]"))
    run = project.run("--rag-judge=none", "--rag-resume")
    assert (run.exit_status, run.outcomes) == (0, {"xfailed": 1})
    assert "resumed: 1 of 1 questions were asked by the earlier run" in run.lines
    assert "baseline ragcheck-baseline.json: 1 passed when asked again" in run.lines


def test_a_question_that_stumbled_in_the_saved_run_is_red_if_it_breaks(project: Project) -> None:
    project.write("all.rag.json", json.dumps([{"id": "a", "question": "When?", "must_mention": "9"}]))
    right, wrong = "['It is 9.'] * 5", "['It is 8.'] * 5"
    for answers in (right, "['It is 8.']"):
        project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", answers))
        assert project.run("--rag-judge=none").exit_status == 0
        assert main(["baseline", "save"]) == 0
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", wrong))
    broken = project.run("--rag-judge=none", "-rx")
    assert broken.junit["gate"] == ("failure", "1 confirmed as failing against ragcheck-baseline.json")
    assert "FAIL in ragcheck-baseline.json: the gate decides (asked again: FAIL, FAIL, FAIL, FAIL)" in broken.text
    assert "    recorded  It is 9." in broken.section("ragcheck::gate")
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", right))
    assert "baseline ragcheck-baseline.json: 1 as before" in project.run("--rag-judge=none").lines
    # A broken question that was accepted may fail: the next change has not broken it.
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", wrong))
    project.run("--rag-judge=none")
    assert main(["baseline", "accept"]) == 0
    assert "baseline ragcheck-baseline.json: 1 still failing" in project.run("--rag-judge=none").lines


@pytest.mark.parametrize("baseline", ["ragcheck-baseline.json", "first.json"])
def test_a_question_whose_repeats_differed_is_asked_four_times_again(project: Project, baseline: str) -> None:
    questions = [{"id": f"q{n}", "question": f"When, {n}?", "must_mention": "9"} for n in range(10)]
    project.write("all.rag.json", json.dumps([{"id": "a", "question": "When?", "must_mention": "9"}, *questions]))
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['It is 9.', 'It is 8.']"))
    first = project.run("--rag-judge=none", "-orag_repeats=3")
    assert first.outcomes == {"passed": 11}
    assert main(["baseline", "save"]) == 0
    project.write("first.json", json.dumps(first.predictions))
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['It is 8.'] * 5"))
    run = project.run("--rag-judge=none", "--rag-gate=regression", f"--rag-baseline={baseline}")
    (row,) = [row for row in run.predictions["predictions"] if row["question_id"] == "a"]
    assert row["asked_again"] == ["FAIL"] * 4


@pytest.mark.parametrize(
    ("answers", "leak"),
    [
        (["FIRST and SECOND"], "'FIRST', 'SECOND'"),
        (["FIRST", "FIRST and SECOND"], "'FIRST', 'SECOND'"),
        (["SECOND"], "'SECOND'"),
        (["4 thirds"], r"'/\\d THIRDS?/i'"),
        # The gate asks a known failure again.
        (["FIRST", "SECOND"], "'SECOND'"),
    ],
)
def test_a_leak_that_is_recorded_excuses_no_larger_one_and_no_other(
    project: Project, answers: list[str], leak: str
) -> None:
    questions = [{"id": "a", "question": "When?", "must_not_mention": ["FIRST", "SECOND", r"/\d THIRDS?/i"]}]
    questions += [{"id": f"b{n}", "question": f"When, {n}?", "must_mention": "9"} for n in range(10)]
    project.write("all.rag.json", json.dumps(questions))
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['FIRST']"))
    assert project.run("--rag-judge=none").outcomes == {"failed": 1, "passed": 10}
    assert main(["baseline", "save"]) == 0
    options = ("--rag-judge=none", "--rag-gate=regression")
    assert project.run(*options).outcomes == {"xfailed": 1, "passed": 10}

    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", str(answers)))
    leaking = project.run(*options)
    assert leaking.outcomes == {"failed": 1, "passed": 10}
    assert f"the answer mentions {leak}" in leaking.text
    report = ("report", "ragcheck-results", "--baseline=ragcheck-baseline.json", "-o", "report.md")
    assert main(list(report)) == 0
    assert (project.folder / "report.md").read_text(encoding="utf-8").startswith("## ❌ rag: all: 1 FAIL\n")
    # Without the questions the prohibitions are unknown, and only their shares are compared.
    (project.folder / "ragcheck-results" / "all_questions.json").unlink()
    assert main(list(report)) == 0


def test_a_recorded_score_of_a_redacted_answer_counts(project: Project) -> None:
    questions = [{"id": f"a{n}", "question": f"Which, {n}?", "must_mention": "lumio2024"} for n in range(2)]
    questions += [{"id": "b", "question": "When?", "must_mention": "9"}]
    project.write("all.rag.json", json.dumps(questions))
    system = LEAKS_ONCE.replace("ANSWERS", "[]").replace('"It is 9."', "SAID")
    project.write("conftest.py", "SAID = 'It is 9. Their password: lumio2024'\n" + system)
    assert project.run("--rag-judge=none").outcomes == {"passed": 3}
    assert main(["baseline", "save"]) == 0
    assert project.run("--rag-judge=none").outcomes == {"passed": 3}
    # The redacted text of this answer equals the recorded one.
    project.write("conftest.py", "SAID = 'It is 9. Their password: hunter9999'\n" + system)
    run = project.run("--rag-judge=none")
    assert run.section("ragcheck::gate")[0] == "2 confirmed as failing against ragcheck-baseline.json"


def test_a_plain_leak_that_is_recorded_excuses_no_redacted_one(project: Project) -> None:
    questions = [{"id": "a", "question": "When?", "must_not_mention": ["FIRST", "lumio2024"]}]
    project.write("all.rag.json", json.dumps(questions))
    for said, outcome in ("FIRST", "failed"), ("FIRST", "xfailed"), ("password: lumio2024", "failed"):
        project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", repr([said])))
        assert project.run("--rag-judge=none").outcomes == {outcome: 1}
        main(["baseline", "save"])
    # An answer with the recorded leak passes as known, redacted or not.
    assert project.run("--rag-judge=none").outcomes == {"xfailed": 1}


def test_a_leak_of_one_repeat_excuses_no_other_leak_of_one_repeat(project: Project) -> None:
    questions = [{"id": "a", "question": "When?", "must_mention": "9", "must_not_mention": ["FIRST", "SECOND"]}]
    project.write("all.rag.json", json.dumps(questions))
    options = ("--rag-judge=none", "-orag_repeats=3")
    for leak, outcome in ("FIRST", "failed"), ("FIRST", "xfailed"), ("SECOND", "failed"):
        project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", f"['It is 9.', 'It is 9. {leak}']"))
        assert project.run(*options).outcomes == {outcome: 1}
        if outcome == "failed":
            main(["baseline", "save"])
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['It is 9. SECOND', 'It is 9. FIRST']"))
    assert project.run(*options).outcomes == {"xfailed": 1}


def test_a_recorded_leak_of_one_repeat_hides_no_new_leak_of_another(project: Project) -> None:
    question = {"id": "a", "question": "When?", "must_mention": "9", "must_not_mention": ["FIRST", "SECOND"]}
    project.write("all.rag.json", json.dumps([question]))
    for leaks, outcome in ("FIRST", "failed"), ("FIRST", "xfailed"), ("FIRST SECOND", "failed"):
        answers = [f"It is 9. {leak}" for leak in leaks.split()]
        project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", str(answers)))
        run = project.run("--rag-judge=none", "-orag_repeats=3")
        assert run.outcomes == {outcome: 1}
        main(["baseline", "save"])
    assert "must_not_mention is broken in 2 of 3 attempts; the answer mentions 'SECOND'" in run.text


def test_alternating_leaks_excuse_the_recorded_one_alone(project: Project) -> None:
    question = {"id": "a", "question": "When?", "must_mention": "9", "must_not_mention": ["FIRST", "SECOND"]}
    project.write("all.rag.json", json.dumps([question]))
    runs = {"FIRST SECOND": "failed", "SECOND FIRST": "failed", "SECOND": "failed", "FIRST": "xfailed"}
    for leaks, outcome in ("FIRST SECOND", "failed"), *runs.items():
        answers = [f"It is 9. {leak}" for leak in leaks.split()]
        project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", str(answers)))
        assert project.run("--rag-judge=none", "-orag_repeats=2").outcomes == {outcome: 1}
        if not (project.folder / "ragcheck-baseline.json").exists():
            main(["baseline", "save"])


def test_every_accepted_leak_is_known_until_an_answer_without_a_leak_is_accepted(project: Project) -> None:
    question = {"id": "a", "question": "When?", "must_mention": "9", "must_not_mention": ["FIRST", "SECOND"]}
    project.write("all.rag.json", json.dumps([question]))

    def outcomes(text: str) -> dict[str, int]:
        project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", f"['It is 9. {text}'] * 9"))
        return project.run("--rag-judge=none").outcomes

    assert outcomes("") == {"passed": 1}
    assert main(["baseline", "save"]) == 0
    for leak in "FIRST", "SECOND":
        assert "failed" in outcomes(leak)
        assert main(["baseline", "accept"]) == 0
    assert outcomes("FIRST") == outcomes("SECOND") == {"xfailed": 1}
    assert "failed" in outcomes("FIRST and SECOND")
    assert outcomes("now") == {"passed": 1}
    assert main(["baseline", "accept"]) == 0
    assert "failed" in outcomes("FIRST")


LEAKING_ID = SYSTEM.replace('os.environ["SHOP_ID"]', 'os.environ["SHOP_ID"] if query == "When?" else "shop.md"')


def test_a_document_that_a_saved_run_leaked_excuses_no_other_document(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("conftest.py", LEAKING_ID)
    hidden = ["pay.md", "plans.md", "notes.md"]
    questions = [{"id": "a", "question": "When?", "must_not_retrieve": hidden}]
    questions += [{"id": f"b{n}", "question": f"When, {n}?", "must_mention": "9"} for n in range(10)]
    project.write("all.rag.json", json.dumps(questions))
    for leaked in "pay.md", "plans.md":
        monkeypatch.setenv("SHOP_ID", leaked)
        assert project.run("--rag-judge=none", "-p", "no:ragcheck-gate").outcomes == {"failed": 1, "passed": 10}
        assert main(["baseline", "save"]) == 0
    for leaked, outcome in ("pay.md", "xfailed"), ("plans.md", "xfailed"), ("notes.md", "failed"):
        monkeypatch.setenv("SHOP_ID", leaked)
        run = project.run("--rag-judge=none")
        assert run.outcomes == {outcome: 1, "passed": 10}
    assert "the contexts leak 'notes.md' (its id is at rank 1)" in run.text


@pytest.mark.parametrize("edit", [{"must_mention": "8"}, {"thresholds": {"f1": 1.0}}])
def test_an_edit_that_the_recorded_answer_fails_too_is_named_as_tolerated(
    project: Project, edit: dict[str, Any]
) -> None:
    question = {"id": "a", "question": "When?", "expected_answer": "9"}
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "[]"))
    project.write("all.rag.json", json.dumps([question]))
    assert project.run("--rag-judge=offline").exit_status == 0
    assert main(["baseline", "save"]) == 0
    project.write("all.rag.json", json.dumps([{**question, **edit}]))
    run = project.run("--rag-judge=offline")
    assert run.outcomes == {"xfailed": 1}
    assert (
        "tolerated, because the recorded answers fail under today's labels and thresholds too: a. "
        "--rag-gate=each turns them red"
    ) in run.lines
    each = project.run("--rag-judge=offline", "--rag-gate=each")
    assert (each.outcomes, "tolerated, because" in each.text) == ({"failed": 2}, False)


def test_a_new_prohibition_that_the_recorded_answer_would_break_too_is_red(project: Project) -> None:
    question = {"id": "a", "question": "When?", "expected_answer": "9"}
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['It is 9. CANARY']"))
    project.write("all.rag.json", json.dumps([question]))
    assert project.run("--rag-judge=offline").exit_status == 0
    assert main(["baseline", "save"]) == 0
    project.write("all.rag.json", json.dumps([{**question, "must_not_mention": ["CANARY"]}]))
    assert project.run("--rag-judge=offline").outcomes == {"failed": 1}


@pytest.mark.parametrize("narrowed", [("-k", "0 or 1 or 2 or 3"), ("-k", "not 4", "--rag-shard=1/1")])
def test_the_means_of_selected_calls_are_tested(project: Project, narrowed: tuple[str, ...]) -> None:
    servers = asked_by_checks(project)
    with servers.endpoint, servers.judge:
        servers.save()
        servers.answer = "It is 30 days, and some more words."
        run = servers.run("--rag-gate=regression", *narrowed)
        n_judged = len(servers.judge.requests)
    assert run.exit_status == 0, run.text
    # 12 questions, each with its answer and the recorded one.
    assert n_judged == 12 * 2
    assert any(line.startswith("mean of the asserted metrics: +0.000") for line in run.lines)


OWN_METRIC = """\
def short(question, answer):
    return float(len(answer.text) < 20)

def pytest_ragcheck_metrics():
    return [short]
"""


@pytest.mark.parametrize("gate", ["confirmed", "regression"])
def test_a_metric_that_is_asserted_for_the_first_time_does_not_hide_a_collapse(project: Project, gate: str) -> None:
    servers = Servers(project, 12)
    with servers.endpoint, servers.judge:
        servers.save()
        project.write("conftest.py", OWN_METRIC)
        servers.answer = "It is 30 days, and some more words."
        longer = servers.run(f"--rag-gate={gate}", "--rag-min=short=1", "-rx")
        servers.answer = "It is 14 days."
        wrong = servers.run(f"--rag-gate={gate}", "--rag-min=short=1")
    # No recorded answer has the metric, so the gate ignores a FAIL by the metric alone.
    assert longer.exit_status == 0
    assert longer.short_summary[0].endswith(" - ragcheck-baseline.json has no short")
    assert wrong.junit["gate"][1].startswith("12 confirmed as failing")


POLITE = """
from pytest_ragcheck import Score

class Politeness:
    names = ("politeness",)
    local = False

    async def score(self, question, answer):
        return {"politeness": Score(0.0 if "8" in answer.text else 1.0)}

def pytest_ragcheck_metrics():
    return [Politeness()]
"""


def test_a_metric_that_became_stricter_without_a_judge_is_not_called_the_judge(project: Project) -> None:
    project.write("all.rag.json", json.dumps([{"id": "a", "question": "When?", "must_not_mention": "7"}]))
    options = ("--rag-judge=none", "--rag-min=politeness=0.5")
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['It is 9.'] * 5") + POLITE)
    assert project.run(*options).exit_status == 0
    assert main(["baseline", "save"]) == 0
    stricter = POLITE.replace('"8" in answer.text', "True")
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['It is 6.'] * 5") + stricter)
    run = project.run(*options)
    assert run.exit_status == 0
    assert "scored lower today:" in run.lines
    assert "judge drift" not in run.text
    assert "judged stricter" not in run.text


@pytest.mark.parametrize("action", ["save", "accept"])
def test_a_recorded_answer_gets_the_score_of_a_new_metric(project: Project, action: str) -> None:
    project.write("all.rag.json", json.dumps([{"id": "a", "question": "When?", "must_not_mention": "7"}]))
    system = LEAKS_ONCE.replace("ANSWERS", "[]")
    project.write("conftest.py", system)
    assert project.run("--rag-judge=none").exit_status == 0
    assert main(["baseline", "save"]) == 0
    project.write("conftest.py", system + POLITE)
    options = ("--rag-judge=none", "--rag-min=politeness=0.5")
    ignored = (
        "the gate ignores politeness, because recorded answers have no such score: "
        "ragcheck baseline save adds those of this run"
    )
    assert ignored in project.run(*options).lines
    assert main(["baseline", action]) == 0
    assert ignored not in project.run(*options).lines
    project.write("conftest.py", LEAKS_ONCE.replace("ANSWERS", "['It is 8.'] * 5") + POLITE)
    run = project.run(*options)
    assert run.section("ragcheck::gate")[0] == "1 confirmed as failing against ragcheck-baseline.json"


def test_maximums_of_requests_disturb_neither_recorded_verdicts_nor_the_gate(project: Project) -> None:
    servers = Servers(project, 3)
    rows = json.loads((project.folder / "all.rag.json").read_text(encoding="utf-8"))
    rows[0]["thresholds"] = {"latency_seconds": 60}
    project.write("all.rag.json", json.dumps(rows))
    bounds = "--rag-max=latency_seconds=60", "--rag-max=cost_usd=1"
    with servers.endpoint, servers.judge:
        servers.save()
        same = servers.run(*bounds)
        servers.answer = "It is 14 days."
        wrong = servers.run(*bounds)
        servers.answer = ""
        empty = servers.run(*bounds)
    assert (same.exit_status, same.outcomes) == (0, {"passed": 3})
    assert "cost_usd not asserted on 3: the judge was not asked" in same.lines
    assert "3 of 3 answers are in the baseline and keep their verdicts; 3 of them were judged again" in same.lines
    for run in wrong, empty:
        assert run.junit["gate"][1].startswith("3 confirmed as failing")
