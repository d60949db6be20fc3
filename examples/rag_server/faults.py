"""Faults that can be switched on, to see whether a test run notices them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Every digit becomes another one and none becomes 0, so that no number stays and none begins with 0.
_OTHER_DIGITS = str.maketrans("0123456789", "1234567891")


def state_wrong_numbers(answer: str) -> str:
    """The answer with every digit altered, in the same way every time."""
    return answer.translate(_OTHER_DIGITS)


FAULTS: Mapping[str, Callable[[str], str]] = {"number": state_wrong_numbers}
"""What each fault makes of a right answer."""


def faults_from(setting: str) -> list[Callable[[str], str]]:
    """The faults that a comma list such as `number` names; raises ValueError for a name that is none."""
    names = [name.strip() for name in setting.split(",") if name.strip()]
    unknown = [name for name in names if name not in FAULTS]
    if unknown:
        raise ValueError(f"RAG_SERVER_FAULT names no fault: {', '.join(unknown)}. Known: {', '.join(FAULTS)}.")
    return [FAULTS[name] for name in names]
