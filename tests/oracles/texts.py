"""Pairs of texts with every feature that programs may treat differently."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ASCII = r"""
a an the The A. the-cat cat Cat! 30 days $5 5% l'an don't U.S. co-op 3.14 1,000 !! ... _the_ x_y (c) [1] & # <b> was
were running over lazy dogs
"""
_BEYOND = """
über Δ ß ẞ İ срок дней “the” … 、 क्या 期限は30日 ¿the? 返品 ไทย 한국어 العربية ﬁne １２ ½ ² é e\u0301 😀 the\u0301
"""

ASCII = (*_ASCII.split(), "", "\t", "\n", "  ")
UNICODE = (
    *ASCII,
    *_BEYOND.split(),
    *("the\u00a0cat", "30\u202fdays", "\u200b", "\u3000", "\u2028", "the\u200bcat"),
)


def pairs(words: Sequence[str], number: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """An answer and its accepted answers, of which a third begins as a copy of the answer."""
    chosen = random.Random(seed)
    for _ in range(number):
        answer = chosen.choices(words, k=chosen.randint(0, 9))
        accepted = []
        for _ in range(chosen.randint(1, 3)):
            text = list(answer) if chosen.random() < 1 / 3 else chosen.choices(words, k=chosen.randint(0, 9))
            for _ in range(chosen.randint(0, 2)):
                if text:
                    text[chosen.randrange(len(text))] = chosen.choice(words)
            accepted.append(" ".join(text))
        yield " ".join(answer), accepted
