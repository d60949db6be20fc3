"""The contract's reply, `{"answer": str, "contexts": [str, ...]}`, read into a `RagAnswer`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.excerpt import excerpt
from pytest_ragcheck.rag.json_body import ReplyMismatch

CONTRACT = '{"answer": "...", "contexts": ["...", ...]}'

_ANSWER_NAMES = (
    *("response", "result", "output", "output_text", "text", "content", "message", "completion", "reply"),
    *("generated_text", "generatedText", "answerText", "answer_text", "finalAnswer", "final_answer"),
)
_CONTEXTS_NAMES = (
    *("context", "chunks", "documents", "docs", "sources", "passages", "references", "snippets", "citations"),
    *("retrieved_contexts", "retrievedContexts", "retrieved_documents", "retrievedDocuments", "contextTexts"),
    *("source_documents", "sourceDocuments", "source_nodes", "sourceNodes", "results", "hits"),
)
_TEXT_NAMES = ("text", "content", "page_content", "pageContent", "chunk", "snippet", "passage", "body", "value")


class OtherShape(ReplyMismatch):
    """A reply that has everything, but not in the contract's shape."""


def read_reply(reply: object) -> RagAnswer:
    """
    The answer that a reply in the contract's shape holds; keys beyond the contract go to `extra`.

    An empty answer is an answer (the system abstained), and so are no contexts.

    Raises:
        ReplyMismatch: The reply has another shape; the text says which, and what the contract wants.
    """
    if not isinstance(reply, Mapping):
        raise ReplyMismatch(f"the reply is {named(reply)}", f"Return an object, {CONTRACT}.")
    if "answer" not in reply:
        raise _no_answer(reply)
    answer = reply["answer"]
    if not isinstance(answer, str):
        raise _answer_of_another_type(answer)
    if "contexts" not in reply:
        raise _no_contexts(reply)
    contexts = _read_contexts(reply["contexts"])
    _refuse_lone_surrogates(answer, '"answer"')
    extra = {key: value for key, value in reply.items() if key not in ("answer", "contexts")}
    return RagAnswer(text=answer, contexts=contexts, extra=extra)


def named(value: object) -> str:
    """The value's kind as a sentence has it, in the words of JSON where it has one."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the string "{excerpt(value, 60)}"'
    if isinstance(value, Mapping):
        return f"an object with {_keys(value)}"
    if isinstance(value, (list, tuple)):
        return f"an array of {len(value)}" if value else "an empty array"
    return f"a {type(value).__name__}"


def _read_contexts(contexts: object) -> tuple[str, ...]:
    if isinstance(contexts, str):
        raise OtherShape('"contexts" is one string, not an array', 'Return ["...", "..."], each passage a string.')
    if not isinstance(contexts, Sequence):
        found = f'"contexts" is {named(contexts)}, not an array of strings'
        raise ReplyMismatch(found, "Return the retrieved texts, or [] where nothing was retrieved.")
    for index, context in enumerate(contexts):
        if not isinstance(context, str):
            raise _context_of_another_type(context, index)
        _refuse_lone_surrogates(context, f'"contexts"[{index}]')
    return tuple(contexts)


def _refuse_lone_surrogates(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ReplyMismatch(
            f"{where} holds half a character, \\u{code:04x}, at position {error.start}",
            "Cut texts between characters: in UTF-16, as in JavaScript, an emoji counts as two.",
        ) from None


def _no_answer(reply: Mapping[str, Any]) -> ReplyMismatch:
    if isinstance(reply.get("choices"), list):
        return OtherShape(
            f"the reply is an OpenAI chat completion (found {_keys(reply)})",
            f"Return {CONTRACT}: the text of the message, and the passages that it was made from.",
        )
    if reply.get("error"):
        return ReplyMismatch(
            f'the reply has no "answer" but an error: {_said(reply["error"])}',
            "Mend its cause in the RAG system, and report such failures with status 500.",
        )
    found = f'the reply has no "answer" (found {_keys(reply)})'
    if other := _same_word(reply, "answer") or _first_text(reply, _ANSWER_NAMES):
        return OtherShape(found, f'Rename "{other}" to "answer".')
    for key, inner in reply.items():
        if isinstance(inner, Mapping) and "answer" in inner:
            return OtherShape(found, f'Return what "{key}" holds, without the object around it.')
    return ReplyMismatch(found, f"Return {CONTRACT}.")


def _no_contexts(reply: Mapping[str, Any]) -> ReplyMismatch:
    found = f'the reply has no "contexts" (found {_keys(reply)})'
    other = _same_word(reply, "contexts") or next((name for name in _CONTEXTS_NAMES if name in reply), None)
    if other:
        return OtherShape(found, f'Return the texts of "{other}" as "contexts", an array of strings.')
    return ReplyMismatch(
        found, 'Return the retrieved texts as "contexts", an array of strings, [] where nothing was retrieved.'
    )


def _answer_of_another_type(answer: object) -> ReplyMismatch:
    found = f'"answer" is {named(answer)}, not a string'
    if answer is None:
        return ReplyMismatch(found, 'Return "" where the system declines to answer.')
    if isinstance(answer, Mapping) and (key := _first_text(answer, _TEXT_NAMES)):
        return OtherShape(found, f'Return the text that "{key}" holds.')
    return ReplyMismatch(found, "Return the text of the answer.")


def _context_of_another_type(context: object, index: int) -> ReplyMismatch:
    found = f'"contexts"[{index}] is {named(context)}, not a string'
    if isinstance(context, Mapping) and (key := _first_text(context, _TEXT_NAMES)):
        return OtherShape(found, f'Return the "{key}" of each; further keys of the reply may hold the rest.')
    return ReplyMismatch(found, "Return the text of each passage.")


def _same_word(reply: Mapping[str, Any], word: str) -> str | None:
    """The key that differs from *word* in case or underscores only."""
    return next((key for key in reply if isinstance(key, str) and key.strip("_ ").lower() == word), None)


def _first_text(value: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if isinstance(value.get(name), str)), None)


def _keys(value: Mapping[Any, Any], longest: int = 6) -> str:
    if not value:
        return "no keys"
    keys = ", ".join(f'"{excerpt(str(key), 40)}"' for key in list(value)[:longest])
    return keys if len(value) <= longest else f"{keys} and {len(value) - longest} more"


def _said(error: object) -> str:
    """The words of an `error` value: a text, or an object with a message."""
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("detail") or error
    return f'"{excerpt(error)}"' if isinstance(error, str) else named(error)
