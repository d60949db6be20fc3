"""pytest's options and ini values -> `Settings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.options import OPTIONS, Option
from pytest_ragcheck.plugin.keys import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.given import Given
    from pytest_ragcheck.plugin.datasets import Datasets
    from pytest_ragcheck.settings import Settings

QUESTION_FILES = (".rag.yaml", ".rag.yml", ".rag.json", ".rag.jsonl", ".rag.csv")
"""How the name of a file ends, in small letters or capitals, that is collected wherever it lies."""

_RESULT_QUESTIONS = "_questions.json"
"""How the name of a file ends that a run wrote; it is collected where it is given as an argument."""

DATASETS_PLUGIN = "ragcheck-datasets"
"""The name under which `plugin.datasets` is registered in a run that was given some."""

_INI_TYPES: dict[str, Any] = {"text": None, "words": "args", "lines": "linelist", "switch": "bool"}


_WRITTEN = {
    "text": "write one text",
    "words": "write texts separated by blanks, with both quotation marks around one that has a blank",
    "lines": "write one text a line",
    "switch": "write true or false",
}
"""What to write where pytest itself cannot read an ini value, by the option's kind."""


_PATHS = frozenset({"rag_output", "rag_baseline", "rag_replay", "rag_report", "rag_markdown"})


def add_options(parser: pytest.Parser) -> None:
    """Registers every option of `OPTIONS`, and its ini twin."""
    group = parser.getgroup("rag", "testing of RAG systems (pytest-ragcheck)")
    for option in OPTIONS:
        text = f"{option.help} Default: {option.default_shown}." if option.default_shown else option.help
        parser.addini(option.name, text, type=_INI_TYPES[option.kind], default=None)
        if not option.flag:
            continue
        if option.environment:
            text += f" Environment: {option.environment}."
        text = text.replace("%", "%%")
        if option.kind == "switch":
            group.addoption(option.switch, dest=option.name, action="store_true", default=None, help=text)
        else:
            action = "append" if option.kind == "words" else "store"
            group.addoption(option.switch, dest=option.name, metavar=option.metavar, action=action, help=text)


def check_given(config: pytest.Config) -> None:
    """
    Reads what the command line and the ini file say, so that a wrong value ends the run before it begins.

    A run that is given nothing pays nothing.
    """
    if given_options(config, {"rag_required", "rag_resume"}):
        settings_of(config)
        if not hasattr(config, "workerinput"):
            _tell_of_moved_root(config)


def _tell_of_moved_root(config: pytest.Config) -> None:
    from pytest_ragcheck.plugin.moved_root import moved_root  # noqa: PLC0415 - only where something is given

    if text := moved_root(config):
        try:
            config.issue_config_time_warning(pytest.PytestConfigWarning(f"ragcheck: {text}"), stacklevel=1)
        except pytest.PytestConfigWarning as warning:
            # Where warnings are errors; any other exception would be shown as a crash.
            raise pytest.UsageError(str(warning)) from None


def settings_of(config: pytest.Config) -> Settings:
    """The run's settings; they are read once."""
    if SETTINGS not in config.stash:
        from pytest_ragcheck.errors import UsageError  # noqa: PLC0415 - only where questions are
        from pytest_ragcheck.given import read_settings  # noqa: PLC0415 - as above

        own = names_of_own_metrics(config)
        try:
            config.stash[SETTINGS] = read_settings(given_options(config), folder=config.rootpath, own_metrics=own)
        except UsageError as error:
            raise pytest.UsageError(f"ragcheck: {error}") from None
    return config.stash[SETTINGS]


def names_of_own_metrics(config: pytest.Config) -> tuple[str, ...]:
    """What the users' own metrics measure, of those that pytest knows so far."""
    if not config.hook.pytest_ragcheck_metrics.get_hookimpls():
        return ()
    from pytest_ragcheck.plugin.metrics import own_metrics  # noqa: PLC0415 - only where there are some

    return tuple(name for metric in own_metrics(config) for name in metric.names)


def given_options(config: pytest.Config, leave_out: frozenset[str] | set[str] = frozenset()) -> dict[str, Given]:
    """By option name what was given on the command line, or else in the ini file, and where."""
    found = {option.name: _given(config, option) for option in OPTIONS if option.name not in leave_out}
    return {name: given for name, given in found.items() if given is not None}


def names_baseline(config: pytest.Config) -> bool:
    """Whether the run was given a baseline; what is in it is another matter."""
    return config.getoption("rag_baseline") is not None or config.getini("rag_baseline") is not None


def names_gate(config: pytest.Config) -> bool:
    """Whether the run was given a gate, or a baseline, which has one."""
    given = config.getoption("rag_gate") is not None or config.getini("rag_gate") is not None
    return given or names_baseline(config)


def names_shard(config: pytest.Config) -> bool:
    """Whether the run is one part of several."""
    return config.getoption("rag_shard") is not None or config.getini("rag_shard") is not None


def names_dataset(config: pytest.Config) -> bool:
    """Whether the run was given a dataset; whether there is such a one is another matter."""
    return bool(config.getoption("rag_dataset") or config.getini("rag_dataset"))


def is_dry_run(config: pytest.Config) -> bool:
    """Whether questions are only to be counted."""
    return bool(config.getoption("rag_dry_run") or config.getini("rag_dry_run"))


def is_question_file(session: pytest.Session, path: Path) -> bool:
    """Whether pytest is to collect the file as questions."""
    argument, name = session.isinitpath(path), path.name.lower()
    if argument and name.endswith(_RESULT_QUESTIONS):
        return True
    if not name.endswith(QUESTION_FILES):
        patterns = session.config.getini("rag_question_files")
        if not patterns or not any(path.match(pattern) for pattern in patterns):
            return False
    try:
        output = settings_of(session.config).output
    except pytest.UsageError:
        return True  # and where the file is read, the error is said
    # What was written there is no question file of the user's, unless the user names it.
    if session.config.rootpath.is_relative_to(output):
        # The whole project lies in it, so that only the names tell.
        return argument or path.parent != output or not name.endswith(_RESULT_QUESTIONS)
    return argument or not path.is_relative_to(output)


def is_question_of(config: pytest.Config, node_id: str) -> bool:
    """Whether the node id looks like that of a question in a question file, or in one of the run's datasets."""
    datasets: Datasets | None = config.pluginmanager.get_plugin(DATASETS_PLUGIN)
    return is_question_id(node_id) or (datasets is not None and node_id.partition("::")[0] in datasets.names)


def is_question_id(node_id: str) -> bool:
    """Whether the node id looks like that of a question in a question file."""
    return node_id.partition("::")[0].lower().endswith((*QUESTION_FILES, _RESULT_QUESTIONS))


def _given(config: pytest.Config, option: Option) -> Given | None:
    value = config.getoption(option.name, default=None) if option.flag else None
    origin = option.switch
    if option.name in _PATHS and value and value.strip():
        # What is typed is relative to where it is typed; what is configured, to the root.
        value = _typed_path(config.invocation_params.dir, value)
    if option.name == "rag_dataset" and value:
        value = [_seen_from(config.invocation_params.dir, text) for text in value]
    if value is None:
        value, origin = _ini_value(config, option)
    if value is None:
        return None
    from pytest_ragcheck.given import Given  # noqa: PLC0415 - only where something is given

    return Given(value, origin)


def _typed_path(folder: Path, text: str) -> str:
    """The path, or that in `git:REV:PATH`, as it is meant by whoever types it in the folder."""
    from pytest_ragcheck.baseline_place import BaselinePlace  # noqa: PLC0415 - only where a path is given

    place = BaselinePlace.from_text(text)
    return str(place.seen_from(folder)) if place.path else text


def _seen_from(folder: Path, choice: str) -> str:
    """`NAME=PATH` as it reads when it is typed in the folder."""
    name, equals, path = choice.partition("=")
    if not path.strip():
        return choice
    from pathlib import Path  # noqa: PLC0415 - only for whoever gives a dataset

    return f"{name}{equals}{folder / Path(path.strip()).expanduser()}"


def _ini_value(config: pytest.Config, option: Option) -> tuple[Any, str]:
    overridden = any(each.partition("=")[0] == option.name for each in config.getoption("override_ini") or ())
    place = config.inipath.name if config.inipath else "the ini file"
    origin = f"-o {option.name}" if overridden else f"{option.name} in {place}"
    try:
        return config.getini(option.name), origin
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise pytest.UsageError(f"ragcheck: {origin}: {error}; {_WRITTEN[option.kind]}") from None
