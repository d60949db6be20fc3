"""
The pytest plugin: each hook reads the config, calls one function and hands back.

A guest: a run without questions loads nothing beyond this module, the options, the fixtures and the recorder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin import configuration, hooks
from pytest_ragcheck.plugin.fixtures import (
    rag_check,
    rag_client,
    rag_judge,
    rag_question,
    rag_result,
    rag_settings,
)
from pytest_ragcheck.plugin.keys import AHEAD, DOCUMENTS, EVALUATED_WITH, LOOP, RECORDS, RUN, SET_UP, SHARDING
from pytest_ragcheck.plugin.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

__all__ = ["rag_check", "rag_client", "rag_judge", "rag_question", "rag_result", "rag_settings"]


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    configuration.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "rag_questions(*paths): run the test once for each question of the files, relative to its own."
    )
    configuration.check_given(config)
    if configuration.is_dry_run(config):
        # Before xdist, which starts no worker then.
        config.option.collectonly = True
    if configuration.names_dataset(config):
        from pytest_ragcheck.plugin.datasets import Datasets  # noqa: PLC0415 - only where there is a dataset

        config.pluginmanager.register(Datasets(config), configuration.DATASETS_PLUGIN)
    if not hasattr(config, "workerinput"):
        recorder = Recorder(config)
        config.pluginmanager.register(recorder, "ragcheck-recorder")
        if configuration.names_gate(config):
            from pytest_ragcheck.plugin.gate import Gate  # noqa: PLC0415 - only where there is a gate

            config.pluginmanager.register(Gate(config, recorder), "ragcheck-gate")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not configuration.is_question_file(parent.session, file_path):
        return None
    from pytest_ragcheck.plugin.collection import QuestionFile  # noqa: PLC0415 - only where there are questions

    return QuestionFile.from_parent(parent, path=file_path)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("rag_questions")
    if mark is not None:
        from pytest_ragcheck.plugin.marked import parametrize  # noqa: PLC0415 - only where there are questions

        parametrize(metafunc, mark)


def pytest_itemcollected(item: pytest.Item) -> None:
    if RUN in item.config.stash:
        from pytest_ragcheck.plugin.collection import question_of  # noqa: PLC0415 - only where there are questions

        # Asked of every item before any is deselected, so that the run knows what it was not asked to do.
        question_of(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if configuration.names_shard(config):
        from pytest_ragcheck.plugin.sharding import keep_shard  # noqa: PLC0415 - only where there are shards

        keep_shard(config, items)


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    # pytest calls it with no items too.
    calling = [item for item in items if "rag_check" in getattr(item, "fixturenames", ())]
    if calling and not calling[0].config.stash.get(SHARDING, False):
        from pytest_ragcheck.plugin.run import run_of  # noqa: PLC0415 - only where there are questions

        run_of(calling[0].config).cut_short = "tests that use rag_check were deselected"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    if RUN in session.config.stash:
        from pytest_ragcheck.plugin.selection import select  # noqa: PLC0415 - only where there are questions

        select(session)
    elif any("rag_check" in getattr(item, "fixturenames", ()) for item in session.items):
        from pytest_ragcheck.plugin.selection import check_before_running  # noqa: PLC0415 - as above

        check_before_running(session, collected=False)


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    if RUN not in config.stash:
        return []
    from pytest_ragcheck.plugin.selection import header  # noqa: PLC0415 - only where there are questions

    return header(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    from pytest_ragcheck.plugin.processes import tell_worker  # noqa: PLC0415 - only where there are workers

    tell_worker(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    if any(configuration.is_question_of(node.config, node_id) for node_id in ids):
        from pytest_ragcheck.plugin.selection import write_header_once  # noqa: PLC0415 - as above

        write_header_once(node.config)
        from pytest_ragcheck.plugin.sigint import interrupt_between_imports  # noqa: PLC0415 - as above
        from pytest_ragcheck.plugin.sigterm import end_in_order_on_sigterm  # noqa: PLC0415 - as above

        interrupt_between_imports(node.config)
        end_in_order_on_sigterm(node.config)


def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
    if fixturedef.argname in EVALUATED_WITH and SET_UP in request.config.stash:
        request.config.stash[SET_UP].pop(fixturedef, None)
    if fixturedef.argname == "rag_client" and fixturedef.cached_result and LOOP in request.config.stash:
        from pytest_ragcheck.plugin.private_loop import close_client  # noqa: PLC0415 - only where there was a question

        close_client(fixturedef.cached_result[0], request.config)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    __tracebackhide__ = True  # of whatever fixture fails, be it nothing to do with questions
    value = yield
    if fixturedef.argname in EVALUATED_WITH:
        request.config.stash.setdefault(SET_UP, {})[fixturedef] = id(value)
    return value


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    # Before the fixtures of the session end: what is still under way would meet a client that is closed.
    if nextitem is None and AHEAD in item.config.stash:
        item.config.stash[AHEAD].finish()
    if nextitem is None:
        _delete_documents(item.session)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if AHEAD in session.config.stash:
        session.config.stash[AHEAD].close()
    _delete_documents(session)


def _delete_documents(session: pytest.Session) -> None:
    if DOCUMENTS in session.config.stash:
        session.config.stash[DOCUMENTS].end(failed=bool(session.testsfailed))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if RECORDS in item.stash or RUN in item.config.stash:
        from pytest_ragcheck.plugin.crossing import attach  # noqa: PLC0415 - only where there are questions

        attach(item, call, report)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_html_results_table_row(report: pytest.CollectReport | pytest.TestReport, cells: list[Any]) -> None:
    properties = getattr(report, "user_properties", [])
    if configuration.is_question_id(report.nodeid) or any(str(name).startswith("ragcheck.") for name, _ in properties):
        from pytest_ragcheck.plugin.html_report import complete_row  # noqa: PLC0415 - only where there are questions

        complete_row(report.nodeid, properties, cells)
