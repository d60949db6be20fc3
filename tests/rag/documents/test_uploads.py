from __future__ import annotations

from dataclasses import replace

from pytest_ragcheck.questions.question import GoldPassage, in_conversation
from pytest_ragcheck.rag.documents.uploads import uploads_of
from tests.making import a_question


def passages(*pairs: tuple[str | None, str]) -> tuple[GoldPassage, ...]:
    return tuple(GoldPassage(doc_id=doc_id, text=text) for doc_id, text in pairs)


def test_each_document_goes_up_once_however_many_questions_share_it() -> None:
    gold, others = passages(("terms", "30 days.")), passages((None, "Nobody."))
    questions = [a_question(str(n), ingest=True, gold_passages=gold, distractors=others) for n in range(5)]
    ids = [upload.doc_id for upload in uploads_of(questions)]
    assert ids[0] == "terms"
    assert ids[1].startswith("billing:")
    assert len(ids) == 2


def test_a_turn_brings_the_documents_of_the_turns_before_it() -> None:
    gold = passages(("terms", "30 days."), (None, "14 days."))
    turns = in_conversation("refund", [a_question("1", gold_passages=gold), a_question("2"), a_question("3")])
    asked = [replace(turn, dataset_name="billing[Paris]", ingest=True) for turn in turns]
    both = [upload.doc_id for upload in uploads_of(asked)]
    assert [upload.doc_id for upload in uploads_of(asked[2:])] == both
    assert len(both) == 2


def test_questions_that_do_not_ask_for_it_bring_no_documents() -> None:
    assert uploads_of([a_question(gold_passages=passages(("terms", "30 days.")))]) == []


def test_a_file_is_called_as_its_document() -> None:
    ids = ("ragbench:covidqa:0123456789ab", "a b/c\\d", "ä😀", "x" * 400, 'q"\n\ud800')
    asked = a_question(ingest=True, gold_passages=passages(*((each, each) for each in ids)))
    names = [upload.file_name for upload in uploads_of([asked])]
    assert names[:3] == ["ragbench_covidqa_0123456789ab.txt", "a_b_c_d.txt", "ä😀.txt"]
    assert names[3:] == ["x" * 150 + ".txt", "q___.txt"]


def test_documents_with_clashing_names_get_a_part_of_their_digest_in_any_order() -> None:
    one, other = passages(("a:b", "one"), ("A b", "other"))
    forth = uploads_of([a_question(ingest=True, gold_passages=(one, other))])
    back = uploads_of([a_question(ingest=True, gold_passages=(other, one))])
    names = {upload.doc_id: upload.file_name for upload in forth}
    assert names == {upload.doc_id: upload.file_name for upload in back}
    assert len(set(names.values())) == 2
    assert all(len(name) == len("a_b-01234567.txt") for name in names.values())


def test_one_id_with_two_texts_is_two_documents() -> None:
    questions = [a_question(text, ingest=True, gold_passages=passages(("terms", text))) for text in ("one", "two")]
    assert len({upload.file_name for upload in uploads_of(questions)}) == 2
