"""Lists the type of each key of a question, and the descriptions of all keys for editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

KeyKind: TypeAlias = Literal[
    "id", "text", "texts", "mentions", "passages", "flag", "reason", "count", "thresholds", "tags", "mapping"
]
"""A type of value in a question, by its name in the schema."""

KINDS: Mapping[str, KeyKind] = {
    "id": "id",
    "question": "text",
    "expected_answer": "text",
    "all_acceptable_answers": "texts",
    "must_mention": "mentions",
    "must_not_mention": "mentions",
    "must_cite": "texts",
    "must_not_retrieve": "texts",
    "gold_passages": "passages",
    "distractors": "passages",
    "as": "text",
    "answerable": "flag",
    "thresholds": "thresholds",
    "top_k": "count",
    "tags": "tags",
    "skip": "reason",
    "xfail": "reason",
    "quarantine": "reason",
    "metadata": "mapping",
}


FILE_DESCRIPTIONS: Mapping[str, str] = {
    "$schema": "Location of this schema, for editors; pytest does not read it.",
    "schema_version": "Version of the file format. Runs write it; your own files do not need it.",
    "dataset_name": "Name of the dataset, which identifies a question in results and baselines together with "
    "its id. Default: the path of the file.",
    "num_questions": "Number of questions, turns included. A different number is an error.",
    "tier": "end_to_end: the system retrieves and answers. retrieval: only the retrieved contexts are measured."
    " generation: the gold passages are sent with each question. Default: the tier of the run, which is"
    " end_to_end unless it is set.",
    "ingest": "Whether the run uploads the passages as documents first and deletes them afterwards; never in "
    "the tier generation. Default: the setting of the run, which is false unless it is set.",
    "defaults": "Values for all questions of the file; a question can override them.",
    "questions": "The questions and conversations. Each question and each turn is a test.",
}

DEFAULTS_DESCRIPTIONS: Mapping[str, str] = {
    "top_k": "Number of contexts to request, at least 1. A question can override it.",
    "thresholds": "Minimum, 0 to 1: one number for answer_correctness and groundedness, or one for each metric."
    " For latency_seconds, first_token_seconds and cost_usd it is the maximum. A question can "
    "override each metric.",
    "tags": "pytest markers of all questions. A question can add its own.",
}

QUESTION_DESCRIPTIONS: Mapping[str, str] = {
    "id": "Name of the question in node ids, results and baselines, unique in its file. Default: made from the "
    "text of the question, so it changes with the text.",
    "question": "The text to ask.",
    "expected_answer": "The best answer.",
    "all_acceptable_answers": "Further accepted answers. expected_answer is always accepted, listed here or not.",
    "must_mention": "Texts that the answer must contain, matched as whole words in any case, or regular "
    "expressions in slashes, such as /30|thirty/i. Checked without a judge.",
    "must_not_mention": "Texts, or regular expressions in slashes, that the answer must not contain. Checked "
    "without a judge.",
    "must_cite": "Ids of the documents that the answer must cite with a marker, such as [1] or [terms.md]. Checked "
    "without a judge.",
    "must_not_retrieve": "Ids of the documents that contexts and answer must not come from. Checked without a judge.",
    "gold_passages": "The passages that answer the question: texts, or mappings with text, doc_id or both.",
    "distractors": "Passages that seem to answer the question but do not: texts, or mappings with text and doc_id.",
    "as": "Name of the identity in rag_identities that asks. Default: the headers of the run.",
    "answerable": "false: the system must decline to answer, and the question has no expected answer.",
    "thresholds": "Minimum for this question, 0 to 1: one number for answer_correctness and groundedness, or "
    "one for each metric. For latency_seconds, first_token_seconds and cost_usd it is the "
    "maximum.",
    "top_k": "Number of contexts to request, at least 1.",
    "tags": "pytest markers, such as refunds for `pytest -m refunds`: a letter, then letters, digits, _ and -.",
    "skip": "The reason to skip the question, or true.",
    "xfail": "The reason why the question is expected to fail, or true.",
    "quarantine": "The reason why the gate ignores the question, or true. Its FAIL is reported, but does not "
    "fail the run.",
    "metadata": "Your own data, any JSON values. A run copies it to its predictions.",
}

CONVERSATION_DESCRIPTIONS: Mapping[str, str] = {
    "turns": "The questions of the conversation, asked in this order. Each is a test.",
    "id": "Id of the conversation, unique in its file. The second turn of refund has the id refund[turn2].",
    "thresholds": "Minimum for all turns. A turn can override each metric.",
    "top_k": "Number of contexts to request in each turn, at least 1.",
    "tags": "pytest markers of all turns. A turn can add its own.",
    "skip": "The reason to skip the turns, or true. A turn with skip: false is not skipped.",
    "xfail": "The reason why all turns are expected to fail, or true.",
    "quarantine": "The reason why the gate ignores the turns, or true.",
}

PASSAGE_DESCRIPTIONS: Mapping[str, str] = {
    "doc_id": "Id of the document that contains the text. Without ingestion, several texts may share an id.",
    "text": "The text of the passage.",
    "as": "Name of the identity that uploads the document. Default: that of the question.",
}
