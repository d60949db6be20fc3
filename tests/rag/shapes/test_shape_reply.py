from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, named
from pytest_ragcheck.rag.shapes.shape import read_reply


def test_keys_beyond_the_contract_are_kept_as_they_came():
    reply = {"answer": "a", "contexts": ["x", "y"], "sources": [{"id": 1}], "session_id": None}
    assert read_reply(reply) == RagAnswer(
        text="a", contexts=("x", "y"), extra={"sources": [{"id": 1}], "session_id": None}
    )


def test_an_empty_answer_and_no_contexts_are_a_reply():
    assert read_reply({"answer": "", "contexts": []}) == RagAnswer(text="")
    ids = {"answer": "30 days", "contexts": ["a", "b"], "source_ids": ("d1", "d2")}
    assert read_reply(ids) == RagAnswer(text="30 days", contexts=("a", "b"), source_ids=("d1", "d2"))
    refused: tuple[object, ...] = (["d1"], "d1", [1, 2], {})
    for wrong in refused:
        with pytest.raises(ReplyMismatch) as caught:
            read_reply({**ids, "source_ids": wrong})
        assert caught.value.to_do == "Return a text for each context, in their order, or no source_ids."
    assert read_reply(MappingProxyType({"answer": " ", "contexts": ("",)})) == RagAnswer(text=" ", contexts=("",))


def test_an_answer_beside_an_error_and_an_abstention_without_one_are_answers():
    assert read_reply({"answer": "30 days", "contexts": [], "error": "a warning"}).text == "30 days"
    assert read_reply({"answer": "", "contexts": [], "error": None}).text == ""
    succeeded = {"success": True, "ok": 1, "status": 0, "message": "nothing found"}
    assert read_reply({"answer": "", "contexts": [], **succeeded}).text == ""
    assert read_reply({"answer": "30 days", "contexts": [], "success": False}).text == "30 days"


@pytest.mark.parametrize(
    ("mark", "error"),
    [
        ({"code": 500, "message": "index gone"}, "index gone"),
        ({"code": "503", "msg": "index gone"}, "index gone"),
        ({"status": 500, "title": "Internal Server Error"}, "status: 500"),
        ({"statusCode": 404}, "statusCode: 404"),
        ({"code": -1}, "code: -1"),
        ({"status": "timeout"}, "status: timeout"),
        ({"status": "FAILED"}, "status: failed"),
        ({"status": "aborted"}, "status: aborted"),
        ({"state": "cancelled"}, "state: cancelled"),
        ({"code": "INTERNAL_ERROR"}, "code: internal_error"),
        ({"errorMessage": "index gone"}, "index gone"),
        ({"hasErrors": True}, "hasErrors: true"),
        ({"finish_reason": "error"}, "finish_reason: error"),
    ],
)
def test_an_empty_answer_beside_a_mark_of_a_failure_is_no_abstention(mark: dict[str, Any], error: str):
    with pytest.raises(ReplyMismatch) as caught:
        read_reply({"answer": "", "contexts": [], **mark})
    assert caught.value.found == f'the reply has no answer in "answer" but an error: "{error}"'
    assert read_reply({"answer": "30 days", "contexts": [], **mark}).text == "30 days"


@pytest.mark.parametrize("mark", [{"status": "PENDING"}, {"state": "loading"}, {"partial": True}])
def test_an_empty_answer_of_a_job_that_is_not_done_is_no_abstention(mark: dict[str, Any]):
    with pytest.raises(ReplyMismatch) as caught:
        read_reply({"answer": "", "contexts": [], "jobId": 17, **mark})
    [(key, value)] = mark.items()
    assert caught.value.found == f"the reply has no answer yet: {key}: {value}".lower()
    assert "Wait for the answer in a function" in caught.value.to_do
    assert read_reply({"answer": "30 days", "contexts": [], **mark}).text == "30 days"


@pytest.mark.parametrize(
    "beside",
    [
        {"code": 200},
        {"code": 0},
        {"code": "OK"},
        {"code": 20000},
        {"status": "NO_ERROR", "hasErrors": False, "errorMessage": "", "partial": False},
        {"state": {"errors": 3}, "metadata": {"error": "one shard was slow", "status": "failed"}},
        {"finish_reason": "stop", "status": "completed", "message": "no error"},
    ],
)
def test_an_empty_answer_beside_other_words_is_an_abstention(beside: dict[str, Any]):
    assert read_reply({"answer": "", "contexts": [], **beside}).text == ""


def test_whole_characters_beyond_the_basic_plane_are_no_halves():
    assert read_reply({"answer": "\U0001f600", "contexts": ["\U0001f600"]}).text == "\U0001f600"


@pytest.mark.parametrize(
    ("reply", "found", "to_do"),
    [
        (None, "the reply is null", 'Return an object, {"answer": "...", "contexts": ["...", ...]}.'),
        ("30 days", 'the reply is the string "30 days"', None),
        ([], "the reply is an empty array", None),
        ({}, 'the reply has no "answer" (found no keys)', 'Return {"answer": "...", "contexts": ["...", ...]}.'),
        (
            {f"key{i}": 0 for i in range(9)},
            'the reply has no "answer" (found "key0", "key1", "key2", "key3", "key4", "key5" and 3 more)',
            None,
        ),
        ({"error": ""}, 'the reply has no "answer" (found "error")', None),
        ({"error": "boom"}, 'the reply has no "answer" but an error: "boom"', None),
        ({"error": {"code": 7}}, 'the reply has no "answer" but an error: an object with "code"', None),
        ({"error": True}, 'the reply has no "answer" but an error: true', None),
        ({"error": {"detail": "down"}}, 'the reply has no "answer" but an error: "down"', None),
        (
            {"answer": None, "contexts": None, "error": {"message": "down"}},
            'the reply has no answer in "answer" but an error: "down"',
            "Fix its cause in the RAG system, and report such failures with status 500.",
        ),
        (
            {"answer": "", "contexts": [], "error": "down"},
            'the reply has no answer in "answer" but an error: "down"',
            None,
        ),
        (
            {"answer": " \n", "contexts": [], "error": "down"},
            'the reply has no answer in "answer" but an error: "down"',
            None,
        ),
        (
            {"answer": "", "contexts": [], "status": "error", "message": "no index"},
            'the reply has no answer in "answer" but an error: "no index"',
            None,
        ),
        (
            {"answer": "", "contexts": [], "success": False},
            'the reply has no answer in "answer" but an error: "success: false"',
            None,
        ),
        ({"answer": None, "contexts": [], "error": None}, '"answer" is null, not a string', None),
        ({"choices": "a"}, 'the reply has no "answer" (found "choices")', None),
        ({"answer": True, "contexts": []}, '"answer" is true, not a string', "Return the text of the answer."),
        ({"answer": ["a"], "contexts": []}, '"answer" is an array of 1, not a string', None),
        ({"answer": {"x": 1}, "contexts": []}, '"answer" is an object with "x", not a string', None),
        ({"answer": b"a", "contexts": []}, '"answer" is a bytes, not a string', None),
        (
            {"answer": "a", "contexts": {}},
            '"contexts" is an object with no keys, not an array of strings',
            "Return the retrieved texts, or [] where nothing was retrieved.",
        ),
        (
            {"answer": "a", "Contexts": []},
            'the reply has no "contexts" (found "answer", "Contexts")',
            'Return the texts of "Contexts" as "contexts", an array of strings.',
        ),
        (
            {"answer": "a", "retrievedContexts": []},
            'the reply has no "contexts" (found "answer", "retrievedContexts")',
            'Return the texts of "retrievedContexts" as "contexts", an array of strings.',
        ),
        ({"answer": "a", "contexts": [["x"]]}, '"contexts"[0] is an array of 1, not a string', None),
        (
            {"answer": "a", "contexts": ["x", {"id": 1}]},
            '"contexts"[1] is an object with "id", not a string',
            "Return the text of each passage.",
        ),
        (
            {"answer": "a", "contexts": ["x", "ab\udc00"]},
            '"contexts"[1] holds half a character, \\udc00, at position 2',
            None,
        ),
    ],
)
def test_a_reply_in_another_shape_is_refused_with_what_was_found(reply, found, to_do):
    with pytest.raises(ReplyMismatch) as caught:
        read_reply(reply)
    assert caught.value.found == found
    if to_do is not None:
        assert caught.value.to_do == to_do


def test_a_number_is_named_by_its_value():
    assert named(0.5) == "the number 0.5"
