"""Telephone numbers, weekdays, durations and currencies as help pages write them, in several languages."""

from __future__ import annotations

import asyncio

import pytest

from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer

# Each line has a context, an expected answer and an answer.
AGREE = """
お問い合わせは0570-012-345まで。 | 0570-012-345 | お問い合わせは0570-012-345まで。
售后热线：021-5566-7788。 | 021-5566-7788 | 售后热线是021-5566-7788。
고객센터 번호는 1588-123-4567입니다. | 1588-123-4567 | 고객센터 번호는 1588-123-4567입니다.
Call +43 1 534 5678. | +43 1 534 5678 | The number is +4315345678.
Call +353 1 677 8899. | +353 1 677 8899 | The number is 00353 1 6778899.
Звоните: 8 (812) 333-44-55. | 8 (812) 333-44-55 | Телефон: +7 812 333-44-55.
Звоните: 8 812 333-44-55. | 8 812 333-44-55 | Телефон: 8 (812) 333-44-55.
Telefon: 0 (212) 444 55 66. | 0 (212) 444 55 66 | Telefon: 0212 444 55 66.
Geöffnet Mo–Fr 8–17 Uhr. | Mo–Fr 8–17 Uhr | Geöffnet ist Montag bis Freitag 8 bis 17 Uhr.
The desk is open Mon-Sat 8-17. | Mon-Sat 8-17 | The desk is open Monday to Saturday 8-17.
图书馆周一至周六8:00-20:00开放。 | 周一至周六 | 图书馆星期一至星期六8:00-20:00开放。
10天内可以取消。 | 10天内 | 10日内可以取消。
一周内可以取消。 | 一周 | 1周内可以取消。
保修半年。 | 半年 | 保修6个月。
The fee is 40 dollars. | 40 dollars | The fee is 40 US dollars.
Die Gebühr beträgt 25 Franken. | 25 Franken | Die Gebühr beträgt 25 Schweizer Franken.
"""

DIFFER = """
Geöffnet Mo–Fr 8–17 Uhr. | Mo–Fr 8–17 Uhr | Geöffnet ist Mo–Sa 8–17 Uhr.
The desk is open Mon-Fri 8-17. | Mon-Fri 8-17 | The desk is open Mon-Sun 8-17.
Le guichet est ouvert lun-ven 8-17 h. | lun-ven 8-17 h | Le guichet est ouvert lun-dim 8-17 h.
Касса открыта пн-пт 8-17. | пн-пт 8-17 | Касса открыта пн-вс 8-17.
图书馆周一至周五8:00-20:00开放。 | 周一至周五8:00-20:00 | 图书馆周一至周日8:00-20:00开放。
窓口は月曜日から金曜日の9時です。 | 月曜日から金曜日 | 窓口は月曜日から日曜日の9時です。
Die Gebühr beträgt 25 €. | 25 € | Die Gebühr beträgt 25 US-Dollar.
Die Gebühr beträgt 25 €. | 25 € | Die Gebühr beträgt 25 Schweizer Franken.
The fee is 25 euros. | 25 euros | The fee is 25 Swiss francs.
The fee is 25 euros. | 25 euros | The fee is 25 Canadian dollars.
保修半年。 | 半年 | 保修一年。
お問い合わせは0570-012-345まで。 | 0570-012-345 | お問い合わせは0570-012-346まで。
"""


def cases(text: str) -> list[tuple[str, ...]]:
    return [tuple(map(str.strip, line.split("|"))) for line in text.strip().splitlines()]


def scores(context: str, expected: str, answer: str) -> list[float]:
    question = Question(dataset_name="d", id="q", question="?", expected_answer=expected)
    judged = asyncio.run(OfflineJudge().judge(question, RagAnswer(text=answer, contexts=(context,))))
    return [value for value in (judged.answer_correctness, judged.groundedness) if value is not None]


@pytest.mark.parametrize(("context", "expected", "answer"), cases(AGREE))
def test_other_writings_of_one_fact_agree(context: str, expected: str, answer: str) -> None:
    assert min(scores(context, expected, answer)) >= 0.7


@pytest.mark.parametrize(("context", "expected", "answer"), cases(DIFFER))
def test_another_fact_differs(context: str, expected: str, answer: str) -> None:
    assert min(scores(context, expected, answer)) < 0.7
