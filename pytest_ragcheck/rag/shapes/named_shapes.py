"""Lists the named shapes, written like the settings `rag_request` and `rag_response`."""

from __future__ import annotations

from pytest_ragcheck.frozen import frozen

CONTRACT = "query"
CHAT = '"messages": ["{history}", {"role": "user", "content": "{query}"}]'
"""The conversation in a request of OpenAI's API."""


@frozen
class NamedShape:
    """The texts of a named shape, which `read_shape` parses; the last four are those of `StreamReading`."""

    request: str
    response: str
    event: str | None = None
    """The response in each event of a streamed reply; None if it is the same as for a whole reply."""

    stream_end: str | None = None
    stream_error: str | None = None
    stream_replacement: str | None = None
    leaves_out_contexts: bool = False


NAMED_SHAPES = {
    CONTRACT: NamedShape(
        request='{"query": "{query}", "top_k": "{top_k}"}',
        response="answer=answer contexts=contexts source_ids=source_ids",
    ),
    "search-rag": NamedShape(
        request="GET questions={query}",
        response="answer=answer contexts=not_null(contexts, chunks)",
    ),
    "server": NamedShape(
        request='{"query": "{query}", "top_k": "{top_k}", "include_chunks": true, "session_id": "{session}"}',
        response=(
            "answer=answer contexts=not_null(contexts, sources[].text) source_ids=sources[].document_id "
            "session=session_id"
        ),
    ),
    # Chat completions have no contexts; a custom server can add `contexts` next to `choices`.
    "openai-chat": NamedShape(
        request=f"{{{CHAT}}}",
        response="answer=choices[0].message.content contexts=contexts",
        event="answer=choices[0].delta.content contexts=contexts",
        stream_end="choices[0].finish_reason",
    ),
    # POST /v1/chat-messages. An agent only streams, so every app is asked for a stream.
    "dify": NamedShape(
        request=(
            '{"inputs": {}, "query": "{query}", "response_mode": "streaming", "user": "pytest-ragcheck", '
            '"conversation_id": "{session}"}'
        ),
        response=(
            "answer=answer contexts=not_null(metadata.retriever_resources, `[]`)[].content "
            "source_ids=not_null(metadata.retriever_resources, `[]`)[].document_name session=conversation_id"
        ),
        event=(
            "answer=answer contexts=metadata.retriever_resources[].content "
            "source_ids=metadata.retriever_resources[].document_name session=conversation_id"
        ),
        stream_end="event == 'message_end'",
        # The moderation of Dify replaces an answer that it flags.
        stream_replacement="event == 'message_replace'",
        leaves_out_contexts=True,
    ),
    # POST /api/v1/chats_openai/{id}/chat/completions. The other route greets instead of answering the first question.
    "ragflow": NamedShape(
        request=f'{{"model": "model", {CHAT}, "stream": true, "extra_body": {{"reference": true}}}}',
        response=(
            "answer=choices[0].message.content contexts=not_null(choices[0].message.reference, `[]`)[].content "
            "source_ids=not_null(choices[0].message.reference, `[]`)[].document_name"
        ),
        event=(
            "answer=choices[0].delta.content contexts=choices[0].delta.reference[].content "
            "source_ids=choices[0].delta.reference[].document_name"
        ),
        stream_end="choices[0].finish_reason",
        stream_error="[choices[0].delta.content][?@ && starts_with(to_string(@), '**ERROR**')] | [0]",
        leaves_out_contexts=True,
    ),
    # POST /api/chat/completions. The request names a model, so rag_request must be set too.
    "open-webui": NamedShape(
        request=f'{{{CHAT}, "stream": true}}',
        response=(
            "answer=choices[0].message.content contexts=not_null(sources, `[]`)[].document[] "
            "source_ids=not_null(sources, `[]`)[].metadata[].source"
        ),
        event="answer=choices[0].delta.content contexts=sources[].document[] source_ids=sources[].metadata[].source",
        stream_end="choices[0].finish_reason",
        leaves_out_contexts=True,
    ),
}


def read_name(text: str) -> NamedShape:
    """
    The shape with this name.

    Raises:
        ValueError: The name is unknown; the message continues a sentence that starts with the name.
    """
    if text not in NAMED_SHAPES:
        raise ValueError(
            f"is not a shape; choose one of {', '.join(NAMED_SHAPES)}, "
            "or describe another by rag_request and rag_response"
        )
    return NAMED_SHAPES[text]
