"""
Which replies have a verdict, and the errors about those that have none.

    python -m tests.judging.model.test_judge_reply

writes the JSON schema that a judge is sent.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import pytest_ragcheck
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.model.judge_reply import JudgeReply, read_reply
from pytest_ragcheck.judging.model.openai_judge import reply_schema
from pytest_ragcheck.judging.model.reply_object import LONGEST_REPLY, strict_schema

NONCE = "5f0c9a1e77b2d304"
GOOD = Judgement(answer_correctness=0.5, groundedness=1.0, error_message="The limit is missing.")


def reply(**fields: Any) -> str:
    """The JSON of the reply that reads as GOOD; a field given as `...` is left out."""
    whole = {
        "nonce": NONCE,
        "answer_correctness": 0.5,
        "groundedness": 1,
        "error_message": "The limit is missing.",
        **fields,
    }
    return json.dumps({name: value for name, value in whole.items() if value is not ...})


def written_schema() -> str:
    """The text of the schema's file, from the class that reads a reply."""
    return json.dumps(strict_schema(JudgeReply), indent=2) + "\n"


def problem(text: str) -> str:
    with pytest.raises(JudgeReplyError) as caught:
        read_reply(text, nonce=NONCE)
    return str(caught.value)


def test_a_bare_object_is_read_field_by_field():
    text = reply(abstained=True, unsupported_claims=["for 30 days", "in cash"])
    assert read_reply(text, nonce=NONCE) == Judgement(
        answer_correctness=0.5,
        groundedness=1.0,
        error_message="The limit is missing.",
        abstained=True,
        unsupported_claims=("for 30 days", "in cash"),
    )


@pytest.mark.parametrize(
    "text",
    [
        reply(),
        f"```json\n{reply()}\n```",
        f"```\n{reply()}```",
        f"Here is my verdict:\n{reply()}\nI hope that this helps {{really}}.",
        f"<think>It says {{so}}.</think>{reply()}",
        f'<think>Maybe {{"answer_correctness": 1}}?</think>\n```json\n{reply()}\n```',
        f"<think>First draft: {reply(answer_correctness=1)}</think>{reply()}",
        f"no opening tag, draft {reply(groundedness=0)}</think>{reply()}",
        f"<thinking>a</thinking>{reply()}",
        f"<think>never closed {{ and then {reply()}",
        f'{{"answer": "an echo of the material"}}\n{reply()}',
        f"{reply()}\n{reply()}",
        f"{reply(nonce='0000000000000000', answer_correctness=1)}{reply()}",
        reply(further={"a": [{"b": None}]}),
        f'{{"verdict": {reply()}}}',
        f'<tool_call>{{"name": "judge", "arguments": {reply()}}}</tool_call>',
        reply(answer_correctness="0.5", groundedness=" 1.0 "),
        reply(answer_correctness=".5"),
        reply(unsupported_claims=None, abstained=None),
        reply(unsupported_claims=""),
        reply(error_message="  The limit is missing.\n"),
        '{ "x": ' * 3 + reply(),
    ],
)
def test_the_verdict_is_found_whatever_stands_around_it(text):
    assert read_reply(text, nonce=NONCE) == GOOD


def test_line_breaks_and_tabs_within_a_text_need_no_escape():
    text = reply(error_message="The limit is missing.\n\tSo is the fee.").replace("\\n", "\n").replace("\\t", "\t")
    assert read_reply(text, nonce=NONCE).error_message == "The limit is missing.\n\tSo is the fee."


PYTHON = str(json.loads(reply()))
"""In single quotes."""


# Small models of llama.cpp and Ollama write these without structured output.
@pytest.mark.parametrize(
    "text",
    [
        reply()[:-1] + ",}",
        reply()[:-1] + ", // no ] or } here\n}",
        reply().replace("0.5,", "0.5, # it's {half} right\n"),
        "{ // the verdict\n" + reply()[1:],
        reply().replace("0.5,", "0.5, /* half: {so} */"),
        re.sub(r'"(\w+)":', r"\1:", reply()),
        re.sub(r'"(\w+)":', r"\1 :", reply(further="a: b, {c: d} # e")),
        PYTHON,
        f"It's {{'answer': 'an echo'}}: {PYTHON} Isn't it?",
        f"<think>{reply(groundedness=0)}</think>{PYTHON}",
        f"<think>{'It holds {every} claim. ' * 20_000}</think>{PYTHON}",
    ],
    ids=lambda text: text[-40:],
)
def test_trailing_commas_comments_single_quotes_and_names_without_quotes_are_read(text):
    assert read_reply(text, nonce=NONCE) == GOOD


def test_a_dict_of_python_is_read_with_its_constants_and_quotes():
    claims = ['it\'s "so"', 'a "quote"', "http://a, ]", "\\"]
    text = str(json.loads(reply(unsupported_claims=[*claims, "CUT"], abstained=True, error_message=None)))
    read = read_reply(text.replace("'CUT'", "'it\\'s',"), nonce=NONCE)
    assert (read.abstained, read.error_message) == (True, "")
    assert read.unsupported_claims == (*claims, "it's")


@pytest.mark.parametrize("message", [None, "", ...])
def test_a_message_that_is_null_empty_or_missing_is_an_empty_one(message):
    text = reply(answer_correctness=1, error_message=message)
    assert read_reply(text, nonce=NONCE) == Judgement(answer_correctness=1.0, groundedness=1.0)


def test_a_message_beside_full_marks_is_kept():
    assert read_reply(reply(answer_correctness=1), nonce=NONCE).error_message == "The limit is missing."


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Maybe {reply()} or not? The answer says",
        f"<think>The fee is there.</think><think>Or {reply()}? The",
        f"<|channel|>analysis<|message|>We could reply {reply()}. But",
        f"[THINK]{reply()} But the date",
        f"<think>{'It holds every claim. ' * 9_000} {PYTHON} But",
    ],
    ids=lambda text: text[:30],
)
def test_a_draft_within_thinking_that_was_cut_off_is_no_verdict(text):
    assert problem(text) == "the reply holds a verdict only inside the thinking, none after it"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Maybe {reply(groundedness=0)}? No. The verdict:\n```json\n{reply()}\n```<|im_end|>",
        f"<think>I am sure.\n{reply()}\n",
        f"{reply()}\n<think>Was that right?",
        f'{{"answer": "Write <think> first."}} {reply()} That is all.',
        f"{reply(unsupported_claims=['the <think> tag'], groundedness=1)} That is all.",
    ],
)
def test_a_verdict_at_the_end_of_unclosed_thinking_or_outside_it_is_read(text):
    assert replace(read_reply(text, nonce=NONCE), unsupported_claims=()) == GOOD


def test_a_quoted_end_of_thinking_inside_the_verdict_does_not_hide_it():
    text = reply(unsupported_claims=['</think>{"answer_correctness": 1}'])
    assert read_reply(text, nonce=NONCE).unsupported_claims == ('</think>{"answer_correctness": 1}',)


def test_lone_surrogates_are_replaced_since_no_file_can_hold_them():
    text = reply(error_message="a\ud800b", unsupported_claims=["\udfff"])
    read = read_reply(text, nonce=NONCE)
    assert (read.error_message, read.unsupported_claims) == ("a\ufffdb", ("\ufffd",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (reply(groundedness=1.3), "groundedness is 1.3, outside 0..1"),
        (reply(answer_correctness=-0.1), "answer_correctness is -0.1, outside 0..1"),
        (reply(answer_correctness=1.0000001), "answer_correctness is 1.0000001, outside 0..1"),
        (reply(answer_correctness=85), "answer_correctness is 85, outside 0..1"),
        (reply(answer_correctness="85"), "answer_correctness is 85, outside 0..1"),
        (reply(answer_correctness="80%"), 'answer_correctness is "80%", not a number'),
        (reply(answer_correctness="0,8"), 'answer_correctness is "0,8", not a number'),
        (reply(answer_correctness="nan"), 'answer_correctness is "nan", not a number'),
        (reply(answer_correctness=True), "answer_correctness is true, not a number"),
        (reply(groundedness=None), "groundedness is null, not a number"),
        (reply(groundedness={"score": 1}), "groundedness is an object, not a number"),
        (reply(groundedness=[1]), "groundedness is a list, not a number"),
        (reply(groundedness="x" * 99), 'groundedness is "' + "x" * 39 + "…, not a number"),
        (reply().replace("0.5", "NaN"), "answer_correctness is nan, not a finite number"),
        (reply().replace("0.5", "-Infinity"), "answer_correctness is -inf, not a finite number"),
        (reply().replace("0.5", "9e999"), "answer_correctness is inf, not a finite number"),
        (reply().replace("0.5", "9" * 5000), "answer_correctness is inf, not a finite number"),
        (reply(groundedness=...), "groundedness is missing"),
        (
            reply(groundedness=..., answer_correctness=2),
            "answer_correctness is 2, outside 0..1; groundedness is missing",
        ),
        (reply(error_message=7), "error_message is 7.0, not a string"),
        (reply(abstained="partly"), 'abstained is "partly", not true or false'),
        (reply(abstained=2), "abstained is 2.0, not true or false"),
        (reply(abstained=[0]), "abstained is a list, not true or false"),
        (reply(unsupported_claims="all of it"), 'unsupported_claims is "all of it", not a list of strings'),
        (reply(unsupported_claims=["a", 1]), "unsupported_claims holds something other than strings"),
        (reply()[:-1] + ', "groundedness": 0}', "groundedness occurs in one object more than once"),
        (reply()[:-1] + f', "nonce": "{NONCE}"}}', "nonce occurs in one object more than once"),
        (reply(nonce=...), 'the JSON object has no field "nonce"'),
        (reply(nonce="guessed"), 'the field "nonce" does not hold the value that was asked for'),
        (reply(nonce=[NONCE]), 'the field "nonce" does not hold the value that was asked for'),
        (f'{{"verdict": {reply(nonce="guessed")}}}', 'the JSON object has no field "nonce"'),
        (f'{{"draft": {reply(groundedness=0)}, "final": {reply()}}}', "the reply holds several verdicts that differ"),
        (
            f'<think>{{"verdict": {reply()}}}</think>',
            "the reply holds a verdict only inside the thinking, none after it",
        ),
        (json.dumps([reply()]), "the reply holds no complete JSON object"),
        (reply()[:-1], "the reply holds no complete JSON object"),
        (PYTHON.replace("The", "It's the"), "the reply holds no complete JSON object"),
        (PYTHON.replace("The", r"\x54he"), "the reply holds no complete JSON object"),
        (reply()[:-1] + ",,}", "the reply holds no complete JSON object"),
        (PYTHON[:-1], "the reply holds no complete JSON object"),
        (PYTHON.replace("0.5", "1.5"), "answer_correctness is 1.5, outside 0..1"),
        (PYTHON + PYTHON.replace("0.5", "0.6"), "the reply holds several verdicts that differ"),
        ("I cannot judge that.", "the reply holds no complete JSON object"),
        ("", "the reply holds no complete JSON object"),
        (f"<think>{reply()}</think>", "the reply holds a verdict only inside the thinking, none after it"),
        (reply() + reply(groundedness=0), "the reply holds several verdicts that differ"),
        (f"{{'first': {reply()}}} {reply(groundedness=0)}", "the reply holds several verdicts that differ"),
        ("x" * (LONGEST_REPLY + 1), "the reply has 1000001 characters, more than 1000000"),
    ],
)
def test_a_reply_that_is_no_verdict_is_refused_with_what_is_wrong(text, said):
    assert problem(text) == said


@pytest.mark.parametrize(
    "bomb",
    [
        '{"a":' * 150_000,
        "[" * 500_000,
        "{" * 900_000,
        '{"a":[' * 100_000 + "]}" * 100_000,
        '{"a":1,' * 100_000,
        '{"a":[' + '{"b":1},' * 100_000,
        "{" + ",".join(f'"k{i}":{i}' for i in range(60_000)) + "}",
    ],
    ids=lambda bomb: bomb[:8],
)
def test_a_nesting_bomb_is_a_reply_without_a_verdict(bomb):
    assert re.search(r"no complete JSON object|no field", problem(bomb))


def test_a_verdict_too_deep_to_be_read_is_refused():
    deep = "[" * 100_000 + "]" * 100_000
    assert problem(reply(groundedness="DEEP").replace('"DEEP"', deep)) == "the reply holds no complete JSON object"


def test_the_error_carries_the_first_part_of_the_reply():
    with pytest.raises(JudgeReplyError) as caught:
        read_reply("no" * 1000, nonce=NONCE)
    assert caught.value.reply == "no" * 500
    assert caught.value.__cause__ is None


@given(st.floats(0, 1), st.floats(0, 1), st.text(), st.lists(st.text()), st.one_of(st.none(), st.booleans()))
def test_every_verdict_in_range_comes_back_as_it_was_written(correctness, grounded, message, claims, abstained):
    text = reply(
        answer_correctness=correctness,
        groundedness=grounded,
        error_message=message,
        unsupported_claims=claims,
        abstained=abstained,
    )
    assert read_reply(
        f"<think>{message}</think>\n{text}" if "</think" not in message else text, nonce=NONCE
    ) == Judgement(
        answer_correctness=correctness,
        groundedness=grounded,
        error_message=message.strip(),
        abstained=abstained,
        unsupported_claims=tuple(claims),
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*JudgeReply.model_fields, "x"]), _JSON))
def test_no_object_without_the_nonce_is_ever_a_verdict(fields):
    with pytest.raises(JudgeReplyError):
        read_reply(json.dumps(fields), nonce=NONCE)


@given(_JSON, _JSON)
def test_whatever_the_scores_are_only_numbers_in_range_are_read(correctness, grounded):
    text = reply(answer_correctness=correctness, groundedness=grounded)
    try:
        read = read_reply(text, nonce=NONCE)
    except JudgeReplyError as error:
        said = str(error)
    else:
        said = ""
        assert read.answer_correctness is not None
        assert read.groundedness is not None
        assert 0 <= read.answer_correctness <= 1
        assert 0 <= read.groundedness <= 1
    assert not said or re.search("answer_correctness|groundedness", said)


def test_the_schema_that_is_sent_is_that_of_what_is_read():
    # By value: older versions of pydantic write 1.0 for 1.
    assert reply_schema() == json.loads(written_schema())


def test_the_schema_is_one_that_strict_servers_take():
    schema = reply_schema()
    assert schema == {
        "type": "object",
        "properties": {
            "nonce": {"type": "string"},
            "unsupported_claims": {"type": "array", "items": {"type": "string"}},
            "abstained": {"type": "boolean"},
            "answer_correctness": {"type": "number", "minimum": 0, "maximum": 1},
            "groundedness": {"type": "number", "minimum": 0, "maximum": 1},
            "error_message": {"type": "string"},
        },
        "required": [
            "nonce",
            "unsupported_claims",
            "abstained",
            "answer_correctness",
            "groundedness",
            "error_message",
        ],
        "additionalProperties": False,
    }
    assert Draft202012Validator(schema).is_valid(json.loads(reply(abstained=False, unsupported_claims=[])))


if __name__ == "__main__":
    path = Path(pytest_ragcheck.__file__).with_name("judging") / "prompts" / "reply.schema.json"
    path.write_text(written_schema(), encoding="utf-8")
