from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ragcheck.metrics.citations import Citations, cited_sentences
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.cited_answer import cited_answer
from pytest_ragcheck.scores import Score

_DATA = json.loads(Path(__file__).with_name("citation_answers.json").read_text(encoding="utf-8"))
ANSWERS: list[dict[str, Any]] = _DATA["answers"]


def answered(text: str, *ids: str | None, contexts: tuple[str, ...] | None = None) -> RagAnswer:
    """An answer over one context for each id."""
    given = tuple(f"Passage {number}." for number, _ in enumerate(ids, 1)) if contexts is None else contexts
    return RagAnswer(text=text, contexts=given, source_ids=ids or None)  # type: ignore[arg-type]


def measured(text: str, *ids: str, contexts: tuple[str, ...] | None = None, **keys: Any) -> dict[str, Score]:
    question = Question(dataset_name="d", id="q", question="When?", **keys)
    return asyncio.run(Citations().score(question, answered(text, *ids, contexts=contexts)))


def of_row(row: dict[str, Any]) -> RagAnswer:
    contexts = tuple(row.get("contexts", _DATA["contexts"].values()))
    return answered(row["answer"], *row.get("ids", _DATA["contexts"]), contexts=contexts)


def test_there_are_sixty_hand_made_answers_in_six_marker_styles() -> None:
    assert Counter(row["style"] for row in ANSWERS) == dict.fromkeys(
        ("number", "name", "corner", "source", "link", "footnote"), 10
    )


@pytest.mark.parametrize("row", ANSWERS, ids=[f"{row['style']}-{n % 10}" for n, row in enumerate(ANSWERS)])
def test_every_citation_of_a_hand_made_answer_is_found_and_resolved(row: dict[str, Any]) -> None:
    found = cited_answer(of_row(row)).citations
    assert [[citation.target, list(citation.contexts or ())] for citation in found] == row["cites"]


_THREE = "terms.md fees.md terms.md"


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("See [Smith, 2020], [RFC 2119], [H+], [Ctrl] and [95% CI: 1-3].", ""),
        ('The array [1, 2, 3], sizes = [1, 2], {"ids": [1, 2]} and [0-9]+.', ""),
        ("x[1] + y[2], rows[i][1], sys.argv[1] and obj.get(a)[1].b", ""),
        ("Step [1/3], [2 of 3], [v2.0], [2024-05-01], [10:30].", ""),
        ("JavaScript[1], iPhone[2], vitamin C[3], API 100[1] and days[2] (at most).", "1 2 3 1 2"),
        ("So (Source: [1]), so (see [2, 3]), so [[1]] and so [1]–[3].", "1 2 3 1 1 2 3"),
        ("So [1]-[2], so [^2]—[^3] and [3]-[1], so [1] – [3], but not a[1]-[3].", "1 2 2 3 3 1 1 3"),
        ("So [terms.md:12-14], so [Document 1: terms.md] and so [Doc 1, Doc 2].", "terms.md terms.md 1 2"),
        ("So [source_1], so [1†terms.md], so 【2†fees.md†L1-L2】 and so ［3］.", "1 terms.md 2 3"),
        ("So [1].\n\n---\nSources:\n- [1] terms.md\n- [2] fees.md", "terms.md"),
        ("So [1].\n\n### Sources\n1. [Terms](https://x.example/terms.md)", "https://x.example/terms.md"),
        ("| a | b |\n|---|---|\n| 30 days [1] | 9 EUR [2] |", "1 2"),
        ("これは【重要】です【1】。【注意】と【10:30】", "1"),
        ("（出典：規約.pdf）と（出典: terms.md）", "規約.pdf terms.md"),
        ('{"n": [3]} and {"ids": [1, [2]], "text": "30 days [1]."}', "1"),
        (r"\[ x_{[1]} = y[2] \] and \(a[1]\) and \sqrt[3]{8}: so [1].", "1"),
        ("![chart][1] It is free![2][3]\n\n[1]: chart.png", "2 3"),
        ("See [fees][f], [fees][] and [g].\n\n[f]: #fees\n[fees]: mailto:a@b.example\n[g]: ../g", ""),
        ("See [fees][f].\n\n[f]: https://x.example/terms.md 'Terms'", "https://x.example/terms.md"),
        ("So (see: below), so (context: a customer), so (see 3 below), so (source: none) [²].", ""),
        ("So (see: terms.md, below) and so (see: 2).", "terms.md 2"),
        ("So [doc1][doc2], [^1^][^2^], [cite: 1, 2] and [doc1, doc2].", " ".join(["1 2"] * 4)),
        ("So [Dokument 1], [Documento 2], [документ 3], [文書1] and [문서 2], so (Dokument 1).", "1 2 3 1 2 1"),
        (
            "So [file: terms.md], so (Datei: fees.md), so (Dokument: ein Ausweis) and (file: a deed).",
            "terms.md fees.md",
        ),
        ("So [ID:0] and [ID: 2], so [ref_id:1] and 【4:0†x】.", "1 3 2 1"),
        # RAGFlow asks for one id in each pair of brackets; models join them.
        ("So [ID:0, ID:1], so [ID: 0; ID: 2], so [ID:0][ID:1] and [ref_id:0,ref_id:2].", "1 2 1 3 1 2 1 3"),
        ("So [doc1.pdf], x[doc1], [ref2020] and (cite: a study).", "doc1.pdf"),
        ("So [^1^].\n\n[^1^]: fees.md", "fees.md"),
        ("So [1 e 2], [1 y 2], [1 und 2], [1 et 2], [1 и 2] and [1、2].", " ".join(["1 2"] * 6)),
        ("So [x](https://x.example/a_(b)) and [y](<terms.md>).", "https://x.example/a_(b) terms.md"),
        ("```\r\nx[1]\r\n```\r\nSo [3].\r\n\r\n**Sources:**\r\n\r\n[3] terms.md\r\n", "terms.md"),
        ("So (Source: [Terms](https://x.example/terms.md)).", "https://x.example/terms.md"),
        ("So (Sources: [1](https://x.example/a), [2][3]), so (Sources: [1] [2]).", "1 2 3 1 2"),
        ("So (Sources: [terms.md], [fees.pdf]), so (Source: [terms.md], p. 3).", "terms.md fees.pdf terms.md"),
        ("So (Source: terms.md p. 2), so (Source: fees.pdf - page 4), so [fees.pdf §2].", "terms.md fees.pdf fees.pdf"),
        ("So (Source: terms.md (page 2)), so [terms.md, Page: 3], so [1, Page: 3].", "terms.md terms.md 1"),
        ("So (source: ISO 9001 section 4), so [2 p. 3], not [Figure 2 page 3] or [1:3].", "ISO 9001 2"),
        ("So [terms.md, Chunk: 2], so [Chunk 1, Chunk 2].", "terms.md 1 2"),
        ("So [1, 2, and 3], [docs 1, 2, und 3], [1، 2], [terms.md, and fees.md].", "1 2 3 1 2 3 1 2 terms.md fees.md"),
        ("So (see terms.md), (siehe fees.md, S. 2), [doc terms.md], not (see e.g. 2 below), (see cfg.yaml).", _THREE),
        ("So [terms.md, Intro], so (Source: fees.md, Section Pay, 12), so [terms.md – Pay].", _THREE),
        ("So (Source: terms.md, https://x.example/fees.md).", "terms.md https://x.example/fees.md"),
        ("So [terms.md: Pay], so [fees.md > Pay > Late], so [source=terms.md].", _THREE),
        ("So (bron: terms.md), so (źródło: fees.md), so (المصدر: terms.md).", _THREE),
        ("So [文档1]，（参见：terms.md）（参见：下文）。", "1 terms.md"),
        ("It is 3 (95% CI [2, 4]).", ""),
        ("So [1].\n\nSources used:\n[1] terms.md\n[2] fees.md", "terms.md"),
        ("So [1].\n\n## Sources and References\n1. terms.md", "terms.md"),
        (
            "So it is (terms.md), so (fees.md, p. 3; api/limits.md), not (policy.pdf) or (see it in terms.md).",
            "terms.md fees.md api/limits.md",
        ),
        ("So it is.\nSOURCES: terms.md, fees.pdf", "terms.md fees.pdf"),
        (
            "So it is.\n\n**Sources:**\n- terms.md\n- https://x.example/a\n- a book\n\n- terms.md",
            "terms.md https://x.example/a",
        ),
        ("So it is.\n\nSources:\n1. fees.md\n2. `terms.md`, p. 3\r\n", "fees.md terms.md"),
        ("So it is.\nSources: 1, 3", "1 3"),
        ("So [1].\nSources: terms.md and a.txt", "1 terms.md a.txt"),
        ("Sources: terms.md", ""),
        ("The source: terms.md. Context: terms.md\nSources: none", ""),
        ("So (Source: `terms.md`), but not `terms.md`, `rows[1]` or `(source: fees.pdf)`.", "terms.md"),
    ],
)
def test_markers_are_distinguished_from_what_only_looks_like_one(text: str, targets: str) -> None:
    found = cited_answer(answered(text, "terms.md", "fees.md", "api/limits.md")).citations
    assert " ".join(citation.target for citation in found) == targets


@pytest.mark.parametrize(
    ("text", "cites"),
    [
        ("[doc_1], [doc_1, doc_2], (source: doc_2; doc_1), [doc 1], (doc 2)", "1 1 0 0 1 1 0"),
        ("[doc_9]", "-"),
        ("[doc_7, doc_2]", "- 0"),
        # No id begins with these words, so the number is a rank.
        ("[source_1], [chunk1], (source 2)", "0 0 1"),
    ],
)
def test_a_word_with_a_number_is_the_document_of_that_id_before_it_is_a_rank(text: str, cites: str) -> None:
    found = cited_answer(answered(text, "doc_2", "doc_1")).citations
    assert " ".join(str(citation.contexts[0]) if citation.contexts else "-" for citation in found) == cites


def test_an_index_of_ragflow_may_be_an_id() -> None:
    found = cited_answer(answered("So [ID:7] and [ID:0].", "9", "7")).citations
    assert [citation.contexts for citation in found] == [(1,), (0,)]


@pytest.mark.parametrize(
    ("text", "contexts"),
    [
        ("[Terms and Conditions.pdf], [terms and conditions, p. 3], [1, Terms and Conditions.pdf]", "0 0 0 0"),
        ("(source: Terms and Conditions.pdf, page 3), 【7†Terms and Conditions.pdf】", "0 0"),
        ("[Smith, 2020.md; Terms and Conditions.pdf], [Smith, 2020]", "1 0 1"),
        ("(source: Fees (2024).md)", "2"),
        # A letter with its accent apart, and a folder of Windows.
        ("[Gro\u0308ße.md], [win.md]", "3 4"),
    ],
)
def test_a_document_is_found_whatever_its_name_has(text: str, contexts: str) -> None:
    ids = ("Terms and Conditions.pdf", "Smith, 2020.md", "Fees (2024).md", "Größe.md", "docs\\win.md")
    found = cited_answer(answered(text, *ids)).citations
    assert " ".join(str(citation.contexts[0]) if citation.contexts else "-" for citation in found) == contexts


def test_validity_is_the_share_of_resolved_citations_and_names_the_sentences_of_the_others() -> None:
    scores = measured("It takes 30 days [1]. The fee is 9 EUR [1, 7].", "terms.md", "fees.md")
    # 2 of 3
    assert scores["citation_validity"].value == pytest.approx(2 / 3)
    assert scores["citation_validity"].findings == (
        '"The fee is 9 EUR." cites 7 in [1, 7], which is none of the 2 contexts',
    )


def test_a_link_may_encode_the_name_of_a_document() -> None:
    text = "[a](https://x.example/Terms%20and%20Conditions.pdf), [Preise März.md], [x](<Preise M%C3%A4rz.md>)"
    found = cited_answer(answered(text, "Terms and Conditions.pdf", "s3://b/Preise%20M%C3%A4rz.md")).citations
    assert [citation.contexts for citation in found] == [(0,), (1,), (1,)]


def test_the_parameters_that_openai_adds_to_links_do_not_matter() -> None:
    ids = ("https://x.example/help?id=2", "https://x.example/help?id=3")
    text = "[help](https://x.example/help?id=3&utm_source=openai) and [1](https://x.example/help?id=4)"
    found = cited_answer(answered(f"{text}, [a](https://x.example/help?id=4)", *ids)).citations
    assert [citation.contexts for citation in found] == [(1,), (0,), ()]


def test_parts_of_a_document_are_told_apart() -> None:
    ids = ("terms.md#1", "terms.md#2", "fees.md#1")
    found = cited_answer(answered("[terms.md#2], [terms.md], [terms.md#p9], (source: fees.md#1)", *ids)).citations
    assert [citation.contexts for citation in found] == [(1,), (0, 1), (0, 1), (2,)]
    for text, demanded, share in (
        ("[terms.md#2]", "terms.md#1", 0.0),
        ("[1]", "terms.md#1", 1.0),
        ("[2]", "terms", 1.0),
    ):
        assert measured(text, *ids, must_cite=(demanded,))["must_cite"].value == share


def test_a_definition_beside_a_used_one_is_no_citation() -> None:
    definitions = "\n\n[1]: terms.md\n[2]: fees.md"
    for text, demanded, share in (
        ("So [1].", "fees.md", 0.0),
        ("So [1].", "terms.md", 1.0),
        ("So [1], [2].", "fees.md", 1.0),
        ("So.", "fees.md", 1.0),  # lines that begin with a marker
    ):
        scores = measured(text + definitions, "terms.md", "fees.md", must_cite=(demanded,))
        assert scores["must_cite"].value == share


def test_chunks_of_a_document_are_cited_by_its_name() -> None:
    ids = ("terms.md::1", "fees-chunk-1", "pay-2.md", "fees-chunk-2", "ticket#1")
    text = "[terms.md], (source: fees), [pay.md], [terms.md::1], (source: fees-chunk-3)"
    found = cited_answer(answered(text, *ids)).citations
    assert [citation.contexts for citation in found] == [(0,), (1, 3), (), (0,), ()]
    for text, demanded, share in (
        ("[1]", "terms.md", 1.0),
        ("(source: fees-chunk-2)", "fees.md", 1.0),
        ("[2]", "fees-chunk-2", 0.0),
        ("[2]", "fees-chunk-3", 0.0),
        ("[5]", "ticket#2", 0.0),
    ):
        assert measured(text, *ids, must_cite=(demanded,))["must_cite"].value == share


def test_with_one_context_the_text_says_so() -> None:
    (finding,) = measured("It takes 30 days [2].", "terms.md")["citation_validity"].findings
    assert finding == '"It takes 30 days." cites [2], but there is only 1 context'


def test_without_markers_there_is_no_validity() -> None:
    assert measured("It takes 30 days.", "terms.md") == {}


def test_without_contexts_every_citation_is_invalid() -> None:
    assert measured("It takes 30 days [1].")["citation_validity"] == Score(
        0.0, findings=('"It takes 30 days." cites [1], and there are no contexts',)
    )


def test_names_are_unscored_if_the_contexts_have_no_ids() -> None:
    scores = measured("30 days [1], 9 EUR [fees.md].", contexts=("Thirty.",))
    assert scores["citation_validity"] == Score.unscored(
        "the answer cites by name, and the endpoint gives its contexts no ids"
    )


def test_the_documents_that_a_question_demands_and_the_answer_does_not_cite_are_named() -> None:
    scores = measured("30 days [1]. See fees.md.", "terms.md", "fees.md", must_cite=("terms.md", "fees.md", "api.md"))
    # 1 of 3: a name without a marker is no citation
    assert scores["must_cite"].value == pytest.approx(1 / 3)
    assert scores["must_cite"].findings == ("fees.md", "api.md")


def test_an_answer_without_markers_cites_none_of_the_demanded_documents() -> None:
    assert measured("30 days.", "terms.md", must_cite=("terms.md",)) == {
        "must_cite": Score(0.0, findings=("terms.md",))
    }


def test_a_demanded_document_that_was_not_retrieved_is_not_cited_by_its_name() -> None:
    assert measured("9 EUR [fees.md].", "terms.md", must_cite=("fees.md",))["must_cite"].value == 0.0


def test_a_number_says_nothing_about_documents_if_the_contexts_have_no_ids() -> None:
    scores = measured("30 days [1].", contexts=("Thirty.",), must_cite=("terms.md",))
    assert scores["must_cite"] == Score.unscored(
        "no marker names 'terms.md', and the endpoint gives its contexts no ids"
    )
    assert measured("30 days [terms.md].", contexts=("x",), must_cite=("terms.md",))["must_cite"] == Score(1.0)
    # An invented number cites no document, even without ids.
    assert measured("30 days [7].", contexts=("x",), must_cite=("terms.md",))["must_cite"].value == 0.0


def test_the_id_of_the_server_names_an_uploaded_document_too() -> None:
    answer = RagAnswer(text="30 days [up-77].", contexts=("x",), source_ids=("terms",), server_source_ids=("up-77",))
    question = Question(dataset_name="d", id="q", question="When?", must_cite=("terms",))
    assert asyncio.run(Citations().score(question, answer)) == {
        "must_cite": Score(1.0),
        "citation_validity": Score(1.0),
    }


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "A is so [1]. B is so.[2] C is so. [1] D is so.",
            [("A is so.", "1"), ("B is so.", "2"), ("C is so.", "1"), ("D is so.", "")],
        ),
        ("According to [1], A is so.", [("According to, A is so.", "1")]),
        ("[1] A is so.\n[2] B is so.", [("A is so.", "1"), ("B is so.", "2")]),
        ("A is so. [2] says that B is so.", [("A is so.", ""), ("says that B is so.", "2")]),
        ("# Refunds\nIt says:\n- A is so [1]\n- B is so [2]\nMore?", [("A is so", "1"), ("B is so", "2")]),
        ("A is [so](a.md).\n\n[^1]: a.md", [("A is so.", "a.md")]),
        ("A is so ([1]). B is f() [a.md](x/a.md).", [("A is so.", "1"), ("B is f().", "x/a.md")]),
        (
            "A is so ([x.example](https://x.example/b.md?utm_source=openai)).",
            [("A is so.", "https://x.example/b.md?utm_source=openai")],
        ),
        ("A is so[^1].\n\n[^1]: a.md", [("A is so.", "a.md")]),
        ("| of | is |\n|---|:-:|\n| A | so [1] |\n| B | so [2] |", [("| A | so |", "1"), ("| B | so |", "2")]),
        ("of | is\r\n-- | --\r\nA | so [1]", [("A | so", "1")]),
        ("日は三十日です【1】。月は一です【2】。", [("日は三十日です。", "1"), ("月は一です。", "2")]),
    ],
)
def test_a_marker_belongs_to_the_sentence_that_it_stands_in_or_follows(
    text: str, sentences: list[tuple[str, str]]
) -> None:
    answer = answered(text, "a.md", "b.md")
    found = cited_sentences(answer, cited_answer(answer))
    assert [(each.text, " ".join(citation.target for citation in each.citations)) for each in found] == sentences


@pytest.mark.parametrize(
    "hostile",
    ["[" * 1_000, "[1](" * 250, "```\n" * 250, "[1]:x\n" * 160, "$" * 1_000, "`a" * 500, "\\[" * 500, '":[' * 300,
     "[1]\nSources" + " " * 1_000 + "x", "[1] A. ? " * 100, "# A." * 250 + "[1]", "[1]\n" + "-" * 1_000,
     "A\n" + "Sources:\n- a" * 80, "A\nSources:" + " " * 1_000 + "[", "(" + "a." * 500, "A\n" + "#" * 1_000,
     "[1]\n" + "|:-" * 330 + "x", "[1]\n" + " " * 1_000 + "x", "[" + "a," * 90 + "] [1]"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_the_citations_of_a_hostile_answer_are_those_of_its_sentences(hostile: str) -> None:
    answer = answered(hostile, "a.md")
    cited = cited_answer(answer)
    sentences = cited_sentences(answer, cited)
    assert bool(sentences) == any(map(str.isalnum, cited.marked.blanked(hostile)))
    assert sum(len(each.citations) for each in sentences) == (len(cited.citations) if sentences else 0)


def test_every_marker_of_a_long_answer_counts() -> None:
    text = "So it is [1]. " * 20_000 + "And so it is [fees.md]. So it is [7]."
    scores = measured(text, "terms.md", "fees.md", must_cite=("fees.md",))
    assert scores["must_cite"] == Score(1.0)
    # 20,001 of 20,002
    assert scores["citation_validity"].value == pytest.approx(1 - 1 / 20_002, abs=1e-9)
    assert scores["citation_validity"].findings == ('"So it is." cites [7], which is none of the 2 contexts',)


PIECES = st.sampled_from(
    ["[1]", "[2, 7]", "【1†source】", "(source: a.md, p. 2)", "[x](a.md)", "[^1]", "\n[^1]: a.md\n", "\nSources:\n",
     "\n1. a.md\n", "`[1]`", "```\n", "$", "A is so", ". ", ".", "\n", "\n\n", "    ", "- ", "# ", "? ", "。", "1", "x"]
)  # fmt: skip


@example("[2, 7]\nSources:\n\n    \n1. a.md\n")
@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=60))
def test_every_citation_belongs_to_one_sentence_whatever_the_text(text: str) -> None:
    answer = answered(text, "a.md", "b.md")
    cited = cited_answer(answer)
    blanked = cited.marked.blanked(text)
    assert len(blanked) == len(text)
    assert all(text[marker.start : marker.end] == marker.text for marker in cited.marked.markers)
    sentences = cited_sentences(answer, cited)
    belonging = [citation for sentence in sentences for citation in sentence.citations]
    if any(map(str.isalnum, blanked)):
        assert sorted(map(id, belonging)) == sorted(map(id, cited.citations))


@pytest.mark.parametrize(
    ("said", "source_id"),
    [
        ("[pay.md]", "pay.md.txt"),
        ("(source: pay.md)", "docs/pay.md.txt"),
        ("[pay]", "pay.txt"),
        ("[report.v2]", "report.v2.pdf"),
        ("[Pay.MD]", "docs/pay.md"),
    ],
)
def test_a_name_may_lack_the_last_extension_of_the_id(said: str, source_id: str) -> None:
    assert [each.contexts for each in cited_answer(answered(f"So {said}.", "fees.md", source_id)).citations] == [(1,)]


def test_a_name_with_another_extension_is_that_of_its_document_alone() -> None:
    cited = cited_answer(answered("So [pay.md].", "pay.md.bak.txt", "pay-md"))
    assert [each.contexts for each in cited.citations] == [()]
