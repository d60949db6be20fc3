"""A question file without mistakes is read into questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.questions.reader import default_dataset_name, read_question_file
from tests.questions.reading import METRICS, problems, read, read_one

if TYPE_CHECKING:
    from pathlib import Path

EVERY_FIELD = """\
dataset_name: billing
num_questions: 1
schema_version: "1"
$schema: https://example.org/questions.schema.json
tier: end_to_end
ingest: false
defaults:
  top_k: 8
  thresholds: 0.6
  tags: [nightly, billing]
questions:
  - id: refund-window
    question: What is the refund window?
    expected_answer: 30 days
    all_acceptable_answers: [thirty days, 30 days]
    must_mention: [30, /days?/i]
    must_not_mention: 14 days
    must_cite: terms.md
    gold_passages:
      - doc_id: terms.md
        text: Refunds are possible within 30 days.
      - A bare text.
    distractors:
      - {doc_id: 7, text: Returns take 14 days.}
    answerable: yes
    thresholds: {groundedness: 0.9, f1: .5}
    top_k: 3
    tags: [billing, refunds]
    skip: the terms are being rewritten
    xfail: known to be weak
    metadata: {team: payments, since: 2024-01-01, weight: 1.5, reviewed: true, links: [a, null, {n: 1}]}
"""


def test_every_field_is_read(tmp_path: Path) -> None:
    questions = read(tmp_path, EVERY_FIELD)

    (question,) = questions.questions
    assert (questions.dataset_name, questions.path) == ("billing", tmp_path / "billing.rag.yaml")
    assert questions.sets_thresholds
    assert (question.dataset_name, question.id) == ("billing", "refund-window")
    assert question.question == "What is the refund window?"
    assert question.expected_answer == "30 days"
    assert question.acceptable_answers == ("30 days", "thirty days")
    assert question.must_mention == ("30", "/days?/i")
    assert question.must_not_mention == ("14 days",)
    assert question.must_cite == ("terms.md",)
    assert question.gold_passages == (
        GoldPassage(doc_id="terms.md", text="Refunds are possible within 30 days."),
        GoldPassage(text="A bare text."),
    )
    assert question.distractors == (GoldPassage(doc_id="7", text="Returns take 14 days."),)
    assert question.answerable is True
    assert question.thresholds == {"answer_correctness": 0.6, "groundedness": 0.9, "f1": 0.5}
    assert question.top_k == 3
    assert question.tags == ("nightly", "billing", "refunds")
    assert question.skip == "the terms are being rewritten"
    assert question.xfail == "known to be weak"
    assert question.metadata == {
        "team": "payments",
        "since": "2024-01-01",
        "weight": 1.5,
        "reviewed": True,
        "links": ["a", None, {"n": 1}],
    }
    assert (question.path, question.line) == (tmp_path / "billing.rag.yaml", 12)
    assert question.location == f"{tmp_path / 'billing.rag.yaml'}:12"


def test_a_question_needs_nothing_but_its_text(tmp_path: Path) -> None:
    question = read_one(tmp_path, "- question: What is the refund window?\n")

    assert question.id == "what-is-the-refund-window-eeb7"
    assert question.dataset_name == "billing"
    assert question.expected_answer is None
    assert question.acceptable_answers == ()
    assert question.answerable
    assert question.thresholds == {}
    assert question.tags == ()
    assert question.top_k is None
    assert question.skip is None
    assert question.xfail is None


def test_defaults_hold_where_a_question_says_nothing(tmp_path: Path) -> None:
    content = "defaults: {top_k: 8, thresholds: {f1: 0.5}, tags: a}\nquestions: [one, {question: two, top_k: 1}]\n"

    one, two = read(tmp_path, content).questions

    assert (one.top_k, one.thresholds, one.tags) == (8, {"f1": 0.5}, ("a",))
    assert (two.top_k, two.thresholds, two.tags) == (1, {"f1": 0.5}, ("a",))


@pytest.mark.parametrize("name", ["billing.rag.yaml", "billing.rag.yml", "billing.rag.json", "billing_questions.json"])
def test_a_file_may_be_a_bare_list_of_bare_texts(tmp_path: Path, name: str) -> None:
    questions = read(tmp_path, ["Who pays?", "Who pays for returns?"], name)

    assert [question.question for question in questions.questions] == ["Who pays?", "Who pays for returns?"]
    assert questions.dataset_name == "billing"
    assert not questions.sets_thresholds


def test_yaml_and_json_give_equal_questions(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "question": "When?",
        "expected_answer": 1972,
        "thresholds": {"f1": 1},
        "gold_passages": ["x"],
        "metadata": {"a": [1, 2.5, "b", None, False]},
    }
    yaml = (
        "- {id: 7, question: When?, expected_answer: 1972, thresholds: {f1: 1}, gold_passages: [x], "
        "metadata: {a: [1, 2.5, b, ~, false]}}"
    )

    assert read(tmp_path, [row], "billing.rag.json").questions == read(tmp_path, yaml).questions


@pytest.mark.parametrize("typed", ["1972", "no", "2024-01-01", "12:30", "007", "1.10", "0x1F", "true", "1_000", "='"])
def test_a_yaml_scalar_in_a_text_field_is_the_text_as_typed(tmp_path: Path, typed: str) -> None:
    question = read_one(tmp_path, f"- question: When?\n  expected_answer: {typed}\n  must_mention: [{typed}]\n")

    assert question.expected_answer == typed
    assert question.must_mention == (typed,)


def test_a_yaml_block_loses_the_newline_of_its_notation_and_no_other(tmp_path: Path) -> None:
    question = read_one(tmp_path, "- question: |\n    First line.\n    Second?\n  expected_answer: '  spaced  '\n")

    assert question.question == "First line.\nSecond?"
    assert question.expected_answer == "  spaced  "


def test_yaml_anchors_aliases_and_merge_keys_work(tmp_path: Path) -> None:
    content = """\
- &base
  question: one
  top_k: 3
  tags: [a]
- {<<: *base, question: two, top_k: 4}
- <<: [{question: three}, *base]
- question: four
  tags: !!seq [!!str b, c]
  top_k: !!int 6
"""
    questions = read(tmp_path, content).questions

    assert [(q.question, q.top_k, q.tags, q.line) for q in questions] == [
        ("one", 3, ("a",), 1),
        ("two", 4, ("a",), 5),
        ("three", 3, ("a",), 6),
        ("four", 6, ("b", "c"), 7),
    ]


def test_a_golden_set_of_trulens_is_a_question_file(tmp_path: Path) -> None:
    content = '[{"query": "How long?", "expected_response": "30 days"}]'
    (question,) = read(tmp_path, content, "golden.rag.json").questions

    assert (question.question, question.expected_answer) == ("How long?", "30 days")


def test_keys_of_a_file_that_begin_with_x_are_not_read(tmp_path: Path) -> None:
    content = """\
x-common: &common
  top_k: 3
  tags: [a]
x-note: anything
questions:
- {<<: *common, question: one}
"""
    (question,) = read(tmp_path, content).questions

    assert (question.question, question.top_k, question.tags) == ("one", 3, ("a",))


def test_lines_are_those_of_the_entries_in_json_too(tmp_path: Path) -> None:
    content = '\ufeff{\r\n "questions": [\r\n\r\n  {"question": "a\\nb"},\r\n  "two"\r\n ]\r\n}'

    assert [question.line for question in read(tmp_path, content, "x.rag.json").questions] == [4, 5]


def test_escapes_in_json_are_resolved(tmp_path: Path) -> None:
    question = read_one(tmp_path, r'["\u0414\u0430? \ud83d\ude00 \"x\\"]', "x.rag.json")

    assert question.question == 'Да? 😀 "x\\'


@pytest.mark.parametrize("key", ["is_unanswerable", "unanswerable", "is_impossible"])
def test_names_that_say_the_opposite_of_answerable_are_inverted(tmp_path: Path, key: str) -> None:
    one, two = read(tmp_path, f"- {{question: one, {key}: true}}\n- {{question: two, {key}: false}}\n").questions

    assert (one.answerable, two.answerable) == (False, True)


def test_an_unanswerable_question_is_read(tmp_path: Path) -> None:
    assert not read_one(tmp_path, "- {question: one, answerable: no, expected_answer: null}").answerable


def test_foreign_names_are_read_as_the_fields_they_mean(tmp_path: Path) -> None:
    row = {
        "question_id": "q1",
        "user_input": "When?",
        "reference": "1972",
        "ground_truths": ["December 1972"],
        "reference_contexts": ["It was 1972."],
        "metadata": {"answer": "whatever a system said"},
    }
    question = read_one(tmp_path, [row], "x.rag.json")

    assert (question.id, question.question) == ("q1", "When?")
    assert question.acceptable_answers == ("1972", "December 1972")
    assert question.gold_passages == (GoldPassage(text="It was 1972."),)
    assert question.metadata == {"answer": "whatever a system said"}


def test_null_is_as_good_as_no_key(tmp_path: Path) -> None:
    row = dict.fromkeys(("id", "expected_answer", "reference", "top_k", "tags", "thresholds", "skip", "metadata"))

    assert read_one(tmp_path, [{"question": "one", **row}], "x.rag.json") == read_one(tmp_path, ["one"], "x.rag.json")


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("true", "skipped by its question file"),
        ("yes", "skipped by its question file"),
        ("false", None),
        ("no", None),
        ("null", None),
        ("until May", "until May"),
        ("'no'", "no"),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_skip_takes_a_reason_or_a_flag(tmp_path: Path, typed: str, reason: str | None) -> None:
    assert read_one(tmp_path, f"- {{question: one, skip: {typed}}}").skip == reason


def test_xfail_true_has_a_reason_of_its_own(tmp_path: Path) -> None:
    assert read_one(tmp_path, "- {question: one, xfail: true}").xfail == "expected to fail by its question file"


def test_equal_texts_are_fine_under_different_ids(tmp_path: Path) -> None:
    questions = read(tmp_path, "- {id: a, question: one}\n- {id: b, question: one}\n- one\n").questions

    assert [question.id for question in questions] == ["a", "b", "one-7692"]


def test_one_document_may_stand_in_many_questions(tmp_path: Path) -> None:
    content = (
        "- {question: one, gold_passages: [{doc_id: d, text: t}]}\n- {question: two, distractors: {id: d, text: t}}"
    )

    one, two = read(tmp_path, content).questions

    assert one.gold_passages == two.distractors


def test_metadata_keeps_what_looks_like_no_json_value_as_text(tmp_path: Path) -> None:
    content = "- question: one\n  metadata: {a: 007, b: no, c: 12:30, d: .5, e: -3, f: True, g: '1', h: 1e3}"

    assert read_one(tmp_path, content).metadata == {
        "a": "007", "b": "no", "c": "12:30", "d": 0.5, "e": -3, "f": True, "g": "1", "h": 1000.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("billing.rag.yaml", "billing"),
        ("tests/rag/billing.rag.yml", "tests__rag__billing"),
        ("tests/billing.v2.rag.json", "tests__billing.v2"),
        ("data/natural_questions_questions.json", "data__natural_questions"),
        ("x.rag.jsonl", "x"),
        ("x.rag.csv", "x"),
        ("plain.json", "plain"),
        ("tests/test_terms.py", "tests__test_terms"),
        ("a/.rag.yaml", "a__questions"),
        ("../elsewhere/billing.rag.yaml", "billing"),
    ],
)
def test_a_dataset_is_named_by_its_path(tmp_path: Path, path: str, name: str) -> None:
    assert default_dataset_name(tmp_path / "root" / path, tmp_path / "root") == name


def test_a_path_is_shown_relative_to_the_root_and_in_full_outside_of_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()

    assert problems(tmp_path, "", "root/sub/x.rag.yaml")[0].startswith("root/sub/x.rag.yaml:1: ")
    with pytest.raises(ValueError, match="^" + (tmp_path / "out.rag.yaml").as_posix()):
        read_question_file(tmp_path / "out.rag.yaml", root=root, known_metrics=METRICS)


def test_a_mistake_shows_no_control_character_and_no_command_of_a_ci_runner(tmp_path: Path) -> None:
    name = "a\x1b[31m##[error]b.rag.yaml"
    assert problems(tmp_path, "", name)[0].startswith("a\\x1b[31m#\\x23[error]b.rag.yaml:1: ")
