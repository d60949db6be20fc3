"""
How often the offline judge is right on answers by hand: `python -m tests.benchmarks.offline_examples`.

`changed_details.jsonl` has answers in eight languages: half are right in other words; the others are wrong in one
number, unit, date, negation, list item, name, role or condition. `everyday_answers.jsonl` has answers as language
models write them: with lists, tables, code, citations, computed results, refusals and inventions. `refusals.jsonl` has
answers that decline, and others that look alike.

All were written without sight of the rules. Those of the set "read" were read while the rules were written, those of
the sealed sets were only judged afterwards.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.judging.offline.refusals import is_refusal
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from pytest_ragcheck.judging.judgement import Judgement

FILES = ("changed_details", "everyday_answers")
LINE = 0.7
SEEN_BY_RULES = ("number", "unit", "date", "negation", "list")
"""The changes that rules can see. A name, a role or a condition takes a model's reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """What the judge takes for refusals in one set of one language, or of all others."""

    name: str
    is_english: bool
    n: int
    """Of refusals."""
    n_found: int
    n_others: int
    n_false_alarms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """The judge's verdicts on one set of the examples."""

    file: str
    name: str
    rows: Sequence[dict[str, Any]]
    judgements: Sequence[Judgement]

    @property
    def right(self) -> tuple[int, int]:
        """The number of right verdicts over both scores, and the number of labels."""
        verdicts = [
            ((score or 0.0) >= LINE) == bool(row[label])
            for row, judged in zip(self.rows, self.judgements, strict=True)
            for label, score in (("label_grounded", judged.groundedness), ("label_correct", judged.answer_correctness))
            if row[label] is not None
        ]
        return sum(verdicts), len(verdicts)

    @property
    def changes(self) -> list[str]:
        """What is wrong in the answers that the contexts do not support."""
        return sorted({row["change"] for row in self.rows if row["label_grounded"] == 0})

    def area_under_curve(self, changes: Collection[str]) -> float:
        """
        The chance that a right answer has a higher groundedness than an ungrounded one with one of these changes.

        A list without one of its items is incomplete, but grounded.
        """
        same, changed = (
            [
                judged.groundedness or 0.0
                for row, judged in zip(self.rows, self.judgements, strict=True)
                if (row["change"] if is_grounded == 0 else row["change"].partition("-")[0]) in kinds
                and row["label_grounded"] == is_grounded
            ]
            for kinds, is_grounded in (({"same", "right"}, 1), (changes, 0))
        )
        return sum((a > b) + (a == b) / 2 for a in same for b in changed) / (len(same) * len(changed))


def refusals() -> Iterator[Refusals]:
    """Looks for refusals, and yields what is found in each set."""
    rows = _rows("refusals")
    for name, is_english in sorted({(row["set"], row["language"] == "en") for row in rows}):
        found = [
            (row["refusal"], is_refusal(row["answer"]))
            for row in rows
            if row["set"] == name and (row["language"] == "en") is is_english
        ]
        n = sum(is_one for is_one, _ in found)
        yield Refusals(
            name=name,
            is_english=is_english,
            n=n,
            n_found=found.count((True, True)),
            n_others=len(found) - n,
            n_false_alarms=found.count((False, True)),
        )


def judged_sets() -> Iterator[Examples]:
    """Judges the examples, and yields each set."""
    for file in FILES:
        for name, rows in groupby(_rows(file), key=lambda row: str(row["set"])):
            yield _judged(file, name, list(rows))


def _rows(file: str) -> list[dict[str, Any]]:
    text = Path(__file__).with_name(f"{file}.jsonl").read_text(encoding="utf-8")
    return list(map(json.loads, text.splitlines()))


def _judged(file: str, name: str, rows: Sequence[dict[str, Any]]) -> Examples:
    async def judge_all() -> list[Judgement]:
        judge = OfflineJudge()
        return [await judge.judge(_question(row), _answer(row)) for row in rows]

    return Examples(file=file, name=name, rows=rows, judgements=asyncio.run(judge_all()))


def _question(row: dict[str, Any]) -> Question:
    expected = tuple(row["expected_answers"])
    return Question(dataset_name="examples", id=row["id"], question=row["question"], all_acceptable_answers=expected)


def _answer(row: dict[str, Any]) -> RagAnswer:
    return RagAnswer(text=row["answer"], contexts=tuple(row["contexts"]))


def main() -> None:
    """Prints the figures of each set."""
    for found in judged_sets():
        right, of = found.right
        by_change = (f"{change} {found.area_under_curve({change}):.2f}" for change in found.changes)
        sys.stdout.write(
            f"{found.file}, {found.name}: n={len(found.rows)}, right {right} of {of} ({right / of:.1%}), "
            f"AUC {found.area_under_curve(SEEN_BY_RULES):.3f}: {', '.join(by_change)}\n"
        )
    for each in refusals():
        sys.stdout.write(
            f"refusals, {each.name}, {'English' if each.is_english else 'seven other languages'}: "
            f"{each.n_found} of {each.n} found, {each.n_false_alarms} false alarms in {each.n_others} other answers\n"
        )


if __name__ == "__main__":
    main()
