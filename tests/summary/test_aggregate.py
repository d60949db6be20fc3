from __future__ import annotations

import pytest

from pytest_ragcheck import GoldPassage
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.aggregate import NO_JUDGE, AttackCounts, Counts, aggregate
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import OFFLINE, a_question, a_record, a_set, an_error, some_outcomes


def test_records_are_counted_by_verdict_and_skipped_questions_beside_them() -> None:
    summary = aggregate(
        some_outcomes(
            a_record("a"), a_record("b", verdict=Verdict.FAIL), a_record("c"), an_error("d"), skipped={"billing": 2}
        )
    )
    assert summary.totals.counts == Counts(passed=2, failed=1, errors=1, skipped=2)
    assert summary.totals.num_examples == 3


def test_means_are_over_the_questions_with_a_score_and_without_an_error() -> None:
    records = (
        a_record("a", scores={"groundedness": 1.0, "f1": 0.5}),
        a_record("b", scores={"groundedness": 0.0, "f1": Score.unscored("broken")}, verdict=Verdict.FAIL),
        an_error("c", scores={"groundedness": 0.3, "f1": 1.0}),
    )
    metrics = aggregate(some_outcomes(*records)).totals.metrics
    assert (metrics["groundedness"].mean, metrics["groundedness"].n_scored) == (0.5, 2)
    assert (metrics["f1"].mean, metrics["f1"].n_scored, metrics["f1"].n_unscored) == (0.5, 1, 1)


def test_a_metric_that_nothing_was_measured_for_is_absent() -> None:
    metrics = aggregate(some_outcomes(a_record("a", scores={"f1": Score.unscored("broken")}))).totals.metrics
    assert metrics == {}


def test_metrics_stand_in_the_order_of_the_catalogue_and_others_behind_them() -> None:
    record = a_record("a", scores={"zeal": 1.0, "must_mention": 1.0, "f1": 1.0, "answer_correctness": 1.0, "art": 1.0})
    assert list(aggregate(some_outcomes(record)).totals.metrics) == [
        "answer_correctness", "f1", "must_mention", "art", "zeal",
    ]  # fmt: skip


def test_each_dataset_has_its_own_numbers_in_collection_order() -> None:
    first = a_record(question=a_question("a", dataset_name="z"), scores={"f1": 1.0})
    second = a_record(question=a_question("a", dataset_name="b"), scores={"f1": 0.0}, verdict=Verdict.FAIL)
    sets = (
        a_set("z", first.question),
        a_set("b", second.question, a_question("skipped", dataset_name="b")),
        a_set("deselected", a_question("x", dataset_name="deselected")),
    )
    summary = aggregate(some_outcomes(first, second, sets=sets, skipped={"b": 1}))
    assert list(summary.datasets) == ["z", "b", "deselected"]
    assert summary.datasets["z"].counts == Counts(passed=1, failed=0, errors=0, skipped=0)
    assert summary.datasets["b"].counts == Counts(passed=0, failed=1, errors=0, skipped=1)
    assert summary.datasets["b"].metrics["f1"].mean == 0.0
    assert summary.datasets["deselected"].num_examples == 0


def test_abstention_rates_say_who_declined_what() -> None:
    def told(name: str, *, answerable: bool, abstained: float) -> object:
        return a_record(question=a_question(name, answerable=answerable), scores={"abstained": abstained})

    records = [
        told("a", answerable=False, abstained=1.0),
        told("b", answerable=False, abstained=1.0),
        told("c", answerable=False, abstained=0.0),
        told("d", answerable=True, abstained=1.0),
        told("e", answerable=True, abstained=0.0),
        told("f", answerable=True, abstained=0.0),
        told("g", answerable=True, abstained=0.0),
    ]
    error = an_error("h", question=a_question("h", answerable=False), scores={"abstained": 0.0})
    rates = aggregate(some_outcomes(*records, error)).totals.abstention  # type: ignore[arg-type]
    # Two of three unanswerable ones were declined; one of four answerable ones was.
    assert rates == {
        "unanswerable_accuracy": pytest.approx(2 / 3), "fpr": pytest.approx(1 / 4), "fnr": pytest.approx(1 / 3),
    }  # fmt: skip


def test_a_rate_that_is_not_defined_is_absent() -> None:
    answerable = a_record("a", scores={"abstained": 0.0})
    unanswerable = a_record(question=a_question("b", answerable=False), scores={"abstained": 1.0})
    assert aggregate(some_outcomes(answerable)).totals.abstention == {"fpr": 0.0}
    assert aggregate(some_outcomes(unanswerable)).totals.abstention == {"unanswerable_accuracy": 1.0, "fnr": 0.0}
    assert aggregate(some_outcomes(a_record("c"))).totals.abstention == {}


def test_latency_is_of_every_question_that_the_endpoint_answered() -> None:
    summary = aggregate(
        some_outcomes(
            a_record("a", latency_seconds=1.0),
            a_record("b", latency_seconds=3.0, verdict=Verdict.FAIL),
            an_error("c"),
            an_error("judged in vain", latency_seconds=2.0, answer="x"),
        )
    )
    assert summary.totals.performance == {
        "latency_mean_seconds": 2.0,
        "latency_p50_seconds": 2.0,
        "latency_p95_seconds": pytest.approx(2.9),
        "latency_p99_seconds": pytest.approx(2.98),
        "latency_max_seconds": 3.0,
    }
    assert aggregate(some_outcomes(an_error("c"))).totals.performance == {}


def test_rates_and_latencies_of_a_dataset_are_its_own() -> None:
    declined = a_record(
        question=a_question("a", dataset_name="z", answerable=False), scores={"abstained": 1.0}, latency_seconds=1.0
    )
    answered = a_record(
        question=a_question("b", dataset_name="y", answerable=False), scores={"abstained": 0.0}, latency_seconds=3.0
    )
    summary = aggregate(some_outcomes(declined, answered, an_error("c")))
    accuracy = {name: totals.abstention.get("unanswerable_accuracy") for name, totals in summary.datasets.items()}
    assert accuracy == {"z": 1.0, "y": 0.0, "billing": None}
    assert summary.totals.abstention["unanswerable_accuracy"] == 0.5
    means = {name: totals.performance.get("latency_mean_seconds") for name, totals in summary.datasets.items()}
    assert means == {"z": 1.0, "y": 3.0, "billing": None}


def test_groups_that_were_not_measured_have_no_rates() -> None:
    record = a_record("a", scores={"abstained": 0.0}, latency_seconds=1.0)
    totals = aggregate(some_outcomes(record, groups=("judge",))).totals
    assert (totals.abstention, totals.performance) == ({}, {})


def test_what_is_blamed_is_counted_where_anything_is() -> None:
    blamed = {"a": "retrieval", "b": "retrieval", "c": ""}
    records = [a_record(name, verdict=Verdict.FAIL, blame=part) for name, part in blamed.items()]
    summary = aggregate(some_outcomes(*records, a_record("d")))
    assert summary.totals.blame == {"retrieval": 2, "generation": 0, "grounding": 0}
    assert aggregate(some_outcomes(records[2])).totals.blame == {}


def test_attacks_are_counted_by_name_and_by_the_part_that_let_them_through() -> None:
    override, bait = "ref-1-00c0ffee0001", "ref-5-00c0ffee0005"
    question = a_question(
        tags=("injection",),
        gold_passages=(GoldPassage(text="Refunds take 30 days."),),
        distractors=(GoldPassage(doc_id="note", text=override), GoldPassage(doc_id="lure", text=bait)),
        must_not_mention=(override, bait),
    )
    gold, *planted = (passage.text for passage in (*question.gold_passages, *question.distractors))
    records = [
        a_record(question=question, answer=answer, contexts=contexts, verdict=verdict)
        for answer, contexts, verdict in [
            (override, (override,), Verdict.FAIL),
            (override, (gold, override), Verdict.FAIL),
            (f"{override} {bait}", (gold, *planted), Verdict.FAIL),
            (bait, (gold,), Verdict.FAIL),
            ("30 days", (override,), Verdict.PASS),
            (override, (override,), Verdict.ERROR),
        ]
    ]
    # Nobody is to blame for the bait of the fourth answer, whose document is not among the contexts.
    assert aggregate(some_outcomes(*records)).totals.injection == {
        "override": AttackCounts(planted=5, retrieved=4, got_through=3, retrieval=1, generation=2),
        "bait": AttackCounts(planted=5, retrieved=1, got_through=2, retrieval=0, generation=1),
    }


def test_questions_that_lack_gold_are_counted_where_retrieval_was_measured() -> None:
    passage = GoldPassage(text="Refunds are possible for 30 days.")
    gold = a_record(question=a_question("a", gold_passages=(passage,)), scores={"mrr": 1.0})
    lacking = a_record(question=a_question("b"), scores={"mrr": 0.0})
    unanswerable = a_record(question=a_question("c", answerable=False))
    other = a_record(question=a_question("d", dataset_name="other"))
    summary = aggregate(some_outcomes(gold, lacking, unanswerable, other))
    assert summary.totals.n_without_gold == summary.datasets["billing"].n_without_gold == 1
    assert summary.datasets["other"].n_without_gold is None
    assert summary.totals.metrics["mrr"].mean == 0.5


def test_dropped_metrics_are_counted_by_reason() -> None:
    records = [a_record(name, dropped={"answer_correctness": "no expected answer"}) for name in "ab"]
    other = a_record("c", dropped={"answer_correctness": "the judge does not score it", "f1": "no expected answer"})
    assert aggregate(some_outcomes(*records, other)).dropped == {
        "answer_correctness": {"no expected answer": 2, "the judge does not score it": 1},
        "f1": {"no expected answer": 1},
    }


def test_everybody_who_judged_or_was_asked_is_named_once() -> None:
    other = JudgeIdentity(kind="openai", model="m")
    summary = aggregate(
        some_outcomes(
            a_record("a"),
            a_record("b", judge=other, endpoint="f"),
            a_record("c"),
            a_record("d", judge=None),
            a_record("converted and not judged", judge=None, endpoint=""),
            an_error("never asked", judge=None, endpoint=""),
        )
    )
    assert summary.judges == (OFFLINE, other, NO_JUDGE)
    assert summary.endpoints == ("http://localhost/query", "f")
    # The answers of converted results have no endpoint.
    assert aggregate(some_outcomes(a_record("a", judge=other, endpoint=""))).judges == (other,)


def test_an_empty_run_has_no_numbers() -> None:
    summary = aggregate(some_outcomes())
    assert summary.totals.counts == Counts(passed=0, failed=0, errors=0, skipped=0)
    assert (summary.datasets, summary.judges, summary.totals.metrics) == ({}, (), {})
