from __future__ import annotations

from pytest_ragcheck.scores import (
    ABSTAINED,
    ASSERTABLE,
    CITATION_VALIDITY,
    DEFAULT_GROUPS,
    DEMANDED,
    GROUPS,
    METRICS,
    OVERALL,
    group_of,
    listed,
)


def test_every_optional_metric_belongs_to_one_group() -> None:
    grouped = [metric for metrics in GROUPS.values() for metric in metrics]
    assert len(set(grouped)) == len(grouped)
    assert sorted((*grouped, *DEMANDED, CITATION_VALIDITY, OVERALL)) == sorted(METRICS)
    assert set(DEFAULT_GROUPS) <= GROUPS.keys()


def test_a_question_asserts_by_itself_what_no_threshold_may_name() -> None:
    assert set(METRICS) - set(ASSERTABLE) == {ABSTAINED, *DEMANDED}


def test_each_metric_has_its_group() -> None:
    assert [group_of(metric) for metric in ("groundedness", "recall_at_5", "must_mention", "mine")] == [
        "judge", "retrieval", None, None,
    ]  # fmt: skip


def test_metrics_that_differ_in_their_cutoff_are_listed_once() -> None:
    assert listed(["f1", "recall_at_1", "recall_at_10", "ndcg_at_5", "map"]) == "f1, recall_at_K, ndcg_at_K, map"
