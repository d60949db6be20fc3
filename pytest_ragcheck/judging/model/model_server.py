"""Sends requests for one model to an OpenAI-compatible server, retries them, and describes their failures."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_ragcheck.config.settings import DUMMY_API_KEY
from pytest_ragcheck.errors import JudgeError, JudgeReplyError, JudgeUnavailable, UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import digest_of
from pytest_ragcheck.judging.model.completion import Declined, OtherContent, Refused
from pytest_ragcheck.judging.model.model_requests import HttpRequests, NoConnection, SdkRequests
from pytest_ragcheck.judging.model.server_address import (
    JUDGE_MODEL,
    OPENAI_URL,
    ModelKind,
    checked_key,
    checked_url,
    environment_headers,
    environment_url,
    full_address,
    header_secrets,
    origin,
)
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.rag.body.json_body import LONGEST, excerpt, is_html, quoted
from pytest_ragcheck.rag.http.endpoint_address import check_header
from pytest_ragcheck.rag.http.exchange_failures import causes_of, proxy_of
from pytest_ragcheck.rag.http.retry import TRANSIENT, is_transient, retry_after_seconds, wait_seconds
from pytest_ragcheck.redaction import REDACTED, Redactor, is_secret_header, shown_url, url_secrets

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_SEARCHED_FOR_SECRETS = 20 * LONGEST
"""In characters; far more than is shown, so that no secret is cut in two before redaction."""


@frozen
class ServerFailures:
    """Makes the errors of one model. Each names its server and model, and none contains its key."""

    kind: ModelKind = JUDGE_MODEL
    model: str
    url: str
    """Without secrets."""

    timeout_seconds: float
    keyless: bool = False
    redactor: Redactor = field(default_factory=Redactor, repr=False)

    @property
    def _server(self) -> str:
        return f"{self.kind.who} at {self.url} (model {self.model!r})"

    def of_status(self, refused: Refused) -> JudgeUnavailable:
        status = refused.status
        location = refused.headers.get("location", "") if 300 <= status < 400 else ""
        usual = "server error" if status in _RETRIED or status >= 500 else "refused"
        cause = "moved" if location else "401" if refused.wrong_key else "402" if refused.no_quota_left else str(status)
        cause = "no key" if cause == "401" and self.keyless else cause
        text = _TEXTS.get(cause, _TEXTS[usual]).format(
            judge=f"{self.kind.who} at {self.url}",
            model=f"model {self.model!r}",
            status=f"error {status} with HTTP 200" if refused.in_body else f"HTTP {status}",
            kind=self.kind,
        )
        message = self._message(refused.error)
        if location:
            text += f"\nRedirected to: {self._excerpt(shown_url(location))}"
        elif message:
            text += f"\nThe server says: {message}"
        wait = retry_after_seconds(refused.headers)
        return JudgeUnavailable(
            text,
            reply=message or None,
            status=status,
            retry_after_seconds=refused.retry_delay_seconds if wait is None else wait,
            transient=status in _RETRIED and not refused.no_quota_left,
        )

    def of_connection(self, error: NoConnection) -> JudgeUnavailable:
        causes = list(causes_of(error.__cause__)) if error.__cause__ else []
        # For a reset connection only the system's error has a text.
        texts = [str(each) for each in causes if each is error.__cause__ or isinstance(each, OSError)]
        reason = self._excerpt(next(filter(None, texts), type(error.__cause__).__name__))
        unknown = any(isinstance(each, ssl.SSLCertVerificationError) for each in causes)
        advice = _TEXTS["own authority" if unknown else "by proxy" if error.by_proxy else "not running"]
        if (proxy := proxy_of(self.url)) and not (unknown or error.by_proxy):
            advice += _TEXTS["through proxy"]
        return JudgeUnavailable(
            f"no connection to {self._server}: {reason.rstrip('.')}. {advice.format(kind=self.kind, proxy=proxy)}",
            transient=not (unknown or error.by_proxy),
        )

    def of_timeout(self) -> JudgeUnavailable:
        return JudgeUnavailable(
            f"no reply from {self._server} within {self.timeout_seconds:g} s. Raise rag_timeout, or use a faster model."
        )

    def of_other_content(self, other: OtherContent) -> JudgeUnavailable:
        text = (
            f"{self._server} sent {other} instead of a {self.kind.product} (status {other.status}). "
            f"Check that {self.kind.url} is the API's base, often ending in /v1."
        )
        sent = quoted(self._redacted(other.sent)) if other.sent.strip() else ""
        text += f"\nIt sent: {sent}" if sent else ""
        return JudgeUnavailable(text, reply=sent or None, status=other.status, transient=str(other) == "nothing")

    def of_declining(self, declined: Declined) -> JudgeReplyError:
        reason = self._excerpt(str(declined))
        text = f"{self._server} declined to judge this answer. Check the answer and its contexts, or use another model."
        if declined.by_filter:
            named = f" ({', '.join(map(self._excerpt, declined.filters))})" if declined.filters else ""
            text = (
                f"the content filter{named} of {self._server} stopped the request. "
                "Look at the answer and its contexts, or relax the filter."
            )
        return JudgeReplyError(f"{text}\nThe reason: {reason}" if reason else text, reply=reason, declined=True)

    def of_cut_prompt(self, tokens: int, words: int) -> JudgeReplyError:
        return JudgeReplyError(
            f"{self._server} cut the prompt: it counted {tokens:,} tokens in {words:,} words. "
            "Raise the server's context length (Ollama: OLLAMA_CONTEXT_LENGTH), or lower rag_top_k."
        )

    def of_reply(self, problem: str, reply: str, *, advice: str) -> JudgeReplyError:
        """Neither the first reply nor the repaired one could be read."""
        shown = self._excerpt(reply) or "(nothing)"
        return JudgeReplyError(
            f"{self._server} twice gave no verdict: {self._excerpt(problem)}. {advice}\nIt said: {shown}",
            reply=shown,
        )

    def _excerpt(self, text: str) -> str:
        return excerpt(self._redacted(text))

    def _redacted(self, text: str) -> str:
        return self.redactor.text(text[:_SEARCHED_FOR_SECRETS])

    def _message(self, body: Any) -> str:
        if isinstance(body, dict):
            body = body.get("message") or body.get("error") or body.get("detail") or body
        text = str(body or "")
        return quoted(self._redacted(text)) if is_html(text) else self._excerpt(text)


_RETRIED = TRANSIENT | {424, 500, 520, 521, 522, 523, 524, 529}
"""Gateways also turn an overloaded or unreachable model into 500, TGI into 424; proxies send 520 to 524 and 529."""

_TEXTS: Mapping[str, str] = json.loads(package_text("judging/model/failures.json"))
"""The texts by the status, or by another cause."""


T = TypeVar("T")

_LONGEST_WAIT_SECONDS = 120.0
"""A request is not repeated if the server requests a longer wait."""


class ModelServer:
    """
    Sends requests for one model to one server; the arguments beside *kind* are those of `OpenAIJudge`.

    Raises:
        UsageError: The model's name or the key is empty, a header value cannot be sent, or the URL is invalid. Header
            values come from the key and from OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str = "",
        base_url: str | None = None,
        timeout_seconds: float = 60.0,
        max_retries: int = 2,
        client: AsyncOpenAI | None = None,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        secrets: Iterable[str] = (),
        kind: ModelKind = JUDGE_MODEL,
    ) -> None:
        texts, mappings = (model, api_key, base_url or ""), (headers or {}, parameters or {})
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(each, Mapping) for each in mappings):
            raise UsageError(
                f"{kind.user} takes model, api_key and base_url as str, headers and parameters as mappings."
            )
        if not model.strip():
            raise UsageError(f"{kind.user} needs a model. Set {kind.model}.")
        self.model = model.strip()
        self._max_retries = max_retries
        self._parameters = dict(parameters or {})
        if client is None:
            server = _own_connection(api_key, base_url, headers or {}, kind, timeout_seconds)
        else:
            url = str(client.base_url)
            requests = SdkRequests(client, timeout_seconds=timeout_seconds)
            server = _Connection(requests=requests, url=url, secrets=(str(client.api_key), *url_secrets(url)))
            # The openai package takes parameters that it does not know only as its extra_body.
            self._parameters = {"extra_body": self._parameters} if parameters else {}
            self._max_retries = 0
        self._requests = server.requests
        shown = full_address(server.url).partition("?")[0]
        self.shown_url = None if shown == OPENAI_URL else shown
        """Host and path without credentials; None for OpenAI's own."""

        hidden = Redactor(secrets)
        shown_headers = {
            name: REDACTED if is_secret_header(name) else hidden.text(value) for name, value in server.headers.items()
        }
        further = {**(parameters or {}), **({"headers": shown_headers} if shown_headers else {})}
        self.parameters = json.dumps(further, sort_keys=True) if further else None
        """The parameters and the headers as JSON, without secrets; None if there are none."""

        self.fingerprint = "" if client else digest_of([self.model, full_address(server.url), self.parameters])
        """Digest of model, address and parameters; empty with a `client`, whose headers are unknown."""

        self.failures = ServerFailures(
            kind=kind,
            model=self.model,
            url=shown,
            timeout_seconds=timeout_seconds,
            keyless=api_key == DUMMY_API_KEY and not any(map(is_secret_header, server.headers)),
            redactor=Redactor([*server.secrets, *secrets]),
        )

    async def call(self, send: Callable[[], Awaitable[T]]) -> T:
        """
        The result of `send`, which makes requests to this server and may raise `OtherContent` and `Declined`.

        Raises `JudgeUnavailable`, with the reply's status and Retry-After if any, or for a refusal `JudgeReplyError`.
        """
        failed = 0
        while True:
            failure: JudgeError
            # Raised outside the handlers, because the caught errors quote servers, and servers quote keys.
            try:
                return await send()
            except OtherContent as other:
                failure = self.failures.of_other_content(other)
            except Declined as declined:
                failure = self.failures.of_declining(declined)
            except TimeoutError:
                failure = self.failures.of_timeout()
            except Refused as refused:
                by_filter = refused.declined
                failure = self.failures.of_declining(by_filter) if by_filter else self.failures.of_status(refused)
            except NoConnection as error:
                failure = self.failures.of_connection(error)
            failed += 1
            wait = wait_seconds(failure, failed)
            if failed > self._max_retries or wait > _LONGEST_WAIT_SECONDS or not is_transient(failure):
                raise failure
            await asyncio.sleep(wait)

    async def post(self, body: Mapping[str, Any]) -> Any:
        """The JSON value of the reply, or the object of the caller's client."""
        return await self._requests.post({**body, **self._parameters})

    async def aclose(self) -> None:
        """Closes the connections, but not the caller's client."""
        await self._requests.aclose()


@frozen
class _Connection:
    requests: HttpRequests | SdkRequests
    url: str

    secrets: tuple[str, ...]
    """What no text may show."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of the settings, by their names in lower case."""


def _own_connection(
    api_key: str, base_url: str | None, headers: Mapping[str, str], kind: ModelKind, timeout_seconds: float
) -> _Connection:
    key, url = checked_key(api_key, kind), checked_url(base_url or environment_url(), kind)
    own = {name.lower(): value for name, value in headers.items()}
    for name, value in own.items():
        check_header(name, value)
    # The account of the environment belongs to one server and is sent to no other.
    account = {**(environment_headers() if origin(url) == origin(environment_url()) else {}), **own}
    # A server that takes a key in a header of its own, as Azure does, may refuse the stand-in for a key.
    keyless = key == DUMMY_API_KEY and any(map(is_secret_header, own))
    sent = account if keyless else {"authorization": f"Bearer {key}", **account}
    return _Connection(
        requests=HttpRequests(url, kind.path, headers=sent, timeout_seconds=timeout_seconds),
        url=url,
        secrets=(key, *url_secrets(url), *header_secrets(account)),
        headers=own,
    )
