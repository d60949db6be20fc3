"""The cost of a run before it begins: the estimate of a dry run, and whether a cost limit can be enforced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.engine.estimate import estimate, estimate_lines, why_no_price
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.prices import price_usd
from pytest_ragcheck.plugin.collecting.overrides import is_overridden
from pytest_ragcheck.plugin.configuration import settings_of

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.plugin.run_state import Run


def dry_run_lines(config: pytest.Config, run: Run) -> list[str]:
    """Return the estimate of `--rag-dry-run`. Skipped questions cost nothing."""
    settings = settings_of(config)
    questions = [question for question in run.questions.selected.values() if question.skip is None]
    try:
        estimated = estimate(questions, settings, own_judge=is_overridden(config, "rag_judge"))
    except UsageError as error:
        return [f"dry run: {error}"]
    return list(estimate_lines(estimated, settings))


def check_cost_is_known(settings: Settings, *, own_judge: bool) -> None:
    """
    Check that the run can compute its cost.

    Raises:
        UsageError: The judge has no known price.
    """
    if own_judge:
        raise UsageError("--rag-max-cost: what a judge of your own costs is not known. Leave the limit out.")
    if settings.judge.name not in {"openai", "ragas"} or not settings.needs_judge:
        return
    model = settings.judge.model or ""
    if price_usd(model, settings.judge.url, input_tokens=1, output_tokens=1, own=settings.judge.own_prices) is None:
        raise UsageError(f"--rag-max-cost: what the judge costs is not known: {why_no_price(model)}.")
