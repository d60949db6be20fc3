"""Registers the options and ini values with pytest, and reads `Settings` from them."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.config.readers import BASELINE_FILE, read_switch
from pytest_ragcheck.config.table import TABLE, Given, Setting
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.plugin.extensions import own_metrics

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings

DATASETS_PLUGIN = "ragcheck-datasets"
SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()

IS_SPLIT: pytest.StashKey[bool] = pytest.StashKey()
"""Set while items of other parts of the run are deselected."""

PROCESS_ID: pytest.StashKey[int] = pytest.StashKey()
"""The process that collected the items; pytest-forked runs each in a child."""

_FEWEST_FILES = 10
"""More than a run with a single question opens at once, connections included."""

_INI_TYPES: dict[str, Any] = {"words": "args", "lines": "linelist"}
"""By the kind of a setting; else text."""


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("rag", "testing of RAG systems (pytest-ragcheck)")
    texts = json.loads(package_text("config/help.json"))
    for setting in TABLE:
        text = texts[setting.name]
        if setting.shown_default:
            text += f" Default: {setting.shown_default}."
        parser.addini(setting.name, text, type=_INI_TYPES.get(setting.kind), default=None)
        if not setting.on_command_line:
            continue
        if setting.environment:
            text += f" Environment: {setting.environment}."
        text = text.replace("%", "%%")
        if setting.kind == "switch":
            group.addoption(setting.option, dest=setting.name, action="store_true", default=None, help=text)
        else:
            action = "append" if setting.kind == "words" else "store"
            group.addoption(setting.option, dest=setting.name, metavar=setting.metavar, action=action, help=text)


def has_typed(config: pytest.Config) -> bool:
    return any(name.startswith("rag_") and value is not None for name, value in vars(config.option).items())


def settings_of(config: pytest.Config) -> Settings:
    if SETTINGS not in config.stash:
        from pytest_ragcheck.config.resolve import read_settings
        from pytest_ragcheck.errors import UsageError

        own, given = names_of_own_metrics(config), given_options(config)
        if "rag_shard" not in given and (split := split_of(config)):
            given["rag_shard"] = Given(split, "--splits")
        try:
            config.stash[SETTINGS] = read_settings(given, folder=config.rootpath, own_metrics=own)
        except UsageError as error:
            raise pytest.UsageError(f"ragcheck: {error}") from None
    return config.stash[SETTINGS]


def is_fork(config: pytest.Config) -> bool:
    """Return True in a child of the process that collected the items."""
    return config.stash[PROCESS_ID] != os.getpid()


def names_of_own_metrics(config: pytest.Config) -> tuple[str, ...]:
    """The names of the users' own metrics that are registered so far."""
    return tuple(dict.fromkeys(name for metric in own_metrics(config) for name in metric.names))


def known_metrics(node: pytest.Item | pytest.Collector) -> tuple[str, ...]:
    """The names of the metrics that thresholds can name in the folder of the node."""
    from pytest_ragcheck.scores import ASSERTABLE

    return (*ASSERTABLE, *(name for metric in own_metrics(node.config, node.ihook) for name in metric.names))


def given_options(config: pytest.Config, leave_out: Collection[str] = ()) -> dict[str, Given]:
    found = {setting.name: _given(config, setting) for setting in TABLE if setting.name not in leave_out}
    return {name: given for name, given in found.items() if given is not None}


def has_gate(config: pytest.Config) -> bool:
    """True if the run was given a gate or a baseline, valid or not, or the rootdir has one, and no `-p` blocks it."""
    given = is_given(config, "rag_gate") or is_given(config, "rag_baseline")
    given = given or (config.rootpath / BASELINE_FILE).is_file()
    return given and not config.pluginmanager.is_blocked("ragcheck-gate")


def is_given(config: pytest.Config, name: str) -> bool:
    """True if the command line or the ini file has a value of the option, valid or not."""
    return config.getoption(name) is not None or config.getini(name) is not None


def split_of(config: pytest.Config) -> str:
    """The part that pytest-split runs, as `I/N`; empty without it."""
    number, count = config.getoption("group", None), config.getoption("splits", None)
    return f"{number}/{count}" if isinstance(number, int) and isinstance(count, int) else ""


def names_dataset(config: pytest.Config) -> bool:
    """True if the run was given a dataset, known or not."""
    return bool(config.getoption("rag_dataset") or ini_value(config, "rag_dataset"))


def is_dry_run(config: pytest.Config) -> bool:
    value = config.getoption("rag_dry_run") or ini_value(config, "rag_dry_run")
    with suppress(ValueError):  # `settings_of` reports a wrong value
        return value is not None and read_switch(str(value))
    return False


def _given(config: pytest.Config, setting: Setting) -> Given | None:
    typed = config.getoption(setting.name, default=None) if setting.on_command_line else None
    value = ini_value(config, setting.name) if typed is None else typed
    if value is None:
        return None
    if typed is None:
        return Given(value, ini_origin(config, setting.name))
    # A typed path is relative to the working directory, a configured one to the root.
    return Given(value, setting.option, config.invocation_params.dir)


def ini_value(config: pytest.Config, name: str) -> Any:
    """The value of the ini file or of `-o`, as text or a native value of TOML; else None."""
    try:
        return config.getini(name)
    except (TypeError, ValueError, pytest.UsageError) as error:
        value = _toml_value(config, name)  # pytest refuses a number, and a text for a list
        if value is None:
            raise pytest.UsageError(
                f"ragcheck: {ini_origin(config, name)}: {error}; "
                "write texts separated by blanks, with both quotation marks around one that has a blank"
            ) from None
        return value


def _toml_value(config: pytest.Config, name: str) -> Any:
    # The native value in a TOML file; None if the value does not come from one.
    path = config.inipath
    if path is None or path.suffix != ".toml" or _is_overridden(config, name):
        return None
    tomllib: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    tables = document if path.name.endswith("pytest.toml") else document.get("tool", {})
    return tables.get("pytest", {}).get(name)


def _is_overridden(config: pytest.Config, name: str) -> bool:
    return any(each.partition("=")[0] == name for each in config.getoption("override_ini") or ())


def ini_origin(config: pytest.Config, name: str) -> str:
    if _is_overridden(config, name):
        return f"-o {name}"
    return f"{name} in {config.inipath.name if config.inipath else 'the ini file'}"


@contextmanager
def opening_files() -> Iterator[None]:
    """End the session with a plain text if an import fails at the limit of open files."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        pytest.exit(f"ragcheck: {error}. Close files, or raise the limit (ulimit -n).", pytest.ExitCode.INTERNAL_ERROR)


def check_files() -> None:
    """Raise a usage error if the process can open too few files; later an import fails obscurely."""
    held: list[int] = []
    try:
        while len(held) < _FEWEST_FILES:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        raise pytest.UsageError(
            f"ragcheck: this process can open {len(held)} more files, and a run needs {_FEWEST_FILES} "
            f"({error.strerror}). Close files, or raise the limit (ulimit -n)."
        ) from None
    finally:
        for each in held:
            os.close(each)
