"""Editors show these descriptions of the keys of a question file."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "$schema": "Where an editor finds this schema; not read by pytest.",
        "schema_version": "Version of the file's structure; runs write it, and a file of your own needs none.",
        "dataset_name": "Name of the set; together with a question's id it identifies the question in results and "
        "baselines. Without it the set is named by the file's path.",
        "num_questions": "How many questions there are, turns included; a different number is a mistake.",
        "tier": "end_to_end: the system retrieves by itself; retrieval: so it does, and no answer is asked for; "
        "generation: the gold passages go along with each question. Without it as the run says, by default "
        "end_to_end.",
        "ingest": "Whether the passages are put into the system first as documents, and deleted afterwards; in the "
        "tier generation never. Without it as the run says, by default not.",
        "defaults": "What holds for all questions of the file that do not say it themselves.",
        "questions": "The questions, each a test, and the conversations, each turn a test.",
    }
)

DEFAULTS_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "top_k": "How many contexts are asked for, from 1, unless a question says it itself.",
        "thresholds": "Minimum, 0 to 1: one number for answer_correctness and groundedness, or one for each metric. "
        "Of latency_seconds, first_token_seconds and cost_usd it is the maximum. Those of a question go over these, "
        "metric by metric.",
        "tags": "pytest markers of all questions; those of a question are added.",
    }
)

QUESTION_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "id": "What the question is called in node ids, results and baselines; unique in its file. Without it the id "
        "is made of the question's text and changes with it.",
        "question": "The text that is asked.",
        "expected_answer": "The best answer.",
        "all_acceptable_answers": "Further accepted answers; expected_answer is accepted whether it is listed or not.",
        "must_mention": "What the answer has to contain: texts, found as whole words in any case, or regular "
        "expressions in slashes, such as /30|thirty/i. Checked without a judge.",
        "must_not_mention": "What the answer must not contain: texts, or regular expressions in slashes. Checked "
        "without a judge.",
        "gold_passages": "The passages that answer the question: texts, or mappings with text, doc_id or both.",
        "distractors": "Passages that only look as if they answered the question: texts, or mappings with text and "
        "doc_id.",
        "answerable": "false: the system has to decline to answer, and the question has no expected answer.",
        "thresholds": "Minimum for this question, 0 to 1: one number for answer_correctness and groundedness, or one "
        "for each metric. Of latency_seconds, first_token_seconds and cost_usd it is the maximum.",
        "top_k": "How many contexts are asked for, from 1.",
        "tags": "pytest markers, such as refunds for `pytest -m refunds`: a letter, then letters, digits, _ and -.",
        "skip": "Why the question is not asked, or true.",
        "xfail": "Why the question is expected to fail, or true.",
        "quarantine": "Why the question does not gate, or true: its FAIL is reported and not held against the run.",
        "metadata": "Whatever you want to find again in the predictions, of any JSON values.",
    }
)

CONVERSATION_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "turns": "The questions of a conversation, asked one after the other; each becomes a test.",
        "id": "Id of the conversation in its file; its second turn has the id refund[turn2] if this is refund.",
        "thresholds": "Minimum of all turns; those of a turn go over these, metric by metric.",
        "top_k": "How many contexts are asked for in each turn, from 1.",
        "tags": "pytest markers of all turns; those of a turn are added.",
        "skip": "Why the turns are skipped, or true. A turn with skip: false is not.",
        "xfail": "Why all turns are expected to fail, or true.",
        "quarantine": "Why the turns do not gate, or true.",
    }
)

PASSAGE_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "doc_id": "Id of the document that the text is from; without ingestion, several texts may have one id.",
        "text": "The passage's text.",
    }
)
