"""Selects the questions of the collected items and of a shard, and refuses a run that could measure nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import ResultsError, UsageError
from pytest_ragcheck.plugin.collecting.question_items import question_of
from pytest_ragcheck.plugin.collecting.run_header import lines_of_questions, resume_lines
from pytest_ragcheck.plugin.configuration import IS_SPLIT, has_gate, settings_of
from pytest_ragcheck.plugin.extensions import is_overridden
from pytest_ragcheck.plugin.question_files import calls_rag_check
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers import COLLECTED, REFUSAL, mark_run, send
from pytest_ragcheck.questions.call import caller_of
from pytest_ragcheck.summary.run_outcomes import COMPARING

NO_ENDPOINT = (
    "there is no RAG endpoint to ask: give --rag-url=URL, set RAGCHECK_URL, or override the rag_client fixture"
)
NO_JUDGE = (
    "no judge was chosen: give --rag-judge=offline (no model, no key), or --rag-judge=openai with --rag-judge-model "
    "and OPENAI_API_KEY or --rag-judge-url, or --rag-judge=none (metrics without a judge), or override the rag_judge "
    "fixture"
)


def select(session: pytest.Session) -> None:
    """Record the questions of the items that were not deselected, and check that the run can measure something."""
    run = run_of(session.config)
    own = callers_of(session.config, session.items)
    run.callers |= own
    asked = ((item.nodeid, question_of(item)) for item in session.items)
    run.questions.selected = {node_id: question for node_id, question in asked if question is not None}
    if run.questions.selected or own or session.testsfailed:
        mark_run(session.config)
    if run.questions.selected or own:
        _check_before_running(session)


def callers_of(config: pytest.Config, items: Iterable[pytest.Item]) -> set[tuple[str, str]]:
    return {caller_of(item.nodeid, config.rootpath) for item in items if calls_rag_check(item)}


def check_gate(config: pytest.Config) -> None:
    """Call `check_baseline` in the processes that use the baseline, before the first question costs anything."""
    if has_gate(config):
        from pytest_ragcheck.plugin.collecting.run_baseline import check_baseline, rules_of

        # The controller decides; the workers make the further requests of a comparing gate.
        if not hasattr(config, "workerinput") or rules_of(config).gate in COMPARING:
            check_baseline(config)


def _check_before_running(session: pytest.Session) -> None:
    config = session.config
    if config.getoption("collectonly"):
        return
    try:
        run = settings_of(config).run
        if run.shard is not None and not run.dry_run:
            from pytest_ragcheck.report.files.result_files import remove_shard

            remove_shard(run.output, run.agent, *run.shard)
        check_gate(config)
        check_preconditions(config)
        # A quiet run prints no header, and must still refuse to resume a different run.
        resume_lines(config)
        if hasattr(config, "workerinput") and run_of(config).questions.selected:
            send(config, COLLECTED, "\n".join(lines_of_questions(config)), mark=COLLECTED)
    except pytest.UsageError as error:
        if not hasattr(config, "workerinput"):
            raise
        send(config, REFUSAL, str(error))


def keep_shard(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the items of other shards. Tests that ask no question stay in every shard."""
    # Dealt in the order of a hash, all machines agree, and the sizes of two shards differ by at most one item.
    # The turns of a conversation stay together and count as one item.
    shard = settings_of(config).run.shard
    if shard is None:
        return
    number, count = shard
    keys = {item: key for item in items if (key := _key(item))}
    ordered = sorted(set(keys.values()), key=lambda key: (hashlib.sha256(key.encode()).digest(), key))
    own = set(ordered[number - 1 :: count])
    others = {item for item, key in keys.items() if key not in own}
    if others:
        config.stash[IS_SPLIT] = True
        config.hook.pytest_deselected(items=[item for item in items if item in others])
        del config.stash[IS_SPLIT]
        items[:] = [item for item in items if item not in others]


def _key(item: pytest.Item) -> str:
    # A key for all machines; empty if the item asks no question.
    question = question_of(item)
    if question is not None:
        if question.turn is not None:
            return f"{question.dataset_name}::{question.conversation}::{item.nodeid.partition('::')[0]}"
        # Several tests can share a question.
        return f"{question.dataset_name}::{question.id}::{item.nodeid}"
    return item.nodeid if calls_rag_check(item) else ""


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
            from pytest_ragcheck.plugin.collecting.run_baseline import check_replay

            check_replay(config, settings, settings.run.replay)
        elif settings.endpoint.url is not None and not own_client:
            from pytest_ragcheck.rag.http.endpoint_address import read_address

            read_address(settings.endpoint.url, settings.endpoint.headers)
        from pytest_ragcheck.metrics.metric_choice import check_installed

        check_installed(settings)
        if settings.judge.calibrations:
            from pytest_ragcheck.summary.judge_calibration import read_agreements

            read_agreements(settings.judge.calibrations)
        if judged and not own_judge:
            _check_judge(settings)
        if judged and settings.run.max_cost_usd is not None and not own_judge:
            from pytest_ragcheck.plugin.collecting.cost_preview import check_cost_is_known

            check_cost_is_known(settings)
        from pytest_ragcheck.report.files.output_folder import check_folder

        check_folder(settings.run.output)
    except UsageError as error:
        raise pytest.UsageError(f"ragcheck: {error}") from None
    except ResultsError as error:
        raise pytest.UsageError(f"ragcheck: {error} Name it with --rag-output.") from None


def _check_judge(settings: Settings) -> None:
    from pytest_ragcheck.judging.judge_choice import choose_judge, missing_for
    from pytest_ragcheck.judging.judge_prompt import load_prompt

    if settings.needs_judge and settings.run.replay is None:
        problem = NO_JUDGE if settings.judge.name is None else missing_for(settings)
        if problem:
            raise UsageError(f"{problem}.")
        if settings.judge.name == "openai":
            choose_judge(settings)  # checks that key, URL and headers can be sent
    # A wrong prompt is an error even if the chosen judge would not read it.
    load_prompt(settings.judge.prompt)
