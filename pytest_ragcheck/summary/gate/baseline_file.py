"""Makes a baseline with the answers of several runs from predictions files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.scores.catalogue import DEMANDED
from pytest_ragcheck.summary.gate.recorded.saved_answer import text_digest
from pytest_ragcheck.summary.gate.recorded.saved_runs import OF_THE_LATEST_ANSWER
from pytest_ragcheck.summary.predictions_reader import Key, judge_name, key_of

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow

_KEPT = ("schema_version", "agent_name", "dataset_name", "complete")
_OF_A_ROW = ("question_id", "dataset_name", "question", "thresholds", "tier", "top_k")
_OF_AN_ANSWER = ("verdict", "prediction", "source_ids", "metrics", "judgement", "judge", "latency_seconds", "labels")


def baseline_documents(
    document: Mapping[str, Any],
    now: Baseline,
    earlier: Mapping[str, Any] | None,
    recorded: Mapping[Key, BaselineRow],
    contexts: Mapping[str, str],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Return the document of the baseline with the run added, and the document of its contexts.

    A question that is an ERROR in the run keeps the runs that the baseline has.

    *document* is the predictions file of the run, and *now* the same file, read. *earlier* is the baseline that is
    extended, and *recorded* its rows; the runs stay for each question with the same text and settings. *contexts* has
    the texts of its contexts by digest.
    """
    before = _by_key((earlier or {}).get("predictions", ()))
    texts = dict(contexts)
    rows: list[Mapping[str, Any]] = []
    for key, given in _by_key(document["predictions"]).items():
        known = before.get(key, {})
        same = known.get("question") == given["question"] and _has_same_settings(now.rows[key], recorded[key])
        rows.append(_row(given, now.rows[key], known if same else {}, texts))
    rows += [before[key] for key in _by_key(document["errors"]) if key in before]
    return _documents(document, earlier, rows, texts)


def accepted_documents(
    document: Mapping[str, Any],
    now: Baseline,
    earlier: Mapping[str, Any],
    contexts: Mapping[str, str],
    accepted: Collection[Key],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Return the document of the baseline with only the run's answers to the accepted questions, and its contexts.

    The other rows of *earlier* stay; accepted questions that the run lacks are dropped. The arguments are otherwise
    those of `baseline_documents`.
    """
    texts = dict(contexts)
    measured = _by_key(document["predictions"])
    known = _by_key(earlier["predictions"])
    rows = []
    for key in {**known, **measured}:
        if key not in accepted:
            rows += [known[key]] if key in known else []
        elif key in measured:
            rows.append(_row(measured[key], now.rows[key], {}, texts))
    return _documents(document, earlier, rows, texts)


def differing(document: Mapping[str, Any], now: Baseline, earlier: Mapping[str, Any], recorded: Baseline) -> list[Key]:
    """Return the questions that accepting the run would change in the baseline: new, gone or recorded otherwise."""
    measured, before = _by_key(document["predictions"]), _by_key(earlier["predictions"])
    metrics = {*DEMANDED, *(metric for row in now.rows.values() for metric in row.metrics)}
    return [
        *(
            key
            for key, given in measured.items()
            if key not in before
            or not _is_recorded(given, before[key])
            or not _has_same_settings(now.rows[key], recorded.rows[key])
            or not recorded.rows[key].metrics.keys() <= metrics
        ),
        *(key for key in before if key not in now.rows),
    ]


def _is_recorded(given: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    answer = _full_answer(given, {})
    return known["question"] == given["question"] and any(
        _identity(each) == _identity(answer) and each["verdict"] == answer["verdict"]
        for each in known.get("answers", ())
    )


def _has_same_settings(row: BaselineRow, recorded: BaselineRow) -> bool:
    """Return whether the gate would compare them, so that recording a refused run ends the refusal."""
    return (
        judge_name(row.judge) == judge_name(recorded.judge)
        and row.prompt_version == recorded.prompt_version
        and recorded.tier in {None, row.tier}
        and recorded.top_k in {None, row.top_k}
    )


def _by_key(rows: Iterable[Mapping[str, Any]]) -> dict[Key, Mapping[str, Any]]:
    return {key_of(row): row for row in rows}


def _row(given: Mapping[str, Any], now: BaselineRow, known: Mapping[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    answers, runs = _answers_and_runs(known)
    looks = [_full_answer(given, texts), *_further_looks(now)]
    runs.append([_place(answer, answers) for answer in looks])
    latest, history = answers[runs[-1][0]], known.get("history") or {}
    return {
        **{name: given[name] for name in _OF_A_ROW if name in given},
        **{name: given[name] for name in OF_THE_LATEST_ANSWER if given.get(name) != latest.get(name)},
        **_prompt(given),
        "history": {"passes": now.passes + history.get("passes", 0), "fails": now.fails + history.get("fails", 0)},
        "answers": answers,
        "runs": runs,
    }


def _prompt(given: Mapping[str, Any]) -> dict[str, Any]:
    version = given.get("prompt_version")
    return {} if version == (given.get("judge") or {}).get("prompt_version") else {"prompt_version": version}


def _documents(
    document: Mapping[str, Any],
    earlier: Mapping[str, Any] | None,
    rows: Sequence[Mapping[str, Any]],
    texts: Mapping[str, str],
) -> tuple[dict[str, Any], dict[str, Any]]:
    ended = document.get("timestamp", "")
    ends = [] if earlier is None else earlier.get("runs") or [earlier.get("timestamp", "")]
    compact = {
        **{name: document[name] for name in _KEPT if name in document},
        "num_examples": len(rows),
        "timestamp": ended,
        "runs": [*(end for end in ends if end != ended), ended],
        "predictions": rows,
        "errors": [],
    }
    used = {digest for row in rows for answer in row.get("answers", ()) for digest in answer.get("contexts") or ()}
    return compact, {"contexts": {digest: texts[digest] for digest in sorted(used & texts.keys())}}


def _answers_and_runs(known: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Return the distinct answers of the earlier runs, and for each run the indexes of its answers."""
    if "answers" in known:
        return list(known["answers"]), [list(run) for run in known["runs"]]
    if not known:
        return [], []
    # An earlier version kept the scores only.
    return [{name: known[name] for name in ("verdict", "metrics", "judge") if name in known}], [[0]]


def _full_answer(given: Mapping[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Return the answer of a row of a predictions file, and add its contexts to *texts*."""
    digests = [text_digest(text) for text in given.get("contexts", ())]
    texts.update(zip(digests, given.get("contexts", ()), strict=True))
    return {**{name: given[name] for name in _OF_AN_ANSWER if given.get(name) is not None}, "contexts": digests}


def _further_looks(row: BaselineRow) -> list[dict[str, Any]]:
    """Return the further looks of the run without their answers: requests of the gate, and deviating repeats."""
    return [
        {
            "verdict": "PASS" if look.passed else "FAIL",
            "metrics": {metric: value for metric, value in look.scores.items() if metric in row.thresholds},
        }
        for look in row.answers[1:]
    ]


def _place(answer: dict[str, Any], answers: list[dict[str, Any]]) -> int:
    """Return the index of the answer, which is added if it is new."""
    identity = _identity(answer)
    for place, known in enumerate(answers):
        if _identity(known) == identity:
            return place
    answers.append(answer)
    return len(answers) - 1


def _identity(answer: Mapping[str, Any]) -> list[Any]:
    # Without its answers a baseline keeps no contexts either; in the tier retrieval the contexts are the reply.
    is_kept = answer.get("prediction") is not None or answer.get("contexts") is not None
    same = ("prediction", "contexts", "labels", "judge") if is_kept else ("verdict", "metrics")
    return [answer.get(name) for name in (*same, "prediction")]
