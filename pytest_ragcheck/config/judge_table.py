"""Declares the settings of the judge and of the embeddings."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from pytest_ragcheck.config.numbers import read_count, read_price
from pytest_ragcheck.config.readers import (
    as_mapping,
    read_base_url,
    read_embedding_model,
    read_header,
    read_judge,
    read_name,
    read_parameters,
    read_path,
)
from pytest_ragcheck.config.setting import Setting

_setting = partial(Setting, group="judge")

JUDGE: tuple[Setting, ...] = (
    _setting(
        name="rag_judge",
        field="name",
        read=read_judge,
        environment="RAGCHECK_JUDGE",
        metavar="NAME",
        default_text="openai if a key, a model or a server for it is given",
    ),
    _setting(name="rag_judge_model", read=read_name, environment="RAGCHECK_JUDGE_MODEL", metavar="MODEL"),
    _setting(name="rag_judge_url", read=read_base_url, environment="RAGCHECK_JUDGE_URL", metavar="URL"),
    _setting(name="rag_judge_headers", read=read_header, collect=as_mapping, kind="lines"),
    _setting(name="rag_judge_parameters", default=MappingProxyType({}), read=read_parameters),
    _setting(name="rag_judge_prompt", default="en", read=read_name),
    _setting(name="rag_judge_concurrency", default_text="as rag_concurrency", read=read_count),
    _setting(name="rag_judge_repeats", default=1, read=read_count),
    _setting(name="rag_judge_price", read=read_price),
    _setting(name="rag_calibration", field="calibrations", read=read_path, kind="lines"),
    _setting(name="rag_embedding_model", read=read_embedding_model, environment="RAGCHECK_EMBEDDING_MODEL"),
)
