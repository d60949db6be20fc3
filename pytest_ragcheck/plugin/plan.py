"""Which questions of a session can be asked before their items come to them, and why the others cannot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.plugin.collection import QuestionItem, question_of
from pytest_ragcheck.plugin.keys import EVALUATED_WITH

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.settings import Settings

Source = tuple["Path | None", ...]
"""For each fixture of `EVALUATED_WITH` the folder whose conftest.py overrides it; None for the plugin's own."""

MAY_BE_SKIPPED = "the item may be skipped"
PARAMETRIZED = "the item is parametrized"
OWN_FIXTURES = "the test, its class or its module may have fixtures of its own"
CHANGED = "rag_question or rag_result is overridden"
SWITCHED_OFF = "rag_read_ahead is off"
NARROW = "rag_client, rag_judge or rag_settings is not of session scope"
OTHER_MEANS = "rag_client, rag_judge or rag_settings was another than expected"
AGAIN = "the item ran before"
CALLED = "rag_check was called"

_NOT_ASKED = ("skip", "skipif")
_CHANGED_BY = ("rag_question", "rag_result")
"""An override of one of these does something to the question that cannot be known before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """With what a question is evaluated."""

    client: Any
    judge: Judge | None
    settings: Settings

    def are(self, other: Means) -> bool:
        """Whether they are the very same objects."""
        return self.client is other.client and self.judge is other.judge and self.settings is other.settings

    def are_lasting(self, set_up: Mapping[pytest.FixtureDef[Any], int]) -> bool:
        """
        Whether they live as long as the session, and other items of the folder have the same.

        One of a narrower scope may hand on what it overrides, to some of its items only. While it is set up, no item
        runs that has the same value without it.

        Args:
            set_up: The fixtures that are set up while the item runs whose means these are, with their values' ids.
        """
        for name, value in zip(EVALUATED_WITH, (self.client, self.judge, self.settings), strict=True):
            scopes = {
                fixture.scope for fixture, given in set_up.items() if (fixture.argname, given) == (name, id(value))
            }
            if scopes != {"session"}:
                return False
        return True


@dataclass(frozen=True, slots=True)
class Planned:
    """A question that can be asked as soon as its source's means are known."""

    question: Question
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The questions of a session by node id, in pytest's order."""

    ahead: dict[str, Planned]
    """Those whose means a session-scoped fixture may give."""

    on_demand: Mapping[str, str]
    """Why each other one is asked when its item runs."""


def plan(session: pytest.Session, *, switched_off: str = "") -> Plan:
    """
    What is read ahead in the session.

    Args:
        session: After its collection.
        switched_off: Why nothing is; empty where something may be.
    """
    folders = [_folders_with(session.config, name) for name in EVALUATED_WITH]
    changing = frozenset().union(*(_folders_with(session.config, name) for name in _CHANGED_BY))
    ahead: dict[str, Planned] = {}
    on_demand: dict[str, str] = {}

    @cache
    def found_for(path: Path) -> tuple[bool, Source]:
        """Of a file, which may have thousands of items: whether its questions are changed, and their source."""
        return _nearest(path, changing) is not None, tuple(_nearest(path, where) for where in folders)

    for item in session.items:
        question = question_of(item)
        if question is None:
            continue
        changed, source = found_for(item.path)
        why = switched_off or (CHANGED if changed else _why_special(item))
        if why:
            on_demand[item.nodeid] = why
        else:
            ahead[item.nodeid] = Planned(question, source)
    return Plan(ahead=ahead, on_demand=on_demand)


def _why_special(item: pytest.Item) -> str:
    """Why the item may not run at all, or may have fixtures that its folder does not show; empty for any other."""
    if any(item.get_closest_marker(mark) for mark in _NOT_ASKED):
        return MAY_BE_SKIPPED
    callspec = getattr(item, "callspec", None)
    if isinstance(item, QuestionItem):
        return PARAMETRIZED if callspec is not None else ""
    if callspec is not None and callspec.params.keys() != {"rag_question"}:
        return PARAMETRIZED
    homes = (getattr(item, "module", None), getattr(item, "cls", None))
    own = any(hasattr(home, name) for home in homes for name in (*EVALUATED_WITH, *_CHANGED_BY))
    return OWN_FIXTURES if own or "rag_result" not in getattr(item, "fixturenames", ()) else ""


def _folders_with(config: pytest.Config, fixture: str) -> frozenset[Path]:
    """The folders whose conftest.py has something of the fixture's name."""
    return frozenset(
        Path(plugin.__file__).parent
        for plugin in config.pluginmanager.get_plugins()
        if Path(getattr(plugin, "__file__", None) or "").name == "conftest.py" and hasattr(plugin, fixture)
    )


def _nearest(path: Path, folders: frozenset[Path]) -> Path | None:
    return next((folder for folder in path.parents if folder in folders), None)
