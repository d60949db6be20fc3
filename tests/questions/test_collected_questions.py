from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.collected_questions import asked_in
from pytest_ragcheck.questions.question import END_TO_END, GENERATION, RETRIEVAL_ALONE, GoldPassage, Origin, QuestionSet
from pytest_ragcheck.questions.question_rows import questions_document, set_from_wire, set_to_wire, tier_of
from tests.making import a_question
from tests.questions.reading import read

if TYPE_CHECKING:
    from pathlib import Path

FILE = """\
%s
questions:
  - id: with-gold
    question: What is it?
    gold_passages: [It is this.]
  - id: with-distractor
    question: Who is it?
    distractors: [Nobody.]
"""


@pytest.mark.parametrize(
    ("top", "run", "tier", "ingest"),
    [
        ("", (END_TO_END, False), END_TO_END, False),
        ("", (END_TO_END, True), END_TO_END, True),
        ("", (GENERATION, True), GENERATION, False),
        ("tier: generation", (END_TO_END, True), GENERATION, False),
        ("tier: end_to_end", (GENERATION, False), END_TO_END, False),
        ("ingest: true", (END_TO_END, False), END_TO_END, True),
        ("ingest: false", (END_TO_END, True), END_TO_END, False),
        ("{tier: generation, ingest: true}", (END_TO_END, False), GENERATION, False),
    ],
)
def test_the_files_own_word_goes_over_the_runs(
    tmp_path: Path, top: str, run: tuple[str, bool], tier: str, ingest: bool
) -> None:
    text = FILE % top.strip("{}").replace(", ", "\n")
    asked = asked_in(read(tmp_path, text), tier=run[0], ingest=run[1])
    assert {(question.tier, question.ingest) for question in asked.questions} == {(tier, ingest)}
    assert tier_of(asked.questions) == tier
    assert set_from_wire(set_to_wire(asked)) == asked
    document = questions_document("billing", asked.questions)
    assert document.get("tier") == (GENERATION if tier == GENERATION else None)
    assert document.get("ingest") == (True if ingest else None)


def test_questions_of_several_tiers_are_mixed() -> None:
    assert tier_of((a_question("a"), a_question("b", tier=GENERATION))) == "mixed"
    assert tier_of(()) == END_TO_END


def test_all_questions_without_passages_are_reported_where_passages_go_along(tmp_path: Path) -> None:
    text = "questions:\n- Why?\n- {question: What?, gold_passages: [That.]}\n- Who?\n"
    with pytest.raises(QuestionFileError) as caught:
        asked_in(read(tmp_path, text), tier=GENERATION, ingest=False, root=tmp_path)
    assert [problem.partition(" has ")[0].partition(":")[2] for problem in caught.value.problems] == [
        "2: question 'why-5d8a'",
        "4: question 'who-d991'",
    ]
    assert caught.value.problems[0] == (
        "billing.rag.yaml:2: question 'why-5d8a' has no passages, which the tier 'generation' sends along with it. "
        "Give it 'gold_passages', or ask it in the tier 'end_to_end'."
    )


def test_a_question_without_gold_passages_is_a_mistake_where_they_are_looked_for(tmp_path: Path) -> None:
    with pytest.raises(QuestionFileError) as caught:
        asked_in(read(tmp_path, FILE % "tier: retrieval"), tier=END_TO_END, ingest=False, root=tmp_path)
    assert caught.value.problems == (
        (
            "billing.rag.yaml:6: question 'with-distractor' has no gold passages, which the tier 'retrieval' looks "
            "for. Give an answerable question 'gold_passages', or ask it in the tier 'end_to_end'."
        ),
    )


def test_an_uploaded_document_has_one_text_and_any_other_several(tmp_path: Path) -> None:
    text = (
        "- {id: a, question: a?, gold_passages: [{doc_id: d, text: one}, {doc_id: d, text: one}]}\n"
        "- {id: b, question: b?, distractors: [{doc_id: d, text: two}, {doc_id: e, text: one}, two]}\n"
    )
    questions = read(tmp_path, text)
    assert asked_in(questions, tier=END_TO_END, ingest=False, root=tmp_path).questions == questions.questions
    with pytest.raises(QuestionFileError) as caught:
        asked_in(questions, tier=END_TO_END, ingest=True, root=tmp_path)
    assert caught.value.problems == (
        (
            "billing.rag.yaml:2: question 'b' has the document 'd' with a second text, and ingestion uploads one text "
            "for each 'doc_id'. Give each text a 'doc_id' of its own."
        ),
    )


def test_a_datasets_questions_without_passages_are_skipped(tmp_path: Path) -> None:
    origin = Origin(source="a.json", split=None, available=3, left_out=0, samples=None, seed=0)
    passages = (GoldPassage(text="That."),)
    questions = (a_question("a"), a_question("b", skip="mine"), a_question("c", gold_passages=passages))
    dataset = QuestionSet(dataset_name="billing", path=tmp_path, questions=questions, origin=origin)
    asked = asked_in(dataset, tier=GENERATION, ingest=False)
    assert [question.skip for question in asked.questions] == [
        "it has no passages to go along with it in the tier 'generation'",
        "mine",
        None,
    ]
    asked = asked_in(dataset, tier=RETRIEVAL_ALONE, ingest=True)
    assert [(question.skip, question.ingest) for question in asked.questions] == [
        ("it has no gold passages to find in the tier 'retrieval'", True),
        ("mine", True),
        (None, True),
    ]
    assert [q.skip for q in asked_in(dataset, tier=END_TO_END, ingest=True).questions] == [None, "mine", None]
