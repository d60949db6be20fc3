from __future__ import annotations

import pytest

from pytest_ragcheck.judging.offline.evidence import ContextCache
from pytest_ragcheck.judging.offline.support import groundedness
from pytest_ragcheck.judging.offline.terms import TermDictionary

# The context, and an answer with the opposite polarity.
OPPOSITES = """
Lockers must be emptied every evening. | Lockers must not be emptied every evening.
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
"""

# The context, and an answer that says the same with other words of polarity.
EQUALS = """
The reader does not support cheques. | The reader leaves cheques unsupported.
Bicycles are not allowed on the platform. | Bicycles are forbidden on the platform.
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
"""


def rows(text: str) -> list[tuple[str, str]]:
    return [(context, answer) for line in text.strip().splitlines() for context, answer in [line.split(" | ")]]


def is_opposed(context: str, answer: str) -> bool:
    terms = TermDictionary()
    grounded = groundedness(answer, question="", contexts=[context], terms=terms, contexts_read=ContextCache(terms))
    return any(each.is_opposed for each in grounded.sentences)


@pytest.mark.parametrize(("context", "answer"), rows(OPPOSITES))
def test_an_answer_of_the_other_polarity_is_opposed_in_either_direction(context: str, answer: str):
    assert is_opposed(context, answer)
    assert is_opposed(answer, context)


@pytest.mark.parametrize(("context", "answer"), rows(EQUALS))
def test_an_answer_of_the_same_polarity_in_other_words_is_not_opposed(context: str, answer: str):
    assert not is_opposed(context, answer)
    assert not is_opposed(answer, context)
