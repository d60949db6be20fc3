"""The turns of a conversation are items of their own, and are asked one after the other by one process."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck import Settings, evaluate
from pytest_ragcheck.cli import main
from tests.harness import OTHERS, WAYS, exhaustive, three_ways, two_ways
from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply

if TYPE_CHECKING:
    import socket

    from tests.harness import Project, Run

DOWN = json_reply({"error": "down"}, status=500)


class Talks:
    """
    A system that keeps sessions, and notes the turns that it was asked, such as `c7 t2`.

    It also notes the conversations of which two turns were asked at once, or turns in another session than before.
    """

    def __init__(self, *, seconds: float = 0.01) -> None:
        self.seconds = seconds
        self.asked: defaultdict[str, list[int]] = defaultdict(list)
        self.overlapped: list[str] = []
        self.torn: list[str] = []
        self._last: dict[str, int] = {}
        self._sessions = itertools.count()
        self.most = 0
        self.down: tuple[str, ...] = ()
        self.wrong: tuple[str, ...] = ()
        self._running: Counter[str] = Counter()
        self._changing = threading.Lock()

    def __call__(self, connection: socket.socket, request: Request) -> bool:
        name, turn = request.json["query"].split(" t")
        with self._changing:
            self._running[name] += 1
            session = request.json.get("session_id") or f"s{next(self._sessions)}"
            # A session begins with the first turn and has each other turn after the one before it.
            self.torn += [name] if self._last.get(session, 0) >= int(turn) else []
            self.torn += [name] if ("session_id" not in request.json) != (int(turn) == 1) else []
            self._last[session] = int(turn)
            self.asked[name].append(int(turn))
            self.overlapped += [name] if self._running[name] > 1 else []
            self.most = max(self.most, self._running.total())
        time.sleep(self.seconds)
        with self._changing:
            self._running[name] -= 1
        if request.json["query"] in self.down:
            return DOWN(connection, request)
        answer = "14 days" if request.json["query"] in self.wrong else "30 days"
        reply = {"answer": answer, "contexts": [f"It is {answer}."], "session_id": session}
        return json_reply(reply)(connection, request)

    @property
    def running(self) -> int:
        return self._running.total()

    @property
    def count(self) -> int:
        return sum(map(len, self.asked.values()))


def write_talks(project: Project, *, number: int = 1, turns: int = 4) -> None:
    """Write conversations c0, c1, ... with that number of turns each."""
    talks = [
        {
            "id": f"c{n}",
            "turns": [{"question": f"c{n} t{turn}", "expected_answer": "30 days"} for turn in range(1, turns + 1)],
        }
        for n in range(number)
    ]
    project.write("talks.rag.json", json.dumps(talks))
    project.write("pytest.ini", "[pytest]\nrag_shape = server\n")


def run(project: Project, endpoint: FakeEndpoint, *options: str) -> Run:
    return project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", *options)


@two_ways
def test_each_turn_is_asked_once_in_order_and_never_two_of_one_conversation_at_once(project: Project) -> None:
    write_talks(project, number=50)
    with FakeEndpoint(talks := Talks()) as endpoint:
        ended = run(project, endpoint, "--rag-concurrency=16")
    assert ended.outcomes == {"passed": 200}
    assert talks.asked == {f"c{n}": [1, 2, 3, 4] for n in range(50)}
    assert talks.overlapped == talks.torn == []
    assert 1 < talks.most <= 16
    assert list(ended.verdicts)[:5] == ["c0[turn1]", "c0[turn2]", "c0[turn3]", "c0[turn4]", "c1[turn1]"]


def test_a_worker_asks_the_turns_after_its_last_item_for_the_others(project: Project) -> None:
    write_talks(project)
    with FakeEndpoint(talks := Talks(seconds=0.1)) as endpoint:
        ended = run(project, endpoint, "-n4")
    assert ended.outcomes == {"passed": 4}
    assert talks.asked == {"c0": [1, 2, 3, 4]}


@exhaustive
@pytest.mark.parametrize("distribution", ["load", "worksteal", "loadfile", "loadscope", "loadgroup"])
def test_any_worker_may_get_the_item_of_any_turn(project: Project, distribution: str) -> None:
    write_talks(project, number=20)
    with FakeEndpoint(talks := Talks()) as endpoint:
        ended = run(project, endpoint, "-n3", f"--dist={distribution}")
    assert ended.outcomes == {"passed": 80}
    assert talks.asked == {f"c{n}": [1, 2, 3, 4] for n in range(20)}
    assert talks.overlapped == talks.torn == []


@two_ways
def test_a_selected_turn_is_asked_after_those_before_it_and_none_after_it(project: Project) -> None:
    write_talks(project, number=2)
    with FakeEndpoint(talks := Talks()) as endpoint:
        ended = run(project, endpoint, "-k", "c1 and turn3")
    assert ended.outcomes["passed"] == 1
    assert talks.asked == {"c1": [1, 2, 3]}
    rows = ended.document("rag.partial_predictions.json")["predictions"]
    assert [row["question_id"] for row in rows] == ["c1[turn3]"]


def test_a_node_id_selects_a_turn_or_a_conversation(project: Project) -> None:
    write_talks(project, number=2)
    with FakeEndpoint(talks := Talks()) as endpoint:
        one = run(project, endpoint, "talks.rag.json::c0[turn2]")
        whole = run(project, endpoint, "talks.rag.json::c1")
    assert (one.outcomes, whole.outcomes) == ({"passed": 1}, {"passed": 4})
    assert talks.asked == {"c0": [1, 2], "c1": [1, 2, 3, 4]}


def test_the_last_failed_turn_is_asked_after_those_before_it(project: Project) -> None:
    write_talks(project, number=2)
    with FakeEndpoint(talks := Talks()) as endpoint:
        talks.wrong = ("c1 t3",)
        first = run(project, endpoint)
        assert first.verdicts["c1[turn3]"] == "FAIL"
        talks.asked.clear()
        talks.wrong = ()
        again = run(project, endpoint, "--lf")
    assert first.outcomes == {"passed": 7, "failed": 1}
    assert again.outcomes["passed"] == 1
    assert talks.asked == {"c1": [1, 2, 3]}


@pytest.mark.parametrize(
    ("failures", "workers"), [(1, ""), (9, ""), (9, "-n2"), pytest.param(1, "-n2", marks=exhaustive)]
)
def test_a_conversation_goes_on_after_a_turn_that_a_rerun_answers(
    project: Project, failures: int, workers: str
) -> None:
    write_talks(project)
    talks, left = Talks(), iter(range(failures))

    def fails_at_first(connection: socket.socket, request: Request) -> bool:
        if request.json["query"] == "c0 t2" and next(left, None) is not None:
            return DOWN(connection, request)
        return talks(connection, request)

    with FakeEndpoint(fails_at_first) as endpoint:
        ended = run(project, endpoint, "--reruns=1", "-o", "rag_retries=0", *filter(None, [workers]))
    if failures == 1:
        assert ended.outcomes == {"passed": 4, "rerun": 1}
        assert workers or talks.asked == {"c0": [1, 1, 2, 3, 4]}
    else:
        # Another worker does not know whether the rerun has an answer, and asks once more.
        assert ended.outcomes == {"passed": 1, "error": 1, "skipped": 2, "rerun": 1}
        assert workers or talks.asked == {"c0": [1, 1]}
        assert ended.counts == {"pass": 1, "fail": 0, "error": 1, "skipped": 2}
    assert talks.torn == []


@three_ways
def test_a_turn_after_an_error_is_not_asked_and_says_so(project: Project) -> None:
    write_talks(project, number=2)
    with FakeEndpoint(talks := Talks()) as endpoint:
        talks.down = ("c0 t2",)
        ended = run(project, endpoint, "-rs", "-o", "rag_retries=0")
    assert ended.outcomes == {"passed": 5, "error": 1, "skipped": 2}
    assert talks.asked == {"c0": [1, 2], "c1": [1, 2, 3, 4]}
    assert ended.counts["skipped"] == 2
    assert any("turn 2 was an ERROR" in line for line in ended.short_summary)
    assert "c0[turn3]" not in ended.verdicts


def test_the_error_of_an_earlier_turn_without_an_item_is_that_of_the_selected_turn(project: Project) -> None:
    write_talks(project)
    with FakeEndpoint(talks := Talks()) as endpoint:
        talks.down = ("c0 t1",)
        ended = run(project, endpoint, "-rs", "-k", "turn3 or turn4", "-o", "rag_retries=0")
    assert talks.asked == {"c0": [1]}
    assert ended.exit_status == pytest.ExitCode.TESTS_FAILED
    (row,) = ended.document("rag.partial_predictions.json")["errors"]
    assert (row["question_id"], row["kind"]) == ("c0[turn3]", "endpoint_status")
    assert row["message"].startswith("turn 1, which is asked first, has no answer: http://127.0.0.1:")
    assert any("turn 1 was an ERROR" in line for line in ended.short_summary)


@two_ways
@pytest.mark.parametrize("failures", [2, 9])
def test_a_rerun_of_a_selected_turn_asks_the_turns_before_it_again(project: Project, failures: int) -> None:
    write_talks(project)
    talks, left = Talks(), iter(range(failures))

    def fails_at_first(connection: socket.socket, request: Request) -> bool:
        if request.json["query"] == "c0 t2" and next(left, None) is not None:
            return DOWN(connection, request)
        return talks(connection, request)

    with FakeEndpoint(fails_at_first) as endpoint:
        ended = run(project, endpoint, "--reruns=2", "-k", "turn3", "-o", "rag_retries=0")
    outcome = "passed" if failures == 2 else "error"
    assert ended.outcomes | {"deselected": 3} == {outcome: 1, "rerun": 2, "deselected": 3}
    assert talks.asked == {"c0": [1, 1, 1, 2, 3] if failures == 2 else [1, 1, 1]}
    assert talks.torn == []


@two_ways
def test_a_killed_run_is_resumed_with_whole_conversations(project: Project, way: str) -> None:
    write_talks(project, number=20)
    command = [
        sys.executable,
        "-m",
        "pytest",
        *OTHERS,
        "--rag-judge=offline",
        "--rag-concurrency=2",
    ]
    with FakeEndpoint(talks := Talks(seconds=0.03)) as endpoint:
        with subprocess.Popen(
            [*command, f"--rag-url={endpoint.url}", *WAYS[way]],
            cwd=project.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            while talks.count < 56:
                assert process.poll() is None
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGKILL)
        while talks.running:
            time.sleep(0.01)
        before = {name: turns.copy() for name, turns in talks.asked.items()}
        talks.asked.clear()
        ended = run(project, endpoint, "--rag-resume")
    assert ended.outcomes == {"passed": 80}
    assert before.keys() | talks.asked.keys() == {f"c{n}" for n in range(20)}
    # The session of a dead run is gone, so a conversation is asked again from its first turn.
    assert all(turns == [1, 2, 3, 4] for turns in talks.asked.values())
    assert all(before[name] == [1, 2, 3, 4] for name in before.keys() - talks.asked.keys())
    (resumed,) = re.findall(r"resumed: (\d+) of 80 questions", ended.text)
    # A turn with a record keeps it; each conversation had at most one turn under way when the run died.
    assert sum(map(len, before.values())) - 20 <= int(resumed) < 80


def test_a_finished_conversation_is_not_asked_again_and_an_error_in_it_is(project: Project) -> None:
    write_talks(project, number=2)
    with FakeEndpoint(talks := Talks()) as endpoint:
        talks.down = ("c1 t3",)
        run(project, endpoint, "-o", "rag_retries=0")
        talks.down = ()
        talks.asked.clear()
        ended = run(project, endpoint, "--rag-resume", "-o", "rag_retries=0")
    assert ended.outcomes == {"passed": 8}
    assert talks.asked == {"c1": [1, 2, 3, 4]}


def test_a_changed_turn_makes_those_after_it_other_questions(project: Project) -> None:
    write_talks(project)
    with FakeEndpoint(talks := Talks()) as endpoint:
        run(project, endpoint)
        path = project.folder / "talks.rag.json"
        path.write_text(path.read_text(encoding="utf-8").replace("c0 t2", "c0 t7"), encoding="utf-8")
        talks.asked.clear()
        ended = run(project, endpoint, "--rag-resume")
    assert talks.asked == {"c0": [1, 7, 3, 4]}
    assert "resumed: 1 of 4 questions were asked by the earlier run" in ended.lines


@two_ways
def test_a_replay_asks_nothing_and_skips_what_the_run_skipped(project: Project) -> None:
    write_talks(project, number=2)
    with FakeEndpoint(talks := Talks()) as endpoint:
        talks.down = ("c0 t2",)
        talks.wrong = ("c1 t4",)
        first = run(project, endpoint, "-o", "rag_retries=0")
        talks.asked.clear()
    recording = "ragcheck-results/rag_predictions.json"
    again = project.run(f"--rag-replay={recording}", "--rag-judge=offline", "--rag-agent=again")
    assert first.outcomes == again.outcomes == {"passed": 4, "failed": 1, "error": 1, "skipped": 2}
    assert not talks.asked
    one = project.run(f"--rag-replay={recording}", "--rag-judge=offline", "--rag-agent=one", "-k", "c1 and turn4")
    assert one.outcomes["failed"] == 1


def test_a_replay_takes_an_earlier_turn_without_a_record_from_the_history_of_the_next(project: Project) -> None:
    write_talks(project)
    path = project.folder / "talks.rag.json"
    talks = json.loads(path.read_text(encoding="utf-8"))
    talks[0]["turns"][1]["skip"] = "later"
    path.write_text(json.dumps(talks), encoding="utf-8")
    with FakeEndpoint(Talks()) as endpoint:
        first = run(project, endpoint)
    replayed = ("--rag-replay=ragcheck-results/rag_predictions.json", "--rag-judge=offline", "--rag-agent=again")
    again = project.run(*replayed)
    assert again.outcomes == first.outcomes == {"passed": 3, "skipped": 1}
    assert again.document("again_predictions.json")["predictions"] == first.predictions["predictions"]
    path.write_text(json.dumps(talks).replace("c0 t2", "c0 t7"), encoding="utf-8")
    assert project.run(*replayed).outcomes == {"passed": 1, "error": 1, "skipped": 2}


CLIENT = """
import json
import pytest
from pytest_ragcheck import RagAnswer

class Client:
    def __init__(self, name="", remembers=True):
        self.name, self.remembers = name, remembers

    async def ask(self, question):
        texts = [turn.question for turn in question.history] if self.remembers else []
        with open("asked.jsonl", "a") as log:
            print(json.dumps([self.name, question.id, texts, question.session]), file=log)
        said = " ".join([*texts, question.question])
        if "crash" in said:
            raise ZeroDivisionError
        answer = "14 days" if "bought it in the sale" in said else "30 days"
        return RagAnswer(text=answer, contexts=(answer,), session=f"{self.name}s{len(question.history)}")
"""

SALE = """
- id: refund
  turns:
    - question: I bought it in the sale.
    - question: How long can I send it back?
      must_mention: 14 days
    - And abroad?
"""


def asked_by(project: Project) -> list[Any]:
    path = project.folder / "asked.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("remembers", [True, False])
def test_a_system_that_forgets_the_first_turn_fails_the_second(project: Project, remembers: bool) -> None:
    project.write("billing.rag.yaml", SALE)
    project.write(
        "conftest.py",
        CLIENT + f"\n@pytest.fixture(scope='session')\ndef rag_client():\n    return Client(remembers={remembers})\n",
    )
    ended = project.run("--rag-judge=none")
    assert ended.verdicts["refund[turn2]"] == ("PASS" if remembers else "FAIL")
    assert ("turn 1    I bought it in the sale. -> 14 days" in ended.lines) == (not remembers)
    texts = ["I bought it in the sale.", "How long can I send it back?"]
    assert asked_by(project) == [
        ["", "refund[turn1]", [], None],
        ["", "refund[turn2]", texts[:1] if remembers else [], "s0"],
        ["", "refund[turn3]", texts if remembers else [], "s1"],
    ]


@pytest.mark.parametrize("scope", ["session", "function"])
def test_turns_of_a_parametrized_client_have_its_parameter_in_their_id(project: Project, scope: str) -> None:
    project.write("billing.rag.yaml", SALE)
    project.write(
        "conftest.py",
        CLIENT + f"\n@pytest.fixture(scope='{scope}', params=['Paris', 'Rome'])\n"
        "def rag_client(request):\n    return Client(request.param)\n",
    )
    ended = project.run("--rag-judge=none", "-v")
    asked = asked_by(project)
    for city in ("Paris", "Rome"):
        for turn in (1, 2, 3):
            assert any(line.startswith(f"billing.rag.yaml::refund[turn{turn}-{city}] PASSED") for line in ended.lines)
        turns = [int(name[-2]) for client, name, _, _ in asked if client == city]
        # One client has one conversation, and another client has none yet.
        assert turns == ([1, 2, 3] if scope == "session" else [1, 1, 2, 1, 2, 3])
    one = project.run("--rag-judge=none", "billing.rag.yaml::refund[turn2-Rome]")
    assert one.outcomes == {"passed": 1}
    assert [row[:2] for row in asked_by(project)] == [["Rome", "refund[turn1]"], ["Rome", "refund[turn2]"]]


@two_ways
def test_a_bug_of_the_client_is_the_error_of_one_turn(project: Project) -> None:
    project.write("billing.rag.yaml", SALE.replace("How long", "Does it crash, and how long"))
    project.write(
        "conftest.py", CLIENT + "\n@pytest.fixture(scope='session')\ndef rag_client():\n    return Client()\n"
    )
    ended = project.run("--rag-judge=none")
    assert ended.outcomes == {"passed": 1, "error": 1, "skipped": 1}
    assert "ZeroDivisionError" in ended.text


def test_repeats_are_conversations_of_their_own(project: Project) -> None:
    project.write("billing.rag.yaml", SALE)
    project.write(
        "conftest.py", CLIENT + "\n@pytest.fixture(scope='session')\ndef rag_client():\n    return Client()\n"
    )
    ended = project.run("--rag-judge=none", "-o", "rag_repeats=2")
    assert ended.outcomes == {"passed": 3}
    assert [(row[1], len(row[2]), row[3]) for row in asked_by(project)] == [
        ("refund[turn1]", 0, None),
        ("refund[turn1]", 0, None),
        ("refund[turn2]", 1, "s0"),
        ("refund[turn2]", 1, "s0"),
        ("refund[turn3]", 2, "s1"),
        ("refund[turn3]", 2, "s1"),
    ]


THREE_TALKS = """
import itertools
import pytest
from pytest_ragcheck import Judgement, RagAnswer

SCORES = [0.8, 0.9, 1.0, 1.0, 0.8, 0.9]

class Client:
    numbers = itertools.count()

    async def ask(self, question):
        number = next(self.numbers)
        # Each first turn retrieves what the second turn of the same repeat says.
        contexts = [f"It takes {number} days.", f"It takes {number + 3} days."] if number < 3 else ["Ask the shop."]
        return RagAnswer(text=f"It takes {number} days.", contexts=contexts)

@pytest.fixture(scope="session")
def rag_client():
    return Client()

@pytest.fixture(scope="session")
def rag_judge():
    def judge(question, answer):
        score = SCORES[int(answer.text.split()[2])]
        return Judgement(answer_correctness=score, groundedness=score)
    return judge
"""


def test_a_recorded_turn_keeps_the_earlier_turns_of_its_own_repeat(project: Project) -> None:
    project.write("talk.rag.yaml", "- id: refund\n  turns: [One?, Two?]\n")
    project.write("conftest.py", THREE_TALKS)
    project.run("-o", "rag_repeats=3", "--rag-output=recorded", "--rag-report=page.html")
    one, two = json.loads((project.folder / "recorded/rag_predictions.json").read_bytes())["predictions"]
    # The medians are 0.9, the scores of the second answer to the first turn, and of the third one to the second turn.
    assert [one["prediction"], two["prediction"]] == ["It takes 1 days.", "It takes 5 days."]
    contexts = ["It takes 2 days.", "It takes 5 days."]
    assert "earlier_turns" not in one
    assert two["earlier_turns"] == [{"question": "One?", "answer": "It takes 2 days.", "contexts": contexts}]
    assert "It takes 2 days." in (project.folder / "page.html").read_text(encoding="utf-8")
    project.write("conftest.py", "")
    again = project.run("--rag-replay=recorded")
    assert again.scores == {row["question_id"]: row["metrics"] for row in (one, two)}
    offline = project.run("--rag-replay=ragcheck-results", "--rag-judge=offline", "--rag-agent=offline")
    row = offline.document("offline_predictions.json")["predictions"][1]
    assert (row["metrics"]["groundedness"], row["earlier_turns"]) == (1.0, two["earlier_turns"])


def test_a_baseline_has_the_earlier_turns_of_the_answer_that_it_keeps(project: Project) -> None:
    project.write("talk.rag.yaml", "- id: refund\n  turns: [One?, Two?]\n")
    project.write("conftest.py", THREE_TALKS)
    project.run("-o", "rag_repeats=3")
    assert main(["baseline", "save"]) == 0
    for _ in range(2):
        again = project.run("-o", "rag_repeats=3")
        assert "\n2 of 2 answers are in the baseline and keep their verdicts" in again.text
        shutil.copy(project.folder / "ragcheck-results/rag_predictions.json", project.folder / "ragcheck-baseline.json")


@two_ways
def test_a_resumed_turn_shows_the_earlier_turns_that_led_to_it(project: Project) -> None:
    write_talks(project, turns=2)
    with FakeEndpoint(talks := Talks()) as endpoint:
        talks.down = ("c0 t2",)
        run(project, endpoint, "-orag_retries=0")
        talks.down, talks.wrong = (), ("c0 t1",)
        resumed = run(project, endpoint, "-orag_retries=0", "--rag-resume")
    one, two = resumed.predictions["predictions"]
    assert (one["prediction"], "earlier_turns" in one) == ("30 days", False)
    assert two["earlier_turns"] == [{"question": "c0 t1", "answer": "14 days", "contexts": ["It is 14 days."]}]
    again = project.run("--rag-replay=ragcheck-results", "--rag-agent=again")
    assert again.verdicts == resumed.verdicts == {"c0[turn1]": "PASS", "c0[turn2]": "PASS"}


def test_a_selected_turn_shows_the_earlier_turns_that_have_no_row(project: Project) -> None:
    write_talks(project, turns=2)
    with FakeEndpoint(Talks()) as endpoint:
        whole = run(project, endpoint)
        one = run(project, endpoint, "-k", "turn2")
    (row,) = one.document("rag.partial_predictions.json")["predictions"]
    assert row["earlier_turns"] == [{"question": "c0 t1", "answer": "30 days", "contexts": ["It is 30 days."]}]
    assert not any("earlier_turns" in row for row in whole.predictions["predictions"])


def test_a_shard_has_the_earlier_turns_of_a_repeated_turn(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = {"One?": ["It takes 1 days.", "It takes 2 days."], "Two?": ["Ask the shop."]}
    turns = [{"question": text, "gold_passages": passages} for text, passages in gold.items()]
    project.write("talk.rag.json", json.dumps({"tier": "retrieval", "questions": [{"id": "refund", "turns": turns}]}))
    project.write("conftest.py", THREE_TALKS)
    project.run("-o", "rag_repeats=3", "--rag-shard=1/1", "--rag-output=part")
    monkeypatch.chdir(project.folder)
    assert main(["merge", "part", "-o", "whole"]) == 1
    rows = json.loads((project.folder / "whole/rag_predictions.json").read_bytes())["predictions"]
    # The median of the recall of the first turn, 0.5, is that of its second answer.
    assert rows[0]["contexts"] == ["It takes 1 days.", "It takes 4 days."]
    contexts = ["It takes 0 days.", "It takes 3 days."]
    assert rows[1]["earlier_turns"] == [{"question": "One?", "answer": None, "contexts": contexts}]


def test_a_baseline_compares_turn_by_turn_and_asks_the_conversation_again(project: Project) -> None:
    write_talks(project, turns=3)
    with FakeEndpoint(talks := Talks()) as endpoint:
        assert run(project, endpoint).exit_status == 0
        assert main(["baseline", "save"]) == 0
        talks.asked.clear()
        talks.wrong = ("c0 t2",)
        ended = run(project, endpoint, "--rag-gate=regression")
    assert ended.exit_status == pytest.ExitCode.TESTS_FAILED
    assert ended.verdicts == {"c0[turn1]": "PASS", "c0[turn2]": "FAIL", "c0[turn3]": "PASS"}
    (row,) = [row for row in ended.predictions["predictions"] if row["question_id"] == "c0[turn2]"]
    again = talks.asked["c0"][2:-1]
    assert talks.asked["c0"][:2] == [1, 2]
    assert talks.asked["c0"][-1] == 3
    # Each time that the gate asks the second turn again, it asks the first turn before it.
    assert again == [1, 2] * (len(again) // 2)
    assert len(again) >= 2
    assert row["verdict"] == "FAIL"


SEARCHES_ONCE = """
import os, pytest
from pytest_ragcheck import RagClient

PASSAGE = "A lamp can be sent back within 14 days."

def answer(question, history):
    if history:
        return {"answer": os.environ["BEGINS"] + "within 14 days.", "contexts": []}
    return {"answer": "Hello.", "contexts": [PASSAGE] if os.environ["FOUND"] else []}

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""


@pytest.mark.parametrize("begins", ["Send it back ", "You can send it back "])
def test_a_turn_that_loses_the_contexts_of_an_earlier_turn_is_confirmed(
    project: Project, monkeypatch: pytest.MonkeyPatch, begins: str
) -> None:
    turns = [{"question": "I bought a lamp.", "thresholds": 0}, {"question": "When?", "expected_answer": "14 days"}]
    project.write("talks.rag.json", json.dumps([{"id": "lamp", "turns": turns}]))
    project.write("conftest.py", SEARCHES_ONCE)
    monkeypatch.setenv("BEGINS", "Send it back ")
    monkeypatch.setenv("FOUND", "yes")
    assert project.run("--rag-judge=offline").exit_status == 0
    assert main(["baseline", "save"]) == 0
    assert "2 of 2 answers are in the baseline and keep their verdicts" in project.run("--rag-judge=offline").lines
    monkeypatch.setenv("BEGINS", begins)
    monkeypatch.setenv("FOUND", "")
    ended = project.run("--rag-judge=offline")
    assert ended.exit_status == pytest.ExitCode.TESTS_FAILED
    assert "baseline ragcheck-baseline.json: 1 confirmed as failing, 1 as before" in ended.lines
    assert "none of 2 answers is in the baseline" in ended.lines


JUDGE = (
    CLIENT
    + """
from pytest_ragcheck import Judgement

class Judge:
    async def judge(self, question, answer):
        with open("judged.jsonl", "a") as log:
            print(json.dumps([question.id, [turn.question for turn in question.history], answer.text]), file=log)
        right = 0.0 if "60" in answer.text else 1.0
        return Judgement(answer_correctness=right, groundedness=right, error_message="wrong")

class Worse(Client):
    async def ask(self, question):
        given = await super().ask(question)
        return RagAnswer(text="60 days", contexts=given.contexts) if question.turn == 2 and WORSE else given

@pytest.fixture(scope="session")
def rag_client():
    return Worse()

@pytest.fixture(scope="session")
def rag_judge():
    return Judge()
"""
)


@pytest.mark.parametrize("gate", ["confirmed", "regression"])
def test_whatever_the_gate_has_judged_again_is_judged_with_the_turns_before_it(project: Project, gate: str) -> None:
    project.write("billing.rag.yaml", SALE.replace("must_mention: 14 days", "expected_answer: 14 days"))
    project.write("conftest.py", JUDGE + "\nWORSE = False\n")
    assert project.run("--rag-gate=each").exit_status == 0
    assert main(["baseline", "save"]) == 0
    asked_by(project)
    (project.folder / "judged.jsonl").unlink()
    project.write("conftest.py", JUDGE + "\nWORSE = True\n")
    ended = project.run(f"--rag-gate={gate}")
    assert ended.exit_status == pytest.ExitCode.TESTS_FAILED
    texts = ["I bought it in the sale.", "How long can I send it back?", "And abroad?"]
    rows = [json.loads(line) for line in (project.folder / "judged.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {name: said for name, said, _ in rows}.keys() >= {"refund[turn2]"}
    assert all(said == texts[: int(name[-2]) - 1] for name, said, _ in rows)
    assert {answer for name, _, answer in rows if name == "refund[turn2]"} == {"14 days", "60 days"}
    # An answer of the baseline is judged anew without asking anything.
    turns = [int(name[-2]) for _, name, _, _ in asked_by(project)]
    assert turns == [1, 2, *[1, 2] * ((len(turns) - 3) // 2), 3]


def test_a_shard_has_whole_conversations(project: Project) -> None:
    write_talks(project, number=6, turns=3)
    asked = []
    for number in (1, 2):
        with FakeEndpoint(talks := Talks()) as endpoint:
            assert run(project, endpoint, f"--rag-shard={number}/2").outcomes["passed"] == 9
            asked.append(dict(talks.asked))
    assert [len(each) for each in asked] == [3, 3]
    assert asked[0] | asked[1] == {f"c{n}": [1, 2, 3] for n in range(6)}


def test_a_dry_run_counts_the_turns_before_the_selected_one(project: Project) -> None:
    write_talks(project, number=3)
    whole = project.run("--rag-url=http://127.0.0.1:9/query", "--rag-judge=offline", "--rag-dry-run")
    one = project.run("--rag-url=http://127.0.0.1:9/query", "--rag-judge=offline", "--rag-dry-run", "-k", "turn3")
    assert "calls to the system  12" in whole.lines
    assert "questions            3" in one.lines
    assert "calls to the system  9" in one.lines


def test_the_cost_of_a_turn_includes_those_that_were_asked_for_it_alone(project: Project) -> None:
    write_talks(project)
    reply = {"answer": "30 days", "contexts": ["30 days"], "session_id": "s", "metrics": {"cost_usd": 0.5}}
    with FakeEndpoint(json_reply(reply)) as endpoint:
        whole = run(project, endpoint)
        one = run(project, endpoint, "-k", "turn3", "--rag-max=cost_usd=0.5")
    assert whole.summary["performance"]["system_cost_usd"] == 2.0
    assert one.document("rag.partial_summary.json")["performance"]["system_cost_usd"] == 1.5
    # The maximum is that of the turn alone, so it does not belong beside the whole cost.
    (row,) = one.document("rag.partial_predictions.json")["predictions"]
    assert (row["verdict"], row["cost"], "maximums" in row) == ("PASS", {"system_usd": 1.5}, False)


@pytest.mark.parametrize("on_demand", [False, True])
def test_a_resumed_turn_has_no_cost_of_turns_with_a_record(project: Project, on_demand: bool) -> None:
    write_talks(project, turns=3)
    if on_demand:
        # A fixture of this scope is known only when the item runs.
        project.write("conftest.py", CLIENT + "\n@pytest.fixture\ndef rag_judge(rag_judge):\n    return rag_judge\n")
    down = ["c0 t3"]
    answered = {"answer": "30 days", "contexts": ["30 days"], "session_id": "s", "metrics": {"cost_usd": 0.5}}

    def reply(connection: socket.socket, request: Request) -> bool:
        is_down = request.json["query"] in down
        return (DOWN if is_down else json_reply(answered))(connection, request)

    with FakeEndpoint(reply) as endpoint:
        assert run(project, endpoint, "-orag_retries=0").outcomes == {"passed": 2, "error": 1}
        down.clear()
        resumed = run(project, endpoint, "--rag-resume")
    assert len(endpoint.requests) == 3 + 3
    assert bool(resumed.summary["on_demand"]) == on_demand
    assert resumed.summary["performance"]["system_cost_usd"] == 1.5
    assert resumed.predictions["predictions"][2]["cost"] == {"system_usd": 0.5}


def test_turns_that_the_cost_limit_leaves_out_say_so(project: Project) -> None:
    write_talks(project)
    reply = {"answer": "30 days", "contexts": ["30 days"], "session_id": "s", "metrics": {"cost_usd": 0.5}}
    with FakeEndpoint(json_reply(reply)) as endpoint:
        ended = run(project, endpoint, "--rag-max-cost=0.6", "-rs")
    assert ended.outcomes == {"passed": 2, "skipped": 2}
    assert len(endpoint.requests) == 2
    assert not any("was an ERROR" in line for line in ended.lines)


async def evaluated(project: Project, talks: Talks) -> Any:
    with FakeEndpoint(talks) as endpoint:
        settings = Settings.of(url=endpoint.url, shape="server", retries=0)
        return await evaluate(project.folder / "talks.rag.json", None, "offline", settings=settings)


def test_a_run_without_pytest_asks_conversations_too(project: Project) -> None:
    import asyncio

    write_talks(project, number=2, turns=3)
    talks = Talks()
    talks.down = ("c1 t2",)
    done = asyncio.run(evaluated(project, talks))
    assert talks.asked == {"c0": [1, 2, 3], "c1": [1, 2]}
    assert talks.overlapped == talks.torn == []
    assert [record.question.id for record in done.records] == [
        "c0[turn1]", "c0[turn2]", "c0[turn3]", "c1[turn1]", "c1[turn2]",
    ]  # fmt: skip
    assert done.summary.totals.counts.skipped == 1


SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"

WATCHING = """
import json
import pytest
from pytest_ragcheck import Judgement

class Judge:
    async def judge(self, question, answer):
        earlier = [[turn.answer, *turn.contexts] for turn in question.history]
        with open("judged.jsonl", "a") as log:
            print(json.dumps([question.turn, earlier, answer.text]), file=log)
        return Judgement(answer_correctness=1.0, groundedness=1.0)

@pytest.fixture(scope="session")
def rag_judge():
    return Judge()
"""


def reveals(connection: socket.socket, request: Request) -> bool:
    reply = {"choices": [{"message": {"content": f"Your key is {SECRET}."}}], "contexts": [f"Key: {SECRET}"]}
    return json_reply(reply)(connection, request)


@two_ways
def test_only_the_system_gets_the_secrets_of_its_answers_back(project: Project) -> None:
    turn = {"question": "Which key?", "must_mention": "none"}
    project.write("talks.rag.json", json.dumps([{"id": "key", "turns": [turn, turn]}]))
    project.write("pytest.ini", "[pytest]\nrag_shape = openai-chat\nlog_file = all.log\nlog_file_level = DEBUG\n")
    project.write("conftest.py", WATCHING)
    with FakeEndpoint(reveals) as endpoint:
        ended = project.run(f"--rag-url={endpoint.url}", "--rag-report=html", "--showlocals")
    assert ended.outcomes == {"failed": 2}
    assert endpoint.requests[1].json["messages"][1]["content"] == f"Your key is {SECRET}."
    judged = [json.loads(line) for line in (project.folder / "judged.jsonl").read_text(encoding="utf-8").splitlines()]
    assert judged[1] == [2, [["Your key is [redacted]", "Key: [redacted]"]], "Your key is [redacted]."]
    assert SECRET not in ended.text
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_the_traceback_of_a_client_does_not_show_the_earlier_answers(project: Project) -> None:
    project.write("billing.rag.yaml", SALE)
    code = CLIENT.replace('"14 days" if', '"key " + "sk-proj-" + "a1" * 20 if').replace(
        "        said =", "        assert len(question.history) < 2, question\n        said ="
    )
    project.write("conftest.py", code + "\n@pytest.fixture(scope='session')\ndef rag_client():\n    return Client()\n")
    ended = project.run("--rag-judge=none", "--showlocals")
    assert ended.outcomes == {"passed": 1, "failed": 1, "error": 1}
    assert "AssertionError" in ended.text
    assert "a1" * 20 not in ended.text


@pytest.mark.parametrize("repeats", [1, 2])
def test_an_error_of_the_judge_alone_does_not_stop_the_conversation(project: Project, repeats: int) -> None:
    project.write("billing.rag.yaml", SALE)
    code = JUDGE.replace("right = 0.0 if", "assert_up(question)\n        right = 0.0 if")
    project.write(
        "conftest.py",
        code + "\nfrom pytest_ragcheck.errors import JudgeError\nWORSE = False\n"
        "def assert_up(question):\n    if question.turn == 2:\n        raise JudgeError('down')\n",
    )
    ended = project.run("-o", f"rag_repeats={repeats}")
    assert ended.outcomes == {"passed": 2, "error": 1}
    # Each repeat of a turn is asked, also after the ERROR of the first.
    assert [int(name[-2]) for _, name, _, _ in asked_by(project)] == [*[1] * repeats, *[2] * repeats, *[3] * repeats]


def test_the_tier_retrieval_sends_no_answers_back_and_shows_none(project: Project) -> None:
    gold = [{"doc_id": "terms.md"}]
    turns = [{"question": text, "gold_passages": gold} for text in ("In the sale?", "And abroad?")]
    project.write("talks.rag.json", json.dumps([{"id": "refund", "turns": turns}]))
    project.write(
        "pytest.ini",
        '[pytest]\nrag_request = {"q": "{query}", "past": ["{history}"], "text": "{history}."}\n'
        "rag_response = contexts=contexts source_ids=ids\n",
    )
    with FakeEndpoint(json_reply({"contexts": ["a"], "ids": ["faq.md"]})) as endpoint:
        ended = project.run(f"--rag-url={endpoint.url}", "--rag-tier=retrieval")
    assert ended.outcomes == {"failed": 2}
    assert endpoint.requests[1].json == {
        "q": "And abroad?",
        "past": [{"role": "user", "content": "In the sale?"}],
        "text": "User: In the sale?.",
    }
    assert "turn 1    In the sale?" in ended.lines
