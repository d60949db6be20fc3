"""Declares the settings of a run: its questions, metrics, limits and files."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pytest_ragcheck.config.numbers import read_count, read_shard, read_usd
from pytest_ragcheck.config.readers import (
    as_mapping,
    chosen_groups,
    read_dataset,
    read_group,
    read_name,
    read_path,
    read_report,
    read_sample,
    read_step,
    read_switch,
    read_tier,
    read_weight,
)
from pytest_ragcheck.config.setting import Setting
from pytest_ragcheck.scores.catalogue import DEFAULT_GROUPS, DEFAULT_WEIGHTS

_setting = partial(Setting, group="run")
_switch = partial(_setting, default=False, read=read_switch, kind="switch")

RUN: tuple[Setting, ...] = (
    _setting(name="rag_tier", default="end_to_end", read=read_tier, metavar="TIER"),
    _switch(name="rag_ingest"),
    _setting(name="rag_repeats", default=1, read=read_count),
    _switch(name="rag_require_endpoint"),
    _setting(name="rag_disable", field="disabled", read=read_step, kind="words"),
    _setting(
        name="rag_metrics",
        field="metric_groups",
        default=DEFAULT_GROUPS,
        read=read_group,
        collect=chosen_groups,
        kind="words",
    ),
    _setting(name="rag_weights", default=DEFAULT_WEIGHTS, read=read_weight, collect=as_mapping, kind="words"),
    _setting(name="rag_question_files", read=read_name, kind="words"),
    _setting(
        name="rag_dataset",
        field="datasets",
        read=read_dataset,
        metavar="NAME[:SUBSET][@SPLIT][=PATH]",
        kind="words",
    ),
    _setting(name="rag_samples", read=read_sample, metavar="NUMBER[@SEED]"),
    _setting(name="rag_shard", read=read_shard, metavar="I/N"),
    _switch(name="rag_resume"),
    _setting(name="rag_replay", read=read_path, metavar="PREDICTIONS"),
    _switch(name="rag_dry_run"),
    _setting(name="rag_max_cost", field="max_cost_usd", read=read_usd, metavar="USD"),
    _setting(name="rag_output", default=Path("ragcheck-results"), read=read_path, metavar="FOLDER"),
    _setting(name="rag_agent", default="rag", read=read_name, metavar="NAME"),
    _setting(name="rag_report", field="reports", read=read_report, metavar="FILE", kind="words"),
)
