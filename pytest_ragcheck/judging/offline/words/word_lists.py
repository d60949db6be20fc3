"""Reads `word_lists.txt`, and the words of quantities in `measure_words.txt`."""

from __future__ import annotations

import re

from pytest_ragcheck.package_text import package_text

_LIST = re.compile(r"^\[(.+)\]\n([^#\[]+)", re.MULTILINE)

WORDS = dict(_LIST.findall(package_text("judging/offline/words/word_lists.txt")))
"""The words of each list of `word_lists.txt`, by its title."""


def _sections() -> dict[str, list[tuple[str, list[str]]]]:
    text = package_text("judging/offline/words/measure_words.txt").replace("\n   ", "")
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for section in text.split("\n[")[1:]:
        title, _, body = section.partition("]\n")
        lines = (line.partition(" = ") for line in body.splitlines() if " = " in line)
        found[title] = [(key, words.split()) for key, _, words in lines]
    return found


_SECTIONS = _sections()


def _by_word(section: str) -> dict[str, str]:
    return {word: key for key, words in _SECTIONS[section] for word in words}


def _counted(section: str, step: int = 1) -> dict[str, int]:
    # The value of each word of *section*, where the words of a line have values that rise by *step*.
    return {
        word: int(key.split()[0]) + step * place
        for key, words in _SECTIONS[section]
        for place, word in enumerate(words)
        if word != "-"
    }


def _measured(section: str) -> dict[str, tuple[str, float]]:
    keys = {word: key.split() for word, key in _by_word(section).items()}
    return {word: (dimension, float(number)) for word, (dimension, number) in keys.items()}


def _joined_words() -> dict[str, int]:
    # The numbers that German, Dutch and Italian write as one word: zweiundzwanzig, driehonderd, ventidue.
    numbers, tens = dict(_SECTIONS["numbers"]), dict(_SECTIONS["tens"])
    german, dutch = ("ein", *numbers["2 de"][:8]), ("een", *numbers["2 nl"][:8])
    italian = ("uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove")
    found: dict[str, int] = {}
    for place in range(8):
        ten = 20 + 10 * place
        by_tens = [tens[key][place] for key in ("20 de", "20 nl", "20 it")]
        for value in range(1, 10):
            found[f"{german[value - 1]}und{by_tens[0]}"] = ten + value
            found[f"{german[value - 1]}und{by_tens[0]}sten"] = ten + value
            found[f"{dutch[value - 1]}en{by_tens[1]}"] = ten + value
            vowel = italian[value - 1][0] in "uo"
            found[(by_tens[2][:-1] if vowel else by_tens[2]) + italian[value - 1]] = ten + value
    for names, hundred, thousand in (
        (german, "hundert", "tausend"), (dutch, "honderd", "duizend"), (italian, "cento", "mila"),
    ):  # fmt: skip
        for value, name in enumerate(names, start=1):
            found[name + hundred] = 100 * value
            found[name + thousand] = 1000 * value
    return found


NUMBER_WORDS: dict[str, float] = {
    **_joined_words(),
    **_counted("numbers"),
    **_counted("tens", 10),
    **_counted("hundreds", 100),
    **{word: float(key) if "." in key else int(key) for word, key in _by_word("single numbers").items()},
}

SCALES = {word: int(key) for word, key in _by_word("scales").items()}
"""Words that multiply the number before them."""

LANGUAGE_OF: dict[str, tuple[int, frozenset[str]]] = {
    word: (int(value), frozenset(cues))
    for key, cues in _SECTIONS["numbers of one language"]
    for word, value in zip(key.split()[::2], key.split()[1::2], strict=True)
}

UNITS_BY_WORD = _measured("units")

UNIT_WORDS = frozenset(UNITS_BY_WORD)

MONEY = frozenset(("euro", "dollar", "rouble", "franc", "pound", "yen", "¥", "yuan", "rupee", "won", "real"))
"""Currencies, whose hundredth parts are in `money`; `¥` may be yen or yuan."""

MONTH_NAMES = [names[0] for _, names in _SECTIONS["months"]]
MONTHS_BY_WORD = {word: int(key) for word, key in _by_word("months").items()}
WEEKDAY_NAMES = [names[0] for _, names in _SECTIONS["weekdays"]]
WEEKDAYS_BY_WORD = {word: int(key) for word, key in _by_word("weekdays").items()}

HAN_UNITS = _by_word("Chinese and Japanese units")
FIXED_BY_WORD = _measured("quantities")

DAYS_BY_WORD = _counted("days")

TIMES_BY_WORD = _by_word("occasions")

PERIODS_BY_WORD = _by_word("periods")

PER, LOWER_BOUNDS, UPPER_BOUNDS = (frozenset(words) for _, words in _SECTIONS["rates and bounds"])

PARTS_BY_WORD = {word: int(key) for word, key in _by_word("parts").items()}
SHORT_FORMS, ROLES_BY_WORD, SHORT_WEEKDAYS = map(_by_word, ("short forms", "roles", "short weekdays"))
DIRECTIONS = _SECTIONS["directions"]
