"""Resolves the citations of an answer to its contexts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.rag.citation_markers import MarkedText, Marker, find_markers

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer

_EXTENSION = re.compile(r"\.[a-z]{2,4}[0-9]?$")
_SCHEME = re.compile(r"^[a-z]+://(?:www\.)?")
_URL_IN_TEXT = re.compile(r"https?://[^\s)\]>\"']+")
_FILE_IN_TEXT = re.compile(r"[\w./-]+\.[A-Za-z]{2,4}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One reference of a marker; `[1, 2]` has two."""

    marker: Marker
    target: str
    """A number in digits, or the name or address of a document."""

    contexts: tuple[int, ...] | None
    """
    The positions of the cited contexts, from 0; empty if the reference resolves to none.

    None if that cannot be known: the reference is a name, and the contexts have no ids.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedAnswer:
    """The citations of an answer."""

    citations: tuple[Citation, ...]
    """In their order; empty if the answer has no markers."""

    marked: MarkedText
    """The markers and the definitions that were resolved."""


def cited_answer(answer: RagAnswer) -> CitedAnswer:
    """
    Return the citations of the answer.

    A number is the rank of a context, from 1; one beyond them may be a document's id. A footnote or a numbered list of
    sources in the answer gives its numbers a name. A name resolves to all contexts of its document: it equals the id,
    its last part, or that without its extension, in any case.
    """
    ids = _ids(answer)
    known = set().union(*ids) if ids is not None else set[str]()
    shapes = {shape for name in known if (shape := _shape(name)) is not None}

    def is_document(name: str) -> bool:
        return any(is_same_document(name, each) for each in known) or _shape(name) in shapes

    marked = find_markers(answer.text, answer.contexts, is_document=is_document)
    citations = [
        citation
        for marker in marked.markers
        for target in marker.targets
        if (citation := _citation(marker, target, marked, answer, ids)) is not None
    ]
    return CitedAnswer(citations=tuple(citations), marked=marked)


def cites_document(citation: Citation, document: str, answer: RagAnswer) -> bool | None:
    """Return True if the citation is of a context of the document; None if that cannot be known."""
    ids = _ids(answer)
    if citation.contexts == ():
        return False
    if ids is None:
        return True if is_same_document(citation.target, document) else None
    return any(is_same_document(document, name) for at in citation.contexts or () for name in ids[at])


def is_same_document(name: str, document: str) -> bool:
    """Return True if the name is the document's id, or the last part of it, with or without its extension."""
    left, right = _folded(name), _folded(document)
    if not left or not right:
        return False
    if left == right or _plain(left) == _plain(right):
        return True
    # A path or an address in full must be equal; otherwise two documents of one name would be the same.
    if "/" in left and "/" in right:
        return left.endswith(f"/{right}") or right.endswith(f"/{left}")
    return _plain(left.rpartition("/")[2]) == _plain(right.rpartition("/")[2])


def _citation(
    marker: Marker, target: str, marked: MarkedText, answer: RagAnswer, ids: list[set[str]] | None
) -> Citation | None:
    """The resolved reference; None for a link that a context has, which the answer only repeats."""
    name = target
    if target in marked.definitions:
        text = marked.definitions[target]
        name = _name_in(text, ids) or (target if target.isdigit() else text)
    if name.isdigit() and (not ids or not any(name in each for each in ids) or 0 < int(name) <= len(answer.contexts)):
        rank = int(name)
        return Citation(marker=marker, target=target, contexts=(rank - 1,) if 0 < rank <= len(answer.contexts) else ())
    found: tuple[int, ...] | None
    if ids is None:
        found = None if answer.contexts else ()
    else:
        found = tuple(at for at, names in enumerate(ids) if any(is_same_document(name, each) for each in names))
    if not found and _URL_IN_TEXT.fullmatch(name) and any(name in context for context in answer.contexts):
        return None
    return Citation(marker=marker, target=name, contexts=found)


def _name_in(text: str, ids: list[set[str]] | None) -> str:
    """The document that the text of a footnote names; empty if it names none."""
    if address := _URL_IN_TEXT.search(text):
        return address[0].rstrip(".,;")
    first = re.split(r"[,;]| [–—-] ", text)[0]
    folded = text.casefold()
    for name in sorted(set().union(*ids) if ids else (), key=len, reverse=True):
        if is_same_document(first, name) or re.search(rf"(?<!\w){re.escape(_folded(name))}(?!\w)", folded):
            return name
    file = _FILE_IN_TEXT.search(text)
    return file[0] if file else ""


def _ids(answer: RagAnswer) -> list[set[str]] | None:
    """The ids of each context, our own and the server's; None if the reply has none."""
    if answer.source_ids is None:
        return None
    ids: list[set[str]] = [set() for _ in answer.contexts]
    for given in (answer.source_ids, answer.server_source_ids or ()):
        for names, name in zip(ids, given, strict=False):
            if name:
                names.add(name)
    return ids


def _folded(name: str) -> str:
    name = _SCHEME.sub("", " ".join(name.split()).casefold()).partition("#")[0]
    return name.rstrip("/")


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", _EXTENSION.sub("", name)).strip()


def _shape(name: str) -> str | None:
    """The kind of id that the name is: `a-9` for `doc-12`; None for a plain word or number, and for a long text."""
    if " " in name or len(name) > 100:
        return None
    shape = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", name))
    return None if shape in {"a", "9", ""} or not {"a", "9"} <= set(shape) else shape
