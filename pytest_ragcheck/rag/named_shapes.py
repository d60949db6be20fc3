"""The shapes that have a name, each written as a user writes one of their own."""

from __future__ import annotations

from dataclasses import dataclass

CONTRACT = "query"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedShape:
    """The texts of a shape."""

    request: str
    """As in `rag_request`."""

    response: str
    """As in `rag_response`."""


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
    # No chat completion has contexts; `contexts` beside `choices` is where a server of one's own may put them.
    "openai-chat": NamedShape(
        request='{"messages": [{"role": "user", "content": "{query}"}]}',
        response="answer=choices[0].message.content contexts=contexts",
    ),
}


def read_name(text: str) -> NamedShape:
    """
    The shape of this name.

    Raises:
        ValueError: There is none; the text goes on from the name.
    """
    if text not in NAMED_SHAPES:
        raise ValueError(
            f"is no shape; choose one of {', '.join(NAMED_SHAPES)}, or describe another by rag_request and rag_response"
        )
    return NAMED_SHAPES[text]
