"""Reads judged collections: folders of BEIR, topics of TREC with qrels, LlamaIndex's pairs, MT-RAG's conversations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import chain, groupby, zip_longest
from os.path import exists
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.loading import rows_of_file
from pytest_ragcheck.questions.datasets.standard_dataset import Row
from pytest_ragcheck.questions.exports.export import UNJUDGED, Export, Form, further, items_of, text_of, texts_among
from pytest_ragcheck.questions.exports.material import Material, read_material
from pytest_ragcheck.questions.question import RETRIEVAL_ALONE, GoldPassage, Question, QuestionSet, in_conversation
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
            raise DatasetError(
                f"{material.path.name}: expected a number and a title in each topic, found {topic[0][:80]!r}. "
                "Complete the topic, or delete it."
            )
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
    keys = ("queries", "corpus", "relevant_docs")
    return isinstance(material.document, dict) and {*map(type, map(material.document.get, keys))} == {dict}


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


_CORPUS = re.compile(r"(?:mt-rag-)?([a-z0-9]+)")
_JUDGED = {"ANSWERABLE": True, "PARTIAL": True, "UNANSWERABLE": False}
"""Maps each judged kind of turn to True if its turns are answerable."""

_NOT_JUDGED = ("CONVERSATIONAL", "UNDERSPECIFIED")
"""A turn such as "Thanks!", or one that needs a question back. No document has the right answer."""


def is_mtrag(path: Path) -> bool:
    """True for the benchmark's conversations (`messages`, `retriever`) or generation tasks (`input`, `targets`)."""
    try:
        rows = list(rows_of_file(path))
    except DatasetError:
        return False
    forms = ({"messages", "retriever"}, {"input", "targets"})
    return bool(rows) and all(any(names <= row.columns.keys() for names in forms) for row in rows)


def read_mtrag(path: Path) -> tuple[QuestionSet, ...]:
    """
    A set of conversations for each corpus of the file, such as `mtrag-clapnq`.

    The gold passages of a turn are those whose last annotation is "yes", as in the benchmark's own relevance
    judgements; its other passages are distractors. The reviewed answer of the agent is the expected answer. In
    generation tasks, turns that are no task are asked but not judged.

    Raises:
        DatasetError: The file has another form; the text names the place.
    """
    corpora: dict[str, list[Question]] = {}
    for conversation, dataset_name, turns in _conversations(list(rows_of_file(path))):
        corpora.setdefault(dataset_name, []).extend(in_conversation(conversation, turns))
    return tuple(QuestionSet(dataset_name=name, path=path, questions=tuple(each)) for name, each in corpora.items())


def _conversations(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Question]]]:
    if "messages" in rows[0]:
        for number, row in enumerate(rows, start=1):
            dataset_name = _dataset_name(row.row("retriever").row("collection").text("name"))
            yield f"conversation-{number}", dataset_name, list(_of_messages(row.rows("messages"), dataset_name))
        return
    in_order = sorted(rows, key=lambda row: row.text("conversation_id"))
    for conversation, tasks in groupby(in_order, key=lambda row: row.text("conversation_id")):
        yield conversation, *_of_tasks(list(tasks))


def _dataset_name(collection: str) -> str:
    corpus = _CORPUS.match(collection)
    return f"mtrag-{corpus[1] if corpus else collection}"


def _of_messages(messages: Sequence[Row], dataset_name: str) -> Iterator[Question]:
    for user, reply in zip_longest(messages, messages[1:]):
        if user.text("speaker") == "user":
            agent = reply if reply is not None and reply.text("speaker") == "agent" else None
            passages = agent.rows("contexts") if agent is not None and "contexts" in agent else ()
            expected = None if agent is None else agent.optional_text("text")
            yield _turn(dataset_name, user.text("text"), user.row("enrichments"), expected, passages)


def _of_tasks(tasks: Sequence[Row]) -> tuple[str, list[Question]]:
    dataset_name = _dataset_name(tasks[0].text(_spelled(tasks[0], "Collection")))
    messages = max((task.rows("input") for task in tasks), key=len)
    asked = [message.text("text") for message in _of_user(messages)]
    turns = [Question(dataset_name=dataset_name, id="", question=text, thresholds=UNJUDGED) for text in asked]
    for task in tasks:
        place = len(_of_user(task.rows("input"))) - 1
        if not 0 <= place < len(turns):
            raise task.unexpected("input", "the conversation up to a message of the user", task["input"])
        (target,) = task.rows("targets")[:1] or (None,)
        expected = None if target is None else target.optional_text("text")
        turns[place] = _turn(dataset_name, asked[place], task, expected, task.rows("contexts"))
    return dataset_name, turns


def _of_user(messages: Iterable[Row]) -> list[Row]:
    return [message for message in messages if message.text("speaker") == "user"]


def _turn(dataset_name: str, text: str, kinds: Row, expected: str | None, contexts: Sequence[Row]) -> Question:
    name = _spelled(kinds, "Answerability")
    found = kinds.texts(name)
    known = (*_JUDGED, *_NOT_JUDGED)
    if len(found) != 1 or found[0] not in known:
        raise kinds.unexpected(name, f"one of {', '.join(known)}", found)
    is_judged, answerable = found[0] in _JUDGED, _JUDGED.get(found[0], True)
    passages = {each.text("document_id"): each for each in contexts}
    gold = [each for each in passages.values() if answerable and _is_relevant(each)]
    further = {"question_type": "Question Type", "multi_turn": "Multi-Turn", "answerability": name}
    return Question(
        dataset_name=dataset_name,
        id="",
        question=text,
        expected_answer=expected if answerable and is_judged else None,
        gold_passages=tuple(map(_passage, gold)),
        distractors=tuple(_passage(each) for each in passages.values() if each not in gold),
        answerable=answerable,
        thresholds={} if is_judged else UNJUDGED,
        metadata={
            key: list(kinds.texts(column))
            for key, column in further.items()
            # Some files have NaN in place of an empty list.
            if isinstance(kinds.columns.get(column), list)
        },
    )


def _spelled(row: Row, name: str) -> str:
    # Files of the benchmark differ in the first letter.
    return name.lower() if name.lower() in row else name


def _is_relevant(passage: Row) -> bool:
    # The last annotation; a passage without a score was chosen and not retrieved.
    if "feedback" not in passage:
        if "score" in passage:
            raise DatasetError(
                f"{passage.place}: expected 'feedback' beside 'score', found none. Retrieved passages are not gold: "
                "take conversations.json or reference.jsonl."
            )
        return True
    relevant = passage.row("feedback").row("relevant")
    annotations = list(map(relevant.row, relevant.columns))
    last = max(annotations, key=lambda each: int(each.text("timestamp")), default=None)
    return last is not None and last.text("value") == "yes"


def _passage(passage: Row) -> GoldPassage:
    return GoldPassage(doc_id=passage.text("document_id"), text=passage.text("text"))


FORMS = (
    Form(name="LlamaIndex EmbeddingQAFinetuneDataset", recognises=_is_embedding_pairs, read=_read_pairs),
    Form(name="BEIR folder", recognises=_is_beir, read=_read_beir),
    Form(name="TREC topics and qrels", recognises=_is_topics, read=_read_topics),
)
