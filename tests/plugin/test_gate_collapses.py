"""Collapses that turn the gate red and drifts that it names, over real runs with a noisy judge."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from tests.harness import exhaustive, two_ways

if TYPE_CHECKING:
    from collections.abc import Container

    from tests.harness import Project, Run

SERVER = """\
import json
import random
from pathlib import Path

import pytest

from pytest_ragcheck import JudgeIdentity, Judgement, RagAnswer

HERE = Path(__file__).parent
WORLD = json.loads((HERE / "world.json").read_text(encoding="utf-8"))
NOISE = random.Random(WORLD["seed"])


def log(name):
    with (HERE / f"{name}.txt").open("a", encoding="utf-8") as file:
        file.write("x")


class System:
    async def ask(self, question):
        log("asked")
        said = WORLD["answers"][question.id]
        return RagAnswer(
            text=said["text"],
            contexts=tuple(said["contexts"]),
            source_ids=tuple(said["ids"]),
            latency_seconds=WORLD["latency"],
        )


class NoisyJudge:
    identity = JudgeIdentity(kind="noisy", model=WORLD["model"], prompt_version="noisy-1")

    async def judge(self, question, answer):
        log("judged")
        refuses = answer.text.startswith("I cannot")
        level = 0.2 if "wrong" in answer.text else 0.85
        score = level + WORLD["shift"] + NOISE.gauss(0, WORLD["sd"])
        score = min(max(score, 0.0), 1.0)
        return Judgement(answer_correctness=0.0 if refuses else score, groundedness=score, abstained=refuses)


@pytest.fixture(scope="session")
def rag_client():
    return System()


@pytest.fixture(scope="session")
def rag_judge():
    return NoisyJudge()
"""


CITING = """\
import json
from pathlib import Path

import pytest

from pytest_ragcheck import RagClient

CITING = [f"When, {n}?" for n in json.loads(Path("citing.json").read_text())]


def answer(query):
    return {"answer": "It is 9 [1]." if query in CITING else "It is 9.", "contexts": ["The shop opens at 9."]}

@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(answer)
"""


@dataclass(frozen=True, kw_only=True)
class World:
    """A system and a judge: the answer to each question, and the judge's scores."""

    n: int
    gold: str = "none"
    """
    Gold passages of the questions: `none`, `own`, `id` (the same without their texts), `shared` (all in one document),
    or `tens` (10 a document).
    """

    answers: dict[int, str] = field(default_factory=dict)
    """Answers by number of the question, in place of the right one."""

    n_contexts: int = 1
    ids: str = "doc"
    gold_ids: str = "doc"
    kept: int = 0
    """The last so many documents have ids that begin with `doc`, whatever *ids* and *gold_ids*."""

    unanswerable: Container[int] = ()
    lost: tuple[int, ...] = ()
    """Numbers of questions whose contexts come from another document."""

    moved: int = 0
    """Each question gets the contexts of the one that comes so many later."""

    latency: float = 0.1
    shift: float = 0.0
    sd: float = 0.02
    seed: int = 1
    model: str = "model-1"
    expected: str = "Answer"
    wording: str = "What"
    thresholds: dict[str, float] = field(default_factory=dict)

    def document(self, number: int) -> str:
        return {"shared": "handbook", "tens": f"d{number // 10}"}.get(self.gold, f"d{number}")

    def write(self, project: Project) -> None:
        """Write the question file and the files of the system."""
        questions, answers = [], {}
        for number in range(self.n):
            name = f"q{number}"
            asked: dict[str, Any] = {"id": name, "question": f"{self.wording} is {name}?"}
            if self.thresholds:
                asked["thresholds"] = self.thresholds
            asked["expected_answer"] = f"{self.expected} {name}"
            if number in self.unanswerable:
                asked["answerable"] = False
                del asked["expected_answer"]
            of_context = (number + self.moved) % self.n
            document, found = self.document(number), self.document(of_context)
            first_kept = self.n - self.kept
            if self.gold != "none":
                text = {} if self.gold == "id" else {"text": f"Passage of {document}."}
                prefix = self.gold_ids if number < first_kept else "doc"
                asked["gold_passages"] = [{"doc_id": f"{prefix}-{document}", **text}]
            questions.append(asked)
            contexts = [f"Passage of {found}.", *(f"Further passage {i} of {name}." for i in range(1, self.n_contexts))]
            ids = [
                f"{self.ids if of_context < first_kept else 'doc'}-{found}",
                *(f"{self.ids}-{name}-{i}" for i in range(1, self.n_contexts)),
            ]
            if number in self.lost:
                contexts, ids = [f"Another passage about {name}."], [f"{self.ids}-other"]
            answers[name] = {"text": self.answers.get(number, f"Answer {name}."), "contexts": contexts, "ids": ids}
        project.write("all.rag.yaml", json.dumps({"questions": questions}))
        world = {
            "answers": answers,
            "latency": self.latency,
            "shift": self.shift,
            "sd": self.sd,
            "seed": self.seed,
            "model": self.model,
        }
        project.write("world.json", json.dumps(world))

    def wrong(self, numbers: Any) -> World:
        """The same world with wrong answers to some questions."""
        return replace(self, answers={number: f"A wrong answer to q{number}." for number in numbers}, seed=2)


def saved(project: Project, world: World) -> None:
    """Run once, and save the run as the baseline of the root folder."""
    project.write("conftest.py", SERVER)
    world.write(project)
    first = project.run_before("--rag-gate=each")
    assert first.exit_status == 0, first.text
    assert main(["baseline", "save"]) == 0


def count(project: Project, name: str) -> int:
    path = project.folder / f"{name}.txt"
    return len(path.read_text(encoding="utf-8")) if path.exists() else 0


def today(project: Project, world: World, *arguments: str) -> Run:
    world.write(project)
    return project.run(*arguments)


both_gates = pytest.mark.parametrize(
    ("gate", "way"),
    [("confirmed", "plain"), ("regression", "plain"), pytest.param("regression", "n2", marks=exhaustive)],
    indirect=["way"],
)
"""For a test whose behaviour could differ between the gates, or between one process and workers."""

COLLAPSES = {
    "40 of 40 wrong, all in one document": (World(n=40, gold="shared"), range(40)),
    "70 of 200 wrong over 20 documents": (World(n=200, gold="tens"), range(70)),
    "8 of 8 wrong": (World(n=8), range(8)),
    "10 of 10 wrong with gold passages": (World(n=10, gold="own"), range(10)),
}


@pytest.mark.parametrize(
    ("case", "gate", "way"),
    [
        ("40 of 40 wrong, all in one document", "confirmed", "plain"),
        ("8 of 8 wrong", "regression", "plain"),
        ("10 of 10 wrong with gold passages", "confirmed", "plain"),
        pytest.param("40 of 40 wrong, all in one document", "regression", "n2", marks=exhaustive),
        pytest.param("70 of 200 wrong over 20 documents", "confirmed", "plain", marks=exhaustive),
        pytest.param("70 of 200 wrong over 20 documents", "regression", "plain", marks=exhaustive),
        pytest.param("8 of 8 wrong", "confirmed", "n2", marks=exhaustive),
        pytest.param("10 of 10 wrong with gold passages", "regression", "n2", marks=exhaustive),
    ],
    indirect=["way"],
)
def test_a_collapse_is_red(project: Project, case: str, gate: str) -> None:
    before, broken = COLLAPSES[case]
    saved(project, before)
    run = today(project, before.wrong(broken), f"--rag-gate={gate}")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED, run.text
    assert run.junit["gate"][1].startswith(f"{len(broken)} confirmed as failing")


@pytest.mark.parametrize("way", ["n2"], indirect=True)
def test_workers_examine_what_fails_and_the_controller_decides(project: Project) -> None:
    before = World(n=12)
    saved(project, before)
    asked = count(project, "asked")
    run = today(project, replace(before.wrong([1, 5]), shift=-0.2), "--rag-gate=confirmed")
    assert run.junit["gate"] == ("failure", "2 confirmed as failing against ragcheck-baseline.json")
    assert count(project, "asked") - asked == 12 + 2 * 4
    assert "10 of 12 answers are in the baseline and keep their verdicts; 10 of them were judged again" in run.lines


def test_a_question_that_turns_the_gate_red_is_shown_with_both_answers(project: Project) -> None:
    before = replace(World(n=12), answers={1: f"Answer q1, {'a' * 200}"})
    saved(project, before)
    run = today(project, before.wrong([1]), "--rag-gate=confirmed")
    assert run.section("ragcheck::gate")[5:8] == [
        "    question  What is q1?",
        # The text has 11 characters before the 200, and 160 are shown.
        f"    recorded  Answer q1, {'a' * 149} ... (+51 characters)",
        "    answer    A wrong answer to q1.",
    ]


def test_long_answers_are_shown_where_they_differ(project: Project) -> None:
    same = f"Answer q1, {'a' * 200}. This is the end of it, and it is"
    before = replace(World(n=12), answers={1: f"{same} right."})
    saved(project, before)
    run = today(project, replace(before, answers={1: f"{same} wrong."}), "--rag-gate=confirmed")
    assert run.section("ragcheck::gate")[6:8] == [
        "    recorded  ... This is the end of it, and it is right.",
        "    answer    ... This is the end of it, and it is wrong.",
    ]


@two_ways
@pytest.mark.parametrize("gold", ["none", pytest.param("own", marks=exhaustive)])
def test_refusals_are_red_with_and_without_gold_passages(project: Project, gold: str) -> None:
    before = World(n=25, gold=gold)
    saved(project, before)
    refuses = replace(before, answers=dict.fromkeys(range(10), "I cannot answer that."), seed=2)
    run = today(project, refuses, "--rag-gate=regression")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert "answers that abstain: 10 of 25, 0 in the baseline" in run.lines


@two_ways
@pytest.mark.parametrize("broken", [8, pytest.param(10, marks=exhaustive)])
def test_a_more_lenient_judge_hides_nothing(project: Project, broken: int) -> None:
    before = World(n=40)
    saved(project, before)
    run = today(project, replace(before.wrong(range(broken)), shift=0.03), "--rag-gate=regression")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert any(line.startswith("judge drift on the same answers: answer_correctness +0.0") for line in run.lines)


def test_an_accepted_answer_is_the_recorded_one(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    before = World(n=12)
    saved(project, before)
    after = before.wrong([3])
    assert today(project, after).exit_status == pytest.ExitCode.TESTS_FAILED
    capsys.readouterr()
    assert main(["baseline", "accept"]) == 0
    (_, line) = capsys.readouterr().out.splitlines()
    assert line.partition("::")[2] == "q3: PASS -> FAIL, which the gate tolerates from now on"
    run = today(project, after)
    assert run.exit_status == 0, run.text
    assert "baseline ragcheck-baseline.json: 1 still failing, 11 as before" in run.lines


def test_a_known_failure_is_asked_again_under_regression_and_its_looks_are_saved(project: Project) -> None:
    before = World(n=12, answers={4: "A wrong answer to q4."})
    project.write("conftest.py", SERVER)
    before.write(project)
    project.run_before("--rag-gate=each")
    assert main(["baseline", "save"]) == 0
    asked = count(project, "asked")
    assert today(project, before, "--rag-gate=regression").exit_status == 0
    assert count(project, "asked") - asked == 12 + 2
    assert main(["baseline", "save"]) == 0
    baseline = json.loads((project.folder / "ragcheck-baseline.json").read_text(encoding="utf-8"))
    looks = {row["question_id"]: [len(run) for run in row["runs"]] for row in baseline["predictions"]}
    assert (looks["q4"], looks["q5"]) == ([1, 3], [1, 1])


def test_a_baseline_in_the_root_folder_is_compared_with_by_default(project: Project) -> None:
    before = World(n=12)
    saved(project, before)
    run = today(project, before.wrong([3]))
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert run.junit["gate"] == ("failure", "1 confirmed as failing against ragcheck-baseline.json")


@two_ways
def test_unchanged_answers_keep_their_verdicts_under_a_noisy_judge(project: Project) -> None:
    before = World(n=30, sd=0.02)
    saved(project, before)
    judged = count(project, "judged")
    run = today(project, replace(before, sd=0.3, seed=7), "--rag-gate=regression")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 30})
    assert count(project, "judged") - judged == 20
    assert "30 of 30 answers are in the baseline and keep their verdicts; 20 of them were judged again" in run.lines


def test_a_verdict_stands_if_only_the_gold_passages_are_edited(project: Project) -> None:
    before = World(n=30, gold="own")
    saved(project, before)
    questions = project.folder / "all.rag.yaml"
    questions.write_text(questions.read_text(encoding="utf-8").replace('"doc-d', '"page-d'), encoding="utf-8")
    judged = count(project, "judged")
    run = project.run("--rag-gate=regression")
    assert run.exit_status == 0, run.text
    # The drift sample alone is judged.
    assert count(project, "judged") - judged == 20
    assert "30 of 30 answers are in the baseline and keep their verdicts; 20 of them were judged again" in run.lines


def test_the_verdicts_of_a_strict_judge_are_replaced_as_the_run_advises(project: Project) -> None:
    strict = World(n=12, shift=-0.4)
    project.write("conftest.py", SERVER)
    assert today(project, strict).outcomes == {"failed": 12}
    assert main(["baseline", "save"]) == 0
    run = today(project, replace(strict, shift=0.0, seed=2))
    assert run.outcomes == {"xfailed": 12}
    assert (
        "if today's judge is right, replace the recorded verdicts: pytest -p no:ragcheck-gate -o rag_disable=cache, "
        "then ragcheck baseline accept"
    ) in run.lines
    assert "no compared question passed in its latest saved run, so the gate cannot turn red." in run.lines
    assert project.run("-p", "no:ragcheck-gate", "-orag_disable=cache").outcomes == {"passed": 12}
    assert main(["baseline", "accept"]) == 0
    assert today(project, replace(strict, shift=0.0, seed=3)).outcomes == {"passed": 12}
    assert today(project, replace(strict.wrong([0]), shift=0.0, seed=4)).exit_status == 1


@two_ways
def test_a_stricter_judge_is_named_and_no_regression(project: Project) -> None:
    before = World(n=40)
    saved(project, before)
    run = today(project, replace(before, shift=-0.2, seed=3), "--rag-gate=regression")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 40})
    (line,) = [line for line in run.lines if line.startswith("judge drift")]
    found = re.fullmatch(
        r"judge drift on the same answers: answer_correctness (\S+), groundedness \S+ "
        r"\(more than noise: another model may answer under its name\)",
        line,
    )
    assert found is not None
    assert float(found[1]) == pytest.approx(-0.2, abs=0.03)


def test_a_drift_of_few_answers_may_be_noise_however_large(project: Project) -> None:
    before = World(n=5)
    saved(project, before)
    run = today(project, replace(before, shift=-0.2, seed=3), "--rag-gate=confirmed")
    (line,) = [line for line in run.lines if line.startswith("judge drift")]
    assert line.endswith("(may be noise)")


@two_ways
def test_a_stricter_judge_on_changed_answers_is_drift_too(project: Project) -> None:
    before = World(n=20)
    saved(project, before)
    other = {number: f"Answer q{number}, in other words." for number in range(20)}
    run = today(project, replace(before, answers=other, shift=-0.3, seed=3), "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    (line,) = [line for line in run.lines if line.startswith("judge drift")]
    found = re.fullmatch(
        r"judge drift: the recorded answers of (\d+) questions fail today, scored (\S+) lower than before", line
    )
    assert found is not None
    # Of 100 answers of equal quality, one may be called worse by chance.
    assert int(found[1]) >= 18
    assert float(found[2]) == pytest.approx(0.3, abs=0.03)


@both_gates
def test_edited_labels_hide_no_regression_of_their_question(project: Project, gate: str) -> None:
    before = World(n=12)
    saved(project, before)
    n_judged = count(project, "judged")
    broken = today(project, replace(before.wrong(range(6)), expected="The answer"), f"--rag-gate={gate}")
    assert broken.junit["gate"][1] == "6 confirmed as failing against ragcheck-baseline.json"
    # Of all answers under the new labels, and of recorded ones once and of both sides 5 times. Under `regression` the 6
    # new and recorded ones once for the means, where they have two metrics, and the first look of today counts.
    assert count(project, "judged") - n_judged == 12 + 6 * (1 + 2 * 5) + (6 if gate == "regression" else 0)
    run = today(project, replace(before, expected="The answer"), f"--rag-gate={gate}")
    assert run.exit_status == 0, run.text


@both_gates
def test_other_labels_of_every_question_hide_no_collapse(project: Project, gate: str) -> None:
    before = World(n=20, thresholds={"groundedness": 0.0})
    saved(project, before)
    # Without texts no recorded answer can be judged again.
    (project.folder / "ragcheck-baseline.contexts.json").unlink()
    few = today(project, replace(before.wrong(range(8)), expected="The answer"), f"--rag-gate={gate}")
    assert few.exit_status == 0, few.text
    many = today(project, replace(before.wrong(range(9)), expected="The answer"), f"--rag-gate={gate}")
    assert many.junit["gate"][1] == "9 edited and failing against ragcheck-baseline.json"
    assert "cannot turn red" not in many.text
    assert "edited questions that passed before and fail now: q0, q1, q2, q3, q4, q5, q6, q7, q8" in many.text
    # Groundedness does not depend on the labels.
    grounded = replace(before.wrong([3]), expected="The answer", thresholds={"groundedness": 0.7})
    run = today(project, grounded, "--rag-gate=confirmed")
    assert run.junit["gate"][1] == "1 confirmed as failing against ragcheck-baseline.json"


@both_gates
def test_other_words_in_every_question_hide_no_collapse(project: Project, gate: str) -> None:
    before = World(n=12, answers={0: "A wrong answer to q0."})
    project.write("conftest.py", SERVER)
    before.write(project)
    assert project.run_before("--rag-gate=each").outcomes == {"passed": 11, "failed": 1}
    assert main(["baseline", "save"]) == 0
    run = today(project, replace(before, wording="Which", seed=2), f"--rag-gate={gate}")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 11, "xfailed": 1})
    run = today(project, replace(before.wrong(range(3)), wording="Which"), f"--rag-gate={gate}")
    assert run.outcomes == {"passed": 9, "xfailed": 1, "failed": 2}
    assert "edited, and not compared:" in run.lines


@two_ways
def test_a_threshold_above_the_recorded_scores_is_no_regression(project: Project) -> None:
    before = World(n=12)
    saved(project, before)
    run = today(project, replace(before, thresholds={"groundedness": 0.95}), "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    assert "still failing:" in run.lines


@both_gates
def test_lowered_thresholds_are_named(project: Project, gate: str) -> None:
    saved(project, World(n=12))
    run = today(project, replace(World(n=12).wrong([4]), thresholds={"groundedness": 0.1}), f"--rag-gate={gate}")
    assert "12 questions had other thresholds in the baseline: verdicts may differ for that alone" in run.lines


@both_gates
def test_a_raised_threshold_hides_no_collapse_below_the_former_one(project: Project, gate: str) -> None:
    before = World(n=12)
    saved(project, before)
    raised = replace(before.wrong(range(6)), thresholds={"groundedness": 0.95})
    run = today(project, raised, f"--rag-gate={gate}")
    assert run.junit["gate"][1].startswith("6 confirmed as failing")
    assert run.outcomes == {"xfailed": 12, "failed": 1}


@two_ways
def test_wordier_answers_are_no_regression(project: Project) -> None:
    before = World(n=40)
    saved(project, before)
    wordy = {number: f"Answer q{number}, and many more words about it than before." for number in range(40)}
    run = today(project, replace(before, answers=wordy, seed=5), "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    (named,) = [line for line in run.lines if line.startswith("not asserted, so the gate ignores them: ")]
    assert re.search(r"f1 (0|1)\.\d\d -> 0\.\d\d", named)


@two_ways
def test_renamed_document_ids_are_named(project: Project) -> None:
    before = World(n=20, gold="own", thresholds={"recall_at_5": 1.0})
    saved(project, before)
    run = today(project, replace(before, ids="page", seed=4), "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    assert any("document ids have changed" in line for line in run.lines)


@two_ways
def test_gold_documents_are_found_under_renamed_ids_by_their_texts(project: Project) -> None:
    before = World(n=12, gold="id", thresholds={"recall_at_5": 1.0})
    saved(project, before)
    renamed = replace(before, ids="page", seed=4)
    run = today(project, renamed, "--rag-gate=confirmed")
    assert (run.exit_status, run.outcomes) == (0, {"xfailed": 12})
    wrong = today(project, replace(renamed, answers={3: "A wrong answer to q3."}), "--rag-gate=confirmed")
    assert wrong.junit["gate"][1].startswith("1 confirmed as failing")


@two_ways
@pytest.mark.parametrize("gold", ["own", "id"])
def test_renamed_document_ids_hide_no_retrieval_of_the_wrong_documents(project: Project, gold: str) -> None:
    before = World(n=12, gold=gold, thresholds={"recall_at_5": 1.0})
    saved(project, before)
    run = today(project, replace(before, ids="page", moved=1, seed=4), "--rag-gate=regression")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert run.junit["gate"][1].startswith("12 confirmed as failing")


@both_gates
def test_gold_ids_that_are_renamed_with_the_documents_hide_no_collapse_of_retrieval(
    project: Project, gate: str
) -> None:
    before = World(n=12, gold="id", thresholds={"recall_at_5": 1.0})
    saved(project, before)
    renamed = replace(before, ids="page", gold_ids="page", seed=4)
    run = today(project, renamed, f"--rag-gate={gate}")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 12})
    assert any(line.endswith("recorded retrieval scores stand") for line in run.lines)
    for collapsed in replace(renamed, moved=1), replace(renamed, lost=tuple(range(12))):
        run = today(project, collapsed, f"--rag-gate={gate}")
        assert run.exit_status == pytest.ExitCode.TESTS_FAILED
        assert run.junit["gate"][1].startswith("12 confirmed as failing")


@both_gates
def test_gold_ids_that_are_partly_renamed_hide_no_collapse_of_retrieval(project: Project, gate: str) -> None:
    before = World(n=12, gold="id", thresholds={"recall_at_5": 1.0})
    saved(project, before)
    renamed = replace(before, ids="page", gold_ids="page", kept=6, seed=4)
    run = today(project, renamed, f"--rag-gate={gate}")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 12})
    run = today(project, replace(renamed, lost=tuple(range(6))), f"--rag-gate={gate}")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert run.junit["gate"][1].startswith("6 confirmed as failing")


@two_ways
def test_new_gold_ids_that_no_reply_has_are_named(project: Project) -> None:
    before = World(n=12, gold="id", thresholds={"recall_at_5": 1.0})
    saved(project, before)
    run = today(project, replace(before, gold_ids="page", kept=6, seed=4), "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    assert (
        "edited gold ids that neither the baseline nor a reply has: page-d0, page-d1, page-d2, page-d3, page-d4, "
        "1 more; the recorded answers fail under them, so the gate cannot see whether their retrieval collapsed"
    ) in run.lines


@two_ways
def test_fewer_contexts_are_named(project: Project) -> None:
    before = World(n=20, n_contexts=5)
    saved(project, before)
    run = today(project, replace(before, n_contexts=3, seed=4), "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    assert "fewer contexts: 3.0 a question of 5 asked for, 5.0 in the baseline" in run.lines


@two_ways
def test_gold_documents_that_no_reply_has_any_more_are_named(project: Project) -> None:
    before = World(n=20, gold="own")
    saved(project, before)
    gone = replace(before, lost=(3, 7))
    run = today(project, gone, "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    assert "gold documents that the baseline's contexts had and no reply has: doc-d3, doc-d7" in run.lines


@two_ways
def test_a_slower_system_is_named_and_no_regression(project: Project) -> None:
    before = World(n=20)
    saved(project, before)
    run = today(project, replace(before, latency=0.4, seed=4), "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    assert "latency: median 0.40 s, p95 0.40 s (in the baseline 0.10 s and 0.10 s)" in run.lines


@two_ways
def test_fewer_refusals_are_named(project: Project) -> None:
    refused = World(n=20, answers=dict.fromkeys(range(3), "I cannot answer that."))
    project.write("conftest.py", SERVER)
    refused.write(project)
    assert project.run_before("--rag-gate=each").exit_status == pytest.ExitCode.TESTS_FAILED
    assert main(["baseline", "save"]) == 0
    run = today(project, replace(refused, answers={}, seed=4), "--rag-gate=regression")
    assert run.exit_status == 0, run.text
    assert "answers that abstain: 0 of 20, 3 in the baseline" in run.lines


@both_gates
def test_questions_that_lose_an_asserted_score_are_named_and_red_if_none_has_one(project: Project, gate: str) -> None:
    plain = World(n=12, thresholds={"citation_validity": 1})
    cited = replace(plain, answers={number: f"Answer q{number} [1]." for number in range(12)})
    saved(project, cited)
    less = replace(cited, answers={number: cited.answers[number] for number in range(5)})
    report = f"--rag-report={project.folder / 'report.md'}"
    run = today(project, less, f"--rag-gate={gate}", report)
    assert run.exit_status == 0, run.text
    lost = "7 of 12 questions (q5, q6, q7, q8, q9, 2 more)"
    named = f"citation_validity had a score in the baseline and has none now: {lost}"
    assert named in run.lines
    assert named in (project.folder / "report.md").read_text(encoding="utf-8")
    assert main(["report", "ragcheck-results", "--baseline=ragcheck-baseline.json", "-o", "later.md"]) == 0
    assert named in (project.folder / "later.md").read_text(encoding="utf-8")
    run = today(project, plain, f"--rag-gate={gate}")
    assert run.exit_status == pytest.ExitCode.TESTS_FAILED
    assert "metrics: citation_validity then, no score on any answer now" in run.junit["gate"][1]


@both_gates
def test_a_collapse_of_the_number_of_scores_is_red(project: Project, gate: str) -> None:
    # Without noise, which would now and then make the means red as well.
    plain = World(n=50, thresholds={"citation_validity": 1}, sd=0.0)
    cited = replace(plain, answers={number: f"Answer q{number} [1]." for number in range(49)})
    saved(project, cited)
    # Three lost and one gained score are noise.
    some = {number: f"Answer q{number} [1]." for number in range(3, 50)}
    noisy = today(project, replace(plain, answers=some, seed=2), f"--rag-gate={gate}")
    assert noisy.exit_status == 0, noisy.text
    named = "citation_validity had a score in the baseline and has none now: "
    assert f"{named}3 of 50 questions (q0, q1, q2); 1 gained one" in noisy.lines
    collapsed = replace(plain, answers={number: cited.answers[number] for number in range(5)}, seed=2)
    run = today(project, collapsed, f"--rag-gate={gate}")
    assert run.outcomes == {"passed": 50, "failed": 1}
    text = "44 without a score of citation_validity against ragcheck-baseline.json"
    assert run.junit["gate"] == ("failure", text)
    assert run.summary["gate"]["reason"] == text
    section = run.section("ragcheck::gate")
    assert f"{named}44 of 49 questions (q5, q6, q7, q8, q9, 39 more)" in section
    assert section[-1] == "If the new answers are right, accept them: ragcheck baseline accept"
    assert main(["baseline", "accept"]) == 0
    assert today(project, collapsed, f"--rag-gate={gate}").exit_status == 0


@two_ways
def test_refusals_of_unanswerable_questions_lose_no_score(project: Project) -> None:
    before = World(n=24, thresholds={"citation_validity": 1}, unanswerable=range(12))
    project.write("conftest.py", SERVER)
    replace(before, answers={number: f"Answer q{number} [1]." for number in range(24)}).write(project)
    assert project.run_before("--rag-gate=each").outcomes == {"failed": 12, "passed": 12}
    assert main(["baseline", "save"]) == 0
    refuses = {number: f"Answer q{number} [1]." for number in range(12, 24)}
    refuses |= dict.fromkeys(range(12), "I cannot answer that.")
    run = today(project, replace(before, answers=refuses))
    assert (run.exit_status, run.outcomes) == (0, {"passed": 24}), run.text
    assert "has none now" not in run.text
    assert main(["report", "ragcheck-results", "--baseline=ragcheck-baseline.json", "-o", "later.md"]) == 0
    assert "has none now" not in (project.folder / "later.md").read_text(encoding="utf-8")


@two_ways
def test_a_metric_that_few_answers_happened_to_have_may_be_gone(project: Project) -> None:
    before = World(n=12, answers={3: "Answer q3 [1]."})
    saved(project, before)
    run = today(project, replace(before, answers={}, seed=2))
    assert (run.exit_status, run.outcomes) == (0, {"passed": 12}), run.text


def test_an_answer_with_the_first_score_of_a_question_is_not_called_edited(project: Project) -> None:
    project.write("all.rag.json", json.dumps([{"id": f"q{n}", "question": f"When, {n}?"} for n in range(12)]))
    project.write("conftest.py", CITING)
    options = ("--rag-judge=none", "--rag-min=citation_validity=1")
    project.write("citing.json", "[0, 1, 2, 3, 4, 5]")
    assert project.run(*options).exit_status == 0
    assert main(["baseline", "save"]) == 0
    project.write("citing.json", "[1, 2, 3, 4, 5, 6]")
    run = project.run(*options)
    assert run.exit_status == 0
    assert "baseline ragcheck-baseline.json: 12 as before" in run.lines
    assert any(line.endswith("has none now: 1 of 7 questions (q0); 1 gained one") for line in run.lines)
    project.write("citing.json", "[]")
    assert main(["baseline", "accept"]) == 0
    assert project.run("--rag-judge=none", "-orag_baseline_allow=other-settings").exit_status == 0
    assert main(["baseline", "accept"]) == 0
    project.write("citing.json", "[1]")
    assert any(
        line.startswith("no question can be compared, so the gate cannot") for line in project.run(*options).lines
    )


@two_ways
def test_an_unchanged_world_has_no_line_of_drift(project: Project) -> None:
    before = World(n=20, gold="own", n_contexts=3)
    saved(project, before)
    run = today(project, replace(before, seed=4), "--rag-gate=regression")
    words = (
        "document ids",
        "gold documents",
        "fewer contexts",
        "latency:",
        "abstain:",
        "more than noise",
        "not asserted,",
        "has none now",
    )
    assert [line for line in run.lines if any(word in line for word in words)] == []
