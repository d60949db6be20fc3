"""Takes the text out of a completion, or says what came in its place."""

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
    Something other than what was asked for, with a status of success.

    Args:
        what: What came instead, in words of ours.
        sent: What the server sent, where there is something to show.
        status: What it came with.
    """

    def __init__(self, what: str, *, sent: str = "", status: int = 200) -> None:
        super().__init__(what)
        self.sent = sent
        self.status = status


class Declined(Exception):
    """The model, or a filter on its server, declined to judge; the text says which and how."""


def reply_text(completion: Any) -> ReplyText:
    """
    The text of the first choice.

    Args:
        completion: The JSON value of the reply, or the object that the openai package makes of it without checking
            it: every member may be missing or of another type.

    Raises:
        OtherContent: there is no choice with a message.
        Declined: a refusal, or a content filter.
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
    """What a JSON object, or the openai package's object for one, has under the name; None where it has nothing."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _no_message(completion: Any) -> OtherContent:
    error = member(completion, "error")
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
