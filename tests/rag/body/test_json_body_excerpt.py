from __future__ import annotations

import pytest

from pytest_ragcheck.rag.body.json_body import excerpt, is_html, quoted, quoted_text


def test_an_excerpt_is_one_line_without_control_characters():
    assert excerpt(" a\tb\r\n\n c\x1b[31m\x00\ud800\u202e ") == "a b c�[31m���"


def test_an_excerpt_ends_in_an_ellipsis_where_it_was_cut():
    assert excerpt("x" * 300) == "x" * 300
    assert excerpt("x" * 301) == "x" * 299 + "…"
    assert excerpt("one two three", 8) == "one two…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "no body"),
        (" \n", "no body"),
        ("overloaded", '"overloaded"'),
        (' {"detail": 1}', '{"detail": 1}'),
        ("<!doctype html><title>Sign\n in &amp; up</title><p>Hello", 'HTML page "Sign in & up"'),
        ("<HTML><style>p {}</style><script>let a</script><p>Sign <b>in</b></p></HTML>", 'HTML page "Sign in"'),
        ("<!-- proxy --> <html><script>only", "HTML page without text"),
        ("<html><title>&#" + "1" * 5000 + ";", 'HTML page "\N{REPLACEMENT CHARACTER}…"'),
        ("<xml/>", '"<xml/>"'),
    ],
)
def test_json_is_quoted_bare_html_by_its_title_and_text_in_quotes(text, shown):
    assert quoted(text) == shown


def test_text_about_html_is_no_html():
    assert not is_html("The <html> tag")
    assert not is_html("<htmlish>")


@pytest.mark.parametrize(
    ("text", "shown"), [("see ##vso[task.x]", r"see #\x23vso[task.x]"), ("::error::x", r"\x3a:error::x")]
)
def test_an_excerpt_holds_no_command_of_a_ci_runner(text, shown):
    assert excerpt(text) == shown


def test_a_quoted_text_is_one_line_of_at_most_200_characters() -> None:
    assert quoted_text("30 days\n at  once. ") == '"30 days at once."'
    assert quoted_text("x" * 200) == f'"{"x" * 200}"'
    assert quoted_text("x" * 198 + " xx") == f'"{"x" * 198}…"'
