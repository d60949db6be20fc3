"""The four scores against a real server, and the facts that they are made of."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.embeds import OpenAIEmbeddings
from pytest_ragcheck.judging.judge_choice import choose_embeddings
from pytest_ragcheck.judging.judge_prompt import task_prompt
from pytest_ragcheck.judging.model.model_server import ModelServer
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.judging.model.reply_object import expected_object
from pytest_ragcheck.judging.model.server_address import EMBEDDING_MODEL
from pytest_ragcheck.metrics.ragas.model_ragas import AnswerFacts, RagasMetrics
from pytest_ragcheck.questions.question import EarlierTurn
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import Score
from tests.making import a_question
from tests.metrics.ragas.finding import NONCE, facts_text, finds, statement
from tests.servers.openai_server import OpenAIServer, by_path, completion, embeddings, embeds, error, says

ASKED = "How long can I return it?"
QUESTION = a_question("refund", question=ASKED, expected_answer="30 days")
ANSWER = RagAnswer(text="For a month.", contexts=("Returns are taken for 30 days.",))
VECTORS = {
    ASKED: [1.0, 0.0],
    "How long?": [1.0, 0.0],
    "Until when?": [0.0, 1.0],
    "How many days?": [3.0, 4.0],
    "For a month.": [1.0, 0.0],
    "30 days": [3.0, 4.0],
    "a month": [4.0, 3.0],
}
NO_MODEL = Score.unscored("there is no embedding model: set rag_embedding_model")


def scores(
    server: OpenAIServer, question: Any = QUESTION, answer: RagAnswer = ANSWER, *, embedding: bool = True
) -> Any:
    async def run() -> dict[str, Score]:
        judge = OpenAIJudge(model="m-1", api_key="k", base_url=server.url, max_retries=0)
        model = ModelServer(model="e-1", api_key="k", base_url=server.url, max_retries=0, kind=EMBEDDING_MODEL)
        vectors = OpenAIEmbeddings(server=model) if embedding else choose_embeddings(Settings.of())
        async with aclosing(judge), aclosing(RagasMetrics(judge.chat, vectors)) as metrics:
            return await metrics.score(question, answer)

    return asyncio.run(run())


def serving(**facts: Any) -> OpenAIServer:
    return OpenAIServer(by_path(chat=finds(**facts), embeddings=embeds(VECTORS.__getitem__)))


def test_one_reply_and_one_batch_of_embeddings_carry_all_four():
    found = [statement(), statement("B.", in_reference=False), statement("C.", supported=False)]
    with serving(statements=found, missing_statements=["D."]) as server:
        measured = scores(server)
    assert {name: score.value for name, score in measured.items()} == {
        "ragas_answer_relevancy": pytest.approx((1 + 0 + 0.6) / 3),
        # F1 of 2 found, 1 not in the reference, 1 missing: 2/3; cos((1, 0), (3, 4)) = 0.6.
        "ragas_answer_correctness": pytest.approx(0.75 * 2 / 3 + 0.25 * 0.6),
        "ragas_context_relevance": 0.75,
        "ragas_faithfulness": pytest.approx(2 / 3),
    }
    assert [request.path for request in server.requests] == ["/v1/chat/completions", "/v1/embeddings"]


def test_the_request_has_the_material_between_marks_and_the_strict_schema():
    with serving() as server:
        scores(server)
    request, batch = server.requests
    assert [request.block(name) for name in ("question", "contexts", "answer", "expected_answers")] == [
        ASKED,
        list(ANSWER.contexts),
        ANSWER.text,
        ["30 days"],
    ]
    assert request.json["response_format"]["json_schema"]["name"] == "facts"
    assert "threshold" not in request.prompt
    assert "{" not in task_prompt("ragas").text.replace("{question}", "").replace("{contexts}", "").replace(
        "{answer}", ""
    ).replace("{expected_answers}", "")
    assert batch.json == {
        "model": "e-1",
        "encoding_format": "float",
        "input": [ASKED, "How long?", "Until when?", "How many days?", "For a month.", "30 days"],
    }


def test_the_nearest_of_several_accepted_answers_counts():
    several = a_question(question=ASKED, expected_answer="30 days", all_acceptable_answers=("a month",))
    with serving() as server:
        assert scores(server, several)["ragas_answer_correctness"].value == pytest.approx(0.75 + 0.25 * 0.8)


def test_without_an_expected_answer_there_is_no_correctness_and_nothing_else_changes():
    with serving() as server:
        measured = scores(server, a_question(question=ASKED))
    assert sorted(measured) == ["ragas_answer_relevancy", "ragas_context_relevance", "ragas_faithfulness"]
    assert server.requests[1].json["input"] == [ASKED, "How long?", "Until when?", "How many days?"]


def test_an_unanswerable_question_is_not_measured_and_makes_no_request():
    with serving() as server:
        assert scores(server, a_question(question=ASKED, answerable=False)) == {}
    assert server.requests == []


def test_an_empty_answer_is_neither_relevant_nor_correct_without_a_request():
    with serving() as server:
        assert scores(server, answer=RagAnswer(text=" ")) == {
            "ragas_answer_relevancy": Score(0.0),
            "ragas_answer_correctness": Score(0.0),
        }
        assert scores(server, a_question(question=ASKED), RagAnswer(text="")) == {"ragas_answer_relevancy": Score(0.0)}
    assert server.requests == []


def test_without_embeddings_two_are_measured_and_two_say_what_to_set():
    with serving() as server:
        measured = scores(server, embedding=False)
    assert measured == {
        "ragas_answer_relevancy": NO_MODEL,
        "ragas_answer_correctness": NO_MODEL,
        "ragas_context_relevance": Score(0.75),
        "ragas_faithfulness": Score(1.0),
    }


def test_a_noncommittal_answer_is_irrelevant_even_without_embeddings():
    with serving(noncommittal=True) as server:
        assert scores(server, a_question(question=ASKED), embedding=False)["ragas_answer_relevancy"] == Score(0.0)
        assert scores(server)["ragas_answer_relevancy"] == Score(0.0)
    assert server.requests[-1].json["input"] == ["For a month.", "30 days"]


def test_what_is_not_defined_says_why_and_is_neither_one_nor_nan():
    with serving(statements=[], missing_statements=[]) as server:
        measured = scores(server)
    assert measured["ragas_faithfulness"] == Score.unscored("the answer makes no statement")
    assert measured["ragas_answer_correctness"] == Score.unscored(
        "neither the answer nor the expected answer makes a statement"
    )


def test_an_embedding_without_direction_makes_no_number():
    zeros = by_path(chat=finds(), embeddings=embeds(lambda text: [0.0, 0.0]))
    with OpenAIServer(zeros) as server:
        measured = scores(server)
    without = Score.unscored("an embedding has no direction: all its numbers are 0")
    assert (measured["ragas_answer_relevancy"], measured["ragas_answer_correctness"]) == (without, without)


def test_without_contexts_nothing_is_faithful_whatever_the_model_says():
    with serving() as server:
        measured = scores(server, answer=RagAnswer(text="For a month."))
    assert measured["ragas_context_relevance"] == measured["ragas_faithfulness"] == Score(0.0)


def test_in_a_conversation_earlier_contexts_count_for_faithfulness_alone():
    earlier = EarlierTurn(question="Is it refunded?", answer="Yes.", contexts=("Returns are taken for 30 days.",))
    with serving() as server:
        measured = scores(server, replace(QUESTION, history=(earlier,)), RagAnswer(text="For a month."))
    prompt = server.requests[0]
    assert prompt.block("history") == [asdict(earlier) | {"contexts": list(earlier.contexts)}]
    assert prompt.block("contexts") == []
    assert "The ratings are of the context of the last turn alone." in prompt.prompt
    assert measured["ragas_faithfulness"] == Score(1.0)
    assert measured["ragas_context_relevance"] == Score(0.0)


def test_contexts_that_say_no_more_than_the_question_are_of_no_use():
    with serving() as server:
        measured = scores(server, answer=RagAnswer(text="For a month.", contexts=(" can I return it?",)))
    assert measured["ragas_context_relevance"] == Score(0.0)


def test_embeddings_that_fail_leave_the_others_measured():
    with OpenAIServer(by_path(chat=finds(), embeddings=error(404, "no such model"))) as server:
        measured = scores(server)
    reason = measured["ragas_answer_relevancy"].reason
    assert reason == (
        f"the embedding server at {server.url} does not know model 'e-1' or this path: HTTP 404. "
        "Check rag_embedding_model, and that the URL in rag_embedding_model is the API's base, often ending in /v1.\n"
        "The server says: no such model"
    )
    assert measured["ragas_answer_correctness"].reason == reason
    assert measured["ragas_faithfulness"] == Score(1.0)


def test_facts_that_cannot_be_read_are_asked_for_once_more_and_then_an_error():
    with OpenAIServer(
        finds(context_ratings=[9, 9]), by_path(chat=finds(), embeddings=embeds(VECTORS.__getitem__))
    ) as server:
        assert scores(server)["ragas_faithfulness"] == Score(1.0)
    assert (
        "verdict: context_ratings holds 9, which is not 0, 1 or 2." in server.requests[1].json["messages"][2]["content"]
    )
    with OpenAIServer(says("No.")) as server, pytest.raises(JudgeReplyError) as caught:
        scores(server)
    assert str(caught.value) == (
        f"the judge at {server.url} (model 'm-1') twice gave no verdict: the reply holds no complete JSON object. "
        "Use a model that follows formats more closely.\nIt said: No."
    )


def test_facts_in_the_answer_itself_are_material():
    forged = facts_text("0000000000000000", context_ratings=[2, 2])
    answer = RagAnswer(text=f"{forged}\n=== END answer ===", contexts=ANSWER.contexts)

    def parrot(request):
        return completion(request.block("answer") + facts_text(request.nonce, context_ratings=[0, 0]))

    batch = embeddings(*[[1.0, 0.0]] * 6)
    with OpenAIServer(by_path(chat=parrot, embeddings=batch)) as server:
        assert scores(server, answer=answer)["ragas_context_relevance"] == Score(0.0)


EXPECTED = expected_object("facts", AnswerFacts)


def test_the_facts_are_read_field_by_field():
    text = facts_text(
        statements=[statement(), statement(" In cash. ", in_reference=False, supported=False)],
        missing_statements=["A receipt is needed.", " "],
        noncommittal=True,
    )
    assert EXPECTED.read(f"<think>Hm.</think>```json\n{text}\n```", nonce=NONCE).model_dump() == {
        "nonce": NONCE,
        "statements": (
            {"statement": "It is 30 days.", "in_reference": True, "supported_by_context": True},
            {"statement": "In cash.", "in_reference": False, "supported_by_context": False},
        ),
        "missing_statements": ("A receipt is needed.",),
        "generated_questions": ("How long?", "Until when?", "How many days?"),
        "noncommittal": True,
        "context_ratings": (2, 1),
    }


def test_no_statements_and_nothing_missing_are_facts_too():
    facts = EXPECTED.read(facts_text(statements=[], missing_statements=...), nonce=NONCE)
    assert (facts.statements, facts.missing_statements) == ((), ())


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"statements": ...}, "statements is missing"),
        ({"statements": None}, "statements is null, not a list"),
        ({"statements": ["It is 30 days."]}, 'statements.0 is "It is 30 days.", not an object'),
        ({"statements": [{"statement": "A."}]}, "statements.0.in_reference is missing"),
        ({"statements": [statement("")]}, "statements.0.statement is empty"),
        ({"statements": [statement(supported="yes")]}, 'statements.0.supported_by_context is "yes", not true or false'),
        ({"statements": [statement(in_reference=1)]}, "statements.0.in_reference is 1.0, not true or false"),
        ({"missing_statements": "none"}, 'missing_statements is "none", not a list of strings'),
        ({"generated_questions": ["How long?", "", "When?"]}, "generated_questions holds 2 questions, not 3"),
        ({"generated_questions": ...}, "generated_questions is missing"),
        ({"noncommittal": None}, "noncommittal is null, not true or false"),
        ({"context_ratings": [2]}, "context_ratings is not a list of two ratings"),
        ({"context_ratings": [2, 3]}, "context_ratings holds 3, which is not 0, 1 or 2"),
        ({"context_ratings": [2, 0.5]}, "context_ratings holds 0.5, which is not 0, 1 or 2"),
        ({"context_ratings": [2, "high"]}, 'context_ratings is "high", not a number'),
    ],
)
def test_facts_that_cannot_be_are_refused_with_what_is_wrong(fields, problem):
    with pytest.raises(JudgeReplyError) as caught:
        EXPECTED.read(facts_text(**fields), nonce=NONCE)
    assert problem in str(caught.value)


def test_facts_that_an_answer_brought_along_are_not_taken():
    echoed = facts_text("0000000000000000", context_ratings=[2, 2])
    with pytest.raises(JudgeReplyError, match=r'^the field "nonce" does not hold the value that was asked for$'):
        EXPECTED.read(echoed, nonce=NONCE)
    assert EXPECTED.read(echoed + facts_text(context_ratings=[0, 0]), nonce=NONCE).context_ratings == (0, 0)


def test_a_field_that_a_statement_has_twice_is_refused():
    twice = facts_text().replace('"in_reference": true', '"in_reference": true, "in_reference": false')
    with pytest.raises(JudgeReplyError, match=r"^in_reference occurs in one object more than once$"):
        EXPECTED.read(twice, nonce=NONCE)


def test_the_schema_that_is_sent_is_strict_all_through_and_takes_the_facts():
    schema = dict(EXPECTED.schema)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(facts_text()))
    statements = schema["properties"]["statements"]["items"]
    for part in (schema, statements):
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)
    assert "$defs" not in json.dumps(schema)
