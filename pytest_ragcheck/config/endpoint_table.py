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
    _setting(name="rag_url", read=read_url, environment="RAGCHECK_URL", metavar="URL"),
    _setting(name="rag_base_url", read=read_base_url, default_text="rag_url without a final /query"),
    _setting(
        name="rag_shape",
        read=read_shape,
        default_text="server for questions whose passages are sent along or uploaded, query for all others",
    ),
    _setting(name="rag_request", read=read_request),
    _setting(name="rag_response", read=read_response),
    _setting(name="rag_stream", default=True, default_text="auto", read=read_stream),
    _setting(name="rag_headers", read=read_header, collect=as_mapping, kind="lines"),
    _setting(name="rag_identities", read=read_identity, collect=as_identities, kind="lines"),
    _setting(name="rag_top_k", default=5, read=read_count),
    _setting(name="rag_timeout", field="timeout_seconds", default=60.0, read=read_seconds),
    _setting(name="rag_concurrency", default=8, read=read_count, metavar="NUMBER"),
    _setting(name="rag_delay", field="delay_seconds", default=0.0, read=read_delay),
    _setting(name="rag_retries", default=2, read=read_number),
)
