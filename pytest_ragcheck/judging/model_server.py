"""One model behind an OpenAI-compatible server: the connection, the key that goes nowhere else, and every failure."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import anyio
import anyio.to_thread

from pytest_ragcheck.errors import JudgeError, UsageError
from pytest_ragcheck.judging.completion import Declined, OtherContent
from pytest_ragcheck.judging.failures import Failures
from pytest_ragcheck.judging.material import digest_of
from pytest_ragcheck.judging.role import JUDGE_MODEL, Role
from pytest_ragcheck.judging.server_address import (
    OPENAI_URL,
    checked_key,
    checked_url,
    environment_url,
    full_address,
    host_and_path,
    origin,
)
from pytest_ragcheck.redaction import Redactor, url_secrets

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from openai import AsyncOpenAI

T = TypeVar("T")

_OWN_HEADER = re.compile(r"accept$|content-type$|user-agent$|x-stainless-", re.IGNORECASE)
_LONGEST_RETRY_WAIT_SECONDS = 120.0
"""The SDK honours a Retry-After up to this."""


class ModelServer:
    """
    Sends requests for one model to one server.

    It is used from one event loop; it may be made on another thread. The `openai` package, slow to import, is
    imported at the first request, beside the loop.

    Args:
        model: The model's name at the server.
        api_key: What the server wants as key; a server that wants none takes any.
        base_url: The API's base, such as `http://localhost:8000/v1`. User and password in it are sent as HTTP's
            Basic scheme, a query goes with every request. None: the environment's OPENAI_BASE_URL as it is now,
            else OpenAI's.
        timeout_seconds: For one request from its start to the last byte, > 0.
        max_retries: How often the SDK repeats a request that met a 408, 409, 429, 5xx or a broken connection, >= 0.
        client: A client that is used as it is, with its own URL, key, headers and retries; `aclose` leaves it open.
        role: What the model is for, as errors name it.

    Raises:
        UsageError: the model's name or the key is empty, the key cannot stand in a header, or the URL is none.
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
        self._key = checked_key(api_key, role) if client is None else str(client.api_key)
        self._url = checked_url(base_url or environment_url(), role) if client is None else str(client.base_url)
        self._is_foreign = origin(self._url) != origin(environment_url())
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._client, self._own_client = client, client is None
        self._connecting = anyio.Lock()
        self.headers: dict[str, Any] = {}
        """To go with every request, as the SDK's `extra_headers`."""

        shown = host_and_path(self._url)
        self.shown_url = None if shown == OPENAI_URL else shown
        """Host and path without credentials; None: OpenAI's."""

        self.fingerprint = "" if client else digest_of([self.model, full_address(self._url)])
        """Digest of model and address; empty with a client of the caller's, whose headers say what they like."""

        self.failures = Failures(
            role=role,
            model=self.model,
            url=shown,
            timeout_seconds=timeout_seconds,
            redactor=Redactor([self._key, *url_secrets(self._url)]),
        )

    async def call(self, send: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
        """
        What `send` returns; it may raise `OtherContent` and `Declined`.

        Raises:
            JudgeUnavailable: the server gave no reply; carries its status and Retry-After, where there were any.
            JudgeReplyError: the model declined.
        """
        client = await self._connected()
        import openai  # noqa: PLC0415 - imported by now, in a thread

        failure: JudgeError
        # Raised outside of the handlers: the SDK's errors quote the server, and servers quote keys.
        try:
            return await send(client)
        except OtherContent as other:
            failure = self.failures.of_other_content(str(other), other.sent)
        except Declined as declined:
            failure = self.failures.of_declining(str(declined))
        except (TimeoutError, openai.APITimeoutError):
            failure = self.failures.of_timeout()
        except openai.APIStatusError as error:
            failure = self.failures.of_status(
                error.status_code, code=error.code, body=error.body, headers=error.response.headers
            )
        except openai.OpenAIError as error:
            failure = self.failures.of_connection(error.__cause__ or error)
        except (ValueError, RecursionError):  # from the SDK's own json.loads of the body
            failure = self.failures.of_other_content("a body that is not JSON")
        raise failure

    async def within_limit(self, request: Awaitable[T]) -> T:
        """The request's result; a TimeoutError where it takes longer than it and its repeats may."""
        # The SDK's limit is for each read, so a server that drips bytes would never meet it.
        waits = self._max_retries * (self._timeout_seconds + _LONGEST_RETRY_WAIT_SECONDS)
        with anyio.fail_after(self._timeout_seconds + waits):
            return await request

    async def complete(self, client: AsyncOpenAI, body: Mapping[str, Any]) -> Any:
        """
        The reply of chat completions: its JSON value, or text where it is none.

        A client of the caller's is asked through the method that wrappers of clients know, and gives the SDK's own
        objects. That method walks through all that is sent and builds objects of all that comes: a third of the
        CPU of a request, so that ours does without.
        """
        if not self._own_client:
            return await cast("Any", client.chat.completions).create(**body, extra_headers=self.headers)
        reply = await client.post("/chat/completions", cast_to=object, body=body, options={"headers": self.headers})
        if isinstance(reply, str):
            # Of JSON that is sent as something else the SDK makes text here.
            with suppress(ValueError, RecursionError):
                return json.loads(reply)
        return reply

    async def aclose(self) -> None:
        """Closes the connections, unless the client is the caller's."""
        if self._own_client and self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def _connected(self) -> AsyncOpenAI:
        async with self._connecting:
            if self._client is None:
                self._client = await anyio.to_thread.run_sync(self._new_client)
            return self._client

    def _new_client(self) -> AsyncOpenAI:
        import openai  # noqa: PLC0415 - costs 0.7 s of CPU

        parts = urlsplit(self._url)
        client = openai.AsyncOpenAI(
            api_key=self._key,
            base_url=urlunsplit(parts._replace(query="", fragment="")),
            default_query=dict(parse_qsl(parts.query)),
            timeout=self._timeout_seconds,
            max_retries=self._max_retries,
        )
        if self._is_foreign:
            # OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS are about another server than this one.
            foreign = [name for name in client.default_headers if not _OWN_HEADER.match(name)]
            self.headers = {**dict.fromkeys(foreign, openai.Omit()), "Authorization": f"Bearer {self._key}"}
        _ = client.chat.completions  # imports what the first request needs
        return client
