"""One model behind an OpenAI-compatible server: the connection, the key that goes nowhere else, and every failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from pytest_ragcheck.errors import JudgeError, UsageError
from pytest_ragcheck.judging.completion import Declined, OtherContent
from pytest_ragcheck.judging.failures import Failures
from pytest_ragcheck.judging.material import digest_of
from pytest_ragcheck.judging.model_requests import HttpRequests, ModelRequests, NoConnection, Refused
from pytest_ragcheck.judging.role import JUDGE_MODEL, Role
from pytest_ragcheck.judging.server_address import (
    OPENAI_URL,
    checked_key,
    checked_url,
    environment_headers,
    environment_url,
    full_address,
    header_secrets,
    host_and_path,
    origin,
)
from pytest_ragcheck.redaction import Redactor, url_secrets
from pytest_ragcheck.transient import is_transient, wait_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from openai import AsyncOpenAI

T = TypeVar("T")

_LONGEST_WAIT_SECONDS = 120.0
"""A server that asks to be left alone for longer is not asked again."""


class ModelServer:
    """
    Sends requests for one model to one server.

    It is used from one event loop; it may be made on another thread.

    Args:
        model: The model's name at the server.
        api_key: What the server wants as key; a server that wants none takes any.
        base_url: The API's base, such as `http://localhost:8000/v1`. User and password in it are sent as HTTP's
            Basic scheme, a query goes with every request. None: the environment's OPENAI_BASE_URL as it is now,
            else OpenAI's.
        timeout_seconds: For one request from its start to the last byte, > 0.
        max_retries: How often what failed in passing is repeated, >= 0: after a 408, 409, 429, 502, 503 or 504, and
            after a connection that did not come about or broke.
        client: A client that is used as it is, with its own URL, key, headers and retries; `aclose` leaves it open.
        role: What the model is for, as errors name it.

    Raises:
        UsageError: the model's name or the key is empty, the key or what the environment's OPENAI_ORG_ID,
            OPENAI_PROJECT_ID or OPENAI_CUSTOM_HEADERS say cannot stand in a header, or the URL is none.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
        base_url: str | None = None,
        timeout_seconds: float = 60.0,
        max_retries: int = 2,
        client: AsyncOpenAI | None = None,
        role: Role = JUDGE_MODEL,
    ) -> None:
        if not model.strip():
            raise UsageError(f"{role.user} needs a model. Name it by {role.model}.")
        self.model = model.strip()
        key = checked_key(api_key, role) if client is None else str(client.api_key)
        address = checked_url(base_url or environment_url(), role) if client is None else str(client.base_url)
        account: Mapping[str, str] = {}
        # The variables of the environment are about one server, and for no other.
        if client is None and origin(address) == origin(environment_url()):
            account = environment_headers()
        self._requests = _requests(address, {"authorization": f"Bearer {key}", **account}, timeout_seconds, client)
        self._max_retries = max_retries if client is None else 0
        shown = host_and_path(address)
        self.shown_url = None if shown == OPENAI_URL else shown
        """Host and path without credentials; None: OpenAI's."""

        self.fingerprint = "" if client else digest_of([self.model, full_address(address)])
        """Digest of model and address; empty with a client of the caller's, whose headers say what they like."""

        self.failures = Failures(
            role=role,
            model=self.model,
            url=shown,
            timeout_seconds=timeout_seconds,
            redactor=Redactor([key, *url_secrets(address), *header_secrets(account)]),
        )

    async def call(self, send: Callable[[], Awaitable[T]]) -> T:
        """
        What `send` returns, which makes requests of this server; it may also raise `OtherContent` and `Declined`.

        Raises:
            JudgeUnavailable: the server gave no reply; carries its status and Retry-After, where there were any.
            JudgeReplyError: the model declined.
        """
        failed = 0
        while True:
            failure: JudgeError
            # Raised outside of the handlers: what is caught quotes the server, and servers quote keys.
            try:
                return await send()
            except OtherContent as other:
                failure = self.failures.of_other_content(other)
            except Declined as declined:
                failure = self.failures.of_declining(str(declined))
            except TimeoutError:
                failure = self.failures.of_timeout()
            except Refused as refused:
                failure = self.failures.of_status(refused)
            except NoConnection as error:
                failure = self.failures.of_connection(error)
            failed += 1
            wait = wait_seconds(failure, failed)
            if failed > self._max_retries or wait > _LONGEST_WAIT_SECONDS or not is_transient(failure):
                raise failure
            await anyio.sleep(wait)

    async def complete(self, body: Mapping[str, Any]) -> Any:
        """The reply of chat completions: its JSON value, or the object that a client of the caller's makes of it."""
        return await self._requests.complete(body)

    async def embed(self, body: Mapping[str, Any]) -> Any:
        """The reply with embeddings, as `complete` has it."""
        return await self._requests.embed(body)

    async def aclose(self) -> None:
        """Closes the connections, unless the client is the caller's."""
        await self._requests.aclose()


def _requests(
    url: str, headers: Mapping[str, str], timeout_seconds: float, client: AsyncOpenAI | None
) -> ModelRequests:
    if client is not None:
        from pytest_ragcheck.judging.sdk_requests import SdkRequests  # noqa: PLC0415 - only for who has such a client

        return SdkRequests(client, timeout_seconds=timeout_seconds)
    return HttpRequests(url, headers=headers, timeout_seconds=timeout_seconds)
