"""CSV: a question a row, below the names of the keys."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.question import GoldPassage

from .reading import problems, read, read_one

NAME = "billing.rag.csv"
MAPPING = 'Write a mapping, such as {"team": "billing"}.'
COMMA = "',' or ']'."
KEY = "a key in quotes or '}'."
OTHERS = "Write the others too, empty where nothing is given, and put a cell with a line break into quotes."
NOT_CLOSED = "the file has a cell in quotes that is not closed. Close it, and write each quote inside of it twice."
STOP = "Correct it there or shortly before."


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_unicode_text_of_excel_is_read(encoding: str, tmp_path: Path) -> None:
    text = "\ufeffid\tquestion\texpected_answer\r\nshop\tWo ist der Laden?\tEhrenstraße 12, Köln\r\n"
    question = read_one(tmp_path, text.encode(encoding), NAME)
    assert (question.id, question.expected_answer) == ("shop", "Ehrenstraße 12, Köln")


def test_every_kind_of_cell_is_read(tmp_path: Path) -> None:
    row = {
        "id": "terms",
        "question": "What is the refund window?",
        "expected_answer": "30 days",
        "all_acceptable_answers": '["thirty days", 30]',
        "must_mention": "30",
        "must_not_mention": '["14 days", "/[0-9]+ weeks/i"]',
        "must_cite": '["terms.md", "fees.md"]',
        "gold_passages": '[{"doc_id": "terms.md", "text": "Within 30 days."}, "A bare text."]',
        "distractors": '{"text": "A label is valid for 14 days."}',
        "thresholds": '{"groundedness": 0.9}',
        "top_k": "3",
        "tags": '["billing", "refunds"]',
        "skip": "until the terms are final",
        "xfail": "TRUE",
        "metadata": '{"team": "payments", "n": 1}',
    }
    file = io.StringIO()
    writer = csv.DictWriter(file, row)
    writer.writeheader()
    writer.writerow(row)

    question = read_one(tmp_path, file.getvalue(), NAME)
    assert (question.dataset_name, question.id, question.line) == ("billing", "terms", 2)
    assert question.acceptable_answers == ("30 days", "thirty days", "30")
    assert (question.must_mention, question.must_not_mention) == (("30",), ("14 days", "/[0-9]+ weeks/i"))
    assert question.must_cite == ("terms.md", "fees.md")
    assert question.gold_passages[0] == GoldPassage(doc_id="terms.md", text="Within 30 days.")
    assert question.gold_passages[1] == GoldPassage(text="A bare text.")
    assert question.distractors == (GoldPassage(text="A label is valid for 14 days."),)
    assert (question.thresholds, question.top_k, question.tags) == ({"groundedness": 0.9}, 3, ("billing", "refunds"))
    assert (question.skip, question.xfail) == ("until the terms are final", "expected to fail by its question file")
    assert question.metadata == {"team": "payments", "n": 1}


@pytest.mark.parametrize(
    "typed", ["1972", "no", "nein", "true", "null", "~", "2024-01-01", "007", "1.10", "[sic", "{x}"]
)
def test_a_text_is_read_as_typed(tmp_path: Path, typed: str) -> None:
    question = read_one(tmp_path, f"question,expected_answer,id\n{typed},{typed},a\n", NAME)

    assert (question.question, question.expected_answer) == (typed, typed)


@pytest.mark.parametrize(
    ("typed", "answerable"),
    [
        ("true", True),
        ("TRUE", True),
        ("yes", True),
        ("False", False),
        ("no", False),
        ("ja", True),
        ("FALSCH", False),
        ("non", False),
    ],
)
def test_a_flag_is_a_word(tmp_path: Path, typed: str, answerable: bool) -> None:
    assert read_one(tmp_path, f"question,answerable\nWho?,{typed}\n", NAME).answerable is answerable
    assert read_one(tmp_path, f"question,is_impossible\nWho?,{typed}\n", NAME).answerable is not answerable


@pytest.mark.parametrize(("typed", "reason"), [("later", "later"), ("null", "null"), ("no", None), ("", None)])
def test_a_reason_is_a_text_or_a_flag(tmp_path: Path, typed: str, reason: str | None) -> None:
    assert read_one(tmp_path, f"question,skip\nWho?,{typed}\n", NAME).skip == reason


def test_a_number_is_no_reason_because_0_is_meant_as_false(tmp_path: Path) -> None:
    assert problems(tmp_path, 'question,skip,xfail\nWho?,0,"1"\n', NAME) == [
        "billing.rag.csv:2: question 'who-d991' has 0 under 'skip'. Write the reason, or true or false.",
        "billing.rag.csv:2: question 'who-d991' has 1 under 'xfail'. Write the reason, or true or false.",
    ]


def test_one_number_is_a_threshold_for_both_scores(tmp_path: Path) -> None:
    question = read_one(tmp_path, "question,threshold\nWho?,.5\n", NAME)

    assert question.thresholds == {"answer_correctness": 0.5, "groundedness": 0.5}


def test_an_empty_cell_is_as_good_as_no_column(tmp_path: Path) -> None:
    header = "question,id,expected_answer,tags,thresholds,top_k,answerable,skip,metadata,gold_passages"
    with_empty_cells = read_one(tmp_path, f'{header}\nWho?,,"",  ," ",,,,,\n', NAME)

    assert with_empty_cells == read_one(tmp_path, "question\nWho?\n", NAME)


def test_a_row_begins_on_the_line_of_its_first_cell_whatever_its_cells_hold(tmp_path: Path) -> None:
    content = (
        'question,expected_answer\r\n"Is it\r\n\r\n""free""?","yes,\r\nit is"\r\n\r\n,,\r\nWho pays?,Ann\r\nLast?,"no"'
    )
    questions = read(tmp_path, content.replace(",,", ","), NAME).questions

    assert [(question.question, question.expected_answer, question.line) for question in questions] == [
        ('Is it\n\n"free"?', "yes,\nit is", 2),
        ("Who pays?", "Ann", 8),
        ("Last?", "no", 9),
    ]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_any_line_break_ends_a_row(tmp_path: Path, line_break: str) -> None:
    content = line_break.join(["question,id", "Who?,a", "Why?,b"])

    assert [(question.id, question.line) for question in read(tmp_path, content, NAME).questions] == [
        ("a", 2),
        ("b", 3),
    ]


@pytest.mark.parametrize(
    ("content", "questions"),
    [
        ("question,id\nWho; or why?,a\n", ["Who; or why?"]),
        ("question;id\nWho, or why?;a\n", ["Who, or why?"]),
        ("question\tid\nWho, or; why?\ta\n", ["Who, or; why?"]),
        ('"question";"id"\n"Who; or, why?";"a"\n', ["Who; or, why?"]),
        ("\ufeffsep=;\r\nquestion;id\r\nWho, or why?;a\r\n", ["Who, or why?"]),
        ("sep=|\nquestion|id\nWho, or; why?|a\n", ["Who, or; why?"]),
        ("\n\n question , id \n Who? , a \n", ["Who?"]),
        ('question, id\n "Who, or ""why""?" , "a"\n', ['Who, or "why"?']),
        ("question\nWho, or; why?\n\nWhen?\n", ["Who, or; why?", "When?"]),
        ('question\n"Who, or\nwhy?"\n', ["Who, or\nwhy?"]),
        ('question,id\nHow wide is a 5" pipe?,a\n', ['How wide is a 5" pipe?']),
        ("question,id,,\nWho?,a,,\nWhy?,b,,,,\n", ["Who?", "Why?"]),
    ],
)
def test_delimiters_and_quotes_are_distinguished(tmp_path: Path, content: str, questions: list[str]) -> None:
    assert [question.question for question in read(tmp_path, content, NAME).questions] == questions


def test_a_cell_may_be_larger_than_the_standard_librarys_limit(tmp_path: Path) -> None:
    passage = "Refunds are possible. " * 10_000

    assert read_one(tmp_path, f'question,gold_passages\nWho?,"{passage}"\n', NAME).gold_passages[0].text == passage


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("question,expcted_answer", "has the unknown key 'expcted_answer'. Rename it to 'expected_answer'."),
        ("question,tags,tags", "has the key 'tags' twice, first on line 1. Keep one."),
        (
            "question,query",
            "has both 'question' (line 1) and 'query', two names of one key. Keep one.",
        ),
        (
            "question,answer",
            (
                "has 'answer', which may be the expected answer or the answer of a system. "
                "Rename it to 'expected_answer', or put it under 'metadata'."
            ),
        ),
        (
            "question,Answer",
            (
                "has 'Answer', which may be the expected answer or the answer of a system. "
                "Rename it to 'expected_answer', or put it under 'metadata'."
            ),
        ),
        (
            "id,expected_answer",
            "has no 'question' (found: 'id', 'expected_answer'). Rename the column with the texts to ask.",
        ),
        (
            "What is the refund window?,30 days",
            (
                "names no key (found: 'What is the refund window?', '30 days'). Write the keys into the first row, "
                "such as question,expected_answer, with ',', ';' or a tab between them. "
                "Or convert the table: ragcheck convert FILE."
            ),
        ),
        (
            "question|expected_answer",
            (
                "names no key (found: 'question|expected_answer'). Write the keys into the first row, "
                "such as question,expected_answer, with ',', ';' or a tab between them. "
                "Or convert the table: ragcheck convert FILE."
            ),
        ),
    ],
)
def test_a_mistake_in_the_header_is_reported_once(tmp_path: Path, header: str, told: str) -> None:
    row = ",".join(["x"] * (header.count(",") + 1))

    assert problems(tmp_path, f"{header}\n1{row}\n2{row}\n", NAME) == [f"{NAME}:1: the header {told}"]


def test_the_mistakes_of_all_rows_are_reported_at_once(tmp_path: Path) -> None:
    content = (
        "question;id;tags;thresholds;metadata;top_k;\n"
        "Who?;a;[x;0,7;team;null;\n"
        'Why?;b;["x";;{team: 1};2.5;\n'
        "When?;c\n"
        "Where?;d;;;;;;too many\n"
        "How?;e;;;;;nameless\n"
        ";f;;;;;\n"
        'What?;g;"[""x"",\n\ny]";;"[1]";;\n'
        'Whose?;a;"x" y;;;;\n'
        "Which?;h;;;;;\n"
    )

    told = [problem.removeprefix(f"{NAME}:") for problem in problems(tmp_path, content, NAME)]
    assert told == [
        f"2: question 'a' has a cell under 'tags' that is not JSON: found 'x', expected a value or ']'. {STOP}",
        "2: question 'a' has the text '0,7' under 'thresholds'. Write a number from 0 to 1, such as 0.7.",
        "2: question 'a' has the text 'null' under 'top_k'. Write a whole number from 1 to 999999999.",
        f"2: question 'a' has the text 'team' under 'metadata'. {MAPPING}",
        f"3: question 'b' has a cell under 'tags' that is not JSON: found the end of the cell, expected {COMMA} {STOP}",
        f"3: question 'b' has a cell under 'metadata' that is not JSON: found 'team', expected {KEY} {STOP}",
        "3: question 'b' has 2.5 under 'top_k'. Write a whole number from 1 to 999999999.",
        f"4: the row has 2 of the header's 7 cells. {OTHERS}",
        "5: the row has 8 cells, and the header 7. Put a cell that holds ';' into quotes.",
        "6: the row has 'nameless' in column 7, which has no name in the header. Name the column, or delete the cell.",
        "7: question 'f' has no 'question' (found: 'id'). Write the text to ask under 'question'.",
        f"10: question 'g' has a cell under 'tags' that is not JSON: found 'y', expected a value. {STOP}",
        f"10: question 'g' has a list under 'metadata'. {MAPPING}",
        "11: the file has 'y;;;;' behind the closing quote of a cell. Write each quote inside of a cell twice.",
    ]


def test_a_value_with_an_unquoted_delimiter_is_reported_where_an_empty_cell_hides_it(tmp_path: Path) -> None:
    told = [f"{NAME}:2: the row has 4 cells, and the header 3. Put a cell that holds ';' into quotes."]
    header = "question;expected_answer;id\n"
    assert problems(tmp_path, f"{header}How long; really?;30 days;\nHow much?;5 euro;b\n", NAME) == told

    question, _ = read(tmp_path, f"{header}How long?;30 days;a;\nHow much?;5 euro;b;\n", NAME).questions
    assert (question.question, question.expected_answer, question.id) == ("How long?", "30 days", "a")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "question;id\nWho?;a\nWhy?,b\n",
            "3: the row has ',' between its cells, and the header ';'. Write ';' in all rows.",
        ),
        (
            "question,id\nWho?\ta\n",
            "2: the row has '\\t' between its cells, and the header ','. Write ',' in all rows.",
        ),
        (
            "sep=;\nquestion,id\nWho?,a\n",
            (
                "2: the header names no key (found: 'question,id'). Write the keys into the first row, such as "
                "question;expected_answer, with ';' between them, or delete the line 'sep=;' before it. "
                "Or convert the table: ragcheck convert FILE."
            ),
        ),
    ],
)
def test_another_delimiter_than_that_of_the_header_is_named(tmp_path: Path, content: str, told: str) -> None:
    assert problems(tmp_path, content, NAME) == [f"{NAME}:{told}"]


def test_a_quote_that_is_not_closed_is_reported_with_its_line(tmp_path: Path) -> None:
    content = 'question,id\nWho?,a\n"Why?\nis it,b\nWhen?,c\n'

    assert problems(tmp_path, content, NAME) == [f"{NAME}:3: {NOT_CLOSED}"]
    assert problems(tmp_path, '"question\nWho?\n', NAME)[0].startswith(f"{NAME}:1: the file has a cell in quotes")


def test_a_column_of_ones_own_is_reported_with_the_command_that_keeps_it(tmp_path: Path) -> None:
    [told] = problems(tmp_path, "question,category\nWho?,fees\n", NAME)
    assert told.startswith(f"{NAME}:1: the header has the unknown key 'category' (known: id, question, ")
    assert told.endswith("Delete the column, or convert the table: ragcheck convert FILE.")


def test_a_header_alone_is_reported_as_such(tmp_path: Path) -> None:
    assert problems(tmp_path, "\nquestion,id\n,\n", NAME) == [
        f"{NAME}:2: the file has a header and no questions. Write a row for each question, or delete the file."
    ]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=8)
LISTS = st.lists(TEXTS.filter(str.strip), min_size=1, max_size=3)
ROWS = st.fixed_dictionaries(
    {"question": TEXTS.filter(str.strip), "expected_answer": TEXTS, "all_acceptable_answers": LISTS},
    optional={
        "metadata": st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=2),
        "thresholds": st.floats(0, 1),
        "top_k": st.integers(1, 9),
        "answerable": st.just(True),
    },
)


def as_cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


@given(
    st.lists(ROWS, min_size=1, max_size=3, unique_by=lambda row: row["question"]),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
def test_what_the_standard_library_writes_is_read_like_json(
    rows: list[dict[str, Any]], delimiter: str, line_break: str, quoting: Any
) -> None:
    rows = [{"id": str(number), **row} for number, row in enumerate(rows)]
    file = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(file, names, delimiter=delimiter, lineterminator=line_break, quoting=quoting)
    writer.writeheader()
    writer.writerows({name: as_cell(value) for name, value in row.items()} for row in rows)
    plain = [{name: value for name, value in row.items() if str(value).strip()} for row in rows]

    with TemporaryDirectory() as folder:
        from_csv = read(Path(folder), file.getvalue(), "x.rag.csv").questions
        from_json = read(Path(folder), plain, "x.rag.json").questions

    def seen(question: Any) -> tuple[Any, ...]:
        # Spaces around a cell that is not in quotes are not of it.
        texts = (question.question, question.expected_answer or "", *question.all_acceptable_answers[1:])
        return (*(text.strip(" ") for text in texts), question.metadata, question.thresholds, question.top_k)

    assert list(map(seen, from_csv)) == list(map(seen, from_json))


BEGINNINGS = ["question,id", "question;tags\n", '"question"', "sep=;\n", ""]


@given(st.text('",;\t\n\r ab[]{}1', max_size=30), st.sampled_from(BEGINNINGS))
def test_whatever_a_file_holds_it_is_read_or_its_mistakes_are_reported(text: str, beginning: str) -> None:
    with TemporaryDirectory() as folder:
        try:
            told = [str(question.line) for question in read(Path(folder), beginning + text, "x.rag.csv").questions]
        except QuestionFileError as error:
            told = [problem.removeprefix("x.rag.csv:").partition(":")[0] for problem in error.problems]

    assert told
    assert all(1 <= int(line) <= 1 + len(beginning + text) for line in told)
