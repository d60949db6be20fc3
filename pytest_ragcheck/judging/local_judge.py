"""Judges groundedness by a token classifier on this machine."""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from unicodedata import category

from pytest_ragcheck.concurrency.tasks import Batches
from pytest_ragcheck.errors import JudgeError, UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.classifier_model import ClaimedAnswer
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement, digest_of, grounding_contexts
from pytest_ragcheck.judging.local_model import LocalModel, downloaded, file_states, missing_packages_error
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.judging.offline.words.sentences import places_of_sentences
from pytest_ragcheck.judging.token_classifier import CLOSED, AnswerToken, TokenClassifier
from pytest_ragcheck.judging.trial import canaries
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import excerpt
from pytest_ragcheck.rag.cited_answer import cited_answer

VERSION = "local-1"
"""Increased whenever the same probabilities lead to other judgements."""

_LINE = 0.5


@frozen
class UnsupportedSpan:
    """Whole words of an answer that a model finds unsupported."""

    start: int
    end: int
    probability: float
    """The highest of its tokens, above 0.5."""


class LocalJudge:
    """
    Judges groundedness by a token classifier, and correctness and refusals by the rules of the offline judge.

    The model is loaded for the first answer, in a thread. Answers that wait at the same time share its batches.

    Args:
        model: A folder, or a name on the hub.

    Raises:
        UsageError: A package of the extra `local` is not installed.
    """

    def __init__(self, model: str) -> None:
        if problem := missing_packages_error():
            raise UsageError(problem)
        self._offline = OfflineJudge()
        self._model = LocalModel(model, setting="rag_judge_model", load=TokenClassifier)
        self._batches = Batches(self._tokens)
        self._closed = threading.Event()
        # A fixture's judge is not closed. This runs before the model's finalizer, which waits for the forward pass.
        weakref.finalize(self, self._closed.set)
        rules = f"{VERSION}+{self._offline.identity.prompt_version}"
        self.identity = JudgeIdentity(
            kind="local",
            # Two machines with the same model need not have it at the same place.
            model=Path(model).resolve().name if Path(model).is_dir() else model,
            prompt_version=rules,
        )
        self.canaries = canaries()

        folder = downloaded(model)
        parts = [rules, version("torch"), version("transformers")]
        self.fingerprint = "" if folder is None else digest_of([model, file_states(folder), *parts])
        """Digest of everything that a verdict depends on; empty for a model that is not downloaded yet."""

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The model's groundedness, the share of sentences without unsupported words.

        An empty answer, a refusal and an answer without contexts are judged by the offline judge alone.

        Raises:
            JudgeError: The model cannot be loaded, or cannot read the answer.
        """
        contexts = [context for context in grounding_contexts(question, answer) if context.strip()]
        by_rules = await self._offline.judge(question, answer)
        if by_rules.abstained or not contexts:
            return by_rules
        # With the answer as its own context, the message is about its correctness.
        by_rules = await self._offline.judge(question, replace(answer, contexts=(answer.text,)))
        # Tokenizers reject lone surrogates.
        readable = _readable(answer.text)
        text = cited_answer(replace(answer, text=readable)).marked.blanked(readable)
        claimed = ClaimedAnswer(
            question=_readable(question.question), contexts=tuple(map(_readable, contexts)), answer=text
        )
        tokens = await self._batches.result(claimed)
        if not tokens:
            raise JudgeError(
                f"the tokenizer of {self.identity.model!r} has no token for the answer {excerpt(text)!r}. Choose "
                "another model as rag_judge_model"
            )
        spans = unsupported_spans(text, tokens)
        score = share_of_clean_sentences(text, spans)
        correctness = by_rules.answer_correctness
        return Judgement(
            answer_correctness=correctness,
            groundedness=score,
            error_message=(
                by_rules.error_message if correctness is not None and correctness <= score else weakness(text, spans)
            ),
            abstained=False,
            unsupported_claims=tuple(readable[span.start : span.end] for span in spans),
        )

    async def aclose(self) -> None:
        """Ends the judging after the current forward pass, so that an interrupted run ends soon."""
        self._closed.set()

    def _tokens(self, answers: Sequence[ClaimedAnswer]) -> Sequence[list[AnswerToken] | Exception]:
        if self._closed.is_set():
            raise JudgeError(CLOSED)
        return self._model.in_turn(
            partial(TokenClassifier.tokens, answers=answers, is_wanted=lambda: not self._closed.is_set())
        )


def unsupported_spans(text: str, tokens: Sequence[AnswerToken]) -> list[UnsupportedSpan]:
    """Return neighbouring tokens of a sentence with a probability above 0.5 as spans, extended to whole words."""
    spans: list[UnsupportedSpan] = []
    starts = [start for start, _ in places_of_sentences(text)]
    for token in tokens:
        if token.probability <= _LINE:
            continue
        start, end = _whole_words(text, token.start, token.end)
        if start >= end:
            continue
        probability = token.probability
        is_same_sentence = spans and bisect_right(starts, start) == bisect_right(starts, spans[-1].start)
        if is_same_sentence and not any(map(str.isalnum, text[spans[-1].end : start])):
            start, probability = spans[-1].start, max(probability, spans.pop().probability)
        spans.append(UnsupportedSpan(start=start, end=end, probability=probability))
    return spans


def share_of_clean_sentences(text: str, spans: Sequence[UnsupportedSpan]) -> float:
    """
    The share of the sentences that no span touches, 0..1; 1.0 without sentences.

    Source: faithfulness in RAGAS (Es et al., 2024), with sentences in place of the statements of a language model.
    """
    places = list(places_of_sentences(text))
    ends = [span.end for span in spans]
    clean = 0
    for start, end in places:
        following = bisect_right(ends, start)
        clean += following == len(spans) or spans[following].start >= end
    return clean / len(places) if places else 1.0


def weakness(text: str, spans: Sequence[UnsupportedSpan]) -> str:
    """The text about the span with the highest probability; empty without spans."""
    worst = max(spans, key=lambda span: span.probability, default=None)
    if worst is None:
        return ""
    more = f" and {len(spans) - 1} more" if len(spans) > 1 else ""
    quoted = excerpt(text[worst.start : worst.end])
    return f'the contexts do not support "{quoted}" (probability {worst.probability:.2f}){more}'


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    # The place without spaces around it, extended to whole words; words of scripts without spaces are characters.
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    while 0 < start < end and _is_spaced(text[start - 1]) and _is_spaced(text[start]):
        start -= 1
    while start < end < len(text) and _is_spaced(text[end - 1]) and _is_spaced(text[end]):
        end += 1
    return start, end


def _is_spaced(character: str) -> bool:
    # True for letters and digits of scripts that have spaces between words.
    # Thai, Lao, Khmer and Myanmar, and from Hiragana on everything but Hangul, have none.
    code = ord(character)
    unspaced = 0x0E00 <= code < 0x0F00 or 0x1000 <= code < 0x10A0 or 0x1780 <= code < 0x1800 or 0x3040 <= code < 0xAC00
    # Vowel signs and accents are marks, not letters.
    return (character.isalnum() or category(character).startswith("M")) and not unspaced


def _readable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
