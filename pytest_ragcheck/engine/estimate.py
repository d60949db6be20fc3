"""Estimates the requests, tokens and cost of a run before it asks anything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judge_prompt import load_prompt
from pytest_ragcheck.metrics.cost import EXTRA, has_table, price_usd
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer

CHARACTERS_A_TOKEN = 4
"""For English text; other scripts have fewer."""

CONTEXT_CHARACTERS = 800
ANSWER_CHARACTERS = 500
REPLY_TOKENS = 150
"""For a verdict with a reason."""


@frozen
class Estimate:
    questions: int
    system_calls: int
    judge_calls: int | None
    """At most, because the cache answers some calls; None if a fixture of the user returns the judge."""

    input_tokens: int | None = None
    """Tokens of all calls to the openai judge; None for any other judge."""

    output_tokens: int | None = None
    usd: float | None = None


def estimate(questions: Sequence[Question], settings: Settings, *, own_judge: bool) -> Estimate:
    """
    The estimate.

    *own_judge* is True if a fixture of the user returns the judge.

    Raises:
        UsageError: The judge prompt does not exist.
    """
    # A turn is asked after the turns before it, selected or not.
    asked = {(each.dataset_name, turn.id) for each in questions for turn in (*each.earlier, each)}
    system_calls = 0 if settings.run.replay else len(asked) * settings.run.repeats
    judged = [question for question in questions if question.is_answered]
    is_model = settings.judge.name == "openai" and not own_judge
    judge_calls = None if own_judge and judged else 0
    if is_model:
        judge_calls = len(judged) * settings.run.repeats * settings.judge.repeats if settings.judged else 0
    counted = Estimate(questions=len(questions), system_calls=system_calls, judge_calls=judge_calls)
    if not is_model or not judge_calls or not settings.judge.model:
        return counted
    prompt = load_prompt(settings.judge.prompt)
    text = "x" * ANSWER_CHARACTERS
    characters = 0
    for question in judged:
        contexts = ("x" * CONTEXT_CHARACTERS,) * (question.top_k or settings.endpoint.top_k)
        earlier = [EarlierTurn(question=each.question, answer=text, contexts=contexts) for each in question.earlier]
        turn = replace(question, history=tuple(earlier))
        characters += len(prompt.render(turn, RagAnswer(text=text, contexts=contexts), nonce="0" * 16))
    times = settings.run.repeats * settings.judge.repeats
    tokens = characters * times // CHARACTERS_A_TOKEN
    replies = judge_calls * REPLY_TOKENS
    return replace(
        counted,
        input_tokens=tokens,
        output_tokens=replies,
        usd=price_usd(
            settings.judge.model,
            settings.judge.url,
            input_tokens=tokens,
            output_tokens=replies,
            own=settings.judge.own_prices,
        ),
    )


def estimate_lines(estimated: Estimate, settings: Settings) -> Iterator[str]:
    yield "dry run: nothing was asked"
    yield f"questions            {estimated.questions:,}"
    yield f"calls to the system  {estimated.system_calls:,}"
    if estimated.judge_calls is None:
        yield "calls to the judge   unknown: a rag_judge fixture makes them"
    elif estimated.input_tokens is None:
        yield f"calls to the judge   {estimated.judge_calls:,} over the network"
    else:
        yield f"calls to the judge   {estimated.judge_calls:,} to {settings.judge.model} at most, known verdicts none"
        yield (
            f"tokens               about {estimated.input_tokens:,} in, {estimated.output_tokens:,} out, "
            f"with contexts of {CONTEXT_CHARACTERS} characters and answers of {ANSWER_CHARACTERS}"
        )
        unknown = f"unknown: {why_no_price(settings.judge.model or '')}"
        yield f"price                {unknown if estimated.usd is None else f'about ${estimated.usd:.4f}'}"
        if "ragas" in settings.run.metrics:
            yield "further              for RAGAS' metrics a second call and one for embeddings, not in these numbers"
        if "citations" in settings.run.metrics:
            yield "further              for citations a call for each answer with markers, not in these numbers"


def why_no_price(model: str) -> str:
    if not has_table():
        return f'there is no price table. Install it (pip install "{EXTRA}"), or set rag_judge_price'
    return f"{model} has no price at its server in the table of genai-prices. Set rag_judge_price"
