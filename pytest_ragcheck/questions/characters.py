"""
Classes of characters, written out as regular expressions that Python and JSON Schema read alike.

Python's own `str.isprintable` follows the Unicode tables of each Python, so that an id could be valid under one
version and not under another. Beyond the Basic Multilingual Plane nothing is listed: a schema's reader that sees
pairs of surrogates would take halves of other characters for it.
"""

from __future__ import annotations

WHITE_SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""The inside of a class: what `str.strip` takes away."""

UNPRINTABLE = (
    r"\x00-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    r"\ue000-\uf8ff\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
)
"""
The inside of a class: control and format characters, private ones, those that are no characters, and white space
other than the plain space.
"""

LONE_SURROGATE = r"[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"
"""Half a character, also where a schema's reader sees whole ones as two halves."""

END = r"(?![\s\S])"
"""The end of the text; `$` stands before a last line break too in some languages, Python among them."""
