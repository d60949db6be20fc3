"""Declares the settings that decide which questions pass, and whether the run does."""

from __future__ import annotations

from types import MappingProxyType

from pytest_ragcheck.config.numbers import read_fraction
from pytest_ragcheck.config.readers import (
    as_mapping,
    read_baseline_place,
    read_difference,
    read_gate,
    read_minimum,
)
from pytest_ragcheck.config.setting import Setting

GATE: tuple[Setting, ...] = (
    Setting(
        name="rag_threshold",
        becomes="gate.threshold",
        default=0.7,
        help="Minimum of answer_correctness and groundedness, 0 to 1; a question or its file may set its own.",
        read=read_fraction,
        on_command_line=True,
        metavar="NUMBER",
    ),
    Setting(
        name="rag_min",
        becomes="gate.minimums",
        default=MappingProxyType({}),
        help="Asserts a further metric, or sets the minimum of one metric alone; may be given several times.",
        read=read_minimum,
        collect=as_mapping,
        on_command_line=True,
        metavar="METRIC=VALUE",
        kind="words",
    ),
    Setting(
        name="rag_baseline",
        becomes="gate.baseline",
        default=None,
        default_text="ragcheck-baseline.json in the rootdir, if it exists",
        help="Compares with a baseline or the predictions file of an earlier full run, or git:REV:PATH: a question "
        "that newly fails or is missing makes the run fail.",
        read=read_baseline_place,
        on_command_line=True,
        metavar="PREDICTIONS",
    ),
    Setting(
        name="rag_gate",
        becomes="gate.rule",
        default="each",
        default_text="confirmed with a baseline, each without",
        help="each: every FAIL makes the run fail; confirmed: a question that passed in the baseline, fails each time "
        "it is asked again, and is worse side by side; regression: more of these than chance, or a lower mean; rate:R: "
        "a share of passing questions below R.",
        read=read_gate,
        on_command_line=True,
        metavar="GATE",
    ),
    Setting(
        name="rag_tolerance",
        becomes="gate.tolerance",
        default=0.01,
        help="By how much a metric's mean may drop below the baseline's under --rag-gate=regression, 0 to 1.",
        read=read_fraction,
    ),
    Setting(
        name="rag_false_alarms",
        becomes="gate.false_alarms",
        default=0.01,
        help="How often --rag-gate=regression may turn red with nothing changed, 0 to 1.",
        read=read_fraction,
    ),
    Setting(
        name="rag_baseline_allow",
        becomes="gate.baseline_allows",
        default=(),
        help="Allows what the comparison with the baseline otherwise refuses: missing-questions (questions of the "
        "baseline that the run does not have) or other-settings (another judge, prompt, tier, top_k, metrics or "
        "dataset).",
        read=read_difference,
        metavar="DIFFERENCE",
        kind="words",
    ),
)
