"""Writes Chinese and Japanese numbers in digits, and their dates, clock times and units as in English."""

from __future__ import annotations

import re

from pytest_ragcheck.judging.offline.words.word_lists import HAN_UNITS, MONTH_NAMES, WEEKDAY_NAMES

_DIGITS = {"〇": 0, "零": 0, **{sign: value for value, sign in enumerate("一二三四五六七八九", start=1)}, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
# A lone Han digit is a number only before a measure word; "一" begins too many ordinary words.
# One that begins with a scale needs more: 千葉 is a name, 千万 an adverb, too, and 数百 no number.
_NUMBER = re.compile(
    (
        r"(?<![\d.数數几幾何])(?:(?:[一D]|[百千](?=[一D]))[〇零一D百千万萬亿億]+"
        r"|(?:[D]|[百千][〇零一D百千万萬亿億]{0,9})(?=[天日年月周週時时点點個个か次岁歲元円块倍名位人営ァ-ヺ]|小[时時]|分[钟鐘間])"
        r"|一(?=[周週](?![围圍边邊年])|[个個](?:半|月|工作|小[时時]|星期)|星期|天[内內以]|年[内內以]))"
    ).replace("D", "二三四五六七八九两十")
)
_SCALE = "(?:[百千][万萬亿億]?|[万萬亿億])"
_SCALED = re.compile(
    rf"(?<![\d,.])\d{{1,12}}(?:,\d{{3}}){{0,3}}(?:\.\d{{1,6}})? ?{_SCALE}(?:\d{{1,4}}{_SCALE}?(?![\d年月日]))*"
)
_PART = re.compile("([0-9,.]+) ?([百千]?)([万萬亿億]?)")
_DATE = re.compile(r"(?<!\d)(1[0-2]|0?[1-9]) ?月(?: ?(3[01]|[12]\d|0?[1-9]) ?[日号號])?")
_TIME = re.compile(
    r"(?:(上午|早上|凌晨|午前|朝)|(中午|下午|晚上|傍晚|午後|夜)|(?<![\d:])) ?(2[0-4]|1\d|0?\d)"
    r"(?: ?([时時点點])(?!間|间)(?: ?([0-5]?\d) ?分|(半))?|:([0-5]\d))"
)
_HALF_YEAR = re.compile("(?<![上下大多年])半年(?![报報度])")
# Not "每周一次", once a week, or "两周三天".
_WEEKDAY = re.compile(
    "(?:(?:星期|[礼禮]拜|(?<![一二三四五六七八九十两\\d])[周週])([一二三四五六日天])(?![次回个個遍天周週])|([月火水木金土日])曜日?)"
)
_WEEKDAYS = dict(zip("一二三四五六日天月火水木金土日", (*WEEKDAY_NAMES, "sunday", *WEEKDAY_NAMES), strict=True))
_ABOUT = re.compile("大?[约約][为為有]?(?=[0-9])")
_BESIDE_TIMES = frozenset("到至から~-钟鐘整前后後开開关關")  # without them, "3点" may be three points
_UNIT = re.compile(rf"(?<=\d)(?!(?<=\d{{3}}) ?年) ?({'|'.join(sorted(HAN_UNITS, reverse=True))})(?!年|之|の[\d一二])")
_BELOW_ZERO = re.compile(r"(?:マイナス|零下|氷点下|[负負]|(?<=[\u3040-\u9fff])-)(?=[\d.]+ ?[度°摂摄攝])")
_LONGEST_NUMBER = 40  # digits; int() is quadratic
_NOON = 12


def with_han_numbers_in_digits(text: str) -> str:
    """*text* with `三十天` as `30 days`, `35万` as `350000`, `周一` as `monday` and `下午3点半` as `15:30`."""
    text = _WEEKDAY.sub(lambda match: f" {_WEEKDAYS[match[1] or match[2]]} ", _HALF_YEAR.sub("6个月", text))
    text = _ABOUT.sub(" about ", _NUMBER.sub(lambda match: str(_value(match[0])), text))
    text = _TIME.sub(_time, _DATE.sub(_date, _SCALED.sub(_scaled, text)))
    text = _BELOW_ZERO.sub(" -", text.replace("度-", "度~"))
    return _UNIT.sub(lambda match: f" {HAN_UNITS[match[1]]} ", text)


def _value(signs: str) -> int:
    if _SCALES.keys().isdisjoint(signs):  # digit by digit, as in years
        return int("".join(str(_DIGITS[sign]) for sign in signs[:_LONGEST_NUMBER]))
    total = section = digit = 0
    for sign in signs:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
        elif (scale := _SCALES[sign]) < 10**4:
            section += max(digit, 1) * scale
            digit = 0
        else:
            total += max(section + digit, 1) * scale
            section = digit = 0
    return total + section + digit


def _scaled(match: re.Match[str]) -> str:
    parts = (
        float(number.replace(",", "")) * _SCALES.get(small, 1) * _SCALES.get(large, 1)
        for number, small, large in _PART.findall(match[0])
    )
    return f"{sum(parts):.6f}".rstrip("0").rstrip(".") + " "


def _date(match: re.Match[str]) -> str:
    return f" {match[2] or ''} {MONTH_NAMES[int(match[1]) - 1]} "


def _time(match: re.Match[str]) -> str:
    morning, evening, hour, sign, minutes, half, digital = match.groups()
    beside = match.string[max(0, match.start() - 1) : match.start()] + match.string[match.end() : match.end() + 1]
    is_told = morning or evening or half or minutes
    if not is_told and (digital or (sign in "点點" and _BESIDE_TIMES.isdisjoint(beside))):
        return match[0]
    hours = int(hour) + _NOON * (evening is not None and int(hour) < _NOON)
    return f" {hours}:{'30' if half else (minutes or digital or '').zfill(2)} {'am' * bool(morning)} "
