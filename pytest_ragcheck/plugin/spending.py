"""What a run may cost: the dry run, which says it, and the limit, which has to be one that can be watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.engine.estimate import estimate, estimate_lines, why_no_price
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.prices import price_usd
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.usable import overridden

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.settings import Settings


def dry_run_lines(config: pytest.Config, run: Run) -> list[str]:
    """How much the run would ask; skipped questions are not asked."""
    settings = settings_of(config)
    questions = [question for question in run.selected.values() if question.skip is None]
    try:
        estimated = estimate(questions, settings, own_judge=overridden(config, "rag_judge"))
    except UsageError as error:
        return [f"dry run: {error}"]
    return list(estimate_lines(estimated, settings))


def check_watchable(settings: Settings, *, own_judge: bool) -> None:
    """
    Returns if what the run spends can be known.

    Raises:
        UsageError: It cannot; the text says why, and what to do.
    """
    if own_judge:
        raise UsageError("--rag-max-cost: what a judge of your own costs is not known. Leave the limit out.")
    if settings.judge not in {"openai", "ragas"} or not settings.needs_judge:
        return
    model = settings.judge_model or ""
    if price_usd(model, settings.judge_url, input_tokens=1, output_tokens=1, own=settings.own_prices) is None:
        raise UsageError(f"--rag-max-cost: what the judge costs is not known: {why_no_price(model)}.")
