"""
Reads SQuAD v2 and HotpotQA, whose questions are about paragraphs of Wikipedia.

In SQuAD v2, half of the questions have no answer in their paragraph: Rajpurkar, Jia and Liang, "Know What You Don't
Know: Unanswerable Questions for SQuAD" (2018). In HotpotQA in the distractor setting, each question needs two of ten
paragraphs: Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering" (2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Hub, Row, passages_of
from pytest_ragcheck.questions.question import END_TO_END, GENERATION, RETRIEVAL_ALONE, Question


def _unfold(document: Row) -> Iterator[Row]:
    # The official articles nest paragraphs and questions.
    if "data" not in document:
        yield document
        return
    for article in document.rows("data"):
        for paragraph in article.rows("paragraphs"):
            shared = {"title": article.columns.get("title"), "context": paragraph["context"]}
            for qa in paragraph.rows("qas"):
                yield Row(qa.place, {**qa.columns, **shared})


def _read_squad(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """
    Yield the questions of the official form or of the hub's columns.

    `is_impossible` marks an unanswerable question in the official form; on the hub such a question has no answers. The
    `plausible_answers` of an unanswerable question are wrong, and its paragraph is sent as a distractor.
    """
    for row in rows:
        answers = tuple(dict.fromkeys(answer.text("text") for answer in row.rows("answers")))
        impossible = row.flag("is_impossible")
        answerable = bool(answers) if impossible is None else not impossible
        if answerable and not answers:
            raise row.unexpected("answers", "at least one answer of a question that is not is_impossible", ())
        context = row.text("context")
        title = row.optional_text("title")
        yield Question(
            dataset_name=dataset_name,
            id=row.text("id"),
            question=row.text("question"),
            expected_answer=answers[0] if answerable else None,
            all_acceptable_answers=answers if answerable else (),
            **passages_of(dataset_name, gold=(context,) if answerable else (), others=(context,)),
            answerable=answerable,
            metadata={} if title is None else {"title": title},
        )


SQUAD_V2 = Dataset(
    name="squad_v2",
    tests="abstention: questions with and without an answer in their paragraph",
    tiers=(GENERATION,),
    official='JSON of {"version", "data": [{"title", "paragraphs": [{"context", "qas"}]}]}, or the hub\'s columns '
    "id, title, context, question, answers",
    read=_read_squad,
    unfold=_unfold,
    hub=Hub(repository="rajpurkar/squad_v2"),
)


def _read_hotpotqa(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """
    Yield the questions of the official form (`_id`, pairs) or of the hub's columns (`id`, lists by column).

    The gold passages are the paragraphs whose titles are among the supporting facts. The sentence numbers of the
    facts are not used, since some of them point behind the last sentence.
    """
    for row in rows:
        paragraphs = [(title, _joined(row, sentences)) for title, sentences in _by_title(row, "context", "sentences")]
        supporting = {title for title, _ in _by_title(row, "supporting_facts", "sent_id")}
        answer = row.text("answer")
        if not answer.strip():
            raise row.unexpected("answer", "an answer", answer)
        yield Question(
            dataset_name=dataset_name,
            id=row.text("_id" if "_id" in row else "id"),
            question=row.text("question"),
            expected_answer=answer,
            **passages_of(
                dataset_name,
                gold=(text for title, text in paragraphs if title in supporting),
                others=(text for _, text in paragraphs),
            ),
            metadata={name: row.text(name) for name in ("type", "level") if name in row},
        )


def _by_title(row: Row, name: str, second: str) -> tuple[tuple[str, Any], ...]:
    pairs = row.pairs(name, "title", second)
    for title, _ in pairs:
        if not isinstance(title, str):
            raise row.unexpected(name, "texts as titles", title)
    return pairs


def _joined(row: Row, sentences: Any) -> str:
    # The sentences include the spaces between them.
    if not isinstance(sentences, (list, tuple)) or not all(isinstance(sentence, str) for sentence in sentences):
        raise row.unexpected("context", "paragraphs as lists of sentences", sentences)
    return "".join(sentences).strip()


HOTPOTQA = Dataset(
    name="hotpotqa",
    tests="retrieval of two paragraphs that answer only together, among eight that mislead",
    tiers=(RETRIEVAL_ALONE, END_TO_END),
    official='a JSON list of {"_id", "question", "answer", "supporting_facts": [[title, sentence]], '
    '"context": [[title, [sentence]]]}, or the hub\'s columns of the same names',
    read=_read_hotpotqa,
    hub=Hub(repository="hotpotqa/hotpot_qa", config="distractor"),
)
