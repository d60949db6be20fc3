from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta, timezone
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from pytest_ragcheck._version import __version__
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import digest_of
from pytest_ragcheck.questions.question import QuestionSet
from pytest_ragcheck.questions.question_rows import question_row, set_from_wire, set_to_wire
from pytest_ragcheck.rag.documents.uploads import Documents
from pytest_ragcheck.summary.judge_calibration import agreement_of
from pytest_ragcheck.summary.predictions_reader import naming, read_json
from pytest_ragcheck.summary.result_schemas import schema_mistakes
from pytest_ragcheck.summary.run_outcomes import GateRules, Outcomes, Reach
from pytest_ragcheck.verdict.record import record_of

_GIVE = "Give the folders that all shards of one run wrote."
_PLAIN = ("session_name", "replay_of", "cut_short", "stopped", "skipped", "on_demand", "thresholds", "baseline")
_RUN_ALIKE = "Run all shards on the same commit and with the same settings."


@frozen
class Shard:
    path: Path
    number: int
    """From 1."""

    count: int
    same: Mapping[str, Any]
    """What all shards of a run must share, by its name in messages."""

    outcomes: Outcomes

    @property
    def name(self) -> str:
        return f"shard {self.number} of {self.count}"


def shard_name(agent: str, number: int, count: int) -> str:
    return f"{agent}.shard-{number}-of-{count}.json"


def shard_document(outcomes: Outcomes) -> dict[str, Any]:
    """The JSON document that `read_shard` reads, with an iterator over the records."""
    number, count = outcomes.shard or (1, 1)
    return {
        "shard": {"number": number, "count": count},
        "ended": outcomes.timestamp.timestamp(),
        "same": _same(outcomes),
        **{name: getattr(outcomes, name) for name in _PLAIN},
        "failed_otherwise": outcomes.failed_otherwise,
        "excused": [[*key, why] for key, why in sorted(outcomes.excused.items())],
        "reach": outcomes.reach.to_row(),
        "agreements": [{**asdict(each), "path": str(each.path)} for each in outcomes.agreements],
        "documents": asdict(outcomes.documents) if outcomes.documents is not None else None,
        "sets": list(map(set_to_wire, outcomes.sets)),
        "records": (json.loads(record.to_json()) for record in outcomes.records),
    }


def read_shard(path: Path) -> Shard:
    """
    The shard in a file.

    Raises:
        UsageError: The file is not a shard of this version.
    """
    with naming(path):
        document = read_json(path.read_bytes, _GIVE)
    same = document.get("same") if isinstance(document, dict) else None
    wrote = same.get("pytest-ragcheck") if isinstance(same, dict) else None
    if isinstance(wrote, str) and wrote != __version__:
        raise UsageError(
            f"{path}: pytest-ragcheck {wrote} wrote it, and this is {__version__}. Use one version for all."
        )
    for mistake in _mistakes(document):
        raise UsageError(f"{path}: {mistake}. {_GIVE}")
    number, count = document["shard"]["number"], document["shard"]["count"]
    return Shard(path=path, number=number, count=count, same=same or {}, outcomes=_outcomes(document))


def _mistakes(document: Any) -> Iterator[str]:
    yield from schema_mistakes("shard", document)
    asked: set[tuple[str, str]] = set()
    for number, questions in enumerate(document["sets"]):
        for q in questions["questions"]:
            if q["dataset_name"] != questions["dataset_name"]:
                yield f"sets[{number}]: question {q['id']!r} is of another dataset, {q['dataset_name']!r}"
            asked.add((q["dataset_name"], q["id"]))
    for number, row in enumerate(document["records"]):
        key = (row["question"]["dataset_name"], row["question"]["id"])
        if key not in asked:
            yield f"records[{number}].question: {'::'.join(key)!r} is not among the sets, or has two records"
        asked.discard(key)


def merged(shards: Sequence[Shard], *, timestamp: datetime) -> Outcomes:
    """
    The outcomes of the whole run, from every shard once.

    Raises:
        UsageError: A shard is missing, occurs twice, or belongs to another run.
    """
    ordered = _checked(shards)
    parts = [shard.outcomes for shard in ordered]
    sets = _with_calls([part.sets for part in parts])
    order = {q.key: n for n, q in enumerate(q for s in sets for q in s.questions)}
    records = [record for part in parts for record in part.records]
    documents = [part.documents for part in parts if part.documents]
    outcomes = replace(
        parts[0],
        timestamp=timestamp,
        shard=None,
        sets=sets,
        records=tuple(sorted(records, key=lambda r: order[r.question.key])),
        skipped=_added(part.skipped for part in parts),
        on_demand=_added(part.on_demand for part in parts),
        documents=reduce(add, documents) if documents else None,
        thresholds={metric: minimum for part in parts for metric, minimum in part.thresholds.items()},
        excused={key: why for part in parts for key, why in part.excused.items()},
        cut_short=_joined(part.cut_short for part in parts),
        stopped=_joined(part.stopped for part in parts),
        failed_otherwise=tuple(sorted({node for part in parts for node in part.failed_otherwise})),
    )
    whole = outcomes.not_run == 0 and not outcomes.cut_short
    return replace(outcomes, complete=whole, reach=_common([part.reach for part in parts], whole=whole))


def much_older(shards: Sequence[Shard]) -> list[Shard]:
    """The shards that ended more than a day before the last one."""
    last = max(shard.outcomes.timestamp for shard in shards)
    return [shard for shard in shards if last - shard.outcomes.timestamp > timedelta(days=1)]


def _same(outcomes: Outcomes) -> dict[str, Any]:
    # Only the shard of its test has the question of a `rag_check` call.
    asked = [
        (each.dataset_name, [question_row(q) for q in each.questions if q.path is None or q.path.suffix != ".py"])
        for each in outcomes.sets
    ]
    return {
        "pytest-ragcheck": __version__,
        "agent": outcomes.agent_name,
        "questions": digest_of([each for each in asked if each[1]])[:16],
        "metrics": list(outcomes.groups),
        "gate": asdict(outcomes.rules),
        # Each machine may have its own servers, and each test its own client.
        **{name: each for name, each in outcomes.settings.items() if not name.endswith(("_url", "_replay", "_shard"))},
        **{
            f"system of {each.question.dataset_name}": each.endpoint
            for each in outcomes.records
            if each.endpoint and "://" not in each.endpoint and not str(each.question.path).endswith(".py")
        },
    }


def _joined(reasons: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def _common(reaches: Sequence[Reach], *, whole: bool) -> Reach:
    # A part of the tests reaches only the questions that the gate of each shard missed.
    searched = [each for each in reaches[0].searched if whole or not each.endswith("*")]
    return replace(
        reaches[0],
        searched=tuple(each for each in searched if all(each in reach.searched for reach in reaches)),
        left_out=tuple(sorted({each for reach in reaches for each in reach.left_out})),
    )


def _outcomes(document: Mapping[str, Any]) -> Outcomes:
    same = document["same"]
    return Outcomes(
        agent_name=same["agent"],
        **{name: document[name] for name in _PLAIN},
        timestamp=datetime.fromtimestamp(document["ended"], timezone.utc),
        sets=tuple(map(set_from_wire, document["sets"])),
        records=tuple(map(record_of, document["records"])),
        complete=False,
        groups=tuple(same["metrics"]),
        failed_otherwise=tuple(document["failed_otherwise"]),
        excused={(dataset_name, name): why for dataset_name, name, why in document["excused"]},
        reach=Reach.from_row(document["reach"]),
        rules=GateRules(**same["gate"]),
        agreements=tuple(agreement_of(Path(each["path"]), each) for each in document["agreements"]),
        documents=None if document["documents"] is None else Documents.from_row(document["documents"]),
    )


def _checked(shards: Sequence[Shard]) -> list[Shard]:
    # The shards in order, if each is there once and all belong to one run.
    first = shards[0]
    by_number: dict[int, Shard] = {}
    for shard in shards:
        differs = [
            f"{name} {value} and {shard.same[name]}"
            for name, value in first.same.items()
            if shard.same.get(name, value) != value
        ]
        if shard.count != first.count:
            raise UsageError(f"{first.path} is of {first.count} shards and {shard.path} of {shard.count}. {_GIVE}")
        if differs:
            raise UsageError(f"{first.path} and {shard.path} are of different runs: {'; '.join(differs)}. {_RUN_ALIKE}")
        known = by_number.setdefault(shard.number, shard)
        if known is not shard:
            raise UsageError(f"{known.path} and {shard.path} are both shard {shard.number}. Give each once.")
    _check_disjoint(by_number.values())
    missing = [str(number) for number in range(1, first.count + 1) if number not in by_number]
    if missing:
        raise UsageError(f"of {first.count} shards, {', '.join(missing)} is missing. {_GIVE}")
    return [by_number[number] for number in sorted(by_number)]


def _check_disjoint(shards: Iterable[Shard]) -> None:
    # Refuse a question that two shards ran, as happens if pytest-split uses different durations.
    known: dict[tuple[str, str], Shard] = {}
    for shard in shards:
        for record in shard.outcomes.records:
            key = record.question.key
            other = known.setdefault(key, shard)
            if other is not shard:
                raise UsageError(
                    f"{other.path} and {shard.path} both have {'::'.join(key)}. Split the tests alike on all machines; "
                    "pytest-split needs the same durations file everywhere."
                )


def _with_calls(each: Sequence[tuple[QuestionSet, ...]]) -> tuple[QuestionSet, ...]:
    # The sets of all shards; each shard has all questions of files, and its own `rag_check` calls.
    sets: dict[str, QuestionSet] = {}
    for questions in (questions for part in each for questions in part):
        known = sets.setdefault(questions.dataset_name, questions)
        ids = {question.id for question in known.questions}
        further = tuple(question for question in questions.questions if question.id not in ids)
        if further:
            calls = sorted((*known.questions, *further), key=lambda question: (question.line or 0, question.id))
            sets[questions.dataset_name] = replace(known, questions=tuple(calls))
    return tuple(sets.values())


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    return dict(sum(map(Counter, counts), Counter[str]()))


def find_shards(folders: Iterable[Path]) -> Iterator[Path]:
    """
    The shard files in the folders.

    Raises:
        UsageError: A folder has no shard.
    """
    for folder in folders:
        found = sorted(folder.rglob("*.shard-*-of-*.json")) if folder.is_dir() else []
        if not found:
            raise UsageError(f"{folder}: it has no shard file ({{agent}}.shard-I-of-N.json). {_GIVE}")
        yield from found
