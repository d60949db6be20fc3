"""Reads the prompts for the judge's model, and fills in the material, fenced with marks that it cannot forge."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

PACKAGED = ("en", "ru")
"""The names of the packaged prompts, each the language of its text."""

_VERSION_LINE = re.compile(r"\Aversion:[ \t]*(\S+)[ \t]*\n")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")
_NOT_A_LANGUAGE = re.compile(r"\{\w+\}|\w+_\w+|groundedness|abstained|JSON|nonce")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_LATIN = re.compile("[A-Za-z]")
_REQUIRED = ("question", "contexts", "answer")
_KNOWN = (*_REQUIRED, "expected_answers", "history")

_ESCAPED = re.compile(
    # Control tokens of models, which some servers parse in any text: <|im_start|>, </s>, and [INST] below.
    r"[<>\["
    # Invisible, bidirectional and line-breaking characters: C1 controls, soft hyphen, fillers, zero width,
    # variation selectors, tags, private use, lone surrogates.
    r"\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
    # A bracket only before a word in capitals. The check follows the set, because a pattern that begins with one
    # set is searched three times as fast as one with alternatives.
    r"(?:(?<!\[)|(?=/?[A-Z_]{3,}\]))"
)
_ESCAPED_ASCII = "<>[\x7f"
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def text_of(name: str) -> str:
    return package_text(f"judging/prompts/{name}.txt")


def frame_of(name: str) -> str:
    """The English frame of the packaged prompt of that name; see `JudgePrompt.frame`."""
    # Users' prompts get a frame too: the protection against verdicts inside the material must not depend on how a
    # prompt is written. Only its last line changes with the question, so that a server's prefix cache keeps the rest.
    # The scores come after the findings that they should follow from.
    return text_of("en.frame").replace("{fields}", text_of(f"{name}.fields"))


REPAIR = text_of("en.repair").rstrip()
"""The second message, after a reply that cannot be read."""


@frozen
class JudgePrompt:
    """The instructions for one message to the judge's model, with placeholders for the material."""

    name: str
    """The name of a packaged prompt, or the stem of the user's file."""

    version: str
    """Changes with every change of the text; every record has it."""

    text: str
    frame: str = frame_of("en")
    """
    The text around the material, in the prompt's language: how to read the material, and how to reply.

    It has the placeholder `{material}`, and after it `{nonce}`.
    """

    repair: str = REPAIR
    """The message after an unreadable reply, in the prompt's language, with `{problem}`."""

    history: str = text_of("en.history")
    """The part of the material with the earlier turns, in the prompt's language, with `{history}`."""

    @property
    def digest(self) -> str:
        """64 hex digits over all fixed text of the first message."""
        return hashlib.sha256(f"{self.text}\n{self.frame}\n{self.history}".encode()).hexdigest()

    @property
    def is_russian(self) -> bool:
        words = _NOT_A_LANGUAGE.sub(" ", self.text)
        return len(_CYRILLIC.findall(words)) > len(_LATIN.findall(words))

    def render(
        self, question: Question, answer: RagAnswer, *, nonce: str, sentences: Sequence[Mapping[str, object]] = ()
    ) -> str:
        """
        The message to the model: the instructions, the frame's first part, the material, and the frame's last part.

        The instructions are the paragraphs of the text before its first placeholder. The message has neither the
        thresholds nor `answerable`. The nonce marks the material and the reply.
        """
        material = {
            "question": question.question,
            "contexts": answer.contexts,
            "answer": answer.text,
            "expected_answers": question.acceptable_answers,
            "history": list(map(asdict, question.history)),
            "sentences": sentences,
        }
        first = _PLACEHOLDER.search(self.text)
        instructions = self.text[: first.start()].rpartition("\n\n")[0] if first else ""
        places = self.text[len(instructions) :].strip()
        if question.history and "{history}" not in self.text:
            places = f"{self.history}\n{places}"

        def block(match: re.Match[str]) -> str:
            return _on_lines_of_its_own(fenced(match[1], material[match[1]], nonce=nonce), match)

        # One pass, so that a placeholder's name inside the material is not replaced.
        filled = _PLACEHOLDER.sub(block, places)
        before, after = self.frame.split("{material}")
        parts = (instructions.rstrip(), before.strip(), filled, after.strip().replace("{nonce}", nonce))
        return "\n\n".join(filter(None, parts)) + "\n"


def load_prompt(name_or_path: str | Path) -> JudgePrompt:
    """
    The packaged prompt of that name, or the prompt in that file.

    The first line of a packaged prompt has its version and is not sent. The version of a user's prompt is the stem of
    its file and eight digits of a hash over all fixed text that is sent. A Russian prompt gets a Russian frame.

    Raises:
        UsageError: There is no such prompt, or a placeholder is missing or unknown.
    """
    if str(name_or_path) in PACKAGED:
        prompt = packaged_prompt(str(name_or_path))
    else:
        path = Path(name_or_path)
        _, text = _split_version(_read(path))
        _check_placeholders(path, text)
        prompt = JudgePrompt(name=path.stem, version="", text=text)
    if prompt.is_russian:
        frame, repair, history = map(text_of, ("ru.frame", "ru.repair", "ru.history"))
        prompt = replace(prompt, frame=frame.rstrip(), repair=repair.rstrip(), history=history)
    return prompt if prompt.version else replace(prompt, version=f"{prompt.name}-{prompt.digest[:8]}")


def packaged_prompt(name: str, **around: str) -> JudgePrompt:
    """The prompt in the package's file of that name, with the texts around it by field of `JudgePrompt`."""
    version, text = _split_version(text_of(name))
    return JudgePrompt(name=name, version=version, text=text, **around)


@cache
def task_prompt(name: str) -> JudgePrompt:
    """That of a task other than judging, with its own frame and history."""
    return packaged_prompt(name, frame=frame_of(name), history=text_of(f"{name}.history"))


def _on_lines_of_its_own(block: str, place: re.Match[str]) -> str:
    before, after = place.string[: place.start()], place.string[place.end() :]
    return ("\n" if before and before[-1] != "\n" else "") + block + ("\n" if after and after[0] != "\n" else "")


def _split_version(content: str) -> tuple[str, str]:
    match = _VERSION_LINE.match(content)
    return (match[1], content[match.end() :]) if match else ("", content)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        problem = f"there is no such file, and no packaged prompt of that name (packaged: {', '.join(PACKAGED)})"
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
    except OSError as error:
        problem = f"it cannot be read: {error.strerror}"
    raise UsageError(f"judge prompt {str(path)!r}: {problem}. Set rag_judge_prompt to a packaged name or a text file.")


def _check_placeholders(path: Path, text: str) -> None:
    found = set(_PLACEHOLDER.findall(text))
    if unknown := sorted(found.difference(_KNOWN)):
        raise UsageError(
            f"judge prompt {str(path)!r} has the unknown placeholder {_listed(unknown)}. "
            f"Known placeholders are {_listed(_KNOWN)}; write a literal brace with a space: {{ name }}."
        )
    if missing := [name for name in _REQUIRED if name not in found]:
        raise UsageError(
            f"judge prompt {str(path)!r} lacks the placeholder {_listed(missing)}. "
            "Write it where the judge should read that part."
        )


def _listed(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


class Nonces:
    """
    Random strings of 16 hexadecimal digits, unknown to the authors of the material.

    A question has the same nonce in all requests of one object, so that a server's prefix cache finds what came before
    a changed answer. No reply reaches the system under test, so the repeated nonce stays unknown to it.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def of(self, question: str) -> str:
        return hashlib.blake2b(question.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8).hexdigest()


def fenced(name: str, material: str | Sequence[object], *, nonce: str) -> str:
    """
    The material as JSON between a BEGIN and an END line that carry the nonce.

    A JSON parser restores the material. Lone surrogates and control characters are escaped in the text. A surrogate
    pair is restored as the character that it encodes, because JSON cannot tell the two apart.
    """
    if isinstance(material, str):
        text = _encoded(material)
    else:
        # The same text as with `indent=1`, which would use Python's slow encoder.
        items = ",\n ".join(map(_encoded, material))
        text = f"[\n {items}\n]" if items else "[]"
    return f"=== BEGIN {name} {nonce} ===\n{text}\n=== END {name} {nonce} ==="


def _encoded(material: object) -> str:
    text = _ENCODER.encode(material)
    # The search for a set of characters takes 0.03 ms for five contexts.
    if text.isascii() and not any(map(text.__contains__, _ESCAPED_ASCII)):
        return text
    return _ESCAPED.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] > "~" else f"\\u{ord(match[0]):04x}"
