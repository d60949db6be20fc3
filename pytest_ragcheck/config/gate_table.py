"""Declares the settings that decide which questions pass, and whether the run does."""

from __future__ import annotations

from functools import partial

from pytest_ragcheck.config.numbers import read_chance, read_fraction
from pytest_ragcheck.config.readers import (
    as_mapping,
    read_baseline_place,
    read_difference,
    read_gate,
    read_maximum,
    read_minimum,
)
from pytest_ragcheck.config.setting import Setting

_setting = partial(Setting, group="gate")

GATE: tuple[Setting, ...] = (
    _setting(name="rag_threshold", default=0.7, read=read_fraction, metavar="NUMBER"),
    _setting(
        name="rag_min",
        field="minimums",
        read=read_minimum,
        collect=as_mapping,
        metavar="METRIC=VALUE",
        kind="words",
    ),
    _setting(
        name="rag_max",
        field="maximums",
        read=read_maximum,
        collect=as_mapping,
        metavar="METRIC=VALUE",
        kind="words",
    ),
    _setting(
        name="rag_baseline",
        default_text="ragcheck-baseline.json in the rootdir, if it exists",
        read=read_baseline_place,
        metavar="PREDICTIONS",
    ),
    _setting(
        name="rag_gate",
        field="rule",
        default="each",
        default_text="confirmed with a baseline, each without",
        read=read_gate,
        metavar="GATE",
    ),
    _setting(name="rag_false_alarms", default=0.01, read=read_chance),
    _setting(name="rag_baseline_allow", field="baseline_allows", read=read_difference, kind="words"),
)
