"""Names the damaged result file on which a command broke down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_ragcheck.cli.project.check_files import RESULTS, mistakes_in_result


def damage(values: Iterable[object]) -> Iterator[str]:
    """The mistakes of the result files that a command reads."""
    for path in dict.fromkeys(each for value in values for each in _result_files(value)):
        yield from mistakes_in_result(path)


def _result_files(value: object) -> Iterator[Path]:
    if isinstance(value, list):
        for each in value:
            yield from _result_files(each)
    elif isinstance(value, str | Path) and str(value):
        path = Path(value)
        if path.is_file():
            yield path
        folder = path if path.is_dir() else path.parent
        yield from sorted(each for each in folder.glob("*.json") if each.name.endswith(RESULTS))
