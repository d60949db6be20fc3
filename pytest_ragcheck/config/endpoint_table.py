"""Declares the settings that describe the endpoint and its requests."""

from __future__ import annotations

from types import MappingProxyType

from pytest_ragcheck.config.numbers import read_count, read_delay, read_number, read_seconds
from pytest_ragcheck.config.readers import (
    as_mapping,
    read_base_url,
    read_header,
    read_request,
    read_response,
    read_shape,
    read_url,
)
from pytest_ragcheck.config.setting import Setting

ENDPOINT: tuple[Setting, ...] = (
    Setting(
        name="rag_url",
        becomes="endpoint.url",
        default=None,
        help="The RAG endpoint that questions are sent to.",
        read=read_url,
        on_command_line=True,
        environment="RAGCHECK_URL",
        metavar="URL",
    ),
    Setting(
        name="rag_base_url",
        becomes="endpoint.base_url",
        default=None,
        help="What the server's other routes follow: /query/with-context, /upload, /tasks, /documents. Where it is"
        " not given, the URL of the endpoint without a final /query.",
        read=read_base_url,
    ),
    Setting(
        name="rag_shape",
        becomes="endpoint.shape",
        default=None,
        help="How the endpoint is asked and its reply read: query, search-rag, server or openai-chat. Where it is "
        "not given query, and server where passages go along with the question or documents were uploaded.",
        read=read_shape,
    ),
    Setting(
        name="rag_request",
        becomes="endpoint.request",
        default=None,
        help="How the endpoint is asked, in place of the shape's own way: JSON with {query} and {top_k} in its "
        "strings, or GET and a query-string with them.",
        read=read_request,
    ),
    Setting(
        name="rag_response",
        becomes="endpoint.response",
        default=None,
        help="Where answer, contexts and source_ids are in a reply, in place of the shape's own places: "
        "answer=EXPRESSION contexts=EXPRESSION, in JMESPath.",
        read=read_response,
    ),
    Setting(
        name="rag_headers",
        becomes="endpoint.headers",
        default=MappingProxyType({}),
        help="Headers sent to the endpoint, one a line; {env:NAME} stands for a secret from the environment.",
        read=read_header,
        collect=as_mapping,
        kind="lines",
    ),
    Setting(
        name="rag_top_k",
        becomes="endpoint.top_k",
        default=5,
        help="How many contexts the endpoint is asked for.",
        read=read_count,
    ),
    Setting(
        name="rag_timeout",
        becomes="endpoint.timeout_seconds",
        default=60.0,
        help="Seconds for one request to the endpoint, the judge or the server of the embeddings.",
        read=read_seconds,
    ),
    Setting(
        name="rag_concurrency",
        becomes="endpoint.concurrency",
        default=8,
        help="How many requests to the endpoint run at once; 1 asks one question after another.",
        read=read_count,
        on_command_line=True,
        metavar="NUMBER",
    ),
    Setting(
        name="rag_delay",
        becomes="endpoint.delay_seconds",
        default=0.0,
        help="Seconds from the start of one request to the endpoint to that of the next, at least.",
        read=read_delay,
    ),
    Setting(
        name="rag_retries",
        becomes="endpoint.retries",
        default=2,
        help="How often a request that failed in passing (no connection, 408, 409, 502, 504) is repeated; after "
        "429 and 503 it waits for room in any case. "
        "From the judge also 500, 520 to 524 and 529 are repeated.",
        read=read_number,
    ),
)
