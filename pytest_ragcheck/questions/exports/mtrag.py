"""`read_mtrag` turns the conversations of the MT-RAG benchmark into question sets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from pathlib import Path

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.loading import rows_of_file
from pytest_ragcheck.questions.datasets.standard_dataset import Row
from pytest_ragcheck.questions.exports.export import UNJUDGED
from pytest_ragcheck.questions.question import GoldPassage, Question, QuestionSet, in_conversation

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
    asked = [message.text("text") for message in messages if message.text("speaker") == "user"]
    turns = [Question(dataset_name=dataset_name, id="", question=text, thresholds=UNJUDGED) for text in asked]
    for task in tasks:
        users = [message for message in task.rows("input") if message.text("speaker") == "user"]
        place = len(users) - 1
        if not 0 <= place < len(turns):
            raise task.unexpected("input", "the conversation up to a message of the user", task["input"])
        (target,) = task.rows("targets")[:1] or (None,)
        expected = None if target is None else target.optional_text("text")
        turns[place] = _turn(dataset_name, asked[place], task, expected, task.rows("contexts"))
    return dataset_name, turns


def _turn(dataset_name: str, text: str, kinds: Row, expected: str | None, contexts: Sequence[Row]) -> Question:
    name = _spelled(kinds, "Answerability")
    found = kinds.texts(name)
    if len(found) != 1 or found[0] not in (*_JUDGED, *_NOT_JUDGED):
        raise kinds.unexpected(name, f"one of {', '.join((*_JUDGED, *_NOT_JUDGED))}", found)
    is_judged = found[0] in _JUDGED
    answerable = _JUDGED.get(found[0], True)
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
