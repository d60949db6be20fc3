"""The JSON schema of the judge's reply."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[1] / "prompts" / "reply.schema.json"
"""Written from `JudgeReply`, whose import takes 0.05 s and is not needed before the first reply."""


@cache
def reply_schema() -> dict[str, Any]:
    """The schema in strict form: every field is required, no others are allowed, and there are no defaults."""
    schema: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return schema
