"""Recognises answers that decline to answer, by the patterns of `refusals.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import filterfalse

from pytest_ragcheck.judging.offline.words.html_tags import blank_tags, without_gaps
from pytest_ragcheck.judging.offline.words.normalized_text import clause_words, listed, normalised
from pytest_ragcheck.judging.offline.words.sentences import sentences
from pytest_ragcheck.package_text import package_text

_DIGIT = re.compile(r"\d")
_PARTS = re.compile("(?<=[,;:、])")
_NAME = re.compile(r"<([^\W\d_a-zа-я]+)>")


_compiled = cache(re.compile)
"""Compiles a pattern when an answer first needs it; all of them take 40 ms."""


def _patterns(alternatives: Iterable[str], names: Mapping[str, str]) -> list[str]:
    lines = "\n".join(alternatives)
    while (whole := _NAME.sub(lambda name: names[name[1]], lines)) != lines:
        lines = whole
    at_words = "|".join(line[2:] for line in lines.splitlines() if line.startswith(r"\b"))
    others = "|".join(line for line in lines.splitlines() if not line.startswith(r"\b"))
    # One check for the beginning of a word, apart from other lines, is three times as fast.
    return [*filter(None, (at_words and rf"\b(?=\w)(?:{at_words})", others))]


def _sections() -> Iterator[tuple[frozenset[str], list[str]]]:
    # Yield the trigger words and the patterns of each section of `refusals.txt`.
    text = package_text("judging/offline/refusals.txt").replace("\n    ", "")
    common: dict[str, str] = {}
    for section in text.split("\n[")[1:]:
        title, _, body = section.partition("]\n")
        lines = [line for line in body.splitlines() if line and not line.startswith("#")]
        names = common | dict(line.split(" = ") for line in lines if " = " in line)
        if title == "names":
            common = names
        else:
            alternatives = (line for line in lines if " = " not in line)
            yield listed(names.pop("triggers", "")), _patterns(alternatives, names)


_KINDS = tuple(_sections())
_OTHER_SCRIPTS, _UNSTATED, _OUTAGES, _SOURCES_READ, _OUTAGES_BESIDE, _REFERRALS, _OPENINGS, _NO_CLAIMS = (
    "|".join(patterns) for _, patterns in _KINDS[-8:]
)
_BY_TRIGGERS = _KINDS[:-8]
"""Of each kind of refusal in Latin letters."""

_TRIGGERS = frozenset[str]().union(*(triggers for triggers, _ in _BY_TRIGGERS))
"""Most sentences have none."""

_ELISION = re.compile(r"\bn'")  # of French "n'est", whose trigger is `n'`

_WHOLE_QUOTE = re.compile(r"""^\W*(?:["«„「『]([^"«»„「」『』]*)["»」』]|'(.*)')\W*$""")

_OTHER_LETTERS = re.compile("[\u0400-\u1dff\u3040-\ud7ff]")

# Enough for all known refusals; bounds the work on an answer that is one long sentence.
_CHARACTERS_READ = 2000
_SENTENCE_READ = 400


class Sentence:
    """A sentence, or an answer if *is_whole*, normalised and split into words."""

    __slots__ = ("_declines", "_is_whole", "folded", "text", "triggers", "words")

    def __init__(self, text: str, *, is_whole: bool = False) -> None:
        self._is_whole = is_whole
        self.text = text
        self.folded = normalised(text)
        self.words = clause_words(self.folded)
        self.triggers = _TRIGGERS.intersection(self.words)
        """Words of refusals, and `n'` if a word begins with it; "don't" and "John's" do not."""
        if "n'" in self.folded and _ELISION.search(self.folded):
            self.triggers |= {"n'"}
        self._declines: bool | None = None

    @property
    def may_decline(self) -> bool:
        """False if no word of a refusal is in the sentence."""
        return bool(self.triggers) or (not self.folded.isascii() and _OTHER_LETTERS.search(self.folded) is not None)

    @property
    def declines(self) -> bool:
        """
        True if the sentence states that something is unknown or not in the sources; computed once.

        A condition, a report, and a quote within the answer state nothing. A system that is out of order does not
        decline.
        """
        if self._declines is None:
            opening = self.folded[:_SENTENCE_READ]
            if self._is_whole:
                opening = _WHOLE_QUOTE.sub(r"\1\2", opening)
            # Few sentences match at all, and only these need the slow search for what they do not state.
            self._declines = False
            if self.may_decline and self._matches(opening):
                stated: str = _compiled(_UNSTATED).sub(" ", opening)
                is_stated = stated == opening or self._matches(stated)
                self._declines = is_stated and not _compiled(_OUTAGES).search(opening)
        return self._declines

    @property
    def opens(self) -> bool:
        """True for sentences that only open an answer: "I'm sorry.", "The text is about boats."."""
        return _compiled(_OPENINGS).match(self.folded) is not None or self.folded.rstrip().endswith("?")

    @property
    def refers(self) -> bool:
        """True for advice to look or ask elsewhere: "Please contact support."."""
        return _refers(self.folded)

    @property
    def claims_nothing(self) -> bool:
        """True for courtesies and names of sources: "I hope this helps!", "Source: terms.pdf"."""
        return _compiled(_NO_CLAIMS).match(self.folded) is not None

    def beside_declining(self) -> str:
        """The normalised sentence without the words of the refusal, and without a part that refers elsewhere."""
        opening = self.folded[:_SENTENCE_READ]
        for pattern in self._patterns(opening):
            opening = pattern.sub(" ", opening)
        opening = "".join(filterfalse(_refers, _PARTS.split(opening)))
        return opening + self.folded[_SENTENCE_READ:]

    def _matches(self, opening: str) -> bool:
        return any(pattern.search(opening) for pattern in self._patterns(opening))

    def _patterns(self, opening: str) -> Iterator[re.Pattern[str]]:
        if self.triggers:
            for triggers, patterns in _BY_TRIGGERS:
                if not triggers.isdisjoint(self.triggers):
                    yield from map(_compiled, patterns)
        if not opening.isascii():
            yield _compiled(_OTHER_SCRIPTS)


def _refers(text: str) -> bool:
    return _DIGIT.search(text) is None and _compiled(_REFERRALS).match(text) is not None


class SentenceCache(dict[str, Sentence]):
    """
    The parsed sentences of one answer, so that each is parsed once.

    *read* is the text that is parsed: the answer with blanks for its citation markers and HTML tags.
    """

    def __init__(self, answer: str, read: str | None = None) -> None:
        super().__init__()
        self.sentences: tuple[str, ...]
        """Verbatim, in order."""
        read = blank_tags(answer) if read is None else read
        if read == answer:
            self.sentences = tuple(sentences(answer))
            return
        end = 0
        verbatim: list[str] = []
        for sentence in sentences(read):
            start = read.index(sentence, end)
            end = start + len(sentence)
            verbatim.append(answer[start:end])
            is_whole = sentence == read.strip()
            self[verbatim[-1]] = Sentence(without_gaps(sentence), is_whole=is_whole)
        self.sentences = tuple(verbatim)

    def __missing__(self, sentence: str) -> Sentence:
        parsed = self[sentence] = Sentence(sentence, is_whole=self.sentences == (sentence,))
        return parsed


def is_refusal(answer: str, cache: SentenceCache | None = None) -> bool:
    """
    True if *answer* declines: it is blank, asks back, or states that something is unknown or not in its sources.

    The first sentence counts, and the second one if the first claims nothing. A refusal may be followed by an answer,
    but a system out of order must not stand beside it, unless the refusal is about the sources.
    """
    if cache is None or len(answer) > _CHARACTERS_READ:
        cache = SentenceCache(answer[:_CHARACTERS_READ])
    if answer in cache and not cache[answer].may_decline:
        return not cache.sentences
    if not cache.sentences:
        return True
    first, second = cache[cache.sentences[0]], cache.sentences[1:2]
    declining = first if first.declines or not second else cache[second[0]]
    if not (declining.declines and (declining is first or first.opens)):
        return False
    outage = _compiled(_OUTAGES_BESIDE)
    beside = (outage.match(cache[each].folded[:_SENTENCE_READ]) for each in cache.sentences[:3])
    return _compiled(_SOURCES_READ).match(declining.folded) is not None or not any(beside)
