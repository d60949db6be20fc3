"""Before the first answer: judges that are language models are tried out, and one that is of no use ends the run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import JudgeError, StepFailed
from pytest_ragcheck.judging.judge import judge_identity
from pytest_ragcheck.judging.preflight import (
    SCORES,
    Trial,
    judges_to_try,
    trial_key,
    try_out,
    weaknesses,
    why_useless,
)
from pytest_ragcheck.report.terminal import judge_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.judging.preflight import Tried
    from pytest_ragcheck.metrics.metric import Room
    from pytest_ragcheck.settings import Settings

IN_INI = "rag_preflight = off"
"""What switches the trial off in a pytest run."""

_SEE = "See ragcheck docs reference/judge-openai."
_FILE = Path(".ragcheck", "preflight.json")
"""Below the folder of the result files."""
_MOST_KEPT = 50


async def preflight(
    judge: Judge | None,
    settings: Settings,
    room: Room,
    *,
    switch: str,
    output: Path | None = None,
    scores: Iterable[str] = SCORES,
) -> tuple[str, ...]:
    """
    What the judge, or each of a panel's, gets wrong: one line each; none of a judge that is no language model.

    Args:
        judge: Is asked once about each canary, and not again where the output folder knows what it said.
        settings: Switch it off, hold the threshold, and know what may not be shown.
        room: Runs the requests.
        switch: How the user switches it off.
        output: The folder of the result files, which keeps what judges said that were of use; None: nothing is kept.
        scores: In which of its scores the judge has to tell good from bad.

    Raises:
        StepFailed: The judge is of no use; the text says what it said, and what to do.
    """
    if not settings.preflight or "judge" not in settings.metrics:
        return ()
    notes = []
    for each in judges_to_try(judge):
        key = trial_key(each)
        kept = _read(output)
        trial = read_trial(kept.get(key))
        if trial is None:
            try:
                trial = await usable_trial(each, room, scores)
            except StepFailed as failed:
                raise StepFailed(refusal(each, str(failed), settings, switch=switch), name=failed.name) from None
            if output is not None and key:
                _write(output / _FILE, with_trial(kept, key, settings.redactor.text(trial.to_json())))
        if note := weak_note(each, trial, settings):
            notes.append(note)
    return tuple(notes)


async def usable_trial(judge: Tried, room: Room, scores: Iterable[str] = SCORES) -> Trial:
    """
    What the judge says of all canaries.

    Raises:
        StepFailed: It gave no verdict on one of them, or cannot tell good from bad in one of the scores.
    """
    try:
        trial = await try_out(judge, room)
    except JudgeError as error:
        raise StepFailed(str(error), name="preflight") from None
    if problem := why_useless(trial, scores):
        raise StepFailed(problem, name="preflight")
    return trial


def refusal(judge: Tried, problem: str, settings: Settings, *, switch: str = IN_INI) -> str:
    """Why the run ends, and what to do, without secrets."""
    return settings.redactor.text(
        f"{_who(judge)} was tried out before the first question: {problem}\n"
        f"So the run ends here. Take another judge model or rag_judge_prompt, or run with this one by {switch}; "
        f"{_SEE[0].lower()}{_SEE[1:]}"
    )


def weak_note(judge: Tried, trial: Trial, settings: Settings) -> str:
    """What a judge of some use gets wrong, in a line without secrets; empty where it is nothing."""
    weak = weaknesses(trial, threshold=settings.threshold)
    note = f"{_who(judge)} is weak: of the answers that it was tried on, {'; '.join(weak)}. {_SEE}"
    return settings.redactor.text(note) if weak else ""


def read_trial(kept: Any) -> Trial | None:
    """The trial that was kept as that text; None where it is of another version, or of somebody else's hand."""
    try:
        return None if kept is None else Trial.from_json(kept)
    except (TypeError, ValueError):
        return None


def with_trial(kept: Mapping[str, str], key: str, text: str) -> dict[str, str]:
    """By key the trials that were kept, and this one; of very many the latest."""
    return dict(list({**kept, key: text}.items())[-_MOST_KEPT:])


def _who(judge: Tried) -> str:
    identity = judge_identity(judge)
    return f"the judge {judge_words(identity)}" if identity is not None else "the judge"


def _read(output: Path | None) -> dict[str, str]:
    try:
        kept = json.loads((output / _FILE).read_bytes()) if output is not None else {}
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(path: Path, kept: Mapping[str, str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whoever reads meanwhile, as another agent's run does, finds the old or the new one, never a half.
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(json.dumps(kept), encoding="utf-8")
        temporary.replace(path)
    except OSError:
        return  # the next run tries anew, and whoever cannot write here hears of it from the results
