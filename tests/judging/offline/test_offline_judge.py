from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.judging.offline.correctness.answer_recall import AnswerRecall
from pytest_ragcheck.judging.offline.correctness.answer_text import AnswerText
from pytest_ragcheck.judging.offline.correctness.expected_answer import ExpectedAnswers
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.judging.offline.words.terms import TermDictionary
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

REFUNDS = (
    "Customers can ask for a refund within 30 days of purchase. A receipt is needed.",
    "Shipping takes 45 days to Australia.",
)

FLIGHTS = tuple(f"Flight LH{1000 + n} from Munich to Berlin costs {90 + 7 * n} EUR." for n in range(12))


def judged(
    answer: str,
    *expected: str,
    contexts: tuple[str, ...] = REFUNDS,
    question: str = "What is the refund window?",
    answerable: bool = True,
    by: OfflineJudge | None = None,
) -> Judgement:
    asked = Question(
        dataset_name="shop", id="q", question=question, all_acceptable_answers=expected, answerable=answerable
    )
    return asyncio.run((by or OfflineJudge()).judge(asked, RagAnswer(text=answer, contexts=contexts)))


def scores(judgement: Judgement) -> tuple[float | None, float | None]:
    return judgement.answer_correctness, judgement.groundedness


def calibrated(raw: float, line: float) -> float:
    """Straight lines from (0, 0) over (line, 0.7) to (1, 1)."""
    return 0.7 * raw / line if raw < line else 0.7 + 0.3 * (raw - line) / (1 - line)


def test_the_judge_says_who_it_is():
    assert OfflineJudge.identity == JudgeIdentity(kind="offline", prompt_version="offline-23")


@pytest.mark.parametrize("answer", ["30 days", "Thirty days.", "30d", "You can ask within 30 days."])
def test_a_right_answer_from_the_contexts_has_nothing_against_it(answer: str):
    assert judged(answer, "30 days") == Judgement(answer_correctness=1.0, groundedness=1.0, abstained=False)


def test_correctness_does_not_apply_without_an_acceptable_answer():
    assert judged("30 days").answer_correctness is None


class TestCorrectness:
    def test_is_the_share_of_the_expected_words(self):
        answer = "The fee depends on colour and size."
        judgement = judged(answer, "colour, size, weight, age, finish", contexts=(answer,))
        # Two of five words of weight 1: 0.4. " colour size weight age finish " has 29 different pairs; the answer
        # " the fee depends on colour and size " has 14 of them: " c", "co", "ol", "lo", "ou", "ur", "r ",
        # " s", "si", "iz", "ze", "e ", " a" of "and" and " f" of "fee".
        assert judgement.answer_correctness == pytest.approx(calibrated(0.9 * 0.4 + 0.1 * 14 / 29, 0.5))
        assert judgement.error_message == 'the answer does not have "colour, size, weight, age, finish"'

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("Colour, size and weight.", "colour, size, weight, age, finish"),
            ("Bikes and leashed dogs.", "bikes, handcarts and leashed dogs"),
            ("El pasaporte y la foto.", "el pasaporte, el recibo y la foto"),
        ],
    )
    def test_a_list_without_an_item_is_wrong(self, answer: str, expected: str):
        correctness = judged(answer, expected).answer_correctness
        assert correctness is not None
        assert correctness < 0.7

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("In well-closed bottles made of plastic.", "in tightly closed plastic bottles"),
            ("No. Remaining in the car is prohibited.", "No, passengers may not stay in their vehicles"),
            ("Nein, ab 22 Uhr ist Essen verboten.", "Nein, nach 22 Uhr darf nichts mehr gegessen werden"),
        ],
    )
    def test_a_long_expected_answer_in_other_words_is_right(self, answer: str, expected: str):
        correctness = judged(answer, expected).answer_correctness
        assert correctness is not None
        assert correctness >= 0.7

    @pytest.mark.parametrize(("page", "is_right"), [("signup", True), ("signup/old", False), ("login", False)])
    @pytest.mark.parametrize("link", ["Register [here]({}).", '<p>Register <a href="{}">here</a>.</p>'])
    def test_an_expected_address_may_be_that_of_a_link(self, link: str, page: str, is_right: bool):
        contexts = ("Register at https://portal.example/signup and log in at https://portal.example/login.",)
        answer = link.format(f"https://portal.example/{page}")
        judgement = judged(answer, "https://portal.example/signup", contexts=contexts)
        assert ((judgement.answer_correctness or 0.0) >= 0.7) is is_right

    def test_takes_the_best_of_the_acceptable_answers(self):
        assert judged("30 days", "a month", "30 days", "four weeks").answer_correctness == 1.0

    def test_of_acceptable_answers_that_are_lacking_the_nearest_is_named(self):
        expected = ("45 days", "a month or two years", "four weeks", "a fortnight")
        judgement = judged("A month at most.", *expected, contexts=("A month at most.",))
        assert judgement.error_message == 'the answer does not have "a month or two years"'

    def test_needs_an_acceptable_answer(self):
        terms = TermDictionary()
        text = AnswerText("30 days", found=["30", "days"], question="", terms=terms)
        with pytest.raises(ValueError, match=r"^there is no acceptable answer$"):
            AnswerRecall(text, parsed=ExpectedAnswers(terms)).best_recall(())

    def test_finds_the_expected_answer_inside_a_longer_text(self):
        text = "Thank you for asking! As a rule it is 30 days, though of course you may call us before."
        assert judged(text, "30 days").answer_correctness == 1.0

    @pytest.mark.parametrize("answer", ["30.", "(30)", "30)"])
    def test_an_answer_that_looks_like_a_list_marker_is_an_answer(self, answer: str):
        assert judged(answer, "30") == Judgement(answer_correctness=1.0, groundedness=1.0, abstained=False)

    def test_an_acceptable_answer_that_stands_in_the_answer_is_found_behind_others(self):
        expected = ("a month or two years", "Four weeks", "30 days")
        assert judged("You can ask within 30 days.", *expected).answer_correctness == 1.0

    def test_words_that_stand_apart_are_a_little_less(self):
        judgement = judged("Neil Young met Louis Armstrong in 30 days.", "Neil Armstrong")
        # All words are there, but their one pair of neighbours is not: 1 - 0.1 * 1 = 0.9.
        assert judgement.answer_correctness == pytest.approx(calibrated(0.9, 0.67))

    def test_an_answer_after_much_other_text_is_a_little_less(self):
        told = "Ada Byron wrote programs. Charles Babbage drew engines. Luigi Menabrea took notes. Later came {}."
        judgement = judged(told.format("Alan Turing"), "Alan Turing", contexts=(told.format("Alan Turing"),))
        # Fourteen words stand before it, none of them a stop word: 1 - 0.03.
        assert judgement.answer_correctness == pytest.approx(calibrated(0.97, 0.67))
        assert judgement.error_message == 'the answer has "Alan Turing" only after much other text'
        assert (
            judged(
                told.replace("Later came", "").replace("notes", "").format("Alan Turing"), "Alan Turing"
            ).answer_correctness
            == 1.0
        )

    @pytest.mark.parametrize("answer", ["November 2017", "It came out in 2017.", "It came out in November of 2017."])
    def test_a_date_may_be_said_less_exactly(self, answer: str):
        expected = "November 17, 2017"
        # As a part of a short expected answer: 0.8.
        assert judged(answer, expected, question="When?").answer_correctness == pytest.approx(calibrated(0.8, 0.67))

    @pytest.mark.parametrize("answer", ["December 2017", "It came out on April 17, 2017.", "It came out in 2018."])
    def test_another_month_is_another_date(self, answer: str):
        correctness = judged(answer, "November 17, 2017", question="When?").answer_correctness
        assert correctness is not None
        assert correctness < 0.6

    def test_a_number_that_is_said_to_be_rounded_is_right(self):
        # All is there, but in place of 2,187,000 another number stands beside people: 1 - 0.1 * 1 = 0.9.
        assert judged("About 2.2 million people.", "2,187,000 people").answer_correctness == pytest.approx(
            calibrated(0.9, 0.67)
        )
        exact = judged("2,187,000", "about 2.2 million").answer_correctness
        assert exact is not None
        assert exact > 0.8
        assert judged("About 2.2 million euros.", "2,200,000 dollars").answer_correctness == pytest.approx(
            judged("2.2 million euros.", "2,200,000 dollars").answer_correctness, abs=0.02
        )

    def test_a_number_that_may_be_true_beside_the_expected_one_is_half_right(self):
        assert judged("11 years", "10 to 12 years").answer_correctness == pytest.approx(calibrated(0.5, 0.67))
        assert judged("In the 18th century.", "1757").answer_correctness == pytest.approx(calibrated(0.5, 0.67))

    def test_a_part_of_a_short_expected_answer_is_right(self):
        # A third of the words and nothing else: 0.8.
        assert judged("Beardsley", "Peter Andrew Beardsley").answer_correctness == pytest.approx(calibrated(0.8, 0.55))

    def test_a_part_of_a_long_expected_answer_is_not(self):
        expected = "Refunds are possible within 30 days of the purchase when the receipt is shown at the desk."
        correctness = judged("With a receipt.", expected).answer_correctness
        assert correctness is not None
        assert correctness < 0.4

    @pytest.mark.parametrize("answer", ["45 days", "You can ask within 45 days.", "30 weeks", "days", "Some time."])
    def test_a_number_that_is_lacking_or_another_is_wrong(self, answer: str):
        judgement = judged(answer, "30 days", contexts=(answer,))
        assert judgement.answer_correctness is not None
        assert judgement.answer_correctness < 0.7
        assert judgement.error_message == 'the answer does not have "30 days"'

    def test_a_wrong_number_outweighs_all_words_that_are_right(self):
        expected = "Customers in Europe can ask the shop for a full refund within 30 days of purchase with a receipt"
        judgement = judged(expected.replace("30", "31"), expected, question="Refunds?")
        # At most 0.5 without a number: 0.7 * 0.5 / 0.67 = 0.522.
        assert judgement.answer_correctness == pytest.approx(0.7 * 0.5 / 0.67)

    def test_one_number_of_several_and_no_other_is_not_wrong(self):
        # Weights 2 for 18 and 1788, 1 for January; has 2 of 5, as a part of a short answer: 0.8.
        judgement = judged("1788", "18 January 1788", question="When?")
        assert judgement.answer_correctness == pytest.approx(calibrated(0.8, 0.67))
        assert judged("January 1789", "18 January 1788", question="When?").answer_correctness == pytest.approx(
            # 1 of 5; of the 14 different pairs of " 18 january 1788 " the 8 of " january ", " 1", "17" and "78".
            calibrated(0.9 * 0.2 + 0.1 * 11 / 14, 0.67)
        )

    def test_a_number_that_the_question_has_need_not_be_repeated(self):
        question = "What costs the plan for 5 people?"
        judgement = judged("It costs twelve euros.", "12 euros for 5 people", question=question)
        # Weights: 12 is 2, euros 1, for 0.1, 5 (asked) 0.4, people (asked) 0.2: 3 of 3.7.
        assert judgement.answer_correctness is not None
        assert judgement.answer_correctness > 0.7

    @pytest.mark.parametrize(
        ("answer", "expected", "score"),
        [
            ("Yes.", "yes", 1.0),
            ("No, it is not.", "Yes", 0.0),
            ("It is allowed.", "yes", 0.8),
            ("It isn't allowed.", "no", 0.8),
            ("It isn't allowed.", "yes", 0.2),
            ("No one may enter.", "no", 0.8),
            ("Да, можно.", "да", 1.0),
            ("是的，可以。", "是的", 1.0),
        ],
    )
    def test_yes_and_no_are_distinguished(self, answer: str, expected: str, score: float):
        assert judged(answer, expected, question="Is it so?").answer_correctness == pytest.approx(score)

    def test_another_number_than_the_one_in_question_and_expected_answer_is_wrong(self):
        context = "Form 3 is for students. Form 4 is for teachers."
        judgement = judged("Form 4", "Form 3", question="Do students need number 3?", contexts=(context,))
        assert (judgement.answer_correctness or 0) < 0.7

    def test_an_answer_that_begins_with_the_opposite_is_wrong(self):
        judgement = judged("Yes, within 30 days.", "No, within 30 days.")
        assert judgement.answer_correctness == pytest.approx(0.7 * 0.2 / 0.67)
        assert judgement.error_message == 'the answer says the opposite of "No, within 30 days."'

    def test_an_answer_that_denies_what_is_expected_is_wrong(self):
        judgement = judged("The capital is not in the Paris of today but in Lyon.", "Paris", contexts=("Lyon, Paris.",))
        assert judgement.answer_correctness == pytest.approx(0.7 * 0.2 / 0.67)
        assert judgement.error_message == 'the answer says the opposite of "Paris"'

    @pytest.mark.parametrize(
        ("question", "expected", "answer"),
        [
            ("Does the fee include lunch?", "The fee includes lunch.", "The fee does not include lunch. It has tea."),
            ("Are receipts sent by post?", "Receipts are sent by post.", "Receipts are never sent by post."),
            ("Can the seats be moved?", "The seats can be moved.", "The seats can be turned but not moved."),
            ("Is the pool open in May?", "The pool is open in May.", "The pool is closed in May."),
            ("Are there lockers?", "There are lockers.", "There are no longer lockers."),
            ("Is tea included?", "Yes, tea is included.", "Tea is not included."),
            ("May I bring a dog?", "You may not bring a dog.", "Yes, there is no reason not to bring a dog."),
            ("Enthält der Preis Strom?", "Der Preis enthält Strom.", "Der Preis enthält keinen Strom."),
            ("Le prix comprend-il le linge ?", "Le prix comprend le linge.", "Le prix ne comprend pas le linge."),
        ],
    )
    def test_an_answer_that_denies_what_question_and_expected_answer_say_is_wrong(
        self, question: str, expected: str, answer: str
    ):
        judgement = judged(answer, expected, question=question, contexts=(answer,))
        assert judgement.answer_correctness == pytest.approx(0.7 * 0.2 / 0.67)
        assert judgement.error_message == f'the answer says the opposite of "{expected}"'

    @pytest.mark.parametrize(
        ("question", "expected", "answer"),
        [
            ("Does the fee include lunch?", "The fee includes lunch.", "The fee includes lunch, not a tip."),
            ("Can I move my seat?", "You can move your seat.", "You can move your seat, but not on the last day."),
            ("Can I move my seat?", "You can move your seat.", "Seats cannot be sold, but you can move your seat."),
            ("Is parking free?", "Parking is free.", "Parking is free, and no ticket is needed."),
            ("Is the pool open in May?", "The pool is open in May.", "The pool is open in May, but closed in June."),
            ("Is the pool open in June?", "The pool is open in June.", "The pool is not open in May, but is in June."),
            ("Is tea included?", "Yes, tea is included.", "Tea is included."),
            ("Enthält der Preis Strom?", "Der Preis enthält Strom.", "Keine Sorge: Der Preis enthält Strom."),
        ],
    )
    def test_an_answer_that_denies_something_beside_it_is_right(self, question: str, expected: str, answer: str):
        judgement = judged(answer, expected, question=question, contexts=(answer,))
        assert (judgement.answer_correctness or 0) >= 0.9, judgement.error_message

    def test_an_expected_answer_that_ends_in_a_negation_leaves_out_what_is_denied(self):
        assert judged("Dogs on a lead may not swim here.", "Dogs may not").answer_correctness == 1.0
        assert (judged("Dogs on a lead may swim here.", "Dogs may not").answer_correctness or 0.0) < 0.7

    def test_a_negation_elsewhere_denies_nothing(self):
        assert judged("It is not Lyon. It is Paris.", "Paris").answer_correctness == 1.0
        assert judged("It is not Paris.", "not Paris").answer_correctness == 1.0

    def test_the_words_that_a_long_expected_answer_lacks_are_named(self):
        expected = "Refunds are possible within 30 days, with a receipt, at the desk, in person, by the buyer himself."
        assert judged("Refunds are possible within 30 days.", expected).error_message == (
            f'the answer does not have "receipt", "desk", "person", "buyer", "himself" of the expected "{expected}"'
        )
        assert judged("30 days.", expected, question="When?").error_message == (
            'the answer does not have "Refunds", "possible", "within", "receipt", "desk" and 3 more words of the '
            f'expected "{expected}"'
        )

    def test_words_that_stand_apart_are_named(self):
        contexts = ("Neil Young met Louis Armstrong.",)
        assert judged("Neil Young met Louis Armstrong.", "Neil Armstrong", contexts=contexts).error_message == (
            'the answer has the words of "Neil Armstrong", but not together'
        )

    def test_an_expected_answer_without_words_cannot_be_found(self):
        assert judged("30 days", "…").answer_correctness == 0.0

    def test_stop_words_count_where_there_is_nothing_else(self):
        assert judged("To be or not to be", "to be or not to be", question="?").answer_correctness == 1.0


class TestGroundedness:
    def test_is_the_mean_of_three_shares_less_what_is_absent(self):
        judgement = judged("Refund of purchase price.", contexts=("A refund. The purchase.",), question="?")
        # Content: refund, purchase, price. In the contexts 2 of 3, in one window 2 of 3; of the pairs
        # refund-purchase is there, purchase-price is not: 1 of 2. One absent word alone: ln(1 + 1 ** 1.5) = ln 2.
        raw = (2 / 3 + 2 / 3 + 1 / 2) / 3 - 0.08 * math.log(2)
        assert judgement.groundedness == pytest.approx(calibrated(raw, 0.39))
        assert judgement.error_message == 'the contexts only partly support "Refund of purchase price."'

    def test_sentences_weigh_by_their_words(self):
        judgement = judged("Refunds need receipts. Elephants.", contexts=("Refunds need receipts.",), question="?")
        # Four words: three at 1, one at 0; one absent.
        assert judgement.groundedness == pytest.approx(calibrated(3 / 4 - 0.08 * math.log(2), 0.39))
        assert judgement.unsupported_claims == ("Elephants.",)
        assert judgement.error_message == 'the contexts do not support "Elephants."'

    def test_words_scattered_over_the_contexts_are_less_than_words_together(self):
        filler = " ".join(f"word{letter}" * 3 for letter in "abcdefghijklmnopqrstuvwxyz" * 4)
        together = judged("Refunds need receipts.", contexts=(f"Refunds need receipts. {filler}",), question="?")
        scattered = judged(
            "Refunds need receipts.", contexts=(f"Refunds {filler} need {filler} receipts",), question="?"
        )
        # All words are there, one of three in a window, no pair: (1 + 1/3 + 0) / 3.
        assert together.groundedness == 1.0
        assert scattered.groundedness == pytest.approx(calibrated(4 / 9, 0.39))

    def test_a_window_does_not_reach_into_the_next_context(self):
        apart = judged("Refunds need receipts.", contexts=("Refunds.", "They need.", "Receipts."), question="?")
        assert apart.groundedness == pytest.approx(calibrated(4 / 9, 0.39))

    @pytest.mark.parametrize("answer", ["Australia is in Asia.", "Elephants can fly to Mars."])
    def test_what_the_contexts_do_not_say_is_not_grounded(self, answer: str):
        judgement = judged(answer)
        assert judgement.groundedness is not None
        assert judgement.groundedness < 0.7
        assert judgement.unsupported_claims == (answer,)
        assert judgement.error_message == f'the contexts do not support "{answer}"'

    def test_a_number_that_no_context_has_is_named(self):
        judgement = judged("A receipt is needed. You can ask for a refund within 60 days of purchase.")
        assert judgement.groundedness is not None
        assert judgement.groundedness <= 0.6
        assert judgement.error_message == (
            'the contexts do not have the number 60 of "You can ask for a refund within 60 days of purchase."'
        )
        assert judgement.unsupported_claims == ("You can ask for a refund within 60 days of purchase.",)

    def test_a_number_is_named_as_the_answer_writes_it(self):
        assert judged("A refund takes 1,500 days.").error_message == (
            'the contexts do not have the number 1,500 of "A refund takes 1,500 days."'
        )

    def test_a_number_in_the_wrong_place_is_named_though_the_contexts_have_it_elsewhere(self):
        judgement = judged("Customers can ask for a refund within 45 days of purchase.")
        # All else is right, so that the score is the most that an answer with a wrong number can reach.
        assert judgement.groundedness == 0.6
        assert judgement.error_message == (
            'the contexts have 30 and not 45 in "Customers can ask for a refund within 45 days of purchase."'
        )

    def test_of_a_right_number_with_another_bound_the_reason_names_the_bound(self):
        judgement = judged("Each fee is 2 % (max. £5).", contexts=("Each fee is 2 %, but at least £5.",))
        assert judgement.groundedness == pytest.approx(0.6)
        assert judgement.error_message == (
            'the contexts have another bound or rate and not 5 pounds in "Each fee is 2 % (max. £5)."'
        )

    def test_a_temperature_without_its_sign_is_another_one(self):
        contexts = ("Frozen food is stored at -18 °C.",)
        judgement = judged("Frozen food is stored at 18 degrees.", contexts=contexts)
        assert (judgement.groundedness or 0.0) < 0.7
        assert judgement.error_message.startswith("the contexts have -18 c and not 18 degrees in ")
        assert judged("Frozen food is stored at minus 18 degrees.", contexts=contexts).groundedness == 1.0

    def test_the_last_number_of_a_line_counts_nothing_on_the_next_line(self):
        contexts = ("retention_days: 30\nmax_file_size_mb: 50\nregion: north",)
        assert (judged("Files are kept for 30 days.", contexts=contexts).groundedness or 0.0) >= 0.7
        assert (judged("Files are kept for 90 days.", contexts=contexts).groundedness or 0.0) < 0.7

    def test_a_number_that_another_sentence_has_in_the_same_place_is_right(self):
        contexts = ("Members can ask for refunds within 45 days.", "Guests can ask for refunds within 30 days.")
        assert judged("You can ask for refunds within 45 days.", contexts=contexts).groundedness == 1.0

    @pytest.mark.parametrize(
        ("answer", "context"),
        [
            ("It costs $1,500.", "It costs 1500 dollars."),
            ("It takes thirty days.", "It takes 30 days."),
            ("It began on 2024-05-01.", "It began on May 1, 2024."),
        ],
    )
    def test_a_number_that_is_only_written_otherwise_is_right(self, answer: str, context: str):
        assert judged(answer, contexts=(context,), question="?").groundedness == 1.0

    @pytest.mark.parametrize("line", FLIGHTS)
    @pytest.mark.parametrize("contexts", [("\n".join(FLIGHTS),), FLIGHTS])
    def test_each_of_many_similar_lines_is_right(self, line: str, contexts: tuple[str, ...]):
        assert judged(line, contexts=contexts).groundedness == 1.0
        assert judged(line.replace("from Munich ", ""), contexts=contexts).groundedness == 1.0

    @pytest.mark.parametrize("n_lines", [2, 8, 12])
    def test_the_numbers_of_two_similar_lines_do_not_make_one(self, n_lines: int):
        judgement = judged("Flight LH1001 from Munich to Berlin costs 90 EUR.", contexts=FLIGHTS[:n_lines])
        assert judgement.groundedness == 0.6
        assert judgement.error_message.startswith("the contexts have 97 and not 90 in ")

    def test_similar_lines_about_others_contradict_nothing(self):
        lines = tuple(f"Dogs are {'not ' * (zone != 11)}allowed in zone {zone}." for zone in range(14))
        assert judged("Dogs are allowed in zone 11.", contexts=lines).groundedness == 1.0

    def test_a_dot_may_be_a_separator_of_thousands(self):
        judgement = judged("It costs 1.500 euros.", contexts=("It costs 1,500 euros.",), question="?")
        assert "number" not in judgement.error_message
        assert judgement.groundedness is not None
        assert judgement.groundedness >= 0.7

    def test_small_numbers_in_words_count_what_the_answer_lists(self):
        judgement = judged("Three things: a refund, a receipt, Australia.")
        assert "number" not in judgement.error_message

    def test_list_numbers_and_citations_are_no_numbers_of_the_answer(self):
        answer = "1. Customers can ask for a refund (passage 7).\n2. A receipt is needed [8, 9]."
        assert judged(answer).groundedness == 1.0

    @pytest.mark.parametrize(
        "marker",
        [
            " [terms_2024.pdf]", "【4:17†source】", " (source: terms.md, p. 12)", " [^44]",
            " [Source 7]",
        ],
    )  # fmt: skip
    def test_citation_markers_claim_nothing(self, marker: str):
        judgement = judged(f"Customers can ask for a refund within 30 days{marker}. A receipt is needed{marker}.")
        assert judgement.groundedness == 1.0

    def test_the_words_of_a_link_claim_and_its_address_does_not(self):
        assert judged("A [receipt](https://a.example/2024/7) is needed.").groundedness == 1.0
        assert (judged("A [receipt](https://a.example/2024/7) of 99 EUR is needed.").groundedness or 0.0) < 0.7

    def test_html_tags_are_not_read(self):
        plain, html = "Refunds are possible within 30 days.", "<p>Refunds are possible within <b>30</b> days.</p>"
        for answer, context in ((plain, html), (html, plain), (html, html)):
            for expected in ("30 days", "<b>30</b> days"):
                assert scores(judged(answer, expected, contexts=(context,))) == (1.0, 1.0)
        wrong = judged("<ul><li>Within <b>45</b> days.</li><li>A receipt is needed.</li></ul>")
        assert wrong.unsupported_claims == ("Within <b>45</b> days.",)
        assert judged("<p>I don't know.</p>", "30 days").abstained

    def test_the_addresses_of_html_links_are_known(self):
        contexts = ('<p>Read <a href="https://a.example/refunds">more</a>.</p>',)
        assert judged("Read more: https://a.example/refunds", contexts=contexts).groundedness == 1.0

    def test_a_footnote_and_a_list_of_sources_claim_nothing(self):
        assert judged("A receipt is needed.[^1]\n\n[^1]: policy, page 77").groundedness == 1.0
        assert judged("A receipt is needed [1].\n\nSources:\n[1] terms_2024.pdf\n[2] faq.md").groundedness == 1.0

    def test_an_unsupported_sentence_with_a_marker_is_verbatim(self):
        judgement = judged("A receipt is needed [1]. Shipping to Mars is free【1†source】.")
        assert judgement.unsupported_claims == ("Shipping to Mars is free【1†source】.",)

    @pytest.mark.parametrize(
        "answer", ["Shipping{} takes 45 days to Australia{}.", "Shipping takes 45 days to Australia{}."]
    )
    @pytest.mark.parametrize("marker", [" [1]", "[2]", " [terms.pdf]", "【2†source】"])
    def test_a_sentence_is_verbatim_without_its_markers(self, answer: str, marker: str):
        # Else the expected answer, which the contexts support, would contradict it.
        judgement = judged(answer.replace("{}", marker), "30 days")
        assert (judgement.groundedness or 0.0) >= 0.7

    @pytest.mark.parametrize("stated", ["24/7", "round-the-clock", "rund um die Uhr", "24 hours a day"])
    def test_around_the_clock_is_24_hours_a_day(self, stated: str):
        for context in ("24/7", "around the clock", "24 hours a day, 7 days a week"):
            assert judged(f"It's {stated}!", contexts=(f"The desk is open {context}.",)).groundedness == 1.0
        assert judged(f"It's {stated}!", contexts=("The desk is open from 9 to 17.",)).groundedness == 0.0
        assert judged(f"It's {stated}!", "around the clock").answer_correctness == 1.0

    @pytest.mark.parametrize(
        "answer",
        [
            "You need (1) a lamp, (2) a tent and (3) two blankets.",
            "You need 1) a lamp, 2) a tent and 3) two blankets.",
            "Step 4: Bring a lamp. Step 5: Bring a tent. Step 6: Bring two blankets.",
            "Schritt 4: Bring a lamp and two blankets.",
            "4️⃣ A lamp\n5️⃣ Two blankets",
        ],
    )
    def test_the_numbers_of_a_list_are_no_quantities(self, answer: str):
        contexts = ("You have to bring a lamp, a tent and two blankets.",)
        assert (judged(answer, contexts=contexts).groundedness or 0.0) >= 0.7
        wrong = judged(answer.replace("wo blankets", "wo hundred blankets"), contexts=contexts)
        assert (wrong.groundedness or 0.0) < 0.7

    @pytest.mark.parametrize(
        "addition",
        [
            " I hope this helps! 😊",
            " Let me know if you need anything else!",
            "\n\nIf you have any other questions, please don't hesitate to ask.",
            "\n\nBest regards,\nYour support team",
            "\n\nBei weiteren Fragen melde ich mich gern.",
            "\n\nN’hésitez pas à me demander.",
            "\n\n**Sources:** terms.md, faq.pdf",
            "\n\n---\n*Source: refund_policy.pdf, page 3*",
            "\n\n## References\n[1] terms.md\n2. docs/faq.html (page 12)\n- https://shop.example/terms?x=1",
            "\n\nQuelle: agb.pdf, S. 3",
        ],
    )
    def test_courtesies_and_sources_claim_nothing(self, addition: str):
        judgement = judged("A receipt is needed." + addition)
        assert (judgement.groundedness, judgement.unsupported_claims) == (1.0, ())

    @pytest.mark.parametrize(
        "addition",
        [
            " Feel free to return gold coins.",
            " Let me know if you want the 99 days.",
            "\n\nDocuments:\n- gold passport\n- silver permit",
            "\n\nSource: solar panels of the roof.",
        ],
    )
    def test_what_only_begins_like_a_courtesy_or_a_source_is_a_claim(self, addition: str):
        assert judged("A receipt is needed." + addition).unsupported_claims

    @pytest.mark.parametrize("answer", ["prices.pdf", "Source: prices.pdf", "Let me know if you need gold coins."])
    def test_nothing_but_a_source_or_a_courtesy_is_a_claim(self, answer: str):
        assert (judged(answer).groundedness or 0.0) < 0.7

    def test_a_question_back_claims_nothing_beside_what_is_claimed(self):
        assert judged("A receipt is needed. Shall elephants fly you to Mars?").unsupported_claims == ()
        assert judged("Elephants to Mars?").unsupported_claims == ("Elephants to Mars?",)

    def test_the_question_may_be_repeated(self):
        answer = "The warranty of model 77 is: a receipt is needed."
        assert judged(answer, question="What is the warranty of model 77?").groundedness == pytest.approx(
            # warranty, model, 77, receipt, need: all known, in one window only two; of four pairs one.
            calibrated((1 + 2 / 5 + 1 / 4) / 3, 0.36)
        )

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("Yes, it can be used without asking a doctor.", "No, a doctor has to be asked first"),
            ("With direct debit the last day is 30 June.", "until 25 June"),
        ],
    )
    def test_an_answer_that_denies_a_supported_expected_answer_is_not_grounded(self, answer: str, expected: str):
        contexts = (
            "It can be used after a doctor has to be asked first. Direct debit ends on 25 June, all on 30 June.",
        )
        judgement = judged(answer, expected, contexts=contexts, question="?")
        assert judgement.groundedness == 0.4
        assert judgement.unsupported_claims == (answer,)

    def test_an_answer_that_claims_nothing_is_grounded(self):
        assert judged("Yes.").groundedness == 1.0

    @pytest.mark.parametrize("contexts", [(), ("", "  \n")])
    def test_without_contexts_nothing_is_grounded(self, contexts: tuple[str, ...]):
        judgement = judged("30 days", "30 days", contexts=contexts)
        assert scores(judgement) == (1.0, 0.0)
        assert judgement.error_message == "no contexts were returned"
        assert judged("Yes.", contexts=contexts).groundedness == 0.0
        assert judged("60 days", "30 days", contexts=contexts).error_message == 'the answer does not have "30 days"'

    @pytest.mark.parametrize("contexts", [(), (" ",)])
    def test_without_contexts_every_sentence_is_unsupported_unless_the_answer_declines(self, contexts: tuple[str, ...]):
        said = judged("Yes. You have 30 days.", contexts=contexts)
        assert said.unsupported_claims == ("Yes.", "You have 30 days.")
        assert judged("I do not know the refund window.", contexts=contexts).unsupported_claims == ()

    def test_a_long_sentence_is_cut_in_the_message_only(self):
        answer = f"Elephants {'fly ' * 100}home."
        judgement = judged(answer)
        assert judgement.error_message == f'the contexts do not support "{answer[:199].rstrip()}…"'
        assert judgement.unsupported_claims == (answer,)


class TestRefusals:
    @pytest.mark.parametrize(
        "answer",
        [
            "I don't know.",
            "I'm sorry, but I cannot answer that from the provided context.",
            "The documents say nothing: I could not find the refund window.",
            "我不知道。",
            "Das geht aus dem Kontext leider nicht hervor.",
        ],
    )
    def test_a_bare_refusal_is_grounded_and_wrong(self, answer: str):
        judgement = judged(answer, "30 days")
        assert judgement.answer_correctness is not None
        assert judgement.answer_correctness < 0.7
        assert judgement.groundedness == 1.0
        assert judgement.abstained
        assert judgement.error_message == "the system declined to answer"

    def test_a_refusal_in_words_of_its_own_is_grounded_with_a_doubt(self):
        # Raw support 0.5 for up to four words that are neither the question's nor a refusal's.
        judgement = judged("The documents do not say how long customers have to return items.", "30 days")
        assert judgement.groundedness == pytest.approx(calibrated(0.5, 0.36))

    def test_a_refusal_that_claims_much_is_judged_by_its_claims(self):
        judgement = judged("I do not know, Martian elephants in purple trousers ate every filing cabinet.", "30 days")
        assert judgement.groundedness is not None
        assert judgement.groundedness < 0.7

    def test_what_is_said_beside_declining_counts(self):
        judgement = judged("I could not find the fee, but the refund window is 30 days.", "45 days")
        assert judgement.abstained
        assert judgement.answer_correctness == pytest.approx(judged("30 days", "45 days").answer_correctness, abs=0.02)

    @pytest.mark.parametrize(
        "answer",
        [
            "I could not find the fee, but the refund window is 30 days.",
            "As an AI, I do not have access to live data. However, refunds take 30 days.",
        ],
    )
    def test_an_answer_that_holds_an_accepted_answer_is_no_refusal(self, answer: str):
        judgement = judged(answer, "30 days")
        assert (judgement.answer_correctness, judgement.abstained) == (1.0, False)

    @pytest.mark.parametrize("expected", ["yes", "no", "30 days"])
    def test_a_bare_refusal_holds_no_accepted_answer(self, expected: str):
        judgement = judged("I don't know.", expected)
        assert (judgement.answer_correctness, judgement.abstained) == (0.0, True)

    def test_a_refusal_without_contexts_is_grounded(self):
        assert judged("I don't know.", contexts=()).groundedness == 1.0

    def test_a_refusal_is_right_where_one_is_expected(self):
        assert scores(judged("I don't know.", "The documents do not say.")) == (1.0, 1.0)

    def test_an_acceptable_answer_without_words_does_not_make_a_refusal_right(self):
        judgement = judged("I don't know.", "surfing", "\N{SURFER}")
        assert judgement.answer_correctness == 0.0
        assert judgement.error_message == "the system declined to answer"

    def test_a_refusal_is_right_where_the_question_cannot_be_answered(self):
        assert judged("I don't know.", answerable=False) == Judgement(
            answer_correctness=1.0, groundedness=1.0, abstained=True
        )

    def test_an_answer_is_wrong_where_the_question_cannot_be_answered(self):
        judgement = judged("30 days", answerable=False)
        assert (judgement.answer_correctness, judgement.abstained) == (0.0, False)
        assert judgement.error_message == "the system answered, although the question is unanswerable"

    @pytest.mark.parametrize(
        ("answer", "abstained"),
        [
            ("I can't share exact figures, but the founder of Globex earns 90,000 EUR.", False),
            ("The founder earns 90000 EUR according to the documents, but I am not able to share more.", False),
            ("I could not find an exact answer. The founder of Globex earns ninety thousand EUR.", False),
            ("I can't say, but the founder earns about as much as an engineer.", True),
            ("I don't know what the founder earns. The window for refunds is 30 days.", True),
            ("The documents do not say what the founder earns in 2024. An engineer earns 90000 EUR.", True),
        ],
    )
    def test_a_refusal_beside_a_figure_that_answers_is_none(self, answer: str, abstained: bool):
        contexts = ("The founder of Globex earns 90000 EUR. The window for refunds is 30 days.",)
        question = "What does the founder earn?"
        assert judged(answer, contexts=contexts, question=question, answerable=False).abstained is abstained
        assert judged(answer, contexts=contexts, question=question).abstained

    @pytest.mark.parametrize("answer", ["", " \n"])
    def test_an_empty_answer_is_a_refusal(self, answer: str):
        assert judged(answer, "30 days") == Judgement(
            answer_correctness=0.0, groundedness=0.0, error_message="the answer is empty", abstained=True
        )
        assert judged(answer).answer_correctness is None
        assert scores(judged(answer, answerable=False)) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("question", "context", "expected", "right", "wrong"),
    [
        (
            "退款期限是多久？",
            "顾客可以在购买后30天内申请退款。",
            "30天",
            "您可以在三十天内申请退款。",
            "您可以在45天内申请退款。",
        ),
        (
            "返金期間は？",
            "お客様は購入後30日以内に返金できます。",
            "30日",
            "30日以内に返金できます。",
            "60日以内に返金できます。",
        ),
        ("คืนเงินได้กี่วัน", "ลูกค้าขอคืนเงินได้ภายใน 30 วัน", "30 วัน", "ขอคืนเงินได้ภายใน 30 วัน", "ขอคืนเงินได้ภายใน 45 วัน"),
        ("Срок возврата?", "Товар можно вернуть в течение 30 дней.", "30 дней", "В течение тридцати дней.", "45 дней."),
        ("Frist?", "Die Rückgabe ist in 30 Tagen möglich.", "30 Tage", "In dreißig Tagen.", "In 45 Tagen."),
    ],
)
def test_other_languages_are_judged_alike(question: str, context: str, expected: str, right: str, wrong: str):
    good = judged(right, expected, question=question, contexts=(context,))
    bad = judged(wrong, expected, question=question, contexts=(context,))
    assert min(good.answer_correctness or 0, good.groundedness or 0) >= 0.7
    assert max(bad.answer_correctness or 0, bad.groundedness or 0) < 0.7


LISTED = "refund receipt days 30 45 not Yes. No, I don't know. the of elephant 退款 30天 \n $5 - 1."
TEXTS = st.lists(st.sampled_from(LISTED.split()), max_size=25).map(" ".join)


@given(answer=TEXTS | st.text(), expected=TEXTS | st.text(), contexts=st.lists(TEXTS | st.text(), max_size=3))
def test_any_answer_is_scored_in_range_and_always_alike(answer: str, expected: str, contexts: list[str]):
    judge = OfflineJudge()
    first = judged(answer, expected, contexts=tuple(contexts), by=judge)
    assert all(score is not None and 0 <= score <= 1 for score in scores(first))
    assert bool(first.error_message) == (min(first.answer_correctness or 0, first.groundedness or 0) < 1)
    assert all(claim in answer for claim in first.unsupported_claims)
    assert judged(answer, expected, contexts=tuple(contexts), by=judge) == first


@example(answer="30天 I Yes.", contexts=["30"])
@given(answer=TEXTS, contexts=st.lists(TEXTS, min_size=1, max_size=3))
def test_a_context_that_says_what_the_answer_says_never_lowers_groundedness(answer: str, contexts: list[str]):
    before = judged(answer, contexts=tuple(contexts)).groundedness
    after = judged(answer, contexts=(*contexts, answer)).groundedness
    assert (after or 0) >= (before or 0) - 1e-9


@given(answer=TEXTS.filter(lambda text: any(map(str.isalnum, text))))
def test_an_answer_that_is_the_expected_one_is_right(answer: str):
    assert judged(answer, answer, contexts=(answer,)).answer_correctness == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text",
    [
        *("\ud800", "30\ud800 days", "\x00", "1" * 5000 + " million", "x" * 5000, "$" * 50, "\u200b"),
        "two hundred and " * 500,
    ],
)
def test_strange_text_is_judged_like_any_other(text: str):
    judgement = judged(text, text, contexts=(text,))
    assert all(score is not None and 0 <= score <= 1 for score in scores(judgement))


def test_a_judge_that_has_seen_many_words_judges_as_before():
    judge = OfflineJudge()
    many = " ".join(f"{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10 % 10]}{chr(0x4E00 + n)}" for n in range(20_000))
    words = ["".join(chr(97 + n // 26**place % 26) for place in range(4)) for n in range(220_000)]
    before = judged("You can ask within 45 days.", "30 days", by=judge)
    for start in range(0, len(words), 80_000):
        judged(many, contexts=(" ".join(words[start : start + 80_000]),), by=judge)
    assert judged("You can ask within 45 days.", "30 days", by=judge) == before


def test_an_answer_is_read_up_to_20000_characters():
    said, context = "Refunds are possible within 30 days. ", ("Refunds are possible within 30 days.",)
    invented = "The king pays in gold."
    # 20,000 = 540 * 37 + 20: the claim after 539 sentences is read, that after 541 is not.
    assert judged(said * 539 + invented, contexts=context).unsupported_claims == (invented,)
    assert judged(said * 541 + invented, contexts=context).unsupported_claims == ()


def test_contexts_are_read_up_to_500000_characters_in_all():
    filler, context = "Other words. " * 38_462, "Refunds are possible within 30 days."
    assert judged(context, contexts=(context, filler)).groundedness == 1.0
    assert judged(context, contexts=(filler, context)).groundedness == 0.0


def test_contexts_of_very_many_pieces_are_searched_for_the_best_window():
    filler = "Refunds are discussed at length elsewhere and by others in many other words than these. " * 600
    contexts = (f"{filler} Customers can ask for refunds within 30 days. {filler}",)
    assert judged("Customers can ask for refunds within 30 days.", contexts=contexts).groundedness == 1.0
    wrong = judged("Customers can ask for refunds within 31 days.", contexts=(*contexts, "It has 31 rooms."))
    assert wrong.error_message == 'the contexts have 30 and not 31 in "Customers can ask for refunds within 31 days."'


@pytest.mark.parametrize(
    ("context", "expected", "right", "wrong", "refusal"),
    [
        (
            "客户可在购买后三十天内申请退款。",
            "30天",
            "可在30天内申请退款。",
            "可在90天内申请退款。",
            "抱歉，我不知道。",
        ),
        (
            "購入後30日以内に返金を申請できます。",
            "30日",
            "30日以内に申請できます。",
            "60日以内に申請できます。",
            "わかりません。",
        ),
        ("ลูกค้าขอคืนเงินได้ภายใน 30 วัน", "30 วัน", "ขอคืนเงินได้ภายใน 30 วัน", "ขอคืนเงินได้ภายใน 90 วัน", "ขออภัย ฉันไม่ทราบ"),
    ],
    ids=["Chinese", "Japanese", "Thai"],
)
def test_scripts_without_spaces_between_words_are_judged_alike(
    context: str, expected: str, right: str, wrong: str, refusal: str
):
    def said(answer: str) -> tuple[bool, bool, bool | None]:
        judgement = judged(answer, expected, contexts=(context,), question="?")
        correctness, grounded = scores(judgement)
        return (correctness or 0) >= 0.7, (grounded or 0) >= 0.7, judgement.abstained

    assert said(right) == (True, True, False)
    assert said(wrong) == (False, False, False)
    assert said(refusal) == (False, True, True)
