from __future__ import annotations

from hashlib import sha256

from pytest_ragcheck.questions.question import GoldPassage, Question, context_of, documents_of

GOLD = GoldPassage(text="A refund takes 30 days.", doc_id="terms")
BARE = GoldPassage(text="Refunds are free.")
OTHER = GoldPassage(text="The shop opens at 9.", doc_id="hours")


def question(**passages) -> Question:
    return Question(dataset_name="shop", id="q", question="?", **passages)


def test_documents_are_all_passages_each_once_with_an_id():
    asked = question(gold_passages=(GOLD, BARE, BARE), distractors=(OTHER, GOLD))
    digest = sha256(b"Refunds are free.").hexdigest()[:12]
    assert [passage.doc_id for passage in documents_of(asked)] == ["terms", f"shop:{digest}", "hours"]


def test_several_texts_of_one_document_are_several_passages():
    second = GoldPassage(text="A refund is free.", doc_id="terms")
    asked = question(gold_passages=(GOLD, second, GOLD))
    assert documents_of(asked) == context_of(asked) == [GOLD, second]


def test_the_gold_passages_go_along_and_without_gold_all():
    assert [p.doc_id for p in context_of(question(gold_passages=(GOLD,), distractors=(OTHER,)))] == ["terms"]
    assert [p.doc_id for p in context_of(question(distractors=(OTHER, GOLD)))] == ["hours", "terms"]
    assert context_of(question()) == []


def test_half_a_character_in_a_text_has_an_id_too():
    (passage,) = documents_of(question(gold_passages=(GoldPassage(text="\ud800"),)))
    assert passage.doc_id is not None
    assert passage.doc_id.isascii()
