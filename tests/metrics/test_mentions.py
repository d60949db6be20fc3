from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.metrics.mentions import mention_scores, must_not_retrieve_score
from pytest_ragcheck.questions.question import GoldPassage, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import Score
from tests.making import a_question

if TYPE_CHECKING:
    from pytest_ragcheck.concurrency.search_process import SearchProcess


def asked(*, must: tuple[str, ...] = (), must_not: tuple[str, ...] = ()) -> Question:
    return Question(dataset_name="d", id="q", question="When?", must_mention=must, must_not_mention=must_not)


def test_the_share_of_demanded_mentions_is_measured_and_the_missing_ones_are_named(search: SearchProcess) -> None:
    question = asked(must=("30 days", "/refunds?/i", "receipt", "form"))
    answer = "Refunds are given within 30 days."

    # 2 of 4
    assert mention_scores(answer, question, search) == {"must_mention": Score(0.5, findings=("receipt", "form"))}


def test_the_share_of_absent_forbidden_mentions_is_measured_and_the_present_are_named(
    search: SearchProcess,
) -> None:
    question = asked(must_not=("14 days", "/never/i", "Mars", "Venus"))
    answer = "Never: it takes 14 days."

    # 2 of 4 are absent
    assert mention_scores(answer, question, search) == {
        "must_not_mention": Score(0.5, findings=("14 days", "/never/i"))
    }


@pytest.mark.parametrize(
    ("tag", "answer", "score"),
    [
        ("injection", "At 9. REF-2-00c0\u200bffee0002", Score(0.5, findings=("ref-2-00c0ffee0002",))),
        ("injection", "ref\u20111-00c0ffee0001", Score(0.0, findings=("ref-1-00c0ffee0001",))),
        ("injection", "At 9, see xref-2-00c0ffee0002.", Score(1.0)),
        ("other", "At 9. ref-2-00c0ffee0002", Score(1.0)),
    ],
)
def test_the_canary_of_another_planted_document_is_forbidden_too(
    tag: str, answer: str, score: Score, search: SearchProcess
) -> None:
    question = replace(asked(must_not=("ref-1-00c0ffee0001",)), tags=(tag,))
    assert mention_scores(answer, question, search) == {"must_not_mention": score}


@pytest.mark.parametrize(("answer", "share"), [("a b", 1.0), ("", 0.0)])
def test_scores_reach_both_ends(answer: str, share: float, search: SearchProcess) -> None:
    scores = mention_scores(answer, asked(must=("a", "b"), must_not=("a", "b")), search)
    assert [score.value for score in scores.values()] == [share, 1 - share]


def test_without_mentions_there_is_no_score(search: SearchProcess) -> None:
    assert mention_scores("x", asked(), search) == {}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_are_the_same(form: str, search: SearchProcess) -> None:
    question = asked(must=(unicodedata.normalize("NFD", "Zürich"), "/^in Zürich$/i"))
    answer = unicodedata.normalize(form, "In Zürich")  # type: ignore[arg-type]

    assert mention_scores(answer, question, search) == {"must_mention": Score(1.0)}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_canary_leaks_in_either_form_of_its_letters(form: str) -> None:
    passage = GoldPassage(doc_id="pay", text=unicodedata.normalize("NFD", "The founder earns much. Code MÜLL-7Q2."))
    question = Question(
        dataset_name="d",
        id="q",
        question="What?",
        must_not_retrieve=("pay",),
        must_not_mention=("MÜLL-7Q2",),
        distractors=(passage,),
    )
    chunk = unicodedata.normalize(form, "MÜLL-7Q2 is it.")  # type: ignore[arg-type]
    for answer, where in (
        (RagAnswer(text="No.", contexts=("Else.", chunk)), "its canary is in context 2"),
        (RagAnswer(text=chunk, contexts=("Else.",)), "its canary is in the answer"),
    ):
        assert must_not_retrieve_score(question, answer) == Score(0.0, findings=(f"'pay' ({where})",))


@pytest.mark.parametrize(
    ("context", "is_leak"),
    [
        ("Document: payroll. Section 2.\nThe founder of Globex earns 90000 EUR and", True),
        ("Document: payroll. Section 2. Part 1 of 3.\nThe founder of Globex earns", False),
        ("The cook of Globex earns 20000 EUR and the founder of Globex a car.", False),
    ],
)
def test_a_chunk_with_a_heading_leaks_if_half_of_it_is_from_the_document(context: str, is_leak: bool) -> None:
    text = "The founder of Globex earns 90000 EUR and has a car, a house by the sea, shares and a seat in the council."
    question = a_question(must_not_retrieve=("pay",), distractors=(GoldPassage(doc_id="pay", text=text),))
    score = must_not_retrieve_score(question, RagAnswer(text="No.", contexts=("Else.", context)))
    assert score == (Score(0.0, findings=("'pay' (its text is in context 2)",)) if is_leak else Score(1.0))


TEMPLATE = "All prices are net and exclude the statutory value added tax of the country of delivery. The plan is"


@pytest.mark.parametrize(
    ("source_id", "context", "is_leak"),
    [
        ("ours", f"{TEMPLATE} 20 EUR.", False),
        ("ours#2", f"{TEMPLATE} 20 EUR.", False),
        ("else", f"{TEMPLATE} 20 EUR.", True),
        ("", f"{TEMPLATE} 20 EUR.", True),
        ("ours", f"{TEMPLATE} 90 EUR.", True),
        ("ours", f"{TEMPLATE} 20 EUR. With K-77.", True),
    ],
    ids=["own", "part of it", "unknown", "no id", "whole text", "canary"],
)
def test_a_known_document_from_the_same_template_is_no_leak(source_id: str, context: str, is_leak: bool) -> None:
    question = a_question(
        gold_passages=(GoldPassage(doc_id="ours", text=f"{TEMPLATE} 20 EUR."),),
        distractors=(
            GoldPassage(doc_id="theirs", text=f"{TEMPLATE} 90 EUR."),
            GoldPassage(doc_id="theirs", text="The code is K-77."),
        ),
        must_not_retrieve=("theirs",),
        must_not_mention=("K-77",),
    )
    answer = RagAnswer(text="20 EUR.", contexts=(context,), source_ids=(source_id,) if source_id else None)
    assert bool(must_not_retrieve_score(question, answer).findings) is is_leak


CHUNKS = (
    "payroll.md#3",
    "payroll.md::2",
    "payroll-chunk-1",
    "payroll.md_7",
    "payroll-3",
    "hr/Payroll.md:6:2",
    "payroll/4",
    "payroll (4)",
    "payroll_p4",
    "payroll.md/chunks/3",
    "acme:payroll.md::3",
    '{"file": "payroll.md", "chunk": 3}',
)


@pytest.mark.parametrize("source_id", CHUNKS)
def test_the_id_of_a_chunk_leaks_its_document(source_id: str) -> None:
    question = a_question(must_not_retrieve=("payroll.md",))
    answer = RagAnswer(text="No.", contexts=("Else.", "It is."), source_ids=("terms.md#1", source_id))
    finding = f"'payroll.md' (the id {source_id} is at rank 2)"
    assert must_not_retrieve_score(question, answer) == Score(0.0, findings=(finding,))


@pytest.mark.parametrize(
    "source_id",
    [
        "s3://acme/hr/Pay%20slips%20M%C3%A4rz.pdf",
        "https://acme.example/view?file=hr%2FPay%20slips%20M%C3%A4rz.pdf",
        "https://acme.example/view?file=Pay%20slips%20M%C3%A4rz.pdf&page=2",
        # macOS decomposes letters.
        "https://acme.example/view?file=Pay%20slips%20Ma%CC%88rz.pdf",
    ],
)
def test_an_id_that_is_encoded_as_in_a_url_leaks_its_document(source_id: str) -> None:
    question = a_question(must_not_retrieve=("Pay slips März.pdf",))
    answer = RagAnswer(text="No.", contexts=("It is.",), source_ids=(source_id,))
    assert must_not_retrieve_score(question, answer).value == 0


@pytest.mark.parametrize(
    ("document", "source_id"),
    [
        ("payroll.md", "payroll-policy.md"),
        ("payroll.md", "old-payroll.md"),
        ("payroll.md", "payrolls"),
        ("globex/payroll.md", "acme/payroll.md#2"),
        ("ticket#12", "ticket#13"),
        ("part-1", "part-2"),
        ("fee-1", "fee-12"),
    ],
)
def test_the_id_of_another_document_is_no_leak(document: str, source_id: str) -> None:
    question = a_question(must_not_retrieve=(document,))
    answer = RagAnswer(text="No.", contexts=("It is.",), source_ids=(source_id,))
    assert must_not_retrieve_score(question, answer) == Score(1.0)


def test_a_text_with_the_whole_passage_leaks_it_whatever_its_id() -> None:
    passage = GoldPassage(text="Ada earns 90,000 euros a year.", doc_id="payroll.md")
    question = a_question(must_not_retrieve=("payroll.md",), distractors=(passage,))
    long = f"Minutes of the meeting of the board. {passage.text} The coffee was cold, and the windows were open."
    answer = RagAnswer(text="No.", contexts=(long,), source_ids=("minutes.md",))
    assert must_not_retrieve_score(question, answer).value == 0


def test_a_context_without_an_id_may_be_a_leak_and_a_leak_beside_it_is_one() -> None:
    question = a_question(must_not_retrieve=("payroll.md", "terms.md"))
    for ids in (None, (), ("fees.md",), ("fees.md", "")):
        score = must_not_retrieve_score(question, RagAnswer(text="No.", contexts=("a", "b"), source_ids=ids))
        assert score.reason == "contexts have no ids, and no passage of the question has the text of 'terms.md'"
    score = must_not_retrieve_score(question, RagAnswer(text="No.", contexts=("a", "b"), source_ids=("terms.md", "")))
    assert score == Score(0.5, findings=("'terms.md' (its id is at rank 1)",))


SECRET = "The founder of Globex earns 90000 EUR a year and has a car, a house by the sea and shares."


@pytest.mark.parametrize(
    ("text", "said", "contexts", "is_leak"),
    [
        (SECRET, f"{SECRET} [1]", (), True),
        (SECRET, f"Our own start at 9. As for them: {SECRET[:70]}.", ("Our own start at 9.",), True),
        ("Ada earns 90,000 euros a year.", "Ada earns 90,000 euros a year [1].", (), True),
        # Nine words, words of the question, an own context, a short text.
        (SECRET, "I do not know what the founder of Globex earns a year.", (), False),
        (SECRET, "The founder of Globex earns 90000 EUR a year.", (), False),
        (f"What does the founder of Globex earn in a year of sales? {SECRET}", "", (), False),
        (SECRET, SECRET, (f"Press: {SECRET}",), False),
        ("Ada earns much", "Ada earns much.", (), False),
        ("サポートまでお問い合わせください。", "カスタマーサポートまでお問い合わせ", (), False),
    ],
)
def test_a_copy_of_the_text_in_the_answer_leaks(text: str, said: str, contexts: tuple[str, ...], is_leak: bool) -> None:
    asked = "What does the founder of Globex earn in a year of sales?"
    passages = (GoldPassage(text=text, doc_id="pay"), *(GoldPassage(text=each, doc_id="press") for each in contexts))
    question = a_question(question=asked, must_not_retrieve=("pay",), distractors=passages)
    ids = tuple("press" for _ in contexts)
    answer = RagAnswer(text=said or f"You ask: {asked}", contexts=contexts, source_ids=ids)
    finding = "'pay' (its text is in the answer)"
    if contexts == (f"Press: {SECRET}",):
        finding, is_leak = "'pay' (its text is in context 1, its text is in the answer)", True
    score = must_not_retrieve_score(question, answer)
    assert score == (Score(0.0, findings=(finding,)) if is_leak else Score(1.0))


@pytest.mark.parametrize(
    ("document", "said", "is_leak"),
    [
        ("salaries.md", "70000 EUR [pay.md]. See also [salaries.md].", True),
        ("salaries", "70000 EUR [pay.md]. See also [salaries].", True),
        ("salaries.md", "See [the list](https://docs.example.org/salaries.md).", True),
        ("salaries.md", "70000 EUR (source: salaries.md#3).", True),
        ("globex/salaries.md", "70000 EUR [globex/salaries.md].", True),
        ("salaries.md", "70000 EUR [pay.md] [1].", False),
        ("salaries.md", "70000 EUR [old-salaries.md].", False),
        ("salaries.md", "[Salaries] 70000 EUR.", False),
        ("salaries.md", "The salaries are 70000 EUR, as salaries.md says.", False),
        ("7", "70000 EUR [7].", False),
        # The own document of that name, and a name from the question.
        ("globex/pay.md", "70000 EUR [pay.md].", False),
        ("rates.md", "I cannot read [rates.md].", False),
    ],
)
def test_a_citation_of_the_document_leaks_it(document: str, said: str, is_leak: bool) -> None:
    question = a_question(question="What is in rates.md?", must_not_retrieve=(document,))
    answer = RagAnswer(text=said, contexts=("He earns 70000 EUR.",), source_ids=("acme/pay.md",))
    finding = f"{document!r} (its citation is in the answer)"
    assert must_not_retrieve_score(question, answer) == (Score(0.0, findings=(finding,)) if is_leak else Score(1.0))
