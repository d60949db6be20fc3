"""Reads chat completions, the errors in place of one, and the tokens that models use for each question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pytest_ragcheck.frozen import frozen

_ERROR_STATUSES = range(400, 600)
_FILTERED = frozenset({"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"})
_LITELLM_FILTERED = "ContentPolicyViolation"
"""LiteLLM names its exception in the message only; the code of the error is 400."""

_RETRY_DELAY = re.compile(r"retryDelay\W{1,9}([0-9]{1,9}(?:\.[0-9]+)?)s")
_PER_DAY = re.compile("(?is)(?!.*per.?min).*per.?day")
_LINE_END = re.compile(r"\r\n?|\n")
_REASONING = ("reasoning_content", "reasoning")

_CONTEXT_UNIT = 1024
"""Context lengths, and so the numbers of tokens in full contexts, are usually multiples of it."""


@frozen
class ReplyText:
    """The model's text; it may be empty."""

    text: str
    cut_off: bool
    """True if the model reached its token limit."""

    reasoned: bool
    """True if the server sent the model's reasoning separately from the text."""

    served_by: str
    """Model and fingerprint that the server names; see `Judgement`."""


class OtherContent(Exception):
    """A successful status with something other than a completion."""

    def __init__(self, what: str, *, sent: str = "", status: int = 200) -> None:
        super().__init__(what)
        self.sent = sent
        self.status = status


class Declined(Exception):
    """The model, or with *by_filter* a content filter of its server, declined to judge."""

    def __init__(self, reason: str, *, filters: tuple[str, ...] = (), by_filter: bool = False) -> None:
        super().__init__(reason)
        self.filters = filters
        self.by_filter = by_filter


class Refused(Exception):
    """The server replied with an error, or *in_body* of a reply whose HTTP status was a success."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str], *, in_body: bool = False) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.in_body = in_body
        # Gemini sends a list of one error.
        body = body[0] if isinstance(body, list) and body else body
        self.error: Any = (body.get("error") or body) if isinstance(body, dict) else body

        self.code = _text(member(self.error, "code"))
        """OpenAI's code of the error, such as `insufficient_quota`; None without one."""

        self.param = _text(member(self.error, "param"))
        """The parameter at fault, such as `temperature`; None if the error names none."""

    @property
    def wrong_key(self) -> bool:
        """True if the body says that the key is wrong, as Gemini does with status 400."""
        return "API key not valid" in str(self.error)

    @property
    def no_quota_left(self) -> bool:
        """True if the quota of the account or of the day is used up."""
        return self.code == "insufficient_quota" or (self.status == 429 and bool(_PER_DAY.match(str(self.error))))

    @property
    def retry_delay_seconds(self) -> float | None:
        """The wait that the body requests, >= 0, as Gemini's `retryDelay` does; None without one."""
        match = _RETRY_DELAY.search(str(self.error))
        return float(match[1]) if match else None

    @property
    def declined(self) -> Declined | None:
        """The refusal of a content filter; None if the error has another cause."""
        inner = member(self.error, "innererror") or member(member(self.error, "provider_specific_fields"), "innererror")
        message = str(member(self.error, "message") or "")
        if not {self.code, _text(member(inner, "code"))} & _FILTERED and _LITELLM_FILTERED not in message:
            return None
        return Declined(message, filters=_filters(member(inner, "content_filter_result")), by_filter=True)


def reply_text(completion: Any) -> ReplyText:
    """
    The text of the first choice.

    The completion is JSON or an unchecked object of the openai package. Any member may be missing or of another type.

    Raises:
        OtherContent: The reply has no choice with a message.
        Declined: The model refused, or a content filter withheld the reply.
    """
    if isinstance(completion, str):
        raise OtherContent("text", sent=completion)
    choice = _first(completion)
    message = member(choice, "message")
    finish_reason = str(member(choice, "finish_reason"))
    if refusal := member(message, "refusal"):
        raise Declined(f"it refused: {refusal}")
    # Gemini adds its reason, as in "content_filter: RECITATION", and may leave out the message.
    if finish_reason.startswith("content_filter"):
        filters = _filters(member(choice, "content_filter_results"))
        raise Declined(f"finish_reason {finish_reason!r}", filters=filters, by_filter=True)
    if message is None:
        raise OtherContent("JSON without a message", sent=_json(completion))
    return ReplyText(
        text=_joined(member(message, "content")) + _called(message),
        cut_off=finish_reason == "length",
        reasoned=any(member(message, name) for name in _REASONING),
        served_by=" ".join(filter(None, (_text(member(completion, name)) for name in ("model", "system_fingerprint")))),
    )


def check_for_error(completion: Any) -> None:
    """Raises the error in a successful reply of a gateway: `Refused`, or `OtherContent` without a status."""
    for error in (member(completion, "error"), member(_first(completion), "error")):
        if not error:
            continue
        status = str(member(error, "code") or "")
        if status.isascii() and status.isdecimal() and int(status[:9]) in _ERROR_STATUSES:
            raise Refused(int(status), error, {}, in_body=True)
        raise OtherContent("an error", sent=str(member(error, "message") or error))


def streamed(text: str) -> dict[str, Any] | None:
    """The completion in server-sent events, which some servers send unrequested; None for other text."""
    whole: dict[str, Any] = {}
    parts: dict[str, str] = {}
    finish_reason = None
    for event in _events(text):
        whole |= event
        choice = _first(event)
        delta = member(choice, "delta") or member(choice, "message")
        for name in ("content", "refusal", *_REASONING):
            if part := _joined(member(delta, name)):
                parts[name] = parts.get(name, "") + part
        finish_reason = member(choice, "finish_reason") or finish_reason
    if not whole:
        return None
    return {**whole, "choices": [{"message": parts, "finish_reason": finish_reason}]}


def member(value: Any, name: str) -> Any:
    """The member of a JSON object, or of an object of the openai package; None if it is missing."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _first(value: Any, name: str = "choices") -> Any:
    values = member(value, name)
    return values[0] if isinstance(values, list) and values else None


def _events(text: str) -> Iterator[dict[str, Any]]:
    # Not `splitlines`, which also splits at U+2028, a character that JSON need not escape.
    for line in _LINE_END.split(text):
        if line.startswith("data:"):
            try:
                event = json.loads(line.removeprefix("data:"))
            except (ValueError, RecursionError):  # such as [DONE], the last event
                continue
            if isinstance(event, dict):
                yield event


def _filters(result: Any) -> tuple[str, ...]:
    # The filters of Azure that stopped the text, such as `jailbreak`.
    found = result.items() if isinstance(result, dict) else ()
    return tuple(name for name, each in found if member(each, "filtered") or member(each, "detected"))


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):  # the server has read the model's JSON already
        return _json(content)
    # Some servers send a list of parts, and some parts are thinking.
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _called(message: Any) -> str:
    # The arguments of a tool call, in which some gateways and models send JSON.
    call = member(message, "function_call") or member(_first(message, "tool_calls"), "function")
    return _joined(member(call, "arguments"))


def _json(value: Any) -> str:
    # The text of a JSON value, or of an object of the openai package; empty for other values.
    if hasattr(value, "model_dump"):
        value = value.model_dump(exclude_unset=True, warnings=False)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | None) else ""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


@frozen
class TokenUse:
    """The tokens of one request to a model, or of several recorded ones."""

    model: str
    url: str | None
    """The server, as in `JudgeIdentity`; None for OpenAI's own."""

    input_tokens: int | None = None
    """>= 0; None if the server did not report it."""

    cached_tokens: int | None = None
    """The part of `input_tokens` from the server's prefix cache, which may cost less."""

    output_tokens: int | None = None
    """Like `input_tokens`; 0 for embeddings."""

    recorded: bool = False
    """True if the tokens were used in the recorded run, and not now."""

    recorded_usd: float | None = None


# A context variable, because the code that sends requests does not have the question.
_METERS: ContextVar[tuple[list[TokenUse], ...]] = ContextVar("ragcheck_meters", default=())


@contextmanager
def metered() -> Iterator[list[TokenUse]]:
    """All token use inside the `with` is added to the list."""
    meter: list[TokenUse] = []
    token = _METERS.set((*_METERS.get(), meter))
    try:
        yield meter
    finally:
        _METERS.reset(token)


def note_use(use: TokenUse) -> None:
    """Adds the use to every meter of the running task."""
    for meter in _METERS.get():
        meter.append(use)


def reported_use(reply: Any, *, model: str, url: str | None) -> TokenUse:
    """The tokens that a reply reports; invalid numbers count as not reported."""
    usage = member(reply, "usage")
    # Servers that do not count tokens send 0, which no prompt has.
    read = _count(usage, "prompt_tokens", "input_tokens") or None
    written = _count(usage, "completion_tokens", "output_tokens")
    # Gemini and xAI count reasoning in the total only.
    further = (_count(usage, "total_tokens") or 0) - (read or 0) - (written or 0)
    if read and further > 0 and further != _cached(usage):
        written = (written or 0) + further
    cached = _count(member(usage, "prompt_tokens_details"), "cached_tokens")
    return TokenUse(
        model=model,
        url=url,
        input_tokens=read,
        cached_tokens=cached if (cached or 0) <= (read or 0) else None,
        output_tokens=written if read else written or None,
    )


def tokens_of_cut(prompt: str, reply: Any) -> int | None:
    """The reported prompt tokens, if they are fewer than the words and so show that the prompt was cut; else None."""
    usage = member(reply, "usage")
    tokens = _count(usage, "prompt_tokens", "input_tokens") or 0
    # Some servers count no cached tokens: usually those before the material, and all but a few of a repeated prompt.
    certain = prompt if tokens % _CONTEXT_UNIT == 0 else prompt.partition("\n=== BEGIN ")[2]
    return tokens if _CONTEXT_UNIT <= tokens < len(certain.split()) - _cached(usage) else None


def _cached(usage: Any) -> int:
    # Anthropic's names are of tokens that `input_tokens` lacks.
    inside = _count(member(usage, "prompt_tokens_details"), "cached_tokens") or 0
    names = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return inside + sum(_count(usage, name) or 0 for name in names)


def _count(usage: Any, *names: str) -> int | None:
    values = (member(usage, name) for name in names)
    counts = (value for value in values if isinstance(value, int) and not isinstance(value, bool) and value >= 0)
    return next(counts, None)
