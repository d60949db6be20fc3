"""Checks before the first question that the run can ask, judge and write."""

from __future__ import annotations

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import ResultsError, UsageError
from pytest_ragcheck.plugin.collecting.overrides import is_overridden
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.run_state import run_of

NO_ENDPOINT = (
    "there is no RAG endpoint to ask: give --rag-url=URL, set RAGCHECK_URL, or override the rag_client fixture"
)
NO_JUDGE = (
    "no judge was chosen: give --rag-judge=offline (no model, no key), or --rag-judge=openai with --rag-judge-model "
    "and OPENAI_API_KEY or --rag-judge-url, or --rag-judge=none (metrics without a judge), or override the rag_judge "
    "fixture"
)


def check_preconditions(config: pytest.Config) -> None:
    """Raise a `pytest.UsageError` if a setting is missing or wrong, so that the run could measure nothing."""
    settings = settings_of(config)
    # If only `rag_check` is used, the test's own module may define the fixtures.
    asked = run_of(config).questions.asked.values()
    judged = any(question.is_answered for question in asked)
    own_client, own_judge = is_overridden(config, "rag_client"), is_overridden(config, "rag_judge")
    if settings.endpoint.url is None and settings.run.replay is None and not own_client:
        if asked and settings.run.require_endpoint:
            raise pytest.UsageError(f"ragcheck: {NO_ENDPOINT}.")
        return
    try:
        if settings.run.replay is not None:
            from pytest_ragcheck.plugin.collecting.replay_source import check_replay

            check_replay(config, settings, settings.run.replay)
        elif settings.endpoint.url is not None and not own_client:
            from pytest_ragcheck.rag.http.endpoint_address import read_address

            read_address(settings.endpoint.url, settings.endpoint.headers)
        from pytest_ragcheck.metrics.metric_choice import check_installed

        check_installed(settings)
        if settings.judge.calibrations:
            from pytest_ragcheck.summary.calibration.agreement import read_agreements

            read_agreements(settings.judge.calibrations)
        if judged and not own_judge:
            _check_judge(settings)
        if judged and settings.run.max_cost_usd is not None:
            from pytest_ragcheck.plugin.collecting.cost_preview import check_cost_is_known

            check_cost_is_known(settings, own_judge=own_judge)
        from pytest_ragcheck.report.files.output_folder import check_folder

        check_folder(settings.run.output)
    except UsageError as error:
        raise pytest.UsageError(f"ragcheck: {error}") from None
    except ResultsError as error:
        raise pytest.UsageError(f"ragcheck: {error} Name it with --rag-output.") from None


def _check_judge(settings: Settings) -> None:
    from pytest_ragcheck.judging.judge_choice import choose_judge, missing_for
    from pytest_ragcheck.judging.prompts.judge_prompt import load_prompt

    if settings.needs_judge and settings.run.replay is None:
        problem = NO_JUDGE if settings.judge.name is None else missing_for(settings)
        if problem:
            raise UsageError(f"{problem}.")
        if settings.judge.name == "openai":
            choose_judge(settings)  # checks that key, URL and headers can be sent
    # A wrong prompt is an error even if the chosen judge would not read it.
    load_prompt(settings.judge.prompt)
