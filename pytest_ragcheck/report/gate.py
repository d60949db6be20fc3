"""What the gate decided, as a person reads it: first what is held against the run, then what is not and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.report.comparison import ACCEPT, Writer, comparison_lines
from pytest_ragcheck.report.failure import printable
from pytest_ragcheck.summary.sign_flips import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_ragcheck.summary.comparison import Change, Comparison
    from pytest_ragcheck.summary.regression import MeanChange, Regression

OTHERWISE = (
    "Make a new baseline by a full run of today's kind, or set rag_other_baseline = compare to compare all the same."
)


def refusal_lines(comparison: Comparison, differences: Sequence[str]) -> Iterator[str]:
    """That the baseline was made otherwise; the first line says it all."""
    yield printable(f"baseline {comparison.baseline.name}: refused: {'; '.join(differences)}")


def refusal_text(comparison: Comparison, differences: Sequence[str]) -> str:
    """The failure text of a gate that cannot compare."""
    lines = (f"{comparison.baseline.name} was made otherwise: {'; '.join(differences)}", "", OTHERWISE)
    return "\n".join(map(printable, lines))


def regression_text(weighed: Regression) -> str:
    """The failure text of the gate `regression`."""
    lost = weighed.comparison.lost
    confirmed = len(weighed.certain) + len(weighed.together)
    counts = {
        f"{'metric' if len(weighed.dropped) == 1 else 'metrics'} dropped": len(weighed.dropped),
        "confirmed as failing": confirmed,
        "could not be asked again": len(weighed.unanswered),
        "missing": len(lost),
    }
    first = ", ".join(f"{count} {title}" for title, count in counts.items() if count)
    lines = (f"{first} against {weighed.comparison.baseline.name}", "", *_held(weighed), "", ACCEPT)
    return "\n".join(map(printable, lines))


def regression_lines(weighed: Regression) -> Iterator[str]:
    """All that differs from the baseline, and how it was weighed, for the end of a run."""
    yield from comparison_lines(weighed.comparison)
    yield from map(printable, _weighed(weighed))


def rate_text(passed: int, failed: int, lowest: float) -> str:
    """The failure text of the gate `rate`."""
    return f"pass rate {_rate(passed, failed)} is below {lowest:g}"


def rate_line(passed: int, failed: int, lowest: float) -> str:
    """The rate at the end of a run, with its interval, which is for the reader alone."""
    if not passed + failed:
        return f"gate rate:{lowest:g}: no question has a PASS or a FAIL"
    return f"gate rate:{lowest:g}: pass rate {_rate(passed, failed)}"


def _rate(passed: int, failed: int) -> str:
    n = passed + failed
    low, high = wilson(passed, n)
    # Cut and not rounded, so that 0.8996 is not seen to be 0.90.
    return f"{int(passed * 1000 / n) / 1000:.3f} ({passed} of {n}; 95 % interval {low:.3f} to {high:.3f})"


def _held(weighed: Regression) -> Iterator[str]:
    if weighed.dropped:
        yield "dropped by more than noise:"
        yield from (f"  {_mean(mean)}" for mean in weighed.dropped)
    write = Writer(weighed.comparison)
    yield from write.changes("failing each time, and known to be stable", weighed.certain, _asked)
    yield from write.changes(
        f"failing each time, and too many for chance (p = {weighed.flips_p:.2g}, {weighed.up} newly passing)",
        weighed.together,
        _asked,
    )
    yield from write.changes("an ERROR when asked again", weighed.unanswered, _asked)
    if weighed.comparison.lost:
        yield from write.missing()


def _weighed(weighed: Regression) -> Iterator[str]:
    write = Writer(weighed.comparison)
    yield from (f"dropped: {_mean(mean)}" for mean in weighed.dropped)
    yield from write.changes("suspects, not held against the run", weighed.suspects, _asked)
    asserted = {metric for change in weighed.comparison.compared for metric in change.now.thresholds}
    for mean in weighed.means:
        if mean.metric in asserted and mean.detectable is not None:
            yield (
                f"with {mean.n} questions a drop of {mean.detectable:.2f} in {mean.metric} would be seen 80 % of the "
                "time"
            )


def _mean(mean: MeanChange) -> str:
    return f"{mean.metric} {mean.before:.3f} -> {mean.now:.3f} over {mean.n} questions (p = {mean.p:.2g})"


def _asked(change: Change) -> str:
    again = ", ".join(change.now.asked_again)
    return f"FAIL, asked again {again}" if again else "FAIL, not asked again"
