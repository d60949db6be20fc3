"""What a model behind a server is for, and by which settings it is chosen: the words of its errors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """The words in which errors speak of a model and its server, and tell what to change."""

    who: str
    """With its article, such as `the judge`."""

    user: str
    """Who cannot do without it, such as `the openai judge`."""

    model: str
    url: str
    key: str
    other_key: str
    """Read where `url` is not given."""

    concurrency: str
    timeout: str
    product: str
    """What a good reply is."""

    path: str
    """The end of the URL of a call, which is often given in place of the API's base."""


JUDGE_MODEL = Role(
    who="the judge",
    user="the openai judge",
    model="--rag-judge-model",
    url="--rag-judge-url",
    key="RAGCHECK_JUDGE_API_KEY",
    other_key="OPENAI_API_KEY",
    concurrency="rag_judge_concurrency",
    timeout="rag_judge_timeout",
    product="chat completion",
    path="/chat/completions",
)

EMBEDDING_MODEL = Role(
    who="the embedding server",
    user="a metric by embeddings",
    model="rag_embedding_model",
    url="rag_embedding_url",
    key="RAGCHECK_EMBEDDING_API_KEY",
    other_key="the judge's key",
    concurrency="rag_judge_concurrency",
    timeout="rag_judge_timeout",
    product="list of embeddings",
    path="/embeddings",
)
