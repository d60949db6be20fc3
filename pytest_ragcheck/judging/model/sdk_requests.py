"""Sends requests through the caller's own client of the `openai` package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.time_limit import TimeLimit
from pytest_ragcheck.judging.model.completion import OtherContent, Refused, streamed
from pytest_ragcheck.judging.model.model_requests import NoConnection, sendable

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_LONGEST_RETRY_WAIT_SECONDS = 120.0
"""The longest Retry-After that the SDK honours."""


class SdkRequests:
    """
    Requests chat completions through an `AsyncOpenAI`, or a wrapper of one, in place of `HttpRequests`.

    The retries of the client add to the time limit.
    """

    def __init__(self, client: AsyncOpenAI, *, timeout_seconds: float) -> None:
        self._client: Any = client
        repeats = int(getattr(client, "max_retries", 0))
        # The SDK limits each read, so a server that drips bytes would never time out.
        self._limit_seconds = timeout_seconds + repeats * (timeout_seconds + _LONGEST_RETRY_WAIT_SECONDS)

    async def aclose(self) -> None:
        """Does nothing, because the client belongs to the caller."""

    async def post(self, body: Mapping[str, Any]) -> Any:
        """Returns the reply as an object of the package, or its JSON value; raises the errors of `HttpRequests`."""
        import openai

        parameters = json.loads(sendable(body))
        try:
            with TimeLimit(self._limit_seconds):
                reply = await self._client.chat.completions.create(**parameters)
                # The package returns a body of another content type as text.
                return (streamed(reply) or reply) if isinstance(reply, str) else reply
            raise TimeoutError
        except openai.APITimeoutError as error:
            raise TimeoutError from error
        except openai.APIStatusError as error:
            raise Refused(error.status_code, error.body, error.response.headers) from error
        except openai.OpenAIError as error:
            raise NoConnection from error.__cause__ or error
        except (ValueError, RecursionError, OverflowError) as error:  # from the SDK's own reading of the body
            raise OtherContent("a body that is not JSON") from error
