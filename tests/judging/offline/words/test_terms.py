"""One term for the forms of a word and for the spellings of a number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.judging.offline.words.stems import stem
from pytest_ragcheck.judging.offline.words.terms import END, TermDictionary, is_number


def terms(text: str) -> list[str]:
    return TermDictionary().of(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("thirty", "30"),
        ("twenty-five", "25"),
        ("two hundred and fifty", "250"),
        ("2.5 million", "2,500,000"),
        ("2½ cups", "2.5 cups"),
        ("1 3/4 hours", "1.75 hours"),
        ("a hundred and fifty-two", "152"),
        ("a hundred thousand", "100,000"),
        ("one and a half million", "1,500,000"),
        ("two and a half thousand", "2500"),
        ("two million and a half", "2.5 million"),
        ("a dozen and a half", "18"),
        ("un millón y medio", "1500000"),
        ("mille deux cent cinquante", "1250"),
        ("mille cent", "1100"),
        ("deux cent un", "201"),
        ("the twenty second of May", "the 22 of May"),
        ("May twenty second", "May 22"),
        ("a thirty second timeout", "a 30 second timeout"),
        ("quatre-vingt-dix-sept", "97"),
        ("mil novecientos noventa y dos", "1992"),
        ("1,000", "1000"),
        ("1.249,90", "1,249.90"),
        ("1\u00a0000", "1000"),
        ("2,5", "2.50"),
        ("007", "7"),
        ("$5bn", "5 billion dollars"),
        ("$5B", "5 billion dollars"),
        ("€575m", "575 million euros"),
        ("€ 2.5 million", "2.5 million euros"),
        ("85M euros", "85 million euros"),
        ("7B parameters", "7 billion parameters"),
        ("1,2 Mio. Euro", "1.200.000 Euro"),
        ("3 Mrd. Euro", "3 Milliarden Euro"),
        ("5 млн рублей", "5 миллионов рублей"),
        ("20 тыс. рублей", "20 тысяч рублей"),
        ("30 %", "30 percent"),
        ("30 per cent", "30 per cent"),
        ("treinta por ciento", "30 %"),
        ("30 per cento", "30 %"),
        ("trinta e um por cento", "31 %"),
        ("vingt et un pour cent", "21 %"),
        ("30d", "30 days"),
        ("5GB", "5 gb"),
        ("3rd", "3"),
        ("the 1st and 2nd level", "the first and second level"),
        ("the 1st of May", "the 1 of May"),
        ("2024-05-01", "May 1, 2024"),
        ("三十天", "30天"),
        ("三十天", "30 days"),
        ("二零二四年", "2024年"),
        ("一百二十万", "1200000"),
        ("тридцати дней", "30 дней"),
        ("dreißig", "30"),
        ("٣٠", "30"),
        ("๑๒๓", "123"),
    ],
)
def test_one_quantity_has_one_spelling_however_it_is_written(one: str, other: str):
    assert terms(one) == terms(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two, three", ["2", "3"]),
        ("twenty thirty", ["20", "30"]),
        ("a hundred and two hundred", ["100", "and", "200"]),
        ("two thousand and three thousand", ["2000", "and", "3000"]),
        ("a thousand and fifteen hundred", ["1000", "and", "1500"]),
        ("a hundred thousand and two hundred thousand", ["100000", "and", "200000"]),
        ("deux cents et trois cents", ["200", "et", "300"]),
        ("mil e dois mil", ["1000", "e", "2000"]),
        ("fifty due", ["50", "due"]),
        ("version 1.2.3", ["versio", "1.2.3"]),
        ("por ciento veinte euros", ["por", "120", "euro"]),
        ("per cento euro", ["per", "100", "euro"]),
        ("10-15", ["10", "15"]),
        ("1.2.3 million", ["1.2.3", "millio"]),
        ("约5万2024年", ["about", "50000", "2024", "年"]),
        ("glasses and boxes", ["glass", "and", "box"]),
        ("1.000.000,5", ["1000000.5"]),
        ("three hundred thousand", ["300000"]),
        ("2 million 500 thousand", ["2000000", "500000"]),  # digits are never added to what was said before
        ("$5 10", ["5", "dollar", "10"]),
        ("$5, 3 m", ["5", "dollar", "3", "m"]),
        ("$ million $", ["dollar", "millio", "dollar"]),
        ("4,90 €, 3 Tage", ["4.9", "euro", "3", "tag"]),
        ("| 4,90 € | 3 |", ["4.9", "euro", "3"]),
        ("id,price\nbasic,219,301\n4,21.90,5,pro", ["id", "pric", "basic", "219", "301", "4", "21.9", "5", "pro"]),
        ('basic,"1,250",301\n1,250', ["basic", "1250", "301", "1250"]),
        ("in Rome,1,250 lamps, 3 tables", ["in", "rom", "1250", "lamp", "3", "tabl"]),
        ("It is 5$. 20 items fit.", ["it", "is", "5", "dollar", "20", "item", "fit"]),
        ("2023: £5", ["2023", "5", "pound"]),
        ("3:2", ["3", "2"]),
        ("½ cup, 1/2/2024", ["1", "2", "cup", "1", "2", "2024"]),
        ("10.0.12.7:8443 at 16:15", ["10.0.12.7", "8443", "at", "16:15"]),
    ],
)
def test_numbers_beside_each_other_stay_apart_unless_they_make_one(text: str, expected: list[str]):
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("refunds", "refund"),
        ("policies", "policy"),
        ("running", "run"),
        ("recommendation", "recommends"),
        ("the hotel's", "the hotel"),
        ("L'année", "année"),
        ("ÉCOLE", "ecole"),
        ("STRASSE", "Straße"),
        ("Gdańsk", "gdansk"),
        ("ﬁne", "fine"),  # a ligature
        ("ｆｕｌｌ", "full"),  # full width
        ("возврата", "возврат"),
        ("Jan 5", "January 5"),
        ("l'après-midi", "après midi"),
        ("it falls short", "it fall short"),
    ],
)
def test_forms_of_one_word_have_one_term(one: str, other: str):
    assert terms(one) == terms(other)


def test_a_number_that_is_too_long_for_arithmetic_stays_as_it_is_written():
    assert terms("1" * 50) == ["1" * 50]


def test_only_numbers_are_numbers():
    assert [is_number(term) for term in terms("thirty 5 % apples 天 $")] == [True, True, False, False, False, False]


def test_the_dot_of_a_scale_ends_no_sentence():
    assert TermDictionary().with_ends("Es sind 2 Mio. Euro. Gut.") == ["es", "sind", "2000000", "euro", END, "gut"]


def test_ends_of_sentences_can_be_asked_for():
    assert TermDictionary().with_ends("It is 2.5. So\nit is.  三十天。退款") == (
        ["it", "is", "2.5", END, "so", END, "it", "is", END, "30", "day", END, "退款"]
    )
    assert END not in TermDictionary().with_ends("Open from 9 a.m. to 4 p.m. on weekdays")


def test_terms_are_the_same_after_more_words_than_are_kept():
    before = terms("unsupported twenty-five"), TermDictionary().with_ends("It is forbidden.")
    terms(" ".join(f"{number:x}".translate(str.maketrans("0123456789", "ghijklmnop")) for number in range(100_001)))
    assert before == (terms("unsupported twenty-five"), TermDictionary().with_ends("It is forbidden."))


@given(st.text())
def test_terms_are_never_empty_and_always_the_same(text: str):
    found = terms(text)
    assert all(found)
    assert found == terms(text)


@given(st.text(alphabet="abcdeginrsyzлоайы", min_size=1))
def test_a_stem_is_never_empty(word: str):
    assert stem(word)
