"""`ini_settings` reads settings from the file that pytest would read, without pytest."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_ragcheck.cli.project.user_project import configurations
from pytest_ragcheck.config.given import Given
from pytest_ragcheck.errors import UsageError


def ini_settings(folder: Path, names: Collection[str]) -> dict[str, Given]:
    """
    Return the settings with these names that pytest's configuration file for *folder* holds.

    Raises:
        UsageError: The file cannot be read.
    """
    found = next(configurations(folder.resolve()), None)
    if found is None:
        return {}
    section = found.section.strip("[]").replace(" ", "")
    try:
        values = _toml(found.path, section) if found.path.suffix == ".toml" else _ini(found.path, section)
    except (OSError, ValueError) as error:
        raise UsageError(f"{found.path.name} cannot be read: {error}") from None
    return {name: Given(values[name], f"{name} in {found.path.name}") for name in names if name in values}


def _toml(path: Path, section: str) -> Mapping[str, Any]:
    tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    values: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    for key in section.split("."):
        values = values.get(key, {})
    return values if isinstance(values, dict) else {}


def _ini(path: Path, section: str) -> Mapping[str, Any]:
    from iniconfig import IniConfig

    values: Mapping[str, Any] = IniConfig(str(path)).sections.get(section, {})
    return values
