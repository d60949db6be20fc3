"""Fills the template of a page with escaped text, its data, its style and its script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from string import Template
from typing import Any

from pytest_ragcheck._version import __version__
from pytest_ragcheck.package_text import package_text

_ESCAPED = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""Characters that could close the data's element or end a line in it, and those that UTF-8 cannot encode."""


def filled(name: str, *, title: str, data: Any, styles: Sequence[str] = ("page.css",), **markup: str) -> str:
    """
    A whole page with its style and script.

    *name* is the name of the template, and of its script. *title* is the text of the heading, and *data* the JSON value
    for the script. *markup* has the values of the template's other places, escaped by the caller.
    """
    style, script = "".join(map(_part, styles)), _part("shared.js") + _part(f"{name}.js")
    return Template(_part(f"{name}.html")).substitute(
        # The policy allows this file's own style and script only, whatever the data contains.
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        version=escaped(__version__),
        title=escaped(f"{title} - pytest-ragcheck"),
        heading=escaped(title),
        style=style,
        script=script,
        report=_json(data),
        **markup,
    )


def folded(title: str, content: str) -> str:
    return f'<details class="fold"><summary>{title}</summary>{content}</details>'


def card(name: str, value: str, note: str, *, change: str = "", chart: str = "", kind: str = "metric") -> str:
    """The card of one metric; the change and the chart are markup, escaped by the caller."""
    return (
        f'<article class="{kind}"><h3>{escaped(name)}</h3><p class="mean">{escaped(value)}{change}</p>'
        f"<p>{escaped(note)}</p>{chart}</article>"
    )


def decimals(value: float) -> str:
    """The value with 3 decimals, or with up to 6 if it would be shown as 0."""
    return f"{value:.3f}" if not value or abs(value) >= 0.0005 else f"{value:.6f}".rstrip("0")


def table(label: str, head: Iterable[str], rows: Iterable[Iterable[str]], *, kind: str = "scores") -> str:
    """A table that scrolls in its own region, with its cells escaped."""
    heading = "".join(f"<th>{escaped(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{label}"><table class="{kind}">'
        f"<thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def escaped(text: str) -> str:
    """The text escaped for an element or attribute, with invisible characters shown by their code."""
    return html.escape("".join(char if _is_shown(char) else f"[U+{ord(char):04X}]" for char in text))


def _is_shown(char: str) -> bool:
    return char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs"}


def _part(name: str) -> str:
    return package_text(f"report/html/{name}")


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
