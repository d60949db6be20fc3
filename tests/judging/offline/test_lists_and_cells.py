"""Lists that texts in several languages deny, and amounts beside numbers in the cells of tables."""

from __future__ import annotations

import asyncio

import pytest

from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

# Each line has a context, an expected answer and an answer.
AGREE = """
# A list that both deny, or that neither denies.
Der Tarif enthält weder Roaming noch Hotspot. | kein Roaming | Roaming und Hotspot enthält der Tarif nicht.
Le prix ne comprend ni le repas ni le parking. | ni repas ni parking | Le prix ne comprend pas le repas ni le parking.
El bono no incluye ni toallas ni sábanas. | ni toallas ni sábanas | El bono no incluye toallas ni sábanas.
No hay ni piscina ni gimnasio. | ni piscina ni gimnasio | No hay piscina ni gimnasio.
В тариф не входят ни звонки, ни роуминг. | не входят | Звонки и роуминг в тариф не входят.
Звонки доступны, какой бы ни был тариф. | доступны | Звонки доступны, какой бы ни был тариф.
No hay tren. Ni los perros ni los gatos entran. | no | Los perros y los gatos no entran.
Le vol part sans bagage ni repas. | sans bagage ni repas | Le vol part sans bagage et sans repas.
O plano não cobre nem viagens nem bagagem. | nem viagens nem bagagem | O plano não cobre viagens nem bagagem.
Das Paket ist noch in Hamburg und kommt morgen an. | in Hamburg | Das Paket ist noch in Hamburg.
# A cell of a table.
<table><tr><td>Box</td><td>7 €</td><td>36 Stunden</td></tr></table> | 36 Stunden | Die Box braucht 36 Stunden.
<table><tr><th>Case</th><th>$ 40</th><th>250 ml</th></tr></table> | 250 ml | The case holds 250 ml.
<tr><td>Kiste</td><td>15</td><td>200 Stück</td></tr> | 200 Stück | Von der Kiste gibt es 200 Stück.
"""

DISAGREE = """
# One denies the list.
Der Tarif enthält Roaming und Hotspot. | Roaming und Hotspot | Der Tarif enthält weder Roaming noch Hotspot.
Le prix comprend le repas et le parking. | repas et parking | Le prix ne comprend ni le repas ni le parking.
El bono incluye toallas y sábanas. | toallas y sábanas | El bono no incluye ni toallas ni sábanas.
Hay piscina y gimnasio en el hotel. | piscina y gimnasio | No hay ni piscina ni gimnasio en el hotel.
В тариф входят звонки и роуминг. | звонки и роуминг | В тариф не входят ни звонки, ни роуминг.
Hay tren. Los perros y los gatos entran. | los perros y los gatos entran | Ni los perros ni los gatos entran.
O plano cobre viagens e bagagem. | viagens e bagagem | O plano não cobre nem viagens nem bagagem.
# Another number of a table.
<table><tr><td>Box</td><td>7 €</td><td>36 Stunden</td></tr></table> | 36 Stunden | Die Box braucht 48 Stunden.
"""


def rows(text: str) -> list[tuple[str, ...]]:
    return [tuple(line.split(" | ")) for line in text.strip().splitlines() if line[0] != "#"]


def passes(context: str, expected: str, answer: str) -> bool:
    question = Question(dataset_name="forms", id="1", question="?", expected_answer=expected)
    judged = asyncio.run(OfflineJudge().judge(question, RagAnswer(text=answer, contexts=(context,))))
    return min(judged.groundedness or 0.0, judged.answer_correctness or 0.0) >= 0.7


@pytest.mark.parametrize(("context", "expected", "answer"), rows(AGREE))
def test_an_answer_with_the_same_list_or_cell_passes(context: str, expected: str, answer: str):
    assert passes(context, expected, answer)


@pytest.mark.parametrize(("context", "expected", "answer"), rows(DISAGREE))
def test_a_denied_list_and_another_cell_fail(context: str, expected: str, answer: str):
    assert not passes(context, expected, answer)
