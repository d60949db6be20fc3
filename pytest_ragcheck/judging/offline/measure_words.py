"""Number words, units, months, weekdays, bounds and rates in eight languages, in the spelling of `normalised`."""

from __future__ import annotations


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ENGLISH = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
# By language the words for consecutive numbers, without those of `LANGUAGE_OF`; "-" stands for a gap.
_COUNTED: tuple[tuple[int, str], ...] = (
    (2, ("zwei drei vier funf sechs sieben acht neun zehn - zwolf dreizehn vierzehn funfzehn sechzehn siebzehn "
        "achtzehn neunzehn")),
    (2, ("twee drie vier vijf zes zeven acht negen tien - twaalf dertien veertien vijftien zestien zeventien "
        "achttien negentien")),
    (2, "deux trois quatre cinq six - huit neuf dix - douze treize quatorze quinze seize"),
    (3, ("tres cuatro cinco seis siete ocho nueve diez - doce trece catorce quince dieciseis diecisiete dieciocho "
        "diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho "
        "veintinueve")),
    (3, ("tre quattro cinque - sette - nove dieci undici dodici tredici quattordici quindici sedici diciassette "
        "diciotto diciannove")),
    (2, "dois - quatro - - sete oito nove dez - doze treze catorze - dezesseis dezessete dezoito dezenove"),
    (2, "duas - - - - - - - - - - - quatorze - dezasseis dezassete - dezanove"),
    (2, ("два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать "
        "пятнадцать шестнадцать семнадцать восемнадцать девятнадцать")),
    (2, ("двух трех четырех пяти шести семи восьми девяти десяти одиннадцати двенадцати тринадцати четырнадцати "
        "пятнадцати шестнадцати семнадцати восемнадцати девятнадцати")),
    (2, "две - - - - - - - - - - - - - - - - -"),
    (2, "двумя тремя четырьмя пятью шестью семью восемью девятью десятью"),
    (
        3,
        "третьего четвертого пятого шестого седьмого восьмого девятого десятого одиннадцатого двенадцатого",
    ),
    (2, "двум трем четырем"),
    (1, "один"),
    (1, "одна"),
    (1, "одну"),
    (1, "одного"),
    (1, "однои"),
)  # fmt: skip
_COUNTED_TENS: tuple[tuple[int, str], ...] = (
    (20, "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig"),
    (20, "twintig dertig veertig vijftig zestig zeventig tachtig negentig"),
    (20, "vingt trente quarante cinquante soixante"),
    (20, "vingts - - - - septante - nonante"),
    (20, "- treinta cuarenta cincuenta sesenta setenta ochenta noventa"),
    (20, "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"),
    (20, "vinte trinta quarenta cinquenta sessenta - oitenta"),
    (20, "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто"),
    (20, "двадцати тридцати сорока пятидесяти шестидесяти семидесяти восьмидесяти девяноста"),
)
_COUNTED_HUNDREDS: tuple[tuple[int, str], ...] = (
    (100, "cien doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"),
    (100, "ciento doscientas trescientas cuatrocientas quinientas seiscientas setecientas ochocientas novecientas"),
    (100, "cem duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos"),
    (200, "duzentas trezentas quatrocentas quinhentas"),
    (100, "сто двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот"),
    (100, "ста двухсот трехсот четырехсот пятисот шестисот семисот восьмисот девятисот"),
)


def _counted(rows: tuple[tuple[int, str], ...], step: int) -> dict[str, int]:
    """The value of each word of *rows*, whose values rise by *step*."""
    return {
        word: first + step * place for first, listed in rows for place, word in enumerate(listed.split()) if word != "-"
    }


def _joined_words() -> dict[str, int]:
    """The numbers that German, Dutch and Italian write as one word: zweiundzwanzig, driehonderd, ventidue."""
    german = ("ein", *_COUNTED[0][1].split()[:8])
    dutch = ("een", *_COUNTED[1][1].split()[:8])
    italian = ("uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove")
    found: dict[str, int] = {}
    for place in range(8):
        ten = 20 + 10 * place
        by_tens = [_COUNTED_TENS[row][1].split()[place] for row in (0, 1, 5)]
        for value in range(1, 10):
            found[f"{german[value - 1]}und{by_tens[0]}"] = ten + value
            found[f"{german[value - 1]}und{by_tens[0]}sten"] = ten + value
            found[f"{dutch[value - 1]}en{by_tens[1]}"] = ten + value
            vowel = italian[value - 1][0] in "uo"
            found[(by_tens[2][:-1] if vowel else by_tens[2]) + italian[value - 1]] = ten + value
    for names, hundred, thousand in (
        (german, "hundert", "tausend"), (dutch, "honderd", "duizend"), (italian, "cento", "mila"),
    ):  # fmt: skip
        for value, name in enumerate(names, start=1):
            found[name + hundred] = 100 * value
            found[name + thousand] = 1000 * value
    return found


NUMBER_WORDS: dict[str, float] = {
    **_joined_words(),
    **{word: value for value, word in enumerate(_ENGLISH)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    **{word: value for value, word in enumerate(_ORDINALS, start=3)},
    **_counted(_COUNTED, 1),
    **_counted(_COUNTED_TENS, 10),
    **_counted(_COUNTED_HUNDREDS, 100),
    **dict.fromkeys(("dozen", "dutzend", "dozijn", "douzaine", "docena", "dozzina", "duzia", "дюжина", "дюжины"), 12),
    **dict.fromkeys(("hundert", "honderd", "cento"), 100),
    **dict.fromkeys(("tausend", "duizend", "mille", "mil", "тысяча"), 1000),
    **dict.fromkeys(("anderthalb", "anderthalbe", "eineinhalb", "anderhalf", "anderhalve", "полтора", "полторы"), 1.5),
    **{f"{word}einhalb": value + 0.5 for value, word in enumerate(("zwei", "drei", "vier", "funf"), start=2)},
}
"""The value of each number word, in the spelling of `normalised`."""

SCALES: dict[str, int] = {
    "hundred": 100,
    **dict.fromkeys(
        ("thousand", "k", "tausend", "duizend", "mille", "mila", "mil", "тысяч", "тысячи", "тысяча"), 10**3
    ),
    **dict.fromkeys(
        (
            "million",
            "millions",
            "mn",
            "millionen",
            "millones",
            "milioni",
            "milhoes",
            "miljoen",
            "миллион",
            "миллиона",
            "миллионов",
        ),
        10**6,
    ),
    **dict.fromkeys(
        ("billion", "billions", "bn", "milliarden", "milliards", "miliardi", "miljard", "миллиардов"), 10**9
    ),
    **dict.fromkeys(("trillion", "trillions", "tn"), 10**12),
}
"""Words that multiply the number before them."""

LANGUAGE_OF: dict[str, tuple[int, frozenset[str]]] = {
    word: (value, frozenset(cues.split()))
    for words, cues in (
        ({"due": 2, "sei": 6, "otto": 8}, ("il lo gli di della dei del nel nella che sono ogni entro dopo prima si "
                                          "con le alle dura vale ha mezza meno al alla dal dalla da per fino massimo "
                                          "almeno un una")),
        ({"elf": 11}, "der die das den dem und ist sind nach um het een van op om de uhr uur half halb"),
        ({"sept": 7}, "le la les un une des du et est dans sur pour par au aux il elle que pendant apres avant"),
        ({"dos": 2, "once": 11}, "el los las un una y en es se por del al lo con para hay de la manana tarde noche"),
        ({"onze": 11}, "le la les un une des du et est dans sur pour par au aux um uma os ao na no"),
    )
    for word, value in words.items()
}  # fmt: skip
"""Number words that mean something else in another language: their value, and the words that tell the language."""

_HOUR, _DAY, _MONTH = 3600.0, 86400.0, 2629800.0

_UNITS: tuple[tuple[str, float, str], ...] = (
    ("time", 1, ("second seconds sec secs sekunde sekunden seconde secondes seconden segundo segundos secondo "
                "secondi секунда секунды секунд секунду")),
    ("time", 60, "minute minutes min mins minuten minuto minutos minuti minuut minuten минута минуты минут минуту мин"),
    ("time", _HOUR / 4, "viertelstunde viertelstunden kwartier"),
    ("time", 2700, "dreiviertelstunde dreiviertelstunden"),
    ("time", _HOUR, ("hour hours hr hrs h stunde stunden std heure heures hora horas ora ore uur uren час часа часов "
                    "часу часам ч")),
    ("clock", 60, "uhr oclock o'clock"),
    ("time", _DAY, ("day days d tag tage tagen werktag werktage werktagen arbeitstage werkdagen "
                   "jour jours journee dia dias giorno giorni dag dagen день дня днеи дни "
                   "сутки суток")),
    ("time", 7 * _DAY, ("week weeks woche wochen semaine semaines semana semanas settimana settimane weken неделя "
                       "недели недель неделю неделе")),
    ("time", 14 * _DAY, "fortnight fortnights"),
    ("months", 1, "month months monat monate monaten mois mes meses mese mesi maand maanden месяц месяца месяцев"),
    ("months", 3, ("quarter quarters quartal quartale trimestre trimestres trimestri kwartaal kwartalen квартал "
                  "квартала кварталов")),
    ("months", 6, "semester semesters semestre semestres semestri halbjahr halbjahre halfjaar полугодие полугодия"),
    ("months", 12, ("year years yr yrs jahr jahre jahren an ans annee annees ano anos anno anni jaar jaren год года "
                   "лет году")),
    ("months", 120, ("decade decades jahrzehnt jahrzehnte decennie decennies decada decadas decennio decenni "
                    "decennium десятилетие десятилетия")),
    ("mass", 0.001, ("mg milligram milligrams milligramm milligramme milligrammes miligramo miligramos milligrammo "
                    "milligrammi мг миллиграмм")),
    ("mass", 1, "g gram grams gramm gramme grammes gramo gramos grammo grammi grama gramas gr грамм грамма граммов г"),
    ("mass", 500, "pond ponden"),
    ("mass", 1000, ("kg kilogram kilograms kilogramme kilogrammes kilogramm kilo kilos kilogramo kilogramos chilo "
                   "chili chilogrammo chilogrammi quilo quilos quilograma quilogramas "
                   "кг килограмм килограмма килограммов")),
    ("mass", 10**6, "ton tons tonne tonnes tonnen tonelada toneladas tonnellata tonnellate ton тонна тонны тонн т"),
    ("mass", 28.3495, "ounce ounces oz unze unzen"),
    ("pound", 1, "pound pounds lb lbs £ gbp pfund sterling libra libras sterlina sterline фунт фунта фунтов"),
    ("length", 0.001, ("mm millimeter millimeters millimetre millimetres milimetro milimetros millimetro millimetri "
                      "миллиметр миллиметра миллиметров мм")),
    ("length", 0.01, ("cm centimeter centimeters centimetre centimetres zentimeter centimetro centimetros centimetri "
                     "сантиметр сантиметра сантиметров см")),
    ("length", 1, "m meter meters metre metres metern metro metros metri метр метра метров м"),
    ("length", 1000, ("km kilometer kilometers kilometre kilometres kilometern kilometro kilometros chilometro "
                     "chilometri quilometro quilometros километр километра километров км")),
    ("length", 0.0254, ("inch inches zoll pouce pouces pulgada pulgadas pollice pollici polegada polegadas дюим "
                       "дюима дюимов")),
    ("length", 0.3048, "foot feet ft fuss pied pieds pie pies piede piedi pe pes voet фут фута футов"),
    ("length", 0.9144, "yard yards yd yarda yardas iarda iarde jarda jardas ярд ярда ярдов"),
    ("length", 1609.344, ("mile miles mi meile meilen milla millas miglia miglio milha milhas mijl mijlen миля мили "
                         "миль")),
    ("volume", 0.001, ("ml milliliter milliliters millilitre millilitres mililitro mililitros millilitro millilitri мл "
                      "миллилитр миллилитра миллилитров")),
    ("volume", 0.01, "cl centiliter centiliters centilitre centilitres zentiliter centilitro centilitros centilitri"),
    ("volume", 0.1, "dl deciliter deciliters decilitre decilitres deziliter decilitro decilitros decilitri"),
    ("volume", 1, "l liter liters litre litres litern litro litros litri литр литра литров л"),
    ("volume", 0.568, "pint pints pinte pintes pinta pintas пинта пинты"),
    ("volume", 100, "hl hectoliter hectolitre hektoliter hectolitro hectolitros ettolitro ettolitri"),
    ("spoon", 1, ("tablespoon tablespoons tbsp essloffel cucharada cucharadas cucchiaio cucchiai eetlepel eetlepels"
                 " ложка ложки ложек")),
    ("teaspoon", 1, "teaspoon teaspoons tsp teeloffel cucharadita cucharaditas cucchiaino cucchiaini theelepel"),
    ("volume", 3.78541, "gallon gallons gallone gallonen"),
    ("area", 1, "qm quadratmeter sqm vierkante"),
    ("area", 4046.86, "acre acres akr"),
    ("area", 10**6, "km2 qkm"),
    ("area", 10**4, "hectare hectares ha hektar hectarea hectareas ettaro ettari гектар гектара гектаров"),
    ("times", 1, "x times fois mal veces vez volte volta vezes раза раз keer"),
    ("percent", 1, "percent percentage % prozent pourcent procent процент процента процентов"),
    ("degree", 1, ("degree degrees grad degre degres grado grados gradi grau graus graad graden градус градуса "
                  "градусов celsius c")),
    ("fahrenheit", 1, "fahrenheit f"),
    ("data", 1, "byte bytes octet octets баит"),
    ("data", 10**3, "kb kilobyte kilobytes кб"),
    ("data", 10**6, "mb megabyte megabytes мб mo"),
    ("data", 10**9, "gb gigabyte gigabytes гб go"),
    ("data", 10**12, "tb terabyte terabytes тб"),
    ("watt", 1, "watt watts w ватт"),
    ("watt", 1000, "kw kilowatt kilowatts киловатт квт"),
    ("volt", 1, "volt volts v вольт"),
    ("energy", 1, "kwh kilowattstunden"),
    ("calorie", 1, "kcal kilocalories kalorien calories calorias calorie калории"),
    ("money", 0.01, ("cent cents centime centimes centimo centimos centesimo centesimi centavo centavos pence цент "
                    "цента центов")),
    ("euro", 1, "euro euros € eur евро"),
    ("dollar", 1, "dollar dollars $ usd dolar dolares dollari доллар доллара долларов"),
    ("rouble", 1, "rouble roubles ruble rubles rubel rublos рубль рубля рублеи руб"),
    ("franc", 1, "franc francs franken chf franchi francos"),
    ("yen", 1, "yen jpy иена иен"),
)  # fmt: skip

UNITS_BY_WORD: dict[str, tuple[str, float]] = {
    word: (dimension, factor) for dimension, factor, listed in _UNITS for word in listed.split()
}
"""The dimension of each unit and how many of its base units it is: seconds, months, grams, metres, litres."""

UNIT_WORDS = frozenset(UNITS_BY_WORD)

MONEY = frozenset(("euro", "dollar", "rouble", "franc", "pound", "yen"))
"""Dimensions of which `money` has the hundredth parts."""

_MONTHS = (
    "january jan januar janvier enero gennaio janeiro januari январь января январе",
    "february feb februar fevrier febrero febbraio fevereiro februari февраль февраля феврале",
    "march marz mars marzo marco maart март марта марте",
    "april apr avril abril aprile апрель апреля апреле",
    "may mai mayo maggio maio mei маи мая мае",
    "june jun juni juin junio giugno junho июнь июня июне",
    "july jul juli juillet julio luglio julho июль июля июле",
    "august aug aout agosto augustus август августа августе",
    "september sep sept septembre septiembre settembre setembro сентябрь сентября сентябре",
    "october oct oktober octobre octubre ottobre outubro октябрь октября октябре",
    "november nov novembre noviembre novembro ноябрь ноября ноябре",
    "december dec dezember decembre diciembre dicembre dezembro декабрь декабря декабре",
)
_WEEKDAYS = (
    "monday mondays montag montags lundi lundis lunes lunedi maandag maandags понедельник понедельника понедельникам",
    "tuesday tuesdays dienstag dienstags mardi mardis martes martedi dinsdag terca tercas вторник вторника вторникам",
    "wednesday wednesdays mittwoch mittwochs mercredi mercredis miercoles mercoledi woensdag среда среды среду средам",
    "thursday thursdays donnerstag donnerstags jeudi jeudis jueves giovedi donderdag четверг четверга четвергам",
    "friday fridays freitag freitags vendredi vendredis viernes venerdi vrijdag пятница пятницу пятницы пятницам",
    (
        "saturday saturdays samstag samstags sonnabend samedi samedis sabado sabados sabato zaterdag "
        "суббота субботу субботы субботам"
    ),
    (
        "sunday sundays sonntag sonntags dimanche dimanches domingo domingos domenica zondag "
        "воскресенье воскресенья воскресеньям"
    ),
)

MONTHS_BY_WORD = {word: number for number, listed in enumerate(_MONTHS, start=1) for word in listed.split()}
WEEKDAYS_BY_WORD = {word: number for number, listed in enumerate(_WEEKDAYS, start=1) for word in listed.split()}

FIXED_BY_WORD = {
    word: (dimension, value)
    for dimension, value, words in (
        ("clock", 720, "noon midday mittags mediodia mezzogiorno полдень полудня"),
        ("clock", 0, "midnight mitternacht minuit medianoche mezzanotte middernacht полночь полуночи"),
        ("time", _HOUR / 2, "полчаса получаса"),
        ("months", 6, "полгода полугода"),
        ("mass", 500, "полкило полкилограмма"),
        ("volume", 0.5, "поллитра"),
        ("percent", 50, "halfte moitie mitad meta metade helft половина половину"),
    )
    for word in words.split()
}
"""Words that state a quantity, or a time of the day, by themselves."""

DAYS_BY_WORD = {
    word: day
    for first, words in (
        (1, ("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth")),
        (1, ("ersten zweiten dritten vierten funften sechsten siebten achten neunten zehnten elften zwolften "
            "dreizehnten vierzehnten funfzehnten sechzehnten siebzehnten achtzehnten neunzehnten zwanzigsten")),
        (1, "premier"),
        (1, "primero"),
        (1, "primo"),
        (1, "primeiro"),
        (1, "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde"),
        (1, "первого второго"),
        (13, ("тринадцатого четырнадцатого пятнадцатого шестнадцатого семнадцатого восемнадцатого девятнадцатого "
             "двадцатого")),
        (30, "тридцатого"),
    )
    for day, word in enumerate(words.split(), start=first)
}  # fmt: skip
"""Ordinal numbers that are a day before a month."""

TIMES_BY_WORD = {
    word: str(count)
    for count, listed in enumerate(
        (
            "once einmal eenmaal однажды",
            "twice zweimal tweemaal дважды",
            "thrice dreimal driemaal трижды",
            "viermal viermaal четырежды",
            "funfmal vijfmaal",
            "sechsmal zesmaal",
        ),
        start=1,
    )
    for word in listed.split()
}
"""Words that count occasions: twice a day, zweimal am Tag."""

PERIODS_BY_WORD = {
    word: period
    for period, listed in (
        ("day", ("daily taglich quotidien quotidienne diario diaria quotidiano giornaliero giornaliera dagelijks "
                "ежедневно")),
        ("week", "weekly wochentlich hebdomadaire semanal settimanale wekelijks еженедельно"),
        ("month", "monthly monatlich monatliche mensuel mensuelle mensual mensile mensal maandelijks ежемесячно"),
        ("year", "yearly annual annually jahrlich annuel annuelle anual annuale jaarlijks ежегодно"),
        ("quarter", "trimestriel trimestrielle trimestral trimestrale ежеквартально"),
        ("fortnight", "fortnightly biweekly vierzehntaglich bimensuel quincenal quinzenal tweewekelijks"),
        ("semester", "halbjahrlich semestriel semestrielle semestral semestrale halfjaarlijks"),
        ("hour", "hourly stundlich"),
    )
    for word in listed.split()
}  # fmt: skip
"""Words that state a rate by themselves."""

PER = _listed(
    "per a an each every pro je jede jeden jedes im am par chaque por al cada ao por ogni all alla al elke в за "
    "каждыи каждую каждые"
)
"""Words before the unit of a rate: 50 cents per day, 35 euros al mes."""

LOWER_BOUNDS = _listed(
    "least minimum min from over above exceeding beyond mindestens ab uber minimal partir desde minimo almeno oltre "
    "partire mais mas piu plus more mehr meer minstens minste vanaf boven от старше свыше более больше минимум dès "
    "dopo"
)
UPPER_BOUNDS = _listed(
    "most maximum max maximal maximaal up under below within until less fewer bis hochstens unter weniger binnen "
    "jusqu jusqu'a moins maximo hasta menos fino massimo meno sotto entro ate hooguit hoogste tot minder onder до "
    "максимум менее меньше младше"
)
