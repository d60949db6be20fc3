"""Options of how answers are judged: what is measured and asserted, and by whom."""

from __future__ import annotations

from pytest_ragcheck.metrics.catalogue import DEFAULT_GROUPS, DEFAULT_WEIGHTS
from pytest_ragcheck.option_numbers import read_count, read_fraction, read_price, read_seconds
from pytest_ragcheck.option_values import (
    read_base_url,
    read_embedding_model,
    read_group,
    read_judge,
    read_minimum,
    read_model,
    read_name,
    read_on_off,
    read_path,
    read_weight,
)
from pytest_ragcheck.options.option import Option

JUDGING: tuple[Option, ...] = (
    Option(
        name="rag_threshold",
        help="Minimum of answer_correctness and groundedness, 0 to 1; a question or its file may set its own.",
        read=read_fraction,
        metavar="NUMBER",
        default_shown="0.7",
    ),
    Option(
        name="rag_min",
        becomes="minimums",
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
        name="rag_judge_prompt",
        help="The judge's prompt: en, ru, or the path of a file of your own.",
        read=read_name,
        flag=False,
        default_shown="en",
    ),
    Option(
        name="rag_judge_timeout",
        becomes="judge_timeout_seconds",
        help="Seconds for one request to the judge.",
        read=read_seconds,
        flag=False,
        default_shown="60",
    ),
    Option(
        name="rag_judge_concurrency",
        help="How many requests to the judge run at once; as many as to the endpoint where it is not given.",
        read=read_count,
        flag=False,
    ),
    Option(
        name="rag_judge_repeats",
        help="How often each answer is judged; the median counts, and the spread is recorded.",
        read=read_count,
        flag=False,
        default_shown="1",
    ),
    Option(
        name="rag_judge_price",
        help="US dollars for a million tokens that the judge's model reads, and for a million that it writes, in "
        "place of the price table's.",
        read=read_price,
        flag=False,
    ),
    Option(
        name="rag_spread_limit",
        help="The largest difference between repeated values of one metric that is not called unstable, 0 to 1.",
        read=read_fraction,
        flag=False,
        default_shown="0.2",
    ),
    Option(
        name="rag_preflight",
        help="on: before the first question a judge that is a language model is tried on six answers, and one that "
        "cannot tell good from bad ends the run; off: it is not.",
        read=read_on_off,
        flag=False,
        default_shown="on",
    ),
    Option(
        name="rag_cache",
        help="on: the openai judge is not asked again what it judged in an earlier run; off: it is asked every time.",
        read=read_on_off,
        flag=False,
        default_shown="on",
    ),
    Option(
        name="rag_calibration",
        becomes="calibrations",
        help="Files that ragcheck calibrate --output wrote, one a line: how often the judge agrees with people then "
        "stands beside its means.",
        read=read_path,
        flag=False,
        kind="lines",
    ),
    Option(
        name="rag_embedding_model",
        help="Model of the metrics that compare meanings by embeddings, on the judge's server unless rag_embedding_url "
        "names another; or local: and a folder or a name on the hub, such as "
        "local:sentence-transformers/all-MiniLM-L6-v2.",
        read=read_embedding_model,
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
        name="rag_bertscore_model",
        help="Model of the group bertscore: a folder or a name on the hub, and after @ the layer that is compared, "
        "such as roberta-large@17; without it the last one.",
        read=read_model,
        flag=False,
        metavar="MODEL[@LAYER]",
    ),
)
