"""
Lists the package's datasets, checks a user's choices against them, and reads SQuAD v2, HotpotQA and `golden`.

In SQuAD v2, half of the questions have no answer in their paragraph: Rajpurkar, Jia and Liang, "Know What You Don't
Know: Unanswerable Questions for SQuAD" (2018). In HotpotQA in the distractor setting, each question needs two of ten
paragraphs: Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering" (2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from importlib.util import find_spec
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.datasets.retrieved_datasets import MSMARCO, QASPER, RAGBENCH
from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, DatasetChoice, Hub, Row, passages_of
from pytest_ragcheck.questions.question import END_TO_END, GENERATION, RETRIEVAL_ALONE, Question
from pytest_ragcheck.questions.question_ids import derived_id


def _unfold_squad(document: Row) -> Iterator[Row]:
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
    unfold=_unfold_squad,
    hub=Hub(repository="rajpurkar/squad_v2"),
)


def _read_hotpotqa(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    """
    Yield the questions of the official form (`_id`, pairs) or of the hub's columns (`id`, lists by column).

    The gold passages are the paragraphs whose titles are among the supporting facts. The sentence numbers of the
    facts are not used, since some of them point behind the last sentence. A row of the file `fullwiki` may lack one of
    the two paragraphs, which answer only together; its question has no gold passages, and `metadata` has the titles.
    """
    for row in rows:
        paragraphs = [(title, _joined(row, sentences)) for title, sentences in _by_title(row, "context", "sentences")]
        supporting = {title for title, _ in _by_title(row, "supporting_facts", "sent_id")}
        metadata: dict[str, Any] = {name: row.text(name) for name in ("type", "level") if name in row}
        missing = supporting.difference(title for title, _ in paragraphs)
        if missing and len(supporting - missing) < 2:
            metadata["missing_paragraphs"] = sorted(missing)
            supporting = set()
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
            metadata=metadata,
        )


def _by_title(row: Row, name: str, second: str) -> tuple[tuple[str, Any], ...]:
    pairs = row.pairs(name, "title", second)
    for title, _ in pairs:
        if not isinstance(title, str):
            raise row.unexpected(name, "texts as titles", title)
    return tuple((unescape(title), value) for title, value in pairs)


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


def _read_golden(rows: Iterable[Row], dataset_name: str) -> Iterator[Question]:
    for row in rows:
        text, answer, context = row.text("question"), row.text("answer"), row.text("context")
        for name, value in (("answer", answer), ("context", context)):
            if not value.strip():
                raise row.unexpected(name, "a text that is not blank", value)
        document = row.optional_text("document")
        # One document may hold the contexts of several questions, so its name does not identify a passage.
        prefix = dataset_name if document is None else f"{dataset_name}:{document}"
        yield Question(
            dataset_name=dataset_name,
            id=row.optional_text("id") or derived_id(text),
            question=text,
            expected_answer=answer,
            **passages_of(prefix, gold=(context,)),
            metadata={} if document is None else {"document": document},
        )


_GOLDEN = Dataset(
    name="golden",
    tests="answers from the right text: questions of one's own, with answer and context",
    tiers=(GENERATION,),
    official='a JSON list of {"id"?, "question", "answer", "context", "document"?}',
    read=_read_golden,
)

DATASETS = (RAGBENCH, SQUAD_V2, _GOLDEN, QASPER, HOTPOTQA, MSMARCO)

_NAMES = frozenset(dataset.name for dataset in DATASETS)


def is_standard(dataset_name: str) -> bool:
    """True for a dataset of the package, which a run collects only by `--rag-dataset`."""
    return dataset_name.partition(":")[0] in _NAMES


def known_datasets(further: Iterable[Dataset] = ()) -> dict[str, Dataset]:
    """All datasets by name; a `UsageError` if two have the same."""
    known: dict[str, Dataset] = {}
    for dataset in (*DATASETS, *further):
        if dataset.name in known:
            raise UsageError(f"Dataset {dataset.name!r}: there is another of this name. Give yours another.")
        known[dataset.name] = dataset
    return known


def check_choices(choices: Sequence[DatasetChoice], known: Mapping[str, Dataset], *, tier: str) -> None:
    """
    Check that every choice can be loaded and run in the tier, without reading any dataset.

    Raises:
        UsageError: A choice is invalid; the text names all choices that do not support the tier.
    """
    # This check comes before those that need a package or a file, which would not help.
    if wrong := [choice for choice in choices if choice.name in known and tier not in known[choice.name].tiers]:
        named = ", ".join(f"{each.dataset_name} (supports {', '.join(known[each.name].tiers)})" for each in wrong)
        raise UsageError(
            f"the tier {tier!r} is not supported by {named}. "
            "Choose a tier that they support with --rag-tier, or leave them out."
        )
    for choice in choices:
        check_choice(choice, known)
    names = [choice.dataset_name for choice in choices]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"{', '.join(twice)} is given twice, and two questions cannot have one node id. "
            "Run them one after the other."
        )


def check_choice(choice: DatasetChoice, known: Mapping[str, Dataset]) -> None:
    """Raise a `UsageError` unless dataset, subset and path exist, and the library of the hub if it is needed."""
    dataset = known.get(choice.name)
    if dataset is None:
        raise UsageError(f"{choice.name!r} is not a dataset; choose one of {', '.join(known)}.")
    if choice.subset is not None and choice.subset not in dataset.subsets:
        subsets = ", ".join(dataset.subsets)
        way = f"choose one of {subsets}" if subsets else "leave it out"
        raise UsageError(f"{choice.name} has no subset {choice.subset!r}; {way}.")
    if choice.path is not None:
        if not choice.path.exists():
            raise UsageError(f"{choice}: there is no such file. Give the path of the dataset's file.")
        return
    if dataset.hub is None:
        raise UsageError(f"{choice.name} is read from a file; write {choice.dataset_name}=PATH.")
    if dataset.subsets and choice.subset is None:
        raise UsageError(
            f"{choice.name} has several subsets; write one of "
            f"{', '.join(f'{choice.name}:{subset}' for subset in dataset.subsets)}."
        )
    if not has_hub():
        raise UsageError(
            f"to load {choice.dataset_name} by its name, the package 'datasets' is needed: "
            f'pip install "pytest-ragcheck[datasets]". Or give its file: {choice.dataset_name}=PATH.'
        )


def has_hub() -> bool:
    """True if the `datasets` library, which loads from the hub, is installed."""
    try:
        return find_spec("datasets") is not None
    except ValueError:  # raised for a module in sys.modules that has no spec
        return False
