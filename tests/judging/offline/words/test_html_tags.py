from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.judging.offline.words.html_tags import blank_tags, links_in, without_tags


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<p>Within <b>30</b> days.</p>", "Within 30 days."),
        ('Within <a href="https://a.example/?b=1" class=c>30 days</a>, or <em>less</em>!', "Within 30 days, or less!"),
        ("re<b>fund</b>s, re<em><i>fund</i></em>s", "refunds, refunds"),
        ("退款<strong>期限</strong>为<b>30</b>天", "退款期限为30天"),
        ("on the 1<sup>st</sup>, 30<sup>2</sup> days", "on the 1st, 30 2 days"),
        ("A.<br>B.<br/>C.<BR />D.", "A.\nB.\nC.\nD."),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ('<tr><td style="x: y">Basic</td><td>10 EUR</td></tr><tr><td>Pro</td></tr>', "Basic 10 EUR\nPro"),
        ("<h2>A</h2><div id='b'>B</div>", "A\nB"),
    ],
)
def test_tags_are_not_read(text: str, shown: str):
    assert "\n".join(" ".join(line.split()) for line in without_tags(text).splitlines() if line.strip()) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a < b and c > d",
        "a<b and c>d",
        "if a<b>c",
        "List<int>, Map<String, List<b>> and Vec<u>",
        "<your-name>, <name> and <table name>",
        "<info@a.example> or <https://a.example>",
        "Use <br>.",
        "the <p> tag and the <li> element",
        "`a<br>b`",
        "```html\n<p>a</p>\n```",
        "<br>",
        "<p",
        "<!-- a -->",
    ],
)
def test_other_angle_brackets_and_code_stay(text: str):
    assert without_tags(text) == text


@given(
    st.lists(st.sampled_from(("<b>", "</b>", "<br", "<td", ">", "p", " ", "a=b", '"', "`", "1", ".", "\n"))).map(
        "".join
    )
)
def test_places_are_those_of_the_text(text: str):
    blanked = blank_tags(text)
    assert len(blanked) == len(text)
    assert all(new == old or new in " \t\n\u2060" for new, old in zip(blanked, text, strict=True))


def test_links_have_addresses():
    text = "<a class='b' href='https://a.example/c'>c</a> <A HREF=mailto:d@a.example>d</A> <link href=e>"
    assert links_in(text) == ["https://a.example/c", "d@a.example"]
