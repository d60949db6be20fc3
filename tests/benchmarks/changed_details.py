"""
How often the offline judge sees one changed detail: `python -m tests.benchmarks.changed_details`.

The examples in `changed_details.jsonl` are in eight languages. Half of the answers are right in other words; the others
are wrong in one number, unit, date, negation, list item, name, role or condition. They were written without sight of
the rules. Those of the set "read" were read while the rules were written, those of "sealed" were only judged
afterwards.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_ragcheck.judging.judgement import Judgement

EXAMPLES = Path(__file__).with_suffix(".jsonl")
SETS = ("read", "sealed")
LINE = 0.7
SEEN_BY_RULES = ("number", "unit", "date", "negation", "list")
"""The changes that rules can see. A name, a role or a condition takes a model's reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """The judge's verdicts on one set of the examples."""

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

    def area_under_curve(self, changes: Collection[str]) -> float:
        """
        The chance that a right rewording has a higher groundedness than an ungrounded answer with one of these changes.

        A list without one of its items is incomplete, but grounded.
        """
        same, changed = (
            [
                judged.groundedness or 0.0
                for row, judged in zip(self.rows, self.judgements, strict=True)
                if row["change"].partition("-")[0] in kinds and row["label_grounded"] == is_grounded
            ]
            for kinds, is_grounded in (({"same"}, 1), (changes, 0))
        )
        return sum((a > b) + (a == b) / 2 for a in same for b in changed) / (len(same) * len(changed))


def judged(name: str) -> Examples:
    """The judge's verdicts on the examples of that set."""
    rows = [json.loads(line) for line in EXAMPLES.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["set"] == name]

    async def judge_all() -> list[Judgement]:
        judge = OfflineJudge()
        return [await judge.judge(_question(row), _answer(row)) for row in rows]

    return Examples(rows=rows, judgements=asyncio.run(judge_all()))


def _question(row: dict[str, Any]) -> Question:
    expected = tuple(row["expected_answers"])
    return Question(dataset_name="changed", id=row["id"], question=row["question"], all_acceptable_answers=expected)


def _answer(row: dict[str, Any]) -> RagAnswer:
    return RagAnswer(text=row["answer"], contexts=tuple(row["contexts"]))


def main() -> None:
    """Prints the figures of both sets."""
    for name in SETS:
        examples = judged(name)
        right, of = examples.right
        kinds = sorted({row["change"] for row in examples.rows if not row["change"].startswith("same")})
        sys.stdout.write(
            f"{name:<7} n={len(examples.rows)}, right {right} of {of} ({right / of:.1%}), "
            f"AUC {examples.area_under_curve(SEEN_BY_RULES):.3f}: "
            + ", ".join(f"{kind} {examples.area_under_curve({kind}):.2f}" for kind in kinds)
            + "\n"
        )


if __name__ == "__main__":
    main()
