"""Options of how the system is asked: where it is, in what form, how many questions at once."""

from __future__ import annotations

from pytest_ragcheck.option_numbers import read_count, read_delay, read_number, read_seconds
from pytest_ragcheck.option_values import (
    read_base_url,
    read_header,
    read_keep,
    read_on_off,
    read_request,
    read_response,
    read_shape,
    read_tier,
    read_url,
)
from pytest_ragcheck.options.option import Option

ASKING: tuple[Option, ...] = (
    Option(
        name="rag_url",
        help="The RAG endpoint that questions are sent to.",
        read=read_url,
        environment="RAGCHECK_URL",
        metavar="URL",
    ),
    Option(
        name="rag_base_url",
        help="What the server's other routes follow: /query/with-context, /upload, /tasks, /documents. Where it is "
        "not given, the URL of the endpoint without a final /query.",
        read=read_base_url,
        flag=False,
    ),
    Option(
        name="rag_shape",
        help="How the endpoint is asked and its reply read: query, search-rag, server or openai-chat. Where it is not "
        "given query, and server where passages go along with the question or documents were uploaded.",
        read=read_shape,
        flag=False,
    ),
    Option(
        name="rag_request",
        help="How the endpoint is asked, in place of the shape's own way: JSON with {query} and {top_k} in its "
        "strings, or GET and a query-string with them.",
        read=read_request,
        flag=False,
    ),
    Option(
        name="rag_response",
        help="Where answer, contexts and source_ids are in a reply, in place of the shape's own places: "
        "answer=EXPRESSION contexts=EXPRESSION, in JMESPath.",
        read=read_response,
        flag=False,
    ),
    Option(
        name="rag_headers",
        help="Headers sent to the endpoint, one a line; {env:NAME} stands for a secret from the environment.",
        read=read_header,
        flag=False,
        kind="lines",
    ),
    Option(
        name="rag_top_k",
        help="How many contexts the endpoint is asked for.",
        read=read_count,
        flag=False,
        default_shown="5",
    ),
    Option(
        name="rag_timeout",
        becomes="timeout_seconds",
        help="Seconds for a whole request to the endpoint.",
        read=read_seconds,
        flag=False,
        default_shown="60",
    ),
    Option(
        name="rag_tier",
        help="How questions are asked: end_to_end (the system retrieves by itself) or generation (their gold passages "
        "go along, by POST /query/with-context); a file may say its own.",
        read=read_tier,
        metavar="TIER",
        default_shown="end_to_end",
    ),
    Option(
        name="rag_ingest",
        help="Puts the passages of the questions into the system first, as documents, and deletes them at the end; in "
        "the tier end_to_end only.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
    Option(
        name="rag_keep_documents",
        help="Whether documents that the run put into the system stay there: never, on-failure or always.",
        read=read_keep,
        flag=False,
        default_shown="never",
    ),
    Option(
        name="rag_repeats",
        help="How often each question is asked, each answer being judged; the median counts.",
        read=read_count,
        flag=False,
        default_shown="1",
    ),
    Option(
        name="rag_concurrency",
        help="How many requests to the endpoint run at once; 1 asks one question after another.",
        read=read_count,
        metavar="NUMBER",
        default_shown="8",
    ),
    Option(
        name="rag_delay",
        becomes="delay_seconds",
        help="Seconds from the start of one request to the endpoint to that of the next, at least.",
        read=read_delay,
        flag=False,
        default_shown="0",
    ),
    Option(
        name="rag_retries",
        help="How often a request that failed in passing (no connection, 408, 409, 502, 504) is repeated; after "
        "429 and 503 it waits for room in any case.",
        read=read_number,
        flag=False,
        default_shown="2",
    ),
    Option(
        name="rag_question_timeout",
        becomes="question_timeout_seconds",
        help="Seconds for a question with all its requests, their repeats and the judge's; time in which it waits its "
        "turn behind other questions does not count.",
        read=read_seconds,
        flag=False,
        default_shown="600",
    ),
    Option(
        name="rag_waiting_line",
        becomes="waiting_line_seconds",
        help="Seconds after which the terminal says what is waited for, again and again while nothing comes; 0: never.",
        read=read_delay,
        flag=False,
        default_shown="30",
    ),
    Option(
        name="rag_read_ahead",
        help="on: questions are asked before pytest comes to them, many at once; off: each in its turn.",
        read=read_on_off,
        flag=False,
        default_shown="on",
    ),
    Option(
        name="rag_required",
        help="Makes it an error, not a skip, that there is no endpoint to ask; for CI.",
        read=bool,
        kind="switch",
        default_shown="off",
    ),
)
