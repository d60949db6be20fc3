"""Declares the settings of the judge and of the embeddings."""

from __future__ import annotations

from pytest_ragcheck.config.numbers import read_count, read_price
from pytest_ragcheck.config.readers import (
    read_base_url,
    read_embedding_model,
    read_judge,
    read_name,
    read_path,
)
from pytest_ragcheck.config.setting import Setting

JUDGE: tuple[Setting, ...] = (
    Setting(
        name="rag_judge",
        becomes="judge.name",
        default=None,
        help="Who judges the answers: openai (any OpenAI-compatible server), offline (no model, no key), ragas "
        "(the ragas library, an extra), none (keyless metrics only).",
        read=read_judge,
        on_command_line=True,
        environment="RAGCHECK_JUDGE",
        metavar="NAME",
        default_text="openai where a key, a model or a server for it is given",
    ),
    Setting(
        name="rag_judge_model",
        becomes="judge.model",
        default=None,
        help="Model of the openai judge.",
        read=read_name,
        on_command_line=True,
        environment="RAGCHECK_JUDGE_MODEL",
        metavar="MODEL",
    ),
    Setting(
        name="rag_judge_url",
        becomes="judge.url",
        default=None,
        help="Base URL of an OpenAI-compatible server, such as http://localhost:11434/v1; its key is read from "
        "RAGCHECK_JUDGE_API_KEY, never from OPENAI_API_KEY.",
        read=read_base_url,
        on_command_line=True,
        environment="RAGCHECK_JUDGE_URL",
        metavar="URL",
    ),
    Setting(
        name="rag_judge_prompt",
        becomes="judge.prompt",
        default="en",
        help="The judge's prompt: en, ru, or the path of a file of your own.",
        read=read_name,
    ),
    Setting(
        name="rag_judge_concurrency",
        becomes="judge.concurrency",
        default=None,
        default_text="as rag_concurrency",
        help="Number of requests to the judge that run at the same time.",
        read=read_count,
    ),
    Setting(
        name="rag_judge_repeats",
        becomes="judge.repeats",
        default=1,
        help="How often each answer is judged; the median counts, and the spread is recorded.",
        read=read_count,
    ),
    Setting(
        name="rag_judge_price",
        becomes="judge.price",
        default=None,
        help="US dollars for a million tokens that the judge's model reads, and for a million that it writes, in "
        "place of the price table's.",
        read=read_price,
    ),
    Setting(
        name="rag_calibration",
        becomes="judge.calibrations",
        default=(),
        help="Files that ragcheck calibrate --output wrote, one a line: how often the judge agrees with people "
        "then stands beside its means.",
        read=read_path,
        kind="lines",
    ),
    Setting(
        name="rag_embedding_model",
        becomes="judge.embedding_model",
        default=None,
        help="Model of the metrics that compare meanings by embeddings, on the judge's server unless "
        "rag_embedding_url names another; or local: and a folder or a name on the hub, such as "
        "local:sentence-transformers/all-MiniLM-L6-v2.",
        read=read_embedding_model,
        environment="RAGCHECK_EMBEDDING_MODEL",
    ),
    Setting(
        name="rag_embedding_url",
        becomes="judge.embedding_url",
        default=None,
        help="Base URL of an OpenAI-compatible server with embeddings; its key is read from "
        "RAGCHECK_EMBEDDING_API_KEY, never from OPENAI_API_KEY.",
        read=read_base_url,
        environment="RAGCHECK_EMBEDDING_URL",
    ),
)
