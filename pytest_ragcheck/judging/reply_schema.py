"""What a judge is asked to reply, as a JSON schema."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "prompts" / "reply.schema.json"
"""Written from `reply.JudgeReply`, which takes 0.05 s to load and is not needed before there is a reply."""


@cache
def reply_schema() -> dict[str, Any]:
    """The JSON schema of a reply as strict servers want it: every field required, nothing beside, no defaults."""
    schema: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return schema
