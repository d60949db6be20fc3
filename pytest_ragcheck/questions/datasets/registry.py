"""Lists the package's datasets, with `golden` for a user's own, and checks a user's choices against them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.datasets.dataset_names import DatasetChoice
from pytest_ragcheck.questions.datasets.retrieved_datasets import MSMARCO, QASPER, RAGBENCH
from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, Row, passages_of
from pytest_ragcheck.questions.datasets.wikipedia_datasets import HOTPOTQA, SQUAD_V2
from pytest_ragcheck.questions.question import GENERATION, Question
from pytest_ragcheck.questions.question_ids import derived_id


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
