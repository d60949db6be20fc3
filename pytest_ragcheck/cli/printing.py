"""Prints texts that may come from files and servers, without commands to terminals and CI runners."""

from __future__ import annotations

import json
import sys
from typing import Any

from pytest_ragcheck.redaction.printable import printable


def say(*lines: object) -> None:
    for line in lines:
        print(printable(str(line)))


def complain(command: str, error: object) -> None:
    print(printable(f"ragcheck {command}: {error}"), file=sys.stderr)


def json_text(document: Any) -> str:
    """The document as ASCII JSON without commands to CI runners, with a final line break."""
    return json.dumps(document, indent=2).replace("##", r"#\u0023") + "\n"
