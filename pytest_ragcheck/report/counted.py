from __future__ import annotations

_LEAD = 60
"""Characters before a difference, and the fewest that are to be seen from it on."""


def counted(count: int, noun: str) -> str:
    """`1 answer`, `2 answers`, `1,200 answers` and so on."""
    return f"{count:,} {noun}" + "s" * (count != 1)


def one_line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def from_difference(text: str, other: str, most: int) -> str:
    """The text on one line, without its beginning if its first *most* characters hide the difference from the other."""
    line, compared = (" ".join(each.split()) for each in (text, other))
    pairs = enumerate(zip(line, compared, strict=False))
    same = next((n for n, (a, b) in pairs if a != b), min(len(line), len(compared)))
    if line == compared or same <= max(most - _LEAD, _LEAD) or max(len(line), len(compared)) <= most:
        return line
    start = same - _LEAD
    return f"... {line[max(start, line.find(' ', start, same) + 1) :]}"
