"""`ragcheck schema NAME`: the JSON Schema of question files, or of a result file."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

SCHEMAS = ("questions", "predictions", "summary")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of `ragcheck`."""
    parser = commands.add_parser(
        "schema",
        help="print the JSON Schema of question files, or of a result file",
        description="Prints a JSON Schema (draft 2020-12): of question files, for completion and checks in an editor, "
        "or of one of the result files.",
    )
    parser.add_argument(
        "name",
        choices=SCHEMAS,
        help="which file: *.rag.yaml, *.rag.json and {dataset}_questions.json, {agent}_predictions.json, or "
        "{agent}_summary.json",
    )
    parser.set_defaults(run=_run)


def read_schema(name: str) -> str:
    """The text of one of `SCHEMAS`, the same in every environment."""
    if name == "questions":
        from pytest_ragcheck.questions.schema import question_file_schema  # noqa: PLC0415 - for this name only

        return json.dumps(question_file_schema(), indent=2) + "\n"
    return files("pytest_ragcheck.summary").joinpath(f"schemas/{name}.schema.json").read_text(encoding="utf-8")


def _run(chosen: argparse.Namespace) -> int:
    print(read_schema(chosen.name), end="")
    return 0
