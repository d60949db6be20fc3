"""Options of a run as a whole: its questions, what it is compared with, what it writes."""

from __future__ import annotations

from pytest_ragcheck.option_numbers import read_count, read_fraction, read_number, read_shard, read_usd
from pytest_ragcheck.option_values import (
    read_baseline_place,
    read_dataset,
    read_gate,
    read_html_path,
    read_missing,
    read_name,
    read_other_baseline,
    read_path,
)
from pytest_ragcheck.options.option import Option

RUNNING: tuple[Option, ...] = (
    Option(
        name="rag_question_files",
        help="Glob patterns of further question files, such as *_questions.json.",
        read=read_name,
        flag=False,
        kind="words",
    ),
    Option(
        name="rag_dataset",
        becomes="datasets",
        help="A standard dataset whose questions run too, from its official file or by its name; `ragcheck dataset` "
        "lists them; may be given several times.",
        read=read_dataset,
        metavar="NAME[:SUBSET][@SPLIT][=PATH]",
        kind="words",
    ),
    Option(
        name="rag_samples",
        help="How many questions of each dataset are taken at most; which ones, rag_seed says.",
        read=read_count,
        metavar="NUMBER",
    ),
    Option(
        name="rag_seed",
        help="Which questions of a dataset are taken; a larger sample of the same seed has those of a smaller one.",
        read=read_number,
        flag=False,
        default_shown="0",
    ),
    Option(
        name="rag_shard",
        help="Runs part I of N of the questions, one part a machine; ragcheck merge puts the results together.",
        read=read_shard,
        metavar="I/N",
    ),
    Option(
        name="rag_resume",
        help="Goes on with the last run of this agent in the output folder, however it ended: what it finished is "
        "neither asked nor judged again, but for ERRORs and changed questions.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_replay",
        help="Takes answers and verdicts from the predictions file of an earlier run in place of asking; another judge "
        "judges the recorded answers anew.",
        read=read_path,
        metavar="PREDICTIONS",
    ),
    Option(
        name="rag_dry_run",
        help="Collects only, and says how many calls a run would make, about how many tokens, and what they cost.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_max_cost",
        becomes="max_cost_usd",
        help="Stops asking when the judge and the system are known to have cost so much; the questions that are left "
        "are not run, and the run fails.",
        read=read_usd,
        metavar="USD",
    ),
    Option(
        name="rag_max_errors",
        help="Stops the run when more questions than this are ERRORs; without it there is no limit.",
        read=read_number,
        flag=False,
    ),
    Option(
        name="rag_baseline",
        help="Compares with the predictions file of an earlier full run, or git:REV:PATH: a question that newly fails "
        "or is missing makes the run fail.",
        read=read_baseline_place,
        metavar="PREDICTIONS",
    ),
    Option(
        name="rag_gate",
        help="each: every FAIL makes the run fail; regression: what became worse than the baseline by more than noise; "
        "rate:R: a share of passing questions below R.",
        read=read_gate,
        metavar="GATE",
        default_shown="each",
    ),
    Option(
        name="rag_tolerance",
        help="By how much a metric's mean may drop below the baseline's under --rag-gate=regression, 0 to 1.",
        read=read_fraction,
        flag=False,
        default_shown="0.01",
    ),
    Option(
        name="rag_false_alarms",
        help="How often --rag-gate=regression may turn red with nothing changed, 0 to 1.",
        read=read_fraction,
        flag=False,
        default_shown="0.01",
    ),
    Option(
        name="rag_missing",
        help="What a question of the baseline is that is not there any more: regression or allowed.",
        read=read_missing,
        flag=False,
        default_shown="regression",
    ),
    Option(
        name="rag_other_baseline",
        help="What becomes of a baseline with another judge, prompt, tier, top_k, metrics or dataset: refuse or "
        "compare.",
        read=read_other_baseline,
        flag=False,
        default_shown="refuse",
    ),
    Option(
        name="rag_output",
        help="Folder of the result files.",
        read=read_path,
        metavar="FOLDER",
        default_shown="ragcheck-results",
    ),
    Option(
        name="rag_agent",
        help="Name of the system under test; the result files begin with it.",
        read=read_name,
        metavar="NAME",
        default_shown="rag",
    ),
    Option(
        name="rag_session_name",
        help="The dataset_name of result files that hold several datasets.",
        read=read_name,
        flag=False,
        default_shown="session",
    ),
    Option(
        name="rag_report",
        help="Writes the results as one HTML file that needs nothing else.",
        read=read_html_path,
        metavar="FILE.html",
    ),
    Option(
        name="rag_markdown",
        help="Adds the results as Markdown to the file, regressions first; for a step summary or a comment.",
        read=read_path,
        metavar="FILE",
    ),
)
