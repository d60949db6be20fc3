"""Measures how much of an expected answer an answer contains: the offline judge's correctness."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from pytest_ragcheck.judging.offline.correctness.answer_text import AnswerText
from pytest_ragcheck.judging.offline.correctness.expected_answer import (
    ExpectedAnswer,
    ExpectedAnswers,
    Recall,
    TermWeights,
    are_compatible,
    is_coarser_date,
    is_figure,
    lacks_figure,
    numbers_about,
    rounded_numbers,
)
from pytest_ragcheck.judging.offline.details.changed_details import addresses_in, changed_detail, swapped_numbers
from pytest_ragcheck.judging.offline.details.list_items import (
    adds_to,
    entries_of,
    expected_items,
    is_shortened,
    leaves_out_item,
)
from pytest_ragcheck.judging.offline.details.roles import may_swap_nouns, read_clauses, swapped_noun, swapped_role
from pytest_ragcheck.judging.offline.grounding.groundedness import PASS_LINE, scaled
from pytest_ragcheck.judging.offline.negation import without_yes_or_no
from pytest_ragcheck.judging.offline.quantities.quantity import DATED_OR_MEASURED
from pytest_ragcheck.judging.offline.quantities.rates import BOUNDS
from pytest_ragcheck.judging.offline.words.rewording import EXCEPT, NEGATIVE, NOT
from pytest_ragcheck.judging.offline.words.terms import (
    ANSWERING,
    STOP_WORDS,
    WITHOUT_POLARITY,
    is_number,
    numbers_in,
    term_of,
)
from pytest_ragcheck.judging.offline.words.word_lists import PERIODS_BY_WORD

# Each comment has the effect of the constant on EVOUNA-NQ, EVOUNA-TQ and NQ301, in this order.

# The share of spelling and order in the score. Without it: -0.006, -0.002, -0.020 of the area under the curve.
_FORM = 0.1
# The score of an answer that is only a part of a short expected answer, "Beardsley" for "Peter Beardsley".
# Without it: +0.001, +0.003, -0.001 of balanced accuracy.
_PART = 0.8
_MOST_TERMS_OF_A_PART, _MOST_TERMS_OF_A_WHOLE, _LEAST_OF_A_PART = 3, 4, 0.3
# Taken from the score if the answer's opening lacks all expected terms. Without it: -0.004, -0.004, 0.000 of the area
# under the curve.
_LATE = 0.03
# A different number is wrong, but half right if it is compatible with the expected one ("89" for "more than 80").
# Without the second rule: -0.001, 0.000, -0.003 of the area under the curve.
_HIGHEST_WITHOUT_NUMBER = _COMPATIBLE = 0.5
_OPPOSED = 0.2
_CHANGED, _LEAST_OF_A_COPY = 0.5, 3
_DIGITS_OF_A_YEAR = 4
# The score of an answer with the expected quantity and without one or two of the words beside it, which are mostly a
# paraphrase: "30 days after you leave" for "30 days after departure".
_QUANTITY, _MOST_WORDS_BESIDE_QUANTITY = 0.7, 2
# The raw recall that becomes `PASS_LINE`; balanced accuracy there is 0.93, 0.95 and 0.81.
_LINE = 0.67
# The same for expected answers of three, and of four or more content terms, fitted to rewordings in eight languages.
_LONG, _LINE_OF_LONG, _LINE_OF_LONGER = 3, 0.55, 0.5

_LEAST_OF_A_CLAUSE, _NEAR_COPY = 5, 0.75
_MOST_TERMS_OF_A_PHRASE = 3
_TIMED = DATED_OR_MEASURED.union(map(term_of, PERIODS_BY_WORD))
_WITHOUT_PLACE = WITHOUT_POLARITY | NEGATIVE
_DENYING = NEGATIVE - {EXCEPT}


class AnswerRecall:
    """Searches an answer for expected answers; *parsed* keeps those that were sought before."""

    def __init__(self, answer: AnswerText, *, parsed: ExpectedAnswers) -> None:
        self._answer = answer
        self._parsed = parsed

    def best_recall(self, acceptable: Sequence[str]) -> Recall:
        """
        The recall of the acceptable answer with the highest score; the first one among equals.

        Raises:
            ValueError: The list of accepted answers is empty.
        """
        # A right answer mostly contains an accepted one verbatim; the others then need no parsing.
        written = self._answer.text.lower()
        found: dict[str, Recall | None] = {}
        for expected in acceptable:
            if expected.lower() in written:
                whole = found[expected] = self._recall(expected, above=-1.0)
                if whole and whole.score == 1.0:
                    return whole
        best: Recall | None = None
        for expected in acceptable:
            above = -1.0 if best is None else best.score
            recall = found[expected] if expected in found else self._recall(expected, above=above)
            if recall is not None and recall.score > above:
                best = recall
            if best is not None and best.score == 1.0:
                break
        if best is None:
            raise ValueError("there is no acceptable answer")
        return best

    def _recall(self, expected: str, *, above: float) -> Recall | None:
        # The recall of *expected*; None if its score is at most *above*.
        answer = self._answer
        sought = self._parsed[expected]
        wanted = sought.says_yes
        is_bare = wanted is not None and ANSWERING.issuperset(sought.distinct)
        is_none = NOT in sought.distinct and sought.content <= {NOT} and not sought.distinct <= answer.all
        if is_bare or is_none:  # "Yes, it does", "There is none"
            agreement = answer.agreement(expected, yes=wanted is True, is_none=not is_bare)
            return agreement if agreement.score > above else None
        if not sought.terms:
            return Recall(score=0.0, expected=expected) if above < 0 else None
        sought, other_quantities, has_quantity = self._with_own_quantities(sought)
        lacking = (sought.distinct - answer.all) | other_quantities
        if not _DENYING.isdisjoint(answer.all):
            lacking -= _DENYING  # "without a visa" for "no visa is required"
        if wanted and lacking.isdisjoint(without_yes_or_no(expected, sought.terms)):
            lacking = frozenset()  # "You can" for "Yes, you can"
        missing = lacking - self._rounded(sought, lacking) if sought.has_number else lacking
        is_late = not missing and answer.mentions_late(sought)
        raw: float | None
        if missing:
            raw = self._raw_without(missing, sought, has_quantity=has_quantity, above=above)
        else:
            order = 1.0 if sought.is_contained_in(answer.spelt) else sought.order_in(answer.content)
            raw = (1 - _FORM) + _FORM * order - _LATE * is_late
        # From here, only a yes or no can raise the score.
        if raw is None or (wanted is None and scaled(raw, line=_line_of(sought)) <= above):
            return None
        has_other_figure = bool(missing) and raw <= _HIGHEST_WITHOUT_NUMBER and self._has_other_figure(sought, missing)
        raw, opposed = self._with_yes_or_no(raw, wanted, expected, sought)
        items = expected_items(expected, answer.question, answer.terms) if raw > _CHANGED else []
        lacks_item = bool(items) and leaves_out_item(items, lacking, in_answer=answer.all, own=answer.own)
        adds_item = len(items) > 1 and adds_to(items, answer.text, answer.asked, answer.terms)
        is_changed = lacks_item or adds_item or (raw > _CHANGED and self._changes_detail(sought, expected))
        if is_changed:
            raw = _CHANGED
        is_plain = not (opposed or is_changed or numbers_in(lacking))
        score = scaled(raw, line=_line_of(sought) if is_plain else _LINE)
        if score <= above:
            return None
        return Recall(
            score=score,
            expected=expected,
            missing=lacking,
            is_opposed=opposed,
            has_other_figure=has_other_figure,
            replaces_item=adds_item or (lacks_item and len(entries_of(answer.text)) >= len(items)),
            is_absent=score < PASS_LINE and self._replaces_words(sought, expected),
            is_late=is_late,
        )

    def _has_other_figure(self, sought: ExpectedAnswer, missing: AbstractSet[str]) -> bool:
        answer = self._answer
        return (
            sought.has_number
            and lacks_figure(sought.distinct, missing - answer.asked, answer.own)
            and any(is_figure(term) and (term not in sought.distinct or term in missing) for term in answer.own)
        )

    def _raw_without(
        self, missing: AbstractSet[str], sought: ExpectedAnswer, *, has_quantity: bool, above: float
    ) -> float | None:
        # The raw recall of *sought* without the *missing* terms; None if its score is at most *above*.
        answer = self._answer
        share = sought.share_without(missing, self._weights)
        is_coarser = sought.has_number and is_coarser_date(sought.distinct, answer.all - answer.asked)
        least = self._least(sought, share, is_coarser=is_coarser)
        most = scaled(max(least, (1 - _FORM) * share + _FORM), line=_line_of(sought))
        if not has_quantity and most <= above:
            return None
        raw = max(least, (1 - _FORM) * share + _FORM * sought.spelling_in(answer.spelt, default=share))
        if sought.has_number and not is_coarser and self._lacks_figure(sought, missing):
            return min(raw, _HIGHEST_WITHOUT_NUMBER)
        if has_quantity and len(missing - STOP_WORDS) <= _MOST_WORDS_BESIDE_QUANTITY:
            return max(raw, _QUANTITY)
        return raw

    def _lacks_figure(self, sought: ExpectedAnswer, missing: AbstractSet[str]) -> bool:
        # True if the answer lacks an expected figure; one of the question counts if the answer has others only.
        answer = self._answer
        if lacks_figure(sought.distinct, missing - answer.asked, answer.own):
            return True
        has_none = missing >= set(numbers_in(sought.distinct))
        return has_none and any(number not in sought.distinct for number in numbers_in(answer.all))

    def _with_yes_or_no(
        self, raw: float, wanted: bool | None, expected: str, sought: ExpectedAnswer
    ) -> tuple[float, bool]:
        # *raw*, lowered for the opposite answer and raised for the same yes or no; and True for the opposite.
        answer = self._answer
        if wanted is not None and answer.says_yes is None and sought.distinct <= _WITHOUT_PLACE | answer.asked:
            agreement = answer.agreement(expected, yes=wanted)  # "No, it is forbidden" adds nothing to "No"
            agrees, opposed = agreement.score >= PASS_LINE, agreement.is_opposed
            return max(raw, _QUANTITY) if agrees else min(raw, _OPPOSED), opposed
        if wanted is not None and answer.says_yes is not None:
            agrees = answer.says_yes is wanted
            opposed = not agrees
        else:
            agrees = wanted is False and answer.agreement(expected, yes=False).score >= PASS_LINE
            negates = not (NEGATIVE.isdisjoint(answer.all) and NEGATIVE.isdisjoint(sought.distinct))
            opposed = negates and not agrees and answer.opposes(expected, sought)
        if agrees and answer.all.issuperset(numbers_in(sought.terms)):
            raw = max(raw, _QUANTITY)  # the rest of "No, dogs may not enter" explains it
        return (min(raw, _OPPOSED) if opposed else raw), opposed

    def _with_own_quantities(self, sought: ExpectedAnswer) -> tuple[ExpectedAnswer, frozenset[str], bool]:
        # *sought* with its quantities as the answer writes them, and the numbers of those that the answer lacks.
        # The last value is True if the answer has all its quantities.
        if not self._may_have_other_quantities(sought):
            return sought, frozenset(), False
        compared = self._answer.quantities.compare(sought.terms)
        if compared.terms != sought.terms:
            sought = ExpectedAnswer(spelt=sought.spelt, terms=compared.terms, says_yes=sought.says_yes)
        return (
            sought,
            frozenset(term for each in compared.unknown for term in numbers_in(each.terms) or each.terms),
            compared.n_known > 0 and not compared.unknown,
        )

    @cached_property
    def _weights(self) -> TermWeights:
        return TermWeights(self._answer.asked)

    def _replaces_words(self, sought: ExpectedAnswer, expected: str) -> bool:
        # True if the answer lacks all expected content terms, or one of a name or another short phrase.
        answer = self._answer
        content = sought.content - answer.asked
        missing = content - answer.all
        if not missing or answer.says_yes is not None:
            return False
        is_phrase = len(content) <= _MOST_TERMS_OF_A_PHRASE
        return missing == content or (is_phrase and not expected_items(expected, answer.question, answer.terms))

    def _changes_detail(self, sought: ExpectedAnswer, expected: str) -> bool:
        # True if the answer has other addresses, ends the list too early, or has another word in the same place.
        answer = self._answer
        addresses = addresses_in(expected)
        if addresses and (own := addresses_in(answer.text)) and own.isdisjoint(addresses):
            return True
        if is_shortened(answer.in_order, sought.terms):
            return True
        is_near_copy = _NEAR_COPY * len(sought.distinct) <= len(sought.distinct & answer.all)
        if is_near_copy and (
            swapped_role(answer.in_order, sought.terms)
            or swapped_numbers(answer.in_order, sought.terms)
            or self._swaps_nouns(sought, expected)
        ):
            return True
        content = sought.content - DATED_OR_MEASURED - BOUNDS
        plain = content.difference(numbers_in(content))
        n_common = len(plain & answer.all)
        if len(content) < _LEAST_OF_A_COPY or sought.distinct <= answer.all or not 2 * n_common >= len(plain) > 0:
            return False
        change = changed_detail(answer.in_order, sought.terms, lambda _: False)
        return change is not None and not any(map(is_number, change.terms))

    def _swaps_nouns(self, sought: ExpectedAnswer, expected: str) -> bool:
        if len(sought.terms) < _LEAST_OF_A_CLAUSE or sought.is_contained_in(self._answer.spelt):
            return False
        clauses = read_clauses(expected)
        return may_swap_nouns(clauses) and swapped_noun(read_clauses(self._answer.text), clauses) is not None

    def _may_have_other_quantities(self, sought: ExpectedAnswer) -> bool:
        answer = self._answer
        is_dated = not _TIMED.isdisjoint(sought.distinct)
        if not is_dated and not sought.has_number:
            return False
        if not is_dated and not any(":" in term for term in sought.distinct):
            has_bound = not BOUNDS.isdisjoint(sought.distinct)
            may_be_otherwise = answer.is_measured and any(map(_may_be_measured, sought.distinct - answer.all))
            if not has_bound and not may_be_otherwise:
                return False
        return f" {' '.join(sought.terms)} " not in answer.line

    def _least(self, sought: ExpectedAnswer, share: float, *, is_coarser: bool) -> float:
        if is_coarser or self._is_part(sought, share):
            return _PART
        if (
            sought.has_number
            and share < _COMPATIBLE
            and are_compatible(sought.terms, self._answer.own_numbers, self._answer.eras)
        ):
            return _COMPATIBLE
        return 0.0

    def _is_part(self, sought: ExpectedAnswer, share: float) -> bool:
        return (
            _LEAST_OF_A_PART <= share < 1
            and 0 < len(self._answer.own) <= _MOST_TERMS_OF_A_PART
            and len(sought.content) <= _MOST_TERMS_OF_A_WHOLE
            and self._answer.own <= sought.distinct
        )

    def _rounded(self, sought: ExpectedAnswer, missing: AbstractSet[str]) -> set[str]:
        about = self._answer.about | numbers_about(sought.terms) if missing else frozenset[str]()
        return rounded_numbers(missing, self._answer.own_numbers, about=about) if about else set()


def _line_of(sought: ExpectedAnswer) -> float:
    # The raw recall that becomes `PASS_LINE`; lower for a long expected answer, which has more wordings.
    n_terms = len(sought.content)
    return _LINE if n_terms < _LONG else _LINE_OF_LONG if n_terms == _LONG else _LINE_OF_LONGER


def _may_be_measured(term: str) -> bool:
    return is_number(term) and not (term.isdigit() and len(term) == _DIGITS_OF_A_YEAR)
