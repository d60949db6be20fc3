"""Declares the settings that describe the endpoint and its requests."""

from __future__ import annotations

from functools import partial

from pytest_ragcheck.config.numbers import read_count, read_delay, read_number, read_seconds
from pytest_ragcheck.config.readers import (
    as_identities,
    as_mapping,
    read_base_url,
    read_header,
    read_identity,
    read_request,
    read_response,
    read_shape,
    read_stream,
    read_url,
)
from pytest_ragcheck.config.setting import Setting

_setting = partial(Setting, group="endpoint")

ENDPOINT: tuple[Setting, ...] = (
    _setting(
        name="rag_url",
        help="URL of the RAG endpoint that answers the questions.",
        read=read_url,
        environment="RAGCHECK_URL",
        metavar="URL",
    ),
    _setting(
        name="rag_base_url",
        help="Base URL of the server's other routes: /query/with-context, /upload, /tasks and /documents.",
        read=read_base_url,
        default_text="rag_url without a final /query",
    ),
    _setting(
        name="rag_shape",
        help="Format of requests and replies: query, search-rag, server, openai-chat, dify, ragflow or open-webui.",
        read=read_shape,
        default_text="server for questions whose passages are sent along or uploaded, query for all others",
    ),
    _setting(
        name="rag_request",
        help="Template of a request, in place of the shape's: JSON with {query} and {top_k} in its strings, or GET "
        "and a query string. {history} or {session} carries the earlier turns of a conversation.",
        read=read_request,
    ),
    _setting(
        name="rag_response",
        help="Places of answer, contexts, source_ids and session in a reply, in place of the shape's, as JMESPath "
        "expressions: answer=EXPRESSION contexts=EXPRESSION.",
        read=read_response,
    ),
    _setting(
        name="rag_stream",
        default=True,
        default_text="auto",
        help="auto: a reply with the content type of a stream of events is read as one. off: it is an error.",
        read=read_stream,
    ),
    _setting(
        name="rag_headers",
        help="Headers of requests to the endpoint, one per line. {env:NAME} inserts an environment variable.",
        read=read_header,
        collect=as_mapping,
        kind="lines",
    ),
    _setting(
        name="rag_identities",
        help="Headers of each identity that a question can be asked as, one header per line: the name of the identity, "
        "the name of the header, its value. {env:NAME} inserts an environment variable.",
        read=read_identity,
        collect=as_identities,
        kind="lines",
    ),
    _setting(
        name="rag_top_k",
        default=5,
        help="Number of contexts to request from the endpoint.",
        read=read_count,
    ),
    _setting(
        name="rag_timeout",
        field="timeout_seconds",
        default=60.0,
        help="Time limit in seconds of one request to the endpoint, the judge or the embedding server. All requests "
        "of a question together may take ten times as long.",
        read=read_seconds,
    ),
    _setting(
        name="rag_concurrency",
        default=8,
        help="Number of requests to the endpoint that run at the same time.",
        read=read_count,
        metavar="NUMBER",
    ),
    _setting(
        name="rag_delay",
        field="delay_seconds",
        default=0.0,
        help="Minimum time in seconds between the starts of two requests to the endpoint.",
        read=read_delay,
    ),
    _setting(
        name="rag_retries",
        default=2,
        help="Number of retries of a request that failed temporarily: no connection, or status 408, 409, 502 or 504, "
        "and from the judge also 500, 520 to 524 and 529. After 429 and 503 a request is retried while other requests "
        "succeed.",
        read=read_number,
    ),
)
