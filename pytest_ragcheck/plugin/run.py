"""What one pytest process knows of the run: the questions that were collected, and what became of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.plugin.keys import OVER_BUDGET, RUN
from pytest_ragcheck.plugin.processes import own_suffix
from pytest_ragcheck.questions.wire import set_from_wire, set_to_wire
from pytest_ragcheck.record import Record, sharing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pytest

    from pytest_ragcheck.documents.outcome import Documents
    from pytest_ragcheck.questions.question import Question, QuestionSet
    from pytest_ragcheck.summary.gate import Decision


@dataclass(slots=True, eq=False)
class Run:
    """The questions of a run by dataset, the node ids that run them, and their records as they come in."""

    root: Path
    """Of the pytest run."""

    suffix: str = ""
    """What the names of this process's datasets end in, where others run the same questions; else empty."""

    sets: dict[str, QuestionSet] = field(default_factory=dict)
    """By dataset name the questions that some item runs, or would if it were not deselected."""

    selected: dict[str, Question] = field(default_factory=dict)
    """By node id the question that it runs; deselected ones are not in it."""

    tags: set[str] = field(default_factory=set)
    """Tags that were registered as markers."""

    told: bool = False
    """Whether the controller was told what was collected."""

    begun: bool = False
    """Whether a process of the run came to a first question."""

    cut_short: str = ""
    """Why there may be questions that nobody counted, as calls of deselected tests; empty where there are none."""

    unfinished: str = ""
    """Why pytest did not come to all of its items; empty where it did."""

    documents: Documents | None = None
    """What became of the documents that were put into the system; None where none were."""

    over_budget: int = 0
    """How many items were not run because the run had cost what it may."""

    comparison: list[str] = field(default_factory=list)
    """How the run compares with the baseline, in lines; empty without one."""

    decision: Decision | None = None
    """What the gate makes of the run; None where there is no gate, or the run did not come to its end."""

    out_of_reach: frozenset[tuple[str, str]] = frozenset()
    """Dataset name and id of what the baseline of a shard has and this run was not asked to collect."""

    notes: list[str] = field(default_factory=list)
    """What the user is to know of the run beside its results, each once."""

    untold: list[str] = field(default_factory=list)
    """Notes of this process that no report has taken yet."""

    resumed: set[tuple[str, str]] = field(default_factory=set)
    """Dataset name and id of the questions that an earlier run had asked."""

    records: dict[tuple[str, str], Record] = field(default_factory=dict)
    """By dataset name and id, in the order in which they came."""

    on_demand: dict[tuple[str, str], str] = field(default_factory=dict)
    """By dataset name and id of a record why it was not asked ahead; empty where it was."""

    skipped: set[str] = field(default_factory=set)
    xfailed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    """Node ids as pytest says of their items, with the text of a failure; they may run no question."""

    _read: dict[str, QuestionSet] = field(default_factory=dict, init=False)
    _last: Record | None = field(default=None, init=False)
    _node_keys: dict[str, list[tuple[str, str]]] = field(default_factory=dict, init=False)

    def add(self, questions: QuestionSet) -> None:
        """
        Takes the questions of a file, or of a test that uses the file.

        Raises:
            QuestionFileError: Another file has the same dataset name.
        """
        known = self._read.setdefault(questions.dataset_name, questions)
        if known.path != questions.path:
            problem = (
                f"{self.shown(questions.path)}:1: the dataset name {questions.dataset_name!r} is also that of "
                f"{self.shown(known.path)}. {_to_tell_apart(questions, known)}"
            )
            raise QuestionFileError(questions.path, [problem])

    def use(self, question: Question, variant: str) -> Question:
        """
        The question as an item of the variant runs it: one of a dataset of the variant's own, such as
        `billing[Paris]`, so that no variant's record is lost to another's.
        """
        name = question.dataset_name + variant + self.suffix
        if name not in self.sets:
            self.sets[name] = renamed(self._read[question.dataset_name], name)
        return question if name == question.dataset_name else replace(question, dataset_name=name)

    def tell(self) -> str:
        """What was collected, as one ASCII JSON string for the controller."""
        self.told = True
        return json.dumps(
            {
                "sets": [set_to_wire(questions) for questions in self.sets.values()],
                "selected": {node + self.suffix: [q.dataset_name, q.id] for node, q in self.selected.items()},
                "cut_short": self.cut_short,
            }
        )

    def hear(self, text: str) -> None:
        """Takes what a worker told of what it collected."""
        told = json.loads(text)
        for wire in told["sets"]:
            if wire["dataset_name"] not in self.sets:
                self.sets[wire["dataset_name"]] = set_from_wire(wire)
        by_key = {(q.dataset_name, q.id): q for s in self.sets.values() for q in s.questions}
        self.selected |= {node: by_key[dataset, name] for node, (dataset, name) in told["selected"].items()}
        self.cut_short = self.cut_short or told["cut_short"]

    def take(self, record: Record, node_id: str, *, on_demand: str = "", resumed: bool = False) -> None:
        """
        Takes a record of the item; a later one of the same question replaces it.

        Args:
            record: Of one question.
            node_id: Of the item that has recorded it.
            on_demand: Why it was not asked ahead; empty where it was.
            resumed: Whether an earlier run had asked it.
        """
        key = (record.question.dataset_name, record.question.id)
        known = self.selected.get(node_id)
        # A record that came from another process, or as its text, brought a question of its own.
        record = replace(record, question=known) if known == record.question else record
        self.records[key] = self._last = record if self._last is None else sharing(record, self._last)
        self.on_demand[key] = on_demand
        self.resumed -= {key}
        self.resumed |= {key} if resumed else set()
        self._node_keys.setdefault(node_id, []).append(key)

    def tell_user(self, note: str) -> None:
        """Has the user read the note at the end of the run, once, whichever process tells it and however often."""
        if note not in self.untold:
            self.untold.append(note)

    def note_all(self, notes: Iterable[str]) -> None:
        """Takes what processes of the run told."""
        self.notes += [note for note in dict.fromkeys(notes) if note not in self.notes]

    def forget(self, node_id: str) -> None:
        """Drops what is known of an item that runs once more."""
        for key in self._node_keys.pop(node_id, ()):
            self.records.pop(key, None)

    def keys_of(self, node_id: str) -> list[tuple[str, str]]:
        """Dataset name and id of the questions that the item recorded."""
        return self._node_keys.get(node_id, [])

    def note(
        self,
        node_id: str,
        *,
        skipped: bool = False,
        xfailed: bool = False,
        failure: str = "",
        over_budget: bool = False,
    ) -> None:
        """Notes what pytest says of an item, whether or not it runs a question."""
        if xfailed:
            self.xfailed.add(node_id)
        if over_budget:
            self.over_budget += 1
            self.cut_short = OVER_BUDGET
        elif skipped:
            self.skipped.add(node_id)
        if failure:
            self.failed.setdefault(node_id, failure)

    @property
    def ran(self) -> bool:
        """Whether any question came to an end, well or badly, or would have if nobody had stopped the run."""
        if self.begun and self.unfinished:
            return True
        return bool(self.records) or self.over_budget > 0 or any(node in self.selected for node in self.failed)

    def shown(self, path: Path) -> Path:
        """The path as it is shown: below the root relative to it."""
        return path.relative_to(self.root) if path.is_relative_to(self.root) else path


def _to_tell_apart(one: QuestionSet, other: QuestionSet) -> str:
    if all(questions.path.suffix in (".jsonl", ".csv") for questions in (one, other)):
        return "Rename one of the two: files of lines have no place for a dataset_name."
    return "Give one of them another dataset_name."


def renamed(questions: QuestionSet, name: str) -> QuestionSet:
    """The same questions as a set of that name; the set itself where it has it."""
    if name == questions.dataset_name and all(question.dataset_name == name for question in questions.questions):
        return questions
    of_name = tuple(replace(question, dataset_name=name) for question in questions.questions)
    return replace(questions, dataset_name=name, questions=of_name)


def run_of(config: pytest.Config) -> Run:
    """The process's run; it begins when something first asks for it."""
    if RUN not in config.stash:
        config.stash[RUN] = Run(config.rootpath, suffix=own_suffix(config))
    return config.stash[RUN]
