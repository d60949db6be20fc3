from __future__ import annotations

import asyncio

import pytest

from pytest_ragcheck import Question, RagAnswer
from pytest_ragcheck.judging.offline.grounding.groundedness import groundedness
from pytest_ragcheck.judging.offline.grounding.read_context import ContextCache
from pytest_ragcheck.judging.offline.negation import polarity
from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.judging.offline.words.rewording import NOT, WITHOUT
from pytest_ragcheck.judging.offline.words.terms import TermDictionary

# The context, and an answer with the opposite polarity.
OPPOSITES = """
Não é permitido fumar no terraço. | É permitido fumar no terraço.
O autor mora no Porto. | O autor não mora no Porto.
The lid must not be opened until the rotor has stopped. | The lid may be opened until the rotor has stopped.
Lockers must be emptied every evening. | Lockers must not be emptied every evening.
Die Creme enthält keine Duftstoffe. | Die Creme enthält Duftstoffe.
Der Antrag muss spätestens am Freitag vorliegen. | Der Antrag muss frühestens am Freitag vorliegen.
De aanvraag moet uiterlijk vrijdag binnen zijn. | De aanvraag mag op zijn vroegst vrijdag binnen zijn.
The card reader supports contactless payment. | The card reader doesn't support contactless payment.
The card reader does not support contactless payment. | The card reader supports contactless payment.
Bicycles are allowed on the platform. | Bicycles are prohibited on the platform.
The deposit is refundable in cash. | The deposit is non-refundable in cash.
Breakfast is included in the room price. | Breakfast is excluded from the room price.
The pool is closed on Mondays. | The pool is open on Mondays.
You must sign the form before the visit. | You must sign the form after the visit.
The minimum order value is 40 euros. | The maximum order value is 40 euros.
Tickets are valid without a stamp. | Tickets are not valid without a stamp.
Die Miete enthält die Heizkosten. | Die Miete enthält keine Heizkosten.
Im Treppenhaus darf man rauchen. | Im Treppenhaus darf man nicht rauchen.
Das Betreten des Dachs ist verboten. | Das Betreten des Dachs ist erlaubt.
Die Karte ist ohne Foto gültig. | Die Karte ist ohne Foto ungültig.
La carte est valable sans photo. | La carte n'est pas valable sans photo.
Le dépôt de vélos est interdit dans la cour. | Le dépôt de vélos est autorisé dans la cour.
Le petit déjeuner n'est jamais compris. | Le petit déjeuner est compris.
Se permite fumar en la terraza. | No se permite fumar en la terraza.
El desayuno está incluido en el precio. | El desayuno está excluido del precio.
La tarjeta nunca caduca en verano. | La tarjeta caduca en verano.
La colazione è compresa nel prezzo. | La colazione non è compresa nel prezzo.
È vietato fumare sulla terrazza. | È consentito fumare sulla terrazza.
O pequeno-almoço está incluído no preço. | O pequeno-almoço não está incluído no preço.
É permitido fumar no terraço. | É proibido fumar no terraço.
Завтрак включён в стоимость номера. | Завтрак не включён в стоимость номера.
На террасе можно курить. | На террасе нельзя курить.
Пропуск действителен без фотографии. | Пропуск недействителен без фотографии.
Het ontbijt is bij de prijs inbegrepen. | Het ontbijt is niet bij de prijs inbegrepen.
Roken is verboden op het terras. | Roken is toegestaan op het terras.
Dogs are not allowed in the restaurant. | Yes, dogs are allowed in the restaurant.
The deposit is refundable until the course begins. | No, the deposit is not refundable.
The deposit is refundable until the course begins. | The deposit is non-refundable.
The deposit is refundable until the course begins. | The deposit cannot be refunded.
You must switch off the device before cleaning. Do not use alcohol. | Switch off the device and use alcohol.
Breakfast is included in the price. | No, breakfast is not included in the price.
Breakfast is included in the price. | Breakfast is excluded from the price.
Breakfast is included in the price. | The price does not include breakfast.
Children under 12 are not admitted without an adult. | Children under 12 are admitted without an adult.
Visitors need no ticket on Sundays. | Yes, visitors need a ticket on Sundays.
Die Zufahrt ist für Lieferwagen gesperrt. | Ja, die Zufahrt ist für Lieferwagen frei.
Die Zufahrt ist für Lieferwagen gesperrt. | Die Zufahrt ist für Lieferwagen nicht gesperrt.
Hunde dürfen nicht ins Schwimmbad. | Ja, Hunde dürfen ins Schwimmbad.
Hunde dürfen nicht ins Schwimmbad. | Hunde sind im Schwimmbad erlaubt.
Der Antrag muss nicht unterschrieben werden. | Ja, der Antrag muss unterschrieben werden.
Der Antrag muss nicht unterschrieben werden. | Der Antrag ist zu unterschreiben.
Die Karte ist übertragbar. | Nein, die Karte ist nicht übertragbar.
Die Karte ist übertragbar. | Die Karte ist unübertragbar.
Les animaux ne sont pas admis dans le camping. | Oui, les animaux sont admis dans le camping.
Le petit déjeuner n'est pas compris dans le prix. | Oui, le petit déjeuner est compris dans le prix.
Le petit déjeuner n'est pas compris dans le prix. | Le prix comprend le petit déjeuner.
Il faut éteindre l'appareil avant de le nettoyer. | Il ne faut pas éteindre l'appareil avant de le nettoyer.
La carte n'est plus valable après un an. | Oui, la carte est toujours valable après un an.
No se permite fumar en la terraza. | Se permite fumar en la terraza.
El seguro cubre los daños por agua. | No, el seguro no cubre los daños por agua.
È vietato dare da mangiare agli animali. | Sì, si può dare da mangiare agli animali.
È vietato dare da mangiare agli animali. | È permesso dare da mangiare agli animali.
Il modulo non va firmato. | Sì, il modulo va firmato.
Il modulo non va firmato. | Il modulo deve essere firmato.
La garanzia copre la batteria. | No, la garanzia non copre la batteria.
O elevador não pode ser usado em caso de incêndio. | Sim, o elevador pode ser usado em caso de incêndio.
A inscrição é obrigatória. | Não, a inscrição não é obrigatória.
O museu não abre à segunda-feira. | Sim, o museu abre à segunda-feira.
Honden zijn niet toegestaan op het strand. | Ja, honden zijn toegestaan op het strand.
Honden zijn niet toegestaan op het strand. | Honden mogen op het strand.
De factuur hoeft niet te worden bewaard. | Ja, de factuur moet worden bewaard.
Het ticket kan worden omgeruild. | Nee, het ticket kan niet worden omgeruild.
В зале запрещено фотографировать. | Да, в зале можно фотографировать.
В зале запрещено фотографировать. | В зале разрешено фотографировать.
Справку не нужно заверять. | Да, справку нужно заверять.
Бассейн работает по воскресеньям. | Нет, по воскресеньям бассейн не работает.
Бассейн работает по воскресеньям. | По воскресеньям бассейн закрыт.
The tablets can be taken with food. | No, the tablets must not be taken with food.
The tablets can be taken with food. | The tablets cannot be taken with food.
The tablets can be taken with food. | Take the tablets without food.
Never store the battery below 0 °C. | The battery can be stored below 0 °C.
Never store the battery below 0 °C. | Always store the battery below 0 °C.
Guests do not have to vacate their rooms before noon. | Guests have to vacate their rooms before noon.
Guests do not have to vacate their rooms before noon. | Guests must vacate their rooms before noon.
Visitors may enter the vault. | No-one may enter the vault.
Visitors may enter the vault. | None of the visitors may enter the vault.
Camping in the park is not allowed at night. | You may camp in the park.
图书馆周一不开放。 | 图书馆周一开放。
未满18岁者不能购买酒类。 | 未满18岁者能购买酒类。
駐車場は予約できません。 | 駐車場は予約できます。
会員は無料で入場できます。 | 会員は無料で入場できません。
The restaurant closes 45 minutes before arrival. | Please note that the restaurant closes 45 minutes after arrival.
Das Restaurant schließt vor der Ankunft. | Bitte beachten Sie, dass das Restaurant nach der Ankunft schließt.
A ticket is not required for children. | Children need a ticket.
Besucher dürfen den Tresor betreten. | Niemand darf den Tresor betreten.
"""

# The context, and an answer that says the same with other words of polarity.
EQUALS = """
O hotel situa-se no centro de Braga. | O hotel está no centro.
O autor mora no Porto desde 2010. | Mora no Porto.
A piscina abre em 3 de maio. | Abre no dia 3 de maio.
O mapa está guardado no balcão 4. | Está guardado no balcão 4.
The lid must not be opened until the rotor has stopped. | The lid may be opened only after the rotor has stopped.
No abra la tapa hasta que el rotor se haya parado. | La tapa se abre solo cuando el rotor se haya parado.
Der Deckel darf nicht geöffnet werden, bis der Rotor steht. | Der Deckel darf geöffnet werden, sobald der Rotor steht.
The reader does not support cheques. | The reader leaves cheques unsupported.
Bicycles are not allowed on the platform. | Bicycles are forbidden on the platform.
The bar is made without nuts. | The bar is free of nuts.
Die Creme enthält keine Duftstoffe. | Nein, die Creme ist frei von Duftstoffen.
El yogur no contiene lactosa. | El yogur está libre de lactosa.
De reep bevat geen noten. | De reep is vrij van noten.
Alleen medewerkers mogen de heftruck besturen. | Niemand anders dan medewerkers mag de heftruck besturen.
Nur Mitarbeiter dürfen das Archiv betreten. | Niemand anders als Mitarbeiter darf das Archiv betreten.
Der Eintritt ist frei von 9 bis 12 Uhr. | Der Eintritt ist von 9 bis 12 Uhr frei.
The deposit is not refundable in cash. | The deposit is non-refundable in cash.
Returns are not possible without a receipt. | Returns are possible with a receipt.
Stays last no more than 30 nights. | Stays last 30 nights at most.
The pool is closed on Mondays. | The pool isn't open on Mondays.
Not everyone needs a visa for the islands. | Everyone from abroad needs a visa for the islands.
Dogs are allowed in the garden but not in the hall. | Dogs are allowed in the garden.
If the seal is not broken, returns are accepted. | Returns are accepted.
An Feiertagen gilt die Karte nicht. | Die Karte gilt nicht an Feiertagen.
Das Betreten des Dachs ist nicht erlaubt. | Das Betreten des Dachs ist verboten.
Le dépôt de vélos n'est pas autorisé dans la cour. | Le dépôt de vélos est interdit dans la cour.
No está permitido fumar en la terraza. | Está prohibido fumar en la terraza.
Non è consentito fumare sulla terrazza. | È vietato fumare sulla terrazza.
Não é permitido fumar no terraço. | É proibido fumar no terraço.
A recolha é possível no primeiro domingo. | A recolha é possível ao primeiro domingo.
На террасе не разрешено курить. | На террасе курить запрещено.
Roken is niet toegestaan op het terras. | Roken is verboden op het terras.
Dogs are not allowed in the restaurant. | Dogs are forbidden in the restaurant.
Dogs are not allowed in the restaurant. | You cannot bring a dog into the restaurant.
The deposit is refundable until the course begins. | Yes, you get the deposit back until the course begins.
The deposit is refundable until the course begins. | The deposit can be refunded before the course begins.
You must switch off the device before cleaning. Do not use alcohol. | Switch the device off first and avoid alcohol.
Breakfast is included in the price. | Yes, the price includes breakfast.
Breakfast is included in the price. | Breakfast does not cost extra.
Children under 12 are not admitted without an adult. | No, children under 12 need to be with an adult.
Children under 12 are not admitted without an adult. | Children under 12 must come with an adult.
Visitors need no ticket on Sundays. | No, a ticket is not needed on Sundays.
Visitors need no ticket on Sundays. | No ticket is required on Sundays.
Die Zufahrt ist für Lieferwagen gesperrt. | Nein, Lieferwagen dürfen nicht einfahren, die Zufahrt ist gesperrt.
Hunde dürfen nicht ins Schwimmbad. | Nein, Hunde sind im Schwimmbad verboten.
Der Antrag muss nicht unterschrieben werden. | Nein, eine Unterschrift ist nicht nötig.
Der Antrag muss nicht unterschrieben werden. | Der Antrag braucht keine Unterschrift.
Die Karte ist übertragbar. | Ja, die Karte ist übertragbar.
Das Gerät darf nur von Fachleuten geöffnet werden. | Nur Fachleute dürfen das Gerät öffnen.
Les animaux ne sont pas admis dans le camping. | Non, le camping n'accepte pas les animaux.
Le petit déjeuner n'est pas compris dans le prix. | Non, le petit déjeuner est en supplément.
Le petit déjeuner n'est pas compris dans le prix. | Non, le prix ne comprend pas le petit déjeuner.
Il faut éteindre l'appareil avant de le nettoyer. | Éteignez d'abord l'appareil.
Il faut éteindre l'appareil avant de le nettoyer. | L'appareil doit être éteint avant le nettoyage.
La carte n'est plus valable après un an. | Non, elle n'est valable qu'un an.
No se permite fumar en la terraza. | No, está prohibido fumar en la terraza.
El seguro cubre los daños por agua. | Sí, los daños por agua están cubiertos.
Los socios no pagan entrada. | No, los socios entran gratis.
Los socios no pagan entrada. | Los socios están exentos de pago.
È vietato dare da mangiare agli animali. | No, dare da mangiare agli animali non è permesso.
La garanzia copre la batteria. | Sì, la batteria è coperta dalla garanzia.
O elevador não pode ser usado em caso de incêndio. | Não, em caso de incêndio é proibido usar o elevador.
A inscrição é obrigatória. | Sim, é preciso inscrever-se.
A inscrição é obrigatória. | Sim, a inscrição é obrigatória.
O museu não abre à segunda-feira. | Não, está fechado à segunda-feira.
O museu não abre à segunda-feira. | Não, o museu encerra à segunda-feira.
Honden zijn niet toegestaan op het strand. | Nee, honden zijn verboden op het strand.
Honden zijn niet toegestaan op het strand. | Nee, honden mogen niet op het strand.
De factuur hoeft niet te worden bewaard. | Nee, bewaren van de factuur is niet nodig.
Het ticket kan worden omgeruild. | Ja, omruilen van het ticket kan.
В зале запрещено фотографировать. | Нет, фотографировать в зале нельзя.
В зале запрещено фотографировать. | Фотографировать в зале не разрешается.
Справку не нужно заверять. | Нет, заверять справку не требуется.
Справку не нужно заверять. | Справка не требует заверения.
Бассейн работает по воскресеньям. | Да, по воскресеньям бассейн открыт.
Not all rooms have air conditioning. | No, only some rooms have air conditioning.
The tablets can be taken with food. | Yes, the tablets may be taken with food.
Guests do not have to vacate their rooms before noon. | You can keep your room until noon.
The fee is 30 euros. The deposit is higher. | The fee (not a deposit) is 30 euros.
The tower was built by Moira Pell. | The tower was built by Moira Pell, not Colin Astbury.
No Moon was written by Vera Lindqvist. | The song "No Moon" was written by Vera Lindqvist.
Dogs are not admitted, with the exception of assistance dogs. | Only assistance dogs are admitted.
It opens Tuesday to Sunday and is closed on Mondays. | It isn't open on Mondays; it is open Tuesday to Sunday.
The bus leaves from platform 4. | The bus leaves from platform No. 4.
The non-stop flight takes 11 hours. | It is a non-stop flight of 11 hours.
Subletting is prohibited unless the landlord agrees. | Subletting isn't allowed without the consent of the landlord.
Camping in the park is not allowed at night. | You may not camp in the park.
A ticket is not required for children. | Children do not need a ticket.
Виза для участия не требуется, достаточно паспорта. | Виза не требуется.
保险不仅覆盖火灾，也覆盖水灾。 | 保险覆盖火灾和水灾。
订单付款后无法取消。 | 付款之后，订单无法取消。
参观无需预约。 | 参观不需要预约。
身分証を提示しなければなりません。 | 身分証を提示します。
If you miss a dose, take it later, but never take a double dose. | Take the missed dose later.
"""

# The question, an accepted answer, and an answer that is right.
RIGHT = """
May I bring a dog? | No | Dogs are forbidden in the park.
May I bring a dog? | Yes | Dogs are not forbidden in the park.
Is the pool closed on Mondays? | Yes | The pool is closed on Mondays.
Is the pool closed on Mondays? | No | The pool is open on Mondays.
How long can I return items? | 30 days | You cannot return items after 30 days.
What is the status of the deposit? | non-refundable | The deposit is not refundable.
Which file type is rejected? | PDF | PDF is not accepted.
Was ist nicht versichert? | Glasbruch | Glasbruch ist nicht versichert.
Le vélo est-il assuré ? | Non | Le vélo n'est pas assuré.
¿Se puede fumar? | No | Está prohibido fumar.
Si può fumare? | No | È vietato fumare.
Pode-se fumar? | Não | É proibido fumar.
Можно курить? | Нет | Курить запрещено.
Mag je roken? | Nee | Roken is verboden.
What is the fee? | 30 euros | The fee (not a deposit) is 30 euros.
What is the fee? | 30 euros | The fee, not a deposit, is 30 euros.
What is the fee? | 30 euros | The fee is 30 euros (not 40).
Wie hoch ist die Gebühr? | 30 Euro | Die Gebühr, nicht die Kaution, beträgt 30 Euro.
¿Cuánto es la tasa? | 30 euros | La tasa, no el depósito, es de 30 euros.
Quel est le prix ? | 30 euros | Le prix (sans caution) est de 30 euros.
Who wrote it? | Vera Lindqvist | The song "No Moon, No Tide" was written by Vera Lindqvist.
Who composed the music? | Aiko Tanaka | The music of the film (Haru no Umi) was composed by Aiko Tanaka.
Who built it? | Moira Pell | It was not Colin Astbury who built it; Moira Pell did.
When is it open? | on Mondays | The shop is open on Mondays, not Sundays.
Are dogs allowed? | No, except assistance dogs | Dogs aren't allowed, except for assistance dogs.
Are dogs allowed? | No, except assistance dogs | No – only assistance dogs are admitted.
Is sick leave deducted from annual leave? | No, it is not deducted | Sick days do not count against your annual leave.
Can I cancel? | Yes, by phone | **Yes**, you can call us.
Which platform? | platform 4 | It leaves from platform No. 4.
How long is the flight? | 11 hours | It is a non-stop flight of 11 hours.
Which floor? | on the second floor | Book a non-smoking room on the second floor.
Do I need a visa? | no visa required | You can take part without a visa.
Welche Duftstoffe hat die Creme? | keine Duftstoffe | Die Creme ist frei von Duftstoffen.
"""

WRONG = """
May I bring a dog? | No | Dogs are welcome in the park.
Is the pool closed on Mondays? | Yes | The pool is open on Mondays.
How long can I return items? | 30 days | Returns are not possible within 30 days.
What is the status of the deposit? | non-refundable | The deposit is refundable.
Must visitors sign? | visitors must sign the book | Visitors need not sign the book.
Ist die Karte übertragbar? | nicht übertragbar | Die Karte ist übertragbar.
Peut-on fumer ? | il est interdit de fumer | Il est permis de fumer.
¿Cuándo se puede aparcar? | los domingos | No se puede aparcar los domingos.
Quando è aperto? | la domenica | Non è aperto la domenica.
Quando abre? | ao domingo | Não abre ao domingo.
Можно курить? | Нет | Курить можно.
Mag je roken? | Nee | Roken is toegestaan.
What is the fee? | 30 euros | The fee (with insurance) is not 30 euros.
When is it open? | on Mondays | The shop is open on Sundays, not on Mondays.
Do I need a visa? | a visa is required | You can take part without a visa.
Is it allowed? | dogs are allowed | Cats are allowed.
Who built it? | Moira Pell | It was Colin Astbury who built it; Moira Pell did not.
"""


def rows(text: str) -> list[tuple[str, ...]]:
    return [tuple(line.split(" | ")) for line in text.strip().splitlines()]


def is_opposed(context: str, answer: str) -> bool:
    grounded = groundedness(answer, question="", contexts=[context], contexts_read=ContextCache(TermDictionary()))
    return any(each.is_opposed for each in grounded.sentences)


@pytest.mark.parametrize(("context", "answer"), rows(OPPOSITES))
def test_an_answer_of_the_other_polarity_is_opposed_in_either_direction(context: str, answer: str):
    assert is_opposed(context, answer)
    assert is_opposed(answer, context)


@pytest.mark.parametrize(("context", "answer"), rows(EQUALS))
def test_an_answer_of_the_same_polarity_in_other_words_is_not_opposed(context: str, answer: str):
    assert not is_opposed(context, answer)
    assert not is_opposed(answer, context)


@pytest.mark.parametrize(("question", "expected", "answer"), rows(RIGHT))
def test_an_answer_of_the_expected_polarity_is_right(question: str, expected: str, answer: str):
    assert correctness(question, expected, answer) >= 0.7


@pytest.mark.parametrize(("question", "expected", "answer"), rows(WRONG))
def test_an_answer_that_denies_the_expected_one_is_wrong(question: str, expected: str, answer: str):
    assert correctness(question, expected, answer) < 0.7


def correctness(question: str, expected: str, answer: str) -> float:
    asked = Question(dataset_name="polarity", id="row", question=question, expected_answer=expected)
    score = asyncio.run(OfflineJudge().judge(asked, RagAnswer(text=answer))).answer_correctness
    assert score is not None
    return score


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        ("The lift runs all night. Bicycles are allowed in the last carriage.",
         "The lift runs all night, bicycles are not allowed in the last carriage."),
        ("Das Zelt wiegt drei Kilo. Es darf nicht nass eingepackt werden.",
         "Das Zelt wiegt drei Kilo und darf nass eingepackt werden; es ist schnell eingepackt."),
        ("Le four chauffe vite. Ne laissez pas la porte ouverte pendant la cuisson.",
         "Le four chauffe vite ; laissez la porte ouverte pendant la cuisson."),
    ],
)  # fmt: skip
def test_a_second_clause_that_repeats_a_context_sentence_with_other_polarity_is_opposed(context: str, answer: str):
    assert is_opposed(context, answer)


def test_a_clause_that_one_context_sentence_affirms_is_not_opposed():
    context = "Guests may not park in the yard overnight. Guests may park in the yard."
    assert not is_opposed(context, "Guests may park in the yard, the gate is on the left.")


@pytest.mark.parametrize("need", ["需要", "必须"])
@pytest.mark.parametrize("no_need", ["不需要", "无需", "无须", "不必"])
@pytest.mark.parametrize("text", ["{}预约。", "参观博物馆{}提前预约。"])
def test_a_need_in_chinese_opposes_its_negation(text: str, need: str, no_need: str):
    assert is_opposed(text.format(need), text.format(no_need))
    assert is_opposed(text.format(no_need), text.format(need))


@pytest.mark.parametrize("allowed", ["可以", "允许", "准许", "能"])
@pytest.mark.parametrize("banned", ["禁止", "严禁", "不准", "不得", "不可以", "不能"])
@pytest.mark.parametrize("text", ["{}吸烟。", "馆内{}携带宠物。"])
def test_a_permission_in_chinese_opposes_a_ban(text: str, allowed: str, banned: str):
    assert is_opposed(text.format(allowed), text.format(banned))
    assert is_opposed(text.format(banned), text.format(allowed))


@pytest.mark.parametrize(("context", "answer"), [("入境不需要签证。", "需要签证。"), ("不需要预约。", "需要预约。")])
def test_a_sentence_without_its_negation_is_not_verbatim_in_the_contexts(context: str, answer: str):
    assert is_opposed(context, answer)


def test_a_contradicted_sentence_is_named():
    judgement = asyncio.run(
        OfflineJudge().judge(
            Question(dataset_name="polarity", id="row", question="Is the lake open?"),
            RagAnswer(text="Swimming is allowed in the lake.", contexts=("Swimming is prohibited in the lake.",)),
        )
    )
    assert judgement.error_message == 'the contexts say the opposite of "Swimming is allowed in the lake."'
    assert judgement.unsupported_claims == ("Swimming is allowed in the lake.",)


def test_a_contradicted_sentence_in_a_long_answer_is_only_listed():
    context = (
        "Swimming is prohibited in the lake. Boats may be hired at the jetty from May to September. "
        "The cafe beside the jetty serves soup, bread and tea all day. The car park beside the road holds 40 cars."
    )
    wrong = "Swimming is allowed in the lake."
    judgement = asyncio.run(
        OfflineJudge().judge(
            Question(dataset_name="polarity", id="row", question="What is there to do?"),
            RagAnswer(text=context.replace("prohibited", "allowed"), contexts=(context,)),
        )
    )
    assert judgement.groundedness is not None
    assert judgement.groundedness >= 0.7
    assert judgement.unsupported_claims == (wrong,)


def test_the_words_of_a_cancelled_negation_keep_their_order():
    """A set had another order in each process, and with it another judgement."""
    read = polarity([NOT, "use", "any", "camera", "tripod", WITHOUT, NOT], frozenset())
    assert read.denials == {"tripod": ["use", "any", "camera", "tripod"]}
