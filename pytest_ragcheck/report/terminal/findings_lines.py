from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.report.terminal.comparison_lines import (
    NEWLY_FAILING,
    TEXT_LIMIT,
    Writer,
    accept_advice,
    other_groups,
    short,
)
from pytest_ragcheck.report.terminal.drift_lines import drift_lines, lost_score_lines
from pytest_ragcheck.scores import ABSTAINED, JUDGE_GROUPS, OVERALL, group_of
from pytest_ragcheck.short_texts import counted, from_difference, some
from pytest_ragcheck.summary.gate.baseline_comparison import Comparison, is_above_maximum_alone
from pytest_ragcheck.summary.gate.gate_decision import Decision, is_newly_forbidden
from pytest_ragcheck.summary.gate.gate_replies import Change, GateReplies, Judging, evidence_of
from pytest_ragcheck.summary.gate.procedure.compared_question import Examined, Outcome
from pytest_ragcheck.summary.gate.procedure.count_test import CountFinding
from pytest_ragcheck.summary.gate.procedure.gate_session import FEWEST_QUESTIONS, GateFindings
from pytest_ragcheck.summary.gate.procedure.mean_test import MeanFinding
from pytest_ragcheck.verdict.verdict import Verdict

_FORBIDDEN = "breaks a prohibition"
_UNCONFIRMED = "newly failing, unconfirmed"
_LOWER = "scored lower today"
_RED = (_UNCONFIRMED, Outcome.CONFIRMED.value, Outcome.NOT_MEASURED.value)
"""The titles of the questions that count against the run."""


def examined_groups(comparison: Comparison, findings: GateFindings) -> dict[str, list[tuple[Change, str]]]:
    found = {each.question.key: each for each in findings.candidates}
    titles = (NEWLY_FAILING, _UNCONFIRMED, _FORBIDDEN, *(outcome.value for outcome in Outcome))
    groups: dict[str, list[tuple[Change, str]]] = {title: [] for title in titles}
    for change in comparison.newly_failing:
        each = found.get(change.now.question.key)
        is_examined = evidence_of(change.now) is not None or change.now.asked_again
        if each is None or each.outcome is None or not is_examined:
            if is_above_maximum_alone(change.now):
                groups[NEWLY_FAILING].append((change, "above a maximum, which allows for no noise"))
                continue
            groups[_UNCONFIRMED].append((change, "neither asked again nor judged side by side"))
        elif each.outcome.value not in _RED and is_newly_forbidden(change.now, change.before):
            groups[_FORBIDDEN].append((change, "one such answer is red, whatever the answers when asked again"))
        else:
            is_lower = each.outcome is Outcome.JUDGE_STRICTER and not _is_of_judge(each, change)
            title = _LOWER if is_lower else each.outcome.value
            groups.setdefault(title, []).append((change, _words(each, change)))
    return {title: group for title, group in groups.items() if group}


@frozen
class FoundChange:
    title: str
    words: str
    """Empty unless the gate examined a newly failing question."""

    counts: bool
    """True if the question counts against the run."""


def changes_of(decision: Decision) -> dict[tuple[str, str], FoundChange]:
    comparison, findings = decision.comparison, decision.findings
    if comparison is None:
        return {}
    others = {
        NEWLY_FAILING: () if findings is not None else comparison.newly_failing,
        **other_groups(comparison),
        "as before": comparison.still_passing,
    }
    groups = {title: [(change, "") for change in changes] for title, changes in others.items()}
    groups |= examined_groups(comparison, findings) if findings is not None else {}
    return {
        change.now.question.key: FoundChange(title=title, words=printable(words), counts=title in _RED)
        for title, group in groups.items()
        for change, words in group
    }


def findings_headline(comparison: Comparison, findings: GateFindings, decision: Decision) -> str:
    """The reasons of a red gate in one line, without the name of the baseline."""
    groups = examined_groups(comparison, findings)
    counts = {title: len(groups.get(title, ())) for title in _RED}
    counts["changed but not judged"] = decision.judging.n_not_judged
    counts |= {f"without a score of {each.metric}": len(each.lost) for each in decision.vanished}
    counts |= {"edited and failing": len(decision.edited), "missing": len(comparison.lost)}
    mean = findings.mean
    dropped = [f"mean {-mean.drop:+.3f}"] if mean is not None and mean.red else []
    return ", ".join((*(f"{count} {title}" for title, count in counts.items() if count), *dropped))


def red_lines(comparison: Comparison, findings: GateFindings, decision: Decision) -> Iterator[str]:
    """Yield the changes that turn the gate red."""
    write = Writer(comparison)
    red = {
        title: [(change, "\n".join((words, *_texts(change)))) for change, words in group]
        for title, group in examined_groups(comparison, findings).items()
        if title in _RED
    }
    yield from write.examined(red)
    yield from lost_score_lines(decision.vanished, write.name)
    if edited := [write.name(change.before.key) for change in decision.edited]:
        yield f"edited questions that passed before and fail now: {some(edited, 10)}"
    if findings.count is not None:
        yield _count(findings.count)
    if findings.mean is not None and findings.mean.red:
        yield _mean(findings.mean)
        yield from (f"  {each.metric} {-each.drop:+.3f} ({_p(each.p)})" for each in findings.mean.metrics)
    if comparison.lost:
        yield from write.missing()


def findings_lines(comparison: Comparison, findings: GateFindings, decision: Decision) -> Iterator[str]:
    yield from _judging(decision.judging)
    if decision.judging.drift_is_real:
        yield (
            "if today's judge is right, replace the recorded verdicts: pytest -p no:ragcheck-gate "
            f"-o rag_disable=cache, then {comparison.accept}"
        )
    judged = examined_groups(comparison, findings).get(Outcome.JUDGE_STRICTER.value, ())
    keys = {change.before.key for change, _ in judged}
    if stricter := [each for each in findings.candidates if each.question.key in keys]:
        shift = _mean_shift(stricter)
        yield (
            f"judge drift: the recorded answers of {counted(len(stricter), 'question')} fail today, scored "
            f"{abs(shift):.3f} {'lower' if shift < 0 else 'higher'} than before"
        )
    yield from lost_score_lines(decision.lost_scores, Writer(comparison).name)
    yield from drift_lines(decision.examined)
    yield from _not_examined(comparison, findings, decision)
    n, failed = sum(each.question.before.passed for each in findings.examined), len(findings.candidates)
    if decision.rules.gate == "confirmed" and not decision.red and failed >= max(5, n / 10):
        yield f"{failed} of {n} questions that passed before failed at first; rag_gate = regression tests the means"
    if findings.count is not None:
        yield _count(findings.count)
        confirmed = [each.question for each in findings.examined if each.confirmed]
        if left := sum(not all(run.passed for run in question.known) for question in confirmed):
            yield (
                f"the count leaves out {left} confirmed as failing, which did not pass in all saved runs; "
                "rag_gate = confirmed decides on each"
            )
    if findings.mean is not None:
        yield _mean(findings.mean)
    if findings.fails_by_day:
        more = "saving more runs does"
        if findings.count is not None:
            more = "and the count takes those that passed in all saved runs; rag_gate = confirmed decides on each"
        yield (
            f"{counted(len(findings.fails_by_day), 'question')} failed in one saved run and passed in another: "
            f"asking them again does not help, {more}"
        )
    if findings.documents_share_noise:
        yield (
            "answers from the same document change together: name the documents as gold passages, "
            "so that each counts as one"
        )


def _not_examined(comparison: Comparison, findings: GateFindings, decision: Decision) -> Iterator[str]:
    if lacking := comparison.baseline.n_without_contexts:
        yield (
            f"{counted(lacking, 'recorded answer')} cannot be scored or judged again: the file of contexts beside "
            f"{comparison.baseline.name} lacks their texts. Commit both files of a baseline."
        )
    examined = {each.question.key: each.question.thresholds for each in findings.examined}
    changes = [change for change in comparison.compared if change.before.key in examined]
    ignored = {metric for c in changes for metric in c.now.thresholds.keys() - examined[c.before.key].keys()}
    if ignored:
        yield (
            f"the gate ignores {', '.join(sorted(ignored))}, because recorded answers have no such score: "
            "ragcheck baseline save adds those of this run"
        )
    alone = [change for change in changes if evidence_of(change.now) is None]
    if alone:
        yield (
            f"{counted(len(alone), 'question')} replayed, or ran without this gate or with another baseline: nothing "
            f"was scored or asked again, or judged side by side. "
            f"Ask the system with --rag-gate={decision.rules.gate} and the baseline."
        )
    if decision.edited:
        return
    so = "" if decision.baseline_red else ", so the gate cannot turn red"
    n_errors = len(comparison.not_measured)
    errors = f" {counted(n_errors, 'ERROR')} in place of recorded answers turned the run red." if n_errors else ""
    if not any(examined.values()):
        answered = comparison.compared or comparison.apart or comparison.new
        advice = f" {accept_advice(comparison)}" if answered else ""
        yield f"no question can be compared{so}.{errors}{advice}"
    elif findings.gate == "confirmed" and not any(each.question.before.passed for each in findings.examined):
        save = "" if decision.judging.drift_is_real else " Save a run that passes."
        yield f"no compared question passed in its latest saved run{so}.{errors or save}"
    elif decision.rules.gate != findings.gate:
        yield (
            f"fewer than {FEWEST_QUESTIONS} questions to compare: {decision.rules.gate} decides as {findings.gate}, "
            "so one confirmed question is red"
        )


def _judging(judging: Judging) -> Iterator[str]:
    n = judging.n_same + judging.n_changed
    if not n:
        return
    shown, again = counted(n, "answer"), judging.n_drift
    if judging.n_same == 1:
        yield f"1 of {shown} is in the baseline and keeps its verdict{'; it was judged again' if again else ''}"
    elif judging.n_same:
        anew = f"; {again} of them {'was' if again == 1 else 'were'} judged again" if again else ""
        yield f"{judging.n_same} of {shown} are in the baseline and keep their verdicts{anew}"
    else:
        yield f"none of {shown} is in the baseline"
    if judging.drift:
        drift = ", ".join(f"{metric} {by:+.3f}" for metric, by in judging.drift.items())
        noise = "more than noise: another model may answer under its name" if judging.drift_is_real else "may be noise"
        yield f"judge drift on the same answers: {drift} ({noise})"
    if judging.n_not_judged:
        yield f"the mean leaves out {counted(judging.n_not_judged, 'changed answer')} that could not be judged again"


def _texts(change: Change) -> Iterator[str]:
    before, now = change.before.answer, change.now.answer
    yield f"question  {short(change.before.question)}"
    if before is not None:
        yield f"recorded  {short(from_difference(before, now or '', TEXT_LIMIT))}"
    if now is not None:
        yield f"answer    {short(from_difference(now, before or '', TEXT_LIMIT))}"


def _mean_shift(examined: Sequence[Examined]) -> float:
    shifts = []
    for each in examined:
        if each.side_by_side is not None:
            margins = [
                each.question.margin(look.scores) for run in each.question.known for look in run.looks if look.passed
            ]
            shifts.append(fmean(each.side_by_side.recorded) - fmean(margins))
    return fmean(shifts)


def _words(each: Examined, change: Change) -> str:
    again = change.now.asked_again
    asked = f"failed {1 + again.count(Verdict.FAIL.value)} of {1 + len(again)} times" if again else "failed"
    evidence, found = evidence_of(change.now), each.side_by_side
    if found and evidence:
        recorded, new = _margin(fmean(found.recorded)), _margin(fmean(found.new))
        # A deterministic judge leaves nothing to chance, and p is 0.
        chance = f" ({_p(found.p)})" if found.p else ""
        first, last = _worst(each, evidence)
        that = "it" if first == last else f"that of {last}"
        shown = f"the recorded answers are {recorded} the threshold of {first}, the new ones {new} {that}"
        return f"{asked}; judged side by side, {shown}{chance}"
    if each.outcome is not Outcome.NOT_MEASURED:
        return asked
    cost = evidence is not None and evidence.over_budget
    return (
        f"{asked}; not examined further: {'the cost limit was reached' if cost else 'the endpoint or the judge failed'}"
    )


def _worst(each: Examined, evidence: GateReplies) -> list[str]:
    # A recorded answer is judged first, then a new one.
    pair = next(reply for reply in evidence.replies if isinstance(reply, tuple))
    least = each.question.thresholds
    return [min((s[m] - least[m], m) for m in least if m in s)[1] for s in pair[:2]]


def _is_of_judge(each: Examined, change: Change) -> bool:
    # True if a judge gives the worst score of the recorded answer.
    judge, evidence = change.now.judge, evidence_of(change.now)
    if judge is None or judge.kind == "none" or evidence is None:
        return False
    worst = _worst(each, evidence)[0]
    return worst in {ABSTAINED, OVERALL} or group_of(worst) in JUDGE_GROUPS


def _margin(value: float) -> str:
    return f"{abs(value):.2f} {'below' if value < 0 else 'above'}" if value else "at"


def _count(count: CountFinding) -> str:
    runs = counted(count.known_runs, "saved run")
    chance = f" ({_p(count.p)})" if count.broken else ""
    found = f"{count.broken} of {counted(count.n_units, count.unit)} broke, {count.improved} improved{chance}; "
    if count.needed is None:
        at = f"at {count.floor} questions, by their share alone," if count.floor else "at no number of questions"
        return f"{found}the gate turns red {at} with {runs}. Ask more questions, or save more runs."
    floor = ", and here by their share alone" if count.floor_red and not count.red else ""
    return f"{found}the gate turns red at {count.needed} with {runs}{floor}"


def _mean(mean: MeanFinding) -> str:
    found = f"mean of the asserted metrics: {-mean.drop:+.3f} ({_p(mean.p)})"
    if mean.visible_drop is None:
        return found
    changed = counted(mean.n_changed, "changed answer")
    return f"{found}; with {changed} a drop of {mean.visible_drop:.3f} is red in 4 of 5 runs"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
