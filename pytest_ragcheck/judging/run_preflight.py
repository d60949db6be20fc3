"""Tests language-model judges before the first question, and stops the run if one is useless."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_ragcheck.concurrency.file_lock import replace_text
from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import JudgeError, JudgeUnavailable, StepFailed
from pytest_ragcheck.judging.checked_judgement import identity_of
from pytest_ragcheck.judging.judgement import Judge
from pytest_ragcheck.judging.trial import (
    Trial,
    judges_to_try,
    trial_key,
    try_judge,
    weaknesses,
    why_useless,
)
from pytest_ragcheck.rag.http.retry import is_transient
from pytest_ragcheck.scores import JUDGED

IN_INI = "rag_disable = preflight"
"""The line that switches the preflight off in a pytest run."""

KEPT_TRIALS = "ragcheck/preflight"
"""Key of the passed trials in pytest's cache."""

_SEE = "See ragcheck docs reference/judge-preflight."
_FILE = Path(".ragcheck", "preflight.json")
"""Path below the folder of the result files."""
_MOST_KEPT = 50


async def preflight(
    judge: Judge | None,
    settings: Settings,
    limiter: Limiter,
    *,
    switch: str,
    output: Path | None = None,
    scores: Iterable[str] = JUDGED,
) -> tuple[str, ...]:
    """
    Tests the judge, or each judge of a panel. Returns one line for each weak judge.

    A judge that is not a language model is not tested, nor is one whose passed trial the *output* folder keeps. The
    *switch* is the way to switch the preflight off, for the error text. In *scores* the judge must tell good answers
    from bad ones.

    Raises:
        StepFailed: A judge is useless; the text has its scores and says what to do.
    """
    if "preflight" in settings.run.disabled or "judge" not in settings.run.metrics:
        return ()
    notes = []
    for each in judges_to_try(judge):
        key = trial_key(each)
        kept = _read(output)
        trial = read_trial(kept.get(key))
        if trial is None:
            try:
                trial = await usable_trial(each, limiter, scores, switch=switch)
            except StepFailed as failed:
                raise StepFailed(refusal(each, str(failed), settings), name=failed.name) from None
            if output is not None and key:
                _write(output / _FILE, with_trial(kept, key, settings.redactor.text(trial.to_json())))
        if note := weak_note(each, trial, settings):
            notes.append(note)
    return tuple(notes)


async def usable_trial(
    judge: Judge, limiter: Limiter, scores: Iterable[str] = JUDGED, *, switch: str = IN_INI
) -> Trial:
    """Raises `StepFailed` with advice if a verdict is missing, or the judge cannot tell good answers from bad ones."""
    try:
        trial = await try_judge(judge, limiter)
    except JudgeError as error:
        later = isinstance(error, JudgeUnavailable) and is_transient(error)
        advice = "No question was asked. Run again later." if later else "No question was asked."
        raise StepFailed(f"{error}\n{advice}", name="preflight") from None
    if problem := why_useless(trial, scores):
        prompt = " or rag_judge_prompt" if hasattr(judge, "prompt") else ""
        raise StepFailed(
            f"{problem}\nNo question was asked. Choose another judge model{prompt}, or keep this one with {switch}.",
            name="preflight",
        )
    return trial


def refusal(judge: Judge, problem: str, settings: Settings) -> str:
    """The text that ends the run, without secrets, from that of `usable_trial`."""
    return settings.redactor.text(
        f"the judge {identity_of(judge).words} was tried out before the first question: {problem} {_SEE}"
    )


def weak_note(judge: Judge, trial: Trial, settings: Settings) -> str:
    """The mistakes of a usable judge, without secrets; empty if it made none."""
    weak = weaknesses(trial, threshold=settings.gate.threshold)
    note = (
        f"the judge {identity_of(judge).words} is weak: of the answers that it was tried on, {'; '.join(weak)}. {_SEE}"
    )
    return settings.redactor.text(note) if weak else ""


def read_trial(kept: Any) -> Trial | None:
    try:
        return None if kept is None else Trial.from_json(kept)
    except (TypeError, ValueError):
        return None


def kept_trials(cache: Any) -> dict[str, str]:
    """The trials in pytest's *cache*, by key; there is no cache with -p no:cacheprovider."""
    kept = cache.get(KEPT_TRIALS, {}) if cache is not None else {}
    return kept if isinstance(kept, dict) else {}


def with_trial(kept: Mapping[str, str], key: str, text: str) -> dict[str, str]:
    """The trials with a new one, of which only the latest are kept."""
    return dict(list({**kept, key: text}.items())[-_MOST_KEPT:])


def _read(output: Path | None) -> dict[str, str]:
    try:
        kept = json.loads((output / _FILE).read_bytes()) if output is not None else {}
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(path: Path, kept: Mapping[str, str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, json.dumps(kept))
    except OSError:
        return  # the next run repeats the preflight; writing the results reports the error
