from __future__ import annotations

from functools import partial

import anyio
import pytest

from pytest_ragcheck.errors import EndpointReplyError, EndpointStatusError
from tests.rag.misbehaviours import MISBEHAVIOURS


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_whatever_an_endpoint_does_wrong_ends_in_an_error_of_its_kind(name, library, monkeypatch, tmp_path):
    misbehaviour = MISBEHAVIOURS[name]
    error = anyio.run(partial(misbehaviour.fail, library, monkeypatch, tmp_path))
    assert type(error) is misbehaviour.error
    first, *to_do = str(error).split("\n")
    assert first.startswith(f"{error.url}: ")
    assert "/query" in error.url
    assert len(to_do) == 1
    assert to_do[0].endswith(".")
    assert "pw123" not in str(error)
    if misbehaviour.error is EndpointStatusError:
        assert error.status is not None
        assert f"status {error.status} " in first
    elif misbehaviour.error is EndpointReplyError:
        assert error.status == 200
        assert error.body is not None
        assert len(error.body) <= 2000
    else:
        assert (error.status, error.body) == (None, None)
