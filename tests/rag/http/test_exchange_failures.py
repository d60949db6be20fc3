from __future__ import annotations

import pytest

from pytest_ragcheck.rag.http.connections import Phase
from pytest_ragcheck.rag.http.endpoint_address import read_address
from pytest_ragcheck.rag.http.exchange_failures import unreachable


@pytest.mark.parametrize("kind", [ConnectionResetError, BrokenPipeError, ConnectionAbortedError])
def test_a_connection_that_breaks_off_is_reset(kind: type[OSError]) -> None:
    """Windows aborts a connection where other systems reset it."""
    address = read_address("http://rag.example/query", {})
    error = unreachable(address, kind(10053, "An established connection was aborted"), Phase.READING, None)
    assert str(error) == (
        "http://rag.example/query: connection reset while reading the reply's body\n"
        "See the server's log: it, or a proxy before it, broke off."
    )
