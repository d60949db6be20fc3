"""Reads the text of a chat completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyText:
    """The model's text; it may be empty."""

    text: str
    cut_off: bool = False
    """True if the model reached its token limit."""


class OtherContent(Exception):
    """
    A successful status with something other than a completion.

    Args:
        what: A description of the content.
        sent: The content, if it can be shown.
        status: The status.
    """

    def __init__(self, what: str, *, sent: str = "", status: int = 200) -> None:
        super().__init__(what)
        self.sent = sent
        self.status = status


class Declined(Exception):
    """The model, or a filter on its server, declined to judge."""


def reply_text(completion: Any) -> ReplyText:
    """
    Returns the text of the first choice.

    Args:
        completion: The JSON value of the reply, or the unchecked object of the openai package. Any member may be
            missing or of another type.

    Raises:
        OtherContent: There is no choice with a message.
        Declined: The model refused, or a content filter withheld the reply.
    """
    if isinstance(completion, str):
        raise OtherContent("text", sent=completion)
    choices = member(completion, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = member(choice, "message")
    if message is None:
        raise _no_message(completion)
    finish_reason = member(choice, "finish_reason")
    if refusal := member(message, "refusal"):
        raise Declined(f"it refused: {refusal}")
    if finish_reason == "content_filter":
        raise Declined("a content filter withheld the reply (finish_reason 'content_filter')")
    return ReplyText(text=_joined(member(message, "content")), cut_off=finish_reason == "length")


def member(value: Any, name: str) -> Any:
    """The member of a JSON object, or of an object of the openai package; None if it is missing."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _no_message(completion: Any) -> OtherContent:
    error = member(completion, "error")
    if not error:
        return OtherContent("JSON that holds no message")
    return OtherContent("an error", sent=str(error.get("message", error) if isinstance(error, dict) else error))


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    # Some servers send a list of parts, some of which are thinking.
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))
