from __future__ import annotations

import httpx
import httpx2
import pytest


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(params=[httpx2, httpx], ids=["httpx2", "httpx"])
def library(request: pytest.FixtureRequest):
    """Each of the two HTTP libraries that a user may have."""
    return request.param
