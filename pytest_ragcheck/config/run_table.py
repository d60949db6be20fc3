"""Declares the settings of a run: its questions, metrics, limits and files."""

from __future__ import annotations

from pathlib import Path

from pytest_ragcheck.config.numbers import (
    read_count,
    read_delay,
    read_seconds,
    read_shard,
    read_usd,
)
from pytest_ragcheck.config.readers import (
    as_mapping,
    chosen_groups,
    read_dataset,
    read_group,
    read_html_path,
    read_keep,
    read_model,
    read_name,
    read_path,
    read_sample,
    read_step,
    read_switch,
    read_tier,
    read_weight,
)
from pytest_ragcheck.config.setting import Setting
from pytest_ragcheck.scores.catalogue import DEFAULT_GROUPS, DEFAULT_WEIGHTS

RUN: tuple[Setting, ...] = (
    Setting(
        name="rag_tier",
        becomes="run.tier",
        default="end_to_end",
        help="How questions are asked: end_to_end (the system retrieves by itself) or generation (their gold "
        "passages go along, by POST /query/with-context); a file may say its own.",
        read=read_tier,
        on_command_line=True,
        metavar="TIER",
    ),
    Setting(
        name="rag_ingest",
        becomes="run.ingest",
        default=False,
        help="Puts the passages of the questions into the system first, as documents, and deletes them at the end;"
        " in the tier end_to_end only.",
        read=read_switch,
        on_command_line=True,
        kind="switch",
    ),
    Setting(
        name="rag_keep_documents",
        becomes="run.keep_documents",
        default="never",
        help="Whether documents that the run put into the system stay there: never, on-failure or always.",
        read=read_keep,
    ),
    Setting(
        name="rag_repeats",
        becomes="run.repeats",
        default=1,
        help="How often each question is asked, each answer being judged; the median counts.",
        read=read_count,
    ),
    Setting(
        name="rag_question_timeout",
        becomes="run.question_timeout_seconds",
        default=600.0,
        help="Seconds for a question with all its requests, their repeats and the judge's; time in which it waits "
        "its turn behind other questions does not count.",
        read=read_seconds,
    ),
    Setting(
        name="rag_waiting_line",
        becomes="run.waiting_line_seconds",
        default=30.0,
        help="Seconds after which the terminal says what is waited for, again and again while nothing comes; 0: never.",
        read=read_delay,
    ),
    Setting(
        name="rag_require_endpoint",
        becomes="run.require_endpoint",
        default=False,
        help="Makes questions errors instead of skips if the run has no endpoint; for CI.",
        read=read_switch,
        on_command_line=True,
        kind="switch",
    ),
    Setting(
        name="rag_disable",
        becomes="run.disabled",
        default=(),
        help="Steps that the run leaves out: preflight (trying the judge on known answers), cache (verdicts of earlier "
        "runs) or prefetch (asking questions ahead of their items).",
        read=read_step,
        metavar="STEP",
        kind="words",
    ),
    Setting(
        name="rag_metrics",
        becomes="run.metrics",
        default=DEFAULT_GROUPS,
        help="The groups of metrics that are measured, in place of the default; one with + before it is added to "
        "it, such as +GROUP.",
        read=read_group,
        collect=chosen_groups,
        kind="words",
    ),
    Setting(
        name="rag_weights",
        becomes="run.weights",
        default=DEFAULT_WEIGHTS,
        help="What overall_score is the weighted mean of; a metric without a result is left out of it.",
        read=read_weight,
        collect=as_mapping,
        kind="words",
    ),
    Setting(
        name="rag_bertscore_model",
        becomes="run.bertscore_model",
        default=None,
        help="Model of the group bertscore: a folder or a name on the hub, and after @ the layer that is compared,"
        " such as roberta-large@17; without it the last one.",
        read=read_model,
        metavar="MODEL[@LAYER]",
    ),
    Setting(
        name="rag_question_files",
        becomes="run.question_files",
        default=(),
        help="Glob patterns of further question files, such as *_questions.json.",
        read=read_name,
        kind="words",
    ),
    Setting(
        name="rag_dataset",
        becomes="run.datasets",
        default=(),
        help="A standard dataset whose questions run too, from its official file or by its name; `ragcheck "
        "dataset` lists them; may be given several times.",
        read=read_dataset,
        on_command_line=True,
        metavar="NAME[:SUBSET][@SPLIT][=PATH]",
        kind="words",
    ),
    Setting(
        name="rag_samples",
        becomes="run.samples",
        default=None,
        help="Number of questions of each dataset, at most. Another seed takes other questions; a larger sample "
        "includes a smaller one of the same seed.",
        read=read_sample,
        on_command_line=True,
        metavar="NUMBER[@SEED]",
    ),
    Setting(
        name="rag_shard",
        becomes="run.shard",
        default=None,
        help="Runs part I of N of the questions, one part a machine; ragcheck merge puts the results together.",
        read=read_shard,
        on_command_line=True,
        metavar="I/N",
    ),
    Setting(
        name="rag_resume",
        becomes="run.resume",
        default=False,
        help="Goes on with the last run of this agent in the output folder, however it ended: what it finished is "
        "neither asked nor judged again, but for ERRORs and changed questions.",
        read=read_switch,
        on_command_line=True,
        kind="switch",
    ),
    Setting(
        name="rag_replay",
        becomes="run.replay",
        default=None,
        help="Takes answers and verdicts from the predictions file of an earlier run in place of asking; another "
        "judge judges the recorded answers anew.",
        read=read_path,
        on_command_line=True,
        metavar="PREDICTIONS",
    ),
    Setting(
        name="rag_dry_run",
        becomes="run.dry_run",
        default=False,
        help="Collects only, and says how many calls a run would make, about how many tokens, and what they cost.",
        read=read_switch,
        on_command_line=True,
        kind="switch",
    ),
    Setting(
        name="rag_max_cost",
        becomes="run.max_cost_usd",
        default=None,
        help="Stops asking when the judge and the system are known to have cost so much; the questions that are "
        "left are not run, and the run fails.",
        read=read_usd,
        on_command_line=True,
        metavar="USD",
    ),
    Setting(
        name="rag_output",
        becomes="run.output",
        default=Path("ragcheck-results"),
        help="Folder of the result files.",
        read=read_path,
        on_command_line=True,
        metavar="FOLDER",
    ),
    Setting(
        name="rag_agent",
        becomes="run.agent",
        default="rag",
        help="Name of the system under test; the result files begin with it.",
        read=read_name,
        on_command_line=True,
        metavar="NAME",
    ),
    Setting(
        name="rag_report",
        becomes="run.report",
        default=None,
        help="Writes the results as one HTML file that needs nothing else.",
        read=read_html_path,
        on_command_line=True,
        metavar="FILE.html",
    ),
    Setting(
        name="rag_markdown",
        becomes="run.markdown",
        default=None,
        help="Adds the results as Markdown to the file, regressions first; for a step summary or a comment.",
        read=read_path,
        on_command_line=True,
        metavar="FILE",
    ),
)
