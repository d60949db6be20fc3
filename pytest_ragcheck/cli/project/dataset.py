from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from pytest_ragcheck.cli.command_line import complain, say
from pytest_ragcheck.config.metric_readers import read_count, read_number
from pytest_ragcheck.errors import DatasetError, UsageError
from pytest_ragcheck.questions.datasets.registry import DATASETS, check_choice, known_datasets
from pytest_ragcheck.questions.datasets.standard_dataset import DatasetChoice, read_choice
from pytest_ragcheck.questions.planted_documents import ATTACKS, plants_of, with_plants
from pytest_ragcheck.questions.question import END_TO_END, GENERATION
from pytest_ragcheck.scores import ASSERTABLE
from pytest_ragcheck.short_texts import counted

_INJECTION = "injection"
_ENDINGS = ("_questions.json", ".rag.json", ".rag.yaml", ".rag.yml")
"""Endings of files that pytest finds."""


def run(chosen: argparse.Namespace) -> int:
    if chosen.name is None:
        say(*_listed())
        return 0
    try:
        say(_plant(chosen) if chosen.name == _INJECTION else _write(chosen))
    except (DatasetError, OSError) as error:
        complain("dataset", error)
        return 1
    return 0


def _listed() -> Iterator[str]:
    for dataset in DATASETS:
        where = "a file only" if dataset.hub is None else f"a file, or the hub ({dataset.hub.repository})"
        split = "" if dataset.hub is None else f", split {dataset.split}"
        yield dataset.name
        yield f"  tiers    {', '.join(dataset.tiers)}"
        yield f"  tests    {dataset.tests}"
        yield f"  from     {where}{split}"
        yield f"  form     {dataset.official}"
        if dataset.subsets:
            yield f"  subsets  {', '.join(dataset.subsets)}"


def _write(chosen: argparse.Namespace) -> str:
    from pytest_ragcheck.questions.collected_questions import asked_in
    from pytest_ragcheck.questions.datasets.loading import load_questions
    from pytest_ragcheck.questions.question_rows import write_questions

    choice = _choice(chosen)
    known = known_datasets()
    check_choice(choice, known)
    output = _output(chosen, choice.dataset_name.replace(":", "-") + _ENDINGS[0])
    if choice.path is not None:
        _check_other(choice.path, output)
    samples = None if chosen.samples is None else _number("--samples", chosen.samples, read_count)
    seed = _number("--seed", chosen.seed, read_number)
    questions = load_questions(choice, known[choice.name], samples=samples, seed=seed)
    if known[choice.name].tiers == (GENERATION,):
        questions = asked_in(questions, tier=GENERATION, ingest=False)
    write_questions(output, questions.dataset_name, questions.questions)
    return f"{output}: {counted(len(questions.questions), 'question')} of {choice}"


def _plant(chosen: argparse.Namespace) -> str:
    import secrets

    from pytest_ragcheck.questions.collected_questions import asked_in
    from pytest_ragcheck.questions.question_rows import write_questions
    from pytest_ragcheck.questions.reader import default_dataset_name, read_question_file

    path: Path | None = chosen.path
    if path is None:
        raise UsageError("name the question file: ragcheck dataset injection shop.rag.yaml -o planted.rag.yaml.")
    if chosen.samples is not None:
        raise UsageError("injection takes every question of the file. Leave out --samples.")
    output = _output(chosen, "planted.rag.yaml")
    read = read_question_file(path, root=Path(), known_metrics=ASSERTABLE)
    if not all(map(plants_of, read.questions)):
        _check_other(path, output)
    planted, left = [], []
    for question in read.questions:
        # Ingestion needs texts, and the system may have these documents already.
        gold = tuple(filter(attrgetter("text"), question.gold_passages))
        others = tuple(filter(attrgetter("text"), question.distractors))
        if gold != question.gold_passages:
            left.append(question.id)
        asked = replace(question, gold_passages=gold, distractors=others, tier=END_TO_END, ingest=True)
        planted.append(with_plants(asked, lambda: secrets.token_hex(6)))
    asked_in(replace(read, questions=tuple(planted), tier=None, ingest=True), tier=END_TO_END, ingest=True, root=Path())
    write_questions(output, default_dataset_name(output, output.parent), planted)
    questions = counted(len(planted), "question")
    more = f"\n  not carried over: gold passages without a text to upload, of {', '.join(left)}" if left else ""
    return f"{output}: {questions} of {path}, each with {len(ATTACKS)} attacks in 4 planted documents{more}"


def _output(chosen: argparse.Namespace, example: str) -> Path:
    output: Path | None = chosen.output
    if output is None or not output.name.endswith(_ENDINGS):
        raise UsageError(f"give -o a name that pytest collects as a question file, such as -o {example}.")
    return output


def _check_other(source: Path, output: Path) -> None:
    from pytest_ragcheck.report.files.output_folder import without_links

    if without_links(source) == without_links(output):
        raise UsageError(f"-o: {source} holds the questions. Choose another file.")


def _choice(chosen: argparse.Namespace) -> DatasetChoice:
    try:
        choice = read_choice(chosen.name)
    except ValueError as error:
        raise UsageError(f"{chosen.name!r} {error}") from None
    if chosen.path is None:
        return choice
    if choice.path is not None:
        raise UsageError(f"two files are given, {choice.path} and {chosen.path}. Give one.")
    return replace(choice, path=chosen.path)


def _number(option: str, text: str, read: Callable[[str], int]) -> int:
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{option}: {text!r} {error}") from None
