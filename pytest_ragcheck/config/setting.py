"""Defines a row of the table of settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any, Literal

from pytest_ragcheck.frozen import frozen


@frozen
class Setting:
    """A row of the table: where a setting may be given, and how its text is read; its help text is in help.json."""

    name: str
    """Name in the ini file, such as `rag_top_k`."""

    group: Literal["endpoint", "judge", "gate", "run"]
    """The group of `Settings` that holds the value."""

    read: Callable[[str], Any]
    """Returns the value of a text. The text of its ValueError continues a sentence: `is not ...; write ...`."""

    field: str = ""
    """The field of the group; by default the name without `rag_` and without the group's name."""

    collect: Callable[[Iterable[Any]], Any] = tuple
    """Makes one value of the words or lines."""

    default: Any = None
    """The value if none is given: None by default, or `collect(())` for words and lines."""

    environment: str | None = None
    """Name of the environment variable, if the setting has one."""

    metavar: str = ""
    """Placeholder of the value on the command line; empty for a switch or an ini-only setting."""

    kind: Literal["text", "words", "lines", "switch"] = "text"
    """One text, several texts separated by blanks (a repeatable option), one text a line, or on/off."""

    default_text: str = ""
    """Describes the default if the value itself does not."""

    def __post_init__(self) -> None:
        if self.default is None and self.kind in ("words", "lines"):
            object.__setattr__(self, "default", self.collect(()))

    @property
    def path(self) -> str:
        """The group and the field that hold the value, such as `endpoint.top_k`."""
        return f"{self.group}.{self.field or self.keyword.removeprefix(f'{self.group}_')}"

    @property
    def on_command_line(self) -> bool:
        """True if the setting is an option; every switch is one."""
        return self.metavar != "" or self.kind == "switch"

    @property
    def option(self) -> str:
        """Name on the command line, such as `--rag-top-k`."""
        return "--" + self.name.replace("_", "-")

    @property
    def keyword(self) -> str:
        """Name in `Settings.of`, such as `top_k`."""
        return self.name.removeprefix("rag_")

    @property
    def shown_default(self) -> str:
        """The default as help texts show it; empty if there is none."""
        return self.default_text or _shown(self.default)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return f"{value:g}"
    if isinstance(value, str | PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_shown(each)}" for name, each in value.items())
    return " ".join(map(_shown, value or ()))
