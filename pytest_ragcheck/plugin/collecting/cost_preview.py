"""Estimates the cost of a dry run, and checks that a cost limit can be enforced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.config.settings import DUMMY_API_KEY, Settings
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.checked_judgement import identity_of, model_of
from pytest_ragcheck.judging.judge_choice import choose_judge
from pytest_ragcheck.judging.judge_prompt import load_prompt
from pytest_ragcheck.judging.model.chat import Chat
from pytest_ragcheck.judging.panel import Panel
from pytest_ragcheck.judging.run_preflight import kept_trials, read_trial
from pytest_ragcheck.judging.trial import canaries_for, judges_to_try, trial_key
from pytest_ragcheck.metrics.cost import EXTRA, has_table, price_usd
from pytest_ragcheck.plugin.collecting.run_baseline import DRIFT_SAMPLE, RunBaseline
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.extensions import is_overridden
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.replay.recorded_run import UnavailableJudge
from pytest_ragcheck.short_texts import counted
from pytest_ragcheck.summary.gate.procedure.candidate import ASKS, MORE_ASKS, MOST
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.plugin.run_state import Run
    from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow

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
    Estimate the run; *own_judge* is True if a fixture of the user returns the judge.

    A `UsageError` if the judge prompt does not exist.
    """
    # A turn is asked after the turns before it, selected or not.
    asked = {(each.dataset_name, turn.id) for each in questions for turn in (*each.earlier, each)}
    system_calls = 0 if settings.run.replay else len(asked) * settings.run.repeats
    judged = [question for question in questions if question.is_answered]
    is_model = settings.judge.name == "openai" and not own_judge
    times = settings.run.repeats * settings.judge.repeats
    judge_calls = None if own_judge and judged else 0
    if is_model and settings.judged:
        judge_calls = len(judged) * times
    requests = Estimate(questions=len(questions), system_calls=system_calls, judge_calls=judge_calls)
    if not is_model or not judge_calls or not settings.judge.model:
        return requests
    prompt = load_prompt(settings.judge.prompt)
    text = "x" * ANSWER_CHARACTERS
    characters = 0
    for question in judged:
        contexts = ("x" * CONTEXT_CHARACTERS,) * (question.top_k or settings.endpoint.top_k)
        earlier = [EarlierTurn(question=each.question, answer=text, contexts=contexts) for each in question.earlier]
        turn = replace(question, history=tuple(earlier))
        characters += len(prompt.render(turn, RagAnswer(text=text, contexts=contexts), nonce="0" * 16))
    tokens = characters * times // CHARACTERS_A_TOKEN
    replies = judge_calls * REPLY_TOKENS
    return replace(
        requests,
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


def dry_run_lines(config: pytest.Config, run: Run) -> list[str]:
    """The estimate of `--rag-dry-run`. Skipped questions cost nothing."""
    settings = settings_of(config)
    questions = [question for question in run.questions.asked.values() if question.skip is None]
    try:
        estimated = estimate(questions, settings, own_judge=is_overridden(config, "rag_judge"))
        preflight = list(_preflight_lines(config, settings, estimated))
    except UsageError as error:
        return [f"dry run: {error}"]
    return [*estimate_lines(estimated, settings), *preflight, *_gate_lines(config, questions, estimated)]


def _preflight_lines(config: pytest.Config, settings: Settings, estimated: Estimate) -> Iterator[str]:
    # Yield the calls of the preflight, which asks a model that no earlier run has tried.
    if not estimated.judge_calls or "preflight" in settings.run.disabled or settings.run.replay is not None:
        return
    judge = choose_judge(settings.replace(judge_api_key=settings.judge.api_key or DUMMY_API_KEY))
    kept = kept_trials(getattr(config, "cache", None))
    for tried in judges_to_try(judge):
        if read_trial(kept.get(trial_key(tried))) is not None:
            yield "preflight            none: an earlier run has tried the judge"
            continue
        calls = len(canaries_for(tried))
        price = "" if estimated.usd is None else f", about ${estimated.usd * calls / estimated.judge_calls:.4f}"
        yield f"preflight            {calls} calls to the judge{price}"


def _gate_lines(config: pytest.Config, questions: Sequence[Question], estimated: Estimate) -> Iterator[str]:
    run = RunBaseline.of(config)
    if run is None:
        return
    rows = [(row, question.turn or 1) for question in questions if (row := run.row(question)) is not None]
    asks, judgements = most_requests(rows, run.gate)
    calls = f"{counted(asks, 'call')} to the system"
    drift = ""
    if estimated.judge_calls != 0:
        calls += f" and {judgements:,} to the judge"
        drift = f"; to measure drift, at most {min(DRIFT_SAMPLE, len(rows))} of them get one"
    if estimated.usd is not None and estimated.judge_calls:
        calls += f", about ${estimated.usd * judgements / estimated.judge_calls:.4f}"
    yield f"gate {run.gate:<16}at most {calls}, if every answer is new and fails"
    yield f"baseline             recorded answers of {counted(len(rows), 'question')} need no new verdict{drift}"


def check_cost_is_known(settings: Settings) -> None:
    """Raise a `UsageError` if the judge of the settings has no known price."""
    asked = settings.judge.name in {"openai", "ragas"} and settings.needs_judge
    if asked and (problem := _unpriced(settings.judge.model or "", settings.judge.url, settings)):
        raise UsageError(problem)


def unlimited(judge: Judge, settings: Settings) -> str:
    """Why the cost of the judge, which a fixture may have returned, cannot be limited; empty if it can."""
    if isinstance(judge, Panel):
        return next(filter(None, (unlimited(each, settings) for each in judge.judges)), "")
    asked, identity = getattr(judge, "asked", judge), identity_of(judge)
    if identity.kind in {"offline", "local"} or isinstance(asked, UnavailableJudge):
        return ""
    if not isinstance(model_of(asked), Chat) or not identity.model:
        return f"--rag-max-cost: the cost of the judge {identity.words} is not known. Leave the limit out."
    problem = _unpriced(identity.model, identity.url, settings)
    return problem and f"{problem[:-1]} and rag_judge_model."


def _unpriced(model: str, url: str | None, settings: Settings) -> str:
    if price_usd(model, url, input_tokens=1, output_tokens=1, own=settings.judge.own_prices) is not None:
        return ""
    return f"--rag-max-cost: the cost of the judge is not known: {why_no_price(model)}."


def most_requests(rows: Iterable[tuple[BaselineRow, int]], gate: str) -> tuple[int, int]:
    """
    The calls of the gate to the system and the judge, if every answer is new and fails.

    Each row comes with the requests to ask its question again: a turn is asked after those before it.
    """
    asks = judgements = 0
    for row, requests in rows:
        if row.verdict is Verdict.ERROR:
            continue
        passed = row.verdict is Verdict.PASS or row.passes
        if not passed and gate == "confirmed":
            continue
        again = MORE_ASKS if gate == "confirmed" or (row.passes and row.fails) else ASKS
        asks += again * requests
        judgements += again + (2 * MOST if passed else 0)
        if gate == "regression":
            # Each version of the answer for the mean, twice if a single metric is asserted.
            judgements += (len(row.saved) + 1) * (1 if len(row.thresholds) > 1 else 2)
    return asks, judgements
