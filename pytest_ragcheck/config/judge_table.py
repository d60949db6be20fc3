"""Declares the settings of the judge and of the embeddings."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from pytest_ragcheck.config.numbers import read_count, read_price
from pytest_ragcheck.config.readers import (
    as_mapping,
    read_base_url,
    read_embedding_model,
    read_header,
    read_judge,
    read_name,
    read_parameters,
    read_path,
)
from pytest_ragcheck.config.setting import Setting

_setting = partial(Setting, group="judge")

JUDGE: tuple[Setting, ...] = (
    _setting(
        name="rag_judge",
        field="name",
        help="The judge: openai (any OpenAI-compatible server), offline (no model, no key), local (a "
        "token classifier on this machine, an extra), ragas (the ragas library, an extra) or none (only metrics "
        "that need no judge).",
        read=read_judge,
        environment="RAGCHECK_JUDGE",
        metavar="NAME",
        default_text="openai if a key, a model or a server for it is given",
    ),
    _setting(
        name="rag_judge_model",
        help="Model of the judge: its name at the server, or for the local judge a folder or a name on the hub.",
        read=read_name,
        environment="RAGCHECK_JUDGE_MODEL",
        metavar="MODEL",
    ),
    _setting(
        name="rag_judge_url",
        help="Base URL of an OpenAI-compatible server, such as http://localhost:11434/v1. Its key is "
        "RAGCHECK_JUDGE_API_KEY, never OPENAI_API_KEY.",
        read=read_base_url,
        environment="RAGCHECK_JUDGE_URL",
        metavar="URL",
    ),
    _setting(
        name="rag_judge_headers",
        help="Headers of requests to the judge's server, one per line. {env:NAME} inserts an environment variable.",
        read=read_header,
        collect=as_mapping,
        kind="lines",
    ),
    _setting(
        name="rag_judge_parameters",
        default=MappingProxyType({}),
        help="Parameters of requests to the judge's model, as a JSON object: max_tokens, reasoning_effort, "
        "temperature, or any other key that the server takes.",
        read=read_parameters,
    ),
    _setting(
        name="rag_judge_prompt",
        default="en",
        help="Prompt of the judge: en, ru, or the path of a file.",
        read=read_name,
    ),
    _setting(
        name="rag_judge_concurrency",
        default_text="as rag_concurrency",
        help="Number of requests to the judge that run at the same time.",
        read=read_count,
    ),
    _setting(
        name="rag_judge_repeats",
        default=1,
        help="Number of times that each answer is judged. The median counts, and the spread is recorded.",
        read=read_count,
    ),
    _setting(
        name="rag_judge_price",
        help="Price of the judge's model in US dollars per million tokens, first of input, then of output. It "
        "replaces the price in the table.",
        read=read_price,
    ),
    _setting(
        name="rag_calibration",
        field="calibrations",
        help="Files written by ragcheck calibrate --output, one per line. The results then show how often the judge "
        "agrees with people.",
        read=read_path,
        kind="lines",
    ),
    _setting(
        name="rag_embedding_model",
        help="Embedding model of the metrics that compare meanings. MODEL: on the judge's server. MODEL@URL: on the "
        "OpenAI-compatible server with that base URL, with the key in RAGCHECK_EMBEDDING_API_KEY. local:MODEL: in this "
        "process, from a folder or the Hugging Face hub.",
        read=read_embedding_model,
        environment="RAGCHECK_EMBEDDING_MODEL",
    ),
)
