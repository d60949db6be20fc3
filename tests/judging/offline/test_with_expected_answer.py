"""Groundedness with an expected answer that the contexts support, and numbers that follow from them."""

from __future__ import annotations

import pytest

from tests.judging.offline.test_offline_judge import judged

FEES = (
    "Saver tickets can be rebooked for 10 euros. On a delay of 60 minutes 25 % of the fare is paid back.",
    "The deposit is two months' rent. The rent is 1,120 euros per month. The museum closes at 20:00.",
    "The tenancy began in 2019 with a fee of 318 euros, of which 192 euros are for the pass.",
)
GRINDER = (
    "Motor 150 W, weight 3.1 kg. The manufacturer grants a warranty of 24 months from the date of purchase.",
    "Clean the grinding chamber every two weeks. Never rinse the burrs with water.",
)


class TestComputedNumbers:
    @pytest.mark.parametrize(
        ("question", "answer", "expected"),
        [
            ("What is left of the fee without the pass?", "€126 (€318 − €192).", "126 euros"),
            ("How high is the deposit?", "2,240 euros: two months' rent at 1,120 euros each.", "2,240 euros"),
            ("Last admission is 45 minutes before. When is it?", "At 19:15, 45 minutes before 20:00.", "19:15"),
            ("My ticket cost 80 euros. What is paid back?", "You get 25 % of 80 euros, so 20 euros.", "20 euros"),
            ("What is the fee of a free seat?", "0 euros.", "0 euros"),
            ("How much less is the pass?", "126 euros less (192 instead of 318).", "126 euros"),
            ("Half of the 6 seats are free. How many?", "3 seats, which is half of the 6 seats.", "3 seats"),
        ],
    )
    def test_a_result_of_the_numbers_in_the_contexts_is_supported(self, question: str, answer: str, expected: str):
        judgement = judged(answer, expected, question=question, contexts=FEES)
        assert (judgement.groundedness or 0) >= 0.7, judgement.error_message
        assert judgement.answer_correctness == 1.0

    def test_a_sum_that_the_answer_shows_needs_no_expected_answer(self):
        shown = judged("The fee and the pass are 318 + 192 = 510 euros.", contexts=FEES)
        bare = judged("The fee and the pass are 510 euros.", contexts=FEES)
        assert "do not have the number" not in shown.error_message
        assert 'do not have the number 510 of "The fee' in bare.error_message

    def test_a_wrong_sum_is_not_supported(self):
        judgement = judged("The fee and the pass are 318 + 192 = 520 euros.", contexts=FEES)
        assert 'do not have the number 520 of "The fee' in judgement.error_message

    def test_a_number_from_memory_is_not_supported_though_it_is_expected(self):
        judgement = judged("The fee is 777 euros.", "777 euros", question="What is the fee?", contexts=FEES)
        assert judgement.answer_correctness == 1.0
        assert (judgement.groundedness or 0) < 0.7


class TestAffirmed:
    def test_the_sentence_with_the_expected_answer_is_supported_in_other_words(self):
        answer = "You are covered for two years by the maker of this grinder."
        asked = "How long is the warranty?"
        assert (judged(answer, question=asked, contexts=GRINDER).groundedness or 0) < 0.7
        assert (judged(answer, "24 months", question=asked, contexts=GRINDER).groundedness or 0) >= 0.7

    @pytest.mark.parametrize("joint", [", provided that it is", " and", ";"])
    def test_more_that_is_joined_to_it_is_not(self, joint: str):
        answer = f"The warranty of the manufacturer is 24 months{joint} painted crocodile green."
        judgement = judged(answer, "24 months", question="How long is the warranty?", contexts=GRINDER)
        assert (judgement.groundedness or 0) <= 0.4

    def test_another_sentence_is_not(self):
        answer = "The warranty is 24 months. It also comes with four golden spoons, engraved by famous artists."
        judgement = judged(answer, "24 months", question="How long is the warranty?", contexts=GRINDER)
        assert (judgement.groundedness or 0) < 0.7
        assert judgement.unsupported_claims == ("It also comes with four golden spoons, engraved by famous artists.",)

    def test_a_second_sentence_with_the_same_expected_words_is_not(self):
        answer = "The warranty is 24 months. After 24 months crocodiles collect the apparatus from any doorstep."
        judgement = judged(answer, "24 months", question="How long is the warranty?", contexts=GRINDER)
        assert (judgement.groundedness or 0) < 0.7

    def test_the_expected_answer_itself_is_no_changed_detail(self):
        contexts = ("In 1931 Aleida Brantsma, widow of a shipowner, gave her collection of 312 pieces to the museum.",)
        answer = (
            "The museum owes the 312 pieces to Aleida Brantsma, the widow of a shipowner, who donated them in 1931."
        )
        judgement = judged(answer, "Aleida Brantsma", question="Who gave the collection?", contexts=contexts)
        assert (judgement.groundedness or 0) >= 0.7, judgement.error_message


class TestDenied:
    @pytest.mark.parametrize(
        ("answer", "expected", "question", "context"),
        [
            (
                "The treaty was signed on 2 December 1721.",
                "14 September 1721",
                "When was the treaty signed?",
                "The treaty was signed on 14 September 1721. Parliament ratified it on 2 December of the same year.",
            ),
            (
                "The fox is the hedgehog's main natural predator.",
                "the badger",
                "Which animal is the hedgehog's main natural predator?",
                "The hedgehog lives for four years. The badger is the main natural predator. Many die on roads.",
            ),
            (
                "Common ones: heartburn, nausea and dizziness.",
                "heartburn, nausea and diarrhoea",
                "Which side effects are common?",
                "Common: heartburn, nausea, diarrhoea. Uncommon (1 in 100): headache, dizziness, skin rash.",
            ),
            (
                "E23 indicates that the tap is closed.",
                "water has collected in the base",
                "What does the error code E23 mean?",
                "E17 points to a closed tap. E23 means that water has collected in the base; call customer service.",
            ),
            (
                "Today Rutalia is led by Benito Arnaiz.",
                "Clara Arnaiz",
                "Who leads Rutalia today?",
                "Rutalia was founded by Benito Arnaiz. Today it is led by his granddaughter, Clara Arnaiz.",
            ),
            (
                "Don't use it on:\n- marble\n- enamel\n- stainless steel",
                "marble and enamel",
                "Which surfaces must not be treated?",
                "Do not use it on marble or enamel. Wear gloves, and rinse twice with much water.",
            ),
            (
                "De wachttijd is momenteel vier weken.",
                "ongeveer vier maanden",
                "Hoe lang is de wachttijd voor zwemles?",
                "Zwemles begint vanaf 4.5 jaar. De wachttijd bedraagt momenteel vier maanden. Een les kost 11 euro.",
            ),
            (
                "Ja, draußen gestohlene Fahrräder sind im Tarif Basis versichert.",
                "Nein",
                "Sind draußen gestohlene Fahrräder versichert?",
                "Tarif Basis: Versichert sind Feuer und Sturm. Gestohlene Fahrräder draußen sind ausgenommen.",
            ),
        ],
    )
    def test_another_answer_than_the_expected_one_is_contradicted(
        self, answer: str, expected: str, question: str, context: str
    ):
        judgement = judged(answer, expected, question=question, contexts=(context,))
        assert (judgement.groundedness or 0) <= 0.4

    @pytest.mark.parametrize(
        ("answer", "expected"), [("Bertram may be crushed.", "No"), ("Bertram may not be broken.", "Yes")]
    )
    def test_a_denial_of_a_yes_or_no_that_is_not_said_is_contradicted(self, answer: str, expected: str):
        context = "Bertram tablets may be broken along the line, but they must not be crushed or chewed."
        judgement = judged(answer, expected, question="May the tablets be crushed or broken?", contexts=(context,))
        assert judgement.groundedness == 0.4


class TestLists:
    QUESTION = "In which languages is the audio guide offered?"
    CONTEXTS = ("The audio guide is offered in English, German and Japanese, and costs 4 euros.",)

    @pytest.mark.parametrize(
        "answer",
        [
            "It is offered in English, German, French and Japanese.",
            "The languages are:\n\n- English\n- German\n- Japanese\n- French",
            "The languages are:\n1. English\n2. Russian\n3. German\n4. Japanese",
            "It is offered in English, German, Japanese and Russian.",
            "It is offered in Japanese, German, English or Russian.",
        ],
    )
    def test_a_further_item_is_wrong(self, answer: str):
        judgement = judged(answer, "English, German and Japanese", question=self.QUESTION, contexts=self.CONTEXTS)
        assert (judgement.answer_correctness or 0) < 0.7

    @pytest.mark.parametrize(
        "answer",
        [
            "It is offered in English, German and Japanese, and costs 4 euros.",
            "The languages are:\n\n- English\n- German\n- Japanese\n\nIt costs 4 euros.",
            "For 4 euros, in English, in German and of course in Japanese.",
        ],
    )
    def test_all_items_with_other_words_are_right(self, answer: str):
        judgement = judged(answer, "English, German and Japanese", question=self.QUESTION, contexts=self.CONTEXTS)
        assert (judgement.answer_correctness or 0) >= 0.7

    def test_a_missing_item_is_noticed_beside_an_item_with_the_same_word(self):
        expected = "um cartão de débito, um cartão de crédito e um seguro de viagem"
        judgement = judged(
            "A conta inclui um cartão de débito e um seguro de viagem.",
            expected,
            question="O que inclui a conta?",
            contexts=(f"A conta inclui {expected}.",),
        )
        assert (judgement.answer_correctness or 0) < 0.7

    def test_a_french_en_joins_no_items(self):
        context = "La demande se fait en ligne. Joignez un plan, une photo du lieu et la liste des plantes."
        judgement = judged(
            "À votre demande en ligne, joignez une photo du lieu ainsi que la liste des plantes prévues.",
            "un plan, une photo du lieu et la liste des plantes",
            question="Que faut-il joindre ?",
            contexts=(context,),
        )
        assert (judgement.answer_correctness or 1) < 0.7
        assert (judgement.groundedness or 0) >= 0.7


class TestParties:
    @pytest.mark.parametrize(
        ("expected", "other", "context"),
        [
            ("the employer", "the employee", "The employer pays the insurance of each employee."),
            ("der Arbeitnehmer", "der Arbeitgeber", "Der Arbeitnehmer zahlt, was der Arbeitgeber nicht zahlt."),
            ("el arrendador", "el arrendatario", "El arrendador paga los gastos del arrendatario."),
            ("l'employeur", "l'employé", "L'employeur paie l'assurance de chaque employé."),
        ],
    )
    def test_the_other_party_of_a_contract_is_another_word(self, expected: str, other: str, context: str):
        right = judged(expected, expected, question="Who pays?", contexts=(context,))
        wrong = judged(other, expected, question="Who pays?", contexts=(context,))
        assert (right.answer_correctness or 0) >= 0.7 > (wrong.answer_correctness or 0)


class TestRates:
    QUESTION = "How often is organic waste collected in July?"
    CONTEXTS = ("Organic waste is collected every two weeks, and from June to August every week.",)

    @pytest.mark.parametrize(
        ("expected", "answer", "is_right"),
        [
            ("weekly", "It is collected once a week.", True),
            ("every week", "It is collected weekly.", True),
            ("every week", "Organic waste is collected every two weeks in July.", False),
            ("weekly", "Organic waste is collected every two weeks in July.", False),
            ("every two weeks", "It is collected every week.", False),
        ],
    )
    def test_intervals_are_compared(self, expected: str, answer: str, *, is_right: bool):
        judgement = judged(answer, expected, question=self.QUESTION, contexts=self.CONTEXTS)
        assert ((judgement.answer_correctness or 0) >= 0.7) is is_right

    def test_a_dutch_pas_denies_nothing(self):
        context = "Wettelijke uren vervallen op 1 juli, bovenwettelijke uren pas na vijf jaar."
        judgement = judged(
            "Volgens de tekst pas na vijf jaar.", "na vijf jaar", question="Wanneer?", contexts=(context,)
        )
        assert judgement.answer_correctness == 1.0


class TestNo:
    QUESTION = "Can I test webhooks in the sandbox?"
    CONTEXTS = ("Webhooks are not available in the sandbox; query the status yourself. Data is deleted after a month.",)

    def test_a_denial_in_other_words_agrees_with_a_no_and_its_reason(self):
        answer = "That's not supported: you have to query the status yourself."
        judgement = judged(
            answer, "no, webhooks are not available in the sandbox", question=self.QUESTION, contexts=self.CONTEXTS
        )
        assert (judgement.answer_correctness or 0) >= 0.7

    @pytest.mark.parametrize(
        "answer",
        ["Unfortunately not.", "Not yet: they are planned.", "Leider nicht.", "Nog niet.", "К сожалению, нет."],
    )
    def test_a_regret_or_a_not_yet_is_a_no(self, answer: str):
        assert judged(answer, "No", question=self.QUESTION, contexts=self.CONTEXTS).answer_correctness == 1.0
        assert judged(answer, "Yes", question=self.QUESTION, contexts=self.CONTEXTS).answer_correctness == 0.0

    def test_a_without_of_the_question_is_no_denial(self):
        judgement = judged(
            "Without an account with us the card is not available.",
            "No",
            question="Can I have the card without an account?",
            contexts=("The card is available only with an account of our house.",),
        )
        assert (judgement.answer_correctness or 0) >= 0.7

    def test_a_condition_in_the_question_is_no_denial(self):
        judgement = judged(
            "That is not refunded. Instead there is a lecture.",
            "No, the price of the ticket is not paid back",
            question="Is the ticket paid back if the sky is not clear?",
            contexts=("If the sky is not clear, there is a lecture; the price of the ticket is not paid back.",),
        )
        assert (judgement.answer_correctness or 0) >= 0.7

    @pytest.mark.parametrize("expected", ["There is none", "none", "None."])
    def test_an_expected_none_is_a_no(self, expected: str):
        asked, contexts = "Where is the headphone jack?", ("The phone has no headphone jack, but two speakers.",)
        right = judged("The phone doesn't have a headphone jack.", expected, question=asked, contexts=contexts)
        wrong = judged("The headphone jack is beside the speakers.", expected, question=asked, contexts=contexts)
        assert (right.answer_correctness or 0) >= 0.7 > (wrong.answer_correctness or 0)

    def test_a_statement_without_a_denial_does_not_agree_with_a_yes_and_its_reason(self):
        answer = "The sandbox leaves webhooks out; you query the status yourself."
        judgement = judged(answer, "yes, without any restriction", question=self.QUESTION, contexts=self.CONTEXTS)
        assert (judgement.answer_correctness or 0) < 0.7


class TestYesOrNoInOtherWords:
    @pytest.mark.parametrize("expected", ["Yes", "Yes, it does", "true"])
    @pytest.mark.parametrize(
        ("answer", "is_right"),
        [
            ("It does.", True),
            ("It does, in all countries.", True),
            ("That is correct.", True),
            ("The answer is yes.", True),
            ("Theft is covered.", True),
            ("Purple elephants.", False),
            ("Hello! How can I help you?", False),
            ("How are you?", False),
            ("42", False),
            ("...", False),
            ("It is false.", False),
            ("It doesn't.", False),
            ("Theft is excluded.", False),
        ],
    )
    def test_a_yes_takes_a_sign_of_it(self, expected: str, answer: str, *, is_right: bool):
        judgement = judged(answer, expected, question="Does the plan cover theft?")
        assert ((judgement.answer_correctness or 0) >= 0.7) is is_right

    @pytest.mark.parametrize("expected", ["No", "No, it does not"])
    @pytest.mark.parametrize(
        ("answer", "is_right"),
        [
            ("It doesn't.", True),
            ("That's not supported: you have to use SQL.", True),
            ("That is not the case.", True),
            ("There is no support for MongoDB.", True),
            ("The answer is unclear.", False),
            ("Purple elephants.", False),
            ("Cats never sleep in the kitchen.", False),
            ("It does.", False),
        ],
    )
    def test_a_no_takes_a_sign_of_it(self, expected: str, answer: str, *, is_right: bool):
        judgement = judged(answer, expected, question="Does the app work with MongoDB?")
        assert ((judgement.answer_correctness or 0) >= 0.7) is is_right

    @pytest.mark.parametrize(
        ("question", "expected", "right", "wrong"),
        [
            ("Gibt es am Rathaus Parkplätze?", "ja", "Es gibt Besucherparkplätze.", "Herzlich willkommen!"),
            ("Deckt der Tarif Diebstahl ab?", "ja", "Das stimmt.", "Das ist falsch."),
            ("Le musée est-il ouvert ?", "oui", "C'est exact.", "Des éléphants violets."),
            ("¿Se admiten mascotas?", "no", "No se admiten.", "Nadie sabe quién construyó las pirámides."),
            ("Можно ли вернуть товар?", "да", "Можно.", "Фиолетовые слоны."),
            ("駐車場は無料ですか？", "はい", "無料です。", "紫色の象。"),
        ],
    )
    def test_signs_are_known_in_other_languages(self, question: str, expected: str, right: str, wrong: str):
        assert (judged(right, expected, question=question).answer_correctness or 0) >= 0.7
        assert (judged(wrong, expected, question=question).answer_correctness or 0) < 0.7

    def test_a_denial_of_something_else_does_not_agree_with_a_no_that_repeats_the_question(self):
        judgement = judged("The pool is not heated.", "No, smoking is forbidden", question="Is smoking allowed?")
        assert (judgement.answer_correctness or 0) < 0.7


class TestReferrals:
    @pytest.mark.parametrize(
        "advice",
        [
            "Please check with your HR department.",
            "You may want to call the insurer.",
            "I would recommend contacting the manufacturer of the device.",
            "If you share the document with me, I can look at it in detail.",
        ],
    )
    def test_advice_after_a_refusal_claims_nothing(self, advice: str):
        answer = f"I'm sorry, but the documents do not contain this information. {advice}"
        assert judged(answer).groundedness == 1.0

    @pytest.mark.parametrize(
        "claim",
        ["You can use golden spoons and crocodiles instead of lamps.", "Please call 112 and ask for golden lamps."],
    )
    def test_a_claim_after_a_refusal_is_judged(self, claim: str):
        answer = f"I'm sorry, but the documents do not contain this information. {claim}"
        assert (judged(answer).groundedness or 0) < 0.7

    @pytest.mark.parametrize(
        "answer",
        [
            "Infelizmente não encontrei essa informação nos documentos; recomendo falar com o seu corretor.",
            "No encuentro ese dato en los documentos, le recomiendo llamar a la oficina.",
            "很抱歉，所提供的资料中没有这方面的信息，请联系酒店前台。",
            "申し訳ございませんが、資料には記載がありません。フロントにお問い合わせください。",
            "資料に記載がないため、フロントにお問い合わせください。",
        ],
    )
    def test_advice_in_the_sentence_that_declines_claims_nothing(self, answer: str):
        assert (judged(answer).groundedness or 0.0) >= 0.7

    def test_a_fact_beside_that_advice_counts(self):
        fact = "which sells golden spoons, lamps and live crocodiles."
        answer = f"I could not find this in the documents, please ask the office, {fact}"
        assert (judged(answer).groundedness or 0.0) < 0.7

    def test_advice_after_a_refusal_is_no_yes_and_no_no(self):
        answer = "I can't determine whether skiing is covered. You may want to call the insurer."
        for expected in ("Yes", "No"):
            judgement = judged(answer, expected, question="Is skiing covered without any add-on?")
            assert (judgement.answer_correctness, judgement.abstained) == (0.0, True)

    def test_advice_without_a_refusal_is_a_claim(self):
        judgement = judged("Please contact the crocodiles in the golden castle.")
        assert (judgement.groundedness or 0) < 0.7
