"""A baseline as a git revision has it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.summary.gate.baseline_reader import read_baseline
from pytest_ragcheck.summary.predictions_reader import InGit, Unusable, versions
from tests.baselines import passed, predictions

if TYPE_CHECKING:
    from pathlib import Path

AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *AUTHOR, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "baseline.json").write_text(json.dumps(predictions(passed())), encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one", "--date=2026-01-02T03:04:05Z")
    return tmp_path


def test_the_revisions_file_is_read_whatever_lies_in_the_folder_now(repository: Path) -> None:
    path = repository / "tests" / "baseline.json"
    path.unlink()
    path.parent.rmdir()
    found = read_baseline(InGit(rev="HEAD", path=path), name="git:HEAD:tests/baseline.json")
    assert list(found.rows) == [("billing", "terms")]


@pytest.mark.parametrize(("rev", "name"), [("nowhere", "baseline.json"), ("HEAD", "other.json")])
def test_what_git_does_not_have_says_what_to_give(repository: Path, rev: str, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_baseline(InGit(rev=rev, path=repository / "tests" / name), name=f"git:{rev}:{name}")
    text = str(caught.value)
    assert text.startswith(f"git:{rev}:{name}: git does not have it (fatal: ")
    assert text.endswith(
        "Give git:REV:PATH or git:REV:./PATH of a file that is committed there; a shallow clone has to fetch REV first."
    )


def test_the_versions_of_a_merge_are_those_of_the_main_line(repository: Path) -> None:
    path = repository / "tests" / "baseline.json"

    def commit(content: str) -> None:
        path.write_text(content, encoding="utf-8")
        git(repository, "commit", "-q", "-a", "-m", content)

    git(repository, "checkout", "-q", "-b", "main")
    git(repository, "checkout", "-q", "-b", "side")
    commit("draft")
    commit("accepted")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "side")
    git(repository, "rm", "-q", "tests/baseline.json")
    git(repository, "commit", "-q", "-m", "gone")
    (repository / "tests").mkdir(exist_ok=True)
    path.write_text("anew", encoding="utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "anew")
    found = [version.read_bytes() for version in versions(InGit(rev="HEAD", path=path))]
    assert found[1:] == [b"accepted", b"anew"]
    assert len(found) == 3


def test_a_file_that_was_never_committed_has_no_version(repository: Path) -> None:
    (repository / "new.json").touch()
    with pytest.raises(Unusable, match=r"^no commit of HEAD has it\. Give git:REV:PATH of a file that is committed"):
        versions(InGit(rev="HEAD", path=repository / "new.json"))


def test_without_git_the_text_says_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    path = repository / "tests" / "baseline.json"
    with pytest.raises(UsageError, match=r"git cannot be run: .*\. Give the path of a file\."):
        read_baseline(InGit(rev="HEAD", path=path), name="b")
