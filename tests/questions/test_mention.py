from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.questions.mention import compile_mention, is_mentioned, is_regex, searched

if TYPE_CHECKING:
    from pytest_ragcheck.concurrency.search_process import SearchProcess


@pytest.mark.parametrize(
    ("mention", "answer"),
    [
        ("30 days", "Within 30 days."),
        ("30 days", "Within 30\u00a0\n DAYS"),
        ("  30   days ", "30 days"),
        ("$5", "It costs US$5."),
        ("5%", "a 5%, b"),
        ("C++", "in C++11"),
        ("don't", "You don't."),
        ("Straße", "an der STRAßE 5"),
        ("срок", "Какой СРОК?"),
        ("30 days", "Within _30 days_ or __30 days__."),
        ("30 days", "Within **30** days, *30 _days_*."),
        ("ref-1", "re\u200bf-\u20601\u00ad and"),
        ("re\u200bf", "ref"),
        ("_id", "the key _id"),
        ("ref-1", "ref\u20111 and"),
        ("30\u2010day", "a 30-day window"),
        ("9-17", "from 9\u201317 and"),
        ("-5 °C", "at \u22125 °C"),
        ("O'Brien", "Mr O\u2019Brien"),
        ("l\u2019an", "l'an"),
        ('the "gold" plan', "the \u201cgold\u201d plan"),
        (r"a\-b", r"a\-b"),
        ("30日", "期限は30日です"),
        ("返金", "返金は可能です"),
        ("환불", "환불은 30일"),
        ("คืนเงิน", "สามารถคืนเงินได้"),
        ("/etc/hosts", "see /etc/hosts."),
        ("//", "a // b"),
        ("$5", "It costs $5, or 5."),
        ("1.5", "a factor of 1.5."),
        ("2024", "on 05.03.2024"),
        ("v2.1", "with v2.1, not v2.1.4"),
        ("-5 °C", "at -5 °C or (-5 °C)"),
        ("24/7", "24/7-Support"),
        ("TCP/IP", "a TCP/IP-based service"),
        ("Node.js", "a Node.js-based service"),
        ("--force", "use --force."),
        ("app.yaml", "see ~/etc/app.yaml."),
        ("bob@example.org", "Mail bob@example.org."),
        ("https://example.org/setup", "[setup](https://example.org/setup)"),
        ("C#", "in C# or C++"),
        ("AT&T", "by AT&amp;T"),
        ("30 days", "<b>30</b>&nbsp;days"),
        ("30 days", '30 <b class="c">days</b>'),
        ("30天", "在<b>30</b>天内"),
        ("top_k", r"set top\_k to 5"),
        ("office", "the o\ufb03ce"),
        ("H2O", "H\u2082O"),
        ("Straße", "STRASSE 5"),
        ("\u00abPro\u00bb", 'the "pro" plan'),
        ("30日", "期限は３０日です"),
        ("キー", "ｷｰを発行"),
        ("30天", "在**30**天内"),
        ("东京都", "在**东京**都"),
        ("\u062f\u0641\u0639", "\u062f\u0641\u0640\u0639"),
        ("/30 ?days/", "30days"),
        ("/^yes/i", "Yes, you can"),
        ("/a.b/", "axb"),
        ("/(?s)a.b/", "a\nb"),
        ("/a/b/", "a/b"),
        ("/[[a]/", "["),
        ("/x{e}/", "x{e}"),
        ("/[{e}]/", "}"),
        (r"/\{a{2}\N{EM DASH}/", "{aa\u2014"),
    ],
)
def test_a_mention_is_found(mention: str, answer: str) -> None:
    assert compile_mention(mention).search(searched(answer))


@pytest.mark.parametrize(
    ("mention", "answer"),
    [
        ("30 days", "130 days"),
        ("30 days", "30**days"),
        ("30 days", "1\u200b30 days"),
        ("30 days", "30 daysx"),
        ("30 days", "30days"),
        ("art", "The start"),
        ("срок", "сроки"),
        ("ber", "über"),
        ("a.b", "axb"),
        ("id", "the user_id or id_of"),
        ("_id", "the user_id"),
        ("ref-1", "ref\u20141"),
        ("$5", "$5.50 or $5,000"),
        ("5 kg", "2.5 kg"),
        ("500 EUR", "1.500 EUR"),
        ("20%", "0.20%"),
        ("1,000", "1,000,000"),
        ("v2.1", "v2.1.4"),
        ("-5", "3-5 days"),
        ("10", "10\u00b2"),
        ("102", "10\u00b2"),
        ("--force", "--force-with-lease"),
        ("bob@example.org", "us-bob@example.org or bob@example.org.uk"),
        ("/etc/app.conf", "/etc/app.conf.bak"),
        ("https://example.org/setup", "https://example.org/setup-old"),
        ("C", "C++ or C#"),
        ("कर", "नौकरी"),
        ("दिन", "दिनों"),
        ("**", "none"),
        ("dia", "día"),
        ("/Yes/", "yes"),
        ("/a.b/", "a\nb"),
        ("/x{e}/", "y"),
    ],
)
def test_a_mention_is_not_found(mention: str, answer: str) -> None:
    assert not compile_mention(mention).search(searched(answer))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), st.text("ab :.,;'\n"))
def test_a_plain_text_is_found_in_itself_among_other_words(mention: str, other: str) -> None:
    if is_regex(mention):
        return
    answer = searched(f"{other} {mention} {other}")

    assert compile_mention(mention).search(answer)


@pytest.mark.parametrize(
    ("mention", "text"),
    [
        (
            "/(/",
            "the regular expression /(/ is invalid: missing ), unterminated subpattern at position 0. Correct it.",
        ),
        (r"/\p{L}/", r"the regular expression /\p{L}/ is invalid: bad escape \p at position 0. Correct it."),
        ("/a/gi", "the regular expression /a/gi has the flags 'gi'. Use 'i' or none."),
    ],
)
def test_an_invalid_regular_expression_is_refused_with_the_reason(mention: str, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        compile_mention(mention)


@pytest.mark.parametrize("mention", ["/a{99999999999999999999}/", f"/{'(' * 5000}{')' * 5000}/"])
def test_a_regular_expression_beyond_the_limits_of_python_is_refused(mention: str) -> None:
    with pytest.raises(ValueError, match=r"^the regular expression .{1,60} is too large: .*Write a smaller one"):
        compile_mention(mention)


@pytest.mark.parametrize("mention", ["/(a+)+b/", "/(a|aa)+$/", "/^(a|a?)+$/i"])
def test_a_regular_expression_that_takes_too_long_is_stopped(mention: str, search: SearchProcess) -> None:
    answer = "a" * 5_000 + "!"
    text = (
        f"the regular expression {mention} was stopped after 0.2 s on an answer of 5,001 characters. "
        "Write one in which no text can be matched in many ways, such as /a+b/ for /(a|aa)+b/."
    )
    with pytest.raises(MeasurementError, match=f"^{re.escape(text)}$"):
        is_mentioned(mention, answer, search, within_seconds=0.2)
    assert is_mentioned("/a+!/", answer, search)


def test_a_regular_expression_that_was_stopped_gets_less_time_for_the_next_answers(search: SearchProcess) -> None:
    answer = "a" * 5_000
    with pytest.raises(MeasurementError, match=r"was stopped after 0\.2 s"):
        is_mentioned("/(a+)+b/", answer, search, within_seconds=0.2)
    with pytest.raises(MeasurementError, match="was stopped after 1 s"):
        is_mentioned("/(a+)+b/", answer, search, within_seconds=60)
    assert is_mentioned("/(a+)+b/", "aab", search)
