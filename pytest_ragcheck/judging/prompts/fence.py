"""Fences material from others in a prompt: as JSON between marks that the material cannot forge."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Sequence

_ESCAPED = re.compile(
    # Control tokens of models, which some servers parse in any text: <|im_start|>, </s>, and [INST] below.
    r"[<>\["
    # Invisible, bidirectional and line-breaking characters: C1 controls, soft hyphen, fillers, zero width,
    # variation selectors, tags, private use, lone surrogates.
    r"\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
    # A bracket only before a word in capitals. The check follows the set, because a pattern that begins with one
    # set is searched three times as fast as one with alternatives.
    r"(?:(?<!\[)|(?=/?[A-Z_]{3,}\]))"
)
_ESCAPED_ASCII = "<>[\x7f"
_ENCODER = json.JSONEncoder(ensure_ascii=False)


class Nonces:
    """
    Random strings of 16 hexadecimal digits, unknown to the authors of the material.

    A question has the same nonce in all requests of one object, so that a server's prefix cache finds what came before
    a changed answer. No reply reaches the system under test, so the repeated nonce stays unknown to it.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def of(self, question: str) -> str:
        return hashlib.blake2b(question.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8).hexdigest()


def fenced(name: str, material: str | Sequence[object], *, nonce: str) -> str:
    """
    The material as JSON between a BEGIN and an END line that carry the nonce.

    A JSON parser restores the material. Lone surrogates and control characters are escaped in the text. A surrogate
    pair is restored as the character that it encodes, because JSON cannot tell the two apart.
    """
    if isinstance(material, str):
        text = _encoded(material)
    else:
        # The same text as with `indent=1`, which would use Python's slow encoder.
        items = ",\n ".join(map(_encoded, material))
        text = f"[\n {items}\n]" if items else "[]"
    return f"=== BEGIN {name} {nonce} ===\n{text}\n=== END {name} {nonce} ==="


def _encoded(material: object) -> str:
    text = _ENCODER.encode(material)
    # The search for a set of characters takes 0.03 ms for five contexts.
    if text.isascii() and not any(map(text.__contains__, _ESCAPED_ASCII)):
        return text
    return _ESCAPED.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] > "~" else f"\\u{ord(match[0]):04x}"
