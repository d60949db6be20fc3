"""Tables of one's own convert by the names of their columns, and `--column` names the others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main

if TYPE_CHECKING:
    from pathlib import Path

WHO, CUSTOMER, RULE = "Who pays for a return?", "The customer pays.", "The customer pays for returns."


def convert(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: str | bytes, *columns: str
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the values that were not carried over, and the entries of the written file, which has no mistakes."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    options = [part for column in columns for part in ("--column", column)]
    status = main(["convert", str(path), "-o", str(folder / "converted"), *options])
    printed = capsys.readouterr()
    assert (status, printed.err) == (0, "")
    assert "tables of your own" in printed.out
    [written] = (folder / "converted").iterdir()
    assert main(["check", str(written)]) == 0, capsys.readouterr().out
    left = [line.removeprefix("  not carried over: ") for line in printed.out.splitlines()[2:]]
    return left, json.loads(written.read_text(encoding="utf-8"))["questions"]


def refused(folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, *columns: str) -> str:
    """Return the error text, without the path of the file at its beginning."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    options = [part for column in columns for part in ("--column", column)]
    assert main(["convert", str(path), "-o", str(folder), *options]) == 2
    return capsys.readouterr().err.removeprefix("ragcheck convert: ").removeprefix(f"{path}: ").rstrip("\n")


@pytest.mark.parametrize(
    "header",
    [
        "id,question,expected_answer,category",
        "ID,Question,Expected Answer,category",
        "qid,Query,Expected-Result,category",
        "question id,userInput,expectedAnswer,category",
    ],
)
def test_names_of_columns_may_be_spelt_as_in_a_spreadsheet(
    header: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, [question] = convert(tmp_path, capsys, "a.csv", f"{header}\nr-1, {WHO} ,{CUSTOMER},fees\n")
    assert left == []
    assert (question["id"], question["question"], question["expected_answer"]) == ("r-1", WHO, CUSTOMER)
    assert question["metadata"] == {"category": "fees"}


def test_a_title_above_the_header_empty_columns_and_repeated_headers_are_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = ",No.,Question,Expected answer,Comment,Comment\n"
    text = (
        f'"Pilot, draft",,,,,\n,,,,,\n{header},1,{WHO},{CUSTOMER},checked,ok\n{header},2,How long?,30 days,,\n,,,,,\n'
    )
    left, [first, second] = convert(tmp_path, capsys, "a.csv", text)
    assert left == ["repeated headers: 1"]
    assert (first["question"], first["expected_answer"]) == (WHO, CUSTOMER)
    assert first["metadata"] == {"No.": "1", "Comment": "checked", "Comment.1": "ok"}
    assert (second["question"], second["expected_answer"]) == ("How long?", "30 days")


def test_a_header_of_one_name_is_no_title(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, questions = convert(tmp_path, capsys, "a.csv", f"question,\n{WHO},\nHow long?,\n")
    assert [each["question"] for each in questions] == [WHO, "How long?"]


def test_options_name_the_other_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"Frage;Soll (DE);question;Quelle\n{WHO};{CUSTOMER};wer zahlt;terms.md\n"
    options = ("question=Frage", "expected_answer=Soll (DE)")
    _, [question] = convert(tmp_path, capsys, "a.csv", text.encode("utf-16"), *options)
    assert (question["question"], question["expected_answer"]) == (WHO, CUSTOMER)
    assert question["metadata"] == {"question": "wer zahlt", "Quelle": "terms.md"}


def test_every_key_is_carried_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {
        "question": WHO, "expected_answer": [CUSTOMER, "They do."], "accepted_answers": [30], "must_contain": "pays",
        "must_not_contain": ["shop", 7], "expected_chunks": [{"doc_id": "terms", "text": RULE}, "Returns"], "top_k": 3,
    }  # fmt: skip
    left, [question] = convert(tmp_path, capsys, "a.json", json.dumps({"cases": [row], "documents": ["terms"]}))
    assert left == ["top_k (kept in metadata, not asserted): 1"]
    assert question["all_acceptable_answers"] == [CUSTOMER, "They do.", "30"]
    assert (question["must_mention"], question["must_not_mention"]) == (["pays"], ["shop", "7"])
    assert question["gold_passages"] == [{"doc_id": "terms", "text": RULE}, {"text": "Returns"}]
    assert question["metadata"] == {"top_k": 3}


def test_an_id_with_characters_that_a_test_cannot_have_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"id,question\nx::y [1],{WHO}\n 7 ,How long?\n\ufeff,Which?\n"
    left, questions = convert(tmp_path, capsys, "a.csv", text)
    assert left == ["ids with characters that a test cannot have (replaced): 2"]
    assert [each["id"] for each in questions] == ["x__y (1)", "7", "-"]


@pytest.mark.parametrize("name", ["quarantine", "skip", "must_cite", "Top K", "markers"])
def test_another_key_of_a_question_is_listed(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, [question] = convert(tmp_path, capsys, "a.json", json.dumps([{"question": WHO, name: "x", "note": "y"}]))
    assert left == [f"{name} (kept in metadata, not asserted): 1"]
    assert question["metadata"] == {name: "x", "note": "y"}


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("should_answer", "yes,NO,"),
        ("is_unanswerable", "no,True,"),
        ("Is Impossible", "off,on,"),
        ("answerable", "ja,Nein,"),
        ("answerable", "WAHR,FALSCH,"),
        ("is_unanswerable", "non,VRAI,"),
        ("answerable", "sí,nee,"),
    ],
)
def test_a_column_says_which_questions_have_no_answer(
    name: str, cells: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = zip(("A?", "B?", "C?"), cells.split(","), strict=True)
    text = f"question,{name},expected_answer\n" + "".join(f"{asked},{cell},No\n" for asked, cell in rows)
    left, questions = convert(tmp_path, capsys, "a.csv", text)
    assert left == [NO_ANSWER]
    assert [each.get("answerable", True) for each in questions] == [True, False, True]
    assert [each["expected_answer"] for each in questions] == ["No", None, "No"]


def test_a_flag_of_neither_yes_nor_no_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, _ = convert(tmp_path, capsys, "a.csv", f"question,Known\n{WHO},perhaps\n", "answerable=Known")
    assert left == ["Known 'perhaps', which is neither yes nor no: 1"]


def test_a_gold_passage_may_be_one_object_in_a_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = '{"doc_id": "parking.md"}', '[{"doc_id": "leave.md"}]', f'{{"text": "{RULE}"}}', "{'doc_id': 'a b'}"
    quoted = ('"{}"'.format(cell.replace('"', '""')) for cell in cells)
    text = "question,gold_passages\n" + "".join(f"Where {number}?,{cell}\n" for number, cell in enumerate(quoted))
    left, questions = convert(tmp_path, capsys, "a.csv", text)
    assert left == []
    assert [each["gold_passages"] for each in questions] == [
        [{"doc_id": "parking.md"}],
        [{"doc_id": "leave.md"}],
        [{"text": RULE}],
        [{"doc_id": "a b"}],
    ]


@pytest.mark.parametrize("cell", [{"name": "parking.md"}, [{"text": " "}], [[RULE]], True])
def test_a_gold_passage_that_cannot_be_read_is_listed(
    cell: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"question": WHO, "gold_passages": cell}, {"question": "How long?", "gold_passages": ["", None, RULE]}]
    left, questions = convert(tmp_path, capsys, "a.json", json.dumps(rows))
    # The two of the second row, and that of the first.
    assert left == ["gold passages without a text or doc_id: 3"]
    assert [each.get("gold_passages", []) for each in questions] == [[], [{"text": RULE}]]


@pytest.mark.parametrize("cell", [None, "", " ", [], "[]"])
def test_no_gold_passage_is_listed_for_a_row_that_has_none(
    cell: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left, [question] = convert(tmp_path, capsys, "a.json", json.dumps([{"question": WHO, "gold_passages": cell}]))
    assert left == []
    assert "gold_passages" not in question


def test_other_values_of_gold_passages_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    passages = [
        {"doc_id": "terms", "page_content": RULE, "score": None, "metadata": {}},
        {"_id": "fees", "text": "Returns"},
        {"doc_id": "lamps", "text": ["Lamps"]},
        {"doc_id": "shoes", "as": "staff"},
    ]
    left, [question] = convert(tmp_path, capsys, "a.json", json.dumps([{"question": WHO, "gold_passages": passages}]))
    assert left == ["values of gold passages beside a text and a doc_id: 3"]
    assert question["gold_passages"] == [
        {"doc_id": "terms", "text": RULE},
        {"text": "Returns"},
        {"doc_id": "lamps"},
        {"doc_id": "shoes"},
    ]


def test_file_names_as_texts_of_passages_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = "leave.md", "Travel rules.docx", RULE, "Returns", "三十天内。"
    rows = "".join(f"Where {number}?,{cell}\n" for number, cell in enumerate(cells))
    left, questions = convert(tmp_path, capsys, "a.csv", f"question,gold_passages\n{rows}")
    assert left == ['file names as gold passages, read as texts; write {"doc_id": "terms.md"}: 2']
    assert questions[0]["gold_passages"] == [{"text": "leave.md"}]


def test_answers_with_a_bar_are_one_answer_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = "30|thirty days", '"30 days, or one month"', '"[""30"", ""a|b""]"'
    rows = "".join(f"How long {number}?,30 days,{cell}\n" for number, cell in enumerate(cells))
    left, questions = convert(tmp_path, capsys, "a.csv", f"question,expected_answer,all_acceptable_answers\n{rows}")
    assert left == ['all_acceptable_answers with "|", read as one; write ["30 days", "one month"]: 1']
    assert questions[0]["all_acceptable_answers"] == ["30 days", "30|thirty days"]


def test_several_texts_in_a_cell_of_mentions_are_one_text_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        "30; thirty,14 days|21 days",
        '"30, not 31","free, at no cost"',
        "/30|thirty/,/14|21/",
        '"[""a|b""]","[""a, b"", ""c""]"',
        "30,14",
    ]
    text = "".join(f"How long {number}?,{row}\n" for number, row in enumerate(rows))
    left, questions = convert(tmp_path, capsys, "a.csv", f"question,Must Mention,Must Not Mention\n{text}")
    assert left == [
        'must_mention with ";", read as one; write ["30 days", "one month"]: 1',
        'must_not_mention with ",", read as one; write ["30 days", "one month"]: 1',
        'must_not_mention with "|", read as one; write ["30 days", "one month"]: 1',
    ]
    assert questions[0]["must_not_mention"] == ["14 days|21 days"]


NO_ANSWER = "values of expected_answer that the question cannot have (kept in metadata): 1"


def test_values_that_are_no_texts_are_kept_in_metadata_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "id": ["r-1"], "question": WHO, "expected_answer": CUSTOMER, "all_acceptable_answers": [["They do."], None],
        "must_mention": [["pays"], "customer"], "must_not_mention": {"price": "14"},
    }  # fmt: skip
    left, [question] = convert(tmp_path, capsys, "a.json", json.dumps([row]))
    assert left == [
        NO_ANSWER,
        "values of id that the question cannot have (kept in metadata): 1",
        "values of must_mention that the question cannot have (kept in metadata): 1",
        "values of must_not_mention that the question cannot have (kept in metadata): 1",
    ]
    assert (question["all_acceptable_answers"], question["must_mention"]) == ([CUSTOMER], ["customer"])
    assert question["metadata"] == {
        "expected_answer": [CUSTOMER, ["They do."], None],
        "id": [["r-1"]],
        "must_mention": [["pays"], "customer"],
        "must_not_mention": [{"price": "14"}],
    }


def test_a_list_in_a_list_of_a_cell_is_kept_in_metadata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f'question,expected_answer\n{WHO},"[""They do."", [""We"", ""You""]]"\n'
    left, [question] = convert(tmp_path, capsys, "a.csv", text)
    assert (left, question["all_acceptable_answers"]) == ([NO_ANSWER], ["They do."])
    assert question["metadata"] == {"expected_answer": ["They do.", ["We", "You"]]}


AMBIGUOUS = (
    "the column 'answer' may be the expected answer or the answer of a system; "
    'add --column "expected_answer=answer" or --column "metadata=answer"; '
    "the column 'context' may be the passages that answer the question or those that a system found; "
    'add --column "gold_passages=context" or --column "metadata=context" (found: answer, context, question).'
)


def test_ambiguous_columns_are_refused_with_the_options_that_name_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"question,answer,context\n{WHO},{CUSTOMER},{RULE}\n"
    assert refused(tmp_path, capsys, "a.csv", text) == AMBIGUOUS
    options = ("expected_answer=answer", "metadata=context")
    _, [question] = convert(tmp_path, capsys, "a.csv", text, *options)
    assert (question["expected_answer"], question["metadata"]) == (CUSTOMER, {"context": RULE})


@pytest.mark.parametrize(
    ("header", "options", "told"),
    [
        (
            "question,Query,expected",
            (),
            "the columns 'Query' and 'question' are both question; add --column question=NAME",
        ),
        (
            "question,Soll,Soll",
            ("question=question", "expected_answer=soll"),
            "--column expected_answer=soll: there is no column 'soll'; did you mean 'Soll'? (found: ",
        ),
        (
            "question,Soll,Soll",
            ("answer=Soll",),
            "--column answer=Soll: 'answer' is no key for tables of your own; choose one of question, ",
        ),
        (
            "Frage,Soll,Note",
            ("question=Fragen",),
            "--column question=Fragen: there is no column 'Fragen'; did you mean 'Frage'? (found: Frage, Note, Soll).",
        ),
        (
            "Frage,Soll,Note",
            ("question=Text",),
            "--column question=Text: there is no column 'Text' (found: Frage, Note, Soll).",
        ),
        ("Frage,Soll,Note", ("expected_answer=Soll",), "no column has the texts to ask; add --column question=NAME"),
        (
            "question,Expected answer,Expected answer",
            (),
            (
                "the columns 'Expected answer' and 'Expected answer.1' are both expected_answer; "
                "add --column expected_answer=NAME (found: Expected answer, Expected answer.1, question)."
            ),
        ),
    ],
)
def test_a_column_that_cannot_be_told_is_a_mistake(
    header: str, options: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(tmp_path, capsys, "a.csv", f"{header}\n{WHO},b,c\n", *options).startswith(told)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rag.jsonl", json.dumps({"question": WHO})),
        ("a.json", json.dumps({"dataset_name": "shop", "questions": [{"question": WHO}]})),
        (
            "a.jsonl",
            json.dumps({"title": "Terms", "question": WHO, "answers": {"text": [CUSTOMER]}}),
        ),
        ("a.json", json.dumps([{"question": WHO, "answer": "no", "supporting_facts": [["Terms", 0]], "context": []}])),
    ],
)
def test_question_files_and_standard_datasets_are_no_tables_of_ones_own(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(tmp_path, capsys, name, text).startswith("is not a recognised export (found: ")


def test_a_question_file_that_is_converted_keeps_its_name_and_is_said_to_be_collected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "hilfe.rag.csv"
    table.write_text("Frage,Antwort\nWann?,Um neun.\n", encoding="utf-8")
    columns = ("--column", "question=Frage", "--column", "expected_answer=Antwort")
    assert main(["convert", str(table), *columns, "-o", str(tmp_path)]) == 0
    assert f"  pytest still collects {table}: delete or rename it\n" in capsys.readouterr().out
    assert json.loads((tmp_path / "hilfe.rag.json").read_text(encoding="utf-8"))["dataset_name"] == "hilfe"
