"""
Our RAGAS metrics against the ragas library: the formulas, whole scores over one server, and the requests.

    tox run -e oracles-ragas
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from contextlib import aclosing
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_ragcheck.concurrency.limiter import NO_LIMIT
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import JudgeError, JudgeReplyError, StepFailed
from pytest_ragcheck.judging.embeds import OpenAIEmbeddings
from pytest_ragcheck.judging.judge_choice import choose_judge
from pytest_ragcheck.judging.model.chat import Chat
from pytest_ragcheck.judging.model.model_server import ModelServer
from pytest_ragcheck.judging.model.server_address import EMBEDDING_MODEL
from pytest_ragcheck.judging.ragas_judge import RagasJudge, ragas_adapters, ragas_metrics
from pytest_ragcheck.judging.run_preflight import IN_INI, preflight
from pytest_ragcheck.judging.trial import canaries
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.metrics.ragas import formulas
from pytest_ragcheck.metrics.ragas.model_ragas import RagasByLibrary, RagasMetrics
from pytest_ragcheck.metrics.similarity import nearest
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import RAGAS
from tests.docs.pages import DOCS
from tests.making import a_question
from tests.oracles.comparison import check
from tests.oracles.ragas_server import NONCE, KnowingServer, Known, some_facts
from tests.servers.openai_server import OpenAIServer, Reply, Request, by_path, completion, embeds, error

pytestmark = [
    pytest.mark.skipif(
        find_spec("ragas") is None and not os.environ.get("RAGCHECK_ORACLES"),
        reason="ragas is not installed; see tox run -e oracles-ragas",
    ),
    pytest.mark.filterwarnings("ignore"),
]
PAGE = (DOCS / "reference" / "metrics-ragas.md").read_text(encoding="utf-8")
CASES = 300
FORMULA = 1e-12
WHOLE = 1e-9


@pytest.fixture(scope="module")
def collections() -> Any:
    return ragas_metrics()


class Look:
    """The target of ragas' adapters, with canned replies."""

    def __init__(self, replies: list[Any], vectors: dict[str, list[float]]) -> None:
        self.replies = replies
        self.vectors = vectors

    async def ask(self, prompt: str, form: Any) -> Any:
        return self.replies.pop(0)

    async def embed(self, texts: list[str]) -> list[list[float]]:
        return [self.vectors[text] for text in texts]


def of_ragas(metric: str, replies: list[Any], vectors: dict[str, list[float]], **said: Any) -> float:
    """The value that ragas' own code makes of these replies."""
    look: Any = Look(replies, vectors)
    adapters = ragas_adapters()
    parts = {"llm": adapters.llm(look)}
    if metric in {"AnswerRelevancy", "AnswerCorrectness"}:
        parts["embeddings"] = adapters.vectors(look)
    return float(asyncio.run(getattr(ragas_metrics(), metric)(**parts).ascore(**said)).value)


def vectors_of(rng: random.Random, *names: str) -> dict[str, list[float]]:
    size = rng.randint(2, 40)
    return {name: [rng.gauss(0.2, 1) for _ in range(size)] for name in names}


def test_answer_relevancy_is_that_of_ragas(collections):
    rng = random.Random(1)
    for _ in range(CASES):
        vectors = vectors_of(rng, "q", "a", "b", "c")
        flags = [rng.random() < 0.5] * 3
        replies = [SimpleNamespace(question=q, noncommittal=int(f)) for q, f in zip("abc", flags, strict=True)]
        theirs = of_ragas("AnswerRelevancy", replies, vectors, user_input="q", response="r")
        ours = 0.0 if all(flags) else formulas.answer_relevancy(vectors["q"], [vectors[q] for q in "abc"])
        assert ours == pytest.approx(theirs, abs=FORMULA, rel=0)


def test_answer_correctness_is_that_of_ragas(collections):
    rng = random.Random(2)
    for _ in range(CASES):
        vectors = vectors_of(rng, "r", "e")
        tp, fp, fn = (rng.randint(0, 6) for _ in range(3))
        if tp + fp + fn == 0:
            continue
        classes = SimpleNamespace(TP=[0] * tp, FP=[0] * fp, FN=[0] * fn)
        some = SimpleNamespace(statements=["s"])
        theirs = of_ragas(
            "AnswerCorrectness", [some, some, classes], vectors, user_input="q", response="r", reference="e"
        )
        factual = formulas.factuality(true_positives=tp, false_positives=fp, false_negatives=fn)
        ours = formulas.answer_correctness(factual, formulas.cosine_similarity(vectors["r"], vectors["e"]))
        assert ours == pytest.approx(theirs, abs=FORMULA, rel=0)


def test_embedding_similarity_is_that_of_ragas(collections):
    rng = random.Random(7)
    worst = 0.0
    for _ in range(CASES):
        vectors = vectors_of(rng, "r", "e")
        said = {"embed_text": lambda self, text, vectors=vectors: vectors[text]}
        canned_class: Any = type("Canned", (ragas_adapters().vectors,), said)
        canned = canned_class(None)
        metric = import_module("ragas.metrics.collections").SemanticSimilarity(embeddings=canned)
        theirs = asyncio.run(metric.ascore(response="r", reference="e")).value
        worst = max(worst, abs(nearest(tuple(vectors["r"]), [tuple(vectors["e"])]) - theirs))
    check("embedding_similarity", cases=CASES, largest=worst)


def test_context_relevance_is_that_of_ragas(collections):
    for first in range(3):
        for second in range(3):
            replies = [SimpleNamespace(rating=first), SimpleNamespace(rating=second)]
            theirs = of_ragas("ContextRelevance", replies, {}, user_input="q", retrieved_contexts=["c"])
            assert formulas.context_relevance(first, second) == theirs


def test_faithfulness_is_that_of_ragas(collections):
    rng = random.Random(3)
    for _ in range(CASES):
        verdicts = [rng.random() < 0.5 for _ in range(rng.randint(1, 9))]
        some = SimpleNamespace(statements=["s"])
        judged = SimpleNamespace(statements=[SimpleNamespace(verdict=int(v)) for v in verdicts])
        theirs = of_ragas("Faithfulness", [some, judged], {}, user_input="q", response="r", retrieved_contexts=["c"])
        ours = formulas.faithfulness(supported=sum(verdicts), statements=len(verdicts))
        assert ours == pytest.approx(theirs, abs=FORMULA, rel=0)


def test_what_is_not_defined_is_one_or_nan_for_ragas_and_a_reason_for_us(collections):
    none = SimpleNamespace(statements=[])
    vectors = {"r": [1.0, 0.0], "e": [1.0, 0.0]}
    assert of_ragas("AnswerCorrectness", [none, none], vectors, user_input="q", response="r", reference="e") == 1.0
    faithful = of_ragas("Faithfulness", [none], {}, user_input="q", response="r", retrieved_contexts=["c"])
    assert faithful != faithful  # noqa: PLR0124 - NaN
    with pytest.raises(ValueError, match="makes a statement"):
        formulas.factuality(true_positives=0, false_positives=0, false_negatives=0)
    with pytest.raises(ValueError, match="makes no statement"):
        formulas.faithfulness(supported=0, statements=0)


def measured(known: Known, *, by_library: bool) -> tuple[dict[str, Any], KnowingServer]:
    script = KnowingServer(known)
    with OpenAIServer(script) as server:

        async def run() -> dict[str, Any]:
            where: Any = {"api_key": "k", "base_url": server.url, "max_retries": 0}
            chat = Chat(ModelServer(model="m", **where))
            vectors = OpenAIEmbeddings(server=ModelServer(model="e", kind=EMBEDDING_MODEL, **where))
            async with aclosing(RagasJudge(chat, vectors)) as judge:
                metric = RagasByLibrary(judge) if by_library else RagasMetrics(chat, vectors)
                return await metric.score(known.question, known.answer)

        return asyncio.run(run()), script


def test_whole_scores_over_one_server_are_those_of_ragas_by_one_call_for_ten(collections):
    rng = random.Random(4)
    worst = 0.0
    asked: list[KnowingServer] = []
    for number in range(40):
        known = some_facts(rng, f"n{number}")
        ours, our_server = measured(known, by_library=False)
        theirs, their_server = measured(known, by_library=True)
        assert sorted(ours) == sorted(theirs)
        for metric, score in ours.items():
            assert score.value is not None
            assert score.value == pytest.approx(theirs[metric].value, abs=WHOLE, rel=0), (metric, known)
            worst = max(worst, abs(score.value - theirs[metric].value))
        assert (our_server.calls, our_server.batches) == (1, 1)
        assert (their_server.calls, their_server.batches) == (10, 4)
        assert our_server.tokens < their_server.tokens / 6
        asked = [our_server, their_server]
    check(" ".join(RAGAS), cases=40, largest=worst)
    for server in asked:
        assert f"| {server.calls} | {server.batches} | {server.tokens:,} |" in PAGE


def test_ragas_as_judge_gives_its_correctness_and_its_faithfulness(collections):
    known = some_facts(random.Random(5), "n")
    with OpenAIServer(KnowingServer(known)) as server:
        settings = Settings.of(
            judge="ragas",
            judge_model="m",
            judge_api_key="k",
            judge_url=server.url,
            embedding_model="e",
            metrics=("judge", "ragas"),
        )
        judge: Any = choose_judge(settings)

        async def run() -> Any:
            async with aclosing(judge):
                judgement = await judge.judge(known.question, known.answer)
                (metric,) = [m for m in choose_metrics(settings, judge) if isinstance(m, RagasByLibrary)]
                return judgement, await metric.score(known.question, known.answer)

        judgement, scores = asyncio.run(run())
        requests = len(server.requests)
    assert judge.identity.kind == "ragas"
    assert judge.identity.prompt_version == "ragas-0.4.3"
    assert judgement.answer_correctness == scores["ragas_answer_correctness"].value
    assert judgement.groundedness == scores["ragas_faithfulness"].value == sum(known.supported) / len(known.supported)
    assert judgement.error_message
    assert requests == 14, "what the judgement measured is not measured again"


@pytest.mark.parametrize("judged_first", [False, True])
def test_a_metric_that_cannot_be_read_leaves_the_others_whole(collections: Any, judged_first: bool) -> None:
    known = some_facts(random.Random(7), "n")
    knowing = KnowingServer(known)

    def script(request: Request) -> Reply:
        form = request.json.get("response_format", {}).get("json_schema", {}).get("name")
        return completion("I like it.") if form == "NLIStatementOutput" else knowing(request)

    with OpenAIServer(script) as server:

        async def run() -> Any:
            chat = Chat(ModelServer(model="m", api_key="k", base_url=server.url, max_retries=0))
            vectors = OpenAIEmbeddings(
                server=ModelServer(model="e", api_key="k", base_url=server.url, kind=EMBEDDING_MODEL)
            )
            async with aclosing(RagasJudge(chat, vectors)) as judge:
                if judged_first:
                    with pytest.raises(JudgeReplyError, match="twice gave no verdict"):
                        await judge.judge(known.question, known.answer)
                return await RagasByLibrary(judge).score(known.question, known.answer)

        found = asyncio.run(run())
    whole, _ = measured(known, by_library=True)
    unreadable = found.pop("ragas_faithfulness")
    assert unreadable.value is None
    assert "twice gave no verdict" in unreadable.reason
    assert found == {name: score for name, score in whole.items() if name != "ragas_faithfulness"}


def test_a_model_that_fails_is_asked_once_and_is_an_error(collections):
    failing = by_path(chat=error(500, "out of order"), embeddings=embeds(lambda text: [1.0]))
    with OpenAIServer(failing) as server:

        async def run() -> None:
            chat = Chat(ModelServer(model="m", api_key="k", base_url=server.url, max_retries=0))
            vectors = OpenAIEmbeddings(
                server=ModelServer(model="e", api_key="k", base_url=server.url, kind=EMBEDDING_MODEL)
            )
            async with aclosing(RagasJudge(chat, vectors)) as judge:
                look = judge.measurement(
                    a_question(expected_answer="a"), RagAnswer(text="a", contexts=("Of something else.",))
                )
                await look.context_relevance()

        with pytest.raises(JudgeError, match=r"HTTP 500"):
            asyncio.run(run())
    # The form of the request is looked for; ragas' own forty attempts are not made.
    assert len(server.requests) == 2


def test_without_contexts_or_expected_answer_nothing_is_asked_for_them(collections):
    known = some_facts(random.Random(6), "n")
    with OpenAIServer(KnowingServer(known)) as server:

        async def run() -> Any:
            chat = Chat(ModelServer(model="m", api_key="k", base_url=server.url))
            vectors = OpenAIEmbeddings(
                server=ModelServer(model="e", api_key="k", base_url=server.url, kind=EMBEDDING_MODEL)
            )
            async with aclosing(RagasJudge(chat, vectors)) as judge:
                return await judge.judge(a_question(), RagAnswer(text="a"))

        judgement = asyncio.run(run())
    assert (judgement.answer_correctness, judgement.groundedness) == (None, 0.0)
    assert server.requests == []


def of_canaries(request: Request, *, blind: bool = False) -> Reply:
    """A model that knows the canaries and judges each correctly; a blind one finds everything right."""
    right, _, contradicted, _, refusing, _ = canaries()
    said = [canary.answer.text for canary in (right, contradicted, refusing) if canary.answer.text in request.prompt]
    form = request.json["response_format"]["json_schema"]["name"]
    (nonce,) = NONCE.findall(request.prompt)
    found = blind or said == [right.answer.text]
    passage = right.answer.contexts[0]
    statement = {"statement": said[0] if said else "It is 45 days.", "reason": "r"}
    forms: dict[str, dict[str, Any]] = {
        "StatementGeneratorOutput": {"statements": [statement["statement"]]},
        "ClassificationWithReason": {"TP": [statement] * found, "FP": [statement] * (not found), "FN": []},
        "NLIStatementOutput": {
            "statements": [{**statement, "verdict": int(blind or (found and passage in request.prompt))}]
        },
    }
    return completion(json.dumps({"nonce": nonce, **forms[form]}))


@pytest.mark.parametrize("blind", [False, True])
def test_ragas_as_judge_is_tried_out_by_its_model(collections: Any, blind: bool) -> None:
    script = by_path(chat=partial(of_canaries, blind=blind), embeddings=embeds(lambda text: [1.0, 1.0]))
    with OpenAIServer(script) as server:
        settings = Settings.of(
            judge="ragas", judge_model="m", judge_api_key="k", judge_url=server.url, embedding_model="e"
        )

        async def run() -> tuple[str, ...]:
            judge: Any = choose_judge(settings)
            assert judge.trial_fingerprint
            async with aclosing(judge):
                return await preflight(judge, settings, NO_LIMIT, switch=IN_INI)

        if blind:
            with pytest.raises(StepFailed, match=r"^the judge ragas \(m, ragas-0.4.3, .*it cannot tell good answers"):
                asyncio.run(run())
        else:
            assert asyncio.run(run()) == ()
    # Of five answers ragas asks for statements and their classes, and for the support of them.
    calls = [request.path for request in server.requests]
    assert calls.count("/v1/chat/completions") == 25


def test_ragas_does_not_tell_its_makers(collections):
    assert os.environ["RAGAS_DO_NOT_TRACK"] == "true"
    assert import_module("ragas._analytics").do_not_track()
