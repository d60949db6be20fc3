"""Describes failures of a model's server, and says what to do about each."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import JudgeReplyError, JudgeUnavailable
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.model.server_address import JUDGE_MODEL, ModelKind
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.rag.body.excerpt import LONGEST, excerpt, is_html, quoted
from pytest_ragcheck.rag.http.exchange_failures import causes_of, proxy_of
from pytest_ragcheck.rag.http.retry import TRANSIENT, retry_after_seconds
from pytest_ragcheck.redaction import Redactor, shown_url

if TYPE_CHECKING:
    from pytest_ragcheck.judging.model.completion import Declined, OtherContent, Refused
    from pytest_ragcheck.judging.model.model_requests import NoConnection

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
    redactor: Redactor = field(default_factory=Redactor, repr=False)

    @property
    def _server(self) -> str:
        return f"{self.kind.who} at {self.url} (model {self.model!r})"

    def of_status(self, refused: Refused) -> JudgeUnavailable:
        status = refused.status
        location = refused.headers.get("location", "") if 300 <= status < 400 else ""
        usual = "server error" if status in _RETRIED or status >= 500 else "refused"
        cause = "moved" if location else "401" if refused.wrong_key else "402" if refused.no_quota_left else str(status)
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
        """The status was a success, but the content was not a completion."""
        text = (
            f"{self._server} sent {other} instead of a {self.kind.product} (status {other.status}). "
            f"Check that {self.kind.url} is the API's base, often ending in /v1."
        )
        sent = quoted(self.redactor.text(other.sent[:_SEARCHED_FOR_SECRETS])) if other.sent.strip() else ""
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

    def of_reply(self, problem: str, reply: str, *, advice: str) -> JudgeReplyError:
        """Neither the first reply nor the repaired one could be read."""
        shown = self._excerpt(reply) or "(nothing)"
        return JudgeReplyError(
            f"{self._server} twice gave no verdict: {self._excerpt(problem)}. {advice}\nIt said: {shown}",
            reply=shown,
        )

    def _excerpt(self, text: str) -> str:
        return excerpt(self.redactor.text(text[:_SEARCHED_FOR_SECRETS]))

    def _message(self, body: Any) -> str:
        if isinstance(body, dict):
            body = body.get("message") or body.get("error") or body.get("detail") or body
        text = str(body or "")
        return quoted(self.redactor.text(text[:_SEARCHED_FOR_SECRETS])) if is_html(text) else self._excerpt(text)


_RETRIED = TRANSIENT | {424, 500, 520, 521, 522, 523, 524, 529}
"""Gateways also turn an overloaded or unreachable model into 500, TGI into 424; proxies send 520 to 524 and 529."""

_TEXTS: Mapping[str, str] = json.loads(package_text("judging/model/failures.json"))
"""The texts by the status, or by another cause."""
