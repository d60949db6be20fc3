"""A replay takes the recorded answers, and the recorded verdicts of the same judge on the same material."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck import Judgement, RagAnswer
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.engine.evaluator import evaluate_all
from pytest_ragcheck.judging.judgement import JudgeIdentity, material_digest
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.replay.recorded_run import Recording, UnavailableJudge
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.gate.saved_answer import label_digests
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import Judges, a_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_ragcheck.questions.question import Question

QUESTION = a_question(expected_answer="30 days")
ANSWER = RagAnswer(text="30 days", contexts=("Within 30 days.",), source_ids=("1",), latency_seconds=0.25)
MODEL = JudgeIdentity(kind="openai", model="m", prompt_version="en-1")
SAID = Judgement(answer_correctness=0.75, groundedness=0.8, error_message="short", unsupported_claims=("ever",))
ROW = Record(
    question=replace(QUESTION, tier=""),
    verdict=Verdict.PASS,
    answer=ANSWER.text,
    contexts=ANSWER.contexts,
    source_ids=ANSWER.source_ids,
    latency_seconds=ANSWER.latency_seconds,
    judge=MODEL,
    judgement=SAID,
    material=material_digest(QUESTION, ANSWER),
    endpoint="http://localhost/query",
)
UNJUDGED = replace(ROW, verdict=Verdict.ERROR, judgement=None, material="")
KEY = QUESTION.key
ANY_JUDGE = UnavailableJudge(None, "no judge was chosen.", is_model=False)


class Model(Judges):
    """Today's judge, whose verdicts differ from the recorded ones."""

    def __init__(self, identity: JudgeIdentity = MODEL) -> None:
        super().__init__(answer_correctness=0.1, groundedness=0.2)
        self.identity = identity


def replayed(
    row: Record | None = ROW,
    *,
    labels: Mapping[Any, Any] | None = None,
    question: Question = QUESTION,
    judge: Any = ANY_JUDGE,
    metrics: Sequence[Any] = (),
    **settings: Any,
) -> Record:
    rows = {} if row is None else {KEY: row}
    recording = Recording(name="rec.json", rows=rows, labels=labels or {})
    chosen = Settings.of(**settings)
    (record,) = asyncio.run(evaluate_all([recording.prepared(question, judge, metrics, chosen)], chosen))
    return record


def values(record: Record) -> dict[str, float | None]:
    return {metric: score.value for metric, score in record.scores.items()}


def test_answer_and_verdict_are_the_recorded_ones_of_any_judge() -> None:
    record = replayed()
    assert (record.answer, record.contexts, record.source_ids, record.latency_seconds) == (
        "30 days", ("Within 30 days.",), ("1",), 0.25,
    )  # fmt: skip
    assert values(record) == {"answer_correctness": 0.75, "groundedness": 0.8, "abstained": 0.0}
    assert (record.verdict, record.judge, record.endpoint) == (Verdict.PASS, MODEL, "http://localhost/query")
    assert record.unsupported_claims == ("ever",)
    assert replayed(replace(ROW, verdict=Verdict.FAIL)).endpoint == "http://localhost/query"


def test_the_same_judge_is_not_asked() -> None:
    judge = Model()
    assert values(replayed(judge=judge))["groundedness"] == 0.8
    assert judge.judged == []


def test_todays_thresholds_decide_and_the_judges_words_are_the_reason() -> None:
    record = replayed(threshold=0.78)
    assert (record.verdict, record.reason) == (Verdict.FAIL, "short")
    assert record.shortfalls == {"answer_correctness": 0.75}


def test_another_judge_judges_the_recorded_answer_anew() -> None:
    others = [replace(MODEL, model="n"), replace(MODEL, url="http://other"), replace(MODEL, prompt_version="en-2")]
    for identity in others:
        judge = Model(identity)
        record = replayed(judge=judge)
        assert (values(record)["groundedness"], record.judge) == (0.2, identity)
        assert [answer.text for answer in judge.judged] == ["30 days"]


def test_a_verdict_on_redacted_texts_stands_for_the_same_labels_and_judge_alone() -> None:
    row = replace(ROW, answer="password: [redacted]", material="of the whole texts", reason="short")
    labels, judge = {KEY: label_digests(QUESTION)}, Model()
    (local,) = (metric for metric in choose_metrics(Settings.of(), None) if "f1" in metric.names)
    row = replace(row, scores={"f1": Score(0.25)})
    record = replayed(row, labels=labels, judge=judge, metrics=[local])
    # The exact match was not recorded, and is not measured on the redacted text.
    expected = {"answer_correctness": 0.75, "groundedness": 0.8, "abstained": 0.0, "exact_match": None, "f1": 0.25}
    assert (values(record), record.material) == (expected, row.material)
    edited = replayed(row, labels=labels, judge=judge, metrics=[local], question=a_question(expected_answer="60 days"))
    other = replayed(row, labels=labels, judge=Model(replace(MODEL, model="n")), metrics=[local])
    assert [each.error_kind for each in (edited, other)] == ["judge", "judge"]
    assert values(edited)["f1"] is None
    assert values(other)["f1"] == 0.25
    assert judge.judged == []


def test_a_verdict_on_another_expected_answer_does_not_stand() -> None:
    question = a_question(expected_answer="60 days")
    assert values(replayed(question=question, judge=Model()))["answer_correctness"] == 0.1
    record = replayed(question=question)
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "judge")
    assert record.reason == "there is no recorded verdict of this judge on this answer: no judge was chosen."


def test_without_a_judge_only_the_answer_is_taken() -> None:
    record = replayed(judge=None)
    assert (values(record), record.judge) == ({"abstained": 0.0}, None)
    # The same holds without a judge in the recorded run and today.
    assert replayed(replace(ROW, judge=None, judgement=None, material="")).judge is None


def test_a_recording_without_a_judge_is_judged_by_todays() -> None:
    record = replayed(replace(ROW, judge=None, judgement=None, material=""), judge=Model())
    assert values(record)["groundedness"] == 0.2


def test_unknown_contexts_of_converted_results_measure_no_groundedness() -> None:
    row = replace(UNJUDGED, verdict=Verdict.PASS, judge=None, contexts=(), source_ids=None)
    assert values(replayed(replace(row, endpoint=""), judge=Model()))["answer_correctness"] == 0.1
    assert "groundedness" not in values(replayed(replace(row, endpoint=""), judge=Model()))
    # A run knows that the system returned none.
    assert values(replayed(row, judge=Model()))["groundedness"] == 0.0


def test_a_question_that_was_not_recorded_is_an_error_that_says_what_to_do() -> None:
    record = replayed(None)
    assert (record.verdict, record.error_kind, record.endpoint) == (Verdict.ERROR, "replay", "")
    assert record.reason == (
        "rec.json: the recording has no question 'refunds' of 'billing'. Record it: run once without --rag-replay."
    )


def test_a_question_of_an_unrecorded_dataset_is_an_error_that_names_the_recorded_datasets() -> None:
    # As where pytest's root folder is another one.
    record = replayed(question=a_question("refunds", dataset_name="docs__billing"))
    assert record.reason == (
        "rec.json: the recording has no question 'refunds' of 'docs__billing'; it begins with 'refunds' of 'billing'. "
        "Record it: run once without --rag-replay."
    )


def test_a_question_with_another_text_is_an_error_that_names_it() -> None:
    record = replayed(question=a_question(question="And now?"))
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "replay")
    assert record.reason == (
        "rec.json: question 'refunds' of 'billing' was recorded with another text, 'What about refunds?'. "
        "Record it again: run once without --rag-replay."
    )


@pytest.mark.parametrize(
    ("row", "question", "how"),
    [
        ({}, {"identity": "bob"}, "without an identity"),
        ({"identity": "alice"}, {"identity": "bob"}, "as 'alice'"),
        ({"tier": "retrieval"}, {}, "in the tier 'retrieval', not 'end_to_end'"),
        ({"tier": "end_to_end"}, {"tier": "generation"}, "in the tier 'end_to_end', not 'generation'"),
        ({}, {"tags": ("injection",)}, "with other planted documents or mentions"),
    ],
)
def test_a_question_that_was_asked_otherwise_is_an_error(row: Any, question: Any, how: str) -> None:
    canary = "ref-1-00c0ffee0001"
    planted = GoldPassage(doc_id="note-1:refunds", text=canary)
    asked = replace(QUESTION, must_not_mention=(canary,), distractors=(planted,), **question)
    recorded = replace(ROW, question=replace(ROW.question, **row))
    record = replayed(
        recorded, question=asked, labels={KEY: {"mentions": "0123456789abcdef"}} if "tags" in question else {}
    )
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "replay")
    assert record.reason == (
        f"rec.json: question 'refunds' of 'billing' was recorded {how}. Record it again: run once without --rag-replay."
    )


def test_contexts_of_a_whole_run_are_those_of_the_tier_retrieval() -> None:
    asked = replace(QUESTION, tier="retrieval", gold_passages=(GoldPassage(doc_id="1"),))
    assert replayed(replace(ROW, question=QUESTION), question=asked).contexts == ANSWER.contexts


def test_an_error_of_the_system_is_the_same_error() -> None:
    row = replace(UNJUDGED, answer=None, error_kind="endpoint_timeout", reason="no reply")
    for judge in (ANY_JUDGE, Model()):
        record = replayed(row, judge=judge)
        assert (record.verdict, record.error_kind, record.reason) == (Verdict.ERROR, "endpoint_timeout", "no reply")
        assert record.judge == MODEL


def test_an_error_of_the_judge_is_the_same_error_unless_another_judges() -> None:
    row = replace(UNJUDGED, error_kind="judge_reply", reason="no JSON")
    for judge in (ANY_JUDGE, Model()):
        record = replayed(row, judge=judge)
        assert (record.verdict, record.error_kind, record.reason) == (Verdict.ERROR, "judge_reply", "no JSON")
        assert record.answer == "30 days"
    assert values(replayed(row, judge=Model(replace(MODEL, model="n"))))["groundedness"] == 0.2


def test_a_failure_of_the_judge_beside_a_leak_is_the_same_failure() -> None:
    failed = dict.fromkeys(("answer_correctness", "groundedness"), Score.unscored("no JSON"))
    row = replace(UNJUDGED, verdict=Verdict.FAIL, scores=failed)
    judge = Model()
    question = replace(QUESTION, must_not_mention=("30 days",))
    record = replayed(row, question=question, judge=judge, metrics=choose_metrics(Settings.of(), judge))
    assert (record.verdict, judge.judged) == (Verdict.FAIL, [])
    assert record.reason.endswith("could not be measured: no JSON")


class Hanging(Model):
    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        await asyncio.Event().wait()
        return SAID


def test_a_judge_that_never_has_time_ends_the_question_at_its_time_limit() -> None:
    record = replayed(judge=Hanging(replace(MODEL, model="n")), timeout=0.02)
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "question_timeout")
    assert record.reason.startswith("no verdict within 0.2 s: ")


def test_an_error_of_the_thresholds_is_decided_anew() -> None:
    row = replace(ROW, verdict=Verdict.ERROR, error_kind="unscored", reason="f1 could not be measured")
    assert replayed(row).verdict is Verdict.PASS


def test_a_right_refusal_and_an_empty_answer_are_replayed_too() -> None:
    question = a_question(answerable=False)
    for answer in (RagAnswer(text=""), RagAnswer(text="I do not know.")):
        said = Judgement(answer_correctness=0.0, abstained=True)
        material = material_digest(question, answer)
        row = replace(ROW, answer=answer.text, contexts=(), source_ids=(), judgement=said, material=material)
        assert replayed(row, question=question).verdict is Verdict.PASS


class Asking:
    """A metric that asks a server."""

    names = ("tone", "style")
    local = False
    asked = 0

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        self.asked += 1
        return {"tone": Score(0.1)}


class Local:
    names = ("length",)
    local = True

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        return {"length": Score(len(answer.text) / 10)}


def test_metrics_with_requests_are_replayed_and_the_others_measured() -> None:
    scores = {"tone": Score(0.9), "style": Score.unscored("no room"), "length": Score(0.0)}
    asking = Asking()
    record = replayed(replace(ROW, scores=scores), metrics=[asking, Local()])
    assert {name: record.scores[name] for name in ("tone", "style", "length")} == {**scores, "length": Score(0.7)}
    assert asking.asked == 0


def test_metrics_that_ask_a_server_are_measured_if_the_recording_lacks_them() -> None:
    asking = Asking()
    assert values(replayed(metrics=[asking]))["tone"] == 0.1
    other = Model(replace(MODEL, model="n"))
    assert values(replayed(replace(ROW, scores={"tone": Score(0.9)}), judge=other, metrics=[asking]))["tone"] == 0.1
    assert asking.asked == 2


def test_a_name_that_a_metric_of_the_users_did_not_have_yet_is_measured() -> None:
    recorded = replace(ROW, scores={"style": Score(0.9)})
    assert values(replayed(recorded, metrics=[Asking()])).items() >= {"style": 0.9, "tone": 0.1}.items()


def test_a_recording_can_be_asked_like_any_client() -> None:
    recording = Recording(name="rec.json", rows={KEY: ROW})
    assert asyncio.run(recording.ask(QUESTION)) == ANSWER
    assert recording.judges == {MODEL}


def test_metrics_of_a_model_that_cannot_be_asked_are_recorded_or_not_measured() -> None:
    judge = UnavailableJudge(None, "no judge was chosen.", is_model=True)
    metrics = choose_metrics(Settings.of(metrics=("judge", "ragas")), judge)
    scores = {"ragas_faithfulness": Score(0.5)}
    assert replayed(replace(ROW, scores=scores), judge=judge, metrics=metrics).scores["ragas_faithfulness"].value == 0.5
    unscored = replayed(judge=judge, metrics=metrics).scores["ragas_faithfulness"]
    assert unscored.reason == "there is no recorded verdict of this judge on this answer: no judge was chosen."


def test_a_recorded_judgement_counts_once_and_new_judgements_are_repeated() -> None:
    recording = Recording(name="rec.json", rows={KEY: ROW})
    for judge, times in ((Model(), 0), (Model(replace(MODEL, model="n")), 3)):
        recorded = recording.prepared(QUESTION, judge, (), Settings.of(judge_repeats=3)).judge
        assert recorded is not None
        judgement = asyncio.run(recorded.judge(QUESTION, ANSWER))
        assert len(judge.judged) == times
        assert judgement.votes == ({"answer_correctness": [0.1] * 3, "groundedness": [0.2] * 3} if times else {})
