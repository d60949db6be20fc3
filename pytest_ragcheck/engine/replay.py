"""A recorded run in place of the system and of its judge: what was answered and judged once is decided anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from pytest_ragcheck.errors import JudgeError, RecordedError, ReplayError
from pytest_ragcheck.judging.judge import judge_identity
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.judging.material import material_digest
from pytest_ragcheck.judging.panel import judge_by_all
from pytest_ragcheck.judging.usage import note_use

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.judging.usage import Use
    from pytest_ragcheck.metrics.metric import Metric
    from pytest_ragcheck.metrics.score import Score
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

DECIDED = frozenset({"unscored", "nothing_to_assert"})
"""Kinds of ERROR that say nothing of endpoint and judge, and may come out otherwise under other thresholds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a run came to know of one question."""

    dataset_name: str
    id: str
    question: str
    """The text that was asked."""

    answer: RagAnswer | None = None
    """None where the system gave none; `error` then says why."""

    judge: JudgeIdentity | None = None
    """Who judged, or would have; None without a judge."""

    judgement: Judgement | None = None
    material: str = ""
    """Digest of what the judge was given; empty without a judgement."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    """By metric what was measured, the judge's scores among it."""

    use: Use | None = None
    """What the judge's models used; None where it is not known."""

    error_kind: str = ""
    error: str = ""
    """Of an ERROR its text, else empty."""

    endpoint: str = ""
    """The system that was asked, as it may be shown; empty where none was."""

    @property
    def key(self) -> tuple[str, str]:
        """The question's identity."""
        return self.dataset_name, self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """With what one question is evaluated in place of client, judge and metrics."""

    client: RecordedSystem
    judge: RecordedJudge | None
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded run."""

    name: str
    """As texts call it."""

    rows: Mapping[tuple[str, str], Recorded]
    """By dataset name and id."""

    @property
    def judges(self) -> frozenset[JudgeIdentity | None]:
        """Everybody who judged; None where nobody did."""
        return frozenset(row.judge for row in self.rows.values())

    async def ask(self, question: Question) -> RagAnswer:
        """
        The recorded answer.

        Raises:
            ReplayError: There is none for this question.
            RecordedError: The system gave none.
        """
        return await self._system(question).ask(question)

    def _system(self, question: Question) -> RecordedSystem:
        return RecordedSystem(self.name, self.rows.get(_key(question)), first=next(iter(self.rows), None))

    def replayed(
        self, question: Question, judge: Judge | None, metrics: Sequence[Metric], *, repeats: int = 1
    ) -> Replayed:
        """
        With what the question is evaluated.

        Args:
            question: As it is asked today.
            judge: Who judges what the recorded judge did not; None: nobody is to judge. An `Unasked` without an
                identity takes the recorded verdicts, whoever gave them.
            metrics: Those of the run.
            repeats: How often the judge is asked of one answer, >= 1; of a recorded judgement it was asked before.
        """
        row = self.rows.get(_key(question))
        client = self._system(question)
        if judge is None or row is None or (row.judge is None and judge_identity(judge) == ANYBODY):
            return Replayed(client=client, judge=None, metrics=tuple(metrics))
        recorded = RecordedJudge(row, judge, repeats=repeats)
        local = [metric for metric in metrics if metric.local]
        others = [RecordedMetric(metric, recorded) for metric in metrics if not metric.local]
        return Replayed(client=client, judge=recorded, metrics=(*local, *others))


class Unasked:
    """
    A judge that is known and cannot be asked.

    Args:
        identity: Who it is; None: whoever judged the recording.
        problem: Why it cannot be asked, and what to do.
        is_model: Whether it is a language model, of which metrics could be recorded that ask one.
    """

    def __init__(self, identity: JudgeIdentity | None, problem: str, *, is_model: bool) -> None:
        self.identity = identity or ANYBODY
        self.chat = self if is_model else None
        self._problem = problem

    async def ask(self, *_: object, **__: object) -> NoReturn:
        """Raises a JudgeError, always, in place of the model's reply."""
        raise self._error()

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:  # noqa: ARG002 - the seam's names
        """Raises a JudgeError, always."""
        raise self._error()

    def _error(self) -> JudgeError:
        return JudgeError(f"there is no recorded verdict of this judge on this answer: {self._problem}")


ANYBODY = JudgeIdentity(kind="recorded")
"""Stands for whoever judged the recording."""


class RecordedSystem:
    """Gives the recorded answer to one question, or the recorded ERROR."""

    def __init__(self, name: str, row: Recorded | None, *, first: tuple[str, str] | None = None) -> None:
        self.endpoint = row.endpoint if row else ""
        self._name = name
        self._row = row
        self._first = first
        """Of the recording the first question's dataset name and id."""

    async def ask(self, question: Question) -> RagAnswer:
        """The recorded answer; a ReplayError or a RecordedError where there is none."""
        row = self._row
        if row is None:
            # Datasets are named after their place below pytest's root folder, which may be another one today.
            begins = f"; it begins with {self._first[1]!r} of {self._first[0]!r}" if self._first else ""
            raise ReplayError(
                f"{self._name}: the recording has no question {question.id!r} of {question.dataset_name!r}{begins}. "
                "Record it: run once without --rag-replay."
            )
        if row.question != question.question:
            raise ReplayError(
                f"{self._name}: question {question.id!r} of {question.dataset_name!r} was recorded with another text, "
                f"{row.question!r:.200}. Record it anew: run once without --rag-replay."
            )
        if row.answer is None:
            raise RecordedError(row.error, kind=row.error_kind)
        return row.answer


class RecordedJudge:
    """
    Gives the recorded judgement where it is the same judge's of the same material; else the judge is asked.

    Args:
        row: What was recorded of the question.
        by: The judge of today.
        repeats: How often it is asked, >= 1.
    """

    def __init__(self, row: Recorded, by: Judge, *, repeats: int = 1) -> None:
        self.row = row
        self._repeats = repeats
        self._by = by
        identity = judge_identity(by)
        self.identity = row.judge if identity == ANYBODY and row.judge else identity

    def applies(self, question: Question, answer: RagAnswer) -> bool:
        """Whether the recording has this judge's word on this answer."""
        same = self.row.judge == self.identity
        return same and bool(self.row.material) and self.row.material == material_digest(question, answer)

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The judgement.

        Raises:
            RecordedError: The same judge failed when it was recorded.
            JudgeError: Today's judge fails.
        """
        row = self.row
        if row.judgement is not None and self.applies(question, answer):
            if row.use is not None:
                note_use(row.use)
            return row.judgement
        if row.error and row.error_kind not in DECIDED and row.judge == self.identity:
            raise RecordedError(row.error, kind=row.error_kind)
        return await judge_by_all(question, answer, self._by, repeats=self._repeats)


class RecordedMetric:
    """A metric that may ask a server, in place of which the recorded numbers stand where they apply."""

    local = False

    def __init__(self, metric: Metric, recorded: RecordedJudge) -> None:
        self.names = metric.names
        self._metric = metric
        self._recorded = recorded

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        """The recorded numbers, or today's."""
        scores = self._recorded.row.scores
        known = {name: scores[name] for name in self.names if name in scores}
        if known and self._recorded.applies(question, answer):
            return known
        return await self._metric.score(question, answer)


def _key(question: Question) -> tuple[str, str]:
    return question.dataset_name, question.id
