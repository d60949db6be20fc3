"""Facts about an answer as a model would reply with them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.servers.openai_server import completion

if TYPE_CHECKING:
    from tests.servers.openai_server import Script

NONCE = "5f0c9a1e77b2d304"


def statement(text: str = "It is 30 days.", *, in_reference: Any = True, supported: Any = True) -> dict[str, Any]:
    return {"statement": text, "in_reference": in_reference, "supported_by_context": supported}


def facts_text(nonce: str = NONCE, /, **fields: Any) -> str:
    """The JSON of a reply; a field given as `...` is left out."""
    facts = {
        "nonce": nonce,
        "statements": [statement()],
        "missing_statements": [],
        "generated_questions": ["How long?", "Until when?", "How many days?"],
        "noncommittal": False,
        "context_ratings": [2, 1],
        **fields,
    }
    return json.dumps({name: value for name, value in facts.items() if value is not ...})


def finds(**fields: Any) -> Script:
    """A script that replies with these facts, carrying the nonce of the request."""
    return lambda request: completion(facts_text(request.nonce, **fields))
