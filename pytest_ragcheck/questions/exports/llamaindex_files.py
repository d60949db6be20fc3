"""Reads LlamaIndex's EmbeddingQAFinetuneDataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.exports.export import Export, Form, text_of
from pytest_ragcheck.questions.exports.material import Material, texts_of
from pytest_ragcheck.questions.question import GoldPassage


def _is_embedding_pairs(material: Material) -> bool:
    document = material.document
    keys = ("queries", "corpus", "relevant_docs")
    return isinstance(document, dict) and all(isinstance(document.get(key), dict) for key in keys)


def _read_pairs(material: Material, export: Export) -> None:
    corpus: Mapping[str, str] = material.document["corpus"]
    relevant: Mapping[str, Any] = material.document["relevant_docs"]
    named: set[str] = set()
    for query, text in material.document["queries"].items():
        names = texts_of(relevant.get(query))
        for name in names:
            if text_of(corpus.get(name)) is None:
                what = f"'relevant_docs' of {query!r} has {name!r}, which has no text in 'corpus'"
                to_do = "Add its text there, or delete the id from 'relevant_docs'."
                raise DatasetError(f"{material.path.name}: {what}. {to_do}")
        named.update(names)
        export.add(
            text, given_id=query, gold=[GoldPassage(doc_id=name, text=text_of(corpus[name]) or "") for name in names]
        )
    if unnamed := corpus.keys() - named:
        export.leave("documents of the corpus that are relevant to no query", len(unnamed))


FORMS = (Form(name="LlamaIndex EmbeddingQAFinetuneDataset", recognises=_is_embedding_pairs, read=_read_pairs),)
