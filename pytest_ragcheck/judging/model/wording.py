"""The words for a model in error texts: its purpose, and the settings that choose it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The words for a model and its server in error texts."""

    who: str
    """The server with its article, such as `the judge`."""

    user: str
    """The part that needs the model, such as `the openai judge`."""

    model: str
    url: str
    key: str
    other_key: str
    """The key that is used if `url` is not set."""

    concurrency: str
    timeout: str
    product: str
    """The content of a good reply."""

    path: str
    """The path of a call, which users often append to the API's base by mistake."""


JUDGE_MODEL = Wording(
    who="the judge",
    user="the openai judge",
    model="--rag-judge-model",
    url="--rag-judge-url",
    key="RAGCHECK_JUDGE_API_KEY",
    other_key="OPENAI_API_KEY",
    concurrency="rag_judge_concurrency",
    timeout="rag_timeout",
    product="chat completion",
    path="/chat/completions",
)

EMBEDDING_MODEL = Wording(
    who="the embedding server",
    user="a metric by embeddings",
    model="rag_embedding_model",
    url="the URL in rag_embedding_model",
    key="RAGCHECK_EMBEDDING_API_KEY",
    other_key="the judge's key",
    concurrency="rag_judge_concurrency",
    timeout="rag_timeout",
    product="list of embeddings",
    path="/embeddings",
)
