"""Before the first question: judges that are language models are tried out, once a run, and not again if they did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.once import Once
from pytest_ragcheck.errors import JudgeError, StepFailed
from pytest_ragcheck.judging.judge import judge_identity
from pytest_ragcheck.judging.material import digest_of
from pytest_ragcheck.judging.preflight import Trial, prompted_judges, trial_key, try_out, weaknesses, why_useless
from pytest_ragcheck.judging.usage import metered
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.fixtures import loop_of
from pytest_ragcheck.plugin.run import run_of
from pytest_ragcheck.report.terminal import judge_words

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.engine.budget import Budget
    from pytest_ragcheck.judging.preflight import Prompted
    from pytest_ragcheck.metrics.metric import Room
    from pytest_ragcheck.plugin.plan import Means

_KEPT = "ragcheck/preflight"
_MOST_KEPT = 50
TRIED = "tried out before the first question"
ADVICE = (
    "So the run ends here. Take another judge model or rag_judge_prompt, or run with this one by rag_preflight = off; "
    "see ragcheck docs reference/judge-openai."
)


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
            for judge in prompted_judges(means.judge):
                problem = problem or self._try(judge, means)
            self._found[id(means.judge)] = (means.judge, problem)
        _, problem = self._found[id(means.judge)]
        if problem:
            self._session.shouldfail = "the judge did not pass its preflight"
            pytest.fail(problem, pytrace=False)

    def _try(self, judge: Prompted, means: Means) -> str:
        """Why the judge is of no use; empty where it is of some, and then the run tells what it gets wrong."""
        clean = means.settings.redactor
        identity = judge_identity(judge)
        who = f"the judge {judge_words(identity)}" if identity is not None else "the judge"
        key = trial_key(judge)
        trial = self._kept_trial(key)
        if trial is None:
            try:
                told = loop_of(self._session.config).run(self._shared, judge, key)
            except StepFailed as failed:
                return clean.text(f"{who} was {TRIED}: {failed}\n{ADVICE}")
            trial = Trial.from_json(told)
            self._keep(key, clean.text(told))
        if weak := weaknesses(trial, threshold=means.settings.threshold):
            note = f"{who} is weak: of the answers that it was tried on, {'; '.join(weak)}."
            run_of(self._session.config).tell_user(clean.text(f"{note} See ragcheck docs reference/judge-openai."))
        return ""

    async def _shared(self, judge: Prompted, key: str) -> str:
        async def step() -> str:
            with metered() as uses:
                try:
                    trial = await try_out(judge, self._room)
                except JudgeError as error:
                    raise StepFailed(str(error), name="preflight") from None
                finally:
                    if self._budget is not None:
                        self._budget.spend_on(uses)
            if problem := why_useless(trial):
                raise StepFailed(problem, name="preflight")
            return trial.to_json()

        # Whoever does not say what its verdicts depend on may be another one in another process.
        if self._folder is None or not key:
            return await step()
        redactor = settings_of(self._session.config).redactor
        return await Once(self._folder, redactor).do(f"preflight-{digest_of(key)[:12]}", step)

    def _kept(self) -> dict[str, str]:
        """By key the trials of earlier runs that went well."""
        kept = self._cache.get(_KEPT, {}) if self._cache is not None else {}
        return kept if isinstance(kept, dict) else {}

    def _kept_trial(self, key: str) -> Trial | None:
        told = self._kept().get(key)
        try:
            return None if told is None else Trial.from_json(told)
        except (TypeError, ValueError):  # of another version, or of somebody else's hand
            return None

    def _keep(self, key: str, told: str) -> None:
        if self._cache is None or not key:
            return
        kept = {**self._kept(), key: told}
        self._cache.set(_KEPT, dict(list(kept.items())[-_MOST_KEPT:]))
