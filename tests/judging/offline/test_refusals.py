from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.judging.offline.refusals import is_refusal

REFUSALS = """
I don't know.
I do not know the answer to that.
I'm sorry, but I cannot answer that from the provided context.
I’m sorry, I can’t help with that.
The provided documents do not contain this information.
The context does not mention refunds.
There is no information about refunds in the context.
Unfortunately, I could not find anything about that.
I couldn't find any relevant documents.
Based on the given passages, I am unable to answer.
This is not mentioned in the text.
The answer is not in the provided documents.
Not enough information.
N/A
Unknown.
No answer.
I have no information on that.
Could you please clarify your question?
I need more context to answer this.
It is not possible to determine the date from the context.
The refund period is not specified in the documents.
Sorry, that is outside of what I can help with.
I am not able to find that in the knowledge base.
We could not find an answer to your question.
The documents don't say.
Cannot be determined from the context.
Nobody knows.
As an AI model, I cannot say.
The sources contain no details on this.
Das weiß ich nicht.
Dazu habe ich keine Informationen gefunden.
Das geht aus dem Kontext leider nicht hervor.
Ich kann diese Frage anhand der bereitgestellten Dokumente nicht beantworten.
Je ne sais pas.
Le contexte ne mentionne pas cette information.
Je n'ai pas trouvé d'information à ce sujet.
No lo sé.
No sé.
El contexto no menciona esa información.
No tengo información suficiente para responder.
Não sei.
Non lo so.
Ik weet het niet.
Я не знаю.
В контексте нет информации об этом.
К сожалению, я не могу ответить на этот вопрос.
我不知道。
抱歉，所提供的文档中没有提到这一点。
根据提供的上下文，无法回答这个问题。
わかりません。
ขออภัย ฉันไม่ทราบ
ไม่พบข้อมูลในเอกสาร
เอกสารไม่ได้ระบุระยะเวลาไว้
提供された文書には記載がありません。
모르겠습니다.
لا أعرف.
मुझे नहीं पता।
Bilmiyorum.
Nie wiem.
Không biết.
Saya tidak tahu.
"""

ANSWERS = """
30 days
30.
(B)
No, refunds are not possible.
The policy does not cover flood damage.
Flood damage is not covered by this policy.
It does not contain gluten.
It does not include batteries.
No documents are required for domestic travel.
There is no evidence that vitamin C prevents colds.
No data is sent to third parties.
We do not offer refunds after 30 days.
We do not provide phone support.
If you can't find your receipt, contact the shop.
Refunds cannot be provided after 30 days.
Please provide the receipt and the order number.
Refunds are not available to you after 30 days.
None of the plans include support.
You need to provide more than one document.
The unknown soldier is buried in Paris.
It was not found until 1912.
The museum lacks a roof.
Passengers who are not able to walk board first.
Sie können die Ware nach 30 Tagen nicht zurückgeben.
Der Versand ist im Preis nicht enthalten.
Le produit n'est pas remboursable.
El precio no incluye IVA.
No se puede devolver después de 30 días.
Продукт не содержит глютена.
После 30 дней вернуть товар нельзя.
您无法在30天后退款。
没有任何费用。
30日以降は返品できません。
"""


@pytest.mark.parametrize("answer", REFUSALS.strip().splitlines())
def test_an_answer_that_declines_is_a_refusal(answer: str):
    assert is_refusal(answer)


@pytest.mark.parametrize("answer", ANSWERS.strip().splitlines())
def test_an_answer_that_says_no_is_no_refusal(answer: str):
    assert not is_refusal(answer)


@pytest.mark.parametrize("answer", ["", " \n\t", "...", "- \n* "])
def test_an_answer_that_says_nothing_is_a_refusal(answer: str):
    assert is_refusal(answer)


def test_a_refusal_may_stand_in_the_second_sentence():
    assert is_refusal("Thank you for your question. Unfortunately, the documents do not mention it.")


def test_from_the_third_sentence_on_a_gap_only_qualifies_the_answer():
    assert not is_refusal("Refunds take 30 days. A receipt is needed. The documents do not mention exchanges.")


def test_an_answer_that_declines_and_then_gives_something_is_a_refusal():
    assert is_refusal("The context does not mention it. However, most shops give 14 days.")


@given(st.text(alphabet="i do'not knw.的不 ", max_size=5000))
def test_any_text_can_be_classified(answer: str):
    assert is_refusal(answer) in {True, False}
