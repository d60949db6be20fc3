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
    _setting(
        name="rag_threshold",
        default=0.7,
        help="Minimum of answer_correctness and groundedness, 0 to 1. A question or its file may set another.",
        read=read_fraction,
        metavar="NUMBER",
    ),
    _setting(
        name="rag_min",
        field="minimums",
        help="Minimum of one metric, 0 to 1, which is then asserted. May be given several times.",
        read=read_minimum,
        collect=as_mapping,
        metavar="METRIC=VALUE",
        kind="words",
    ),
    _setting(
        name="rag_max",
        field="maximums",
        help="Maximum of latency_seconds, first_token_seconds or cost_usd of a question, which is then asserted. "
        "May be given several times.",
        read=read_maximum,
        collect=as_mapping,
        metavar="METRIC=VALUE",
        kind="words",
    ),
    _setting(
        name="rag_baseline",
        default_text="ragcheck-baseline.json in the rootdir, if it exists",
        help="Baseline to compare with: a baseline file, the predictions file of an earlier full run, or git:REV:PATH.",
        read=read_baseline_place,
        metavar="PREDICTIONS",
    ),
    _setting(
        name="rag_gate",
        field="rule",
        default="each",
        default_text="confirmed with a baseline, each without",
        help="Rule that makes the run fail. each: any FAIL. confirmed: a question that passed in the baseline now "
        "fails each time it is asked, and its answer is judged worse than the recorded one. regression: more such "
        "questions than chance explains, or a mean that drops by more than chance and by more than 0.01, or by more "
        "than D with regression:D. rate:R: a share of passing questions below R.",
        read=read_gate,
        metavar="GATE",
    ),
    _setting(
        name="rag_false_alarms",
        default=0.01,
        help="Accepted share of runs that --rag-gate=regression fails although nothing has changed, between 0 and 1.",
        read=read_chance,
    ),
    _setting(
        name="rag_baseline_allow",
        field="baseline_allows",
        help="Accepted differences from the baseline: missing-questions (the run lacks questions of the baseline) or "
        "other-settings (another judge, prompt, tier, top_k, metrics or dataset).",
        read=read_difference,
        kind="words",
    ),
)
