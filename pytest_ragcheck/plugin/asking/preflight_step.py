"""Tries out judges that are language models before the first question, and keeps trials that passed."""

from __future__ import annotations

from collections import deque
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.question_progress import QuestionProgress, Stage
from pytest_ragcheck.engine.store.run_folder import Once
from pytest_ragcheck.errors import StepFailed
from pytest_ragcheck.judging.judgement import Judge, digest_of
from pytest_ragcheck.judging.model.completion import metered
from pytest_ragcheck.judging.run_preflight import (
    KEPT_TRIALS,
    kept_trials,
    read_trial,
    refusal,
    usable_trial,
    weak_note,
    with_trial,
)
from pytest_ragcheck.judging.trial import Trial, judges_to_try, trial_key
from pytest_ragcheck.plugin.asking.session_loop import loop_of, seconds_between_lines, write_line
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers import STOPPED, USELESS_JUDGE

if TYPE_CHECKING:
    from pytest_ragcheck.concurrency.limiter import Limiter
    from pytest_ragcheck.engine.budget import Budget
    from pytest_ragcheck.plugin.asking.schedule import Backends

_REMEMBERED = 8
"""Number of judges that are not tried again; fixtures of narrow scope make a new judge for each item."""


class Preflight:
    """
    The preflight of the judges in one process.

    The session ends if a judge fails its preflight. The requests are few, so the budget counts their cost but refuses
    none. *folder* is the folder of the run, equal in all processes; None if this process shares nothing.
    """

    def __init__(self, session: pytest.Session, limiter: Limiter, budget: Budget, folder: Path | None) -> None:
        self._session = session
        self._limiter = limiter
        self._budget = budget
        self._folder = folder
        self._cache: Any = getattr(session.config, "cache", None)
        self._usable: deque[Any] = deque(maxlen=_REMEMBERED)
        self._problem = ""
        """The reason why a judge is not usable; empty if there is none."""

    def check(self, backends: Backends) -> None:
        """
        Check the price of the judge if the cost is limited, and try it out if it needs a preflight and has had none.

        Skip the item if the judge is not usable, which the run reports; no further item runs.
        """
        settings = backends.settings
        tried = (
            "preflight" not in settings.run.disabled and settings.run.replay is None and "judge" in settings.run.metrics
        )
        if not self._problem and not any(judge is backends.judge for judge in self._usable):
            if settings.run.max_cost_usd is not None and backends.judge is not None:
                from pytest_ragcheck.plugin.collecting.cost_preview import unlimited

                self._problem = unlimited(backends.judge, settings)
            for judge in judges_to_try(backends.judge) if tried else ():
                self._problem = self._problem or self._try(judge, backends)
            self._usable.append(backends.judge)
        if self._problem:
            run_of(self._session.config).judge_problem = self._problem
            self._session.shouldfail = USELESS_JUDGE
            pytest.skip(STOPPED)

    def _try(self, judge: Judge, backends: Backends) -> str:
        # Why the judge is not usable; empty if it is. A weak judge's mistakes become a note of the run.
        key = trial_key(judge)
        trial = read_trial(kept_trials(self._cache).get(key))
        if trial is None:
            try:
                progress = QuestionProgress()
                text = loop_of(self._session.config).run(
                    partial(self._shared, progress.tracked(self._limiter, Stage.JUDGED)),
                    judge,
                    key,
                    every_seconds=seconds_between_lines(self._session.config),
                    meanwhile=lambda: write_line(
                        self._session.config, f"waiting for the preflight of the judge: {progress.where}"
                    ),
                )
            except StepFailed as failed:
                return refusal(judge, str(failed), backends.settings)
            trial = Trial.from_json(text)
            if self._cache is not None and key:
                kept = with_trial(kept_trials(self._cache), key, backends.settings.redactor.text(text))
                self._cache.set(KEPT_TRIALS, kept)
        if note := weak_note(judge, trial, backends.settings):
            run_of(self._session.config).queue_note(note)
        return ""

    async def _shared(self, limiter: Limiter, judge: Judge, key: str) -> str:
        async def step() -> str:
            with metered() as uses:
                try:
                    return (await usable_trial(judge, limiter)).to_json()
                finally:
                    self._budget.spend_on(uses, "preflight")

        # A judge without a fingerprint may differ between processes.
        if self._folder is None or not key:
            return await step()
        redactor = settings_of(self._session.config).redactor
        return await Once(self._folder, redactor).do(f"preflight-{digest_of(key)[:12]}", step)
