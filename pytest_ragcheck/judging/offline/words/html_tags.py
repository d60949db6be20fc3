"""Blanks the HTML tags of a text, so that words and sentences are those that a browser shows."""

from __future__ import annotations

import re

_INLINE = "abbr|code|del|em|font|img|ins|kbd|mark|small|span|strong|sub|sup"
_LINES = (
    "article|aside|blockquote|body|br|caption|dd|div|dl|dt|figcaption|figure|footer|h[1-6]|header|hr|html|li|main|nav|ol|p"
    "|pre|section|table|tbody|tfoot|thead|tr|ul"
)
_ATTRIBUTES = r"""(?:\s+[\w:.-]+=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*\s*/?>"""
# "Use <br>." and "the <br> tag" mention a tag.
_OPEN = r"<(?!(?<=[\w:,] <)\w+>(?:[.,;:?!)]|\Z)|/?\w+> (?:tag|element)s?\b)"
# `a<b>c` compares and `List<b>` has a parameter, unless the tag is closed: "re<b>fund</b>s".
_SHORT = r"(?:(?<!\w<)|(?=[^<>]*>[^<>]{0,99}</))[abisu]"
_TAGS = re.compile(
    rf"```[^`]+```|`[^`\n]+`|{_OPEN}/?(?:(?P<line>{_LINES})|(?P<inline>{_INLINE}|{_SHORT})|(?P<cell>t[dh]))\b{_ATTRIBUTES}",
    re.IGNORECASE,
)
_LINK = re.compile(r"""<a\s[^<>]*?href=["']?(?:mailto:)?([^\s"'<>]+)""", re.IGNORECASE)
_JOINER = "\u2060"  # ignored in words
_GAPS = re.compile(f"{_JOINER}+| +(?=[ .,;:!?)。，、])")


def blank_tags(text: str) -> str:
    """
    *text* with blanks in place of its HTML tags, of the same length; unchanged if nothing else would be left.

    A tag of a paragraph, a list item or a table row begins a line, and a tag within a word becomes a joiner. Code in
    backticks, and names that are no elements of HTML, such as `<your-name>`, stay.
    """
    if "<" not in text:
        return text
    blanked = _TAGS.sub(_blank, text)
    return blanked if any(map(str.isalnum, blanked)) else text


def without_gaps(blanked: str) -> str:
    """A text without the blanks that precede a blank or a mark, and without joiners."""
    return _GAPS.sub("", blanked)


def without_tags(text: str) -> str:
    blanked = blank_tags(text)
    return text if blanked == text else without_gaps(blanked).strip()


def links_in(text: str) -> list[str]:
    """The addresses of the HTML links in *text*."""
    return _LINK.findall(text) if "<" in text else []


def _blank(found: re.Match[str]) -> str:
    tag = found[0]
    if tag[0] == "`":
        return tag
    if found["line"]:
        return "\n".ljust(len(tag))
    if found["cell"]:  # a tab parts numbers, which a blank may join: "12 500"
        return "\t".ljust(len(tag))
    before, after = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
    # Not between digits, as in "30<sup>1</sup> days" with a footnote.
    is_within = (
        found["inline"]
        and (before.isalnum() or before == ">")
        and (after.isalnum() or after == "<")
        and (before.isalpha() or after.isalpha())
    )
    return (_JOINER if is_within else " ") * len(tag)
