"""Replays a recorded run in place of its system and judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from pytest_ragcheck.check import PreparedQuestion
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import JudgeError, RecordedError, ReplayError
from pytest_ragcheck.judging.checked_judgement import judge_identity
from pytest_ragcheck.judging.judged_material import material_digest
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement
from pytest_ragcheck.judging.model.usage import TokenUse, note_use
from pytest_ragcheck.judging.panel import judge_by_all
from pytest_ragcheck.metrics.metric import Metric
from pytest_ragcheck.questions.planted import plants_of
from pytest_ragcheck.questions.question import END_TO_END, RETRIEVAL_ALONE, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores.score import Score
from pytest_ragcheck.summary.gate.recorded.recorded_verdicts import SameScore
from pytest_ragcheck.summary.gate.recorded.saved_answer import MENTIONS, label_digests

DECIDED = frozenset({"unscored", "nothing_to_assert"})
"""Kinds of ERROR that depend on the thresholds rather than on endpoint or judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The recorded values of one question."""

    dataset_name: str
    id: str
    question: str
    """The text of the question."""

    identity: str = ""
    """The name of the identity that asked; empty for none."""

    tier: str = ""
    """The tier in which the question was asked; empty if unknown."""

    mentions: str = ""
    """Digest of the texts that the answer must or must not mention; empty if unknown."""

    answer: RagAnswer | None = None
    """The answer; None if the system failed, as `error` describes."""

    judge: JudgeIdentity | None = None
    """The judge of the run; None without a judge."""

    judgement: Judgement | None = None
    material: str = ""
    """Digest of the judge's material; empty without a judgement."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    """The scores by metric, the judge's included."""

    use: TokenUse | None = None
    """The tokens of the judge's models; None if unknown."""

    error_kind: str = ""
    error: str = ""
    """The text of an ERROR; else empty."""

    endpoint: str = ""
    """The system without secrets; empty if none was asked."""

    @property
    def key(self) -> tuple[str, str]:
        """The question's identity."""
        return self.dataset_name, self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded run, which answers in place of its system."""

    name: str
    """The recording's name in messages."""

    rows: Mapping[tuple[str, str], Recorded]
    """The recorded values by dataset name and id."""

    endpoint: str | None = None
    """The system that answered the question at hand; None for the recording as a whole."""

    clean: Callable[[str], str] = str
    """Redacts names and texts of questions like those in the recording."""

    @property
    def judges(self) -> frozenset[JudgeIdentity | None]:
        """The judges; None for questions without one."""
        return frozenset(row.judge for row in self.rows.values())

    async def ask(self, question: Question) -> RagAnswer:
        """
        Return the recorded answer.

        Raises:
            ReplayError: The recording lacks the question.
            RecordedError: The system had failed.
        """
        row = self._row(question)
        if row is None:
            # A dataset's name is its path below pytest's rootdir, which may differ today.
            first = next(iter(self.rows), None)
            begins = f"; it begins with {first[1]!r} of {first[0]!r}" if first else ""
            raise ReplayError(
                f"{self.name}: the recording has no question {question.id!r} of {question.dataset_name!r}{begins}. "
                "Record it: run once without --rag-replay."
            )
        if changed := self._changed(row, question):
            raise ReplayError(
                f"{self.name}: question {question.id!r} of {question.dataset_name!r} was recorded {changed}. "
                "Record it again: run once without --rag-replay."
            )
        if row.answer is None:
            raise RecordedError(row.error, kind=row.error_kind)
        return row.answer

    def prepared(
        self, question: Question, judge: Judge | None, metrics: Sequence[Metric], settings: Settings
    ) -> PreparedQuestion:
        """
        Return the question with the recording in place of its system, and of its judge if there is a verdict.

        *question* is today's question. *judge* judges an answer without a recorded verdict; None for no judge. An
        `UnavailableJudge` without an identity accepts the recorded verdicts of any judge.
        """
        recording = replace(self, clean=settings.redactor.text)
        row = recording._row(question)
        if judge is not None and row is not None and not (row.judge is None and judge_identity(judge) == ANY_JUDGE):
            judge = recorded = RecordedJudge(row, judge, repeats=settings.judge.repeats)
            local = [metric for metric in metrics if metric.local]
            known = {row.material: row.scores} if row.judge == recorded.identity else {}
            metrics = [*local, *(SameScore(metric, known) for metric in metrics if not metric.local)]
        else:
            judge = None
        return PreparedQuestion(
            question=question,
            client=replace(recording, endpoint=row.endpoint if row else ""),
            judge=judge,
            # Every repeat of a recording gives the same result.
            settings=settings.replace(repeats=1, judge_repeats=1),
            metrics=tuple(metrics),
            is_recorded=True,
        )

    def _changed(self, row: Recorded, question: Question) -> str:
        """Return how the recorded question differs from today's; empty if it does not."""
        if row.question != self.clean(question.question):
            return f"with another text, {row.question!r:.200}"
        if row.identity != self.clean(question.identity):
            return f"as {row.identity!r}" if row.identity else "without an identity"
        # Contexts of the tier end_to_end are those of the tier retrieval, too.
        if row.tier not in ("", question.tier) and (row.tier, question.tier) != (END_TO_END, RETRIEVAL_ALONE):
            return f"in the tier {row.tier!r}, not {question.tier!r}"
        if row.mentions and plants_of(question) and row.mentions != label_digests(question)[MENTIONS]:
            return "with other planted documents or mentions"
        return ""

    def _row(self, question: Question) -> Recorded | None:
        return self.rows.get((self.clean(question.dataset_name), self.clean(question.id)))


class UnavailableJudge:
    """
    Stands in for a judge that cannot be asked, such as one without a key.

    An *identity* of None stands for any judge of the recording. *problem* is the reason and the remedy. *is_model* is
    True for a language model, whose other metrics may be recorded too.
    """

    def __init__(self, identity: JudgeIdentity | None, problem: str, *, is_model: bool) -> None:
        self.identity = identity or ANY_JUDGE
        self.chat = self if is_model else None
        self._problem = problem

    async def ask(self, *_: object, **__: object) -> NoReturn:
        """Raise a JudgeError."""
        raise JudgeError(f"there is no recorded verdict of this judge on this answer: {self._problem}")

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """Raise a JudgeError."""
        await self.ask(question, answer)


ANY_JUDGE = JudgeIdentity(kind="recorded")
"""The identity of any judge of a recording."""


class RecordedJudge:
    """
    Returns the recorded judgement if judge and material are the same; otherwise asks *judge*.

    *repeats* is the number of judgements, >= 1.
    """

    def __init__(self, row: Recorded, judge: Judge, *, repeats: int = 1) -> None:
        self._row = row
        self._repeats = repeats
        self._judge = judge
        identity = judge_identity(judge)
        self.identity = row.judge if identity == ANY_JUDGE and row.judge else identity

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        Return the judgement.

        Raises:
            RecordedError: The same judge failed in the recorded run.
            JudgeError: The judge fails.
        """
        row = self._row
        same_judge = row.judge == self.identity
        if row.judgement is not None and same_judge and row.material == material_digest(question, answer):
            if row.use is not None:
                note_use(row.use)
            return row.judgement
        if row.error and row.error_kind not in DECIDED and same_judge:
            raise RecordedError(row.error, kind=row.error_kind)
        return await judge_by_all(question, answer, self._judge, repeats=self._repeats)
