"""
The hooks of the pytest plugin. Each hook checks whether it has work to do, and calls one function.

A run without questions imports only the modules at the top of this file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

import pytest_ragcheck.plugin.plain_modules  # noqa: F401 - decides how the modules below are loaded
from pytest_ragcheck.plugin import configuration, extensions, question_files
from pytest_ragcheck.plugin.ending.recorder import Recorder
from pytest_ragcheck.plugin.extensions import is_overridden, keep_overrides
from pytest_ragcheck.plugin.fixtures import (
    rag_check,
    rag_client,
    rag_judge,
    rag_question,
    rag_result,
    rag_result_without_judge,  # noqa: F401 - for the items of question files
    rag_settings,
)
from pytest_ragcheck.plugin.run_state import RUN, has_records
from pytest_ragcheck.plugin.workers import mark_run

__all__ = ["rag_check", "rag_client", "rag_judge", "rag_question", "rag_result", "rag_settings"]


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(extensions)


def pytest_plugin_registered(plugin: Any, manager: pytest.PytestPluginManager) -> None:
    if plugin is sys.modules[__name__]:
        keep_overrides(manager, plugin)


def pytest_addoption(parser: pytest.Parser) -> None:
    configuration.add_options(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, object, object]:
    try:
        return (yield)
    except BaseException:
        # No later hook is called, and the results of an earlier run would pass for this one's.
        early_config.option = early_config.known_args_namespace
        if configuration.has_typed(early_config):
            mark_run(early_config)
        raise


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "rag_questions(*paths): run the test for each question of the files, relative to the test file.",
    )
    config.stash[configuration.PROCESS_ID] = os.getpid()
    if configuration.given_options(config, {"rag_require_endpoint", "rag_resume"}):
        # A wrong value is an error before the run begins.
        configuration.settings_of(config)
    if configuration.is_dry_run(config):
        # Set before xdist reads it, so that xdist starts no workers.
        config.option.collectonly = True
    if configuration.names_dataset(config):
        from pytest_ragcheck.plugin.collecting.dataset_items import Datasets

        config.pluginmanager.register(Datasets(config), configuration.DATASETS_PLUGIN)
    if not hasattr(config, "workerinput"):
        question_files.warn_of_unmatched(config)
        gate = None
        if configuration.has_gate(config):
            from pytest_ragcheck.plugin.ending.run_reports import GateItem

            gate = GateItem(config)
        config.pluginmanager.register(Recorder(config, gate), "ragcheck-recorder")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not question_files.is_question_file(parent, file_path):
        return None
    from pytest_ragcheck.plugin.collecting.question_items import question_file

    return question_file(parent, file_path)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("rag_questions") is not None:
        from pytest_ragcheck.plugin.collecting.question_items import parametrize

        parametrize(metafunc)


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.get_closest_marker("rag_questions") is not None and not hasattr(item, "callspec"):
        from pytest_ragcheck.plugin.collecting.question_items import require_question

        require_question(item)
    if RUN in item.config.stash:
        from pytest_ragcheck.plugin.collecting.question_items import question_of

        # Called before any item is deselected, so that the run counts deselected questions, too.
        question_of(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if configuration.is_given(config, "rag_shard"):
        from pytest_ragcheck.plugin.collecting.selection import keep_shard

        keep_shard(config, items)
    elif configuration.split_of(config):
        # pytest-split comes last, because it is registered later.
        config.stash[configuration.IS_SPLIT] = True


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    # pytest calls the hook without items, too.
    if any(map(question_files.calls_rag_check, items)):
        from pytest_ragcheck.plugin.run_state import run_of

        config = items[0].config
        run = run_of(config)
        if configuration.IS_SPLIT in config.stash:
            from pytest_ragcheck.plugin.collecting.selection import callers_of

            run.callers |= callers_of(config, items)
        else:
            run.cut_short = "tests that use rag_check were deselected"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    if RUN in session.config.stash or any(map(question_files.calls_rag_check, session.items)):
        configuration.check_files()
        from pytest_ragcheck.plugin.asking.session_loop import BACKEND_FIXTURES, LoopStart, live_fixtures
        from pytest_ragcheck.plugin.collecting.selection import select

        live_fixtures(session.config)
        select(session)
        if not session.config.option.collectonly:
            session.config.pluginmanager.register(LoopStart(session.config), "ragcheck-loop")
        if any(is_overridden(session.config, name) for name in BACKEND_FIXTURES):
            # Even if a user's fixture uses up the limit of open files, its items must be reported.
            import pytest_ragcheck.plugin.ending.item_report
            import pytest_ragcheck.plugin.ending.session_end  # noqa: F401


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    if RUN not in config.stash:
        return []
    from pytest_ragcheck.plugin.collecting.run_header import header

    return header(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    from pytest_ragcheck.plugin.workers import send_worker_info

    send_worker_info(node)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if has_records(item) or RUN in item.config.stash:
        with configuration.opening_files():
            from pytest_ragcheck.plugin.ending.item_report import complete_report

        complete_report(item, call, report)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_html_results_table_row(report: pytest.CollectReport | pytest.TestReport, cells: list[Any]) -> None:
    properties = getattr(report, "user_properties", [])
    if question_files.is_question_id(report.nodeid) or any(str(name).startswith("ragcheck.") for name, _ in properties):
        from pytest_ragcheck.plugin.guests.junit_properties import complete_row

        complete_row(report.nodeid, properties, cells)
