"""Makes a baseline with the answers of several runs from predictions files."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores import DEMANDED, MUST_NOT_RETRIEVE, PROHIBITIONS
from pytest_ragcheck.summary.gate.comparability import other_settings_of_rows
from pytest_ragcheck.summary.gate.saved_answer import OF_THE_LATEST_ANSWER, context_digest
from pytest_ragcheck.summary.predictions_reader import Fields, Key, key_of
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow

_DOCUMENT_KEYS = ("schema_version", "agent_name", "dataset_name", "complete")
_ROW_KEYS = ("question_id", "dataset_name", "question", "thresholds", "tier", "top_k")
_ANSWER_KEYS = (
    "verdict", "prediction", "source_ids", "metrics", "judgement", "judge", "latency_seconds", "labels",
    "earlier_turns",
)  # fmt: skip


@frozen
class BaselineFile:
    """A predictions file or a baseline, as its JSON document and as read."""

    document: Mapping[str, Any]
    runs: Baseline
    gone: Set[Key] = frozenset()
    """The questions of the baseline that the run would have if they still existed."""


def baseline_documents(
    now: BaselineFile,
    earlier: BaselineFile | None,
    contexts: Mapping[str, str],
    accepted: Collection[Key] | None = None,
    left_out: Collection[Key] = (),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    The document of the baseline with the run added, and the document of its contexts.

    A question keeps its earlier runs if its text and its settings are the same, if it is an ERROR in the run, and if it
    was not run. A question that is gone is dropped. The looks at a question are in the order in which they were asked,
    and the look of a saved ask is replaced.

    *now* is the run, *earlier* the baseline that is extended, and *contexts* has its texts by digest. With *accepted*,
    only these questions are taken from the run, without their earlier runs unless both answers break a prohibition.
    The rows of the questions that are *left_out* stay.
    """
    old, recorded = (earlier.document, earlier.runs.rows) if earlier else ({}, {})
    measured, before = _by_key(now.document), _by_key(old)
    texts = dict(contexts)
    rows: list[Mapping[str, Any]] = []
    for key in {**before, **measured}:
        if key in measured and key not in left_out and (accepted is None or key in accepted):
            row = now.runs.rows[key]
            continues = (
                key in before
                and _is_comparable(row, recorded[key])
                # Each accepted leak is a known one, also if the system alternates between them.
                and (accepted is None or (_leaks(row) and _leaks(recorded[key])))
            )
            given = {"asked_at": now.runs.timestamp, **measured[key]}
            rows.append(_row(given, row, before[key] if continues else {}, texts))
        elif key in before and key not in (now.gone if accepted is None else accepted):
            rows.append(before[key])
    return _documents(now.document, old, rows, texts)


def asked_in(now: BaselineFile, earlier: BaselineFile) -> dict[Key, bool]:
    """For each question that can be compared, whether a saved run has the ask, as after a replay."""
    rows, recorded, before = now.runs.rows, earlier.runs.rows, _by_key(earlier.document)
    return {
        key: given.get("asked_at") in before[key].get("asked", ())
        for key, given in _by_key(now.document).items()
        if key in before and _is_comparable(rows[key], recorded[key])
    }


def passed_again(now: BaselineFile, earlier: BaselineFile) -> set[Key]:
    """The questions that failed in the run and then passed when asked again, unless they broke a prohibition."""
    measured, rows = _by_key(now.document), now.runs.rows
    again = {key for key in asked_in(now, earlier) if "PASS" in measured[key].get("asked_again", ())}
    return {key for key in again if rows[key].verdict is Verdict.FAIL and not _leaks(rows[key])}


def differing(now: BaselineFile, earlier: BaselineFile, confirmed: Collection[str]) -> list[Key]:
    """
    The questions that accepting the run would add to the baseline, change in it or remove from it.

    Those that the gate *confirmed*, as `DATASET::ID`, may have answers that failed in a saved run too.
    """
    measured, before = _by_key(now.document), _by_key(earlier.document)
    rows, recorded = now.runs.rows, earlier.runs.rows
    metrics = {*DEMANDED, *(metric for row in rows.values() for metric in row.metrics)}
    return [
        *(
            key
            for key, given in measured.items()
            if key not in before
            or not _is_recorded(given, before[key])
            or not _is_comparable(rows[key], recorded[key])
            or ("::".join(key) in confirmed and before[key].get("asked") != [given.get("asked_at")])
            or not recorded[key].metrics.keys() <= metrics
        ),
        *(key for key in before if key in now.gone),
    ]


def _is_recorded(given: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    answer = _full_answer(given, {})
    return any(
        _identity(each) == _identity(answer)
        and each["verdict"] == answer["verdict"]
        and given["thresholds"].keys() <= each["metrics"].keys()
        for each in known.get("answers", ())
    )


def _is_comparable(row: BaselineRow, recorded: BaselineRow) -> bool:
    # True if the gate would compare the rows; otherwise the new one replaces the recorded one.
    return row.question == recorded.question and not other_settings_of_rows(recorded, row)


def _leaks(row: BaselineRow) -> bool:
    return any(row.metrics.get(metric, 1.0) < 1 for metric in PROHIBITIONS)


def _by_key(document: Mapping[str, Any]) -> dict[Key, Mapping[str, Any]]:
    return {key_of(row): row for row in document.get("predictions", ())}


def _row(given: Mapping[str, Any], now: BaselineRow, known: Mapping[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    answers, runs = _answers_and_runs(known)
    asked = [*known.get("asked", ("",) * len(runs))]
    looks, replaced = [_full_answer(given, texts), *_further_looks(now)], []
    if given["asked_at"] in filter(None, asked):
        place = asked.index(given["asked_at"])
        replaced = [answers[each] for each in runs.pop(place)]
        # A replay has no further looks, and the history counts the first ones.
        looks += replaced[1:] if len(looks) == 1 else []
    else:
        place = bisect(asked, given["asked_at"])
        asked.insert(place, given["asked_at"])
    runs.insert(place, [_index_of(answer, answers) for answer in looks])
    latest = answers[runs[-1][0]]
    if place == len(runs) - 1:
        of_latest = {name: given[name] for name in OF_THE_LATEST_ANSWER if given.get(name) != latest.get(name)}
        head = {**{name: given[name] for name in _ROW_KEYS if name in given}, **of_latest, **_prompt(given)}
    else:
        # The baseline has a later run of the question.
        head = {name: known[name] for name in (*_ROW_KEYS, *OF_THE_LATEST_ANSWER, "prompt_version") if name in known}
    counts = {"passes": now.passes, "fails": now.fails}
    if replaced:
        gained = (answers[runs[place][0]]["verdict"] == "PASS") - (replaced[0]["verdict"] == "PASS")
        counts = {"passes": gained, "fails": -gained}
    history = {name: max(0, known.get("history", {}).get(name, 0) + n) for name, n in counts.items()}
    return {**head, "history": history, "answers": answers, "runs": runs, "asked": asked}


def _prompt(given: Mapping[str, Any]) -> dict[str, Any]:
    version = given.get("prompt_version")
    return {} if version == (given.get("judge") or {}).get("prompt_version") else {"prompt_version": version}


def _documents(
    document: Mapping[str, Any],
    earlier: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    texts: Mapping[str, str],
) -> tuple[dict[str, Any], dict[str, Any]]:
    ends = sorted({*(earlier and earlier.get("runs", (earlier["timestamp"],))), document["timestamp"]})
    compact = {
        **{name: document[name] for name in _DOCUMENT_KEYS if name in document},
        "num_examples": len(rows),
        "timestamp": ends[-1],
        "runs": ends,
        "predictions": rows,
        "errors": [],
    }
    used = {digest for row in rows for answer in row.get("answers", ()) for digest in answer.get("contexts") or ()}
    return compact, {"contexts": {digest: texts[digest] for digest in sorted(used & texts.keys())}}


def _answers_and_runs(known: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[list[int]]]:
    # The distinct answers of the earlier runs, and for each run the indexes of its answers.
    if "answers" in known:
        return list(known["answers"]), list(map(list, known["runs"]))
    if not known:
        return [], []
    # An earlier version kept the scores only.
    return [{name: known[name] for name in ("verdict", "metrics", "judge") if name in known}], [[0]]


def _full_answer(given: Mapping[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    digests = list(map(context_digest, given.get("contexts", ())))
    texts.update(zip(digests, given.get("contexts", ()), strict=True))
    answer = {name: given[name] for name in _ANSWER_KEYS if given.get(name) is not None} | {"contexts": digests}
    if claims := given.get("unsupported_claims"):
        answer["unsupported_claims"] = claims
    ids = Fields(given, "").server_ids() or ()
    if any(each in (given.get("prediction") or "") for each in ids):
        answer["metadata"] = {"server_source_ids": list(ids)}
    return answer


def _further_looks(row: BaselineRow) -> list[dict[str, Any]]:
    # The further looks of the run without answers: requests of the gate, and deviating repeats.
    return [
        {
            "verdict": "PASS" if look.passed else "FAIL",
            "metrics": {metric: value for metric, value in look.scores.items() if metric in row.thresholds},
        }
        for look in row.answers[1:]
    ]


def _index_of(answer: dict[str, Any], answers: list[dict[str, Any]]) -> int:
    # The index of the answer after adding it, or its missing scores to a known one.
    identity = _identity(answer)
    for place, known in enumerate(answers):
        if _identity(known) == identity:
            answers[place] = {**known, "metrics": {**answer["metrics"], **known["metrics"]}}
            return place
    answers.append(answer)
    return len(answers) - 1


def _identity(answer: Mapping[str, Any]) -> list[Any]:
    # Without its answers a baseline keeps no contexts either; in the tier retrieval the contexts are the reply.
    is_kept = answer.get("prediction") is not None or answer.get("contexts") is not None
    same = ("prediction", "contexts", "labels", "judge", "earlier_turns") if is_kept else ("verdict", "metrics")
    # Another id of a context may be that of another forbidden document.
    ids = ("source_ids",) if MUST_NOT_RETRIEVE in answer["metrics"] else ()
    return list(map(answer.get, (*same, *ids)))
