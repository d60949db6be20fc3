"""`ragcheck schema NAME`: the JSON Schema of a result file, or of a question file."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

SCHEMAS = {
    "questions": "pytest_ragcheck.summary",
    "predictions": "pytest_ragcheck.summary",
    "summary": "pytest_ragcheck.summary",
    "question-file": "pytest_ragcheck.questions",
}
"""Each schema with the package whose documents it describes."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of `ragcheck`."""
    parser = commands.add_parser(
        "schema",
        help="print the JSON Schema of a result file, or of question files",
        description="Prints the JSON Schema of one of the result files (draft 2020-12), or of question files as people "
        "write them (draft 7, which editors read).",
    )
    parser.add_argument(
        "name",
        choices=SCHEMAS,
        help="which file: {dataset}_questions.json, {agent}_predictions.json, {agent}_summary.json, or *.rag.yaml",
    )
    parser.set_defaults(run=_run)


def read_schema(name: str) -> str:
    """The text of a schema that ships with the package."""
    return files(SCHEMAS[name]).joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8")


def _run(chosen: argparse.Namespace) -> int:
    print(read_schema(chosen.name), end="")
    return 0
