from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ragcheck.config.readers import BaselinePlace


@pytest.mark.parametrize(
    ("text", "rev", "path", "seen"),
    [
        ("b.json", None, "b.json", "/at/b.json"),
        ("../b.json", None, "../b.json", "/b.json"),
        ("/there/b.json", None, "/there/b.json", "/there/b.json"),
        ("git:v1:b.json", "v1", "b.json", "/at/b.json"),
        ("git:origin/main:a:b.json", "origin/main", "a:b.json", "/at/a:b.json"),
    ],
)
def test_a_place_is_read_written_and_seen_from_a_folder(text: str, rev: str | None, path: str, seen: str) -> None:
    place = BaselinePlace.from_text(text)
    assert (place.path, place.rev, str(place)) == (Path(path), rev, text)
    resolved = place.resolved_in(Path("/at"))
    assert str(resolved) == (text if rev else seen)
    assert resolved.resolved_in(Path("/elsewhere")).path == Path(seen)


@pytest.mark.parametrize(
    ("path", "seen"),
    [("b.json", "b.json"), (".kept/b.json", ".kept/b.json"), ("./b.json", "a/b.json"), ("../b.json", "b.json")],
)
def test_a_path_in_git_begins_at_the_top_of_the_repository_as_for_git(tmp_path: Path, path: str, seen: str) -> None:
    (tmp_path / ".git").touch()  # a file in a worktree, else a folder
    (tmp_path / "a").mkdir()
    place = BaselinePlace.from_text(f"git:HEAD:{path}")
    assert place.resolved_in(tmp_path / "a").path == tmp_path / seen
