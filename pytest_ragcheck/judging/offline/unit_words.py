"""Words of units, months, weekdays, bounds and rates in eight languages, in the spelling of `normalised`."""

from __future__ import annotations

_HOUR, _DAY, _MONTH = 3600.0, 86400.0, 2629800.0

_UNITS: tuple[tuple[str, float, str], ...] = (
    ("time", 1, "second seconds sec secs sekunde sekunden seconde secondes seconden segundo segundos secondo secondi "
                "секунда секунды секунд секунду"),
    ("time", 60, "minute minutes min mins minuten minuto minutos minuti minuut minuten минута минуты минут минуту мин"),
    ("time", _HOUR / 4, "viertelstunde viertelstunden kwartier"),
    ("time", _HOUR, "hour hours hr hrs h stunde stunden std heure heures hora horas ora ore uur uren час часа часов "
                    "часу часам ч"),
    ("clock", 60, "uhr oclock o'clock"),
    ("time", _DAY, "day days d tag tage tagen jour jours journee dia dias giorno giorni dag dagen день дня днеи дни "
                   "сутки суток"),
    ("time", 7 * _DAY, "week weeks woche wochen semaine semaines semana semanas settimana settimane weken неделя "
                       "недели недель неделю неделе"),
    ("time", 14 * _DAY, "fortnight fortnights"),
    ("months", 1, "month months monat monate monaten mois mes meses mese mesi maand maanden месяц месяца месяцев"),
    ("months", 3, "quarter quarters quartal quartale trimestre trimestres trimestri kwartaal kwartalen квартал квартала"
                  " кварталов"),
    ("months", 12, "year years yr yrs jahr jahre jahren an ans annee annees ano anos anno anni jaar jaren год года лет "
                   "году"),
    ("months", 120, "decade decades jahrzehnt jahrzehnte decennie decennies decada decadas decennio decenni decennium "
                    "десятилетие десятилетия"),
    ("mass", 0.001, "mg milligram milligrams milligramm milligramme milligrammes miligramo miligramos milligrammo "
                    "milligrammi мг"),
    ("mass", 1, "g gram grams gramm gramme grammes gramo gramos grammo grammi grama gramas gr грамм грамма граммов г"),
    ("mass", 1000, "kg kilogram kilograms kilogramme kilogrammes kilogramm kilo kilos kilogramo kilogramos chilo chili "
                   "chilogrammo chilogrammi quilo quilos quilograma quilogramas кг килограмм килограмма килограммов"),
    ("mass", 10**6, "ton tons tonne tonnes tonnen tonelada toneladas tonnellata tonnellate ton тонна тонны тонн т"),
    ("mass", 28.3495, "ounce ounces oz unze unzen"),
    ("pound", 1, "pound pounds lb lbs £ gbp pfund livres sterling libra libras sterlina sterline фунт фунта фунтов"),
    ("length", 0.001, "mm millimeter millimeters millimetre millimetres milimetro milimetros millimetro millimetri "
                      "миллиметр миллиметра миллиметров мм"),
    ("length", 0.01, "cm centimeter centimeters centimetre centimetres zentimeter centimetro centimetros centimetri "
                     "сантиметр сантиметра сантиметров см"),
    ("length", 1, "meter meters metre metres metern metro metros metri метр метра метров м"),
    ("length", 1000, "km kilometer kilometers kilometre kilometres kilometern kilometro kilometros chilometro "
                     "chilometri quilometro quilometros километр километра километров км"),
    ("length", 0.0254, "inch inches zoll pouce pouces pulgada pulgadas pollice pollici polegada polegadas дюим дюима "
                       "дюимов"),
    ("length", 0.3048, "foot feet ft"),
    ("length", 0.9144, "yard yards yd"),
    ("length", 1609.344, "mile miles mi meile meilen milla millas miglia miglio milha milhas mijl mijlen миля мили "
                         "миль"),
    ("volume", 0.001, "ml milliliter milliliters millilitre millilitres mililitro mililitros millilitri мл"),
    ("volume", 0.01, "cl centiliter centilitre centilitres"),
    ("volume", 0.1, "dl deciliter"),
    ("volume", 1, "l liter liters litre litres litern litro litros litri литр литра литров л"),
    ("volume", 3.78541, "gallon gallons gallone gallonen"),
    ("area", 1, "qm quadratmeter sqm vierkante"),
    ("area", 10**4, "hectare hectares ha hektar hectarea hectareas ettaro ettari гектар гектара гектаров"),
    ("percent", 1, "percent percentage % prozent pourcent procent процент процента процентов"),
    ("degree", 1, "degree degrees grad degre degres grado grados gradi grau graus graad graden градус градуса градусов "
                  "celsius c"),
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
    ("money", 0.01, "cent cents centime centimes centimo centimos centesimo centesimi centavo centavos pence цент цента "
                    "центов"),
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
    "monday mondays montag montags lundi lunes lunedi maandag понедельник понедельника понедельникам",
    "tuesday tuesdays dienstag dienstags mardi martes martedi dinsdag вторник вторника вторникам",
    "wednesday wednesdays mittwoch mittwochs mercredi miercoles mercoledi woensdag среду средам",
    "thursday thursdays donnerstag donnerstags jeudi jueves giovedi donderdag четверг четверга четвергам",
    "friday fridays freitag freitags vendredi viernes venerdi vrijdag пятница пятницу пятницы пятницам",
    "saturday saturdays samstag samstags sonnabend samedi sabado sabados sabato zaterdag суббота субботу субботы "
    "субботам",
    "sunday sundays sonntag sonntags dimanche domingo domingos domenica zondag воскресенье воскресенья воскресеньям",
)

MONTHS_BY_WORD = {word: number for number, listed in enumerate(_MONTHS, start=1) for word in listed.split()}
WEEKDAYS_BY_WORD = {word: number for number, listed in enumerate(_WEEKDAYS, start=1) for word in listed.split()}

PERIODS_BY_WORD = {
    word: period
    for period, listed in (
        ("day", "daily taglich quotidien quotidienne diario diaria quotidiano giornaliero giornaliera dagelijks "
                "ежедневно"),
        ("week", "weekly wochentlich hebdomadaire semanal settimanale wekelijks еженедельно"),
        ("month", "monthly monatlich monatliche mensuel mensuelle mensual mensile mensal maandelijks ежемесячно"),
        ("year", "yearly annual annually jahrlich annuel annuelle anual annuale jaarlijks ежегодно"),
        ("hour", "hourly stundlich horaire"),
    )
    for word in listed.split()
}  # fmt: skip
"""Words that state a rate by themselves."""

PER = frozenset(
    "per a an each every pro je jede jeden jedes im par chaque por al cada ao por ogni all alla al elke в за каждыи "
    "каждую каждые".split()
)
"""Words before the unit of a rate: 50 cents per day, 35 euros al mes."""

LOWER_BOUNDS = frozenset(
    "least minimum min from over above exceeding beyond mindestens ab uber minimal partir desde minimo almeno "
    "oltre partire mais mas piu plus more mehr meer minstens minste vanaf boven от старше свыше более больше минимум "
    "dès dopo".split()
)
UPPER_BOUNDS = frozenset(
    "most maximum max maximal maximaal up under below within until less fewer bis hochstens unter weniger binnen "
    "jusqu jusqu'a moins maximo hasta menos fino massimo meno sotto entro ate hooguit hoogste tot minder onder "
    "до максимум менее меньше младше".split()
)
