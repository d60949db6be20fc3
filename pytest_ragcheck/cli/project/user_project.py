"""Reads the layout, settings, endpoint and CI host of a user's project from its files."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_ragcheck.config.table import Given
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.redaction import url_secrets

_CONFIGURATIONS = {
    "pytest.toml": r"\[\s*pytest\s*\]",
    ".pytest.toml": r"\[\s*pytest\s*\]",
    "pytest.ini": r"\[pytest\]",
    ".pytest.ini": r"\[pytest\]",
    "pyproject.toml": r"\[\s*tool\s*\.\s*pytest\s*(\.\s*ini_options\s*)?\]",
    "tox.ini": r"\[pytest\]",
    "setup.cfg": r"\[tool:pytest\]",
}
"""The configuration files in pytest's order of lookup, each with the heading of pytest's settings."""

_SETTING = re.compile(r"(?m)^[ \t]*(rag_\w+)\s*[=:]")

_OF_ONE_SERVER = ("rag_base_url", "rag_headers", "rag_identities")
"""Settings with the addresses and tokens of the server that `rag_url` names."""

_URL = re.compile(r"""(?m)^[ \t]*rag_url\s*[=:]\s*["']?([^\s"']+)""")


@frozen
class Configuration:
    path: Path
    section: str
    """The heading of pytest's settings."""

    line: int | None
    """The line of the heading, from 1; None without one."""

    settings: frozenset[str]

    url: str | None
    """The endpoint, if the file names one whose URL holds no secret."""


@frozen
class Project:
    folder: Path
    root: Path
    """The top of the repository; outside of a repository the folder itself."""

    configuration: Configuration | None
    tests: Path

    url: str | None
    """The endpoint, if the environment names one whose URL holds no secret."""

    remote_host: str | None

    @property
    def ci(self) -> str | None:
        """`github` or `gitlab`, or None for another host; a repository without a remote gets `github`."""
        host = self.remote_host or ""
        if "gitlab" in host or (self.root / ".gitlab-ci.yml").exists():
            return "gitlab"
        if not host or "github" in host or (self.root / ".github").is_dir():
            return "github"
        return None

    @property
    def requirements(self) -> str:
        """Of `pip install`."""
        wanted = ["pytest-ragcheck"]
        if (self.folder / "requirements.txt").is_file():
            wanted.append("-r requirements.txt")
        pyproject = self.folder / "pyproject.toml"
        if (self.folder / "setup.py").is_file() or re.search(r"(?m)^\[project\]", _text(pyproject)):
            wanted.append("-e .")
        return " ".join(wanted)

    def shown(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.folder)).as_posix()


def read_project(folder: Path) -> Project:
    folder = folder.resolve()
    root = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    return Project(
        folder=folder,
        root=root or folder,
        configuration=configuration_of(folder),
        tests=next((folder / name for name in ("tests", "test") if (folder / name).is_dir()), folder),
        url=_shareable(os.environ.get("RAGCHECK_URL", "").strip()),
        remote_host=None if root is None else _remote_host(root),
    )


def root_of(folder: Path) -> Path:
    """Return pytest's rootdir for a run without arguments in *folder*, an absolute path."""
    if found := configuration_of(folder):
        return found.path.parent
    marks = ("pyproject.toml", "setup.py")
    return next((each for name in marks for each in (folder, *folder.parents) if (each / name).is_file()), folder)


def host_of(remote: str) -> str | None:
    """The host of a git remote's URL (`https://host/...` or `user@host:...`); None for a local path."""
    if "://" in remote:
        return urlsplit(remote).hostname
    match = re.match(r"(?:[^@/]+@)?([\w.-]{2,}):", remote)
    return match[1] if match else None


def _shareable(url: str) -> str | None:
    return url if re.fullmatch(r"https?://\S+", url) and not url_secrets(url) else None


def configuration_of(folder: Path) -> Configuration | None:
    for each in (folder, *folder.parents):
        for name, section in _CONFIGURATIONS.items():
            path = each / name
            if not path.is_file():
                continue
            text = _text(path)
            found = re.search(rf"(?m)^{section}", text)
            # pytest's own files configure it even without the heading.
            if found or "pytest." in name:
                return Configuration(
                    path=path,
                    section=found[0] if found else "[pytest]",
                    line=text.count("\n", 0, found.start()) + 1 if found else None,
                    settings=frozenset(_SETTING.findall(text)),
                    url=_shareable(found_url[1]) if (found_url := _URL.search(text)) else None,
                )
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _remote_host(root: Path) -> str | None:
    command = ["git", "-C", str(root), "config", "--get-regexp", r"^remote\..*\.url$"]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=10, check=False)  # noqa: S603 - no input
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = ended.stdout.decode("utf-8", "replace").splitlines()
    remotes = dict(line.split(" ", 1) for line in lines if " " in line)
    first = remotes.get("remote.origin.url") or next(iter(remotes.values()), "")
    return host_of(first)


def default_results() -> Path:
    return from_here(run_value("rag_output", "ragcheck-results"))


def from_here(path: Path) -> Path:
    """The path relative to the current folder, unless Windows has it on another drive."""
    try:
        return Path(os.path.relpath(path))
    except ValueError:
        return path


def run_value(name: str, default: str, folder: Path | None = None) -> Any:
    """The absolute path that a run in the folder, by default the current one, has for a setting."""
    from pytest_ragcheck.config.resolve import read_value, resolved

    folder = folder or Path.cwd()
    in_file = ini_settings(folder, (name, "addopts"))
    added = in_file.pop("addopts", Given("", "")).value
    option = f"--{name.replace('_', '-')}"
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument(option, dest="typed")
    parser.add_argument("-o", "--override-ini", action="append", default=[])
    try:
        words = shlex.split(added) if isinstance(added, str) else added
        found, _ = parser.parse_known_args([*words, *shlex.split(os.getenv("PYTEST_ADDOPTS", ""))])
    except (ValueError, argparse.ArgumentError) as error:
        raise UsageError(f"addopts or PYTEST_ADDOPTS cannot be read: {error}. Correct it.") from None
    given = in_file.get(name, Given(default, ""))
    for key, _, value in (each.partition("=") for each in found.override_ini):
        given = Given(value, f"-o {name}") if key == name else given
    if found.typed is not None:
        # pytest too takes a typed path from the current folder, and a configured one from the rootdir.
        return resolved(folder, read_value(name, Given(found.typed, option)))
    return resolved(root_of(folder), read_value(name, given))


def endpoint_settings(typed: Mapping[str, Given], names: Collection[str], *, to_do: str) -> dict[str, Given]:
    """
    The settings *names* as typed or as in the ini file, with a `rag_url`, which may come from `RAGCHECK_URL` too.

    Settings that the file has for another server are left out. *to_do* is the remedy in the error about a missing URL.
    """
    in_file = ini_settings(Path.cwd(), ("rag_url", *names))
    given = {name: each for name, each in typed.items() if each.value is not None}
    if not typed["rag_url"].value:
        given.pop("rag_url", None)
    if url := os.environ.get("RAGCHECK_URL"):
        given.setdefault("rag_url", Given(url, "RAGCHECK_URL"))
    of_file = in_file.get("rag_url")
    used = given.get("rag_url", of_file)
    if used is None:
        raise UsageError(f"no URL is given. {to_do} or set RAGCHECK_URL.")
    if of_file is not None and _server(of_file) != _server(used):
        in_file = {name: each for name, each in in_file.items() if name not in _OF_ONE_SERVER}
    return {**in_file, **given}


def _server(url: Given) -> str | None:
    with suppress(ValueError):
        return urlsplit(str(url.value).strip()).netloc.rpartition("@")[2]
    return None


def ini_settings(folder: Path, names: Collection[str]) -> dict[str, Given]:
    """Raises a `UsageError` for a broken configuration file."""
    found = configuration_of(folder.resolve())
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
    from iniconfig import IniConfig, ParseError

    try:
        values: Mapping[str, Any] = IniConfig(str(path)).sections.get(section, {})
    except ParseError as error:
        raise ValueError(f"line {error.lineno + 1}: {error.msg}") from None
    return values
