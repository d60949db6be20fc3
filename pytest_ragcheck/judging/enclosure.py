"""Puts material that others wrote into a prompt as JSON between marks that it cannot forge: it stays material."""

from __future__ import annotations

import json
import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ESCAPED = re.compile(
    # A model's own control tokens, which some servers read out of any text: <|im_start|>, </s>, and [INST] below.
    r"[<>\["
    # Nothing unseen, nothing that turns the reading direction, no line break in disguise: C1 controls, soft hyphen,
    # fillers, zero-width and bidi characters, variation selectors, tags, private use, lone surrogates.
    r"\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
    # A bracket only before a word in capitals. It stands behind the set, which is searched for three times as fast as
    # one of several branches.
    r"(?:(?<!\[)|(?=/?[A-Z_]{3,}\]))"
)


def new_nonce() -> str:
    """A fresh string of 16 hexadecimal digits that nobody who wrote the material can have known."""
    return secrets.token_hex(8)


def enclosed(name: str, material: str | Sequence[str], *, nonce: str) -> str:
    """
    The material as JSON between a BEGIN and an END line that carry the nonce.

    Reading the JSON gives back what went in, lone surrogates and control characters included, but none of those
    stands in the text itself. Two surrogates that follow each other as a pair come back as the character that they
    make: JSON cannot tell the two apart.
    """
    if isinstance(material, str):
        text = json.dumps(material, ensure_ascii=False)
    else:
        # As `indent=1` has it, for which Python's encoder does not use its C part.
        items = ",\n ".join(json.dumps(item, ensure_ascii=False) for item in material)
        text = f"[\n {items}\n]" if items else "[]"
    return f"=== BEGIN {name} {nonce} ===\n{_ESCAPED.sub(_escape, text)}\n=== END {name} {nonce} ==="


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] > "~" else f"\\u{ord(match[0]):04x}"
