"""Reads files of answers that people have labelled, and measures a judge by them."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_ragcheck.concurrency.frames import is_own_failure
from pytest_ragcheck.concurrency.tasks import closing, together
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.errors import JudgeError, MeasurementError, UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.checked_judgement import as_judge, checked_judgement, identity_of
from pytest_ragcheck.judging.judgement import Judge, Judgement
from pytest_ragcheck.judging.model.completion import metered
from pytest_ragcheck.judging.panel import Panel
from pytest_ragcheck.judging.run_preflight import preflight
from pytest_ragcheck.metrics.cost import Cost, with_judge
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import shown_error
from pytest_ragcheck.report.terminal.calibration_lines import Disagreement, Measured
from pytest_ragcheck.short_texts import counted
from pytest_ragcheck.summary.judge_calibration import calibrate
from pytest_ragcheck.summary.judge_rates import Judged

LABELS = {
    "label_grounded": "groundedness",
    "label_correct": "answer_correctness",
    "label_abstained": "abstained",
}
"""The score that each label is about."""

_MOST_SHOWN = 10
"""Mistakes shown for one file: a file of another kind has one in every row."""


@frozen
class LabelledAnswer:
    question: Question
    """Its id is the row's `id`, or else its line number."""

    answer: RagAnswer
    good: bool
    """The label: the answer is grounded, correct, or an abstention."""

    group: str
    """Rows of one group share a source and are not independent; a row without a group is its own group."""


@frozen
class LabelledAnswers:
    """The rows of one file that have the label."""

    label: str
    """One of `LABELS`."""

    rows: tuple[LabelledAnswer, ...]

    @property
    def score(self) -> str:
        return LABELS[self.label]


def read_labelled_answers(path: Path, *, label: str | None = None) -> LabelledAnswers:
    """
    Reads the labelled answers of a file, without the rows whose label is null.

    Args:
        path: JSON lines with `question`, `answer`, `contexts`, `expected_answers`, `id`, `meta.group` and labels. A
            turn of a conversation has the earlier ones as `history`, each with `question`, `answer` and `contexts`.
        label: One of `LABELS`; None takes the only label that occurs.

    Raises a `UsageError` for a file that cannot be read, or has several labels without a *label*.
    """
    rows = list(_objects(path))
    label = _only_label(path, rows) if label is None else label
    labelled: list[LabelledAnswer] = []
    mistakes: list[str] = []
    lines: dict[str, int] = {}
    for line, row in rows:
        if row.get(label) is None:
            continue
        first = lines.setdefault(json.dumps(row, sort_keys=True), line)
        if problem := _problem(row, label) or (first < line and f"repeats line {first}. Delete one of them."):
            mistakes.append(f"{path}:{line}: {problem}")
        else:
            labelled.append(_labelled(row, line, label))
    if mistakes:
        further = len(mistakes) - _MOST_SHOWN
        shown = "\n".join(mistakes[:_MOST_SHOWN])
        raise UsageError(f"{shown}\nand {further} more" if further > 0 else shown)
    if not labelled:
        raise UsageError(f"{path}: no row has a {label} that is 1 or 0. Label some answers, or choose another --label.")
    return LabelledAnswers(label=label, rows=tuple(labelled))


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    # With the line numbers, from 1.
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: it is not UTF-8 (byte {error.start}). Save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{path}: it cannot be read ({error.strerror}). Give a file of JSON lines.") from None
    # Not splitlines: a JSON string may contain U+2028, which splitlines takes for a line end.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{number}: it is not JSON ({error}). Write one object a line.") from None
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: it is {type(row).__name__}, not an object. Write one object a line.")
        yield number, row


def _only_label(path: Path, rows: list[tuple[int, dict[str, Any]]]) -> str:
    found = [label for label in LABELS if any(row.get(label) is not None for _, row in rows)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"{path}: no row has a label. Give rows one of {', '.join(LABELS)}, with 1 or 0.")
    names = " or ".join(label.removeprefix("label_") for label in found)
    raise UsageError(f"{path}: it has {' and '.join(found)}. Choose one with --label={names}.")


def _problem(row: dict[str, Any], label: str) -> str:
    if row[label] not in (0, 1):
        return f"{label} is {row[label]!r:.40}. Write 1, 0 or null."
    if label == "label_grounded" and "contexts" not in row:
        return "there are no contexts. Write a list of strings, or [] if there were none."
    history = row.get("history", [])
    if not isinstance(history, list) or not all(isinstance(turn, dict) for turn in history):
        return f"history is {history!r:.40}. Write a list of objects, each with question, answer and contexts."
    if problem := next(filter(None, map(_wrong_text, (row, *history))), ""):
        return problem
    if not isinstance(row.get("meta", {}), dict):
        return f"meta is {row['meta']!r:.40}. Write an object."
    return ""


def _wrong_text(row: dict[str, Any]) -> str:
    for key in ("question", "answer"):
        if not isinstance(row.get(key, "" if key == "question" else None), str):
            return f"{key} is {row.get(key)!r:.40}. Write a string."
    for key in ("contexts", "expected_answers"):
        texts = row.get(key, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return f"{key} is {texts!r:.40}. Write a list of strings."
    return ""


def _labelled(row: dict[str, Any], line: int, label: str) -> LabelledAnswer:
    question = Question(
        dataset_name="labels",
        id=str(row.get("id", f"line {line}")),
        question=row.get("question", ""),
        all_acceptable_answers=tuple(row.get("expected_answers", ())),
        history=tuple(
            EarlierTurn(
                question=turn.get("question", ""), answer=turn["answer"], contexts=tuple(turn.get("contexts", ()))
            )
            for turn in row.get("history", ())
        ),
    )
    answer = RagAnswer(text=row["answer"], contexts=tuple(row.get("contexts", ())))
    group = row.get("meta", {}).get("group")
    return LabelledAnswer(
        question=question,
        answer=answer,
        good=bool(row[label]),
        group=f"line {line}" if group is None else f"group {group}",
    )


def measure_judge(answers: LabelledAnswers, path: Path, judge: Judge, settings: Settings) -> Measured:
    """Measure and close the judge. Raises a `UsageError` if no answer could be measured, or that of the preflight."""
    with metered() as uses:
        judgements = _judged(answers, judge, settings)
    scored: dict[int, tuple[LabelledAnswer, Judgement, float]] = {}
    errors: list[str] = []
    n_unscored = 0
    for number, (row, judgement) in enumerate(zip(answers.rows, judgements, strict=True)):
        if isinstance(judgement, MeasurementError):
            errors.append(f"{row.question.id}: {settings.redactor.text(str(judgement))}")
        elif (value := getattr(judgement, answers.score)) is None:
            n_unscored += 1
        else:
            scored[number] = (row, judgement, float(value))
    if not scored:
        needs = "; it may need expected_answers" if answers.label == "label_correct" else ""
        why = errors[0] if errors else f"The judge scores no {answers.score}{needs}."
        raise UsageError(f"{path}: none of {counted(len(answers.rows), 'answer')} could be measured. {why}")
    judged = {number: Judged(score=value, good=row.good, group=row.group) for number, (row, _, value) in scored.items()}
    return Measured(
        file=path.name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        label=answers.label,
        score=answers.score,
        judge=identity_of(judge),
        timestamp=datetime.now(timezone.utc),
        calibration=calibrate(list(judged.values()), threshold=settings.gate.threshold),
        judged=judged,
        cost=Cost(judge_usd=0.0) if _is_free(judge) else with_judge(Cost(), uses, settings.judge.own_prices),
        n_unscored=n_unscored,
        errors=errors,
        disagreements=_disagreements(list(scored.values()), settings),
    )


def _is_free(judge: Judge) -> bool:
    if isinstance(judge, Panel):
        return all(map(_is_free, judge.judges))
    return identity_of(judge).kind in {"offline", "local"}


def _judged(answers: LabelledAnswers, judge: Judge, settings: Settings) -> list[Judgement | MeasurementError]:

    async def judge_one(row: LabelledAnswer, gate: RequestLimiter) -> Judgement | MeasurementError:
        try:
            return await gate.run(lambda: checked_judgement(row.question, row.answer, judge))
        except MeasurementError as error:
            return error
        except Exception as error:
            if is_own_failure(error):
                raise
            return JudgeError(shown_error(error))

    async def judge_all() -> list[Judgement | MeasurementError]:
        gate = RequestLimiter(settings.judge_concurrency, retries=settings.endpoint.retries)
        async with closing(judge):
            await preflight(judge, settings, gate, switch="--disable=preflight", scores=(answers.score,))
            return await together(judge_one(row, gate) for row in answers.rows)

    return asyncio.run(judge_all())


def _disagreements(scored: Sequence[tuple[LabelledAnswer, Judgement, float]], settings: Settings) -> list[Disagreement]:
    wrong = [each for each in scored if (each[2] >= settings.gate.threshold) != each[0].good]
    # Ties keep the order of the file, so that the same file gives the same list.
    wrong.sort(key=lambda each: -abs(each[2] - each[0].good))
    return [
        Disagreement(
            id=row.question.id,
            score=value,
            good=row.good,
            question=row.question.question,
            answer=row.answer.text,
            reason=judgement.error_message,
        )
        for row, judgement, value in wrong
    ]


def own_judge(place: str) -> Judge:
    """The judge or function at `MODULE:NAME`, or what makes one without arguments; else a `UsageError`."""
    module, _, name = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = getattr(import_module(module), name)
        made: Any = found() if inspect.isclass(found) or _takes_nothing(found) else found
        judge = as_judge(made)
    except Exception as error:
        # The user's module may raise anything; the text names the module.
        raise UsageError(f"--judge: {place!r} cannot be loaded as a judge: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(Path.cwd()))
    if not hasattr(judge, "judge"):
        raise UsageError(
            f"--judge: {place!r} is {judge!r:.80}, not a judge. Name an object with a method judge(question, answer), "
            "or a class or function that makes one."
        )
    return judge


def _takes_nothing(found: object) -> bool:
    # A judge is called with two arguments.
    if not inspect.isroutine(found):
        return False
    try:
        inspect.signature(found).bind()
    except TypeError:
        return False
    return True
