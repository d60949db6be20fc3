"""Defines the kinds of models on a server: their request paths, and the words for them in error texts."""

from __future__ import annotations

from pytest_ragcheck.frozen import frozen


@frozen
class ModelKind:
    path: str
    """The path below the API's base; users often append it to the base by mistake."""

    who: str
    """The server with its article, such as `the judge`."""

    user: str
    """The part that needs the model, such as `the openai judge`."""

    model: str
    url: str
    key: str
    other_key: str
    """The key that is used if `url` is not set."""

    product: str
    """The content of a good reply."""


JUDGE_MODEL = ModelKind(
    path="/chat/completions",
    who="the judge",
    user="the openai judge",
    model="rag_judge_model",
    url="rag_judge_url",
    key="RAGCHECK_JUDGE_API_KEY",
    other_key="OPENAI_API_KEY",
    product="chat completion",
)

EMBEDDING_MODEL = ModelKind(
    path="/embeddings",
    who="the embedding server",
    user="a metric by embeddings",
    model="rag_embedding_model",
    url="the URL in rag_embedding_model",
    key="RAGCHECK_EMBEDDING_API_KEY",
    other_key="the judge's key",
    product="list of embeddings",
)
