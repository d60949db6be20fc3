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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.cli.judge_measurement import read_labelled_answers
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.judging.offline.refusals import is_refusal
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.summary.judge_calibration import calibrate
from pytest_ragcheck.summary.judge_rates import Judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_ragcheck.cli.judge_measurement import LabelledAnswer
    from pytest_ragcheck.judging.judgement import Judgement
    from pytest_ragcheck.summary.judge_calibration import Calibration

LINE = 0.7
ROUNDS = 5
_STRETCH = 10  # answers that are timed together: so short a time that now and then nothing else disturbs it

FLOORS: dict[str, tuple[float, float]] = {
    "ragtruth_qa": (0.74, 0.67),
    "mtrag_human": (0.97, 0.92),
    "wice_claims": (0.79, 0.71),
    "evouna_nq": (0.94, 0.89),
    "evouna_tq": (0.97, 0.94),
    "nq301": (0.82, 0.77),
}
"""Of each label file the area under the ROC curve and the balanced accuracy at `LINE` that must be kept."""

LEAST_REFUSALS_FOUND, MOST_FALSE_ALARMS = 0.95, 0.03
LEAST_OWN_ANSWERS_PASS, MOST_FOREIGN_ANSWERS_PASS = 0.95, 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far one score agrees with one label file."""

    name: str
    score: str
    calibration: Calibration
    """At `LINE`."""
    cost_ratio: float
    """
    CPU time of judging over that of splitting the same texts into words once.

    Of both the least of `ROUNDS` counts, by stretches of the file; each round has a judge that has seen nothing.
    """

    @property
    def area_under_curve(self) -> float:
        return self.calibration.estimates["roc_auc"].value

    @property
    def balanced_accuracy(self) -> float:
        return self.calibration.estimates["balanced_accuracy"].value


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and an answer to it."""

    question: Question
    answer: RagAnswer


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
    """How far the judge's score agrees with the labels of the file; a score that does not apply counts as 0."""
    answers = read_labelled_answers(path, label=_label(path))
    judged = [
        Judged(score=getattr(judgement, answers.score) or 0.0, good=row.good, group=row.group)
        for row, judgement in zip(answers.rows, _judged(answers.rows), strict=True)
    ]
    return Agreement(
        name=path.stem,
        score=answers.score,
        calibration=calibrate(judged, threshold=LINE),
        cost_ratio=_least_seconds(_judging_seconds, answers.rows) / _least_seconds(_splitting_seconds, answers.rows),
    )


def _label(path: Path) -> str:
    return "label_correct" if path.stem.startswith(("evouna", "nq")) else "label_grounded"


def _least_seconds(
    seconds: Callable[[Sequence[LabelledAnswer]], Sequence[float]], rows: Sequence[LabelledAnswer]
) -> float:
    rounds = [seconds(rows) for _ in range(ROUNDS)]
    least: list[float] = [min(stretch) for stretch in zip(*rounds, strict=True)]
    return sum(least)


def _judging_seconds(rows: Sequence[LabelledAnswer]) -> list[float]:
    """CPU seconds of each stretch, with a judge that has seen nothing before."""

    async def judge_all() -> list[float]:
        judge, seconds = OfflineJudge(), []
        for stretch in _stretches(rows):
            began = time.process_time()
            for row in stretch:
                await judge.judge(row.question, row.answer)
            seconds.append(time.process_time() - began)
        return seconds

    return asyncio.run(judge_all())


def _splitting_seconds(rows: Sequence[LabelledAnswer]) -> list[float]:
    """CPU seconds of each stretch."""
    seconds = []
    for stretch in _stretches(rows):
        began = time.process_time()
        for row in stretch:
            for text in (
                row.question.question,
                *row.question.acceptable_answers,
                row.answer.text,
                *row.answer.contexts,
            ):
                re.findall(r"\w+", text)
        seconds.append(time.process_time() - began)
    return seconds


def _stretches(rows: Sequence[LabelledAnswer]) -> list[Sequence[LabelledAnswer]]:
    return [rows[start : start + _STRETCH] for start in range(0, len(rows), _STRETCH)]


def refusals(path: Path) -> Refusals:
    """How well refusals are recognised."""
    rows = read_rows(path)
    found = {kind: [is_refusal(row["answer"]) for row in rows if row["label_abstained"] == kind] for kind in (1, 0)}
    return Refusals(n=len(rows), found=sum(found[1]) / len(found[1]), false_alarms=sum(found[0]) / len(found[0]))


def squad(folder: Path) -> Squad:
    """What the judge says of SQuAD's own answers, over all files of the folder, in either of SQuAD's shapes."""
    rows = [*_official_rows(folder), *_column_rows(folder)]
    texts = [acceptable[0] for _, acceptable, _ in rows]
    own, foreign = (
        _judged(
            [
                Asked(question=_question(asked, acceptable), answer=RagAnswer(text=text, contexts=(context,)))
                for (asked, acceptable, context), text in zip(rows, given, strict=True)
            ]
        )
        for given in (texts, [*texts[1:], texts[0]])
    )
    return Squad(n=len(rows), own_pass=_pass_share(own), foreign_pass=_pass_share(foreign))


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


def _judged(rows: Sequence[Asked | LabelledAnswer]) -> list[Judgement]:
    async def judge_all() -> list[Judgement]:
        judge = OfflineJudge()
        return [await judge.judge(row.question, row.answer) for row in rows]

    return asyncio.run(judge_all())


def _pass_share(judgements: list[Judgement]) -> float:
    passed = sum(min(each.answer_correctness or 0.0, each.groundedness or 0.0) >= LINE for each in judgements)
    return passed / len(judgements)


def report(folder: Path) -> Iterator[str]:
    """A line of figures for every file of *folder* that has labels."""
    yield f"{'labels':<16} {'score':<19} {'n':>5} {'AUC':>6} {'bal.acc':>8} {'good pass':>10} {'bad pass':>9}    cost"
    for name in (*FLOORS, "expertqa_claims"):
        if (path := folder / f"{name}.jsonl").exists():
            row = agreement(path)
            told = row.calibration.confusion
            yield (
                f"{row.name:<16} {row.score:<19} {row.calibration.n:>5} {row.area_under_curve:>6.3f} "
                f"{row.balanced_accuracy:>8.3f} {told.tpr or 0.0:>10.2f} "
                f"{1 - (told.tnr or 0.0):>9.2f} {row.cost_ratio:>6.1f}x"
            )
    if (path := folder / "abstention.jsonl").exists():
        found = refusals(path)
        yield f"refusals: n={found.n}, {found.found:.1%} found, {found.false_alarms:.1%} false alarms"
    if (slices := folder.parent / "slices" / "squad_v2").exists():
        said = squad(slices)
        yield f"SQuAD: n={said.n}, own answers pass {said.own_pass:.1%}, the next question's {said.foreign_pass:.1%}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.benchmarks.offline_judge FOLDER")
    for line in report(Path(sys.argv[1])):
        sys.stdout.write(f"{line}\n")
