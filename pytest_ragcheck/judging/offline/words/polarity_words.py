"""Maps negations, opposites, directions, and words that begin clauses to terms, in eight languages."""

from __future__ import annotations

import re

from pytest_ragcheck.judging.offline.words import word_lists
from pytest_ragcheck.judging.offline.words.normalized_text import listed, normalised
from pytest_ragcheck.judging.offline.words.word_lists import WORDS
from pytest_ragcheck.package_text import package_text

NOT = "¬"
"""The term of every negation. A negative word is two terms: "forbidden" is `NOT` and "allow"."""

WITHOUT = "¬with"
"""The term of every word like "without", which cancels a negation before it: "not possible without a receipt"."""

EXCEPT = "¬in"
"""The term of every word like "except", which reverses the polarity of its clause."""

NEGATIVE = frozenset((NOT, WITHOUT, EXCEPT))

_NEGATIONS = {
    **dict.fromkeys(listed(WORDS["negations"]), NOT),
    **dict.fromkeys(listed("without ohne sans sin sem senza zonder без"), WITHOUT),
    **dict.fromkeys(listed(WORDS["exceptions"]), EXCEPT),
}

PORTUGUESE = listed(WORDS["Portuguese"])
"""Words with which "no" is Portuguese for "in the", unless one of `NOT_PORTUGUESE` is near."""

AFTER_PORTUGUESE_NO = re.compile(rf"{'|'.join(WORDS['after a Portuguese no'].split())}|\w+(?:ao|[ln]ho|eiro|mento)")
"""A word before which "no" is Portuguese in any text."""

NOT_PORTUGUESE = listed(WORDS["not Portuguese"])

_PAIRS, _OPPOSITES = package_text("judging/offline/words/opposites.txt").split("\n\n")

PAIRS = [
    [side.split() for side in line.split("~")] for line in normalised(_PAIRS).splitlines() if not line.startswith("#")
]
"""The affirmative and the negative words of each pair."""

OPPOSITES = [line.split(" ~ ") for line in _OPPOSITES.splitlines() if not line.startswith("#")]
"""Words that exclude each other in the same place of two sentences."""

# The prefixes and endings do not match "united", "under", "international" and "often".
_PREFIXED = re.compile(
    r"un((?!der|til|less|i(?![mn]))[a-z]{3,}(?:ed|able|ible|ing|al|ful|ary|ain))"
    r"|un([a-z]{3,}(?:bar|ig|lich|zt|tet|delt)(?:e[nrsm]?)?)"
    r"|i[mnlr]([a-z]{3,}(?:[ai]ble|[ai]bile|[ai]vel|[ai]bili|[ai]veis)s?)"
    r"|on((?!der)[a-z]{3,}(?:ig|lijk|baar|kt)e?)"
)


def without_prefix(word: str) -> str | None:
    """The word that *word* negates by a prefix: "supported" for "unsupported"; None if there is none."""
    if word[0] not in "uio":
        return None
    found = _PREFIXED.fullmatch(word)
    return found and found[found.lastindex or 0]


DIRECTIONS = {word: (base, word != base) for base, opposites in word_lists.DIRECTIONS for word in (base, *opposites)}
"""For each word of direction, the first word of its pair, and True for the second side."""

BUT = "¦"
"""The term of every word that begins another clause."""

_CLAUSES = dict.fromkeys(listed(WORDS["conjunctions"]), BUT)

IF = "¦if"
"""The term of every word that begins a condition."""

_CONDITIONS = dict.fromkeys(listed("if unless wenn falls sofern si indien mits если"), IF)
MERELY = listed(WORDS["merely"])
"""Words that exclude all else."""

ONLY = MERELY | listed(WORDS["all and always"])
"""Words that leave the rest affirmed after a negation: "not only", "not everyone"."""

MORE = frozenset(DIRECTIONS) | listed(WORDS["comparatives"])
"""Words that compare: "not more than 30" denies nothing."""

OPEN = listed("open offen ouvert abiert abert apert открыт")
"""The terms of `PAIRS` for what is open."""

SIGNED = NEGATIVE | frozenset(DIRECTIONS)
"""The terms without which a text affirms everything."""

SIGNS = {**{word: word for word in MORE | ONLY}, **_NEGATIONS, **_CLAUSES, **_CONDITIONS}
"""The term of each negation, of each word that begins a clause, and of the words that go with them."""
