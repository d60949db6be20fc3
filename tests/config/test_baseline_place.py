from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ragcheck.config.baseline_place import BaselinePlace


@pytest.mark.parametrize(
    ("text", "rev", "path", "seen"),
    [
        ("b.json", None, "b.json", "/at/b.json"),
        ("../b.json", None, "../b.json", "/b.json"),
        ("/there/b.json", None, "/there/b.json", "/there/b.json"),
        ("git:v1:b.json", "v1", "b.json", "git:v1:/at/b.json"),
        ("git:origin/main:a:b.json", "origin/main", "a:b.json", "git:origin/main:/at/a:b.json"),
    ],
)
def test_a_place_is_read_written_and_seen_from_a_folder(text: str, rev: str | None, path: str, seen: str) -> None:
    place = BaselinePlace.from_text(text)
    assert place == BaselinePlace(path=Path(path), rev=rev)
    assert str(place) == text
    assert str(place.resolved_in(Path("/at"))) == seen
