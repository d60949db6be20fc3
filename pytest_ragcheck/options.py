"""
Every option: where it may be given, how its text is read, what it means.

Each stands once in `OPTIONS`; the pytest options, their help, the reference page and the error texts come from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_ragcheck.metrics.catalogue import (
    DEFAULT_GROUPS,
    DEFAULT_WEIGHTS,
)
from pytest_ragcheck.option_values import (
    read_base_url,
    read_baseline_place,
    read_count,
    read_dataset,
    read_delay,
    read_fraction,
    read_gate,
    read_group,
    read_header,
    read_judge,
    read_keep,
    read_minimum,
    read_missing,
    read_model,
    read_name,
    read_number,
    read_on_off,
    read_other_baseline,
    read_path,
    read_price,
    read_request,
    read_response,
    read_seconds,
    read_shape,
    read_shard,
    read_tier,
    read_url,
    read_usd,
    read_weight,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting as a user gives it."""

    name: str
    """Name in the ini file; on the command line with `--` and dashes."""

    help: str
    read: Callable[[str], Any]
    """From the given text to the value; a ValueError goes on from the text: `is not ...; write ...`."""

    flag: bool = True
    """Whether it can be given on the command line too."""

    environment: str | None = None
    metavar: str = "TEXT"
    kind: Literal["text", "words", "lines", "switch"] = "text"
    """One text, several separated by blanks (repeatable on the command line), several by line, or on/off."""

    default_shown: str = ""
    """As help and reference page say it; empty where there is none."""

    @property
    def switch(self) -> str:
        """The command line's form of the name."""
        return "--" + self.name.replace("_", "-")


OPTIONS: tuple[Option, ...] = (
    Option(
        name="rag_url",
        help="The RAG endpoint that questions are sent to.",
        read=read_url,
        environment="RAGCHECK_URL",
        metavar="URL",
    ),
    Option(
        name="rag_threshold",
        help="Minimum of answer_correctness and groundedness, 0 to 1; a question or its file may set its own.",
        read=read_fraction,
        metavar="NUMBER",
        default_shown="0.7",
    ),
    Option(
        name="rag_min",
        help="Asserts a further metric, or sets the minimum of one metric alone; may be given several times.",
        read=read_minimum,
        metavar="METRIC=VALUE",
        kind="words",
    ),
    Option(
        name="rag_metrics",
        help="The groups of metrics that are measured, in place of the default; one with + before it is added to it, "
        "such as +GROUP.",
        read=read_group,
        flag=False,
        kind="words",
        default_shown=" ".join(DEFAULT_GROUPS),
    ),
    Option(
        name="rag_weights",
        help="What overall_score is the weighted mean of; a metric without a result is left out of it.",
        read=read_weight,
        flag=False,
        kind="words",
        default_shown=" ".join(f"{metric}={weight:g}" for metric, weight in DEFAULT_WEIGHTS.items()),
    ),
    Option(
        name="rag_judge",
        help="Who judges the answers: openai (any OpenAI-compatible server), offline (no model, no key), "
        "ragas (the ragas library, an extra), none (keyless metrics only).",
        read=read_judge,
        environment="RAGCHECK_JUDGE",
        metavar="NAME",
        default_shown="openai where a key, a model or a server for it is given",
    ),
    Option(
        name="rag_judge_model",
        help="Model of the openai judge.",
        read=read_name,
        environment="RAGCHECK_JUDGE_MODEL",
        metavar="MODEL",
    ),
    Option(
        name="rag_judge_url",
        help="Base URL of an OpenAI-compatible server, such as http://localhost:11434/v1; its key is read from "
        "RAGCHECK_JUDGE_API_KEY, never from OPENAI_API_KEY.",
        read=read_base_url,
        environment="RAGCHECK_JUDGE_URL",
        metavar="URL",
    ),
    Option(
        name="rag_judge_repeats",
        help="How often each answer is judged; the median counts, and the spread is recorded.",
        read=read_count,
        flag=False,
        default_shown="1",
    ),
    Option(
        name="rag_repeats",
        help="How often each question is asked, each answer being judged; the median counts.",
        read=read_count,
        flag=False,
        default_shown="1",
    ),
    Option(
        name="rag_spread_limit",
        help="The largest difference between repeated values of one metric that is not called unstable, 0 to 1.",
        read=read_fraction,
        flag=False,
        default_shown="0.2",
    ),
    Option(
        name="rag_embedding_model",
        help="Model of the metrics that compare meanings by embeddings, on the judge's server unless rag_embedding_url "
        "names another.",
        read=read_name,
        flag=False,
        environment="RAGCHECK_EMBEDDING_MODEL",
    ),
    Option(
        name="rag_embedding_url",
        help="Base URL of an OpenAI-compatible server with embeddings; its key is read from "
        "RAGCHECK_EMBEDDING_API_KEY, never from OPENAI_API_KEY.",
        read=read_base_url,
        flag=False,
        environment="RAGCHECK_EMBEDDING_URL",
    ),
    Option(
        name="rag_dataset",
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
        name="rag_bertscore_model",
        help="Model of the group bertscore: a folder or a name on the hub, and after @ the layer that is compared, "
        "such as roberta-large@17; without it the last one.",
        read=read_model,
        flag=False,
        metavar="MODEL[@LAYER]",
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
        name="rag_max_errors",
        help="Stops the run when more questions than this are ERRORs; without it there is no limit.",
        read=read_number,
        flag=False,
    ),
    Option(
        name="rag_replay",
        help="Takes answers and verdicts from the predictions file of an earlier run in place of asking; another judge "
        "judges the recorded answers anew.",
        read=read_name,
        metavar="PREDICTIONS",
    ),
    Option(
        name="rag_shard",
        help="Runs part I of N of the questions, one part a machine; ragcheck merge puts the results together.",
        read=read_shard,
        metavar="I/N",
    ),
    Option(
        name="rag_report",
        help="Writes the results as one HTML file that needs nothing else.",
        read=read_name,
        metavar="FILE.html",
    ),
    Option(
        name="rag_markdown",
        help="Adds the results as Markdown to the file, regressions first; for a step summary or a comment.",
        read=read_name,
        metavar="FILE",
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
        help="Stops asking when the judge and the system are known to have cost so much; the questions that are left "
        "are not run, and the run fails.",
        read=read_usd,
        metavar="USD",
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
        name="rag_required",
        help="Makes it an error, not a skip, that there is no endpoint to ask; for CI.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_shape",
        help="How the endpoint is asked and its reply read: query, search-rag, server or openai-chat. Where it is not "
        "given query, and server where passages go along with the question or documents were uploaded.",
        read=read_shape,
        flag=False,
    ),
    Option(
        name="rag_base_url",
        help="What the server's other routes follow: /query/with-context, /upload, /tasks, /documents. Where it is "
        "not given, the URL of the endpoint without a final /query.",
        read=read_base_url,
        flag=False,
    ),
    Option(
        name="rag_request",
        help="How the endpoint is asked, in place of the shape's own way: JSON with {query} and {top_k} in its "
        "strings, or GET and a query-string with them.",
        read=read_request,
        flag=False,
    ),
    Option(
        name="rag_response",
        help="Where answer, contexts and source_ids are in a reply, in place of the shape's own places: "
        "answer=EXPRESSION contexts=EXPRESSION, in JMESPath.",
        read=read_response,
        flag=False,
    ),
    Option(
        name="rag_tier",
        help="How questions are asked: end_to_end (the system retrieves by itself) or generation (their gold passages "
        "go along, by POST /query/with-context); a file may say its own.",
        read=read_tier,
        metavar="TIER",
        default_shown="end_to_end",
    ),
    Option(
        name="rag_ingest",
        help="Puts the passages of the questions into the system first, as documents, and deletes them at the end; in "
        "the tier end_to_end only.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_keep_documents",
        help="Whether documents that the run put into the system stay there: never, on-failure or always.",
        read=read_keep,
        flag=False,
        default_shown="never",
    ),
    Option(
        name="rag_concurrency",
        help="How many requests to the endpoint run at once; 1 asks one question after another.",
        read=read_count,
        metavar="NUMBER",
        default_shown="8",
    ),
    Option(
        name="rag_judge_concurrency",
        help="How many requests to the judge run at once; as many as to the endpoint where it is not given.",
        read=read_count,
        flag=False,
    ),
    Option(
        name="rag_delay",
        help="Seconds from the start of one request to the endpoint to that of the next, at least.",
        read=read_delay,
        flag=False,
        default_shown="0",
    ),
    Option(
        name="rag_retries",
        help="How often a request that failed in passing (no connection, 408, 409, 502, 504) is repeated; after "
        "429 and 503 it waits for room in any case.",
        read=read_number,
        flag=False,
        default_shown="2",
    ),
    Option(
        name="rag_question_timeout",
        help="Seconds for a question with all its requests, their repeats and the judge's; time in which it waits its "
        "turn behind other questions does not count.",
        read=read_seconds,
        flag=False,
        default_shown="600",
    ),
    Option(
        name="rag_waiting_line",
        help="Seconds after which the terminal says what is waited for, again and again while nothing comes; 0: never.",
        read=read_delay,
        flag=False,
        default_shown="30",
    ),
    Option(
        name="rag_read_ahead",
        help="on: questions are asked before pytest comes to them, many at once; off: each in its turn.",
        read=read_on_off,
        flag=False,
        default_shown="on",
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
        name="rag_headers",
        help="Headers sent to the endpoint, one a line; {env:NAME} stands for a secret from the environment.",
        read=read_header,
        flag=False,
        kind="lines",
    ),
    Option(
        name="rag_top_k",
        help="How many contexts the endpoint is asked for.",
        read=read_count,
        flag=False,
        default_shown="5",
    ),
    Option(
        name="rag_timeout",
        help="Seconds for a whole request to the endpoint.",
        read=read_seconds,
        flag=False,
        default_shown="60",
    ),
    Option(
        name="rag_judge_prompt",
        help="The judge's prompt: en, ru, or the path of a file of your own.",
        read=read_name,
        flag=False,
        default_shown="en",
    ),
    Option(
        name="rag_judge_timeout",
        help="Seconds for one request to the judge.",
        read=read_seconds,
        flag=False,
        default_shown="60",
    ),
    Option(
        name="rag_calibration",
        help="Files that ragcheck calibrate --output wrote, one a line: how often the judge agrees with people then "
        "stands beside its means.",
        read=read_name,
        flag=False,
        kind="lines",
    ),
    Option(
        name="rag_judge_price",
        help="US dollars for a million tokens that the judge's model reads, and for a million that it writes, in "
        "place of the price table's.",
        read=read_price,
        flag=False,
    ),
    Option(
        name="rag_cache",
        help="on: the openai judge is not asked again what it judged in an earlier run; off: it is asked every time.",
        read=read_on_off,
        flag=False,
        default_shown="on",
    ),
    Option(
        name="rag_preflight",
        help="on: before the first question the openai judge is tried on six answers, and one that cannot tell good "
        "from bad ends the run; off: it is not.",
        read=read_on_off,
        flag=False,
        default_shown="on",
    ),
    Option(
        name="rag_session_name",
        help="The dataset_name of result files that hold several datasets.",
        read=read_name,
        flag=False,
        default_shown="session",
    ),
    Option(
        name="rag_question_files",
        help="Glob patterns of further question files, such as *_questions.json.",
        read=read_name,
        flag=False,
        kind="words",
    ),
)
