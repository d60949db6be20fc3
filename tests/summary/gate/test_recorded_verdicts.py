"""Which recorded verdicts and scores hold for the question of today."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_ragcheck import GoldPassage, Judgement
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.summary.gate.recorded.recorded_verdicts import KnownVerdict, known_verdicts
from pytest_ragcheck.summary.gate.recorded.saved_answer import SavedAnswer, label_digests
from tests.making import OFFLINE, a_question, a_record

QUESTION = a_question(expected_answer="30 days")
JUDGEMENT = Judgement(groundedness=0.9)
SAVED = SavedAnswer(passed=True, scores={"bertscore_f1": 0.8}, judge=OFFLINE, judgement=JUDGEMENT, material="m")


@pytest.mark.parametrize(
    ("edit", "part"),
    [
        ({"expected_answer": "14 days"}, "expected"),
        ({"answerable": False}, "expected"),
        ({"identity": "guest"}, "expected"),
        ({"earlier": (a_question("before"),)}, "expected"),
        ({"gold_passages": (GoldPassage(text="30 days."),)}, "gold"),
        ({"must_mention": ("30",)}, "mentions"),
        ({"must_not_mention": ("14",)}, "mentions"),
        ({"must_cite": ("terms",)}, "mentions"),
        ({"must_not_retrieve": ("pay",)}, "mentions"),
        ({"question": "Another?", "thresholds": {"f1": 0.5}, "tags": ("smoke",)}, None),
    ],
)
def test_an_edit_changes_one_label(edit: dict[str, Any], part: str | None) -> None:
    before, now = label_digests(QUESTION), label_digests(replace(QUESTION, **edit))
    assert [name for name in before if before[name] != now[name]] == ([part] if part else [])


def test_a_recorded_verdict_holds_for_the_same_judge_and_expected_answers() -> None:
    judge: Any = SimpleNamespace(identity=OFFLINE)
    labels = label_digests(QUESTION)
    known = {"m": KnownVerdict(judgement=JUDGEMENT, scores=SAVED.scores)}

    def found(*saved: SavedAnswer) -> dict[str, KnownVerdict]:
        return known_verdicts(saved, QUESTION, judge)

    # A file of an earlier version names no labels.
    assert found(SAVED) == found(replace(SAVED, labels=labels)) == known
    assert found(replace(SAVED, labels=labels), replace(SAVED, judgement=Judgement(groundedness=0.1))) == known
    # Other gold passages change no verdict, and a metric may use them.
    assert found(replace(SAVED, labels={**labels, "gold": "other"})) == {"m": replace(known["m"], scores={})}
    assert found(replace(SAVED, labels={**labels, "expected": "other"})) == {}
    assert found(replace(SAVED, judge=JudgeIdentity(kind="offline", prompt_version="offline-2"))) == {}
    assert found(replace(SAVED, judgement=None)) == found(replace(SAVED, material="")) == {}


def test_the_verdict_of_a_record_is_known_by_the_input_of_its_judge() -> None:
    record = a_record(scores={"f1": 0.5}, judgement=JUDGEMENT, material="m")
    assert KnownVerdict.of(record) == {"m": KnownVerdict(judgement=JUDGEMENT, scores={"f1": 0.5})}
    assert KnownVerdict.of(replace(record, judgement=None)) == KnownVerdict.of(replace(record, material="")) == {}
