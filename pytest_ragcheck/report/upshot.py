"""Decides whether a run is red and why, for the first line of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.report.counted import counted
from pytest_ragcheck.report.files.results_reader import Document, Results, all_rows
from pytest_ragcheck.summary.predictions_reader import key_of
from pytest_ragcheck.verdict.failure_text import some


@frozen
class Upshot:
    state: Literal["red", "green", "empty"]
    """Empty if nothing was measured, since such a run proves nothing."""

    why: str


def upshot_of(rows: Sequence[Document], results: Results) -> Upshot:
    reasons = list(_reasons(rows, results))
    if reasons:
        return Upshot(state="red", why=", ".join(reasons))
    more = f", {results.summary['n_not_run']:,} not run" if results.summary.get("n_not_run") else ""
    if not rows:
        return Upshot(state="empty", why=f"no question was asked{more}")
    failed = sum(row["verdict"] == "FAIL" for row in rows)
    if failed:
        passed = f"{len(rows) - failed:,} of {len(rows):,} passed"
        return Upshot(state="green", why=f"{passed}, {failed:,} FAIL tolerated{more}")
    ran = "the one question" if len(rows) == 1 else f"all {len(rows):,} questions"
    return Upshot(state="green", why=f"{ran} that ran passed{more}")


def _reasons(rows: Sequence[Document], results: Results) -> Iterator[str]:
    failed = [row for row in rows if row["verdict"] == "FAIL" and not row["xfailed"]]
    if failed:
        # The gate has its own line about these.
        newly = sum(row["change"] == "newly failing" for row in failed) if results.gate is None else 0
        yield f"{len(failed):,} FAIL" + (f" ({newly:,} newly failing)" if newly else "")
    if errors := sum(row["verdict"] == "ERROR" for row in rows):
        yield f"{errors:,} ERROR"
    if stopped := results.summary.get("stopped"):
        yield stopped
    if others := results.summary.get("failed_otherwise"):
        yield f"{counted(len(others), 'test')} failed for another reason ({some(others, 3)})"
    if left := results.summary.get("documents", {}).get("left"):
        yield f"{counted(len(left), 'document')} left in the system"
    if results.gate is not None:
        if results.gate:
            yield results.gate
    elif missing := len(_missing(results)):
        yield f"{missing:,} of the baseline's questions missing"


def _missing(results: Results) -> set[tuple[str, str]]:
    if results.baseline is None or not results.predictions["complete"]:
        return set()
    return results.baseline.rows.keys() - {*map(key_of, all_rows(results.predictions))} - results.asked.keys()
