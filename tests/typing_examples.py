"""One use of each public name, as users write it: for the type checkers, and run by tests/test_public_names.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest_ragcheck
from pytest_ragcheck import (
    Asks,
    Dataset,
    DatasetError,
    EndpointError,
    EndpointReplyError,
    EndpointStatusError,
    EndpointTimeout,
    EndpointUnreachable,
    Evaluation,
    GoldPassage,
    Judge,
    JudgeError,
    JudgeIdentity,
    Judgement,
    JudgeReplyError,
    JudgeUnavailable,
    LocalJudge,
    MeasurementError,
    Metric,
    OfflineJudge,
    OpenAIJudge,
    Panel,
    Question,
    QuestionErrored,
    QuestionFailed,
    QuestionFileError,
    RagAnswer,
    RagcheckError,
    RagClient,
    Record,
    ResultsError,
    Score,
    Settings,
    StepFailed,
    UsageError,
    Verdict,
    evaluate,
    load_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openai import AsyncOpenAI

QUESTION = Question(
    dataset_name="billing",
    id="refund-window",
    question="How long is the refund window?",
    expected_answer="30 days",
    gold_passages=(GoldPassage(text="Refunds are possible within 30 days."),),
)


def answer(query: str) -> dict[str, str | list[str]]:
    """A RAG system that is a function."""
    return {"answer": f"30 days, to {query!r}.", "contexts": ["Refunds are possible within 30 days."]}


class Service:
    """A client of one's own."""

    async def ask(self, question: Question) -> RagAnswer:
        """Answers."""
        return RagAnswer(text=f"30 days, to {question.question!r}.", contexts=("Within 30 days.",), source_ids=("d1",))


def short(question: Question, answer: RagAnswer) -> Judgement:
    """A judge that is a function."""
    good = len(answer.text) < 20 + len(question.question)
    return Judgement(answer_correctness=float(good), groundedness=1.0, unsupported_claims=())


class LengthJudge:
    """A judge of one's own."""

    identity = JudgeIdentity(kind="length", prompt_version="1")

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """Judges."""
        return short(question, answer)


class PlainService:
    """A client whose method is not async."""

    def ask(self, question: Question) -> RagAnswer:
        """Answers."""
        return RagAnswer(text="30 days", contexts=("Within 30 days.",))


@dataclass(frozen=True, kw_only=True)
class PricedJudgement(Judgement):
    """A judgement with a field of one's own."""

    cost_chf: float = 0.0


class PlainJudge:
    """A judge whose method is not async."""

    def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """Judges."""
        return PricedJudgement(answer_correctness=1.0, groundedness=1.0, cost_chf=0.2)


class Length:
    """A metric of one's own."""

    names = ("length",)

    async def score(self, question: Question, answer: RagAnswer) -> Mapping[str, Score]:
        """Measures."""
        if not question.answerable:
            return {"length": Score.unscored("there is nothing to say")}
        return {"length": Score(float(len(answer.text)))}


def judges(client: AsyncOpenAI) -> list[Judge]:
    """Every kind of judge."""
    model = OpenAIJudge(model="m", api_key="k", base_url="http://localhost/v1", prompt=load_prompt("en"))
    own: Judge = LengthJudge()
    return [own, model, OpenAIJudge(model="m", client=client), OfflineJudge(), Panel([OfflineJudge(), short])]


def panel_with_a_local_model(folder: str) -> Panel:
    """A panel for the fixture `rag_judge`, with a token classifier of that folder."""
    return Panel([LocalJudge(folder), OfflineJudge()], "mean")


def clients() -> list[Asks]:
    """Every kind of client."""
    return [Service(), RagClient("http://localhost/query", timeout_seconds=30), RagClient.from_callable(answer)]


def dataset(name: str) -> type[Dataset]:
    """A class for a dataset of one's own."""
    return type(name, (Dataset,), {})


async def whole_run() -> list[Record]:
    """A run of each kind of client, judge and metric."""
    settings = Settings.of(threshold=0.5)
    metric: Metric = Length()
    first: Evaluation = await evaluate(QUESTION, answer, short, settings=settings, metrics=[metric])
    second = await evaluate([QUESTION], Service(), LengthJudge(), settings=settings, metrics=[length])
    third = await evaluate([QUESTION], RagClient.from_callable(answer), Panel([OfflineJudge(), short]))
    fourth = await evaluate(QUESTION, PlainService(), Panel([PlainJudge(), PlainJudge()]))
    fifth = await evaluate(QUESTION, PlainService(), PlainJudge())
    return [record for run in (first, second, third, fourth, fifth) for record in run.records]


def length(question: Question, answer: RagAnswer) -> float | None:
    """A metric that is a function."""
    return float(len(answer.text)) if question.answerable else None


def of_outcome(error: QuestionFailed | QuestionErrored) -> Verdict:
    """The record that a failed question carries."""
    return error.record.verdict


def of_endpoint(error: EndpointError) -> str:
    """The facts that an error of the endpoint carries."""
    if isinstance(error, EndpointUnreachable | EndpointTimeout):
        return error.url
    known = isinstance(error, EndpointStatusError | EndpointReplyError)
    return f"{error.url} {error.status} {error.body}" if known else error.url


def of_judge(error: JudgeError) -> str:
    """The facts that an error of the judge carries."""
    if isinstance(error, JudgeUnavailable):
        return f"{error.status} {error.retry_after_seconds}"
    return error.reply or "" if isinstance(error, JudgeReplyError) else error.kind


def of_run(error: RagcheckError) -> str:
    """The facts that other errors carry."""
    if isinstance(error, QuestionFileError):
        return "\n".join(error.problems)
    if isinstance(error, ResultsError):
        return str(error.path)
    if isinstance(error, StepFailed | MeasurementError):
        return error.name if isinstance(error, StepFailed) else error.kind
    value_error: UsageError | DatasetError | None = error if isinstance(error, UsageError | DatasetError) else None
    return str(value_error) if value_error else pytest_ragcheck.__version__
