"""Makes a `Question` from a call of `rag_check`, and checks one that a script or a dataset of the user made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.fields.key_names import PASSAGE
from pytest_ragcheck.questions.mention import compile_mention
from pytest_ragcheck.questions.question import END_TO_END, RETRIEVAL_ALONE, TIERS, GoldPassage, Question, text_digest
from pytest_ragcheck.questions.question_ids import id_mistake, usable_id
from pytest_ragcheck.questions.reader import default_dataset_name
from pytest_ragcheck.scores import BOUNDED, JUDGED, listed

_GOLD = 'give a text, or {"text": "...", "doc_id": "..."} with either or both.'


def question_of_call(
    question: str,
    *,
    test_file: Path,
    root: Path,
    line: int,
    id: str,  # noqa: A002 - the name of the field
    expected: str | Sequence[str] | None,
    answerable: bool,
    must_mention: str | Sequence[str],
    must_not_mention: str | Sequence[str],
    must_cite: str | Sequence[str],
    must_not_retrieve: str | Sequence[str],
    thresholds: float | Mapping[str, float] | None,
    top_k: int | None,
    gold_passages: Sequence[str | Mapping[str, str] | GoldPassage],
    tier: str,
    identity: str,
    known_metrics: Collection[str],
) -> Question:
    """
    The question of a `rag_check` call; its dataset is named after the test's file.

    Raises:
        UsageError: An argument cannot be used; the text names it and its valid values.
    """
    given = {"the question": question, "answerable": answerable, "top_k": top_k, "tier": tier, "identity": identity}
    _check("rag_check", given, _ARGUMENTS)
    gold = tuple(map(_gold_passage, _sequence(gold_passages)))
    if tier == RETRIEVAL_ALONE and not ((gold and answerable) or must_not_retrieve):
        raise UsageError(
            f"rag_check: the tier {RETRIEVAL_ALONE!r} looks for gold passages; "
            "give gold_passages to an answerable question."
        )
    acceptable = () if expected is None else _texts("expected", expected)
    return Question(
        dataset_name=default_dataset_name(test_file, root),
        id=usable_id(id),
        question=question,
        expected_answer=acceptable[0] if acceptable else None,
        all_acceptable_answers=acceptable,
        must_mention=_mentions("must_mention", must_mention),
        must_not_mention=_mentions("must_not_mention", must_not_mention),
        must_cite=_texts("must_cite", must_cite),
        must_not_retrieve=_texts("must_not_retrieve", must_not_retrieve),
        answerable=answerable,
        thresholds=_thresholds(thresholds, known_metrics),
        top_k=top_k,
        gold_passages=gold,
        tier=tier,
        identity=identity,
        path=test_file,
        line=line,
    )


def id_of_call(node_id: str, number: int) -> str:
    """The id for the *number*-th call of the test, from 1; another one for each test of a file."""
    test, bracket, parameters = node_id.partition("::")[2].partition("[")
    parameters = parameters.removesuffix("]")
    kept = usable_id(parameters)
    if kept != parameters:  # else "std::sort" and "std__sort" would be one
        kept += f"-{text_digest(parameters)[:4]}"
    caller = usable_id(test.replace("::", "."))
    return f"{caller}({kept})-{number}" if bracket else f"{caller}-{number}"


def caller_of(node_id: str, root: Path) -> tuple[str, str]:
    """The dataset name of the test, and the common prefix of the ids of its calls."""
    return default_dataset_name(root / node_id.partition("::")[0], root), id_of_caller(id_of_call(node_id, 1))


def id_of_caller(id: str) -> str:  # noqa: A002 - as above
    return id.rpartition("-")[0]


def _check(place: str, values: Mapping[str, Any], rules: Mapping[str, _Rule]) -> None:
    for name, (is_valid, valid) in rules.items():
        if not is_valid(values[name]):
            raise UsageError(f"{place}: {name} is {values[name]!r:.80}; give {valid}.")


def _sequence(given: Any) -> tuple[Any, ...]:
    is_one = isinstance(given, str | Mapping) or not isinstance(given, Iterable)
    return (given,) if is_one else tuple(given)


def _gold_passage(given: Any) -> GoldPassage:
    if _is_passage(given):
        return given
    fields = {"text": given} if isinstance(given, str) else given
    if isinstance(fields, Mapping):
        names = PASSAGE.real_names
        known = {names[key]: value for key, value in fields.items() if key in names and value is not None}
        is_whole = len(known) == sum(value is not None for value in fields.values())
        if is_whole and all(map(_is_text, known.values())) and ("text" in known or "doc_id" in known):
            return GoldPassage(text=known.get("text", ""), doc_id=known.get("doc_id"), identity=known.get("as", ""))
    raise UsageError(f"rag_check: gold_passages: found {given!r:.80}; {_GOLD}")


def _texts(name: str, given: str | Sequence[str]) -> tuple[str, ...]:
    texts = _sequence(given)
    for text in texts:
        if not _is_text(text):
            raise UsageError(f"rag_check: {name} is {text!r}; give a text, or leave it out.")
    return texts


def _mentions(name: str, given: str | Sequence[str]) -> tuple[str, ...]:
    mentions = _texts(name, given)
    check_mentions(mentions, f"rag_check: {name}")
    return mentions


def _thresholds(given: float | Mapping[str, float] | None, known_metrics: Collection[str]) -> dict[str, float]:
    if given is None:
        return {}
    by_metric: Mapping[str, float] = given if isinstance(given, Mapping) else dict.fromkeys(JUDGED, given)
    check_thresholds(by_metric, known_metrics, "rag_check: thresholds")
    return {metric: float(value) for metric, value in by_metric.items()}


def check_values(question: Question, *, known_metrics: Collection[str], given_as: str) -> None:
    """
    Check the types and values of a question of no question file.

    Raises:
        UsageError: A value cannot be used; the text begins with *given_as*, and names the field and its valid values.
    """
    place = f"{given_as}: question {question.id!r:.80}"
    _check(place, {name: getattr(question, name) for name in _FIELDS}, _FIELDS)
    if mistake := id_mistake(question.conversation or question.id):
        raise UsageError(f"{place} {mistake}")
    check_mentions(question.must_mention, f"{place}: must_mention")
    check_mentions(question.must_not_mention, f"{place}: must_not_mention")
    check_thresholds(question.thresholds, known_metrics, f"{place}: thresholds")


def is_top_k(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1)


def check_mentions(mentions: Collection[str], given_as: str) -> None:
    """Raise a `UsageError` if Python's `re` does not compile a regular expression among the mentions."""
    try:
        for mention in mentions:
            compile_mention(mention)
    except ValueError as error:
        raise UsageError(f"{given_as}: {error}") from None


def check_thresholds(by_metric: Mapping[str, Any], known_metrics: Collection[str], given_as: str) -> None:
    """Raise a `UsageError` if a metric is unknown, or a number is out of its range."""
    for metric, value in by_metric.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if metric in BOUNDED:
            if not (is_number and 0 < value < float("inf")):
                raise UsageError(f"{given_as}: {metric} is {value!r}; give a number above 0.")
        elif metric not in known_metrics:
            known = listed((*known_metrics, *BOUNDED))
            raise UsageError(f"{given_as}: there is no metric {metric!r}; the metrics are {known}.")
        elif not (is_number and 0 <= value <= 1):
            raise UsageError(f"{given_as}: {metric} is {value!r}; give a number from 0 to 1.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_passage(value: Any) -> TypeGuard[GoldPassage]:
    return (
        isinstance(value, GoldPassage)
        and isinstance(value.text, str)
        and isinstance(value.doc_id, str | None)
        and isinstance(value.identity, str)
    )


def _are(values: Any, is_valid: Callable[[Any], bool]) -> bool:
    return isinstance(values, list | tuple) and all(map(is_valid, values))


_TEXT = (_is_text, "a text")
_TEXT_OR_NONE = (lambda value: isinstance(value, str | None), "a text or None")
_TEXTS = (lambda values: _are(values, _is_text), "a tuple of texts")
_PASSAGES = (
    lambda values: _are(values, _is_passage),
    "a tuple of GoldPassage objects, with text='' for none",
)
_MAPPING = (lambda value: isinstance(value, Mapping), "a mapping")

_Rule: TypeAlias = tuple[Callable[[Any], bool], str]
"""The condition of a value, and the valid values for the error."""

_FIELDS: Mapping[str, _Rule] = {
    "dataset_name": _TEXT,
    "id": _TEXT,
    "question": _TEXT,
    "expected_answer": (lambda value: value is None or _is_text(value), "a text or None"),
    # An acceptable answer of a standard dataset may be blank.
    "all_acceptable_answers": (lambda values: all(isinstance(value, str) for value in values), "a tuple of texts"),
    "must_mention": _TEXTS,
    "must_not_mention": _TEXTS,
    "must_cite": _TEXTS,
    "must_not_retrieve": _TEXTS,
    "gold_passages": _PASSAGES,
    "distractors": _PASSAGES,
    "answerable": (lambda value: isinstance(value, bool), "True or False"),
    "thresholds": _MAPPING,
    "top_k": (is_top_k, "a whole number from 1"),
    "tags": _TEXTS,
    "skip": _TEXT_OR_NONE,
    "xfail": _TEXT_OR_NONE,
    "quarantine": _TEXT_OR_NONE,
    "tier": (lambda value: value in TIERS, f"one of {', '.join(TIERS)}"),
    "metadata": _MAPPING,
}
_ARGUMENTS: Mapping[str, _Rule] = {
    "the question": _TEXT,
    **{name: _FIELDS[name] for name in ("answerable", "top_k")},
    "tier": (lambda value: value in (END_TO_END, RETRIEVAL_ALONE), f"{END_TO_END!r} or {RETRIEVAL_ALONE!r}"),
    "identity": (lambda value: isinstance(value, str), "a name of rag_identities"),
}
