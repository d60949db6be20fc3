from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.standard_dataset import Row

if TYPE_CHECKING:
    from collections.abc import Callable


def row(**columns: Any) -> Row:
    return Row("dev.jsonl: line 3", columns)


def test_columns_are_read_by_what_they_hold() -> None:
    one = row(id=7, name="Ann", blank=" ", nothing=None, yes=True, names=["Ann", "Bo"], at={"x": 1})
    assert (one.text("id"), one.text("name"), one.text("blank")) == ("7", "Ann", " ")
    assert [one.optional_text(name) for name in ("name", "blank", "nothing", "absent")] == ["Ann", None, None, None]
    assert [one.flag(name) for name in ("yes", "nothing", "absent")] == [True, None, None]
    assert one.texts("names") == ("Ann", "Bo")
    assert one.row("at").columns == {"x": 1}
    assert ("name" in one, "nothing" in one, "absent" in one) == (True, False, False)


def test_a_list_of_objects_and_an_object_of_lists_are_the_same_rows() -> None:
    by_row = row(qas=[{"q": "a", "n": 1}, {"q": "b", "n": 2}]).rows("qas")
    by_column = row(qas={"q": ["a", "b"], "n": [1, 2]}).rows("qas")
    assert [each.columns for each in by_row] == [each.columns for each in by_column] == [
        {"q": "a", "n": 1}, {"q": "b", "n": 2},
    ]  # fmt: skip
    assert by_row[1].place == by_column[1].place == "dev.jsonl: line 3, 'qas' number 2"


def test_a_list_of_pairs_and_two_lists_are_the_same_pairs() -> None:
    by_pair = row(context=[["A", ["a."]], ["B", ["b."]]])
    by_column = row(context={"title": ["A", "B"], "sentences": [["a."], ["b."]]})
    assert by_pair.pairs("context", "title", "sentences") == by_column.pairs("context", "title", "sentences")


def test_half_a_character_becomes_a_replacement_character() -> None:
    assert row(name="a\ud800b").text("name") == "a\ufffdb"


PAIRS = "expected a list of pairs of a and b under 'q'"
LONG = {f"c{number}": number for number in range(20)}


@pytest.mark.parametrize(
    ("columns", "read", "problem"),
    [
        ({}, lambda r: r.text("q"), "expected 'q', found nothing."),
        ({"a": 1, "b": 2}, lambda r: r.text("q"), "expected 'q', found 'a', 'b'."),
        (
            LONG,
            lambda r: r.text("q"),
            "expected 'q', found 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10', 'c11', ....",
        ),
        ({"q": None}, lambda r: r.text("q"), "expected a text under 'q', found null."),
        ({"q": True}, lambda r: r.text("q"), "expected a text under 'q', found true."),
        ({"q": 1.5}, lambda r: r.text("q"), "expected a text under 'q', found the number 1.5."),
        ({"q": ["x"]}, lambda r: r.text("q"), "expected a text under 'q', found a list of 1."),
        ({"q": b"x"}, lambda r: r.text("q"), "expected a text under 'q', found a bytes."),
        ({"q": {"x": 1}}, lambda r: r.text("q"), "expected a text under 'q', found an object with 'x'."),
        ({"q": "x"}, lambda r: r.texts("q"), "expected a list of texts under 'q', found the text 'x'."),
        ({"q": [1]}, lambda r: r.texts("q"), "expected a list of texts under 'q', found the number 1."),
        (
            {"q": "y" * 50},
            lambda r: r.flag("q"),
            f"expected true or false under 'q', found the text '{'y' * 40}...'.",
        ),
        ({"q": " "}, lambda r: r.row("q"), "expected an object under 'q', found a blank text."),
        ({"q": 7}, lambda r: r.rows("q"), "expected a list of objects under 'q', found the number 7."),
        ({"q": ["x"]}, lambda r: r.rows("q"), "expected a list of objects under 'q', found the text 'x'."),
        (
            {"q": {"a": [1], "b": [1, 2]}},
            lambda r: r.rows("q"),
            "expected a list of objects, or lists of one length under 'q', found an object with 'a', 'b'.",
        ),
        (
            {"q": {"a": [1], "b": 2}},
            lambda r: r.rows("q"),
            "expected a list of objects, or lists of one length under 'q', found an object with 'a', 'b'.",
        ),
        ({"q": "x"}, lambda r: r.pairs("q", "a", "b"), f"{PAIRS}, found the text 'x'."),
        ({"q": ["x"]}, lambda r: r.pairs("q", "a", "b"), f"{PAIRS}, found the text 'x'."),
    ],
)
def test_what_was_expected_and_what_was_found_is_said_with_the_row(
    columns: dict[str, Any], read: Callable[[Row], Any], problem: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        read(row(**columns))
    assert str(caught.value) == f"dev.jsonl: line 3: {problem}"
