"""What an answer is held against: passages that are read once."""

from __future__ import annotations

from pytest_ragcheck.judging.offline.grounding.evidence import Evidence, is_verbatim
from pytest_ragcheck.judging.offline.grounding.read_context import ContextCache
from pytest_ragcheck.judging.offline.words.terms import TermDictionary


def evidence(*contexts: str, wanted: str) -> Evidence:
    terms = TermDictionary()
    return Evidence(
        list(map(ContextCache(terms).__getitem__, contexts)),
        wanted=frozenset(terms.of(wanted)),
        asked=frozenset(),
    )


def test_a_passage_that_comes_back_is_not_read_again() -> None:
    passages = ContextCache(TermDictionary())
    first = passages["Refunds within 30 days."]
    assert passages["Refunds within 30 days."] is first
    assert passages["Refunds within 30 days. "] is not first
    assert first.numbers == ["30"]


def test_what_is_kept_of_passages_is_bounded() -> None:
    passages = ContextCache(TermDictionary())
    passages["a few words"]
    long = "word " * 150_000
    passages[long]
    assert len(passages) == 2
    passages[long + "more"]
    assert list(passages) == [long + "more"]


def test_neighbours_are_near_in_either_order_and_within_six_terms() -> None:
    held = evidence("alpha beta one two three four five gamma", "delta", wanted="alpha beta gamma delta")
    assert held.index.n_near(["alpha", "beta", "alpha", "beta", "gamma"]) == 4
    assert held.index.n_near(["alpha", "gamma", "delta"]) == 0


def test_the_sentences_of_long_contexts_are_not_compared_with_all_of_a_long_answer() -> None:
    index = evidence("Alpha beta. " * 20_000, wanted="alpha beta").index
    found = [bool(index.nearest(index.bits_of(["alpha", "beta"]), 2)) for _ in range(110)]
    # 2,000,000 pairs, and 20,000 or 20,001 of each claim
    assert found == sorted(found, reverse=True)
    assert found.count(True) in (99, 100)


def test_long_contexts_are_searched_once_for_single_things() -> None:
    held = evidence("A desk " * 200_000, wanted="desk")
    # Each search of its own took 20 ms.
    assert not any(held.has_single(["1", f"chair{number}"]) for number in range(10_000))
    assert held.has_single(["1", "desk"])


def test_a_sentence_is_verbatim_wherever_it_is_no_end_of_a_word() -> None:
    assert is_verbatim("a lamp.", ["Bring alphalamp.", "Bring a lamp."])
    assert is_verbatim("lamp.", ["A headlamp. Bring a lamp."])
    assert not is_verbatim("lamp.", ["A headlamp.", "An a4lamp. A headlamp."])
    assert is_verbatim("lamp.", ["lamp."])
