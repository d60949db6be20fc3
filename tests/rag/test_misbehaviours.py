from __future__ import annotations

import asyncio

import httpx
import httpx2
import pytest

from pytest_ragcheck.errors import EndpointReplyError, EndpointStatusError, EndpointUnreachable
from tests.rag.misbehaviours import MISBEHAVIOURS

PASSING = {"Connection refused", "Closed without a reply", "Reset", "Reset within the body", "The body breaks off"}
"""Of the ways not to be reached those that may be gone the next time."""


LIBRARIES = pytest.mark.parametrize("library", [None, httpx2, httpx], ids=["own", "httpx2", "httpx"])


@LIBRARIES
@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_whatever_an_endpoint_does_wrong_ends_in_an_error_of_its_kind(name, library, monkeypatch, tmp_path):
    misbehaviour = MISBEHAVIOURS[name]
    error = asyncio.run(misbehaviour.fail(library, monkeypatch, tmp_path))
    assert type(error) is misbehaviour.error
    first, *to_do = str(error).split("\n")
    assert first.startswith(f"{error.url}: ")
    assert "/query" in error.url
    assert len(to_do) == 1
    # A setting at the end has no full stop, so that it can be copied.
    assert to_do[0].endswith(".") or "et rag_response = " in to_do[0]
    assert "pw123" not in str(error)
    if misbehaviour.error is EndpointStatusError:
        assert error.status is not None
        assert f"status {error.status} " in first
    elif issubclass(misbehaviour.error, EndpointReplyError):
        assert error.status == 200
        assert error.body is not None
        assert len(error.body) <= 2000
    else:
        assert (error.status, error.body) == (None, None)


@LIBRARIES
@pytest.mark.parametrize(
    # Whether a name may be found the next time depends on the machine's resolver.
    "name",
    [name for name, case in MISBEHAVIOURS.items() if case.error is EndpointUnreachable and name != "Name not found"],
)
def test_what_may_be_gone_the_next_time_is_distinguished_from_what_stays(name, library, monkeypatch, tmp_path):
    error = asyncio.run(MISBEHAVIOURS[name].fail(library, monkeypatch, tmp_path))
    assert isinstance(error, EndpointUnreachable)
    assert error.transient is (name in PASSING)
