"""One setting as a user gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting as a user gives it."""

    name: str
    """Name in the ini file; on the command line with `--` and dashes."""

    becomes: str = ""
    """The field of `Settings` that the value becomes; empty where its name is the option's without `rag_`."""

    help: str
    read: Callable[[str], Any]
    """From the given text to the value; a ValueError goes on from the text: `is not ...; write ...`."""

    flag: bool = True
    """Whether it can be given on the command line too."""

    environment: str | None = None
    metavar: str = "TEXT"
    kind: Literal["text", "words", "lines", "switch"] = "text"
    """One text, several separated by blanks (repeatable on the command line), several by line, or on/off."""

    default_shown: str = ""
    """As help and reference page say it; empty where there is none."""

    @property
    def field(self) -> str:
        """The field of `Settings` that the value becomes."""
        return self.becomes or self.name.removeprefix("rag_")

    @property
    def switch(self) -> str:
        """The command line's form of the name."""
        return "--" + self.name.replace("_", "-")
