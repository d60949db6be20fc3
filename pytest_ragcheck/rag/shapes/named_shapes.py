"""The named shapes are written like a user's settings `rag_request` and `rag_response`."""

from __future__ import annotations

from dataclasses import dataclass

CONTRACT = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedShape:
    """The texts of a named shape, which `read_shape` parses."""

    request: str
    """A value of `rag_request`."""

    response: str
    """A value of `rag_response`."""


NAMED_SHAPES = {
    CONTRACT: NamedShape(
        request='{"query": "{query}", "top_k": "{top_k}"}',
        response="answer=answer contexts=contexts",
    ),
    "search-rag": NamedShape(
        request="GET questions={query}",
        response="answer=answer contexts=not_null(contexts, chunks)",
    ),
    "server": NamedShape(
        request='{"query": "{query}", "top_k": "{top_k}", "include_chunks": true}',
        response="answer=answer contexts=not_null(contexts, sources[].text) source_ids=sources[].document_id",
    ),
    # Chat completions have no contexts; a user's own server can add `contexts` beside `choices`.
    "openai-chat": NamedShape(
        request='{"messages": [{"role": "user", "content": "{query}"}]}',
        response="answer=choices[0].message.content contexts=contexts",
    ),
}


def read_name(text: str) -> NamedShape:
    """
    Return the shape with this name.

    Raises:
        ValueError: The name is unknown; the message continues a sentence that starts with the name.
    """
    if text not in NAMED_SHAPES:
        raise ValueError(
            f"is not a shape; choose one of {', '.join(NAMED_SHAPES)}, "
            "or describe another by rag_request and rag_response"
        )
    return NAMED_SHAPES[text]
