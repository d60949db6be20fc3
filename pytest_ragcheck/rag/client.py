"""The client of the system under test, which is an HTTP endpoint or a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.client_calls import BlockingRagClient, ClientCalls
from pytest_ragcheck.redaction import header_secrets

if TYPE_CHECKING:
    import httpx
    import httpx2
    from typing_extensions import Self

    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.rag.endpoint_settings import DescribesEndpoint
    from pytest_ragcheck.rag.http.asgi_app import AsgiApp
    from pytest_ragcheck.rag.http.asgi_lifespan import AsgiCallable


class RagClient(ClientCalls):
    """
    Asks a RAG endpoint: `POST {"query", "top_k"}` -> `{"answer", "contexts"}`, or in any other shape.

    One client works from several event loops. After closing, the next question opens new connections.

    Args:
        url: The route for questions, such as `http://localhost:8000/query`.
        headers: Sent with every question; no text shows their values.
        identities: Further headers of each identity, by its name. A question with `as` is asked with them.
        top_k: How many contexts are requested for a question without its own `top_k`, >= 1. None: the number of the
            run, or 5 outside of a run.
        timeout_seconds: Limit of a whole exchange, from connecting to the last byte, > 0.
        max_reply_bytes: Limit of a reply's body, decompressed, >= 1.
        http: Your own `AsyncClient` of httpx or httpx2, for TLS settings or proxies. Its own settings apply, but
            `timeout_seconds` limits the exchange and redirects are not followed.
        close_http: True if `aclose` closes your own client too.
        app: An ASGI app in this process, such as `FastAPI()`, which takes the requests in place of a server. *url* and
            *base_url* may be paths. The first request starts the lifespan of the app, in the running event loop, and
            `aclose` ends it; each of the two has `timeout_seconds`.
        base_url: The base of the routes for passages and documents; *url* without a final `/query` if None.
        shape: `query` (the contract), `search-rag`, `server`, `openai-chat`, `dify`, `ragflow` or `open-webui`. If
            None, `query` for plain questions, and `server` for requests that carry passages or ask for chunks.
        request: The request to send in place of the shape's: JSON such as
            `{"input": "{query}", "k": "{top_k}"}`, or `GET q={query}&k={top_k}`. In conversations it carries the
            earlier turns as `{history}`, or the session of their replies as `{session}`.
        response: Where the parts of the reply are, in place of the shape's places, in JMESPath:
            `answer=result.text contexts=references[].content[]`, and `source_ids=` and `session=` if the reply has any.
        stream: True if a reply with the content type of a stream of events is read as one; otherwise it is an error.

    Raises:
        UsageError: An argument cannot work.
    """

    _secrets: Collection[str] = ()
    _sent_secrets: Collection[str] = ()
    _app: AsgiApp | None = None

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        identities: Mapping[str, Mapping[str, str]] | None = None,
        top_k: int | None = None,
        timeout_seconds: float = 60.0,
        max_reply_bytes: int = 10_000_000,
        http: httpx.AsyncClient | httpx2.AsyncClient | None = None,
        close_http: bool = False,
        app: AsgiCallable | None = None,
        base_url: str | None = None,
        shape: str | None = None,
        request: str | None = None,
        response: str | None = None,
        stream: bool = True,
    ) -> None:
        from pytest_ragcheck.rag.http.endpoint_address import check_header
        from pytest_ragcheck.rag.http.route import HttpRoute
        from pytest_ragcheck.rag.http_service import HttpService

        _check_limits(top_k, timeout_seconds)
        if not is_whole(max_reply_bytes):
            raise UsageError(f"max_reply_bytes is {max_reply_bytes!r}; give a whole number of bytes, at least 1.")
        if app is not None:
            from pytest_ragcheck.rag.http.asgi_app import AsgiApp
            from pytest_ragcheck.rag.http.endpoint_address import in_app

            if http is not None:
                raise UsageError("RagClient takes http= or app=, not both: an app needs no HTTP client.")
            self._app = AsgiApp(app, limit_seconds=timeout_seconds)
            url, base_url = in_app(url), base_url and in_app(base_url)
        every = _all_headers(headers, identities)
        for name, value in every:
            check_header(name, value)
        every += getattr(http, "headers", {}).items()
        self._secrets = tuple(secret for name, value in every for secret in header_secrets(name, value))
        route = HttpRoute(
            url,
            headers=headers or {},
            timeout_seconds=timeout_seconds,
            max_reply_bytes=max_reply_bytes,
            http=http,
            app=self._app,
            close_http=close_http,
        )
        self._sent_secrets = route.sent_secrets
        service = HttpService(
            route,
            base_url=base_url,
            shape=shape,
            request=request,
            response=response,
            stream=stream,
            identities=identities or {},
        )
        super().__init__(service, top_k)

    @classmethod
    def from_settings(
        cls,
        settings: DescribesEndpoint,
        *,
        url: str | None = None,
        http: httpx.AsyncClient | httpx2.AsyncClient | None = None,
        app: AsgiCallable | None = None,
    ) -> Self:
        """
        The client of the run's own endpoint, as `--rag-url` and the ini file describe it.

        Args:
            settings: The value of the `rag_settings` fixture.
            url: Replaces the URL of the settings.
            http: As for `RagClient`; `aclose` closes it too.
            app: As for `RagClient`. Only the paths of the settings' URLs are used; without a URL it is `/query`.

        Raises:
            UsageError: The settings name no endpoint, or one of them cannot work.
        """
        __tracebackhide__ = True  # the mistake is in the fixture that calls this
        endpoint = settings.endpoint
        url, base_url = url or endpoint.url, endpoint.base_url
        if app is not None:
            url, base_url = _path(url or "/query"), base_url and _path(base_url)
        if url is None:
            raise UsageError(
                "the settings name no endpoint: set rag_url or RAGCHECK_URL, or name it in the call, "
                "RagClient.from_settings(rag_settings, url=URL)."
            )
        return cls(
            url,
            headers=endpoint.headers,
            identities=endpoint.identities,
            top_k=endpoint.top_k,
            timeout_seconds=endpoint.timeout_seconds,
            http=http,
            close_http=http is not None,
            app=app,
            base_url=base_url,
            shape=endpoint.shape,
            request=endpoint.request,
            response=endpoint.response,
            stream=endpoint.stream,
        )

    @classmethod
    def from_callable(
        cls,
        function: Callable[..., Any],
        *,
        top_k: int | None = None,
        timeout_seconds: float = 60.0,
        response: str | None = None,
    ) -> Self:
        """
        A client of a RAG system that is a function in this process.

        Args:
            function: Called as `function(query)`, or `function(query, top_k=...)` if it takes `top_k`; in
                conversations with `history=` (OpenAI messages) or `session=` if it takes them. Returns
                `{"answer": str, "contexts": [str, ...]}` or a `RagAnswer`. A coroutine function is awaited, any
                other runs in a thread.
            top_k: As for `RagClient`.
            timeout_seconds: Limit of a call, > 0. A thread that takes longer is abandoned, not ended.
            response: Where the parts of another return value are, as for `RagClient`. Keys are read of mappings, and
                attributes of objects: `answer=answer contexts=context[].page_content`.

        Raises:
            UsageError: An argument cannot work.
        """
        from pytest_ragcheck.rag.function_endpoint import FunctionEndpoint

        _check_limits(top_k, timeout_seconds)
        client = cls.__new__(cls)
        ClientCalls.__init__(
            client, FunctionEndpoint(function, timeout_seconds=timeout_seconds, response=response), top_k
        )
        return client

    @property
    def endpoint(self) -> str:
        """The endpoint's URL without secrets, the qualified name of a function, or the name and path of an app."""
        return self._endpoint.name

    @property
    def _ragcheck_secrets(self) -> tuple[str, ...]:
        """The secrets in all headers, those of the requests so far included, which no result may show."""
        return (*self._secrets, *self._sent_secrets)

    @cached_property
    def blocking(self) -> BlockingRagClient:
        """The same methods as plain calls, `close` for `aclose`, for code without an event loop of its own."""
        return BlockingRagClient(self, self._app)

    @property
    def is_app(self) -> bool:
        """True if the system is an app in this process; it is unreachable only if its startup failed."""
        return self._app is not None

    async def aclose(self) -> None:
        """
        Closes the connections made from the running loop and by `blocking`, and shuts the app down.

        Raises:
            EndpointError: The shutdown of the app failed.
        """
        try:
            if "blocking" in self.__dict__:
                self.blocking.close()
        finally:
            await super().aclose()
            if self._app is not None:
                await self._app.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.endpoint}>"


def _all_headers(
    headers: Mapping[str, str] | None, identities: Mapping[str, Mapping[str, str]] | None
) -> list[tuple[str, str]]:
    try:
        return [pair for each in (headers or {}, *(identities or {}).values()) for pair in each.items()]
    except AttributeError:
        raise UsageError(
            "RagClient takes headers={'Name': 'value'} and identities={'alice': {'Name': 'value'}}."
        ) from None


def _path(url: str) -> str:
    return urlsplit(url)._replace(scheme="", netloc="").geturl() or "/"


def _check_limits(top_k: int | None, timeout_seconds: float) -> None:
    if top_k is not None and not is_whole(top_k):
        raise UsageError(f"top_k is {top_k!r}; give a whole number, at least 1.")
    number = isinstance(timeout_seconds, int | float) and not isinstance(timeout_seconds, bool)
    if not number or not 0 < timeout_seconds < math.inf:
        raise UsageError(f"timeout_seconds is {timeout_seconds!r}; give a number of seconds above 0, such as 60.")


def is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 1


def as_client(given: Any, settings: DescribesEndpoint) -> Asks:
    if hasattr(given, "ask") or not callable(given):
        return cast("Asks", given)
    endpoint = settings.endpoint
    return RagClient.from_callable(given, top_k=endpoint.top_k, timeout_seconds=endpoint.timeout_seconds)
