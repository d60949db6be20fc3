"""
HotpotQA in the distractor setting has questions that need two of ten paragraphs.

Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering" (2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Hub, Row, passages_of
from pytest_ragcheck.questions.question import END_TO_END, RETRIEVAL_ALONE, Question


def read(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
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


DATASET = Dataset(
    name="hotpotqa",
    tests="retrieval of two paragraphs that answer only together, among eight that mislead",
    tiers=(RETRIEVAL_ALONE, END_TO_END),
    official='a JSON list of {"_id", "question", "answer", "supporting_facts": [[title, sentence]], '
    '"context": [[title, [sentence]]]}, or the hub\'s columns of the same names',
    read=read,
    hub=Hub(repository="hotpotqa/hotpot_qa", config="distractor"),
)
