"""Turns each failure of an HTTP exchange into an `EndpointError` with its cause and its remedy."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, getproxies_environment, proxy_bypass

from pytest_ragcheck.errors import (
    EndpointError,
    EndpointReplyError,
    EndpointStatusError,
    EndpointTimeout,
    EndpointUnreachable,
)
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, excerpt, quoted
from pytest_ragcheck.rag.http.connections import Phase
from pytest_ragcheck.rag.http.retry import retry_after_seconds
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from pytest_ragcheck.rag.http.connections import AnyResponse
    from pytest_ragcheck.rag.http.endpoint_address import Address
    from pytest_ragcheck.rag.http.http_exchange import HttpExchange

_BODY_KEPT = 2_000
"""Most characters of the body in an error."""


class AppFailure(Exception):
    """An ASGI app raised the cause, or did not reply, as the text says."""


def timed_out(address: Address, seconds: float, phase: Phase) -> EndpointTimeout:
    to_do = {
        Phase.CONNECTING: "Check that host and port can be reached from here (VPN, firewall).",
        Phase.WAITING: "Make the RAG system answer sooner, or raise the limit (rag_timeout).",
        Phase.READING: "Check what holds the rest of it back, or raise the limit (rag_timeout).",
    }[phase]
    text = f"{address.shown}: no complete reply within {seconds:g} s: timed out while {phase.value}\n{to_do}"
    return EndpointTimeout(text, url=address.shown)


def unreachable(address: Address, error: Exception, phase: Phase, before: BaseException | None) -> EndpointUnreachable:
    """The error of a connection that failed, or ended before the reply; *before* as for `causes_of`."""
    causes = list(causes_of(error, before))
    tls = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
    if tls is not None:
        failure = _no_tls(address, tls)
    elif phase is Phase.CONNECTING:
        failure = _not_connected(address, causes)
    else:
        failure = _disconnected(causes, phase)
    text = f"{address.shown}: {failure.found}\n{failure.to_do}"
    return EndpointUnreachable(address.redactor.text(text), url=address.shown, transient=failure.transient)


def refused_by_proxy(address: Address, error: Exception) -> EndpointUnreachable:
    words = excerpt(address.redactor.text(str(error)), 120)
    found = f"the proxy {proxy_of(address.shown) or 'before it'} made no connection ({words})"
    text = f"{address.shown}: {found}\n{_proxy_remedy(address)}"
    return EndpointUnreachable(text, url=address.shown, transient=False)


def wrong_status(
    address: Address, exchange: HttpExchange, response: AnyResponse, body: str, *, to_do: Mapping[int, str]
) -> EndpointStatusError:
    """The error of a status outside 200 to 299; remedies by status in *to_do* replace the usual ones."""
    status, headers = response.status_code, response.headers
    body = address.redactor.text(body)
    found = f"status {status} {excerpt(response.reason_phrase, 60)}".rstrip()
    other = "See the endpoint's log." if status >= 500 else "The contract wants status 200."
    usual = _TO_DO.get(str(int(status)), other).format(request=exchange.shown, method=exchange.method)
    advice = to_do.get(status) or usual
    if status == HTTPStatus.METHOD_NOT_ALLOWED and exchange.method == "POST" and status not in to_do:
        advice += " If it takes GET with ?questions=TEXT, set rag_shape = search-rag."
    if status == HTTPStatus.NOT_FOUND and exchange.session:
        advice += " Or the server no longer knows the session."
    if address.shown.startswith("app "):
        advice = advice.replace(" in the URL", ', such as url="/chat"')
    seconds = retry_after_seconds(headers)
    if seconds and seconds >= 60:
        found += f", retry after {-(-seconds // 60):.0f} min"
    if 300 <= status < 400 and headers.get("location"):
        found += f", which leads to {_redirect_target(address, headers['location'])}"
        advice = (
            "Redirects are not followed, since the headers would go along. "
            "If that is the endpoint, set the URL to it; if it is a login page, set rag_headers."
        )
    return EndpointStatusError(
        f"{address.shown}: {found} ({quoted(body)})\n{advice}",
        url=address.shown,
        status=status,
        body=body[:_BODY_KEPT],
        retry_after_seconds=seconds,
    )


def unusable_reply(
    address: Address,
    status: int,
    mismatch: ReplyMismatch,
    body: str,
    kind: type[EndpointReplyError] = EndpointReplyError,
) -> EndpointReplyError:
    found = mismatch.found if status == HTTPStatus.OK else f"{mismatch.found} (status {status})"
    clean = address.redactor.text
    text = clean(f"{address.shown}: {found}\n{mismatch.to_do}")
    return kind(text, url=address.shown, status=status, body=clean(body)[:_BODY_KEPT])


def raised_inside(address: Address, error: Exception) -> EndpointError:
    """The error of an exception from the user's own HTTP client, or from an app."""
    if isinstance(error, AppFailure):
        text = f"the app {error}\nFix the app."
    else:
        what = excerpt(f"{type(error).__name__}: {error}")
        text = f"the client given as http= raised {what}\nFix the client, or the app that it calls."
        if isinstance(error, RuntimeError) and " loop" in what:
            text = (
                f"the client given as http= was used in another event loop before ({what})\n"
                "Make no request with it in a fixture: log in as shown by ragcheck docs reference/client."
            )
    return EndpointError(address.redactor.text(f"{address.shown}: {text}"), url=address.shown)


@dataclass(frozen=True, slots=True)
class _Failure:
    found: str
    to_do: str
    transient: bool = False
    """True if a retry may succeed."""


def _not_connected(address: Address, causes: Sequence[BaseException]) -> _Failure:
    through = proxy_of(address.shown)
    where = f" by the proxy {through}" if through else ""
    proxy_remedy = _proxy_remedy(address) if through else ""
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            host = urlsplit(through).hostname if through else address.host
            return _Failure(
                f"name not found: no address is known for {host!r}",
                proxy_remedy or "Check the host in the URL, and that this machine's network knows it (VPN, DNS).",
                transient=cause.errno == socket.EAI_AGAIN,
            )
        if isinstance(cause, ConnectionRefusedError):
            return _Failure(
                f"connection refused{where}",
                proxy_remedy or "Start the RAG service, or set the URL to the port where it listens.",
                transient=True,
            )
    # The innermost error has the system's own words, such as "Network is unreachable".
    words = [cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror]
    first = next((cause for cause in causes if not hasattr(cause, "exceptions")), causes[0])
    what = excerpt((words or [str(first) or "closed while it was being made"])[-1])
    to_do = proxy_remedy or "Check the address in the URL, and the network from here to it."
    return _Failure(f"no connection{where}: {what}", to_do, transient=True)


def _no_tls(address: Address, error: ssl.SSLError) -> _Failure:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _Failure(
            f"TLS: certificate not accepted: {excerpt(error.verify_message).rstrip('.')}",
            "Check the host in the URL. For an authority of your own set SSL_CERT_FILE to its certificate.",
        )
    if error.reason in {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"}:
        return _Failure(
            "TLS: the port does not speak TLS",
            f"If it speaks plain HTTP, set the URL to {address.shown.replace('https://', 'http://', 1)}.",
        )
    words = (error.reason or "handshake failed").replace("_", " ").lower()
    return _Failure(f"TLS: {words}", "Check that the port speaks TLS, and whether it wants a client certificate.")


def _disconnected(causes: Sequence[BaseException], phase: Phase) -> _Failure:
    log = "See the server's log: it, or a proxy before it, broke off."
    if any(isinstance(cause, ConnectionError) for cause in causes):
        return _Failure(f"connection reset while {phase.value}", log, transient=True)
    # An exception of the parser (h11 or h2) means a malformed reply; httpx itself reports a closed connection.
    parser = next((cause for cause in causes if type(cause).__module__.startswith(("h11", "h2"))), None)
    if phase is Phase.READING:
        words = excerpt(str(parser or causes[0]), 120)
        return _Failure(f"the reply's body broke off: {words}", log, transient=True)
    https = "whether the port wants https:// instead of http://."
    if parser:
        return _Failure(
            f"the reply is not HTTP: {excerpt(str(parser), 120)}", f"Check the port in the URL, and {https}"
        )
    to_do = f"See the server's log, and check {https}"
    return _Failure("the connection was closed without an HTTP reply", to_do, transient=True)


def causes_of(error: BaseException, before: BaseException | None = None) -> Iterator[BaseException]:
    """The error and its causes, members of groups included, without the exception that was handled *before*."""
    found: list[BaseException] = [error]
    for cause in found:  # grows
        yield cause
        found += getattr(cause, "exceptions", ())  # an ExceptionGroup has one for each address
        # httpcore's pool raises "from None", which leaves the cause in the context only.
        led_to_it = cause.__cause__ or cause.__context__
        # It is the cause itself after `raise error from error`.
        if led_to_it is not None and led_to_it is not before and led_to_it not in found:
            found.append(led_to_it)


def _proxy_remedy(address: Address) -> str:
    return f"Check HTTP_PROXY and HTTPS_PROXY, or add {address.host} to NO_PROXY."


def proxy_of(url: str) -> str | None:
    scheme = url.partition(":")[0].lower()
    proxies = getproxies_environment() if scheme == "http" else getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    return shown_url(proxy) if proxy and not proxy_bypass(urlsplit(url).hostname or "") else None


def _redirect_target(address: Address, location: str) -> str:
    try:
        return excerpt(shown_url(urljoin(address.url, location)))
    except ValueError:
        return f"{excerpt(location)!r}, which is not a URL"


_TO_DO: Mapping[str, str] = json.loads(package_text("rag/failures.json"))
