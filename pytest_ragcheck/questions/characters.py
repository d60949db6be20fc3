"""Character classes as regular expressions that Python and JSON Schema read alike."""

# `str.isprintable` depends on the Python version's Unicode tables, and the validity of an id must not.
# No character beyond the Basic Multilingual Plane is listed, because some schema readers see two surrogates there.

WHITE_SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""The content of a character class: the characters that `str.strip` removes."""

UNPRINTABLE = (
    r"\x00-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    r"\ue000-\uf8ff\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
)
"""
The content of a character class: control, format and private characters, noncharacters, and white space other than
the space.
"""

LONE_SURROGATE = r"[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"
"""A lone surrogate, also for schema readers that see surrogate pairs."""

END = r"(?![\s\S])"
"""The end of the text; in Python and other languages `$` also matches before a final line break."""
