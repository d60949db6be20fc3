"""Resolves the citations of an answer to its contexts."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from urllib.parse import unquote

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.citation_markers import MarkedText, Marker, find_markers
from pytest_ragcheck.rag.citation_targets import named_pattern

_EXTENSION = re.compile(r"\.[a-z]{2,4}[0-9]?$")
_PART = named_pattern("part")
_SCHEME = re.compile(r"^[a-z]+://(?:www\.)?|[?&]utm_[^#]*")
_URL_IN_TEXT = named_pattern("url_in_text")
_LETTERS = re.compile(r"[^\W\d_]+")
_ONE_KIND = re.compile(r"[\d\W_]*|[^\d]*")
_LEADING_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")
_SOURCE_WORD = named_pattern("source_word")
_FILE_IN_TEXT = re.compile(r"[\w./-]+\.[A-Za-z]{2,4}\b")


@frozen
class Citation:
    """One reference of a marker; `[1, 2]` has two."""

    marker: Marker
    target: str
    """A number in digits, or the name or address of a document."""

    contexts: tuple[int, ...] | None
    """
    The positions of the cited contexts, from 0; empty if the reference resolves to none.

    None if they are unknown: the reference is a name, and the contexts have no ids.
    """


@frozen
class CitedAnswer:
    citations: tuple[Citation, ...]
    """In their order; empty if the answer has no markers."""

    marked: MarkedText
    """The markers and the definitions that were resolved."""

    ids: tuple[frozenset[str], ...] | None
    """The ids of each context; None if the reply has none."""

    def cites(self, document: str) -> bool | None:
        """True if a citation refers to a context of the document; None if that is unknown."""
        if self.ids is None:
            names = {citation.target for citation in self.citations if citation.contexts != ()}
            if any(is_same_document(name, document) for name in names):
                return True
            return None if names else False
        cited = {at for each in self.citations for at in each.contexts or ()}
        return any(is_same_document(name, document) for at in cited for name in self.ids[at])


def cited_answer(answer: RagAnswer, document: str = "") -> CitedAnswer:
    """
    The citations of the answer.

    A number is the rank of a context, from 1; a larger number may be a document's id. A footnote or a numbered list of
    sources in the answer maps its numbers to names. A name resolves to all contexts of its document: it is the id, the
    last part of the id, or that part without its last extension, in any case. The *document* counts as a name in
    brackets even if no context has it.
    """
    documents = _Documents(answer, document)
    marked = find_markers(answer.text, answer.contexts, is_document=documents.may_have)
    resolved = {
        target: _resolved(target, marked, answer, documents)
        for target in dict.fromkeys(target for marker in marked.markers for target in marker.targets)
    }
    repeated = (
        {_folded(link) for context in answer.contexts for link in _URL_IN_TEXT.findall(context)}
        if any(not contexts for _, contexts in resolved.values())
        else set[str]()
    )
    citations = [
        Citation(marker=marker, target=name, contexts=contexts)
        for marker in marked.markers
        for name, contexts in (resolved[target] for target in marker.targets)
        # The answer only repeats a link that a context has.
        if contexts or not (_URL_IN_TEXT.fullmatch(name) and _folded(name) in repeated)
    ]
    citing = {citation.marker.start for citation in citations}
    markers = tuple(marker for marker in marked.markers if marker.start in citing)
    return CitedAnswer(citations=tuple(citations), marked=replace(marked, markers=markers), ids=documents.ids)


def document_of(source_id: str) -> str:
    """The document of an id: `terms.md` for `terms.md#2`, `terms` for `terms-chunk-2`, `a-2` for itself."""
    folder, slash, name = source_id.rpartition("/")
    part = _PART.fullmatch(name)
    return f"{folder}{slash}{part[part.lastindex or 0]}" if part else source_id


def is_same_document(source_id: str, document: str) -> bool:
    """
    True if the id names the document or a part of it.

    The document may be named by the last part of the id, with or without its extension. Of two names with `#`, both
    parts must be the same.
    """
    if "#" in source_id and "#" in document:
        return _is_same_part(source_id, document)
    return any(_is_same(each, document) for each in (source_id, document_of(source_id)))


def are_other_documents(source_id: str, document: str) -> bool:
    """
    True if two names of one form, such as `at.md` and `de.md`, or `v1` and `v2`, are different documents.

    A name such as `chunk_17` is that of a part, which an index made anew may number otherwise.
    """
    names = [_LEADING_ZEROS.sub("", _folded(document_of(name))) for name in (source_id, document)]
    if any(name[-1:].isdecimal() and document_of(f"x-{name}") == "x" for name in names):
        return False
    endings = {ending[0] if (ending := _EXTENSION.search(name)) else "" for name in names}
    alike = all(names) and (len({*map(_form, names)}) == 1 or (len(endings) == 1 and "" not in endings))
    return alike and not _is_same(*names)


def _is_same(name: str, document: str) -> bool:
    left, right = _folded(name), _folded(document)
    if not left or not right:
        return False
    if left == right or not _names(left).isdisjoint(_names(right)):
        return True
    if "://" in right:  # a list
        return False
    # Else documents of one name would be equal.
    if "/" in left and "/" in right:
        return left.endswith(f"/{right}") or right.endswith(f"/{left}")
    return not _names(left.rpartition("/")[2]).isdisjoint(_names(right.rpartition("/")[2]))


def _resolved(
    target: str, marked: MarkedText, answer: RagAnswer, documents: _Documents
) -> tuple[str, tuple[int, ...] | None]:
    # The target as a number or as a document's name, and the positions of its contexts.
    name = target
    if text := marked.definitions.get(target):
        name = documents.named_in(text) or (target if target.isdecimal() else text)
    if name.isdecimal() and 0 < int(name) <= len(answer.contexts):
        return target, (int(name) - 1,)
    if found := documents.places(name):
        return name, found
    if name.isdecimal():
        return target, ()
    return name, None if documents.ids is None and answer.contexts else ()


class _Documents:
    # The ids of the contexts, with an index that makes the time of a look-up independent of their number.
    def __init__(self, answer: RagAnswer, document: str) -> None:
        self.ids = _ids(answer)
        self._document = document

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for at, names in enumerate(self.ids or ()):
            for name in names:
                found.setdefault(name, []).append(at)
        return found

    @cached_property
    def _alike(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name in self._places:
            for key in (*_keys(name), *_keys(document_of(name))):
                found.setdefault(key, set()).add(name)
        return found

    @cached_property
    def _shapes(self) -> set[str]:
        return set(filter(None, map(_shape, self._places)))

    @cached_property
    def _longest_first(self) -> list[tuple[str, re.Pattern[str]]]:
        return [
            (name, re.compile(rf"(?<!\w){re.escape(_folded(name))}(?!\w)"))
            for name in sorted(self._places, key=len, reverse=True)
        ]

    def may_have(self, name: str) -> bool:
        # True for a document of the contexts, and for a name that has the form of their ids.
        return bool(self.places(name)) or _shape(name) in self._shapes or name == self._document

    def places(self, name: str) -> tuple[int, ...]:
        return tuple(sorted({at for each in self._same(name) for at in self._places[each]}))

    def named_in(self, text: str) -> str:
        # The document that the text of a footnote names; empty if it names none.
        if address := _URL_IN_TEXT.search(text):
            return address[0]
        first = re.split(r"[,;]| [–—-] ", text)[0]
        folded, same = _comparable(text), self._same(first)
        for name, pattern in self._longest_first:
            if name in same or pattern.search(folded):
                return name
        file = _FILE_IN_TEXT.search(text)
        return file[0] if file else ""

    def _same(self, name: str) -> set[str]:
        alike = {each for key in _keys(name) for each in self._alike.get(key, ())}
        parts = {each for each in alike if _is_same_part(name, each)}
        return parts or {each for each in alike if is_same_document(each, name.partition("#")[0])}


def _keys(name: str) -> set[str]:
    # Names of the same document share at least one key.
    folded = _folded(name)
    return _names(folded) | _names(folded.rpartition("/")[2])


def _ids(answer: RagAnswer) -> tuple[frozenset[str], ...] | None:
    # The ids of each context, our own and the server's; None if the reply has none.
    if answer.source_ids is None:
        return None
    given = (answer.source_ids, answer.server_source_ids or ())
    of_contexts = zip_longest(answer.contexts, *given)
    return tuple(frozenset(filter(None, names)) for _, *names in of_contexts)[: len(answer.contexts)]


def _folded(name: str) -> str:
    return _whole(name).partition("#")[0].rstrip("/")


def _is_same_part(name: str, other: str) -> bool:
    return "#" in name and _whole(name) == _whole(other)


def _whole(name: str) -> str:
    return _SCHEME.sub("", _comparable(" ".join(name.split())))


def _comparable(text: str) -> str:
    # File systems differ in how they compose an accented letter, and in what separates folders; URLs are encoded.
    return unicodedata.normalize("NFC", unquote(text)).casefold().replace("\\", "/")


def _names(name: str) -> set[str]:
    # The name with and without its extension, and the words of the latter: `pay.md` is `pay` and `pay.md.txt`.
    bare = _EXTENSION.sub("", name)
    return {name, bare, re.sub(r"[\W_]+", " ", bare).strip()}


def _shape(name: str) -> str:
    # The form of the id, such as `a-9` for `fee-12`; empty for a plain word or number, and for a long text.
    return "" if " " in name or len(name) > 100 or _ONE_KIND.fullmatch(name) else _form(name)


def _form(name: str) -> str:
    # Keep the word of the rank `[doc_1]`, so that its shape differs from that of the id `fee_12`.
    return _LETTERS.sub(
        lambda word: word[0].casefold() if _SOURCE_WORD.fullmatch(word[0]) else "a", re.sub(r"\d+", "9", name)
    )
