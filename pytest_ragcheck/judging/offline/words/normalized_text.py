from __future__ import annotations

import re
import unicodedata
from html import unescape
from itertools import chain

from pytest_ragcheck.judging.offline.words.han_numbers import with_han_numbers_in_digits
from pytest_ragcheck.judging.offline.words.html_tags import without_tags
from pytest_ragcheck.judging.offline.words.word_lists import MONTH_NAMES, MONTHS_BY_WORD, WEEKDAY_NAMES, WORDS

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
)
"""Scripts without spaces between words, as ranges; Hangul too, whose particles join the words."""

_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
# Not in "可不可以", "不仅", "かもしれません", "なければなりません".
_HAN_NEGATION = re.compile(
    r"不(?!(?<=[是可能]不)[是可能]|[仅僅但过過同少久断斷管如论論])|(?<!有)[没沒]有|未(?![来來])|[无無]法|禁止"
    r"|(?<![なし][りれ])(?<!すみ)ません"
)
_HAN_NEED = re.compile("(?:[无無][需须須]|不?必[须須需]|不必)要?")
# Not "不得不", a duty, and "不得而知", which is unknown.
_HAN_BAN = re.compile("禁止|[严嚴]禁|不(?:准|[许許]|允[许許]|得(?![不而已]))")
# Not "可能", "功能", "能量".
_HAN_PERMISSION = re.compile("允[许許]|准[许許]|(?<![可功智性节節才全产產职職技效潜潛本核官])能(?![量力源耗否])[够夠]?")
_KANA = re.compile("[\u3040-\u30ff]")
_RUNS = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_HAN = re.compile("[\u3007-\u30ff\u3400-\u9fff]")

NUMBER_PATTERN = r"(?:\d{1,3}(?: \d{3})+(?!\d)|\d+)(?:[.,'’]\d+|:\d\d(?!\d))*"
NUMBER = re.compile(NUMBER_PATTERN)
CLAUSE_END = "\x1f"
"""The word of `clause_words` where a negation ends before its sentence: "the fee, not a deposit, is 30"."""
_NUMBER_OR_ORDINAL = rf"{NUMBER_PATTERN}(?:(?:st|nd|rd|th)\b)?"
_ASCII_WORD = rf"[a-z]+(?:'[a-z]+)*|{_NUMBER_OR_ORDINAL}|[%${CLAUSE_END}]"
# The lookaheads, which skip most characters that begin no word, save a fifth of the time.
_ASCII_WORDS = re.compile(rf"(?=[a-z0-9%${CLAUSE_END}])(?:{_ASCII_WORD})")
# Characters outside words are excluded, because `\w` would break words at the vowel signs of Indic scripts and Thai.
_NO_LETTER = "".join(WORDS["no letter"].split())
_ANY_WORD = rf"[^{_NO_LETTER}']+(?:'[^{_NO_LETTER}']+)*|{_NUMBER_OR_ORDINAL}|[%$€£¥₹₽₩₣₢{CLAUSE_END}]"
_ANY_WORDS = re.compile(rf"(?! )(?:{_ANY_WORD})")

SENTENCE_ENDS = frozenset(".!?\n。！？।")
"""The marks that `folded_words` returns with the words if `with_ends` is set."""
# The dot of a day ("15. September", "vom 1.5. bis 15.9.") ends no sentence, nor does that in "9.30 a.m. to 4 p.m.", or
# in "5 Mio. Euro" and "max. 5".
_END = (
    rf"[.!?](?=\s)(?<!mio\.|mrd\.|tsd\.|тыс\.|max\.)(?!(?<=\d\.)\s(?:{'|'.join(MONTHS_BY_WORD)}|bis|und)\b)"
    r"(?!(?<=[ap]\.m\.)\s(?:to|and|on|until|or|in|from|at|before|for|the|every|each|if|except|but|by|with|\w*day)\b)"
)
_ASCII_WORDS_AND_ENDS = re.compile(rf"(?=[a-z0-9%${CLAUSE_END}.!?\n])(?:{_ASCII_WORD}|{_END}|\n)")
_ANY_WORDS_AND_ENDS = re.compile(rf"(?! )(?:{_ANY_WORD}|{_END}|[\n。！？।])")

_LONGEST_WORD = 40  # a longer run has no spaces, as in Chinese

_ENTITY = re.compile(r"&#?\w+;")  # of HTML, such as &nbsp;

_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u0640\u064b-\u0652\u00ad\u200b-\u200f\u2060\ufeff]+")
_DIGIT_SPACE = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_LETTERS_WITHOUT_DECOMPOSITION = (("ø", "o"), ("ł", "l"), ("đ", "d"), ("æ", "ae"), ("œ", "oe"), ("ı", "i"), ("’", "'"))
# Most texts become ASCII by these alone, and skip the slower steps. A dash as a hyphen could make a date.
_COMMON = (
    ("½", " 1/2"), ("¼", " 1/4"), ("¾", " 3/4"), ("⅓", " 1/3"), ("⅔", " 2/3"),
    ("’", "'"), ("−", "-"), ("–", "~"), ("—", "~"), ("“", '"'), ("”", '"'), ("\u00a0", " "), ("…", "..."), ("é", "e"),
    ("·", ""),
)  # fmt: skip


def beginning(text: str, longest: int) -> str:
    """The first *longest* characters of *text* after leading spaces, without a last word that may be cut off."""
    if len(text) <= longest:
        return text
    text = text.lstrip()[:longest]
    head, blank, last = text.rpartition(" ")
    return head if blank and len(last) <= _LONGEST_WORD else text


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


def normalised(text: str) -> str:
    """
    *text* without HTML tags, with case, accents, widths and apostrophes unified.

    "No one" becomes "nobody", "un'ora" "un ora", "No. 4" "number 4", "24/7" "24 hours a day", and 2024-05-01 a date in
    words.
    """
    if "<" in text:
        text = without_tags(text)
    if "](" in text:
        text = _LINK_TO_ITS_TEXT.sub(r"\2\1", text)
    if "M" in text:
        text = _MILLIONS.sub(" Mn", text)
    if "B" in text:
        text = _BILLIONS.sub(" Bn", text)
    text = _folded(text)
    has_digits = _DIGIT.search(text)
    for cue in _SPELLINGS if has_digits else _SPELLINGS_OF_WORDS:
        if cue in text:
            written, pattern = _SPELLINGS[cue]
            text = re.sub(pattern, written, text)
    if has_digits:
        if "," in text and _BETWEEN_CELLS.search(text):
            text = "\n".join(map(_with_separate_cells, text.split("\n")))
        text = _with_days_in_words(text)
        text = _PHONE.sub(lambda found: _NO_NATIONAL_DIGIT.sub("", found[0]), text)
        if "/" in text or ".20" in text or ".19" in text:
            text = _NUMERIC_DATE.sub(_numeric_date_in_words, text)
    return text


def _folded(text: str) -> str:
    if "&" in text:
        text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    if "-" in text and ("-0" in text or "-1" in text):
        text = _ISO_DATE.sub(_date_in_words, text)
    if text.isascii():
        return text.lower()
    text = _with_common_signs(text)
    if text.isascii():
        return text.lower()
    text = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    for letter, written in _LETTERS_WITHOUT_DECOMPOSITION:
        text = text.replace(letter, written)
    return with_han_numbers_in_digits(text) if _HAN.search(text) else text


def _with_common_signs(text: str) -> str:
    if "Â" in text or "Ã" in text or "â€" in text:
        text = _MISREAD.sub(_read_again, text)
    if "\u00a0" in text or "\u2009" in text or "\u202f" in text:
        text = _DIGIT_SPACE.sub("", text)
    if "–" in text:
        text = _DASH_AS_SIGN.sub("-", text)
    for sign, written in _COMMON:
        text = text.replace(sign, written)
    return text


_DASH_AS_SIGN = re.compile(r"–(?<![\w).]–)(?<!\d –)(?=\d)")
# "5.9M", before the case is folded: 5.9 m are metres. "[MB]" takes ten times as long.
_MILLIONS, _BILLIONS = re.compile(r"M(?<=\d.)\b"), re.compile(r"B(?<=\d.)\b")

# UTF-8 that was read as Windows-1252 on its way into a data set: "10â€“12" for "10–12", "cafÃ©" for "café".
_MISREAD = re.compile("[ÂÃ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]")


def _read_again(match: re.Match[str]) -> str:
    try:
        return match[0].encode("cp1252").decode("utf-8")
    except UnicodeError:
        return match[0]


# The lookbehind follows the first digit, so that the search can skip to digits, four times as fast.
_ISO_DATE = re.compile(r"([12](?<![\d-].)\d{3})-(0[1-9]|1[0-2])-([0-3]\d)(?![\d-])")


def _date_in_words(match: re.Match[str]) -> str:
    return f"{MONTH_NAMES[int(match[2]) - 1]} {match[3]} {match[1]}"


# A day and a month, with or without the year: "31/03", "31.03.2024", "3/31/24".
_NUMERIC_DATE = re.compile(
    r"(\d(?<![\d./]\d)\d?)(?:/(\d{1,2})(?:/(\d{4}|\d\d))?|\.(\d{1,2})\.((?:19|20)\d\d))(?![\d/])", re.ASCII
)


# "+49 (0)30 1234-56", "(030) 123 456", "04 72 00 18 36", "(555) 013-4477", "0 (850) 222 33 44", "8 (495) 123-45-67" and
# "900-123-456"; `\d` in the first set doubles the time.
_LETTER = rf"[^\W{UNSPACED}]"
_PHONE = re.compile(
    rf"[+(0-9\u0660-\U0010ffff](?<=[+(\d])(?<!{_LETTER}.)(?<![.,-].)"
    r"(?:(?<=\+)\d[\d ()./-]{6,18}\d|(?:(?<=0)|(?<=\()0)\d{2,5}\)?[ /-][\d /-]{3,14}\d"
    r"|(?<=0)(?:\d(?:[ .-]\d\d){4}| ?\(\d{3}\) ?\d{3}[ -]\d\d[ -]\d\d)"
    r"|(?<=8)[ -]?\(?\d{3}\)?[ -]\d{3}[ -]\d\d[ -]\d\d"
    rf"|(?:(?<=\()\d)?\d\d\)?(?:[ .-]{{1,2}}\d{{3}}[ .-]\d{{4}}|-\d{{3}}-\d{{3}}))(?!{_LETTER})"
)
# The codes of countries, and the prefix of a number within one: ITU-T E.164.
_NO_NATIONAL_DIGIT = re.compile(
    r"^(?:\+|00)\D?(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})|\(0\)"
    r"|^8(?=\D{0,2}\d{3}\D{1,2}\d{3}\D\d\d\D\d\d$)|\D"
)
# A Markdown link to its own text: "[a@b.example](mailto:a@b.example)".
_LINK_TO_ITS_TEXT = re.compile(r"\[([^][\s]+)\]\(((?:https?://(?:www\.)?|mailto:)?)\1/?\)")
_DIGIT = re.compile(r"\d")


# A comma between a word and a number without a blank, as in the CSV row "basic,219,301".
_BETWEEN_CELLS = re.compile(r",(?:(?<=[a-z],)\d|(?<=\d,)[a-z])")
_QUOTE_OR_COMMA = re.compile(r'"[^"]*"|,(?<=\d,)(?=\d)')


def _with_separate_cells(line: str) -> str:
    # *line* with a blank after the commas between its numbers if it is a row of CSV, and else unchanged.
    if ", " in line or not _BETWEEN_CELLS.search(line):
        return line
    return _QUOTE_OR_COMMA.sub(lambda found: ", " if found[0] == "," else found[0], line)


def _spellings(name: str) -> dict[str, list[str]]:
    lines = re.sub("<([a-z ]+)>", lambda part: WORDS[part[1]].strip(), WORDS[name]).strip().splitlines()
    return {cue: how for cue, *how in (line.split("=>") for line in lines)}


_SPELLINGS_OF_WORDS = _spellings("spellings")
_SPELLINGS = _SPELLINGS_OF_WORDS | _spellings("spellings with digits")


_SHORT_DAYS = [line.split() for line in WORDS["days of ranges"].strip().splitlines()]
_LAST_DAY = re.compile(rf"([-~] ?)(?=(?:{'|'.join({*chain(*_SHORT_DAYS)})})\b)")
_FIRST_DAY = re.compile(r"([^\W\d_]+)[. ]*$")


def _with_days_in_words(text: str) -> str:
    # *text* with "mo-fr" as "monday ~ friday"; the abbreviations are words elsewhere.
    if "-" not in text and "~" not in text:
        return text
    before, *rest = _LAST_DAY.split(text)
    for sign, after in zip(rest[::2], rest[1::2], strict=True):
        first, last = _FIRST_DAY.search(before[-6:]), after[:3].rstrip(". ,:")
        names = next((each for each in _SHORT_DAYS if first and first[1] in each and last in each), None)
        if first and names and first[1] != last:
            before = before[: len(before) - len(first[0])] + WEEKDAY_NAMES[names.index(first[1])]
            before += f" ~ {WEEKDAY_NAMES[names.index(last)]}{after[len(last) :]}"
        else:
            before += sign + after
    return before


def _numeric_date_in_words(match: re.Match[str]) -> str:
    # The date with its month as a word; unchanged if either number may be the month.
    first, second = int(match[1]), int(match[2] or match[4])
    is_dotted = match[5] is not None
    if not (first and second) or max(first, second) > 31 or min(first, second) > 12:
        return match[0]
    if max(first, second) <= 12 and first != second and not is_dotted:
        return match[0]
    day, month = (first, second) if second <= 12 else (second, first)
    return f"{day} {MONTH_NAMES[month - 1]} {match[5] or match[3] or ''}"


def words(text: str) -> list[str]:
    """
    The words, numbers and unit signs of the normalised *text*, in order.

    Scripts without word boundaries yield overlapping pairs of characters. Digits and letters are separated: `30d` is
    `30`, `d`.
    """
    return folded_words(normalised(text))


def folded_words(folded: str, *, with_ends: bool = False) -> list[str]:
    """The words of a normalised text; *with_ends* adds the marks between sentences."""
    if folded.isascii():
        return (_ASCII_WORDS_AND_ENDS if with_ends else _ASCII_WORDS).findall(folded)
    found: list[str] = (_ANY_WORDS_AND_ENDS if with_ends else _ANY_WORDS).findall(folded)
    if not _UNSPACED_RUN.search(folded):
        return found
    return list(chain.from_iterable(map(_pairs, ("", *found), found)))


def clause_words(folded: str, *, with_ends: bool = False) -> list[str]:
    """The same, with a `CLAUSE_END` after each part that limits a negation or a condition."""
    return folded_words(_with_clause_ends(folded), with_ends=with_ends)


_LIMITED = listed(WORDS["words that limit"])
"""Negations, exceptions and conditions, whose effect ends with the bracket or quote around them."""

_ENCLOSED = re.compile(r'[(][^()]{0,100}[)]|"[^"]{0,100}"')
_COMPOUND = re.compile(r"n(?<!\w.)(?:on|ot?)-\w+(?:-\w+)*")
# A condition up to its comma, without "si" and "se", often pronouns. Its first letters come first, so that the search
# skips to them, in half the time.
_CONDITION = re.compile(
    r"(?:i(?<!\w.)f|u(?<!\w.)nless|w(?<!\w.)enn|f(?<!\w.)alls|s(?<!\w.)ofern|е(?<!\w.)сли)\b[^,.;:!?\n]{1,100},(?!\d)"
)
# Up to three words after a negation between two commas; "no" has an article after it, in Spanish.
_APPOSED = re.compile(
    r"[,~] ?(?:not|never|nicht|niet|pas|nao|non|не|no(?= (?:un|una|el|la|los|las)\b))"
    r"(?: [^\s,~;:.()]+){1,3} ?(?:[,~](?!\w)|(?=[.!?]*\s*$)|[.!?](?=\s))"
)
_CLAUSE_SIGNS = re.compile("[;=×÷]")
_ENDED = rf"\g<0> {CLAUSE_END} "


def _with_clause_ends(folded: str) -> str:
    # *folded* with a `CLAUSE_END` for each semicolon and sign of a formula, and after each bracket, quote, apposition,
    # compound such as "non-stop" and comma after a condition that limits a negation or a condition.
    if ";" in folded or "=" in folded or "×" in folded or "÷" in folded:
        folded = _CLAUSE_SIGNS.sub(f" {CLAUSE_END} ", folded)
    if "(" in folded or '"' in folded:
        folded = _ENCLOSED.sub(_closed, folded)
    if "-" in folded and ("non-" in folded or "no-" in folded or "not-" in folded):
        folded = _COMPOUND.sub(_ENDED, folded)
    if "," in folded or "~" in folded:
        if "if " in folded or "enn " in folded or "unless" in folded or "falls" in folded or "если" in folded:
            folded = _CONDITION.sub(_ENDED, folded)
        if ", n" in folded or "~" in folded or ", p" in folded:
            folded = _APPOSED.sub(_ENDED, folded)
    return folded


def _closed(found: re.Match[str]) -> str:
    inside = found[0]
    is_limited = "n't" in inside or not _LIMITED.isdisjoint(inside[1:-1].split())
    return f"{inside} {CLAUSE_END} " if is_limited else inside


def _pairs(before: str, word: str) -> list[str]:
    # The pairs of characters of a *word* in a script without word boundaries; else the word.
    if word.isascii() or word[0].isdigit() or not _UNSPACED_RUN.search(word):
        return [word]
    pairs: list[str] = []
    for run in _RUNS.findall(word):
        if len(run) == 1 or not _UNSPACED_RUN.match(run):
            pairs.append(run)
            continue
        if not pairs and before[-1:].isdigit():
            pairs.append(run[0])  # the unit, so that 30天 is found in 30天内
        unified = _HAN_NEED.sub(lambda need: "需要" if need[0][0] == "必" else "不需要", run)
        if not _KANA.search(run):
            unified = _HAN_PERMISSION.sub("可以", _HAN_BAN.sub("不可以", unified))
        for denied, part in enumerate(_HAN_NEGATION.split(unified)):
            pairs += ["not"] * bool(denied)
            pairs += [part[place : place + 2] for place in range(len(part) - 1)] or list(part)
    return pairs
