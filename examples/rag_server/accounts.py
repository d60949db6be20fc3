"""Gives each tenant documents of its own; a token says which tenant asks."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount

from .app import create_app
from .documents import DocumentIndex

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.types import Receive, Scope, Send

    from .faults import Faults
    from .llm import LanguageModel


def accounts_from(setting: str) -> dict[str, str]:
    """The tenant of each token in a comma list such as `token-a=acme, token-b=globex`."""
    pairs = (each.partition("=") for each in setting.split(",") if each.strip())
    return {token.strip(): tenant.strip() for token, _, tenant in pairs}


def create_app_with_accounts(
    accounts: Mapping[str, str],
    index: DocumentIndex,
    faults: Faults,
    model: LanguageModel | None,
    *,
    cites: bool = False,
) -> Starlette:
    """The server for the tenants of *accounts*; with the fault `leaks` all of them share *index*."""
    apps = {
        tenant: create_app(index if faults.leaks else DocumentIndex(), faults, model, cites=cites)
        for tenant in dict.fromkeys(accounts.values())
    }

    async def app_of_tenant(scope: Scope, receive: Receive, send: Send) -> None:
        token = Request(scope).headers.get("authorization", "").removeprefix("Bearer ")
        app = apps[accounts[token]] if token in accounts else JSONResponse({"error": "unknown token"}, status_code=401)
        await app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps.values():
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    return Starlette(routes=[Mount("/", app=app_of_tenant)], lifespan=lifespan)
