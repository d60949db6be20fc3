"""Quantities, dates and clock times in eight languages."""

from __future__ import annotations

import pytest

from pytest_ragcheck.judging.offline.grounding.known_quantities import ComparedQuantities, KnownQuantities
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.terms import TermDictionary

TERMS = TermDictionary()


def compared(answer: str, context: str) -> ComparedQuantities:
    terms = TERMS.of(context)
    return KnownQuantities([(terms, read_quantities(terms))]).compare(TERMS.of(answer))


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("It holds 1,500 ml.", "The bottle holds 1.5 litres."),
        ("Sie wiegt dreieinhalb Kilogramm.", "Die Trommel wiegt 3500 g."),
        ("For 48 hours.", "The dough rests two days."),
        ("Eine Viertelstunde.", "Die Pause dauert 15 Minuten."),
        ("Anderthalb Stunden.", "Die Fahrt dauert 90 Minuten."),
        ("Un'ora e mezza.", "La visita dura novanta minuti."),
        ("Une heure et demie.", "La visite dure 90 minutes."),
        ("Media hora.", "La pausa dura 30 minutos."),
        ("Полтора часа.", "Поездка длится 90 минут."),
        ("Anderhalf uur.", "De reis duurt 90 minuten."),
        ("Zwei Jahre.", "Die Garantie gilt 24 Monate."),
        ("un an", "La garantie dure douze mois."),
        ("a month", "It is paid back within 30 days."),
        ("двадцать два дня", "Отпуск длится 22 дня."),
        ("zweihundertfünfzig Euro", "Es kostet 250 €."),
        ("soixante-dix-sept euros", "Cela coûte 77 €."),
        ("quatre-vingt-dix minutes", "Le film dure 90 minutes."),
        ("treinta y un días", "El plazo es de 31 días."),
        ("trinta e cinco euros", "Custa 35 €."),
        ("ventotto giorni", "Il termine è di 28 giorni."),
        ("achtentwintig dagen", "De termijn is 28 dagen."),
        ("a hundred metres", "It is 100 m long."),
        ("half a million people", "There were 500,000 people."),
        ("eine halbe Million Menschen", "Es waren 500.000 Menschen."),
        ("half a dozen eggs", "Use 6 eggs."),
        ("media docena de huevos", "Bata 6 huevos."),
        ("une demi-douzaine d'oeufs", "Battez 6 oeufs."),
        ("duecentocinquanta grammi", "Servono 250 g."),
        ("millecinquecento euro", "Costa 1.500 euro."),
        ("€1234", "Es kostet 1.234 €."),
        ("1.500 kg", "It weighs 1.5 kg."),
        ("tweeënhalve liter", "Er past 2,5 liter in."),
        ("two thirds of the votes", "It takes 2 out of 3 votes, that is 66.7 percent."),
        ("zwei Drittel der Stimmen", "Es braucht 67 % der Stimmen."),
        ("a fifth of the price", "You save 20 % of the price."),
        ("ein Fünftel des Preises", "Man spart 20 % des Preises."),
        ("un cinquième du prix", "Vous payez 20 % du prix."),
        ("una quinta parte del precio", "Se ahorra el 20 % del precio."),
        ("un quart du prix", "Vous payez 25 % du prix."),
        ("one in five guests", "20 % of the guests came."),
        ("two in five guests", "40 % of the guests came."),
        ("drei von vier Gästen", "75 % der Gäste kamen."),
        ("dos de cada cinco socios", "El 40 % de los socios vino."),
        ("tres cuartas partes del suelo", "El 75 % del suelo es bosque."),
        ("un quarto dei dipendenti", "Il 25 % dei dipendenti va in bici."),
        ("driekwart van de reizigers", "75 % van de reizigers betaalt."),
        ("half the price", "Children pay 50 %."),
        ("0,75 стакана", "Нужно три четверти стакана сахара."),
        ("cent vingt places", "La salle compte 120 places et des concerts."),
        ("am 24. Dezember", "Am 24., 25. und 31. Dezember bleibt es geschlossen."),
        ("on 25 December", "It is closed on 24, 25 and 31 December."),
        ("два часа десять минут", "Спектакль (длительность 2 часа 10 минут, один антракт) идёт вечером."),
        ("três quartos dos votos", "Exige 75% dos votos."),
        ("245.16625 Nm", "Tighten it with 25 kgf·m."),
        ("0.05 mg", "One tablet has 50 µg."),
        ("1.5 Ah", "The battery has 1,500 mAh."),
        ("50 cents", "It costs 0.50 euros."),
        ("4.2 l/h", "It needs 4.2 litres per hour."),
        ("5 km", "The path is 5,000 metres long."),
        ("68 degrees Fahrenheit", "The pool is kept at 20 °C."),
        ("12/05/2025", "It starts on 12 May 2025."),
        ("on 31/03", "The form is due on March 31st."),
        ("jusqu'au 14/7", "La demande est due le 14 juillet."),
        ("am 24.12.2025", "Der Laden schließt am 24. Dezember 2025."),
        ("at 6 pm", "The desk closes at 18:00."),
        ("um 18 Uhr", "The desk closes at 6 p.m."),
        ("om half vijf", "De winkel sluit om 16.30 uur."),
        ("Viertel nach drei", "Der Zug fährt um 15:15 Uhr."),
        ("a las cuatro y media", "La visita empieza a las 16:30."),
        ("30", "Refunds are possible within 30 days."),
        ("two pounds fifty", "It costs £2.50."),
        ("15 minutes", "It takes a quarter of an hour."),
        ("45 Minuten", "Es dauert drei Viertelstunden."),
        ("в 10:30", "Экскурсия начинается в половине одиннадцатого."),
        ("pelo menos 5 kg", "Leva no mínimo 5 kg."),
        ("um acht Uhr", "Das Bad öffnet um 9 Uhr und schließt um 20 Uhr."),
        ("am 03.04.", "Die Prüfung ist am 3. April."),
        ("vom 2.3. bis 4.3.", "Die Messe ist vom 2. März bis zum 4. März."),
        ("à 19:05", "Le car part à 19 h 05."),
        ("à sept heures cinq du soir", "Le car part à 19 h 05."),
        ("в 7 часов 45 минут", "Автобус идёт в 7:45."),
        ("alle 19.50", "La messa comincia alle 19:50."),
        ("120 Minuten", "Es dauert acht Viertelstunden."),
        ("30 min", "Die Führung dauert zwei Viertelstunden."),
        ("15 min", "Eine Viertelstunde ist Pause."),
        ("a year and a half", "It is guaranteed for 18 months."),
        ("25 m", "The lane is 25 metres long."),
        ("in 3-5 working days", "It takes 3 to 5 working days."),
        ("three to five business days", "It takes 3–5 working days."),
        ("cinq jours ouvrables", "5 jours ouvrés."),
        ("three o'clock in the afternoon (15:00)", "Check-in is from 3 pm."),
        ("minus 20 und plus 60 Grad Celsius", "-20 bis +60 °C"),
        ("ten miles", "It is 16 km away."),
        ("350 °F", "Preheat the oven to 180 °C."),
        ("10 kilos", "It may weigh up to 22 lb."),
        ("пяти рабочих дней", "5 рабочих дней."),
        ("fünf Werktagen", "5 Arbeitstage."),
        ("3-10 km", "The trails are 3 to 10 km long."),
        ("um 9 Uhr und um 17 Uhr", "Geöffnet ist 9-17 Uhr."),
        ("halb zehn", "Geöffnet ist von 9.30 bis 16.45 Uhr."),
        ("at 9:30 pm", "The job ran at 2025-07-15T21:30:00Z."),
        ("twice a day", "Take it 2x/day."),
        ("1 min 30 s long", "The video lasts 90 seconds."),
        ("50 %", "Children pay half price."),
        ("5 €/Monat", "Es kostet 5 Euro im Monat."),
        ("from 9 am to 6 pm", "Mon-Fri 9-18"),
        ("9:00–17:00", "Open 9-5 on weekdays."),
        ("4,90 Euro", "Karton: 4,90 €, 20 Stück"),
        ("€1.2 million", "The price is EUR 1.2 million."),
        ("20 francs", "CHF 20-CHF 30"),
        ("GBP 3", "It costs 3 pounds."),
        ("3 days", "It costs 4.90 EUR, 3 days."),
    ],
)
def test_a_known_quantity_is_recognised_in_another_form(answer: str, context: str) -> None:
    assert compared(answer, context).unknown == []


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("vier Mal in der Woche", "Der Bus fährt zwei Mal in der Woche."),
        ("within 5 days", "Refunds take 5 business days."),
        ("61 months", "It is guaranteed for 5 years."),
        ("100 °F", "Normal is 37 °C."),
        ("12 kilos", "It may weigh up to 22 lb."),
        ("5 días hábiles", "Se paga en 5 días."),
        ("for three hours", "It rests for three days."),
        ("drei Monate", "Die Frist beträgt drei Wochen."),
        ("12.5 tonnes", "It weighs 12.5 kg."),
        ("4 litres per minute", "It needs 4 litres per hour."),
        ("20 euros por semana", "Cuesta 20 euros al mes."),
        ("at least five days", "It takes at most five days."),
        ("hasta 40 euros", "Es gratis a partir de 40 euros."),
        ("не менее 5 дней", "Это займёт не более 5 дней."),
        ("on 4 June", "It starts on 4 May."),
        ("il 3 marzo", "Scade il 3 maggio."),
        ("at 6 am", "The desk closes at 6 pm."),
        ("um 17 Uhr", "Der Laden schließt um 18 Uhr."),
        ("quarter past three", "It starts at quarter past four."),
        ("five books", "Each reader may take six books."),
        ("10 dollars", "It costs 10 euros."),
        ("EUR 10", "It costs USD 10."),
        ("1,50 Euro", "Es kostet 1.500 Euro."),
        ("$2.50", "It costs $2,500."),
        ("$45/week", "Meals are paid up to $45/day."),
        ("at 7 pm", "Mon-Fri 9-18"),
        ("um 22 Uhr", "Das Bad öffnet von 10 bis 16 Uhr."),
        ("21:30", "Ouvert de 9:30 à 18 h, et de 9 à 16:30."),
        ("um 21 Uhr", "Das Bad öffnet um 9 Uhr und schließt um 20 Uhr."),
        ("al menos 5 kg", "Lleva como máximo 5 kg."),
        ("inferiori a 300 euro", "Vale per importi superiori a 300 euro."),
        ("abaixo de 30 graus", "Lave acima de 30 graus."),
        ("lower than 20 degrees", "Keep it higher than 20 degrees."),
        ("dos galones", "Lleve un galón de agua."),
        ("3 hours", "It takes a quarter of an hour."),
        ("two thirds of the staff", "A third of the staff speaks English."),
        ("zwei Drittel der Leute", "Ein Drittel der Leute spricht Englisch."),
        ("zwei Dutzend Eier", "Man braucht ein Dutzend Eier."),
    ],
)
def test_another_unit_rate_bound_date_or_time_is_another_quantity(answer: str, context: str) -> None:
    assert compared(answer, context).unknown != []


YEN = ("1250円", "1250 yen", "1250日元の予定", "1250 иен")
YEN_OR_YUAN = ("¥1,250", "￥1,250", "JPY 1,250", "1250 JPY", "1,250 ¥")
YUAN = ("1250元", "CNY 1,250", "RMB 1,250", "1250 yuan", "1250 юаней")
MONEY = (
    (*YEN, *YEN_OR_YUAN),
    (*YUAN, *YEN_OR_YUAN),
    ("$1,250", "＄1,250", "USD 1,250", "1250 dólares", "1250 долларов", "1250ドル", "1250美元"),
    ("€1,250", "1250 EUR", "1.250 Euro", "1250 евро", "1250ユーロ", "1250欧元"),
    ("£1,250", "￡1,250", "1250 GBP", "1250 фунтов", "1250ポンド"),
    ("₹1,250", "INR 1,250", "1250 rupees", "1250 Rupien", "1250 рупий"),
    ("1250 ₽", "₽1,250", "RUB 1,250", "1250 RUB", "1250 рублей", "1250 р.", "1250 rubles"),
    ("₩1,250", "1250ウォン"),
    ("CHF 1'250", "1250 francs", "1250 франков", "1250フラン"),
    ("R$ 1.250", "1250 reais", "1250 BRL"),
)


@pytest.mark.parametrize("alike", MONEY)
def test_a_currency_is_one_in_all_spellings_and_no_other_one(alike: tuple[str, ...]) -> None:
    others = [text for group in MONEY if set(group).isdisjoint(alike) for text in group]
    for context in alike:
        assert all(compared(text, context).unknown == [] for text in alike)
        if context not in YEN_OR_YUAN:
            assert all(compared(text, context).unknown for text in others)
    assert compared(YEN[0], YUAN[0]).unknown


def test_a_code_that_is_a_word_is_no_currency() -> None:
    assert compared("Rub 200 g of salt in.", "Rub in 200 g of salt.").unknown == []


def test_a_known_quantity_is_written_as_the_context_has_it() -> None:
    known = compared("The code works for 72 hours.", "It is valid for three days.")
    assert known.terms == TERMS.of("The code works for three days.")
    assert known.n_known == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It lasts due to rain.", []),
        ("The elf sold once.", []),
        ("dura due giorni", [2 * 86400]),
        ("once días", [11 * 86400]),
        ("um livro dos alunos", []),
    ],
)
def test_a_number_word_of_one_language_is_a_word_of_another(text: str, value: list[float]) -> None:
    assert [each.value for each in read_quantities(TERMS.of(text))] == value


@pytest.mark.parametrize(
    ("answer", "context", "names"),
    [
        ("It takes 40 days.", "It takes 30 days.", ("40", "30")),
        ("It takes 30 weeks.", "It takes 30 days.", ("30 weeks", "30 days")),
        ("It weighs 3 kg.", "It is red.", ("3 kg", None)),
        ("It takes 9 business days.", "It takes 3 hours.", ("9 workdays", "3 hours")),
        ("It takes 9 days.", "It takes 2 weeks or 3 to 5 days.", ("9", "5")),
        ("It takes 9 seconds.", "It takes 2 minutes.", ("9 seconds", "2 minutes")),
    ],
)
def test_an_unknown_quantity_is_named_beside_the_known_one(
    answer: str, context: str, names: tuple[str, str | None]
) -> None:
    assert compared(answer, context).unknown[0].names(answer) == names


def test_many_working_days_are_read_one_by_one() -> None:
    found = read_quantities(TERMS.of("5 working days, ") * 40_000)
    assert len(found) == 40_000
    assert {(each.value, each.dimension, each.end - each.start) for each in found} == {(5, "workdays", 2)}


def test_not_every_number_of_a_long_answer_is_compared_with_all_of_a_long_context() -> None:
    found = compared(_euros(1, 1_000), _euros(2_000_000, 2_003_000))
    # 2,000 of the quantities are kept, with 400,000 comparisons.
    assert len(found.unknown) == 200
    assert [each for each in found.terms if each.isdigit()] == [str(number) for number in range(1, 1_000)]


def _euros(start: int, end: int) -> str:
    return " ".join(f"{number} euros" for number in range(start, end))
