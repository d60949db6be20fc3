"""Which recorded verdicts and scores hold for the question of today."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck import GoldPassage, Judgement, Question, RagAnswer
from pytest_ragcheck.judging.judgement import JudgeIdentity, material_digest
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.gate.recorded_verdicts import KnownVerdict, known_verdicts, with_known
from pytest_ragcheck.summary.gate.saved_answer import SavedAnswer, label_digests
from tests.making import OFFLINE, a_question, a_record

if TYPE_CHECKING:
    from collections.abc import Mapping

QUESTION = a_question(expected_answer="30 days")
JUDGEMENT = Judgement(groundedness=0.9)
SAVED = SavedAnswer(passed=True, scores={"bertscore_f1": 0.8}, judge=OFFLINE, judgement=JUDGEMENT, material="m")


@pytest.mark.parametrize(
    ("edit", "part"),
    [
        ({"expected_answer": "14 days"}, "expected"),
        ({"answerable": False}, "expected"),
        ({"identity": "guest"}, "asked"),
        ({"earlier": (a_question("before"),)}, "asked"),
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
    assert [name for name in now if before.get(name) != now[name]] == ([part] if part else [])


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
    assert found(replace(SAVED, labels={**labels, "asked": "as a guest"})) == {}
    assert found(replace(SAVED, judge=JudgeIdentity(kind="offline", prompt_version="offline-2"))) == {}
    assert found(replace(SAVED, judgement=None)) == found(replace(SAVED, material="")) == {}


class Served:
    """A metric that calls a server, which scores every answer with 0.5."""

    local = False

    def __init__(self, *names: str) -> None:
        self.names = names
        self.asked = 0

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        self.asked += 1
        return {name: Score(0.5) for name in self.names}


@pytest.mark.parametrize(
    ("names", "recorded", "found"),
    [
        (("mine",), {"mine": 0.8}, {"mine": 0.8}),
        (("mine",), {}, {"mine": 0.5}),
        # The user has added a name since.
        (("mine", "further"), {"mine": 0.8}, {"mine": 0.8, "further": 0.5}),
        # A score that the package's metric did not give does not apply to the answer.
        (("citation_precision", "citation_recall"), {"citation_recall": 0.8}, {"citation_recall": 0.8}),
        (("citation_precision",), {}, {"citation_precision": 0.5}),
    ],
)
def test_a_metric_that_calls_a_server_measures_only_new_answers(
    names: tuple[str, ...], recorded: dict[str, float], found: dict[str, float]
) -> None:
    answer, metric = RagAnswer(text="30 days", contexts=()), Served(*names)
    known = {material_digest(QUESTION, answer): KnownVerdict(judgement=JUDGEMENT, scores=recorded)}
    (same,) = with_known([metric], known)
    assert asyncio.run(same.score(QUESTION, answer)) == {name: Score(value) for name, value in found.items()}
    assert metric.asked == (found != recorded)
    asyncio.run(same.score(QUESTION, replace(answer, text="14 days")))
    assert metric.asked == 1 + (found != recorded)


def test_the_verdict_of_a_record_is_known_by_the_input_of_its_judge() -> None:
    record = a_record(scores={"f1": 0.5}, judgement=JUDGEMENT, material="m")
    assert KnownVerdict.of(record) == {"m": KnownVerdict(judgement=JUDGEMENT, scores={"f1": 0.5})}
    assert KnownVerdict.of(replace(record, judgement=None)) == KnownVerdict.of(replace(record, material="")) == {}
