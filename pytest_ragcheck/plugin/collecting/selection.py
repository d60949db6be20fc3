"""Records the questions of the collected items, and refuses a run that could measure nothing."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_ragcheck.plugin.collecting.preconditions import check_preconditions
from pytest_ragcheck.plugin.collecting.question_items import question_of
from pytest_ragcheck.plugin.collecting.run_header import lines_of_questions, resume_lines
from pytest_ragcheck.plugin.configuration import has_gate, settings_of
from pytest_ragcheck.plugin.question_files import calls_rag_check
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers.transport import COLLECTED, REFUSAL, send
from pytest_ragcheck.questions.call import caller_of
from pytest_ragcheck.summary.gate_rules import COMPARING


def select(session: pytest.Session) -> None:
    """Record the questions of the items that were not deselected, and check that the run can measure something."""
    run = run_of(session.config)
    own = callers_of(session.config, session.items)
    run.callers |= own
    asked = ((item.nodeid, question_of(item)) for item in session.items)
    run.questions.selected = {node_id: question for node_id, question in asked if question is not None}
    if run.questions.selected or own:
        _check_before_running(session)


def callers_of(config: pytest.Config, items: Iterable[pytest.Item]) -> set[tuple[str, str]]:
    return {caller_of(item.nodeid, config.rootpath) for item in items if calls_rag_check(item)}


def check_gate(config: pytest.Config) -> None:
    """Call `check_baseline` in the processes that use the baseline, before the first question costs anything."""
    if has_gate(config):
        from pytest_ragcheck.plugin.collecting.gate_baseline import check_baseline, rules_of

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
