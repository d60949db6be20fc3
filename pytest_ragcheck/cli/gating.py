"""What commands that decide over a whole run have in common: the gate's options, and its baseline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from pytest_ragcheck.baseline_place import BaselinePlace
    from pytest_ragcheck.summary.baseline import Baseline
    from pytest_ragcheck.summary.terms import Terms

_SET = ("rag_tolerance", "rag_false_alarms", "rag_missing", "rag_other_baseline")
_BASELINE = "rag_baseline"
_ADVICE = "Give --baseline the {agent}_predictions.json of a full run."


def add_gate_options(parser: argparse.ArgumentParser) -> None:
    """Adds `--baseline`, `--gate` and `--set`."""
    parser.add_argument("--baseline", metavar="PREDICTIONS", help="compare with that run, as pytest --rag-baseline")
    parser.add_argument(
        "--gate", metavar="GATE", help="each, regression, or rate:R, as of pytest --rag-gate (default: that of the run)"
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="settings",
        help=f"an ini value of the gate's: {', '.join(_SET)} (default: those of the run)",
    )


def terms_of(chosen: argparse.Namespace, recorded: Terms) -> Terms:
    """
    What the run is held to: what was typed, else what the run itself was held to.

    Raises:
        UsageError: A value cannot be read, or the gate has nothing to compare with.
    """
    from pytest_ragcheck.given import Given, read_value  # noqa: PLC0415 - the other commands need no settings

    typed = {} if chosen.gate is None else {"gate": read_value("rag_gate", Given(chosen.gate, "--gate"))}
    for setting in chosen.settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in _SET:
            raise UsageError(f"--set: {setting!r} sets nothing of the gate. Write NAME=VALUE with {', '.join(_SET)}.")
        typed[name.removeprefix("rag_")] = read_value(name, Given(text, f"--set {name}"))
    terms = replace(recorded, **typed)
    if terms.gate == "regression" and chosen.baseline is None:
        raise UsageError("--gate=regression has nothing to compare with. Give --baseline=PREDICTIONS, or --gate=each.")
    return terms


def read_baseline_of(chosen: argparse.Namespace) -> Baseline | None:
    """
    What `--baseline` names; None where it was not given.

    Raises:
        UsageError: It is no baseline.
    """
    if chosen.baseline is None:
        return None
    from pytest_ragcheck.given import Given, read_value  # noqa: PLC0415 - the other commands need no settings
    from pytest_ragcheck.report.results import predictions_path  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.baseline import read_baseline  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.in_git import InGit  # noqa: PLC0415 - as above

    place: BaselinePlace = read_value(_BASELINE, Given(chosen.baseline, "--baseline"))
    path = Path(place.path)
    file = predictions_path(path) if place.rev is None else InGit(rev=place.rev, path=path.absolute())
    return read_baseline(file, name=str(place), advice=_ADVICE)
