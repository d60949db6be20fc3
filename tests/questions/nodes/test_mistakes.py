"""Mistakes beyond the reference page: many at once, and the text of each field."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.questions.reader import read_question_file
from tests.questions.reading import problems, read

if TYPE_CHECKING:
    from pathlib import Path

EXPECTED = "one text, and further accepted ones under 'all_acceptable_answers'"
TEXTS = "a text or a list of texts"
MENTION = "a text, or a regular expression in slashes"
PASSAGE = "a text, a mapping {doc_id, text}, or a list of them"
SHARE = "a number from 0 to 1, such as 0.7"
SHARE_OR_SHARES = 'a number from 0 to 1, or a mapping such as {"groundedness": 0.9}'
FLAG = "true or false, without quotes"
REASON = "the reason, or true or false"
COUNT = "a whole number from 1 to 999999999"


def test_all_mistakes_of_a_file_are_reported_at_once_in_the_order_of_its_lines(tmp_path: Path) -> None:
    content = """\
tier: search
defaults:
  top_k: 0
  colour: red
questions:
- id: refund-window
  question: What is the refund window?
  expcted_answer: 30 days
  must_mention: ["30", /(/, /days/]
  thresholds: {groundedness: 2, f1: high}
  tags: [slow]
- id: refund-window
  question: ""
- {question: What is the refund window?, answer: 30 days}
num_questions: 4
"""

    assert problems(tmp_path, content) == [
        (
            "billing.rag.yaml:1: the file has the unknown tier 'search'. "
            "Write 'generation' or 'retrieval' or 'end_to_end'."
        ),
        "billing.rag.yaml:3: the file has 0 under 'top_k'. Write a whole number from 1 to 999999999.",
        (
            "billing.rag.yaml:4: the file has the unknown key 'colour' (known: top_k, thresholds, tags). "
            "Write it into the questions."
        ),
        (
            "billing.rag.yaml:8: question 'refund-window' has the unknown key 'expcted_answer'. "
            "Rename it to 'expected_answer'."
        ),
        (
            "billing.rag.yaml:9: question 'refund-window' has a mistake under 'must_mention': the regular expression "
            "/(/ is invalid: missing ), unterminated subpattern at position 0. Correct it."
        ),
        (
            "billing.rag.yaml:10: question 'refund-window' has 2 under 'groundedness'. "
            "Write a number from 0 to 1, such as 0.7."
        ),
        (
            "billing.rag.yaml:10: question 'refund-window' has the text 'high' under 'f1'. "
            "Write a number from 0 to 1, such as 0.7."
        ),
        (
            "billing.rag.yaml:11: question 'refund-window' has the tag 'slow', which is the name of an existing pytest "
            "marker. Choose another name."
        ),
        "billing.rag.yaml:12: question 'refund-window' has the id of the question on line 6. Give it another.",
        "billing.rag.yaml:13: question 'refund-window' has a blank text under 'question'. Fill it in, or delete it.",
        (
            "billing.rag.yaml:14: question 'what-is-the-refund-window-eeb7' has 'answer', which may be the expected "
            "answer or the answer of a system. Rename it to 'expected_answer', or put it under 'metadata'."
        ),
        "billing.rag.yaml:15: the file says 4 under 'num_questions', and has 3. Correct the number, or delete it.",
    ]


def test_a_json_nan_is_no_text(tmp_path: Path) -> None:
    assert problems(tmp_path, [{"question": "one", "expected_answer": float("nan")}], "x.rag.json") == [
        "x.rag.json:4: question 'one-7692' has NaN under 'expected_answer'. Write it in quotes, or null."
    ]


def test_json_mistakes_are_reported_with_their_lines_too(tmp_path: Path) -> None:
    content = [{"question": "one", "top_k": True}, {"id": "two", "quesion": "two"}]

    assert problems(tmp_path, content, "sub/x.rag.json") == [
        "sub/x.rag.json:4: question 'one-7692' has true under 'top_k'. Write a whole number from 1 to 999999999.",
        (
            "sub/x.rag.json:6: question 'two' has no 'question' (found: 'id', 'quesion'). "
            "Write the text to ask under 'question'."
        ),
        "sub/x.rag.json:8: question 'two' has the unknown key 'quesion'. Rename it to 'question'.",
    ]


@pytest.mark.parametrize(
    ("field", "seen", "under", "wanted"),
    [
        ("id: [a]", "a list", "id", "a text"),
        ("expected_answer: {a: b}", "a mapping", "expected_answer", EXPECTED),
        ("all_acceptable_answers: {a: b}", "a mapping", "all_acceptable_answers", TEXTS),
        ("all_acceptable_answers: [a, null]", "nothing", "all_acceptable_answers", TEXTS),
        ("must_mention: [[a]]", "a list", "must_mention", MENTION),
        ("must_not_mention: {a: b}", "a mapping", "must_not_mention", MENTION),
        ("must_cite: [[a]]", "a list", "must_cite", TEXTS),
        ("gold_passages: [[a]]", "a list", "gold_passages", PASSAGE),
        ("gold_passages: [{doc_id: [], text: a}]", "a list", "doc_id", "a text"),
        ("distractors: [{text: [a]}]", "a list", "text", "a text"),
        ("answerable: 1", "1", "answerable", FLAG),
        ("answerable: 'no'", "the text 'no'", "answerable", FLAG),
        ("is_impossible: [true]", "a list", "is_impossible", FLAG),
        ("thresholds: [0.7]", "a list", "thresholds", SHARE_OR_SHARES),
        ("thresholds: true", "true", "thresholds", SHARE),
        ("thresholds: '0.7'", "the text '0.7'", "thresholds", SHARE),
        ("thresholds: {f1: .nan}", ".nan", "f1", SHARE),
        ("thresholds: {f1: -0.1}", "-0.1", "f1", SHARE),
        ("thresholds: {f1: 1e999}", "1e999", "f1", SHARE),
        ("thresholds: {f1: 70%}", "the text '70%'", "f1", SHARE),
        ("thresholds: {f1: }", "nothing", "f1", SHARE),
        ("top_k: 2.5", "2.5", "top_k", COUNT),
        ("top_k: -1", "-1", "top_k", COUNT),
        ("top_k: yes", "yes", "top_k", COUNT),
        ("top_k: five", "the text 'five'", "top_k", COUNT),
        (f"top_k: {'9' * 5000}", "9" * 60 + "...", "top_k", COUNT),
        ("tags: {a: b}", "a mapping", "tags", "a tag or a list of tags"),
        ("skip: [a]", "a list", "skip", REASON),
        ("xfail: {a: b}", "a mapping", "xfail", REASON),
        ("xfail: 0", "0", "xfail", REASON),
        ("quarantine: 1.0", "1.0", "quarantine", REASON),
        ("metadata: [a]", "a list", "metadata", 'a mapping, such as {"team": "billing"}'),
        ("metadata: {a: [{b: -.inf}]}", "-.inf", "b", "a finite number, or a text in quotes"),
        (f"metadata: {{a: {'9' * 5000}}}", "9" * 60 + "...", "a", "a finite number, or a text in quotes"),
    ],
)
def test_a_value_of_the_wrong_type_is_reported_with_what_is_wanted(
    tmp_path: Path, field: str, seen: str, under: str, wanted: str
) -> None:
    (problem,) = problems(tmp_path, f"- question: Why?\n  {field}\n")

    _, told = problem.split(" has ", maxsplit=1)
    assert told == f"{seen} under '{under}'. Write {wanted}."
    assert problem.startswith("billing.rag.yaml:2: question ")


@pytest.mark.parametrize(
    ("top", "told"),
    [
        ("defaults: [a]", "has a list under 'defaults'. Write a mapping, such as {\"top_k\": 5}."),
        ("num_questions: many", "has the text 'many' under 'num_questions'. Write a whole number from 0 to 999999999."),
        ("num_questions: true", "has true under 'num_questions'. Write a whole number from 0 to 999999999."),
        ("dataset_name: [a]", "has a list under 'dataset_name'. Write a text."),
        ("tier: []", "has a list under 'tier'. Write generation or retrieval or end_to_end."),
        ("tier: end-to-end", "has the unknown tier 'end-to-end'. Write 'generation' or 'retrieval' or 'end_to_end'."),
        ("ingest: maybe", "has the text 'maybe' under 'ingest'. Write true or false, without quotes."),
        ("schema_version: [1]", "has a list under 'schema_version'. Write a text."),
        ("dataset-name: a", "has the unknown key 'dataset-name'. Rename it to 'dataset_name'."),
        (
            "author: a",
            (
                "has the unknown key 'author' (known: $schema, schema_version, dataset_name, num_questions, tier, "
                "ingest, defaults, questions). Delete it, or begin its name with 'x-'."
            ),
        ),
    ],
)
def test_a_mistake_at_the_top_of_a_file_is_reported(tmp_path: Path, top: str, told: str) -> None:
    assert problems(tmp_path, f"{top}\nquestions: [Why?]\n") == [f"billing.rag.yaml:1: the file {told}"]


@pytest.mark.parametrize("key", ["metadata: {a: {b: 1, b: 2}}", "gold_passages: {text: a, text: b}"])
def test_a_repeated_key_is_a_mistake_at_any_depth(tmp_path: Path, key: str) -> None:
    (problem,) = problems(tmp_path, f"- question: Why?\n  {key}\n")

    assert problem.endswith(" twice, first on line 2. Keep one.")


@pytest.mark.parametrize(
    "row",
    [
        {"question": "a\ud800"},
        {"question": "a", "metadata": {"b": ["\udfff"]}},
        {"question": "a", "metadata": {"\udfff": 1}},
        {"question": "a", "gold_passages": [{"text": "\ud800"}]},
        {"question": "a", "must_mention": ["\ud800"]},
    ],
)
def test_half_a_character_is_refused_wherever_it_stands(tmp_path: Path, row: dict[str, object]) -> None:
    (problem,) = problems(tmp_path, [row], "x.rag.json")

    assert "has the lone surrogate \\ud" in problem
    problem.encode("utf-8")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{'question': 1}", "1: the file is not JSON: found \"'question'\", expected a key in quotes or '}'."),
        ('{"a" 1}', "1: the file is not JSON: found '1', expected ':'."),
        ('{"a": 1 "b": 2}', "1: the file is not JSON: found '\"b\"', expected ',' or '}'."),
        ("{5: 1}", "1: the file is not JSON: found '5', expected a key in quotes or '}'."),
        ('{"a": 1,}', "1: the file is not JSON: found '}', expected a key in quotes."),
        ('[\n"a"\n"b"]', "3: the file is not JSON: found '\"b\"', expected ',' or ']'."),
        ('["a", // comment\n"b"]', "1: the file is not JSON: found '//', expected a value."),
        ('["a', "1: the file is not JSON: found '\"a', expected a value or ']'."),
        ('["a"', "1: the file is not JSON: found the end of the file, expected ',' or ']'."),
        ('["a"]\n\n]', "3: the file is not JSON: found ']', expected the end of the file."),
        ("[01]", "1: the file is not JSON: found '1', expected ',' or ']'."),
    ],
)
def test_broken_json_is_reported_with_the_text_found_and_the_text_expected(
    tmp_path: Path, content: str, told: str
) -> None:
    assert problems(tmp_path, content, "x.rag.json") == [f"x.rag.json:{told} Correct it there or shortly before."]


@pytest.mark.parametrize("name", ["x.rag.yaml", "x.rag.json", "x.rag.jsonl", "x.rag.csv"])
def test_utf_16_without_a_byte_order_mark_has_nul_characters(tmp_path: Path, name: str) -> None:
    assert problems(tmp_path, "- Why?\n".encode("utf-16-le"), name) == [
        f"{name}:1: the file has a NUL character, so it is not text. Save it as UTF-8 text."
    ]
    assert problems(tmp_path, b"\xff\xfe-\0 ", name) == [
        f"{name}:1: the file is not UTF-8: byte 0x20 at offset 4. Save it as UTF-8; in Excel, choose 'CSV UTF-8'."
    ]


@pytest.mark.parametrize("name", ["x.rag.yaml", "x.rag.json", "x.rag.jsonl", "x.rag.csv"])
def test_a_merge_conflict_is_reported_where_it_begins(tmp_path: Path, name: str) -> None:
    told = "the file has a merge conflict. Keep the lines of one side, or of both, and delete the marks."
    conflict = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> new\n"
    assert problems(tmp_path, "question\n" + conflict.format("Why?", "Who?"), name) == [f"{name}:2: {told}"]
    assert problems(tmp_path, conflict.format('- "a"', '- "b"'), name) == [f"{name}:1: {told}"]


def test_a_bad_byte_is_reported_by_its_place_in_the_file_behind_a_byte_order_mark_too(tmp_path: Path) -> None:
    told = "byte 0xe9 at offset 12. Save it as UTF-8; in Excel, choose 'CSV UTF-8'."
    assert problems(tmp_path, b"\xef\xbb\xbf- Why?\n- \xe9\n") == [f"billing.rag.yaml:2: the file is not UTF-8: {told}"]


@pytest.mark.parametrize(
    ("name", "contents", "advice"),
    [
        ("x.rag.yaml", ("null", "# a comment"), "Write a question, such as '- question: ...', or delete the file."),
        ("x.rag.yml", ("~",), "Write a question, such as '- question: ...', or delete the file."),
        ("x.rag.json", ("null",), 'Write a question, such as [{"question": "..."}], or delete the file.'),
        ("x.rag.jsonl", (), 'Write a question on each line, such as {"question": "..."}, or delete the file.'),
        (
            "x.rag.csv",
            ("sep=;\n", '""'),
            (
                "Write the names of the keys into a first row, such as question,expected_answer, and a question into "
                "each other, or delete the file."
            ),
        ),
    ],
)
def test_an_empty_file_is_reported_as_such(tmp_path: Path, name: str, contents: tuple[str, ...], advice: str) -> None:
    for content in ("", "\n \n", "\ufeff", *contents):
        assert problems(tmp_path, content, name) == [f"{name}:1: the file is empty. {advice}"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "billing.rag.yaml").mkdir()

    with pytest.raises(ValueError, match=r"^billing\.rag\.yaml: the file cannot be read: .+\. Check its name and its"):
        read_question_file(tmp_path / "billing.rag.yaml", root=tmp_path, known_metrics=())


def test_questions_on_one_line_are_still_distinguished(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, b'["a", "a"]', "x.rag.json")

    assert problem.startswith("x.rag.json:1: question 'a-ca97' has no id, and the one made from its text is that of")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{id: a, question: What?}", "question 'a' has the id of the question on line 1. Give it another."),
        (
            "{question: What?}",
            (
                "question 'what-a494' has no id, and the one made from its text is that of the question on line 1. "
                "Give one of them an 'id'."
            ),
        ),
    ],
)
def test_a_question_that_an_alias_repeats_has_an_id_that_is_taken(tmp_path: Path, entry: str, told: str) -> None:
    assert problems(tmp_path, f"- &first {entry}\n- *first\n") == [f"billing.rag.yaml:1: {told}"]


def test_what_a_mistake_shows_is_cut(tmp_path: Path) -> None:
    long = "x" * 10_000
    contents = [f"- !{long} a", f"- *{long}", f"- {{question: a, {long}: b}}", f"- {{question: a, top_k: {long}}}"]
    shown = [problems(tmp_path, content)[0] for content in contents]
    shown += problems(tmp_path, f'["a" "{long}"]', "x.rag.json")
    shown += problems(tmp_path, f'["\\{long}"]', "x.rag.json")
    shown += problems(tmp_path, [{"id": long, "question": "a"}, {"id": long, "question": "b"}], "x.rag.json")

    assert [len(text) < 400 for text in shown] == [True] * 7


def test_a_mistake_of_many_questions_is_reported_once_with_a_count(tmp_path: Path) -> None:
    rows = [{"id": str(number), "question": "Why?", "answer": "x", "top_k": number - 9} for number in range(20)]
    content = "\n".join(map(json.dumps, rows))

    assert problems(tmp_path, content, "x.rag.jsonl") == [
        (
            "x.rag.jsonl:1: question '0' has 'answer', which may be the expected answer or the answer of a system. "
            "Rename it to 'expected_answer', or put it under 'metadata'. "
            "19 more of this kind: lines 2, 3, 4, 5, 6 and others."
        ),
        (
            "x.rag.jsonl:1: question '0' has -9 under 'top_k'. Write a whole number from 1 to 999999999. "
            "9 more of this kind: lines 2, 3, 4, 5, 6 and others."
        ),
    ]


def test_null_means_not_given_even_under_a_key_that_is_refused(tmp_path: Path) -> None:
    row = {"question": "Why?", "answer": None, "turns": None, "context": None}
    assert len(read(tmp_path, json.dumps(row), "x.rag.jsonl").questions) == 1
    conversation = {"turns": ["Why?"], "question": None, "expected_answer": None}
    assert len(read(tmp_path, json.dumps(conversation), "y.rag.jsonl").questions) == 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("- question: Why?\n  expected_anwser:\n", "'expected_anwser'. Rename it to 'expected_answer'."),
        ("- {question: Which fee?, expected_answer: 8,40 CHF}\n", "'40 CHF' (known: "),
        ("- {question: Why?, gold_passages: [{text: one, sorce: null}]}\n", "'sorce' (known: doc_id, text, as)."),
        ("- {turns: [Why?], tgas: ~}\n", "'tgas'. Rename it to 'tags'."),
        ("- turns: [{question: Why?, must_metion: }]\n", "'must_metion'. Rename it to 'must_mention'."),
        ("dataset_nmae:\nquestions: [Why?]\n", "'dataset_nmae'. Rename it to 'dataset_name'."),
        ("defaults: {topk_: null}\nquestions: [Why?]\n", "'topk_'. Rename it to 'topk'."),
        ("question;expected_anwser\nWhy?;\n", "'expected_anwser'. Rename it to 'expected_answer'."),
    ],
)
def test_an_unknown_key_without_a_value_is_named(tmp_path: Path, text: str, named: str) -> None:
    (problem,) = problems(tmp_path, text, "x.rag.csv" if ";" in text else "x.rag.yaml")

    assert f" has the unknown key {named}" in problem


@pytest.mark.parametrize(
    ("metric", "to_do"),
    [
        ("correctness", "Rename it to 'answer_correctness'."),
        ("latency", "Rename it to 'latency_seconds'."),
        (
            "brevity",
            (
                "Choose from: answer_correctness, exact_match, f1, groundedness, "
                "latency_seconds, first_token_seconds, cost_usd."
            ),
        ),
    ],
)
def test_an_unknown_metric_is_renamed_to_the_nearest_or_all_are_listed(tmp_path: Path, metric: str, to_do: str) -> None:
    (problem,) = problems(tmp_path, [{"question": "Why?", "thresholds": {metric: 0.5}}], "x.rag.json")
    assert problem.endswith(f"has a threshold for the unknown metric {metric!r}. {to_do}")


@pytest.mark.parametrize("key", ["assert", "expect"])
def test_an_assertion_of_another_tool_is_not_taken_for_an_answer(tmp_path: Path, key: str) -> None:
    assert problems(tmp_path, [{"question": "Why?", key: "contains: x"}], "x.rag.json") == [
        (
            f"x.rag.json:4: question 'why-5d8a' has '{key}', which is an assertion of another tool. Write its texts "
            "under 'must_mention' or 'must_not_mention', or convert the tool's file: ragcheck convert FILE."
        )
    ]


def test_the_fields_of_another_tool_are_not_taken_for_the_text_to_ask(tmp_path: Path) -> None:
    found = problems(tmp_path, [{"inputs": {"question": "Why?"}}], "x.rag.json")[-1]
    assert found.endswith(
        "has 'inputs', which may be a text or another tool's fields. Rename it to 'question', or convert the tool's "
        "file: ragcheck convert FILE."
    )


def test_no_advice_deletes_the_questions(tmp_path: Path) -> None:
    (_, unknown) = sorted(problems(tmp_path, {"examples": [{"question": "Why?"}]}, "x.rag.json"))
    assert "unknown key 'examples'" in unknown
    assert unknown.endswith(
        "Rename it to 'questions' if it holds them, or convert the file of another tool: ragcheck convert FILE."
    )


@pytest.mark.parametrize("mentions", ["[30, /10,000/]", "[/a, b, c/i]"])
def test_a_regular_expression_that_yaml_cuts_at_a_comma_is_a_mistake(tmp_path: Path, mentions: str) -> None:
    assert problems(tmp_path, f"- {{id: a, question: a, must_not_mention: {mentions}}}\n") == [
        (
            "billing.rag.yaml:1: question 'a' has a regular expression with a comma under 'must_not_mention'. "
            "Put it in quotes, such as '/10,000/'."
        )
    ]


@pytest.mark.parametrize("mentions", ["['/10,000/', docs/, /api]", "['/api', 'docs/']"])
def test_texts_with_a_slash_are_no_cut_regular_expression(tmp_path: Path, mentions: str) -> None:
    (question,) = read(tmp_path, f"- {{id: a, question: a, must_mention: {mentions}}}\n").questions
    assert len(question.must_mention) == mentions.count(",") + 1 - mentions.count("0,0")
