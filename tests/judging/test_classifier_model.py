from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.judging.classifier_model import ClaimedAnswer, classifier_prompt, windows

FRAME = 56
"""Tokens of the prompt around question and contexts, if each word is one."""


def offsets(text: str) -> list[tuple[int, int]]:
    """The places of the words and signs."""
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def claimed(*contexts: str, answer: str = "Thirty days.", question: str = "How long?") -> ClaimedAnswer:
    return ClaimedAnswer(question=question, contexts=contexts, answer=answer)


def test_the_prompt_is_that_of_ragtruth_with_numbered_contexts() -> None:
    assert classifier_prompt("How long?", ["Returns within 30 days.", "Shipping is free."]) == (
        "Briefly answer the following question:\n"
        "How long?\n"
        "Bear in mind that your response should be strictly based on the following 2 passages:\n"
        "passage 1: Returns within 30 days.\n"
        "passage 2: Shipping is free.\n"
        "In case the passages do not contain the necessary information to answer the question, please reply with: "
        '"Unable to answer based on given passages."\n'
        "output:"
    )


def test_contexts_that_do_not_fit_together_are_spread_over_windows_in_their_order() -> None:
    contexts = [f"Context {number} has these eight words in it" for number in range(10)]
    found = windows(claimed(*contexts), offsets, room=120)
    assert len(found) > 1
    assert {(window.part, window.start) for window in found} == {("Thirty days.", 0)}
    lines = [line for window in found for line in window.prompt.splitlines() if line.startswith("passage ")]
    assert [line.partition(": ")[2] for line in lines] == contexts
    assert all(window.prompt.count("\npassage 1: ") == 1 for window in found)


def test_a_long_context_is_cut_where_sentences_end_and_its_pieces_overlap() -> None:
    sentences = [f"Sentence {number} has a few words." for number in range(40)]
    found = windows(claimed(" ".join(sentences)), offsets, room=160)
    pieces = [window.prompt.split("passage 1: ")[1].split("\nIn case")[0] for window in found]
    assert len(pieces) > 2
    assert all(piece.rstrip().endswith(".") for piece in pieces)
    for sentence in sentences:
        assert any(sentence in piece for piece in pieces), sentence


def test_a_long_answer_is_cut_where_sentences_end_and_each_part_stands_with_each_context() -> None:
    answer = " ".join(f"Claim {number} is made here." for number in range(30))
    contexts = [f"Context {number} has these eight words in it" for number in range(6)]
    found = windows(claimed(*contexts, answer=answer), offsets, room=120)
    parts = {window.start: window.part for window in found}
    assert "".join(part for _, part in sorted(parts.items())) == answer
    assert len(parts) > 2
    for start in parts:
        text = "".join(window.prompt for window in found if window.start == start)
        assert all(context in text for context in contexts)


def test_a_question_that_leaves_too_little_room_is_an_error() -> None:
    with pytest.raises(JudgeError) as caught:
        windows(claimed("Within 30 days.", question="why " * 200), offsets, room=200)
    assert str(caught.value) == (
        "the local judge cannot read a question of 200 tokens: its model takes 200 tokens at once, and the prompt "
        f"with the question has {FRAME + 200}, but answer and contexts need a quarter. Choose a model with a longer "
        "input as rag_judge_model"
    )


TEXTS = st.text(st.sampled_from("ab. \n日本。é"), min_size=1, max_size=300)


@given(contexts=st.lists(TEXTS, min_size=1, max_size=5), answer=TEXTS, room=st.integers(100, 200))
def test_nothing_is_left_out_and_every_window_fits(contexts: list[str], answer: str, room: int) -> None:
    found = windows(claimed(*contexts, answer=answer, question="Why?"), characters, room=room + 400)
    parts = {window.start: window.part for window in found}
    assert "".join(part for _, part in sorted(parts.items())) == answer
    for start in parts:
        prompts = [window.prompt for window in found if window.start == start]
        assert sum(prompt.count(character) for prompt in prompts for character in "日é") >= sum(
            context.count(character) for context in contexts for character in "日é"
        )
    assert max(len(characters(window.prompt + window.part)) for window in found) <= room + 400


def characters(text: str) -> list[tuple[int, int]]:
    """A tokenizer without words: each character is a token."""
    return [(place, place + 1) for place in range(len(text))]
