from __future__ import annotations

import argparse
import json
from typing import Any

from pytest_ragcheck.summary.result_schemas import result_schema


def read_schema(name: str) -> str:
    if name == "questions":
        from pytest_ragcheck.questions.fields.question_file_schema import question_file_schema

        schema: Any = question_file_schema()
    else:
        schema = result_schema(name)
    return json.dumps(schema, indent=2) + "\n"


def run(chosen: argparse.Namespace) -> int:
    print(read_schema(chosen.name), end="")
    return 0
