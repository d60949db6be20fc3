"""The many ways in which eight languages write one quantity, date, clock time or interval."""

from __future__ import annotations

from itertools import combinations

import pytest

from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.terms import TermDictionary

TERMS = TermDictionary()

# Each line has forms of one quantity.
FORMS = """
the third day | the 3rd day
500 ms | 0.5 seconds | 500 milliseconds
30s | 30 s | 30 seconds
after 30s | after half a minute
2 GHz | 2000 MHz | 2 gigahertz
1 GiB | 1024 MiB | 1 gibibyte
100 Mbps | 100 Mbit | 100 megabits
230 V | 230 volts | 230V
12 mths | 12 months
twice | two times | 2 times
zweimal | zwei Mal | 2-mal
5 days | five unused days | 5 consecutive days
the first of May | May 1 | 1 May | 1st of May | 1 May 2025
am ersten Mai | am 1. Mai | zum 1.5.
le premier mai | le 1er mai | 1 mai | 01/05
el primero de mayo | el 1 de mayo | 1/5
il primo maggio | 1° maggio | il 1 maggio | 01/05
no primeiro de maio | 1º de maio | 1 de maio
de eerste mei | 1 mei | op 1 mei
первого мая | 1 мая | 01.05
March 31st | 31 March | 31/03 | the thirty-first of March | 2025-03-31
am einunddreißigsten März | 31. März | 31.03. | 31.3.2025
le trente et un mars | 31 mars
il trentuno marzo | 31 marzo
treinta y uno de marzo | 31 de marzo
trinta e um de março | 31 de março
eenendertig maart | 31 maart
тридцать первого марта | 31 марта
noon | 12:00 | 12 pm | midday
midnight | 0:00 | 24:00 | 12 am
mittags | 12 Uhr | zwölf Uhr
Mitternacht | 24 Uhr | 0 Uhr
12 h | à douze heures
à minuit | 24 h
al mediodía | a las 12:00 | a las doce
a medianoche | a las 0:00 | 24:00
a mezzogiorno | alle 12 | alle dodici
a mezzanotte | alle 24
ao meio-dia | às 12h | 12:00
24h | 0h00
om twaalf uur 's middags | 12.00 uur | 12 uur
om middernacht | 24.00 uur
в полдень | в 12:00
в полночь | в 24:00 | 0:00
90 minutes | 1.5 hours | an hour and a half | one and a half hours | 1 hour 30 minutes | 1 h 30 min | 1h30
anderthalb Stunden | eineinhalb Stunden | 90 Minuten | 1,5 Stunden | eine Stunde und dreißig Minuten
une heure et demie | 90 minutes | 1 h 30 | 1 heure 30
una hora y media | 90 minutos | hora y media | 1 h 30 min
un'ora e mezza | 90 minuti
uma hora e meia | 90 minutos | 1h30
anderhalf uur | 90 minuten | een uur en dertig minuten
полтора часа | 90 минут | 1,5 часа
a fortnight | two weeks | 14 days
zwei Wochen | 14 Tage | vierzehn Tage
deux semaines | quinze jours
dos semanas | quince días
due settimane | quindici giorni
half a year | six months | 6 months
ein halbes Jahr | sechs Monate | 6 Monate
six mois | un semestre | une demi-année
medio año | seis meses | un semestre
mezzo anno | sei mesi | un semestre
meio ano | seis meses | um semestre
een half jaar | zes maanden | 6 maanden
полгода | 6 месяцев | шесть месяцев
three quarters of an hour | 45 minutes | 45 min
eine Dreiviertelstunde | 45 Minuten | drei Viertelstunden
trois quarts d'heure | 45 minutes
tres cuartos de hora | 45 minutos
tre quarti d'ora | 45 minuti
três quartos de hora | 45 minutos
drie kwartier | 45 minuten
три четверти часа | 45 минут
1.5 km | 1500 m | 1,500 metres | a kilometre and a half
anderthalb Kilometer | 1500 Meter | 1.500 m | 1,5 km
half a litre | 500 ml | 0.5 l | 50 cl | 0,5 Liter
half an hour | 30 minutes | 30 min
ein halbes Kilo | 500 g | 500 Gramm | 0,5 kg
un demi-kilo | 500 g | 500 grammes
medio kilo | 500 gramos | 500 g
mezzo chilo | 500 grammi | mezzo chilogrammo
meio quilo | 500 gramas | 500 g
een halve kilo | 500 gram | een pond
полкило | 500 г | полкилограмма
50 % | 50 percent | fifty per cent
die Hälfte | 50 % | 50 Prozent
la moitié | 50 % | 50 pour cent
la mitad | 50 % | el 50 por ciento
la metà | 50 % | il 50 per cento
a metade | 50 % | 50 por cento
de helft | 50 % | 50 procent
половина | 50 % | пятьдесят процентов
50 cents | €0.50 | 0.50 euros | 0,50 €
1 euro 20 | 1,20 € | € 1.20 | one euro and twenty cents
two thousand five hundred | 2,500 | 2500 | 2 500
zweitausendfünfhundert | 2500 | 2.500
deux mille cinq cents | 2 500 | 2500
dos mil quinientos | 2.500 | 2500
duemilacinquecento | 2.500 | 2500
dois mil e quinhentos | 2.500 | 2500
tweeduizend vijfhonderd | 2500 | 2.500 | vijfentwintighonderd
две тысячи пятьсот | 2500 | 2 500
a dozen | 12 | twelve
ein Dutzend | 12 | zwölf
une douzaine | 12 | douze
una docena | 12 | doce
una dozzina | 12 | dodici
uma dúzia | 12 | doze
een dozijn | twaalf | 12
дюжина | 12 | двенадцать
two dozen | 24 | twenty-four
zwei Dutzend | 24 | vierundzwanzig
dos docenas | 24 | veinticuatro
duas dúzias | 24 | vinte e quatro
half a million | 500,000
medio millón | 500.000
meio milhão | 500.000 | quinhentos mil
mezzo milione | 500.000
полмиллиона | 500 000 | пятьсот тысяч
eine Milliarde | 1.000.000.000
im dritten Stock | im 3. Stock
au troisième étage | au 3e étage
la séptima planta | la 7.ª planta
al sesto piano | al 6° piano
op de vierde verdieping | op de 4e verdieping
на третьем этаже | на 3 этаже
mezz'ora | 30 minuti
48 hours | two days | 2 days
24 Monate | zwei Jahre | 2 Jahre
24 months | two years
vingt-quatre mois | deux ans
twice a day | two times a day | every twelve hours | 2x daily
alle zwei Tage | jeden zweiten Tag
every three months | once a quarter
fortnightly | every two weeks | every 14 days
3 pm | 15:00 | three in the afternoon | 15 Uhr
neun Uhr morgens | 9 Uhr | 9:00
halb neun | 8:30 | 8.30 Uhr
half negen | 8.30 uur | 08:30
huit heures et demie | 8 h 30 | 8h30
las ocho y media | 8:30
le otto e mezza | 8:30 | 8.30
oito e meia | 8h30 | 8:30
половина девятого | 8:30 | в половине девятого
viertel vor acht | 7:45 | 7.45 Uhr
kwart voor acht | 7.45 uur
huit heures moins le quart | 7 h 45
las ocho menos cuarto | 7:45
le otto meno un quarto | 7:45
um quarto para as oito | 7:45
без четверти восемь | 7:45
quarter to eight | 7:45 | 7.45 am
two thirds | two-thirds
at twenty to one in the afternoon | 12:40
dix-sept heures trente | 17 h 30
de once de la mañana | 11:00
a ocho y media de la tarde | 20:30
oito e meia | 8:30
om half elf | om 10.30 uur
three quarters of the plot | 75% of the plot
ein Viertel der Fläche | 25 %
half of the price | 50 %
na het eerste jaar | na twaalf maanden
the start of October | 1 October
Ende März | 31. März
a finales de enero | 31 de enero
до конца сентября | до 30 сентября
twee theelepels zout een kwartier lang | 15 minuten
dreimal in der Stunde | alle 20 Minuten
-18 °C | −18 °C | –18 °C | -18C | (-18 °C) | minus 18 Grad | minus 18 degrees Celsius
-20 to 60 °C | −20...+60 °C | minus 20 bis 60 Grad
2 to 8 °C | 2-8 °C | 2–8 °C | 2 -8 °C
21 °C | 21 degrees | 21 degrees Celsius | twenty-one degrees
40 km/h | 40 kilometres per hour | forty km per hour
40 km/h | 40 Kilometer pro Stunde
80 m² | 80 square metres | eighty sq m
80 m² | 80 Quadratmeter | 80 qm
dos galones | 2 gallons | due galloni
3月5日 | 三月五日 | 3 月 5 日 | 3月5号 | 2025年3月5日 | 2025-03-05 | March 5
35万 | 35 万 | 三十五万 | 350,000 | 0.35 million
1億2000万円 | 1.2亿 | 120 million | 一億二千万
2.6亿元 | 260,000,000
下午3点半 | 午後3時30分 | 15:30 | 3.30 p.m. | 下午3:30
9点到17点 | 9:00
千二百五十円 | 1,250円 | 1千250円
百円 | 100円 | 一百円
百万円 | 1,000,000円 | 百万円の予定
百四十二名 | 142名
百ドル | 100ドル | $100
-20℃ | −20℃ | －20度 | 気温は-20℃です | 気温は-20度です | マイナス20度 | 零下二十度 | 零下20摄氏度 | -20 °C
20℃ | 20度 | 二十度 | 二十摄氏度 | 20 °C
20度-30度 | 20-30 °C
三天 | 3天 | 72小时 | 3 days
十分钟 | 10分間 | 600秒 | ten minutes
两年 | 2年間 | 24个月 | 24ヶ月 | two years
5キロメートル | 5公里 | 5 km
"""


def pairs() -> list[tuple[str, str]]:
    lines = [[form.strip() for form in line.split("|")] for line in FORMS.strip().splitlines()]
    return [pair for forms in lines for pair in combinations(forms, 2)]


def test_each_form_of_a_quantity_has_the_value_of_the_others() -> None:
    read = {form: read_quantities(TERMS.with_ends(form)) for pair in pairs() for form in pair}
    unequal = [
        (one, other)
        for one, other in pairs()
        if not any(mine.same_value(its) for mine in read[one] for its in read[other])
    ]
    assert unequal == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("half past eight", "halb acht"),
        ("8 in the morning", "8 pm"),
        ("um 8 Uhr abends", "um 8 Uhr morgens"),
        ("sept heures moins le quart", "sept heures et quart"),
        ("las ocho y media", "las nueve y media"),
        ("двадцать минут седьмого", "двадцать минут восьмого"),
        ("twice a day", "twice a week"),
        ("a monthly fee", "after 30 days"),
        ("jeden zweiten Tag", "jeden Tag"),
        ("three times a day", "every twelve hours"),
        ("the first of May", "the second of May"),
        ("am 31. März", "am 30. März"),
        ("noon", "midnight"),
        ("2 500", "25 000"),
        ("12.5 tonnes", "12.5 kg"),
        ("25 m", "25 pieds"),
        ("half a litre", "half an hour"),
        ("половина", "40 %"),
        ("31 rooms", "31 days"),
        ("-18 °C", "18 °C"),
        ("minus 5 Grad", "5 Grad"),
        ("–5 °F", "5 °F"),
        ("from 5 to 8 guests", "7:55"),
        ("three quarters of the plot", "65% of the plot"),
        ("the end of March", "30 March"),
        ("three months", "the end of a quarter of next year"),
        ("tweeduizend vijfhonderd", "vijfentwintigduizend"),
        ("3月5日", "5月3日"),
        ("35万", "35千"),
        ("上午9点", "晚上9点"),
        ("3天", "3周"),
        ("気温は20度です", "気温は-20度です"),
        ("20℃", "气温零下20℃"),
        ("午後3時", "午前3時"),
    ],
)
def test_a_form_of_another_quantity_has_another_value(one: str, other: str) -> None:
    quantities = [read_quantities(TERMS.with_ends(text)) for text in (one, other)]
    assert all(quantities)
    assert not any(mine.same_value(its) for mine in quantities[0] for its in quantities[1])


@pytest.mark.parametrize(
    "text",
    [
        "once a plot is given up",
        "20 libros",
        "les horaires du dimanche",
        "at the end",
        "the 1990s",
        "in her 30s",
        "all the 3s",
        "of 8 's avonds",
        "以下の3点",
        "3分の1",
        "2周年",
        "2024年",
        "十分に",
        "千葉の百貨店",
        "百科",
        "数百円",
        "数十年",
        "千万小心",
    ],
)
def test_words_that_are_quantities_elsewhere_are_none_here(text: str) -> None:
    assert not any(each.dimension for each in read_quantities(TERMS.with_ends(text)))


def test_a_count_of_things_may_have_a_rate() -> None:
    minute, second = (read_quantities(TERMS.of(f"100 requests per {unit}"))[0] for unit in ("minute", "second"))
    assert minute.same_value(second)
    assert minute.contradicts(second)
