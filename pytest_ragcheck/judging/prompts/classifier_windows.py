"""Makes the inputs of token classifiers that find unsupported words: a prompt with contexts, and an answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text

if TYPE_CHECKING:
    Offsets = Callable[[str], Sequence[tuple[int, int]]]
    """Returns the first and the last character of each token of a text."""

# Share of a context's piece that the next piece repeats, so that a sentence is whole in one of them.
_REPEATED = 8
# `passage 12: ` and the line break.
_TOKENS_OF_A_LINE = 6
_SENTENCE_END = re.compile(r"[.!?]\s+|[。！？]|\n")
_SPACE = re.compile(r"\s+")


@frozen
class ClaimedAnswer:
    """An answer, and the texts that may support it, as a classifier reads them."""

    question: str
    contexts: Sequence[str]
    """At least one."""

    answer: str


@frozen
class Window:
    """One input of the model: all or a part of the answer, with all or some of the contexts."""

    prompt: str
    part: str
    start: int
    """Where the part starts in the answer."""


def classifier_prompt(question: str, passages: Sequence[str]) -> str:
    """
    The text before the answer.

    Source: the prompt for question answering in RAGTruth (Niu et al., 2024), whose contexts LettuceDetect numbers. The
    models are trained on this text.
    """
    numbered = "\n".join(f"passage {number}: {text}" for number, text in enumerate(passages, 1))
    prompt = package_text("judging/prompts/local.txt").rstrip()
    return prompt.format(question=question, number=len(passages), passages=numbered)


def windows(claimed: ClaimedAnswer, offsets: Offsets, *, room: int) -> list[Window]:
    """
    Return windows that combine each part of the answer with each part of the contexts.

    Contexts that do not fit together are spread over several windows, and one that is too long alone is cut into
    overlapping pieces. An answer that would take more than half of the room is cut too, at ends of sentences if
    possible. Nothing is left out. *room* is the most tokens of a window, without special tokens.

    Raises:
        JudgeError: The question leaves too little room.
    """
    taken = len(offsets(classifier_prompt(claimed.question, [""])))
    left = room - taken
    if left < room // 4:
        raise JudgeError(
            f"the local judge cannot read a question of {len(offsets(claimed.question))} tokens: its model takes "
            f"{room} tokens at once, and the prompt with the question has {taken}, but answer and contexts need a "
            "quarter. Choose a model with a longer input as rag_judge_model"
        )
    found = []
    for start, end in _pieces(claimed.answer, offsets, most=max(1, left // 2), repeated=0):
        part = claimed.answer[start:end]
        for group in _groups(claimed.contexts, offsets, most=max(1, left - len(offsets(part)))):
            prompt = classifier_prompt(claimed.question, group)
            found.append(Window(prompt=prompt, part=part, start=start))
    return found


def _groups(contexts: Sequence[str], offsets: Offsets, *, most: int) -> Iterator[list[str]]:
    # Yield groups of whole contexts, or of pieces of them, in their order, with at most that many tokens.
    group: list[str] = []
    taken = 0
    longest = max(1, most - _TOKENS_OF_A_LINE)
    for context in contexts:
        for start, end in _pieces(context, offsets, most=longest, repeated=longest // _REPEATED):
            text = context[start:end]
            size = len(offsets(text)) + _TOKENS_OF_A_LINE
            if group and taken + size > most:
                yield group
                group, taken = [], 0
            group.append(text)
            taken += size
    if group:
        yield group


def _pieces(text: str, offsets: Offsets, *, most: int, repeated: int) -> Iterator[tuple[int, int]]:
    # Yield start and end of pieces of at most *most* tokens; each repeats the last *repeated* of the one before.
    starts = [start for start, _ in offsets(text)]
    first = start = 0
    while first + most < len(starts):
        end = _cut(text, starts[first + most // 2], starts[first + most])
        if end > start:  # several tokens may make up one character
            yield start, end
        first = max(first + 1, bisect_left(starts, end) - repeated)
        start = min(end, starts[first]) if repeated else end
    yield start, len(text)


def _cut(text: str, earliest: int, latest: int) -> int:
    # Return where the text is best cut: after a sentence, or else after a word, or else at the latest place.
    for pattern in (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, earliest, latest)]
        if ends:
            return ends[-1]
    return latest
