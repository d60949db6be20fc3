"""Writes a question file as YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from pytest_ragcheck.questions.characters import UNPRINTABLE

_INVISIBLE = re.compile(rf"(?![\n ])[{UNPRINTABLE}]")


class _Dumper(yaml.SafeDumper):
    """Writes texts with invisible characters in double quotes, in which they can be escaped."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _INVISIBLE.search(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def yaml_text(document: Mapping[str, Any]) -> str:
    """The document as YAML with its keys in their order, in which no character is invisible."""
    text = yaml.dump(dict(document), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=2**31)
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
