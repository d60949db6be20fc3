"""Takes the text out of what the SDK returned: it raises for none of the replies that are no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyText:
    """What the model said; may be empty."""

    text: str
    cut_off: bool = False
    """True: the model ran out of tokens before it was done."""


class OtherContent(Exception):
    """
    Status 200 with something other than what was asked for.

    Args:
        what: What came instead, in words of ours.
        sent: What the server sent, where there is something to show.
    """

    def __init__(self, what: str, *, sent: str = "") -> None:
        super().__init__(what)
        self.sent = sent


class Declined(Exception):
    """The model, or a filter on its server, declined to judge; the text says which and how."""


def reply_text(completion: Any) -> ReplyText:
    """
    The text of the first choice.

    The SDK hands on whatever JSON came without checking it, so every attribute may be missing or of another type.

    Raises:
        OtherContent: there is no choice with a message.
        Declined: a refusal, or a content filter.
    """
    if isinstance(completion, str):
        raise OtherContent("text", sent=completion)
    choices = getattr(completion, "choices", None)
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = getattr(choice, "message", None)
    if message is None:
        raise _no_message(completion)
    finish_reason = getattr(choice, "finish_reason", None)
    if refusal := getattr(message, "refusal", None):
        raise Declined(f"it refused: {refusal}")
    if finish_reason == "content_filter":
        raise Declined("a content filter withheld the reply (finish_reason 'content_filter')")
    return ReplyText(text=_joined(getattr(message, "content", None)), cut_off=finish_reason == "length")


def _no_message(completion: Any) -> OtherContent:
    error = getattr(completion, "error", None)
    if not error:
        return OtherContent("JSON that holds no message")
    return OtherContent("an error", sent=str(error.get("message", error) if isinstance(error, dict) else error))


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    # Some servers send a list of parts, thinking among them.
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))
