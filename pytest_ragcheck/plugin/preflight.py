"""Before the first question: judges that are language models are tried out, once a run, and not again if they did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.once import Once
from pytest_ragcheck.errors import StepFailed
from pytest_ragcheck.judging.material import digest_of
from pytest_ragcheck.judging.preflight import Trial, judges_to_try, trial_key
from pytest_ragcheck.judging.usage import metered
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import USELESS_JUDGE
from pytest_ragcheck.plugin.private_loop import loop_of
from pytest_ragcheck.plugin.run import run_of
from pytest_ragcheck.preflight import read_trial, refusal, usable_trial, weak_note, with_trial

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.engine.budget import Budget
    from pytest_ragcheck.judging.preflight import Tried
    from pytest_ragcheck.metrics.metric import Room
    from pytest_ragcheck.plugin.plan import Means

_KEPT = "ragcheck/preflight"


class Preflight:
    """
    The trials of one process's judges.

    Args:
        session: Ends where a judge is of no use.
        room: Runs the requests to judges.
        budget: Counts what they cost; it refuses none, for they are few.
        folder: Of the run, the same for all of its processes; None: nothing is shared with others.
    """

    def __init__(self, session: pytest.Session, room: Room, budget: Budget | None, folder: Path | None) -> None:
        self._session = session
        self._room = room
        self._budget = budget
        self._folder = folder
        self._cache: Any = getattr(session.config, "cache", None)  # there is none under -p no:cacheprovider
        self._found: dict[int, tuple[Any, str]] = {}
        """By the judge's identity in memory the judge, and why it is of no use; empty where it is of some."""

    def check(self, means: Means) -> None:
        """
        Returns where the judge of these means has been tried out and is of use, or is none to be tried out.

        Raises:
            pytest.fail.Exception: The judge is of no use; no further item runs.
        """
        settings = means.settings
        if not settings.preflight or settings.replay is not None or "judge" not in settings.metrics:
            return
        if id(means.judge) not in self._found:
            problem = ""
            for judge in judges_to_try(means.judge):
                problem = problem or self._try(judge, means)
            self._found[id(means.judge)] = (means.judge, problem)
        _, problem = self._found[id(means.judge)]
        if problem:
            self._session.shouldfail = USELESS_JUDGE
            pytest.fail(problem, pytrace=False)

    def _try(self, judge: Tried, means: Means) -> str:
        """Why the judge is of no use; empty where it is of some, and then the run tells what it gets wrong."""
        key = trial_key(judge)
        trial = read_trial(self._kept().get(key))
        if trial is None:
            try:
                told = loop_of(self._session.config).run(self._shared, judge, key)
            except StepFailed as failed:
                return refusal(judge, str(failed), means.settings)
            trial = Trial.from_json(told)
            self._keep(key, means.settings.redactor.text(told))
        if note := weak_note(judge, trial, means.settings):
            run_of(self._session.config).tell_user(note)
        return ""

    async def _shared(self, judge: Tried, key: str) -> str:
        async def step() -> str:
            with metered() as uses:
                try:
                    return (await usable_trial(judge, self._room)).to_json()
                finally:
                    if self._budget is not None:
                        self._budget.spend_on(uses)

        # Whoever does not say what its verdicts depend on may be another one in another process.
        if self._folder is None or not key:
            return await step()
        redactor = settings_of(self._session.config).redactor
        return await Once(self._folder, redactor).do(f"preflight-{digest_of(key)[:12]}", step)

    def _kept(self) -> dict[str, str]:
        """By key the trials of earlier runs that went well."""
        kept = self._cache.get(_KEPT, {}) if self._cache is not None else {}
        return kept if isinstance(kept, dict) else {}

    def _keep(self, key: str, told: str) -> None:
        if self._cache is not None and key:
            self._cache.set(_KEPT, with_trial(self._kept(), key, told))
