from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.configuration import given_options, settings_of
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, read_baseline
from pytest_ragcheck.summary.gate.git_revision import InGit
from pytest_ragcheck.summary.gate_rules import COMPARING, GateRules

if TYPE_CHECKING:
    from pytest_ragcheck.config.baseline_place import BaselinePlace

_BASELINE: pytest.StashKey[Baseline] = pytest.StashKey()


def baseline_of(config: pytest.Config) -> Baseline:
    """The baseline, read at the first call; a `pytest.UsageError` if it cannot be read or is in the output folder."""
    if _BASELINE not in config.stash:
        place, name = place_of(config), baseline_name(config)
        file = place.path if place.rev is None else InGit(rev=place.rev, path=place.path)
        try:
            if place.rev is None:
                from pytest_ragcheck.report.files.output_folder import check_outside

                check_outside(place.path, settings_of(config).run.output, name=name)
            config.stash[_BASELINE] = read_baseline(file, name=name)
        except UsageError as error:
            given = given_options(config).get("rag_baseline")
            origin = f"{given.origin}: " if given is not None else ""
            raise pytest.UsageError(f"ragcheck: {origin}{error}") from None
    return config.stash[_BASELINE]


def baseline_if_read(config: pytest.Config) -> Baseline | None:
    return config.stash.get(_BASELINE, None)


def place_of(config: pytest.Config) -> BaselinePlace:
    place = settings_of(config).gate.baseline
    assert place is not None, "the caller has checked that there is a baseline"  # noqa: S101 - for type checkers
    return place


def baseline_name(config: pytest.Config) -> str:
    place, root = place_of(config), config.rootpath
    inside = place.path.is_relative_to(root)
    return str(replace(place, path=place.path.relative_to(root)) if inside else place)


def rules_of(config: pytest.Config) -> GateRules:
    """The rules of the gate; they are those of `each` if `-p no:ragcheck-gate` blocks the gate."""
    rules = GateRules.of(settings_of(config))
    return replace(rules, gate="each") if config.pluginmanager.is_blocked("ragcheck-gate") else rules


def check_baseline(config: pytest.Config) -> None:
    """Read the run's baseline; raise a `pytest.UsageError` if that fails, or if the gate needs one and has none."""
    settings = settings_of(config)
    if settings.gate.baseline is not None:
        baseline_of(config)
    elif GateRules.of(settings).gate in COMPARING:
        raise pytest.UsageError(
            f"ragcheck: --rag-gate={settings.gate.rule} has nothing to compare with. Save a run with ragcheck baseline "
            "save, or give --rag-gate=each."
        )
