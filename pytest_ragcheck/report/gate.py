"""What the gate decided, as a person reads it: first what is held against the run, then what is not and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.report.comparison import ACCEPT, Writer, comparison_lines, regressions_text
from pytest_ragcheck.report.failure import printable
from pytest_ragcheck.summary.sign_flips import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_ragcheck.summary.comparison import Change, Comparison
    from pytest_ragcheck.summary.gate import Decision, Rate
    from pytest_ragcheck.summary.regression import MeanChange, Regression

OTHERWISE = (
    "Make a new baseline by a full run of today's kind, or set rag_other_baseline = compare to compare all the same."
)


def decision_lines(decision: Decision) -> Iterator[str]:
    """What the gate found, for the end of a run; nothing where it had nothing to look at."""
    comparison = decision.comparison
    if comparison is not None and decision.otherwise:
        yield printable(f"baseline {comparison.baseline.name}: refused: {'; '.join(decision.otherwise)}")
    elif decision.weighed is not None:
        yield from comparison_lines(decision.weighed.comparison)
        yield from map(printable, _weighed(decision.weighed))
    elif comparison is not None:
        yield from comparison_lines(comparison)
    if decision.rate is not None:
        yield _rate_line(decision.rate)


def decision_text(decision: Decision) -> str:
    """Why the gate is red, its failure text, whose first line says it all; empty where it is green."""
    return "\n\n".join(_red_texts(decision))


def decision_headline(decision: Decision) -> str:
    """The same in one line."""
    return "; ".join(text.partition("\n")[0] for text in _red_texts(decision))


def _red_texts(decision: Decision) -> Iterator[str]:
    comparison = decision.comparison
    if comparison is not None and decision.baseline_red:
        if decision.otherwise:
            yield _refusal_text(comparison, decision.otherwise)
        elif decision.weighed is not None:
            yield _regression_text(decision.weighed)
        else:
            yield regressions_text(comparison)
    if decision.rate is not None and decision.rate.is_too_low:
        yield f"pass rate {_share(decision.rate)} is below {decision.rate.lowest:g}"


def _refusal_text(comparison: Comparison, differences: Sequence[str]) -> str:
    lines = (f"{comparison.baseline.name} was made otherwise: {'; '.join(differences)}", "", OTHERWISE)
    return "\n".join(map(printable, lines))


def _regression_text(weighed: Regression) -> str:
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


def _rate_line(rate: Rate) -> str:
    if not rate.passed + rate.failed:
        return f"gate rate:{rate.lowest:g}: no question has a PASS or a FAIL"
    return f"gate rate:{rate.lowest:g}: pass rate {_share(rate)}"


def _share(rate: Rate) -> str:
    """The rate with its interval, which is for the reader alone."""
    n = rate.passed + rate.failed
    low, high = wilson(rate.passed, n)
    # Cut and not rounded, so that 0.8996 is not seen to be 0.90.
    return f"{int(rate.passed * 1000 / n) / 1000:.3f} ({rate.passed} of {n}; 95 % interval {low:.3f} to {high:.3f})"


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
