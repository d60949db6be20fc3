"""The memory that the results of the items take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_ragcheck.plugin.run_state import ItemResults
from pytest_ragcheck.questions.collected_questions import CollectedQuestions
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.verdict.record import Record
from tests.making import a_question, a_record


def test_the_records_of_a_conversation_share_the_texts_of_its_turns() -> None:
    turns = tuple(EarlierTurn(question=f"{n}?", answer=f"{n}.", contexts=(f"text {n}",)) for n in range(3))
    results = ItemResults(CollectedQuestions(Path()))

    def kept(question: Question) -> tuple[EarlierTurn, ...]:
        # Each record is a copy from the store, or from a worker.
        return results.with_known_turns(Record.from_json(a_record(question=question).to_json())).question.history

    first = a_question("refund[turn1]", conversation="refund", turn=1)
    second, third, fourth = (replace(first, turn=n + 1, history=turns[:n]) for n in (1, 2, 3))
    histories = [kept(question) for question in (first, second, third, fourth)]
    assert histories == [(), turns[:1], turns[:2], turns]
    assert all(ours is theirs for ours, theirs in zip(histories[1], histories[3], strict=False))
    assert all(ours is theirs for ours, theirs in zip(histories[2], histories[3], strict=False))
    rerun = replace(third, history=(turns[0], replace(turns[1], answer="another")))
    assert [turn.answer for turn in kept(rerun)] == ["0.", "another"]
