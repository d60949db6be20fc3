"""Precision and recall of citations: ALCE's arithmetic, the judge's one call, the offline rules, and failure texts."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import aclosing
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.check import PreparedQuestion, check_question
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import JudgeReplyError
from pytest_ragcheck.judging.judge_prompt import task_prompt
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.metrics.citation_support import CitationSupport
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import REDACTED
from pytest_ragcheck.scores import Score
from tests.making import Answers, Judges, a_question
from tests.servers.openai_server import OpenAIServer, completion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_ragcheck.verdict.record import Record
    from tests.servers.openai_server import Request, Script

QUESTION = a_question("refund", question="How long?")
PASSAGES = ("Refunds take 30 days.", "The fee is 9 EUR.", "The API takes 100 requests a minute.")

Entails = "Callable[[Sequence[str], str], bool]"


def has_all_letters(passages: Sequence[str], sentence: str) -> bool:
    """Entailment of the oracle rows: the passages have every capital letter of the sentence."""
    return set(re.findall("[A-Z]", sentence)) <= set("".join(passages))


def alce(sentences: Sequence[tuple[str, Sequence[int]]], passages: Sequence[str]) -> tuple[float, float]:
    """
    Citation precision and recall by the definition of ALCE (Gao et al. 2023, section 4, and its evaluation program).

    Recall of a sentence is 1 if the concatenation of its passages entails it; 0 without citations, or with one out of
    range. A citation is precise if its sentence has recall 1 and it is not irrelevant: it entails the sentence alone,
    or the others without it do not.
    """
    recalled = precise = cited = 0
    for sentence, refs in sentences:
        if not refs or max(refs) > len(passages):
            continue
        cited += len(refs)
        if not has_all_letters([passages[ref - 1] for ref in refs], sentence):
            continue
        recalled += 1
        if len(refs) == 1:
            precise += 1
            continue
        for ref in refs:
            others = list(refs)
            others.remove(ref)
            alone = has_all_letters([passages[ref - 1]], sentence)
            without = has_all_letters([passages[other - 1] for other in others], sentence)
            precise += alone or not without
    return (precise / cited if cited else 0.0), recalled / len(sentences)


def replies(entails: Callable[[Sequence[str], str], bool]) -> Script:
    """A model that decides by *entails* about the sentences and passages of the request."""

    def reply(request: Request) -> Any:
        passages, found = request.block("contexts"), []
        for each in request.block("sentences"):
            cited: list[int] = each["cites"]

            def holds(numbers: Sequence[int], sentence: str = each["sentence"]) -> bool:
                return bool(numbers) and entails([passages[number - 1] for number in numbers], sentence)

            found.append(
                {
                    "number": each["number"],
                    "supported": holds(cited),
                    "alone": [number for number in cited if holds([number])],
                    "needed": [n for n in cited if holds(cited) and not holds([m for m in cited if m != n])],
                }
            )
        return completion(json.dumps({"nonce": request.nonce, "sentences": found}))

    return reply


def by_model(server: OpenAIServer, *answers: RagAnswer, question: Question = QUESTION) -> list[dict[str, Score]]:
    async def run() -> list[dict[str, Score]]:
        judge = OpenAIJudge(model="m-1", api_key="k", base_url=server.url, max_retries=0)
        async with aclosing(judge):
            metric = CitationSupport(judge.chat)
            return [await metric.score(question, answer) for answer in answers]

    return asyncio.run(run())


def offline(text: str, contexts: tuple[str, ...] = PASSAGES, ids: tuple[str, ...] | None = None) -> dict[str, Score]:
    answer = RagAnswer(text=text, contexts=contexts, source_ids=ids)
    return asyncio.run(CitationSupport(None).score(QUESTION, answer))


def test_both_scores_equal_alce_on_rows_of_all_citations_and_supports() -> None:
    passages = ("A", "AB", "C", "none")
    cited: list[tuple[int, ...]] = [
        (),
        (1,),
        (2,),
        (4,),
        (1, 2),
        (1, 3),
        (2, 3),
        (3, 4),
        (1, 2, 3),
        (1, 9),
        (1, 1),
        (3, 3, 1),
    ]
    rows = [
        [(f"{letters} is so.", first), ("AB is so too.", second)]
        for letters, first, second in product(("A", "AC", "Z"), cited, cited)
        if first or second
    ]
    answers = [
        RagAnswer(
            text=" ".join(s[:-1] + "".join(f" [{ref}]" for ref in refs) + "." for s, refs in row), contexts=passages
        )
        for row in rows
    ]
    with OpenAIServer(replies(has_all_letters)) as server:
        measured = by_model(server, *answers)
    ours = [(scores["citation_precision"].value, scores["citation_recall"].value) for scores in measured]
    assert len(rows) == 429
    assert ours == [pytest.approx(alce(row, passages)) for row in rows]


def test_the_model_gets_the_cited_passages_alone_in_one_request() -> None:
    history = (EarlierTurn(question="Where?", answer="Here.", contexts=("Elsewhere.",)),)
    question = a_question("refund", question="How long?", history=history)
    answer = RagAnswer(text="Nothing is free. It is 100 [3]. It is 30 days [1][3].", contexts=PASSAGES)
    with OpenAIServer(replies(lambda passages, _: passages == [PASSAGES[0]])) as server:
        (scores,) = by_model(server, answer, question=question)
    (request,) = server.requests
    assert request.block("contexts") == [PASSAGES[2], PASSAGES[0]]
    assert request.block("sentences") == [
        {"number": 1, "sentence": "It is 100.", "cites": [1]},
        {"number": 2, "sentence": "It is 30 days.", "cites": [1, 2]},
    ]
    assert request.block("history")[0]["question"] == "Where?"
    assert task_prompt("citations").text.splitlines()[0] in request.prompt
    schema = request.json["response_format"]["json_schema"]
    assert (schema["name"], schema["strict"]) == ("citations", True)
    # No citation of 3 is in a supported sentence: the passages together are not the one that supports.
    assert scores == {
        "citation_precision": Score(
            0.0, findings=('[3] does not support "It is 100."', '[1], [3] do not together support "It is 30 days."')
        ),
        "citation_recall": Score(
            0.0,
            findings=(
                '"Nothing is free." cites nothing',
                '[3] does not support "It is 100."',
                '[1], [3] do not together support "It is 30 days."',
            ),
        ),
    }


def test_the_model_gets_no_secrets_in_a_run() -> None:
    secret = "correct-horse"
    answer = RagAnswer(text=f"The key is {secret} [1].", contexts=(f"The key is {secret}.",))

    async def run(server: OpenAIServer) -> Record:
        judge = OpenAIJudge(model="m-1", api_key="k", base_url=server.url, max_retries=0)
        async with aclosing(judge):
            return await check_question(
                PreparedQuestion(
                    question=QUESTION,
                    client=Answers(answer),
                    judge=Judges(answer_correctness=1.0, groundedness=1.0),
                    metrics=[CitationSupport(judge.chat)],
                    settings=Settings.of(secrets=(secret,), metrics=("+citations",)),
                )
            )

    with OpenAIServer(replies(lambda passages, sentence: sentence.startswith("The key"))) as server:
        record = asyncio.run(run(server))
    (request,) = server.requests
    assert secret not in request.prompt
    assert request.block("contexts") == [f"The key is {REDACTED}."]
    assert record.scores["citation_precision"] == Score(1.0)


def test_a_name_cites_all_contexts_of_its_document_as_one_passage() -> None:
    answer = RagAnswer(text="It is so [a.md].", contexts=("X.", "Y.", "Z."), source_ids=("a.md", "b.md", "a.md"))
    with OpenAIServer(replies(lambda passages, _: passages == ["X.\n\nZ."])) as server:
        (scores,) = by_model(server, answer)
    assert scores["citation_recall"].value == 1.0


@pytest.mark.parametrize(
    ("sentences", "problem"),
    [
        ([], 'the numbers none, not each from 1 to 1'),
        ([{"number": 1, "supported": True, "alone": [2], "needed": []}], "sentence 1 does not cite passage 2"),
        ([{"number": 1, "supported": "yes", "alone": [], "needed": []}], "not true or false"),
        ([{"number": 1, "supported": each, "alone": [], "needed": []} for each in (True, False)], "the numbers 1, 1,"),
    ],
)  # fmt: skip
def test_a_reply_about_other_passages_is_no_score(sentences: list[Any], problem: str) -> None:
    def script(request: Request) -> Any:
        return completion(json.dumps({"nonce": request.nonce, "sentences": sentences}))

    with OpenAIServer(script) as server, pytest.raises(JudgeReplyError, match=re.escape(problem)):
        by_model(server, RagAnswer(text="It is 30 days [1].", contexts=PASSAGES))
    assert len(server.requests) == 2


def test_nothing_is_asked_if_no_citation_resolves() -> None:
    with OpenAIServer(replies(has_all_letters)) as server:
        without, invented = by_model(
            server,
            RagAnswer(text="It is 30 days.", contexts=PASSAGES),
            RagAnswer(text="It is 30 days [9].", contexts=PASSAGES),
        )
    assert server.requests == []
    assert without == {}
    finding = ('"It is 30 days." cites [9], which is not a context',)
    assert invented == {
        "citation_precision": Score(0.0, findings=finding),
        "citation_recall": Score(0.0, findings=finding),
    }


def test_names_are_unscored_if_the_contexts_have_no_ids() -> None:
    unscored = Score.unscored("the answer cites by name, and the endpoint gives its contexts no ids")
    assert offline("It is 30 days [terms.md].") == {"citation_precision": unscored, "citation_recall": unscored}


def test_the_rules_of_the_offline_judge_find_wrong_and_superfluous_citations() -> None:
    scores = offline("Refunds take 30 days [1][2]. The fee is 9 EUR [1]. The API takes 100 requests a minute.")
    # 1 of 3 citations and 1 of 3 sentences
    assert scores["citation_precision"].value == pytest.approx(1 / 3)
    assert scores["citation_recall"].value == pytest.approx(1 / 3)
    assert scores["citation_precision"].findings == (
        '[2] adds nothing to "Refunds take 30 days."',
        '[1] does not support "The fee is 9 EUR."',
    )
    assert scores["citation_recall"].findings == (
        '[1] does not support "The fee is 9 EUR."',
        '"The API takes 100 requests a minute." cites nothing',
    )


def test_passages_that_support_a_sentence_only_together_are_both_precise() -> None:
    scores = offline(
        "Refunds take 30 days and the monthly fee is 9 EUR [1][2].",
        ("Refunds take 30 days.", "The monthly fee is 9 EUR."),
    )
    assert [score.value for score in scores.values()] == [1.0, 1.0]
