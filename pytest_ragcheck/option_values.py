"""From the text that a user gives for an option to its value; a ValueError goes on from the text."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_ragcheck.metrics.catalogue import (
    ASSERTABLE,
    GROUPS,
    METRICS,
    OVERALL,
    listed,
)
from pytest_ragcheck.option_numbers import number_in, read_fraction

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_ragcheck.baseline_place import BaselinePlace
    from pytest_ragcheck.questions.datasets.choice import DatasetChoice

JUDGES = ("openai", "offline", "ragas", "none")

KEEP = ("never", "on-failure", "always")
"""When a run leaves its documents in the system."""


def read_url(text: str) -> str:
    """The text, if it is an http or https URL with a host."""
    return _whole(text, "http://localhost:8000/query")


def read_base_url(text: str) -> str:
    """The same for a URL that routes are put behind."""
    return _whole(text, "http://localhost:8000/v1")


def _whole(text: str, example: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is no number up to 65535
        usable = False
    if not usable or re.search(r"\s", text):
        raise ValueError(f"is not a URL; write it whole, such as {example}")
    return text


URL_READERS = (read_url, read_base_url)
"""The texts of these may hold secrets."""


def read_gate(text: str) -> str:
    """`each`, `regression`, or `rate:R`."""
    kind, _, rate = text.partition(":")
    if text in ("each", "regression"):
        return text
    if kind == "rate":
        with suppress(ValueError):
            return f"rate:{read_fraction(rate):g}"
    raise ValueError("is not a gate; choose each, regression, or rate:R with a rate from 0 to 1 such as rate:0.9")


def read_baseline_place(text: str) -> BaselinePlace:
    """A path, or `git:REV:PATH`."""
    from pytest_ragcheck.baseline_place import BaselinePlace  # noqa: PLC0415 - only for whoever compares

    place = BaselinePlace.from_text(read_path(text))
    if place.rev is not None and (not place.rev.strip() or place.rev.startswith("-") or not place.path.strip()):
        raise ValueError("is not git:REV:PATH; write it such as git:origin/main:tests/baseline.json")
    return place


def read_missing(text: str) -> str:
    """What a missing question is."""
    if text not in ("regression", "allowed"):
        raise ValueError("is neither regression nor allowed; write one of them")
    return text


def read_other_baseline(text: str) -> str:
    """What becomes of a baseline that was made otherwise."""
    if text not in ("refuse", "compare"):
        raise ValueError("is neither refuse nor compare; write one of them")
    return text


def read_on_off(text: str) -> bool:
    """`on` or `off`."""
    if text not in ("on", "off"):
        raise ValueError("is neither on nor off; write one of them")
    return text == "on"


def read_judge(text: str) -> str:
    """The name of a judge."""
    if text not in JUDGES:
        raise ValueError(f"is not a judge; choose one of {', '.join(JUDGES)}, or override the rag_judge fixture")
    return text


def read_name(text: str) -> str:
    """A name that is not blank."""
    if not text.strip():
        raise ValueError("is blank; leave it out, or write a name")
    return text.strip()


def read_path(text: str) -> str:
    """The path of a file or folder that is not blank."""
    if not text.strip():
        raise ValueError("is blank; leave it out, or write a path")
    return text.strip()


def read_html_path(text: str) -> str:
    """The path of a file whose name says that it is HTML."""
    path = read_path(text)
    if not path.lower().endswith((".html", ".htm")):
        raise ValueError("does not end in .html, and HTML is what is written; name the file such as report.html")
    return path


def read_minimum(text: str, own: Collection[str] = ()) -> tuple[str, float]:
    """`METRIC=VALUE`, of a metric that can be asserted or one of the users' *own*."""
    metric, equals, value = text.partition("=")
    metric = metric.strip()
    if not equals:
        raise ValueError("is not of the form METRIC=VALUE; write it such as f1=0.5")
    known = (*ASSERTABLE, *own)
    if metric not in known:
        raise ValueError(f"names no metric that can be asserted; {_instead_of(metric, known)}")
    return metric, read_fraction(value.strip())


def read_weight(text: str, own: Collection[str] = ()) -> tuple[str, float]:
    """`METRIC=WEIGHT`, of any metric but the weighted one itself, or one of the users' *own*."""
    metric, equals, value = text.partition("=")
    metric = metric.strip()
    if not equals:
        raise ValueError("is not of the form METRIC=WEIGHT; write it such as f1=2")
    known = tuple(name for name in (*METRICS, *own) if name != OVERALL)
    if metric not in known:
        raise ValueError(f"names no metric that can have a weight; {_instead_of(metric, known)}")
    weight = number_in(value)
    if not 0 < weight < float("inf"):
        raise ValueError("has no weight above 0; write it such as f1=2")
    return metric, weight


def read_group(text: str) -> str:
    """The name of a group of metrics, with `+` before it or not."""
    if text.removeprefix("+") not in GROUPS:
        raise ValueError(f"is no group of metrics; {_instead_of(text.removeprefix('+'), tuple(GROUPS))}")
    return text


def _instead_of(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for whoever mistypes

    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"choose one of {listed(known)}"


def read_model(text: str) -> tuple[str, int | None]:
    """A folder or a name on the hub, and the layer that stands after its `@`."""
    name, at, layer = text.rpartition("@")
    if not at:
        return read_name(text), None
    if not re.fullmatch(r"[1-9][0-9]{0,3}", layer) or not name.strip():
        raise ValueError("is not of the form MODEL or MODEL@LAYER; write it such as roberta-large@17")
    return name.strip(), int(layer)


LOCAL = "local:"
"""What stands before the name of an embedding model that runs in this process."""


def read_embedding_model(text: str) -> str:
    """The name of a model at a server, or `local:` and a folder or a name on the hub."""
    name = read_name(text)
    local = name.removeprefix(LOCAL).strip()
    if not local:
        raise ValueError("names no model; write it such as local:sentence-transformers/all-MiniLM-L6-v2")
    return LOCAL + local if name.startswith(LOCAL) else name


def read_header(text: str) -> tuple[str, str]:
    """`Name: value`."""
    match = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(\S.*)", text)
    if match is None:
        raise ValueError("is not of the form 'Name: value'; write it such as 'Authorization: Bearer {env:RAG_TOKEN}'")
    return match[1], match[2]


def read_dataset(text: str) -> DatasetChoice:
    """`NAME[:SUBSET][@SPLIT][=PATH]`."""
    from pytest_ragcheck.questions.datasets.choice import read_choice  # noqa: PLC0415 - only for whoever gives one

    return read_choice(text)


def read_keep(text: str) -> str:
    """When documents are kept."""
    if text not in KEEP:
        raise ValueError(f"is none of {', '.join(KEEP)}; write one of them")
    return text


def read_tier(text: str) -> str:
    """The name of a tier."""
    from pytest_ragcheck.questions.question import TIERS  # noqa: PLC0415 - only for whoever gives one

    if text not in TIERS:
        raise ValueError(f"is no tier; choose {' or '.join(TIERS)}")
    return text


def read_shape(text: str) -> str:
    """The name of a shape."""
    from pytest_ragcheck.rag.named_shapes import read_name  # noqa: PLC0415 - only for whoever gives one

    read_name(text)
    return text


def read_request(text: str) -> str:
    """A template of requests, as it was written."""
    from pytest_ragcheck.rag.request import read_template  # noqa: PLC0415 - only for whoever gives one

    read_template(text)
    return text


def read_response(text: str) -> str:
    """Expressions for the parts of a reply, as they were written."""
    from pytest_ragcheck.rag.reading import Reading  # noqa: PLC0415 - only for whoever gives them

    Reading.from_text(text)
    return text
