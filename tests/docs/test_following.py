"""The test reader notices every mistake of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import Block

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader


def block(language: str, text: str, before: str = "") -> Block:
    return Block(language=language, text=text, before=before, place="docs/page.md:1")


SAVED = block("text", "one\ntwo\nthree\n", "Save this as `lines.txt`:")


@pytest.mark.parametrize(
    "shown",
    [
        "one\ntwo\nthree\n",
        "...\nthree\n",
        "one\n...\n",
        "one\n...\nthree\n",
        "...\ntwo\n...\n",
    ],
)
def test_what_is_printed_may_be_shown_in_part(shown: str, reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow([SAVED, block("console", f"$ cat lines.txt\n{shown}")])
    assert [ran.output for ran in someone.ran] == ["one\ntwo\nthree\n"]


@pytest.mark.parametrize(
    "shown", ["one\nthree\n", "...\ntwo\n", "two\n...\n", "...\nthree\none\n...\n", "...\nfour\n...\n"]
)
def test_what_is_not_printed_so_may_not_be_shown(shown: str, reader: Callable[..., Reader]) -> None:
    with pytest.raises(AssertionError, match="does not print what the page shows"):
        reader().follow([SAVED, block("console", f"$ cat lines.txt\n{shown}")])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (block("yaml", "questions: []\n"), "neither saved, run nor shown"),
        (block("text", "nobody printed this\n"), "does not print what the page shows"),
        (block("console", "$ cat nothing.txt\n"), "status 1"),
        (block("console", "$ cat lines.txt\n...\n"), "nothing of the output"),
        (block("diff", "-four\n+4\n", "Change `lines.txt`:"), "does not have once"),
    ],
    ids=lambda given: given.language if isinstance(given, Block) else "",
)
def test_a_block_that_does_not_hold_is_a_mistake(wrong: Block, text: str, reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow([SAVED, block("console", "$ cat lines.txt\none\n...\n")])
    with pytest.raises(AssertionError, match=text):
        someone.follow([wrong])


def test_a_change_of_a_file_and_a_url_of_the_tests_are_put_in(reader: Callable[..., Reader]) -> None:
    someone = reader(stands_for={"http://localhost:8000": "http://127.0.0.1:4711"})
    change = block("diff", " one\n-two\n+http://localhost:8000\n three\n", "Change `lines.txt`:")
    someone.follow([SAVED, change, block("console", "$ cat lines.txt\none\nhttp://localhost:8000\nthree\n")])
    assert (someone.folder / "lines.txt").read_text() == "one\nhttp://127.0.0.1:4711\nthree\n"
