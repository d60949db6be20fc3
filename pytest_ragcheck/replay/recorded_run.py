"""Replays a recorded run in place of its system and judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NoReturn

from pytest_ragcheck.check import PreparedQuestion
from pytest_ragcheck.config.settings import DUMMY_API_KEY, Settings
from pytest_ragcheck.errors import JudgeError, RecordedError, ReplayError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.checked_judgement import judge_identity
from pytest_ragcheck.judging.judge_choice import choose_judge, missing_for
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement, material_digest
from pytest_ragcheck.judging.model.chat import AsksModel
from pytest_ragcheck.judging.model.completion import TokenUse, note_use
from pytest_ragcheck.judging.panel import judge_by_all
from pytest_ragcheck.metrics.cost import Cost
from pytest_ragcheck.metrics.metric import RunMetric
from pytest_ragcheck.questions.planted_documents import plants_of
from pytest_ragcheck.questions.question import END_TO_END, RETRIEVAL_ALONE, EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import is_redacted
from pytest_ragcheck.scores import ABSTAINED, JUDGED, Score
from pytest_ragcheck.summary.gate.recorded_verdicts import SameScore
from pytest_ragcheck.summary.gate.saved_answer import MENTIONS, label_digests
from pytest_ragcheck.verdict.record import Record, lacks_secrets
from pytest_ragcheck.verdict.verdict import Verdict

DECIDED = frozenset({"unscored", "nothing_to_assert"})
"""Kinds of ERROR that depend on the thresholds rather than on endpoint or judge."""

_REDACTED = (
    "the recorded texts are redacted, so only the recorded scores under the recorded labels count. "
    "Run without --rag-replay for others"
)

_NOT_CHOSEN = "no judge was chosen for new verdicts. Give --rag-judge, or record again: run once without --rag-replay."


@frozen
class Recording:
    name: str

    rows: Mapping[tuple[str, str], Record]
    """The rows by dataset name and id, as far as a replay needs them; the tier of a question is empty if unknown."""

    labels: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """The `label_digests` of the questions, as far as they are known."""

    agent: str = ""

    complete: bool = True
    """False if the run was partial."""

    reach: Mapping[str, Any] = field(default_factory=dict)
    """The run's `reach`, as the file has it."""

    endpoint: str | None = None
    """The system that answered the question at hand; None for the recording as a whole."""

    history: tuple[EarlierTurn, ...] = ()
    """The turns before the question at hand."""

    clean: Callable[[str], str] = str
    """Redacts names and texts of questions like those in the recording."""

    @property
    def judges(self) -> frozenset[JudgeIdentity | None]:
        return frozenset(row.judge for row in self.rows.values())

    async def ask(self, question: Question) -> RagAnswer:
        """
        The recorded answer; a `ReplayError` if the recording lacks the question, a `RecordedError` if the system had
        failed.
        """
        row = self._row(question)
        before = self.history[: question.turn or 0]
        if row is None and before and before[-1].question == self.clean(question.question):
            # The turn has no item, such as a skipped one.
            return RagAnswer(text=before[-1].answer or "", contexts=before[-1].contexts)
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
        if row.verdict is Verdict.ERROR and not row.has_reply:
            raise RecordedError(row.reason, kind=row.error_kind)
        return replace(row.reply, extra=_extra(row.cost))

    def prepared(
        self, question: Question, judge: Judge | None, metrics: Sequence[RunMetric], settings: Settings
    ) -> PreparedQuestion:
        """
        Today's *question* with the recording in place of its system, and of its judge if there is a verdict.

        *judge* judges an answer without a recorded verdict; None for no judge. An `UnavailableJudge` without an
        identity accepts the recorded verdicts of any judge.
        """
        recording = replace(self, endpoint="", clean=settings.redactor.text)
        row, stands = recording._row(question), None
        if row is not None:
            question = replace(question, history=row.question.history, top_k=row.top_k or question.top_k)
            recording = replace(recording, endpoint=row.endpoint, history=question.history)
            stands = recording._stands(row, question)
            if stands is not None:
                metrics = [_RecordedScores(metric, row.scores if stands else {}) for metric in metrics]
        if judge is not None and row is not None and not (row.judge is None and judge_identity(judge) == ANY_JUDGE):
            judge = recorded = RecordedJudge(row, judge, repeats=settings.judge.repeats, stands=stands)
            local = [metric for metric in metrics if metric.local]
            known = {row.material: row.scores} if row.judge == recorded.identity else {}
            metrics = [*local, *(SameScore(metric, known) for metric in metrics if not metric.local)]
        else:
            judge = None
        return PreparedQuestion(
            question=question,
            client=recording,
            judge=judge,
            # Every repeat of a recording gives the same result.
            settings=settings.replace(repeats=1, judge_repeats=1),
            metrics=tuple(metrics),
            is_recorded=True,
            row=row,
        )

    def _changed(self, row: Record, question: Question) -> str:
        # The recorded circumstance under which the system may have answered otherwise; empty if there is none.
        asked = row.question
        if asked.question != self.clean(question.question):
            return f"with another text, {asked.question!r:.200}"
        if asked.identity != self.clean(question.identity):
            return f"as {asked.identity!r}" if asked.identity else "without an identity"
        # Contexts of the tier end_to_end are those of the tier retrieval, too.
        if asked.tier not in ("", question.tier) and (asked.tier, question.tier) != (END_TO_END, RETRIEVAL_ALONE):
            return f"in the tier {asked.tier!r}, not {question.tier!r}"
        mentions = self.labels.get(asked.key, {}).get(MENTIONS)
        if mentions and plants_of(question) and mentions != label_digests(question)[MENTIONS]:
            return "with other planted documents or mentions"
        return ""

    def _stands(self, row: Record, question: Question) -> bool | None:
        # Whether the recorded measures count for redacted texts, on which no other can; None if no text is redacted.
        gold = (text for passage in question.gold_passages for text in (passage.text, passage.doc_id))
        mentions = (*question.must_mention, *question.must_not_mention, *question.must_cite)
        if is_redacted(*question.acceptable_answers, *mentions, *question.must_not_retrieve, *gold):
            # The question is from the result files of the recorded run.
            return True
        labels = self.labels.get(row.question.key)
        return labels in (None, label_digests(question)) if lacks_secrets(row) else None

    def _row(self, question: Question) -> Record | None:
        return self.rows.get((self.clean(question.dataset_name), self.clean(question.id)))


class UnavailableJudge(AsksModel):
    """
    Stands in for a judge that cannot be asked, or for any judge of the recording if *identity* is None.

    *problem* is the reason and the remedy. The other metrics of a model (*is_model*) may be recorded too.
    """

    def __init__(self, identity: JudgeIdentity | None, problem: str, *, is_model: bool) -> None:
        self.identity = identity or ANY_JUDGE
        self.chat = self if is_model else None
        self._problem = problem

    async def ask(self, *_: object, **__: object) -> NoReturn:
        raise JudgeError(f"there is no recorded verdict of this judge on this answer: {self._problem}")

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        await self.ask(question, answer)


ANY_JUDGE = JudgeIdentity(kind="recorded")


class RecordedJudge:
    """
    Returns the recorded judgement if judge and material are the same; otherwise asks *judge*.

    *repeats* is the number of judgements, >= 1. If texts are redacted, *stands* decides instead of the material, and no
    other judge is asked.
    """

    def __init__(self, row: Record, judge: Judge, *, repeats: int, stands: bool | None = None) -> None:
        self._row = row
        self._stands = stands
        self._repeats = repeats
        self._judge = judge
        identity = judge_identity(judge)
        self.identity = row.judge if identity == ANY_JUDGE and row.judge else identity

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """The judgement; a `RecordedError` if the judge failed in the recorded run, a `JudgeError` if it fails now."""
        row, cost = self._row, self._row.cost
        if row.judge == self.identity:
            stands = row.material == material_digest(question, answer) if self._stands is None else self._stands
            if row.judgement is not None and stands:
                if cost.asked_judge:
                    tokens = {"input_tokens": cost.judge_input_tokens, "output_tokens": cost.judge_output_tokens}
                    note_use(TokenUse(model="", url=None, **tokens, recorded=True, recorded_usd=cost.judge_usd))
                return row.judgement
            if row.verdict is Verdict.ERROR and row.error_kind not in DECIDED:
                raise RecordedError(row.reason, kind=row.error_kind)
            # The judge failed beside a leak.
            reasons = (row.scores[metric].reason for metric in (ABSTAINED, *JUDGED) if metric in row.scores)
            if reason := max(reasons, default=""):
                raise RecordedError(reason, kind=JudgeError.kind)
        if self._stands is not None:
            raise JudgeError(f"{_REDACTED}.")
        judgement = await judge_by_all(question, answer, self._judge, repeats=self._repeats)
        if row.endpoint or row.contexts:
            return judgement
        # No run asked the system, and results of the old layout have no contexts.
        return replace(judgement, groundedness=None, unsupported_claims=())


class _RecordedScores:
    # The recorded scores of a metric over redacted texts; those that it would add are unscored.
    local = True

    def __init__(self, metric: RunMetric, scores: Mapping[str, Score]) -> None:
        self.names = metric.names
        self._metric = metric
        self._scores = {name: scores[name] for name in metric.names if name in scores}

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        known = self._scores
        found = await self._metric.score(question, answer) if self._metric.local else () if known else self.names
        return dict.fromkeys(found, Score.unscored(_REDACTED)) | known


def _extra(cost: Cost) -> dict[str, Any]:
    names = {"input_tokens": "system_input_tokens", "output_tokens": "system_output_tokens", "cost_usd": "system_usd"}
    known = cost.known()
    metrics = {name: known[own] for name, own in names.items() if own in known}
    return {"metrics": metrics} if metrics else {}


def choose_replay_judge(settings: Settings, recording: Recording) -> Judge | None:
    """
    The chosen judge, or a stand-in if none was chosen or its key is missing.

    A `UsageError` if the judge lacks another setting.
    """
    if not settings.judge.is_chosen:
        return UnavailableJudge(None, _NOT_CHOSEN, is_model=any(judge and judge.model for judge in recording.judges))
    if settings.judge.name == "openai" and missing_for(settings):
        return _judge_without_key(settings)
    return choose_judge(settings)


def missing_for_replay(settings: Settings, recording: Recording) -> str:
    """The reason why the recording cannot be judged, and the remedy; empty if it can."""
    problem = missing_for(settings) if settings.judge.name == "openai" and settings.judge.is_chosen else ""
    if not problem or _judge_without_key(settings).identity in recording.judges:
        return ""
    return f"{recording.name} was judged by another judge, and {problem}."


def _judge_without_key(settings: Settings) -> UnavailableJudge:
    # The recorded verdicts need no key, but new ones do.
    known = choose_judge(settings.replace(judge_api_key=DUMMY_API_KEY))
    return UnavailableJudge(getattr(known, "identity", None), f"{missing_for(settings)}.", is_model=True)
