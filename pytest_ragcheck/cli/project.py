"""What can be found out about a user's project without asking."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_ragcheck.redaction import url_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONFIGURATIONS = {
    "pytest.toml": r"\[\s*pytest\s*\]",
    ".pytest.toml": r"\[\s*pytest\s*\]",
    "pytest.ini": r"\[pytest\]",
    ".pytest.ini": r"\[pytest\]",
    "pyproject.toml": r"\[\s*tool\s*\.\s*pytest\s*(\.\s*ini_options\s*)?\]",
    "tox.ini": r"\[pytest\]",
    "setup.cfg": r"\[tool:pytest\]",
}
"""Where pytest looks, in its order, and the line that heads its settings there."""

_PYTESTS_OWN = "pytest."
"""What is in the names of files that are pytest's whatever stands in them."""

_SETTING = re.compile(r"(?m)^\s*(rag_\w+)\s*[=:]")

_URL = re.compile(r"""(?m)^\s*rag_url\s*[=:]\s*["']?([^\s"']+)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """pytest's configuration file."""

    path: Path
    section: str
    """The line that heads pytest's settings in it."""

    line: int | None
    """Where that line stands, from 1; None where it does not yet."""

    settings: frozenset[str]
    """What it sets of this plugin's, by name."""

    url: str | None
    """The endpoint, if it names one and nothing in that is secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A folder with somebody's code."""

    folder: Path
    root: Path
    """The top of the repository; the folder itself where there is none."""

    configuration: Configuration | None
    tests: Path
    """Where a first test goes."""

    url: str | None
    """The endpoint, if the environment names it and nothing in it is secret."""

    remote_host: str | None
    """Where the repository is published; None where that is not known."""

    @property
    def ci(self) -> str | None:
        """`github` or `gitlab`; None for a host that is neither. `github` where nothing is known."""
        host = self.remote_host or ""
        if "gitlab" in host or (self.root / ".gitlab-ci.yml").exists():
            return "gitlab"
        if not host or "github" in host or (self.root / ".github").is_dir():
            return "github"
        return None

    @property
    def requirements(self) -> str:
        """What pip has to install so that a conftest.py of the project finds its imports."""
        wanted = ["pytest-ragcheck"]
        if (self.folder / "requirements.txt").is_file():
            wanted.append("-r requirements.txt")
        pyproject = self.folder / "pyproject.toml"
        if (self.folder / "setup.py").is_file() or re.search(r"(?m)^\[project\]", _text(pyproject)):
            wanted.append("-e .")
        return " ".join(wanted)

    def shown(self, path: Path) -> str:
        """The path as whoever works in the folder would write it."""
        return Path(os.path.relpath(path, self.folder)).as_posix()


def look_at(folder: Path, environment: Mapping[str, str]) -> Project:
    """The project in *folder*, an existing folder."""
    folder = folder.resolve()
    root = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    return Project(
        folder=folder,
        root=root or folder,
        configuration=next(_configurations(folder), None),
        tests=next((folder / name for name in ("tests", "test") if (folder / name).is_dir()), folder),
        url=_shareable(environment.get("RAGCHECK_URL", "").strip()),
        remote_host=None if root is None else _remote_host(root),
    )


def host_of(remote: str) -> str | None:
    """The host in a git remote's URL, be it `https://host/...` or `user@host:...`; None for a local path."""
    if "://" in remote:
        return urlsplit(remote).hostname
    match = re.match(r"(?:[^@/]+@)?([\w.-]{2,}):", remote)
    return match[1] if match else None


def _shareable(url: str) -> str | None:
    return url if re.fullmatch(r"https?://\S+", url) and not url_secrets(url) else None


def _configurations(folder: Path) -> Iterator[Configuration]:
    for each in (folder, *folder.parents):
        for name, section in _CONFIGURATIONS.items():
            path = each / name
            if not path.is_file():
                continue
            text = _text(path)
            found = re.search(rf"(?m)^{section}", text)
            if found or _PYTESTS_OWN in name:
                yield Configuration(
                    path=path,
                    section=found[0] if found else "[pytest]",
                    line=text.count("\n", 0, found.start()) + 1 if found else None,
                    settings=frozenset(_SETTING.findall(text)),
                    url=_shareable(found_url[1]) if (found_url := _URL.search(text)) else None,
                )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _remote_host(root: Path) -> str | None:
    command = ["git", "-C", str(root), "config", "--get-regexp", r"^remote\..*\.url$"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603 - no input
    except (OSError, subprocess.TimeoutExpired):
        return None
    remotes = dict(line.split(" ", 1) for line in ended.stdout.splitlines() if " " in line)
    first = remotes.get("remote.origin.url") or next(iter(remotes.values()), "")
    return host_of(first)
