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
    _setting(
        name="rag_tier",
        default="end_to_end",
        help="How questions are asked: end_to_end (the system retrieves passages itself), retrieval (the same, but "
        "the contexts alone are measured) or generation (the gold passages are sent along, by POST "
        "/query/with-context). A question file may set its own.",
        read=read_tier,
        metavar="TIER",
    ),
    _switch(
        name="rag_ingest",
        help="Uploads the passages of the questions as documents before the run and deletes them after it. Not in "
        "the tier generation.",
    ),
    _setting(
        name="rag_repeats",
        default=1,
        help="Number of times that each question is asked. Each answer is judged, and the median counts.",
        read=read_count,
    ),
    _switch(
        name="rag_require_endpoint",
        help="Makes a run without an endpoint fail, instead of skipping its questions. For CI.",
    ),
    _setting(
        name="rag_disable",
        field="disabled",
        help="Steps that the run leaves out: preflight (the trial of the judge on known answers), cache (verdicts of "
        "earlier runs), prefetch (asking questions ahead of their items), cleanup (deleting the documents that the run "
        "uploaded), or cleanup-on-failure (deleting them after a run with failures).",
        read=read_step,
        kind="words",
    ),
    _setting(
        name="rag_metrics",
        field="metric_groups",
        default=DEFAULT_GROUPS,
        help="The groups of metrics to measure. They replace the default groups; a group with a leading + is added to "
        "them. The group bertscore takes a model, and a layer if not the last: +bertscore=roberta-large@17.",
        read=read_group,
        collect=chosen_groups,
        kind="words",
    ),
    _setting(
        name="rag_weights",
        default=DEFAULT_WEIGHTS,
        help="Weights of the metrics in overall_score, which is their weighted mean. A metric without a score is "
        "left out.",
        read=read_weight,
        collect=as_mapping,
        kind="words",
    ),
    _setting(
        name="rag_question_files",
        help="Glob patterns of further question files, such as *_questions.json.",
        read=read_name,
        kind="words",
    ),
    _setting(
        name="rag_dataset",
        field="datasets",
        help="Runs a standard dataset too, by name or from its official file. `ragcheck dataset` lists them. May be "
        "given several times.",
        read=read_dataset,
        metavar="NAME[:SUBSET][@SPLIT][=PATH]",
        kind="words",
    ),
    _setting(
        name="rag_samples",
        help="Maximum number of questions per rag_dataset, chosen at random with the seed; question files are asked "
        "whole. Larger samples include smaller ones of the same seed.",
        read=read_sample,
        metavar="NUMBER[@SEED]",
    ),
    _setting(
        name="rag_shard",
        help="Runs part I of N of the questions, for N machines. ragcheck merge combines the results.",
        read=read_shard,
        metavar="I/N",
    ),
    _switch(
        name="rag_resume",
        help="Continues the last run of this agent in the output folder. Only ERRORs, changed questions and "
        "questions without a result are asked.",
    ),
    _setting(
        name="rag_replay",
        help="Uses the answers and verdicts in the predictions file of an earlier run, or in its folder, without "
        "asking the system. With --rag-judge that judge judges the recorded answers.",
        read=read_path,
        metavar="PREDICTIONS",
    ),
    _switch(
        name="rag_dry_run",
        help="Collects the questions, and prints the number of calls, the approximate number of tokens, and the "
        "cost. Asks nothing.",
    ),
    _setting(
        name="rag_max_cost",
        field="max_cost_usd",
        help="Stops the run when the judge and the system have cost this much. The remaining questions are not run, "
        "and the run fails.",
        read=read_usd,
        metavar="USD",
    ),
    _setting(
        name="rag_output",
        default=Path("ragcheck-results"),
        help="Folder of the result files.",
        read=read_path,
        metavar="FOLDER",
    ),
    _setting(
        name="rag_agent",
        default="rag",
        help="Name of the system under test, with which the result files begin.",
        read=read_name,
        metavar="NAME",
    ),
    _setting(
        name="rag_report",
        field="reports",
        help="Writes a report. FILE.html becomes one self-contained page. A file ending in .md or without an ending, "
        "such as GitHub's step summary, gets the results as Markdown, added at its end. May be given several times.",
        read=read_report,
        metavar="FILE",
        kind="words",
    ),
)
