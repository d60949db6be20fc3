"""Results as long runs have them: texts of several languages, a baseline, failures and errors, from a seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, an_error
from tests.report.results import results_of

if TYPE_CHECKING:
    from pytest_ragcheck.report.files.results_reader import Results
    from pytest_ragcheck.verdict.record import Record

_WORDS = {
    "en": "refund window days delivery card charged voucher working customer service hotline complaint answered orders "
    "free abroad money policy within return item receipt warehouse",
    "ru": "возврат товара возможен в течение тридцати дней после доставки деньги поступают на карту покупателя "
    "обслуживание клиентов",
    "zh": "退款 在 三十 天 内 可以 办理 运费 由 商家 承担 请 保留 收据 客服 电话 工作日",
}
_LONGEST = "https://shop.example/help/returns/policies/2026/a-page-whose-address-has-no-place-to-break-a-line#section"
_LANGUAGES = ("en", "en", "en", "ru", "zh")


def many(number: int, *, seed: int = 3) -> Results:
    """So many questions of two datasets, compared with a baseline."""
    chance = random.Random(seed)
    records = [_record(n, chance) for n in range(number)]
    rows = [_before(record, chance) for record in records if record.verdict is not Verdict.ERROR]
    baseline = Baseline(name="baseline.json", rows={row.key: row for row in rows}) if rows else None
    newly = [record.question.id for record in records if record.verdict is Verdict.FAIL][:3]
    notes = ["baseline baseline.json: 3 newly failing", *(f"  {name}: groundedness 0.91 -> 0.41" for name in newly)]
    return results_of(*records, baseline=baseline, notes=notes if rows else [])


def _record(number: int, chance: random.Random) -> Record:
    language = _LANGUAGES[number % len(_LANGUAGES)]
    question = a_question(
        f"{language}-{number:04}",
        dataset_name="shop" if number % 2 else "billing",
        question=_sentence(language, chance, 7)[:-1] + "?",
        expected_answer=_sentence(language, chance, 5),
        tags=("payments",) if number % 3 == 0 else (),
    )
    if number % 29 == 28:
        text = "https://staging.example/query: no reply within 60 s\nRaise rag_timeout, or make the endpoint faster."
        return an_error(question.id, question=question, reason=text)
    contexts = tuple(" ".join(_sentence(language, chance) for _ in range(4)) for _ in range(4))
    guessed = _sentence(language, chance)
    scores = {
        "answer_correctness": _within(chance.gauss(0.88, 0.15)),
        "groundedness": _within(chance.gauss(0.85, 0.18)),
        "f1": chance.random(),
    }
    passed = min(scores["answer_correctness"], scores["groundedness"]) >= 0.7
    return a_record(
        question=question,
        verdict=Verdict.PASS if passed else Verdict.FAIL,
        answer=f"{contexts[0].partition('.')[0]}. {guessed}" + (f" {_LONGEST}" if number % 7 == 0 else ""),
        contexts=contexts,
        source_ids=tuple(f"manual-{n}" for n in range(4)),
        scores={**scores, **({"exact_match": Score.unscored("no expected answer")} if number % 11 == 0 else {})},
        thresholds={"answer_correctness": 0.7, "groundedness": 0.7},
        reason="" if passed else f'the contexts only partly support "{guessed}"',
        unsupported_claims=() if passed else (guessed,),
        blame=None if passed else "retrieval" if number % 2 else "generation",
        latency_seconds=abs(chance.gauss(1, 0.4)),
    )


def _before(record: Record, chance: random.Random) -> BaselineRow:
    metrics = {name: score.value for name, score in record.scores.items() if score.value is not None}
    metrics["groundedness"] = _within(metrics["groundedness"] + chance.gauss(0.03, 0.1))
    return BaselineRow(
        dataset_name=record.question.dataset_name,
        id=record.question.id,
        question=record.question.question,
        verdict=Verdict.PASS if chance.random() < 0.9 else Verdict.FAIL,
        answer=record.answer,
        metrics=metrics,
    )


def _sentence(language: str, chance: random.Random, words: int = 9) -> str:
    said = [chance.choice(_WORDS[language].split()) for _ in range(words)]
    return "".join(said) + "。" if language == "zh" else f"{' '.join(said).capitalize()}."


def _within(value: float) -> float:
    return min(1.0, max(0.0, value))
