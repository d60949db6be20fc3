"""The shape of an endpoint: how it is asked, and how its reply is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.named_shapes import CONTRACT, read_name
from pytest_ragcheck.rag.reading import Reading
from pytest_ragcheck.rag.request import read_template

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from pytest_ragcheck.rag.request import RequestTemplate

    T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How an endpoint is asked, and how its reply is read."""

    request: RequestTemplate
    reading: Reading
    reads_the_contract: bool
    """Whether a reply of another form is the endpoint's mistake, and not one of the settings."""


def read_shape(name: str = CONTRACT, request: str | None = None, response: str | None = None) -> Shape:
    """
    The named shape; a *request* or *response* of the user's own stands in place of the shape's.

    Args:
        name: One of `NAMED_SHAPES`.
        request: A template, as `read_template` takes it.
        response: Expressions, as `Reading.from_text` takes them.

    Raises:
        UsageError: One of them cannot be read; the text says what to write.
    """
    named = _read("shape", name, read_name)
    template = _read("request", named.request if request is None else request, read_template)
    reading = _read("response", named.response if response is None else response, Reading.from_text)
    return Shape(request=template, reading=reading, reads_the_contract=response is None and name == CONTRACT)


def _read(what: str, text: str, read: Callable[[str], T]) -> T:
    try:
        return read(text.strip())
    except ValueError as error:
        raise UsageError(f"{what}: {text!r} {error}") from None
