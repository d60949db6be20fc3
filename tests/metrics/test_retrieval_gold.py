from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_ragcheck import GoldPassage, RagAnswer
from pytest_ragcheck.metrics.retrieval import found_gold, gold_keys
from pytest_ragcheck.questions.question import named
from tests.making import a_question

TEXT = "Refunds are possible within 30 days. Shipping is not refunded; gift cards are."


def holds(context: str, passage: str = TEXT) -> bool:
    """Whether the context holds the passage, by their texts."""
    question = a_question(gold_passages=(GoldPassage(text=passage),))
    (found,) = found_gold(question, RagAnswer(text="", contexts=(context,)))
    return bool(found)


@pytest.mark.parametrize(
    "context",
    [
        TEXT,
        "refunds are  possible\nwithin 30 days - shipping is not refunded - GIFT CARDS are",
        "Refunds are possible within 30 days.",
        # 7 of 13 words in a row: half and more.
        "Refunds were possible until 2019. Shipping is not refunded; gift cards are.",
        "Chapter 3. Refunds are possible within 30 days. Shipping costs extra.",
        f"Chapter 3. {TEXT} Chapter 4.",
        "<p>Refunds are possible within <b>30</b> days.</p><ul><li>Shipping is <em>not</em> refunded;</li></ul>",
    ],
)
def test_the_passage_a_chunk_of_it_and_a_piece_that_has_it_whole_hold_it(context: str) -> None:
    assert holds(context)


@pytest.mark.parametrize(
    "context",
    [
        "",
        "...",
        "within 30 days",
        "Refunds are impossible within 30 days.",
        "Refunds are possible within 31 days.",
        "shipping is not refunded",
        # 6 of 13 words in a row: less than half.
        "Refunds are possible within 30 days, and no longer.",
        "efunds are possible within 30 days",
    ],
)
def test_anything_else_does_not(context: str) -> None:
    assert not holds(context)


POLICY = "In 2024 the remote work policy grants 3 days of remote work per week to every employee."


@pytest.mark.parametrize(
    ("context", "held"),
    [
        # 9 of 16 words in a row, after another number.
        ("In 2022 the remote work policy grants 1 days of remote work per week to every employee.", False),
        ("In 2022 the remote work policy grants 3 days of remote work per week to every employee.", False),
        ("The policy: 1.5 days of remote work per week to every employee.", False),
        # Cut elsewhere, or in other words.
        ("days of remote work per week to every employee. In 2025 it will change.", True),
        ("4 pages. In 2024 the remote work policy grants 3 days of remote work", True),
        ("As we said, the remote work policy grants 3 days of remote work per month, but 2 in May.", True),
        ("Up to seven days of remote work per week to every employee.", True),
        # Two years: the passage is cut at either end.
        (f"{POLICY.replace('2024', '2023').replace('3', '2')} In 2024 the remote work policy grants 3 days of", True),
        (
            f"work policy grants 3 days of remote work per week to every employee. {POLICY.replace('2024', '2025')}",
            True,
        ),
    ],
)
def test_half_of_the_words_beside_another_number_are_of_another_passage(context: str, held: bool) -> None:
    assert holds(context, POLICY) == held


def test_a_passage_of_one_or_two_words_is_found_as_a_whole_context_only() -> None:
    assert holds("paris!", "Paris")
    assert holds("30 days", "30 days.")
    assert not holds("He lives in Paris, France.", "Paris")
    assert holds("He lives in Paris, France.", "lives in Paris")


def test_scripts_without_blanks_and_with_marks_are_matched_too() -> None:
    assert holds("返品について。返品は30日以内に可能です。送料は返金されません。", "返品は30日以内に可能です")
    assert holds("Возврат возможен в течение 30 дней", "«Возврат возможен в течение 30 дней»")
    assert holds("Ｃａｆé très agréable à Paris", "café très agréable à Paris")


def test_a_passage_may_have_html_tags() -> None:
    assert holds(TEXT, "<p>Refunds are possible within&nbsp;<b>30</b>&nbsp;days.<br>Shipping is not refunded;</p>")
    assert not holds("Refunds for Lists of int are possible", "Refunds for List<int> are possible")


def test_a_passage_without_words_is_found_nowhere() -> None:
    assert not holds("--- and more", "---")
    assert not holds("", "---")


def test_a_text_decides_and_without_one_or_for_an_uploaded_document_the_id() -> None:
    answer = RagAnswer(text="", contexts=("another chunk", TEXT), source_ids=("d1", "d9"))
    gold = (GoldPassage(text=TEXT, doc_id="d1"),)
    by_text, by_id, uploaded = (
        a_question(gold_passages=gold),
        a_question(gold_passages=(GoldPassage(doc_id="d1"),)),
        a_question(gold_passages=gold, ingest=True),
    )
    assert [bool(held) for held in found_gold(by_text, answer)] == [False, True]
    assert [bool(held) for held in found_gold(by_id, answer)] == [True, False]
    assert [bool(held) for held in found_gold(uploaded, answer)] == [True, True]


def test_the_id_of_a_chunk_is_that_of_its_document() -> None:
    question = a_question(gold_passages=(GoldPassage(doc_id="terms.md"), GoldPassage(doc_id="ticket#2")))
    ids = ("terms.md#3", "terms.md::2", "terms.md_chunk_1", "terms.md-2", "terms.md", "terms", "terms-2.md", "ticket#1")
    found = found_gold(question, RagAnswer(text="", contexts=tuple(map(str, range(8))), source_ids=ids))
    assert [bool(held) for held in found] == [True] * 5 + [False] * 3


def test_a_number_is_the_document_of_its_numbered_parts_and_of_no_section_or_date() -> None:
    question = a_question(gold_passages=(GoldPassage(doc_id="17"), GoldPassage(doc_id="2024")))
    ids = ("17_3", "17", "17.3", "17-3", "2024-01-05")
    found = found_gold(question, RagAnswer(text="", contexts=tuple("abcde"), source_ids=ids))
    assert [bool(held) for held in found] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("source_id", "doc_id", "held"),
    [
        ("de.md", "at.md", False),
        ("old-price", "new-price", False),
        ("de.md#2", "at.md", False),
        ("a/de.md", "at.md", False),
        ("17", "12", False),
        ("17_2", "12", False),
        ("1" * 5000, "2", False),
        ("012", "12", True),
        ("remote-2022.md", "remote-2024.md", False),
        ("remote-2022.md#0", "remote-2024.md#0", False),
        ("terms-v1.md", "terms-v2.md", False),
        ("2022/remote.md", "2024/remote.md", False),
        ("doc12", "doc17", False),
        ("terms-14", "terms-12", False),
        ("remote.md", "remote-2024.md", False),
        ("https://a.example/page?id=12", "https://a.example/page?id=17", False),
        # A part, an index made anew, and ids of another system.
        ("at.md#2", "at.md", True),
        ("12_2", "12", True),
        ("terms.md#14", "terms.md#12", True),
        ("terms-chunk-14", "terms-chunk-12", True),
        ("terms.md:14", "terms.md", True),
        ("kb/terms-v2.md#3", "terms-v2.md", True),
        ("terms-02", "terms-2", True),
        ("chunk_17", "chunk_12", True),
        ("node-17", "terms-12", True),
        ("p3", "q3", True),
        ("chunk_17", "terms-12.md", True),
        ("terms_0", "terms", True),
        ("1", "terms-12", True),
        ("5c5b3a5e-8f0d-4f0e", "9e107d9d-372b-b682", True),
        ("17", "at.md", True),
        ("0b4f-11ec", "at.md", True),
        ("", "at.md", True),
        ("de.md", "", True),
    ],
)
def test_another_text_with_words_of_a_passage_is_of_another_document_if_the_ids_say_so(
    source_id: str, doc_id: str, held: bool
):
    text = "Refunds are possible within 30 days of delivery in {}"
    question = a_question(gold_passages=(GoldPassage(text=text.format("Austria"), doc_id=doc_id or None),))
    others = (text.format("Germany"), text.format("Austria and Italy"), "are possible within 30 days of delivery")
    for context in others:
        answer = RagAnswer(text="", contexts=(context,), source_ids=(source_id,) if source_id else None)
        assert bool(found_gold(question, answer)[0]) == held
        assert found_gold(question, replace(answer, contexts=(text.format("Austria."),)))[0]


def test_a_text_with_the_passage_is_another_one_if_its_id_is_that_of_a_distractor() -> None:
    answer = RagAnswer(text="", contexts=(f"Forum: {TEXT} That is wrong.",) * 3, source_ids=("b1", "c9", "faq:a"))
    gold, both = GoldPassage(text=TEXT, doc_id="faq:a"), GoldPassage(text="More.", doc_id="faq:a")
    question = a_question(gold_passages=(gold,), distractors=(GoldPassage(text="Forum", doc_id="b1"), both))
    assert [bool(held) for held in found_gold(question, answer)] == [False, True, True]
    for passages in ((replace(gold, doc_id=None),), (gold, replace(both, doc_id="b1"))):
        assert found_gold(replace(question, gold_passages=passages), answer)[0]


def test_a_short_text_of_the_passages_own_document_holds_it() -> None:
    question = a_question(gold_passages=(GoldPassage(text="Shipping info\nShips tomorrow.", doc_id="d1"),))
    answer = RagAnswer(text="", contexts=("Ships tomorrow.",) * 2 + ("Ships today.",), source_ids=("d2", "d1", "d1"))
    assert [bool(held) for held in found_gold(question, answer)] == [False, True, False]


def test_an_id_is_found_however_its_accents_are_composed() -> None:
    question = a_question(gold_passages=(GoldPassage(doc_id="S\u00fcd.md"), GoldPassage(doc_id="Cafe\u0301.md")))
    answer = RagAnswer(text="", contexts=("a", "b", "c"), source_ids=("Su\u0308d.md#2", "Caf\u00e9.md", "Sud.md"))
    assert [bool(held) for held in found_gold(question, answer)] == [True, True, False]


def test_an_uploaded_document_is_found_by_its_id_and_a_text_whatever_the_id() -> None:
    gold = (GoldPassage(text=TEXT, doc_id="d1"), GoldPassage(text="Free of charge."))
    question = a_question(gold_passages=gold, ingest=True)
    answer = RagAnswer(
        text="", contexts=("part of it", "Free of charge.", TEXT, "else"), source_ids=("d1", "d2", "d3", "d4")
    )
    first, second = "id d1", "text  free of charge "
    assert [set(held) for held in found_gold(question, answer)] == [{first}, {second}, {first}, set()]
    assert gold_keys(question) == {first, second}


def test_another_document_that_the_run_uploaded_must_be_the_passage() -> None:
    old = POLICY.replace("2024", "2022")
    part = "the remote work policy grants 3 days of remote work per week to every"
    gold = (GoldPassage(text=POLICY, doc_id="new"), GoldPassage(text=f"{TEXT} Free of charge for all."))
    question = a_question(gold_passages=gold, ingest=True)
    contexts = (part, old, f"{POLICY} Else.", POLICY.lower(), TEXT, TEXT)
    unnamed = named(gold[1], "d").doc_id or ""
    ours = ("old", "old", "old", "copy", "old", unnamed)
    answer = RagAnswer(text="", contexts=contexts, source_ids=ours, server_source_ids=tuple("123456"))
    by_text = f"text  {TEXT.lower().replace('.', '').replace(';', '')} free of charge for all "
    uploaded = [set(held) for held in found_gold(replace(question, dataset_name="d"), answer)]
    assert uploaded == [set(), set(), set(), {"id new"}, set(), {by_text}]
    # The ids of a system that the run does not know.
    unknown = tuple("123456")
    others = [set(held) for held in found_gold(question, replace(answer, source_ids=unknown))]
    assert others == [{"id new"}, set(), {"id new"}, {"id new"}, {by_text}, {by_text}]
    # Fewer ids than contexts.
    some = replace(answer, source_ids=("old",), server_source_ids=("1",))
    assert [set(held) for held in found_gold(question, some)][:3] == [set(), set(), {"id new"}]


def test_ids_that_are_missing_leave_the_texts() -> None:
    question = a_question(gold_passages=(GoldPassage(text=TEXT, doc_id="d1"),), ingest=True)
    answer = RagAnswer(text="", contexts=("else", TEXT), source_ids=("d9",))
    assert [set(held) for held in found_gold(question, answer)] == [set(), {"id d1"}]
    assert found_gold(question, RagAnswer(text="", contexts=(), source_ids=("d1",))) == ()


def test_passages_of_one_id_or_one_text_are_one() -> None:
    by_id = (GoldPassage(text="a b", doc_id="d1"), GoldPassage(text="a b", doc_id="d1"))
    by_text = (GoldPassage(text="a b"), GoldPassage(text="A  b!"))
    assert len(gold_keys(a_question(gold_passages=by_id))) == 1
    assert len(gold_keys(a_question(gold_passages=by_text))) == 1


def test_without_gold_passages_no_context_holds_one() -> None:
    assert found_gold(a_question(), RagAnswer(text="", contexts=("a", "b"))) == (frozenset(), frozenset())
