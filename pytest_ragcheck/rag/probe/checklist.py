"""`probe_endpoint` checks every point of the checklist."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_ragcheck.concurrency.tasks import together
from pytest_ragcheck.errors import EndpointTimeout
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, excerpt, parse_json
from pytest_ragcheck.rag.http.endpoint_address import read_address
from pytest_ragcheck.rag.http.route import HttpRoute
from pytest_ragcheck.rag.probe.first_reply import SHOWN, Check, Clean, Point, points_of_first_reply
from pytest_ragcheck.rag.probe.probe_exchange import Exchange, Target, exchange_over, get_status, route_to
from pytest_ragcheck.rag.shapes.shape import read_shape
from pytest_ragcheck.redaction import Redactor

QUESTION = "What can you help me with?"
"""The default question, harmless for any endpoint."""

_ANY_SCRIPT = "¿Qué garantía hay? Сколько дней? 返品できますか？ 🙂"
_AT_ONCE = 4
"""Number of concurrent requests; low, since others may be using the endpoint."""

_LONG_CONTEXT = 2_000
"""Characters of a long context; a passage is a few sentences, and this is about a page."""


async def probe_endpoint(target: Target, *, redactor: Redactor, report: Callable[[Point], None]) -> list[Point]:
    """
    All points in the order of the checklist, each passed to *report* at once.

    The *redactor* removes secrets beyond those in the target.

    Raises:
        UsageError: The URL, a header or the environment is invalid.
    """
    of_target = read_address(target.url, target.headers).redactor
    points: list[Point] = []

    def clean(value: Any) -> Any:
        return of_target.document(redactor.document(value))

    def add(point: Point) -> None:
        points.append(replace(point, seen=clean(point.seen), mend=clean(point.mend)))
        report(points[-1])

    route = route_to(target)
    try:
        await _Probing(route, target, add, clean).run()
    finally:
        await route.aclose()
    return points


@dataclass(slots=True)
class _Probing:
    route: HttpRoute
    target: Target
    add: Callable[[Point], None]
    clean: Clean
    valid: list[Exchange] = field(default_factory=list)
    """Exchanges whose request kept the contract."""

    async def run(self) -> None:
        first = await self._ask(self.target.question, self.target.top_k)
        known = {point.check: point for point in points_of_first_reply(first, self.clean)}
        if first.answer is None:
            for check in Check:
                self.add(known.get(check) or check.skipped("the first reply could not be used"))
            return
        for point in known.values():
            self.add(point)
        second = await self._ask(self.target.question, 1)
        self.add(_top_k(first, second))
        self.add(_unicode(await self._ask(_ANY_SCRIPT, self.target.top_k)))
        self.add(await self._concurrent())
        self.add(_time(self.valid, self.target.timeout_seconds))
        self.add(await self._top_k_optional())
        empty = await self._post({"query": "", "top_k": self.target.top_k})
        self.add(_empty_query(empty, self.clean))
        self.add(_get(await get_status(self.route)))
        self.add(_short_contexts(first))
        self.add(_keep_alive(first, second))

    async def _post(self, body: dict[str, Any]) -> Exchange:
        return await exchange_over(self.route, body, read_shape())

    async def _ask(self, question: str, top_k: int) -> Exchange:
        exchange = await self._post({"query": question, "top_k": top_k})
        self.valid.append(exchange)
        return exchange

    async def _concurrent(self) -> Point:
        started = time.perf_counter()
        exchanges = await together(self._ask(self.target.question, self.target.top_k) for _ in range(_AT_ONCE))
        seconds = time.perf_counter() - started
        lost = [exchange for exchange in exchanges if exchange.answer is None]
        if not lost:
            return Check.CONCURRENT.passed(f"{_AT_ONCE} of {_AT_ONCE} answered within {seconds:.2f} s")
        return Check.CONCURRENT.failed(
            f"{_AT_ONCE - len(lost)} of {_AT_ONCE} answered; {lost[0].found}",
            "Accept several requests at once: questions are asked concurrently.",
        )

    async def _top_k_optional(self) -> Point:
        question = {"query": self.target.question}
        exchanges = {
            "null": await self._post({**question, "top_k": None}),
            "missing": await self._post(question),
            "0": await self._post({**question, "top_k": 0}),
        }
        lost = {name: exchange for name, exchange in exchanges.items() if exchange.answer is None}
        if not lost:
            return Check.TOP_K_OPTIONAL.passed("each answered")
        seen = "; ".join(f"{name}: {exchange.found}" for name, exchange in lost.items())
        broke_down = any(exchange.status is None or exchange.status >= 500 for exchange in lost.values())
        mend = "Use a default if it is null or missing, and return no contexts for 0."
        return Check.TOP_K_OPTIONAL.failed(seen, mend) if broke_down else Check.TOP_K_OPTIONAL.advised(seen, mend)


def _top_k(first: Exchange, second: Exchange) -> Point:
    if second.answer is None:
        return Check.TOP_K.failed(f"top_k 1: {second.found}", 'Take every "top_k" from 1.')
    seen = []
    for exchange in (first, second):
        count = len(exchange.answer.contexts) if exchange.answer else 0
        seen.append(f"{count} for {exchange.sent['top_k']}")
        if count > exchange.sent["top_k"]:
            return Check.TOP_K.failed(", ".join(seen), 'Return the best passages only, "top_k" of them at most.')
    if first.answer and not first.answer.contexts:
        return Check.TOP_K.skipped("no contexts came; give --question TEXT that your documents answer")
    return Check.TOP_K.passed(", ".join(seen))


def _unicode(exchange: Exchange) -> Point:
    if exchange.answer is not None:
        return Check.UNICODE.passed(f"{_ANY_SCRIPT} was answered")
    return Check.UNICODE.failed(exchange.found, f"Read and write texts as UTF-8. The question was: {_ANY_SCRIPT}")


def _time(exchanges: list[Exchange], limit_seconds: float) -> Point:
    late = [exchange for exchange in exchanges if isinstance(exchange.error, EndpointTimeout)]
    if late:
        seen = f"{len(late)} of {len(exchanges)} took more than {limit_seconds:g} s"
        return Check.TIME.failed(seen, "Answer sooner.")
    slowest = max(exchange.seconds for exchange in exchanges)
    return Check.TIME.passed(f"the slowest of {len(exchanges)} in {slowest:.2f} s, limit {limit_seconds:g} s")


def _empty_query(exchange: Exchange, clean: Clean) -> Point:
    mend = 'Return status 400 and {"error": "query is required"}.'
    if exchange.answer is not None:
        return Check.EMPTY_QUERY.advised("it was answered", mend)
    if exchange.status == 400:
        with suppress(ReplyMismatch):
            reply = parse_json(exchange.body, exchange.content_type)
            error = reply.get("error") if isinstance(reply, dict) else None
            if isinstance(error, str) and error.strip():
                return Check.EMPTY_QUERY.passed(f'400, "{excerpt(clean(error), SHOWN)}"')
    return Check.EMPTY_QUERY.advised(exchange.found, mend)


def _get(status: int | None) -> Point:
    if status == 405:
        return Check.GET.passed("405")
    seen = "no reply came" if status is None else f"status {status}"
    return Check.GET.advised(seen, "Reply 405 to other methods, so that a wrong method differs from a wrong path.")


def _short_contexts(first: Exchange) -> Point:
    contexts = first.answer.contexts if first.answer else ()
    if not contexts:
        return Check.SHORT_CONTEXTS.skipped("no contexts came")
    longest = max(map(len, contexts))
    seen = f"the longest has {longest:,} characters"
    if longest > _LONG_CONTEXT:
        return Check.SHORT_CONTEXTS.advised(seen, "Cut documents into short passages.")
    return Check.SHORT_CONTEXTS.passed(seen)


def _keep_alive(first: Exchange, second: Exchange) -> Point:
    if first.local_port is None or second.local_port is None:
        return Check.KEEP_ALIVE.skipped("the connection does not say")
    if first.local_port == second.local_port:
        return Check.KEEP_ALIVE.passed("two questions went over one")
    return Check.KEEP_ALIVE.advised("each question needed a new one", "Keep connections open: each new one costs time.")
