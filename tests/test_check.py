from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck import GoldPassage, Judgement, RagAnswer, Record
from pytest_ragcheck.check import PreparedQuestion, check_question
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import (
    EndpointReplyError,
    EndpointTimeout,
    IngestionError,
    JudgeReplyError,
    JudgeUnavailable,
    MeasurementError,
    ReplayError,
)
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.metrics.metric import read_own
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.redaction import REDACTED
from pytest_ragcheck.scores import Score
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import Answers, Judges, a_question

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question

ANSWER = RagAnswer(
    text="Refunds are possible within 30 days.",
    contexts=("Refunds: within 30 days.",),
    source_ids=("billing.txt",),
    latency_seconds=0.25,
)
GOOD = Judgement(answer_correctness=0.9, groundedness=0.8, abstained=False)
EXPECTED = a_question(expected_answer="30 days")


def checked(
    question: Question = EXPECTED,
    answer: Any = ANSWER,
    judge: Any = GOOD,
    settings: Settings | None = None,
    own: tuple[Any, ...] = (),
) -> Record:
    by = Judges(judge) if isinstance(judge, Judgement | BaseException) else judge
    client = Answers(answer) if isinstance(answer, RagAnswer | BaseException) else answer
    settings = settings or Settings.of()
    metrics = (*choose_metrics(settings, by), *read_own(own))
    prepared = PreparedQuestion(question=question, client=client, judge=by, metrics=metrics, settings=settings)
    return asyncio.run(check_question(prepared))


def unjudged(question: Question, answer: RagAnswer, settings: Settings | None = None) -> Record:
    return checked(question, answer, None, settings or Settings.of(judge="none"))


def values(record: Record) -> dict[str, float | None]:
    return {metric: score.value for metric, score in record.scores.items()}


def test_a_question_is_asked_judged_measured_and_decided() -> None:
    record = checked()
    assert record.verdict is Verdict.PASS
    assert (record.answer, record.contexts) == (ANSWER.text, ANSWER.contexts)
    assert (record.source_ids, record.latency_seconds) == (("billing.txt",), 0.25)
    # "refunds are possible within 30 days" and "30 days" have two words in common: p = 2/6, r = 1, f1 = 0.5.
    assert values(record) == {
        "answer_correctness": 0.9, "groundedness": 0.8, "abstained": 0.0, "exact_match": 0.0, "f1": 0.5,
    }  # fmt: skip
    assert record.thresholds == {"answer_correctness": 0.7, "groundedness": 0.7}
    assert (record.reason, record.error_kind) == ("", "")
    assert (record.judge, record.endpoint) == (JudgeIdentity(kind="Judges"), "canned system")


def test_a_fail_has_the_judges_reason_and_the_claims_that_it_names() -> None:
    judgement = Judgement(
        answer_correctness=0.9, groundedness=0.4, error_message=" No context says 30. ", unsupported_claims=("30 days",)
    )
    record = checked(judge=judgement)
    assert record.verdict is Verdict.FAIL
    assert record.shortfalls == {"groundedness": 0.4}
    assert record.reason == "No context says 30."
    assert record.unsupported_claims == ("30 days",)


def test_a_pass_has_no_reason_even_if_the_judge_names_a_weakness() -> None:
    assert checked(judge=Judgement(answer_correctness=0.9, groundedness=0.9, error_message="Too long.")).reason == ""


def test_a_fail_without_a_reason_of_the_judges_says_so() -> None:
    assert checked(judge=Judgement(answer_correctness=0.1, groundedness=0.9)).reason == "the judge named no weakness"


def test_thresholds_of_the_run_are_those_of_the_settings() -> None:
    record = checked(settings=Settings.of(threshold=0.95, min={"f1": 0.6, "groundedness": 0.5}))
    assert record.thresholds == {"answer_correctness": 0.95, "groundedness": 0.5, "f1": 0.6}
    assert record.shortfalls == {"answer_correctness": 0.9, "f1": 0.5}
    assert record.reason == "the judge named no weakness; expected '30 days'"


def test_what_is_mentioned_or_not_is_said() -> None:
    question = a_question(expected_answer="30", must_mention=("14 days", "/30|thirty/"), must_not_mention=("possible",))
    record = checked(question)
    assert record.verdict is Verdict.FAIL
    assert record.scores["must_mention"].value == 0.5
    assert record.reason == "the answer does not mention '14 days'; the answer mentions 'possible'"


def test_a_slow_expression_is_an_error_of_its_question_and_leaves_other_metrics_alone() -> None:
    question = a_question(expected_answer="30", must_mention=("/(a|aa)+$/",), must_not_mention=("never",))
    record = checked(question, answer=RagAnswer(text="a" * 100 + "!", contexts=("c",)))
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "unscored")
    assert record.reason == (
        "must_mention could not be measured: the regular expression /(a|aa)+$/ was stopped after 5 s on an answer of "
        "101 characters. Write one in which no text can be matched in many ways, such as /a+b/ for /(a|aa)+b/."
    )
    assert record.scores["must_not_mention"].value == 1.0


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_answer_is_an_abstention_that_needs_no_judge(text: str) -> None:
    judge = Judges(GOOD)
    record = checked(answer=RagAnswer(text=text, contexts=("c",)), judge=judge)
    assert judge.judged == []
    assert record.verdict is Verdict.FAIL
    assert values(record) == {
        "answer_correctness": 0.0, "groundedness": 0.0, "abstained": 1.0, "exact_match": 0.0, "f1": 0.0,
    }  # fmt: skip
    assert record.reason == ("the system declined to answer, although the question is answerable (the answer is empty)")


def test_an_empty_answer_to_an_unanswerable_question_passes_without_groundedness() -> None:
    record = checked(a_question(answerable=False), RagAnswer(text=""))
    assert record.verdict is Verdict.PASS
    assert values(record) == {"abstained": 1.0}


def test_an_answer_to_an_unanswerable_question_fails() -> None:
    record = checked(a_question(answerable=False))
    assert record.verdict is Verdict.FAIL
    assert record.reason == "the system answered, although the question is unanswerable"
    assert "answer_correctness" not in record.scores


def test_a_refusal_is_recognised_by_its_words_if_the_judge_does_not_say() -> None:
    refusal = RagAnswer(text="I do not know.", contexts=("c",))
    judgement = Judgement(answer_correctness=0.0, groundedness=1.0)
    assert checked(a_question(answerable=False), refusal, judgement).verdict is Verdict.PASS
    record = checked(answer=refusal, judge=judgement)
    assert record.scores["abstained"].value == 1.0
    assert record.reason == "the system declined to answer, although the question is answerable"


def test_the_judge_has_the_last_word_on_what_is_a_refusal() -> None:
    refusal = RagAnswer(text="I do not know.", contexts=("c",))
    said = Judgement(answer_correctness=0.0, groundedness=1.0, abstained=False)
    assert checked(a_question(answerable=False), refusal, said).verdict is Verdict.FAIL


def test_without_contexts_groundedness_is_0_and_correctness_is_still_judged() -> None:
    record = checked(answer=RagAnswer(text="30 days"))
    assert record.verdict is Verdict.FAIL
    assert (values(record)["answer_correctness"], values(record)["groundedness"]) == (0.9, 0.0)
    assert record.reason == "no contexts were returned"


def test_a_right_refusal_without_contexts_puts_no_groundedness_into_a_mean() -> None:
    refusal = RagAnswer(text="I do not know.")
    said = Judgement(answer_correctness=0.0, groundedness=1.0, abstained=True)
    record = checked(a_question(answerable=False), refusal, said)
    assert record.verdict is Verdict.PASS
    assert "groundedness" not in record.scores


def test_without_contexts_and_with_a_wrong_answer_both_reasons_stand() -> None:
    wrong = Judgement(answer_correctness=0.2, groundedness=0.9, error_message="It is 14 days.")
    assert checked(answer=RagAnswer(text="30 days"), judge=wrong).reason == "no contexts were returned; It is 14 days."


def test_a_judge_that_does_not_score_groundedness_is_not_made_to_by_missing_contexts() -> None:
    record = checked(answer=RagAnswer(text="30 days"), judge=Judgement(answer_correctness=0.9))
    assert record.verdict is Verdict.PASS
    assert record.dropped == {"groundedness": "the judge does not score it"}


def test_without_a_judge_keyless_metrics_are_measured_and_nothing_else_is_asserted() -> None:
    record = unjudged(EXPECTED, ANSWER)
    assert record.verdict is Verdict.PASS
    assert values(record) == {"abstained": 0.0, "exact_match": 0.0, "f1": 0.5}
    assert (record.thresholds, record.dropped, record.judge) == ({}, {}, None)


def test_without_a_judge_minimums_and_mentions_are_asserted() -> None:
    record = unjudged(
        a_question(expected_answer="30 days", must_mention=("30 days",), thresholds={"f1": 0.6, "groundedness": 0.9}),
        ANSWER,
    )
    assert record.verdict is Verdict.FAIL
    assert record.thresholds == {"f1": 0.6, "must_mention": 1.0}
    assert record.dropped == {"groundedness": "there is no judge"}
    assert record.reason == "expected '30 days'"


def test_without_a_judge_an_abstention_is_measured_and_not_asserted() -> None:
    record = unjudged(a_question(answerable=False), ANSWER)
    assert record.verdict is Verdict.PASS
    assert values(record) == {"abstained": 0.0}
    assert unjudged(EXPECTED, RagAnswer(text="")).scores["abstained"].value == 1.0


def test_nothing_to_assert_is_an_error_of_its_own_kind() -> None:
    record = checked(a_question(), judge=Judgement(abstained=False))
    assert record.verdict is Verdict.ERROR
    assert record.error_kind == "nothing_to_assert"
    assert record.reason.startswith("nothing is left to assert (answer_correctness: no expected answer; ")


@pytest.mark.parametrize(
    "error",
    [
        EndpointTimeout("no reply within 60 s", url="http://h"),
        EndpointReplyError("no answer", url="http://h"),
        MeasurementError("broken"),
    ],
)
def test_what_the_endpoint_does_wrong_is_an_error_of_its_kind(error: MeasurementError) -> None:
    record = checked(answer=error, settings=Settings.of(top_k=3))
    assert record.verdict is Verdict.ERROR
    assert (record.error_kind, record.reason) == (error.kind, str(error))
    assert (record.answer, record.scores, record.thresholds) == (None, {}, {})
    assert record.top_k == 3


@pytest.mark.parametrize("error", [IngestionError("not there", url="http://h"), ReplayError("not recorded")])
def test_without_requests_there_is_no_usage(error: MeasurementError) -> None:
    record = checked(answer=error)
    assert (record.verdict, record.error_kind, record.top_k) == (Verdict.ERROR, error.kind, None)


@pytest.mark.parametrize("error", [JudgeUnavailable("no quota"), JudgeReplyError("no JSON"), MeasurementError("x")])
def test_what_the_judge_does_wrong_is_an_error_that_keeps_the_answer(error: MeasurementError) -> None:
    record = checked(judge=error)
    assert record.verdict is Verdict.ERROR
    assert (record.error_kind, record.reason) == (error.kind, str(error))
    assert (record.answer, record.latency_seconds) == (ANSWER.text, 0.25)
    assert values(record) == {"exact_match": 0.0, "f1": 0.5}


def test_a_leak_is_a_fail_that_names_the_failure_of_the_judge_too() -> None:
    question = a_question(must_not_mention=("30 days", "60 days"), must_not_retrieve=("billing.txt",))
    error = JudgeUnavailable("no quota")
    record = checked(question, judge=error)
    assert (record.verdict, record.error_kind, record.leaks) == (Verdict.FAIL, "", True)
    assert record.text().splitlines()[0] == (
        "must_not_mention 0.50 < 1.00, must_not_retrieve 0.00 < 1.00: the answer mentions '30 days'; "
        "the contexts leak 'billing.txt' (its id is at rank 1); "
        "answer_correctness and groundedness could not be measured: no quota"
    )
    assert record.thresholds.keys() == {"answer_correctness", "groundedness", "must_not_mention", "must_not_retrieve"}
    assert record.scores["groundedness"] == Score.unscored("no quota")
    # 30 days is the only answer, so f1 fails too; but a low score is no leak.
    low = checked(a_question(expected_answer="no", must_not_mention=("60 days",)), judge=error)
    assert (low.verdict, low.reason) == (Verdict.ERROR, "no quota")


def test_a_leak_beside_a_score_or_a_maximum_without_a_value_is_a_fail() -> None:
    question = a_question(must_not_mention=("30 days",), thresholds={"brevity": 0.5})
    record = checked(question, settings=Settings.of(max={"cost_usd": 1}))
    assert (record.verdict, record.error_kind) == (Verdict.FAIL, "")
    assert record.bounded == {"cost_usd": None}
    assert record.reason == (
        "cost_usd could not be measured: neither the reply nor the price table gives the price. Have the reply state "
        "metrics.cost_usd, set rag_judge_price for the model of the judge, or leave the maximum out.; "
        "the answer mentions '30 days'; brevity could not be measured: "
        "no metric has this name. Run pytest with the hook pytest_ragcheck_metrics, or give it to evaluate"
    )


def test_a_bug_in_a_client_or_a_judge_passes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        checked(answer=ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        checked(judge=ZeroDivisionError())


def test_secrets_are_neither_recorded_nor_sent_to_the_judge() -> None:
    secret = "correct-horse"
    answer = RagAnswer(
        text=f"The key is {secret}.", contexts=(f"key: {secret}",), source_ids=(f"{secret}.txt",), latency_seconds=1
    )
    judge = Judges(
        Judgement(
            answer_correctness=0.1, groundedness=0.1, error_message=f"It says {secret}.", unsupported_claims=(secret,)
        )
    )
    client = Answers(answer)
    client.endpoint = f"http://bob:{secret}@h/query"
    judge.identity = JudgeIdentity(kind="mine", url=f"http://j/v1?key={secret}")  # type: ignore[attr-defined]
    settings = Settings.of(secrets=(secret,))
    record = checked(answer=client, judge=judge, settings=settings)
    assert secret not in record.to_json()
    assert judge.judged[0].text == f"The key is {REDACTED}."
    assert record.judge == JudgeIdentity(kind="mine", url=f"http://j/v1?key={REDACTED}")
    failed = checked(answer=EndpointTimeout(f"{secret} timed out", url="http://h"), settings=settings)
    assert failed.reason == f"{REDACTED} timed out"


def test_a_secret_that_is_a_word_of_the_expected_answer_does_not_change_the_verdict() -> None:
    question = a_question(expected_answer="Paris", all_acceptable_answers=("Paris, France",))
    right = RagAnswer(text="The capital is Paris.", contexts=("The capital is Paris.",))
    wrong = RagAnswer(text="The capital is Lyon.", contexts=("The capital is Lyon.",))
    for settings in Settings.of(), Settings.of(secrets=("Paris",)):
        assert checked(question, right, OfflineJudge(), settings).verdict is Verdict.PASS
        assert checked(question, wrong, OfflineJudge(), settings).verdict is Verdict.FAIL


KEYS = {"right": "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "wrong": "sk_test_9fD40IrMzkXEbsluU2aeq8ed"}
OF_KEY = a_question(expected_answer=f"Use the key {KEYS['right']}.")


def naming(key: str) -> RagAnswer:
    return RagAnswer(text=f"Use the key {KEYS[key]}.", contexts=(f"The key is {KEYS['right']}",))


def test_the_offline_judge_tells_a_wrong_secret_from_the_expected_one() -> None:
    assert checked(OF_KEY, naming("right"), OfflineJudge()).verdict is Verdict.PASS
    record = checked(OF_KEY, naming("wrong"), OfflineJudge())
    assert set(record.shortfalls) == {"answer_correctness", "groundedness"}
    shown = f"{record.reason} {record.answer} {record.judgement} {record.unsupported_claims}"
    assert "[redacted 7002]" in record.reason
    assert [key[8:] for key in KEYS.values() if key[8:] in shown] == []


def test_a_secret_that_only_its_place_shows_is_the_same_in_the_expected_answer() -> None:
    question, context = a_question(expected_answer="Guest4321x"), "The password: Guest4321x"
    for text, verdict in (context, Verdict.PASS), ("The password: Guest9999x", Verdict.FAIL):
        assert checked(question, RagAnswer(text=text, contexts=(context,)), OfflineJudge()).verdict is verdict


def test_a_gold_passage_with_a_secret_that_was_found_is_no_fault_of_the_retrieval() -> None:
    passage = "The password: lumio2024"
    question = a_question(expected_answer="The password: lumio2024", gold_passages=(GoldPassage(text=passage),))
    record = checked(question, RagAnswer(text="Ask at the desk.", contexts=(passage,)), OfflineJudge())
    assert (record.verdict, record.blame) == (Verdict.FAIL, "grounding")


def test_the_offline_judge_takes_no_number_of_the_answer_for_a_secret() -> None:
    text = "Enter 1 password: {}, as 1 of 2"
    contexts = ("The password: lumio2024", text.format("lumio2024"))
    question = a_question(expected_answer="The password: lumio2024")
    for secret, verdict in ("lumio2024", Verdict.PASS), ("hunter9999", Verdict.FAIL):
        record = checked(question, RagAnswer(text=text.format(secret), contexts=contexts), OfflineJudge())
        assert record.verdict is verdict


def test_the_offline_judge_names_no_number_of_a_secret() -> None:
    answer = RagAnswer(text="The password: hunter9999.", contexts=("The password: lumio2024",))
    record = checked(a_question(expected_answer="The password: lumio2024"), answer, OfflineJudge())
    assert record.verdict is Verdict.FAIL
    assert "9999" not in record.to_json()
    assert "9999" not in record.text()


def test_texts_for_a_judge_differ_if_their_secrets_do() -> None:
    judge = Judges(GOOD)
    materials = {key: checked(OF_KEY, naming(key), judge).material for key in KEYS}
    assert [answer.text for answer in judge.judged] == ["Use the key [redacted].", "Use the key [redacted 7002]."]
    assert [answer.contexts for answer in judge.judged] == [("The key is [redacted]",), ("The key is [redacted 7001]",)]
    assert materials["right"] != materials["wrong"]


def test_a_secret_without_its_name_is_redacted_for_a_judge_too() -> None:
    judge = Judges(GOOD)
    answer = RagAnswer(text="It is lumio2024, I think.", contexts=("The password: lumio2024.",))
    checked(a_question(expected_answer="The password: hunter9999"), answer, judge)
    assert judge.judged[0].text == "It is [redacted 7002], I think."
    assert judge.judged[0].contexts == ("The password: [redacted 7002].",)


def test_what_needs_no_judge_is_measured_on_what_was_really_said() -> None:
    question = a_question(expected_answer="Bearer d9b1a0c2e4f6a8b0", must_not_mention=("/d9b1/",))
    record = checked(question, RagAnswer(text="Bearer d9b1a0c2e4f6a8b0", contexts=("c",)))
    assert record.scores["exact_match"].value == 1.0
    assert record.scores["must_not_mention"].value == 0.0
    assert record.answer == f"Bearer {REDACTED}"


def test_without_the_judges_group_no_judgement_is_requested() -> None:
    judge = Judges(GOOD)
    record = checked(judge=judge, settings=Settings.of(metrics=("overlap",), min={"f1": 0.4}))
    assert judge.judged == []
    assert (record.verdict, record.judge, values(record)) == (Verdict.PASS, None, {"exact_match": 0.0, "f1": 0.5})
    assert record.thresholds == {"f1": 0.4}


def test_an_unchosen_metric_group_is_not_measured_and_its_threshold_is_dropped_with_a_reason() -> None:
    record = checked(a_question(expected_answer="x", thresholds={"f1": 0.9}), settings=Settings.of(metrics=("judge",)))
    assert values(record) == {"answer_correctness": 0.9, "groundedness": 0.8}
    assert record.dropped == {"f1": "rag_metrics leaves out the group overlap"}
    assert record.verdict is Verdict.PASS


def test_an_unanswerable_question_is_decided_by_abstention_whatever_is_measured() -> None:
    record = checked(a_question(answerable=False), settings=Settings.of(metrics=("judge",)))
    assert (record.verdict, record.thresholds) == (Verdict.FAIL, {"abstained": 1.0})


def brevity(question: Question, answer: RagAnswer) -> float | None:
    return 10 / len(answer.text) if question.answerable else None


def test_metrics_of_ones_own_stand_behind_the_others_and_can_be_asserted() -> None:
    settings = Settings.of(own_metrics=("brevity",), min={"brevity": 0.5})
    record = checked(own=(brevity,), settings=settings)
    assert list(record.scores) == ["answer_correctness", "groundedness", "exact_match", "f1", "abstained", "brevity"]
    # 10 of the 36 characters of the answer
    assert record.shortfalls == {"brevity": pytest.approx(10 / 36)}
    assert record.verdict is Verdict.FAIL


def test_a_threshold_on_a_metric_that_does_not_apply_is_dropped() -> None:
    settings = Settings.of(own_metrics=("brevity",), min={"brevity": 0.5})
    record = checked(a_question(answerable=False), RagAnswer(text=""), own=(brevity,), settings=settings)
    assert (record.verdict, record.dropped) == (Verdict.PASS, {"brevity": "the question is unanswerable"})
    never = checked(own=(pointless,), settings=Settings.of(own_metrics=("pointless",), min={"pointless": 0.5}))
    assert never.dropped == {"pointless": "it does not apply to the question"}


@pytest.mark.parametrize(
    ("question", "settings"),
    [(a_question(thresholds={"brevity": 0.5}), Settings.of()),
     (a_question(), Settings.of(own_metrics=("brevity",), min={"brevity": 0.5}))],
)  # fmt: skip
def test_a_threshold_on_a_metric_that_the_run_does_not_have_is_an_error(question: Question, settings: Settings) -> None:
    record = checked(question, settings=settings)
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "unscored")
    assert record.reason == (
        "brevity could not be measured: no metric has this name. Run pytest with the hook pytest_ragcheck_metrics, or "
        "give it to evaluate"
    )


def pointless(question: Question, answer: RagAnswer) -> None:
    """Applies to nothing."""


def test_what_a_metric_raises_is_no_score_and_where_it_is_asserted_an_error() -> None:
    def broken(question: Question, answer: RagAnswer) -> float:
        raise RuntimeError("no model at correct-horse")

    settings = Settings.of(own_metrics=("broken",), secrets=("correct-horse",))
    record = checked(own=(broken,), settings=settings)
    assert record.verdict is Verdict.PASS
    assert record.scores["broken"] == Score.unscored(f"RuntimeError: no model at {REDACTED}")
    asserted = checked(own=(broken,), settings=settings.replace(min={"broken": 0.5}))
    assert (asserted.verdict, asserted.error_kind) == (Verdict.ERROR, "unscored")
    assert asserted.reason == f"broken could not be measured: RuntimeError: no model at {REDACTED}"


def test_a_metric_of_ones_own_sees_no_secret() -> None:
    seen: list[RagAnswer] = []

    def watching(question: Question, answer: RagAnswer) -> float:
        seen.append(answer)
        return 1.0

    checked(answer=RagAnswer(text="correct-horse"), own=(watching,), settings=Settings.of(secrets=("correct-horse",)))
    assert [answer.text for answer in seen] == [REDACTED]


GOLD = a_question(expected_answer="30 days", gold_passages=(GoldPassage(text="Refunds: within 30 days."),))
WRONG = Judgement(answer_correctness=0.1, groundedness=0.9, abstained=False)


def test_a_fail_with_gold_passages_says_what_part_of_the_system_it_points_at() -> None:
    assert checked(GOLD, judge=WRONG).blame == "generation"
    assert checked(GOLD, judge=Judgement(answer_correctness=0.9, groundedness=0.1)).blame == "grounding"
    assert checked(GOLD, RagAnswer(text="14 days", contexts=("Opening hours.",)), WRONG).blame == "retrieval"
    assert checked(GOLD, RagAnswer(text="", contexts=ANSWER.contexts)).blame == "generation"


def test_what_repeated_answers_come_to_is_blamed_as_one() -> None:
    assert checked(GOLD, judge=WRONG, settings=Settings.of(repeats=3)).blame == "generation"


def test_nothing_is_blamed_without_a_fail_or_without_gold_passages() -> None:
    assert (checked(GOLD).blame, checked(judge=WRONG).blame) == ("", "")
    assert checked(GOLD, judge=JudgeReplyError("no JSON")).blame == ""


def test_a_weighted_score_is_over_what_has_results_and_says_what_has_none() -> None:
    settings = Settings.of(weights={"f1": 1, "groundedness": 3, "ragas_faithfulness": 1}, min={"overall_score": 0.8})
    record = checked(settings=settings)
    # (1 * 0.5 + 3 * 0.8) / 4
    assert record.scores["overall_score"].value == pytest.approx(0.725)
    assert record.overall_lacks == ("ragas_faithfulness",)
    assert record.shortfalls == {"overall_score": pytest.approx(0.725)}
    assert Record.from_json(record.to_json()) == record


def test_without_a_metric_that_has_a_weight_there_is_no_weighted_score() -> None:
    assert "overall_score" not in checked().scores
    asserted = checked(settings=Settings.of(weights={"must_mention": 1}, min={"overall_score": 0.8}))
    assert asserted.dropped == {"overall_score": "none of the metrics with a weight applies"}


def test_retrieval_is_measured_on_the_actual_reply_and_dropped_if_not_applicable() -> None:
    secret = a_question(gold_passages=(GoldPassage(text="the key is correct-horse of course"),))
    said = RagAnswer(text="x", contexts=("the key is correct-horse of course",))
    settings = Settings.of(secrets=("correct-horse",), min={"recall_at_5": 1, "recall_at_10": 1})
    record = checked(secret, said, settings=settings)
    assert record.scores["recall_at_5"].value == 1.0
    assert record.dropped == {"recall_at_10": "fewer contexts are requested"}
    assert checked(settings=settings).dropped["recall_at_5"] == "no gold passages"


def test_too_little_retrieved_is_said_in_numbers() -> None:
    one = GoldPassage(text="Refunds: within 30 days.")
    settings = Settings.of(min={"recall_at_5": 1})
    record = checked(a_question(gold_passages=(one, GoldPassage(text="Gift cards too."))), settings=settings)
    assert (record.reason, record.blame) == ("1 of 2 gold passages is among the contexts, at rank 1", "retrieval")
    none = checked(a_question(gold_passages=(GoldPassage(text="Gift cards too."),)), settings=settings)
    assert none.reason == "0 of 1 gold passages are among the contexts"
    by_id = checked(
        a_question(gold_passages=(GoldPassage(doc_id="terms.md"), GoldPassage(doc_id="b"), GoldPassage(text="Gifts."))),
        RagAnswer(text="x", contexts=("y", "z", "y"), source_ids=("docs/terms.md", "b", "docs/terms.md")),
        settings=settings,
    )
    assert by_id.reason.endswith(
        "1 of 3 gold passages is among the contexts, at rank 2 (no id is 'terms.md': the ids are 'docs/terms.md', 'b')"
    )
    lacking = checked(a_question(lacks_gold=True), settings=settings)
    assert (lacking.reason, lacking.blame) == ("the question has no gold passages, but others of its dataset have", "")
