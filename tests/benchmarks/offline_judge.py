"""
How often the offline judge is right, against people's labels: `python -m tests.benchmarks.offline_judge FOLDER`.

FOLDER holds files of JSON lines with `question`, `contexts`, `expected_answers`, `answer` and a label:
`label_grounded`, `label_correct` (1, 0 or null), or `label_abstained`. A folder `slices/squad_v2` beside it, with SQuAD
in its official shape, adds what the judge says of SQuAD's own answers.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.judging.offline import OfflineJudge
from pytest_ragcheck.judging.refusals import is_refusal
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.judging.judgement import Judgement

LINE = 0.7

FLOORS: dict[str, tuple[float, float]] = {
    "ragtruth_qa": (0.74, 0.67),
    "mtrag_human": (0.97, 0.92),
    "wice_claims": (0.78, 0.70),
    "evouna_nq": (0.94, 0.89),
    "evouna_tq": (0.97, 0.94),
    "nq301": (0.82, 0.77),
}
"""Of each label file the area under the ROC curve and the balanced accuracy at `LINE` that must be kept."""

LEAST_REFUSALS_FOUND, MOST_FALSE_ALARMS = 0.92, 0.03
LEAST_OWN_ANSWERS_PASS, MOST_FOREIGN_ANSWERS_PASS = 0.95, 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far one score agrees with one label file."""

    name: str
    score: str
    n: int
    area_under_curve: float
    """Chance that a row labelled 1 scores above one labelled 0; ties count half."""
    balanced_accuracy: float
    """Mean of the shares of right verdicts on rows labelled 1 and on rows labelled 0, at `LINE`."""
    good_pass: float
    bad_pass: float
    cost_ratio: float
    """Time of judging over the time of splitting the same texts into words once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    n: int
    found: float
    """Share of the refusals that are recognised."""
    false_alarms: float
    """Share of the other answers that are taken for refusals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Squad:
    n: int
    own_pass: float
    """Share of the answerable questions whose own answer passes in both scores."""
    foreign_pass: float
    """Share of the answerable questions that pass with the answer of the next question."""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def agreement(path: Path) -> Agreement:
    """How far the judge's score agrees with the labels of the file."""
    score = "answer_correctness" if path.stem.startswith(("evouna", "nq")) else "groundedness"
    label = "label_correct" if score == "answer_correctness" else "label_grounded"
    rows = [row for row in read_rows(path) if row[label] is not None]
    questions = [_question(row["question"], row["expected_answers"]) for row in rows]
    answers = [RagAnswer(text=row["answer"], contexts=tuple(row["contexts"])) for row in rows]
    started = time.perf_counter()
    judgements = _judged(questions, answers)
    judging_seconds = time.perf_counter() - started
    scores: dict[int, list[float]] = {1: [], 0: []}
    for row, judgement in zip(rows, judgements, strict=True):
        value = getattr(judgement, score)
        scores[row[label]].append(0.0 if value is None else value)
    good_pass, bad_pass = (sum(value >= LINE for value in scores[kind]) / len(scores[kind]) for kind in (1, 0))
    return Agreement(
        name=path.stem,
        score=score,
        n=len(rows),
        area_under_curve=area_under_curve(scores[1], scores[0]),
        balanced_accuracy=(good_pass + 1 - bad_pass) / 2,
        good_pass=good_pass,
        bad_pass=bad_pass,
        cost_ratio=judging_seconds / _splitting_seconds(questions, answers),
    )


def area_under_curve(good: list[float], bad: list[float]) -> float:
    """The chance that one of *good* is above one of *bad*, ties counting half."""
    ranked = sorted([(value, 1) for value in good] + [(value, 0) for value in bad])
    bad_below, wins = 0, 0.0
    for _, ties in groupby(ranked, key=lambda pair: pair[0]):
        labels = [label for _, label in ties]
        tied_good = sum(labels)
        tied_bad = len(labels) - tied_good
        wins += tied_good * (bad_below + tied_bad / 2)
        bad_below += tied_bad
    return wins / (len(good) * len(bad))


def refusals(path: Path) -> Refusals:
    """How well refusals are recognised."""
    rows = read_rows(path)
    found = {kind: [is_refusal(row["answer"]) for row in rows if row["label_abstained"] == kind] for kind in (1, 0)}
    return Refusals(n=len(rows), found=sum(found[1]) / len(found[1]), false_alarms=sum(found[0]) / len(found[0]))


def squad(folder: Path) -> Squad:
    """What the judge says of SQuAD's own answers, over all files of the folder, in either of SQuAD's shapes."""
    rows = [*_official_rows(folder), *_column_rows(folder)]
    questions = [_question(text, acceptable) for text, acceptable, _ in rows]
    contexts = [context for _, _, context in rows]
    texts = [question.acceptable_answers[0] for question in questions]
    own, foreign = (
        _judged(questions, [RagAnswer(text=text, contexts=(at,)) for text, at in zip(given, contexts, strict=True)])
        for given in (texts, [*texts[1:], texts[0]])
    )
    return Squad(n=len(questions), own_pass=_pass_share(own), foreign_pass=_pass_share(foreign))


def _official_rows(folder: Path) -> Iterator[tuple[str, list[str], str]]:
    for path in sorted(folder.glob("*.json")):
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                for row in paragraph["qas"]:
                    if not row["is_impossible"]:
                        yield row["question"], [answer["text"] for answer in row["answers"]], paragraph["context"]


def _column_rows(folder: Path) -> Iterator[tuple[str, list[str], str]]:
    for path in sorted(folder.glob("*.jsonl")):
        for row in read_rows(path):
            if row["answers"]["text"]:
                yield row["question"], row["answers"]["text"], row["context"]


def _question(text: str, acceptable: list[str]) -> Question:
    return Question(dataset_name="labels", id="row", question=text, all_acceptable_answers=tuple(acceptable))


def _judged(questions: list[Question], answers: list[RagAnswer]) -> list[Judgement]:
    async def judge_all() -> list[Judgement]:
        judge = OfflineJudge()
        return [await judge.judge(question, answer) for question, answer in zip(questions, answers, strict=True)]

    return asyncio.run(judge_all())


def _splitting_seconds(questions: list[Question], answers: list[RagAnswer]) -> float:
    started = time.perf_counter()
    for question, answer in zip(questions, answers, strict=True):
        for text in (question.question, *question.acceptable_answers, answer.text, *answer.contexts):
            re.findall(r"\w+", text)
    return time.perf_counter() - started


def _pass_share(judgements: list[Judgement]) -> float:
    passed = sum(min(each.answer_correctness or 0.0, each.groundedness or 0.0) >= LINE for each in judgements)
    return passed / len(judgements)


def report(folder: Path) -> Iterator[str]:
    """A line of figures for every file of *folder* that has labels."""
    yield f"{'labels':<16} {'score':<19} {'n':>5} {'AUC':>6} {'bal.acc':>8} {'good pass':>10} {'bad pass':>9}    cost"
    for name in (*FLOORS, "expertqa_claims"):
        if (path := folder / f"{name}.jsonl").exists():
            row = agreement(path)
            yield (
                f"{row.name:<16} {row.score:<19} {row.n:>5} {row.area_under_curve:>6.3f} {row.balanced_accuracy:>8.3f} "
                f"{row.good_pass:>10.2f} {row.bad_pass:>9.2f} {row.cost_ratio:>6.1f}x"
            )
    if (path := folder / "abstention.jsonl").exists():
        told = refusals(path)
        yield f"refusals: n={told.n}, {told.found:.1%} found, {told.false_alarms:.1%} false alarms"
    if (slices := folder.parent / "slices" / "squad_v2").exists():
        said = squad(slices)
        yield f"SQuAD: n={said.n}, own answers pass {said.own_pass:.1%}, the next question's {said.foreign_pass:.1%}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.benchmarks.offline_judge FOLDER")
    for line in report(Path(sys.argv[1])):
        sys.stdout.write(f"{line}\n")
