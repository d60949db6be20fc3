"""Reads the gate and the baseline of a command's arguments, or else of the run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

from pytest_ragcheck.cli.project.user_project import from_here, root_of, run_value
from pytest_ragcheck.config.readers import BASELINE_FILE, BaselinePlace
from pytest_ragcheck.config.table import Given
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.report.files.results_reader import Results, predictions_path
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, read_baseline
from pytest_ragcheck.summary.predictions_reader import InGit
from pytest_ragcheck.summary.run_outcomes import COMPARING, GateRules, allowances, gate_and_tolerance

_SET = ("rag_false_alarms", "rag_baseline_allow")


@frozen
class ChosenGate:
    rules: GateRules
    baseline: Baseline | None
    note: str = ""
    """The reason why the run's own gate was replaced; else empty."""


def gate_of(chosen: argparse.Namespace, recorded: GateRules, compared: Set[str] = frozenset()) -> ChosenGate:
    """
    The gate of the command line, or else the run's own, with the baseline; a `UsageError` for one that cannot be used.

    Without `--baseline`, the baseline is the one with which the parts *compared*, or else that of a run. Without that
    file, the run's gate may become `each`.
    """
    rules = _rules_of(chosen, recorded)
    if compared and chosen.baseline is None and chosen.gate != "each":
        return ChosenGate(rules=rules, baseline=_baseline_of_parts(sorted(compared)))
    place = default_baseline() if chosen.baseline is None else place_of(chosen.baseline, "--baseline")
    is_there = chosen.baseline is not None or place.rev is not None or place.path.is_file()
    baseline = _read_baseline(place) if is_there else None
    if baseline is not None or rules.gate not in COMPARING:
        return ChosenGate(rules=rules, baseline=baseline)
    if chosen.gate is not None:
        raise UsageError(
            f"--gate={rules.gate} has nothing to compare with. Give --baseline=PREDICTIONS, or --gate=each."
        )
    note = (
        f"gate each: the run's gate {rules.gate} has nothing to compare with here, neither --baseline nor "
        f"{BASELINE_FILE}"
    )
    return ChosenGate(rules=replace(rules, gate="each"), baseline=None, note=note)


def _baseline_of_parts(names: Sequence[str]) -> Baseline:
    if names[1:]:
        raise UsageError(f"the parts compared with several baselines: {', '.join(names)}. Give --baseline one of them.")
    root = root_of(Path.cwd())
    try:
        return _read_baseline(place_of(names[0], "the parts", root), root)
    except UsageError as error:
        text = f"the parts compared with {error} Merge in a checkout that has it, or give --baseline."
        raise UsageError(text) from None


def default_baseline() -> BaselinePlace:
    place: BaselinePlace = run_value("rag_baseline", BASELINE_FILE)
    return replace(place, path=from_here(place.path))


def with_own_baseline(results: Results) -> Results:
    """With the gate's lines, unless the run has no gate or baseline, or a changed baseline decides otherwise."""
    from pytest_ragcheck.config.resolve import environment_redactor
    from pytest_ragcheck.report.gated_results import gated, rules_of_summary

    gate = results.summary.get("gate")
    if not gate:
        return results
    name = gate.get("baseline")
    try:
        root = root_of(Path.cwd())
        baseline = _read_baseline(place_of(name, "baseline", root), root) if name else None
    except UsageError:
        return results
    compared = gated(results, baseline, rules_of_summary(results.summary), clean=environment_redactor().text)
    return compared if compared.gate == results.gate else results


def _rules_of(chosen: argparse.Namespace, recorded: GateRules) -> GateRules:
    from pytest_ragcheck.config.resolve import read_value

    typed = {} if chosen.gate is None else gate_and_tolerance(read_value("rag_gate", Given(chosen.gate, "--gate")))
    for setting in chosen.settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in _SET:
            raise UsageError(f"--set: {setting!r} is not a gate setting. Write NAME=VALUE with {', '.join(_SET)}.")
        value = read_value(name, Given(text, f"--set {name}"))
        typed |= allowances(value) if name == "rag_baseline_allow" else {name.removeprefix("rag_"): value}
    return replace(recorded, **typed)


def place_of(given: str, argument: str, folder: Path = Path()) -> BaselinePlace:
    """Raises a `UsageError` for a text that is neither a path nor `git:REV:PATH`."""
    from pytest_ragcheck.config.resolve import read_value

    place: BaselinePlace = read_value("rag_baseline", Given(given, argument))
    return place if place.rev is None else place.resolved_in(folder.absolute())


def _read_baseline(place: BaselinePlace, folder: Path = Path()) -> Baseline:
    file = (
        predictions_path(folder / place.path) if place.rev is None else InGit(rev=place.rev, path=place.path.absolute())
    )
    return read_baseline(file, name=str(place), advice="Give --baseline the {agent}_predictions.json of a full run.")
