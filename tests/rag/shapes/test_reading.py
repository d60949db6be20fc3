from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.rag.body.json_body import ReplyMismatch
from pytest_ragcheck.rag.shapes.reading import Reading
from pytest_ragcheck.rag.shapes.shape import NAMED_SHAPES, read_shape

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer

LIGHT = {"response": "30 days", "references": [{"id": 1, "content": ["a", "b"]}, {"id": 2, "content": ["c"]}]}


def read(reply: object, contexts: str, answer: str = "response", ids: str = "") -> RagAnswer:
    return Reading.from_text(f"answer={answer} contexts={contexts}" + (f" source_ids={ids}" if ids else "")).read(reply)


def mismatch(reply: object, contexts: str, answer: str = "response", ids: str = "") -> ReplyMismatch:
    with pytest.raises(ReplyMismatch) as caught:
        read(reply, contexts, answer, ids)
    return caught.value


@pytest.mark.parametrize(
    ("contexts", "found"),
    [
        ("references[].content[]", ("a", "b", "c")),
        ("references[*].content[]", ("a", "b", "c")),
        ("references[0].content", ("a", "b")),
        ("references[-1].content", ("c",)),
        ("references[].content | [0]", ("a", "b")),
        ("references[?id==`2`].content[]", ("c",)),
        ("references[:1].content[]", ("a", "b")),
        ("not_null(contexts, references[].content[])", ("a", "b", "c")),
        ("references[].not_null(text, content)[]", ("a", "b", "c")),
        ("[response]", ("30 days",)),
        ("`[]`", ()),
        ("@.references[].content[]", ("a", "b", "c")),
    ],
)
def test_contexts_are_what_their_expression_leads_to(contexts, found):
    assert read(LIGHT, contexts).contexts == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (
            '{"contexts": [{"text": "a"}, {"id": 1}]}',
            (
                'contexts=from_json(body).contexts[].text finds nothing: from_json(body).contexts[1] has no "text" '
                '(found "id")'
            ),
        ),
        (
            '{"contexts"',
            (
                "contexts=from_json(body).contexts[].text cannot be evaluated for this reply: "
                """the reply's JSON breaks off, at line 1, column 12: {"contexts". Return the whole of it, as valid """
            ),
        ),
        (5, "contexts=from_json(body).contexts[].text cannot be evaluated for this reply: In function from_json()"),
    ],
)
def test_a_text_that_is_json_is_read_as_strictly_as_a_reply(body, found):
    assert read({"response": "a", "body": '{"c": {"text": "b"}}'}, "from_json(body).values(c)").contexts == ("b",)
    assert mismatch({"response": "a", "body": body}, "from_json(body).contexts[].text").found.startswith(found)


def test_keys_that_no_expression_takes_whole_are_kept():
    assert read({**LIGHT, "contexts": []}, "contexts").extra == {"references": LIGHT["references"]}
    assert read([{"a": "x"}], "`[]`", "[0].a").extra == {}


def test_ids_come_in_the_order_of_the_contexts():
    reply = {"response": "a", "docs": [{"t": "x", "n": 7, "id": "d7"}, {"t": "y", "n": 8, "id": "d8"}]}
    assert read(reply, "docs[].t", ids="docs[].id").source_ids == ("d7", "d8")
    assert read(reply, "docs[].t", ids="docs[].to_string(n)").source_ids == ("7", "8")
    assert read(reply, "docs[].t", ids="sources[].id").source_ids is None
    assert read(reply, "docs[].t", ids="sources").source_ids is None
    assert read(reply, "docs[].t").source_ids is None


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ("docs[].n", "element 0 of source_ids=docs[].n is the number 7, not a string"),
        ("docs[].id", 'source_ids=docs[].id has 1 for 2 contexts: docs[1] has no "id" (found "t", "n")'),
        ("docs[0].id", 'source_ids=docs[0].id is the string "d7", not an array of strings'),
        ("docs[?id].id", "source_ids=docs[?id].id has 1 for 2 contexts"),
    ],
)
def test_ids_that_do_not_fit_the_contexts_are_refused(ids, found):
    reply = {"response": "a", "docs": [{"t": "x", "n": 7, "id": "d7"}, {"t": "y", "n": 8}]}
    assert mismatch(reply, "docs[].t", ids=ids).found == found


@pytest.mark.parametrize(
    ("reply", "contexts", "clause"),
    [
        ({}, "a.b.c", 'the reply has no "a" (found "response")'),
        ({"a": {"x": 1}}, "a.b.c", 'a has no "b" (found "x")'),
        ({"a": None}, "a.b", "a is null"),
        ({"a": {"b": None}}, "a.b", "a.b is null"),
        ({"a": "text"}, "a.b", 'a is the string "text", without "b"'),
        ({"a": []}, "a[0].b", "a is an empty array, without [0]"),
        ({"a": [1]}, "a[-2]", "a is an array of 1, without [-2]"),
        ({"a": {"b": 1}}, "a[].b", 'a is an object with "b", not an array'),
        ({"a": {"b": 1}}, "a[*].b", 'a is an object with "b", not an array'),
        ({"a": [{"b": "x"}, {"c": 1}]}, "a[].b", 'a[1] has no "b" (found "c")'),
        ({"a": [{"b": ["x", None]}]}, "a[].b[]", "a[0].b[1] is null"),
        ({"a": [{"b": [{"c": "x"}, {}]}]}, "a[*].b[*].c", 'a[0].b[1] has no "c" (found no keys)'),
        ({"a-b": {}}, '"a-b".c', '"a-b" has no "c" (found no keys)'),
        ({"b": {}}, "not_null(a, b.c)", 'b has no "c" (found no keys)'),
        ({"a": [{"t": "x"}, {}]}, "a[].not_null(s, t)", 'a[1] has no "s" (found no keys)'),
    ],
)
def test_an_expression_that_leads_nowhere_is_reported_where_it_ends(reply, contexts, clause):
    error = mismatch({"response": "30 days", **reply}, contexts)
    if reply == {}:
        assert error.found == f"contexts={contexts} finds nothing: {clause}"
    else:
        assert error.found.startswith(f"contexts={contexts} finds nothing: {clause.partition(' (found')[0]}")
    assert error.to_do.startswith(f"Correct contexts={contexts}, or fix the reply.")


def test_an_element_without_a_text_is_an_error_unless_a_filter_leaves_it_out():
    reply = {"response": "a", "docs": [{"text": "x"}, {"text": None}, {}]}
    assert mismatch(reply, "docs[].text").to_do == (
        "Correct contexts=docs[].text, or fix the reply. "
        "To skip elements without it, use a filter, as in items[?text].text."
    )
    assert read(reply, "docs[?text].text").contexts == ("x",)


def test_what_does_more_than_lead_is_named_whole():
    assert mismatch({"response": "a"}, "docs[?text].text").found == (
        'contexts=docs[?text].text finds nothing in the reply, which is an object with "response"'
    )
    assert mismatch(LIGHT, "length(response)").found == (
        "contexts=length(response) is the number 7, not an array of strings"
    )
    assert mismatch(LIGHT, "join(', ', nothing)").found.startswith(
        "contexts=join(', ', nothing) cannot be evaluated for this reply: In function join(), invalid type"
    )
    assert mismatch(LIGHT, "not_null()").found.startswith("contexts=not_null() cannot be evaluated for this reply: ")


@pytest.mark.parametrize(
    ("contexts", "found"),
    [
        ("references[].content", "element 0 of contexts=references[].content is an array of 2, not a string"),
        ("references[].id", "element 0 of contexts=references[].id is the number 1, not a string"),
        ("response", '"response" is one string, not an array'),
        ("references[0].content[0]", "contexts=references[0].content[0] is one string, not an array"),
    ],
)
def test_contexts_are_taken_as_they_are(contexts, found):
    assert mismatch(LIGHT, contexts).found == found


def test_an_answer_is_taken_as_it_is():
    assert mismatch(LIGHT, "`[]`", "references[0].id").found == "answer=references[0].id is the number 1, not a string"
    assert mismatch({"text": None}, "`[]`", "text").found == '"text" is null, not a string'
    assert mismatch([], "`[]`", "text").found == "the reply is an empty array"
    assert mismatch({"x": "ab\udc00"}, "`[]`", "x").found == '"x" holds half a character, \\udc00, at position 2'


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("text", 'the reply has no "text" but an error: "no index"'),
        ("result.text", 'answer=result.text finds nothing: the reply is an error: "no index"'),
    ],
)
def test_an_error_in_place_of_an_answer_is_reported(answer, found):
    error = mismatch({"error": {"message": "no index"}}, "`[]`", answer)
    assert error.found == found
    assert error.to_do == "Fix its cause in the RAG system, and report such failures with status 500."


def test_the_errors_of_graphql_are_reported():
    reply = {"data": {"ask": None}, "errors": [{"message": "no index", "path": ["ask"]}, {"message": "slow"}]}
    error = mismatch(reply, "data.ask.hits[].text", "data.ask.answer")
    assert error.found == 'answer=data.ask.answer finds nothing: the reply is an error: "no index"'
    assert mismatch({**reply, "errors": ["no index"]}, "`[]`", "data.ask.answer").found == error.found


@pytest.mark.parametrize("key", ["message", "msg", "retmsg", "detail"])
def test_the_message_beside_a_missing_answer_is_named(key):
    error = mismatch({"code": 102, "data": None, key: "no such chat"}, "`[]`", "data.answer")
    assert error.found == f'answer=data.answer finds nothing: data is null; "{key}" is "no such chat"'


OUTPUT_TEXT = "join('',output[].content[?type=='output_text'].text[])"
CUT = [{"type": "message", "content": [{"type": "output_text", "text": "Within 3"}]}]
"""The output of a reply of OpenAI's Responses API."""


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ({"result": {"error": "no index"}}, "not_null(result.answer,'')"),
        ({"result": {"error": "no index", "output": {"answer": None}}}, "result.output.answer || ''"),
        ({"data": {"answer": " ", "error": {"detail": "no index"}}}, "data.answer"),
        ({"data": {"answer": "", "error": "no index"}}, "[data][?answer=='']|[0].answer"),
        ({"choices": [{"message": {"content": ""}, "error": {"message": "no index"}}]}, "choices[0].message.content"),
        ({"status": "incomplete", "incomplete_details": {"reason": "no index"}, "output": []}, OUTPUT_TEXT),
    ],
)
def test_an_error_where_an_answer_has_no_text_is_reported(reply, answer):
    error = mismatch(reply, "`[]`", answer)
    assert error.found == f'the reply has no answer in answer={answer} but an error: "no index"'


# Partial results are the default: https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search
FAILED_SHARDS = {"total": 3, "successful": 1, "skipped": 0, "failed": 2, "failures": [{"shard": 0, "reason": {}}]}


@pytest.mark.parametrize(
    ("flags", "failure"),
    [
        ({"timed_out": True, "_shards": {"total": 3, "successful": 3, "failed": 0}}, "timed_out: true"),
        ({"timed_out": False, "_shards": FAILED_SHARDS}, "_shards.failed: 2"),
    ],
)
def test_a_search_that_failed_without_a_hit_has_not_found_nothing(flags, failure):
    reading = Reading.from_text("contexts=hits.hits[]._source.text")
    with pytest.raises(ReplyMismatch) as caught:
        reading.read({"took": 500, **flags, "hits": {"hits": []}})
    label = "contexts=hits.hits[]._source.text"
    assert caught.value.found == f'the reply has no contexts in {label} but an error: "{failure}"'
    hit = {"_id": "1", "_source": {"text": "Within 30 days."}}
    assert reading.read({**flags, "hits": {"hits": [hit]}}).contexts == ("Within 30 days.",)


def test_a_search_without_a_hit_has_found_nothing():
    reply = {"timed_out": False, "_shards": {**FAILED_SHARDS, "failed": 0}, "hits": {"hits": []}}
    assert Reading.from_text("contexts=hits.hits[]._source.text").read(reply).contexts == ()


@pytest.mark.parametrize("content", ["", " ", None])
@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("length", "the token limit was reached"),
        ("content_filter", "a filter blocked it"),
        ("tool_calls", "the model ended with a tool call"),
    ],
)
def test_a_completion_that_ends_before_its_text_is_no_abstention(reason, why, content):
    reply = {"choices": [{"message": {"content": content}, "finish_reason": reason}]}
    error = mismatch(reply, "`[]`", "choices[0].message.content")
    assert error.found.endswith(f' error: finish_reason "{reason}" ({why})')
    assert error.to_do.startswith("Fix its cause")


@pytest.mark.parametrize(("content", "reason"), [("Within 3", "length"), ("", "stop"), ("", None)])
def test_a_completion_with_a_text_or_another_end_is_an_answer(content, reason):
    reply = {"choices": [{"message": {"content": content}, "finish_reason": reason}]}
    answer = read(reply, "`[]`", "choices[0].message.content")
    assert answer.text == content
    limit = 'finish_reason "length" (the token limit was reached)'
    assert answer.unfinished == (limit if reason == "length" else "")


CALLS = [{"name": "search", "args": {"query": "refund"}}]


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"response_metadata": {"finish_reason": "length"}}, 'finish_reason "length" (the token limit was reached)'),
        ({"response_metadata": {"finish_reason": "SAFETY"}}, 'finish_reason "SAFETY" (a filter blocked it)'),
        (
            {"response_metadata": {"stop_reason": "max_tokens"}},
            'stop_reason "max_tokens" (the token limit was reached)',
        ),
        ({"meta": {"finish_reason": "content_filter"}}, 'finish_reason "content_filter" (a filter blocked it)'),
        ({"tool_calls": CALLS}, 'message with "tool_calls" (the model ended with a tool call)'),
    ],
)
def test_an_unfinished_message_of_a_framework_is_no_abstention(message: dict[str, object], found: str) -> None:
    reply = {"messages": [{"content": "", "type": "ai", "tool_calls": [], **message}]}
    assert mismatch(reply, "`[]`", "messages[-1].content").found.endswith(f" error: {found}")


def test_a_finished_message_without_text_is_an_abstention() -> None:
    messages = [
        {"content": "", "tool_calls": CALLS, "response_metadata": {"finish_reason": "tool_calls"}},
        {"content": "", "tool_calls": [], "response_metadata": {"finish_reason": "stop", "meta": None}},
    ]
    assert read({"messages": messages}, "`[]`", "messages[-1].content").text == ""
    # The calls of an agent may stand in the reply as its trace.
    assert read({"answer": "", "tool_calls": CALLS}, "`[]`", "answer").text == ""


@pytest.mark.parametrize("path", ["choices[0].message", "body.choices[0].message"])
def test_a_refusal_beside_a_null_content_is_the_answer(path):
    message: dict[str, str | None] = {"content": None, "refusal": "I can't help with that."}
    reply = {"choices": [{"message": message}], "body": {"choices": [{"message": message}]}}
    assert read(reply, "`[]`", f"{path}.content").text == "I can't help with that."
    message["refusal"] = None
    assert mismatch(reply, "`[]`", f"{path}.content").found.endswith(f"finds nothing: {path}.content is null")


def test_an_empty_answer_in_the_arguments_of_a_tool_is_an_abstention():
    message = {"content": None, "tool_calls": [{"function": {"arguments": '{"answer": ""}'}}]}
    reply = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert read(reply, "`[]`", "from_json(choices[0].message.tool_calls[0].function.arguments).answer").text == ""


def test_a_text_that_is_cut_off_is_not_named_in_place_of_missing_contexts():
    reply = {"answer": "Within 3", "finish_reason": "length"}
    found = mismatch(reply, "contexts", "answer").found
    assert found == 'the reply has no "contexts" (found "answer", "finish_reason")'


def test_an_error_beside_a_text_counts_only_if_the_answer_failed():
    failed = {"status": "failed", "error": {"code": "server_error", "message": "no index"}, "output": CUT}
    found = f'the reply has no answer in answer={OUTPUT_TEXT} but an error: "no index"'
    assert mismatch(failed, "`[]`", OUTPUT_TEXT).found == found
    incomplete = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": CUT}
    assert read({"error": None, **incomplete}, "`[]`", OUTPUT_TEXT).text == "Within 3"
    assert read({"data": {"answer": "30", "error": "slow"}, "log": {"error": "x"}}, "`[]`", "data.answer").text == "30"


@pytest.mark.parametrize("failure", [{"error": {"message": "no index"}}, {"status": "error", "message": "no index"}])
def test_an_error_in_place_of_contexts_is_no_search_without_a_hit(failure):
    searching = Reading.from_text("contexts=data.hits[].text")
    with pytest.raises(ReplyMismatch) as caught:
        searching.read({"data": {"hits": [], **failure}})
    assert caught.value.found == 'the reply has no contexts in contexts=data.hits[].text but an error: "no index"'
    assert searching.read({"data": {"hits": [], "error": None, "status": "ok"}}).contexts == ()
    assert searching.read({"data": {"hits": [{"text": "30"}], **failure}}).contexts == ("30",)


def test_an_error_elsewhere_leaves_an_empty_answer_an_abstention():
    reply = {"data": {"answer": ""}, "tools": {"error": "slow"}, "docs": [{"text": "a", "error": "E17"}]}
    assert read(reply, "docs[].text", "data.answer").text == ""


# The setting itself


def test_expressions_may_hold_blanks_quotes_and_the_names_of_fields():
    reading = Reading.from_text(
        """ answer = join(' contexts=', [a, "answer = b"])\ncontexts=docs[? kind == 'x answer=1' ].t source_ids=ids"""
    )
    assert reading.answer is not None
    assert reading.answer.text == """join(' contexts=', [a, "answer = b"])"""
    assert reading.contexts.text == "docs[? kind == 'x answer=1' ].t"
    assert reading.source_ids is not None
    assert reading.source_ids.text == "ids"
    assert Reading.from_text('contexts=`["answer="]` answer=a[?answer==b] | [0]').contexts.text == '`["answer="]`'


SEE = "(ragcheck docs how-to/own-endpoint-shape)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "",
            "does not say where the contexts are; write contexts=EXPRESSION, or contexts=`[]` if the reply has none",
        ),
        ("a", "does not begin with a field; write, for example, answer=result.text contexts=result.sources[].text"),
        (
            "answer=a",
            "does not say where the contexts are; write contexts=EXPRESSION, or contexts=`[]` if the reply has none",
        ),
        (
            "answer=a context=b",
            "names 'context', which is not part of an answer; write answer, contexts, source_ids, session",
        ),
        ("answer=a contexts=b answer=c", "gives answer twice; give it once"),
        ("answer= contexts=b", "has a mistake: answer= is empty"),
        ("answer=a. contexts=b", f"has a mistake: answer=a. ends too early for JMESPath {SEE}"),
        ("answer=a b contexts=c", f"has a mistake: answer=a b is not JMESPath from character 3 on, 'b' {SEE}"),
        ("answer='a contexts=c", f"has a mistake: answer='a is not JMESPath from character 1 on, \"'a\" {SEE}"),
        (
            "answer=$.a contexts=c",
            f"has a mistake: answer=$.a is not JMESPath from character 1 on, '$.a' {SEE}",
        ),
        (
            "answer=a-b contexts=c",
            (
                f"has a mistake: answer=a-b is not JMESPath from character 2 on, '-b' {SEE}; "
                'write a key that is not a plain name in double quotes, such as "page-content"'
            ),
        ),
        (
            "answer=ответ contexts=c",
            (
                f"has a mistake: answer=ответ is not JMESPath from character 1 on, 'ответ' {SEE}; "
                'write a key that is not a plain name in double quotes, such as "page-content"'
            ),
        ),
        (
            "answer=a contexts=b[].first(c)",
            "has a mistake: contexts=b[].first(c) calls first(), which is not a JMESPath function",
        ),
    ],
)
def test_a_setting_that_cannot_be_read_is_refused_with_what_to_write(text, problem):
    with pytest.raises(ValueError, match=r"\A\w") as caught:
        Reading.from_text(text)
    assert str(caught.value) == problem


# The named shapes


@pytest.mark.parametrize("name", NAMED_SHAPES)
def test_every_named_shape_can_be_read(name):
    assert read_shape(name).reads_the_contract is (name == "query")


@pytest.mark.parametrize(
    ("name", "reply", "contexts", "ids"),
    [
        ("search-rag", {"answer": "a", "contexts": []}, (), None),
        ("search-rag", {"answer": "a", "chunks": ["x"]}, ("x",), None),
        ("search-rag", {"answer": "a", "contexts": ["x"], "chunks": ["y"]}, ("x",), None),
        ("server", {"answer": "a", "contexts": ["x"]}, ("x",), None),
        ("server", {"answer": "a", "contexts": ["x"], "sources": [{"document_id": "1", "text": "z"}]}, ("x",), ("1",)),
        ("server", {"answer": "a", "sources": [{"document_id": "1", "text": "z"}]}, ("z",), ("1",)),
        ("server", {"answer": "a", "sources": []}, (), ()),
        ("openai-chat", {"choices": [{"message": {"content": "a"}}], "contexts": ["x"]}, ("x",), None),
    ],
)
def test_a_named_shape_reads_its_reply(name, reply, contexts, ids):
    answer = read_shape(name).reading.read(reply)
    assert (answer.text, answer.contexts, answer.source_ids) == ("a", contexts, ids)
