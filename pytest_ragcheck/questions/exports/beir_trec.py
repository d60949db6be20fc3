"""Reads judged collections: folders of BEIR, topics of TREC with their qrels, and LlamaIndex's embedding pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from itertools import chain
from os.path import exists
from typing import Any

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.loading import rows_of_file
from pytest_ragcheck.questions.exports.export import Export, Form, further, items_of, text_of, texts_among
from pytest_ragcheck.questions.exports.material import Material, read_material
from pytest_ragcheck.questions.question import RETRIEVAL_ALONE, GoldPassage
from pytest_ragcheck.redaction.printable import sound

# BEIR has tabs, a header, and no column for the iteration.
_QREL = re.compile(r"(\S+)(?:\t(?=\S+\t)|\s+\S+\s+)(\S+)\s+(-?\d+)\s*")
_BEIR_QREL = re.compile(r"([^\t]*)\t([^\t]*)\t(-?\d+)\s*")
_HEADER = "\tscore"
_TOPIC = re.compile(r"<top(?:ic)?\b(?P<attributes>[^>]*)>(?P<body>.*?)</top(?:ic)?>", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"<(?P<name>num|title|desc|narr|query|question|narrative|description)>", re.IGNORECASE)
_LABEL = re.compile(r"(?:number|topic|description|narrative)\s*:\s*", re.IGNORECASE)
_NUMBER = re.compile(r"""\b(?:number|id)\s*=\s*["']([^"']+)""")
# A number, because a table of questions and answers has tabs too.
_LINE = re.compile(r"(?=[^\t]*\d)([!-~]+)\t(\S[^\t]*)")
_IDS = ("qid", "query_id", "query-id", "_id", "id")
_TEXTS = ("question", "query", "text", "title")

_UNJUDGED = "queries without a relevant document"
_UNNAMED = "documents of the corpus that are relevant to no query"
_WITHOUT_TEXT = "judged queries without a text"


def is_qrels(material: Material) -> bool:
    """True for lines of query, iteration, document and an integer, or of BEIR's three columns."""
    lines = material.text.split("\n", 5)[:5]
    if len(lines) > 1 and lines[0].rstrip().endswith(_HEADER):
        del lines[0]
    return bool(material.text) and all(map(_QREL.fullmatch, lines[:-1] or lines))


def _is_topics(material: Material) -> bool:
    if _TOPIC.search(material.text) or _columns(material):
        return True
    lines = [line for line in material.text.split("\n") if line.strip()]
    return bool(lines) and all(map(_LINE.fullmatch, lines))


def _columns(material: Material) -> list[str]:
    # The columns with the numbers and the texts of topics in a table, which judgements accompany; else none.
    found = [*filter(material.have, _IDS)][:1] + [*filter(material.have, _TEXTS)][:1]
    return found if material.qrels and len(found) > 1 else []


def _is_beir(material: Material) -> bool:
    return all(map(exists, map(material.path.joinpath, ("corpus.jsonl", "queries.jsonl", "qrels"))))


def _read_topics(material: Material, export: Export) -> None:
    judged: dict[str, dict[str, None]] = {}
    for qrels in material.qrels:
        for topic, documents in _judged(export, qrels, _QREL, "four columns").items():
            judged.setdefault(topic, {}).update(documents)
    unnamed = set(judged)
    for number, text, metadata in _topics(material):
        unnamed.discard(number)
        gold = tuple(GoldPassage(doc_id=sound(document)) for document in judged.get(number, ()))
        if material.qrels and not gold:
            export.leave(_UNJUDGED)
            continue
        tier = {"tier": RETRIEVAL_ALONE} if gold else {}
        export.add(text, given_id=number, gold=gold, metadata=metadata, **tier)
    export.leave(_WITHOUT_TEXT, len(unnamed))


def _topics(material: Material) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if columns := _columns(material):
        for row in material.rows:
            yield str(row.get(columns[0])), row.get(columns[1], ""), further(row, *columns)
        return
    if not _TOPIC.search(material.text):
        for line in material.text.split("\n"):
            if found := _LINE.fullmatch(line.strip()):
                yield found[1], found[2], {}
        return
    for topic in _TOPIC.finditer(material.text):
        parts = _FIELD.split(topic["body"])
        fields = {
            name.lower(): " ".join(_LABEL.sub("", unescape(re.sub("<[^>]*>", " ", text)).strip(), count=1).split())
            for name, text in zip(parts[1::2], parts[2::2], strict=True)
        }
        attribute = _NUMBER.search(topic["attributes"])
        number = fields.pop("num", "") or (attribute[1] if attribute else "")
        asked = next(filter(fields.get, ("question", "title", "query")), "")
        if not number or not asked:
            what = f"expected a number and a title in each topic, found {topic[0][:80]!r}"
            raise DatasetError(f"{material.path.name}: {what}. Complete the topic, or delete it.")
        yield number, fields.pop(asked), fields


def _judged(export: Export, qrels: Material, form: re.Pattern[str], columns: str) -> dict[str, dict[str, None]]:
    # The relevant documents of each judged query; relevance is yes or no in a question file.
    judged: dict[str, dict[str, None]] = {}
    for number, line in enumerate(qrels.text.split("\n"), start=1):
        if not line.strip() or (number == 1 and line.rstrip().endswith(_HEADER)):
            continue
        found = form.fullmatch(line)
        if found is None:
            what = f"expected {columns}, found {line[:80]!r}"
            raise DatasetError(f"{qrels.path.name}: line {number}: {what}. Correct the line, or delete it.")
        relevant, grade = judged.setdefault(found[1], {}), int(found[3])
        if grade > 0:
            relevant[found[2]] = None
        else:
            export.leave("judgements of documents as not relevant")
        if grade > 1:
            export.leave("grades above 1 (they count as relevant)")
    return judged


def _read_beir(material: Material, export: Export) -> None:
    judged: dict[str, dict[str, None]] = {}
    splits: dict[str, list[str]] = {}
    wanted: dict[str, str] = {}
    for path in sorted((material.path / "qrels").glob("*.tsv")):
        qrels = read_material(path)
        for query, documents in _judged(export, qrels, _BEIR_QREL, "query-id, corpus-id and score").items():
            judged.setdefault(query, {}).update(documents)
            splits.setdefault(query, []).append(path.stem)
            wanted |= dict.fromkeys(documents, path.name)
    texts = {}
    for row in rows_of_file(material.path / "corpus.jsonl"):
        if (name := row.text("_id")) in texts:
            export.leave("repeated ids of documents (the first is read)")
        elif name in wanted:
            title, text = row.optional_text("title"), row.optional_text("text")
            # A system may return the text alone, and a context with the title above the text has the text too.
            texts[name] = sound(text or title or "")
            export.leave("titles of documents with a text", bool(title and text))
        else:
            export.leave(_UNNAMED)
    if missing := sorted(wanted - texts.keys()):
        name, *others = missing
        raise DatasetError(
            f"{material.path}: qrels/{wanted[name]} names the document {name!r}, which corpus.jsonl lacks"
            f"{f' like {len(others):,} more' if others else ''}. "
            "Copy the whole corpus.jsonl, or delete the lines of such documents from qrels."
        )
    several = len({*chain.from_iterable(splits.values())}) > 1
    for row in rows_of_file(material.path / "queries.jsonl"):
        query = row.text("_id")
        repeated = query in splits and query not in judged
        documents = judged.pop(query, {})
        if not documents:
            export.leave("repeated ids of queries (the first is read)" if repeated else _UNJUDGED)
            continue
        # Published figures are over one split.
        tags = [f"split_{re.sub(r'[^A-Za-z0-9]', '_', stem)}" for stem in splits[query]] if several else []
        for tag in tags:
            export.leave(f"a split as a file of its own; pytest -m {tag} selects it")
        export.add(
            row.text("text"),
            given_id=query,
            tags=tuple(tags),
            gold=tuple(GoldPassage(doc_id=name, text=texts[name]) for name in documents),
            metadata={**further(row.columns, "_id", "text"), "splits": splits[query]},
            tier=RETRIEVAL_ALONE,
        )
    export.leave(_WITHOUT_TEXT, len(judged))


def _is_embedding_pairs(material: Material) -> bool:
    document, keys = material.document, ("queries", "corpus", "relevant_docs")
    return isinstance(document, dict) and {*map(type, map(document.get, keys))} == {dict}


def _read_pairs(material: Material, export: Export) -> None:
    corpus: Mapping[str, str] = material.document["corpus"]
    relevant: Mapping[str, Any] = material.document["relevant_docs"]
    named: set[str] = set()
    for query, text in material.document["queries"].items():
        names = texts_among(items_of(relevant.get(query)))
        for name in names:
            if text_of(corpus.get(name)) is None:
                what = f"'relevant_docs' of {query!r} has {name!r}, which has no text in 'corpus'"
                to_do = "Add its text there, or delete the id from 'relevant_docs'."
                raise DatasetError(f"{material.path.name}: {what}. {to_do}")
        named.update(names)
        export.add(
            text, given_id=query, gold=[GoldPassage(doc_id=name, text=text_of(corpus[name]) or "") for name in names]
        )
    export.leave(_UNNAMED, len(corpus.keys() - named))
    export.leave(_WITHOUT_TEXT, len(relevant.keys() - material.document["queries"]))


FORMS = (
    Form(name="LlamaIndex EmbeddingQAFinetuneDataset", recognises=_is_embedding_pairs, read=_read_pairs),
    Form(name="BEIR folder", recognises=_is_beir, read=_read_beir),
    Form(name="TREC topics and qrels", recognises=_is_topics, read=_read_topics),
)
