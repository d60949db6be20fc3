"""Estimates for each token of an answer the probability that its contexts do not support it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.classifier_model import ClaimedAnswer, Window, classifier_prompt, load_classifier, windows

LONGEST = 4_096
"""Tokens of an input. LettuceDetect's models are trained up to this length, though ModernBERT takes twice as many."""

TOKENS_AT_ONCE = 8_192
"""
Tokens of a forward pass, including padding: two of the longest inputs.

With four CPU threads, half as many take 1.6 times as long for short inputs; with one thread the size does not matter.
"""

_LONGEST_WORD = 50
"""Characters of a token in texts that are encoded as a whole; longer texts are cut into windows at once."""

CLOSED = "the local judge was closed before it had read the answer"
_UNSUPPORTED = 1


@frozen
class AnswerToken:
    start: int
    end: int
    probability: float
    """0..1, that the contexts do not support the token; the lowest of all windows."""


@frozen
class _Input:
    # A window as the model takes it. Arrays, because a long context has hundreds of windows.
    answer: int
    """The number of the answer in its batch."""

    features: Mapping[str, array[int]]
    """The ids and masks of its tokens, each of the length of the input."""

    first: int
    """The number of the first token of the answer's part."""

    places: Sequence[tuple[int, int]]
    """First and last characters in the answer of the tokens from `first` on; equal for a token of no character."""

    def __len__(self) -> int:
        return len(self.features["input_ids"])


class TokenClassifier:
    """
    A token classifier with the labels 0 (supported) and 1 (not supported), such as those of LettuceDetect.

    The model is that of `load_classifier`, whose errors propagate.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        loaded = load_classifier(name)
        self._torch, self._tokenizer = loaded.torch, loaded.tokenizer
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._model = loaded.model.to(self._device)
        self._padding = {"input_ids": self._tokenizer.pad_token_id or 0}
        self._longest = min(LONGEST, loaded.longest_input or LONGEST)

    def tokens(
        self, answers: Sequence[ClaimedAnswer], *, is_wanted: Callable[[], bool] = lambda: True
    ) -> list[list[AnswerToken] | Exception]:
        """
        The tokens of each answer, or the reason why the model cannot read it.

        *is_wanted* is called before each forward pass; False ends the work.

        Raises:
            JudgeError: The work was ended.
        """
        inputs: list[_Input] = []
        found: list[list[AnswerToken] | Exception] = []
        lowest: list[dict[tuple[int, int, int], float]] = []
        for number, answer in enumerate(answers):
            lowest.append({})
            found.append([])
            try:
                inputs += self._inputs(number, answer)
            except JudgeError as error:
                found[number] = error
        for batch in _batches(sorted(inputs, key=len)):
            if not is_wanted():
                raise JudgeError(CLOSED)
            for each, probabilities in zip(batch, self._probabilities(batch), strict=True):
                if isinstance(probabilities, JudgeError):
                    found[each.answer] = probabilities
                    continue
                of_answer = lowest[each.answer]
                seen: Counter[tuple[int, int]] = Counter()
                for place, probability in zip(each.places, probabilities[each.first :], strict=False):
                    if place[0] < place[1]:
                        # Several tokens, such as the bytes of an emoji, may be at the same place.
                        key = (*place, seen[place])
                        seen[place] += 1
                        of_answer[key] = min(probability, of_answer.get(key, 1.0))
        return [
            each
            if isinstance(each, Exception)
            else [AnswerToken(start=a, end=b, probability=p) for (a, b, _), p in sorted(lowest[number].items())]
            for number, each in enumerate(found)
        ]

    def _inputs(self, number: int, claimed: ClaimedAnswer) -> list[_Input]:
        # The answer with all contexts at once if they fit, else in windows.
        inputs: list[_Input] = []
        if len(claimed.answer) + sum(map(len, claimed.contexts)) < self._longest * _LONGEST_WORD:
            prompt = classifier_prompt(claimed.question, claimed.contexts)
            inputs = [self._input(number, Window(prompt=prompt, part=claimed.answer, start=0))]
        room = self._longest - self._tokenizer.num_special_tokens_to_add(pair=True)
        while not inputs or any(len(each) > self._longest for each in inputs):
            # The parts may have fewer tokens than the whole, so a second try may be needed.
            inputs = [self._input(number, window) for window in windows(claimed, self._offsets, room=room)]
            room -= room // 8
        return inputs

    def _input(self, number: int, window: Window) -> _Input:
        encoding = self._encoded(window.prompt, window.part, return_attention_mask=True)
        names = {*self._tokenizer.model_input_names, "attention_mask"} & encoding.keys()
        sides = encoding.sequence_ids(0)
        # Without a token of the answer, such as for an emoji that the tokenizer drops, the first is behind the last.
        first = sides.index(1) if 1 in sides else len(sides)
        places = [
            (window.start + start, window.start + end) if side == 1 else (0, 0)
            for side, (start, end) in zip(sides[first:], encoding["offset_mapping"][first:], strict=True)
        ]
        features = {name: array("i", encoding[name]) for name in names}
        return _Input(answer=number, features=features, first=first, places=places)

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        offsets: list[tuple[int, int]] = self._encoded(text, add_special_tokens=False)["offset_mapping"]
        return offsets

    def _encoded(self, *texts: str, **options: Any) -> Any:
        # A text such as `[SEP]` in an answer or context is not a special token.
        return self._tokenizer(*texts, return_offsets_mapping=True, split_special_tokens=True, verbose=False, **options)

    def _probabilities(self, batch: Sequence[_Input]) -> list[list[float] | JudgeError]:
        # If a batch fails, as without enough memory, its inputs are read one by one.
        try:
            return [*self._forward(batch)]
        except JudgeError as error:
            return [error] if len(batch) == 1 else [self._probabilities([each])[0] for each in batch]

    def _forward(self, batch: Sequence[_Input]) -> list[list[float]]:
        # The padding's probabilities follow those of the tokens.
        longest = max(map(len, batch))
        padded = {
            name: self._torch.tensor(
                [[*each.features[name], *[self._padding.get(name, 0)] * (longest - len(each))] for each in batch],
                device=self._device,
            )
            for name in batch[0].features
        }
        try:
            with self._torch.inference_mode():
                logits = self._model(**padded).logits.float()
        except (IndexError, RuntimeError, TypeError, ValueError) as error:
            raise JudgeError(
                f"the model {self._name!r} of rag_judge_model failed at an input of {longest:,} tokens: "
                f"{' '.join(str(error).split())[:300]}. Check that the tokenizer is its own, or choose a smaller model"
            ) from error
        if not self._torch.isfinite(logits[padded["attention_mask"].bool()]).all():
            raise JudgeError(
                f"the model {self._name!r} of rag_judge_model gave probabilities that are not numbers. Its weights may "
                "be damaged: download the model again, or choose another one"
            )
        probabilities: list[list[float]] = logits.softmax(dim=-1)[..., _UNSUPPORTED].tolist()
        return probabilities


def _batches(inputs: Iterable[_Input]) -> Iterator[list[_Input]]:
    # The inputs are sorted by length, so that the last one says how far a batch is padded.
    batch: list[_Input] = []
    for each in inputs:
        if batch and len(each) * (len(batch) + 1) > TOKENS_AT_ONCE:
            yield batch
            batch = []
        batch.append(each)
    if batch:
        yield batch
