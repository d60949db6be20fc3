"""Makes the header of a run: endpoint, judge, thresholds, datasets and the folder of the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_ragcheck.config.readers import WITH_MODEL
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import StoreError, UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.extensions import homes_of
from pytest_ragcheck.plugin.run_state import RUN, run_of
from pytest_ragcheck.plugin.workers import has_workers, home_of, runs_everything
from pytest_ragcheck.redaction import shown_url
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.report.terminal.run_lines import header_lines
from pytest_ragcheck.scores import JUDGED
from pytest_ragcheck.short_texts import counted, some

_MOST_NAMED = 5


def header(config: pytest.Config) -> list[str]:
    if not run_of(config).questions.selected or config.get_verbosity() < 0:
        return []
    return [*lines_of_questions(config), *resume_lines(config)]


def write_header(config: pytest.Config, lines: list[str]) -> None:
    """Write the header in the controller of xdist, with the lines of a worker, because only those collect questions."""
    lines += resume_lines(config)
    if runs_everything(config):
        lines.append("ragcheck: --dist each: every worker asks every question; its datasets end in its name")
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and config.get_verbosity() >= 0:
        for line in lines:
            reporter.write_line(line)


def resume_lines(config: pytest.Config) -> list[str]:
    """
    The number of questions that a run with `--rag-resume` takes from the last one; empty without it.

    A `pytest.UsageError` if that run had other settings or another version of this package.
    """
    settings = settings_of(config)
    if not settings.run.resume:
        return []
    from pytest_ragcheck.engine.fingerprint import fingerprint, question_digest
    from pytest_ragcheck.engine.store.last_run import check_same, last_run
    from pytest_ragcheck.engine.store.record_file import finished_keys

    if runs_everything(config) and has_workers(config):
        return ["ragcheck: resumed nothing: under --dist each every worker asks every question, and keeps no store"]
    last = last_run(home_of(settings))
    if last is None:
        return ["ragcheck: resumed nothing: there is no last run with an answer, so every question is asked"]
    try:
        check_same(last, fingerprint(settings))
        finished = finished_keys(last.folder)
    except UsageError as error:
        raise pytest.UsageError(f"ragcheck: {error}") from None
    except StoreError:
        return []  # reported when the run opens the store
    run = config.stash.get(RUN, None)
    if run is None or not (asked := run.questions.asked):
        return [f"ragcheck: resumed {counted(len(finished), 'question')} of the run of {last.began}"]
    digests = {key.partition(".")[0] for key in finished}
    count = sum(question_digest(question) in digests for question in asked.values())
    return [f"ragcheck: resumed {count} of {len(asked)} questions from the run of {last.began}"]


def lines_of_questions(config: pytest.Config) -> list[str]:
    settings = settings_of(config)
    output, start = settings.run.output, config.invocation_params.dir
    folder = output.relative_to(start) if output.is_relative_to(start) else output
    sets = list(run_of(config).questions.sets.values())
    paths = [questions.path for questions in sets]
    judge = "not asked"
    known = {question.is_answered for each in sets for question in each.questions}
    if "judge" in settings.run.metrics and known != {False}:
        judge = _given_or_overridden(config, "rag_judge", _judge(settings), paths)
    endpoint = _endpoint(config, settings, paths)
    lines = header_lines(settings, endpoint=endpoint, judge=judge, sets=sets, folder=f"{folder}/")
    names = [
        f"{question.dataset_name}::{question.id}"
        for each in sets
        for question in each.questions
        if not question.thresholds.keys().isdisjoint(JUDGED)
    ]
    if names and config.getoption("rag_threshold") is not None:
        lines.append(
            f"ragcheck: --rag-threshold does not reach {len(names)} with thresholds of their own or of their file: "
            f"{some(names, _MOST_NAMED, joint=' and ')}"
        )
    return list(map(printable, lines))


def _judge(settings: Settings) -> str:
    # The judge that the settings name, with its model; empty if they name none.
    if settings.run.replay and not settings.judge.is_chosen:
        return "as recorded"
    model = settings.judge.model if settings.judge.name in WITH_MODEL else None
    return " ".join(filter(None, (settings.judge.name, model)))


def _endpoint(config: pytest.Config, settings: Settings, paths: Sequence[Path]) -> str:
    if settings.run.replay is not None:
        from pytest_ragcheck.plugin.collecting.run_baseline import shown_name

        return shown_name(settings.run.replay, config.rootpath)
    return _given_or_overridden(
        config, "rag_client", shown_url(settings.endpoint.url) if settings.endpoint.url else "", paths
    )


def _given_or_overridden(config: pytest.Config, fixture: str, given: str, paths: Sequence[Path]) -> str:
    homes = homes_of(config, fixture)
    # A conftest.py applies to its folder, and a plugin to all.
    general = any(home.name != "conftest.py" for home in homes)
    own = [path for path in paths if general or any(path.is_relative_to(home.parent) for home in homes)]
    if given and not own:
        return given
    if not given and not homes:
        return "not given"
    instead = f"from the {fixture} fixture"
    if given and len(own) < len(paths):
        return f"{given} or {instead}"
    option = "rag_url" if fixture == "rag_client" else fixture
    is_typed = config.getoption(option) is not None
    return f"{instead}, not from --{option.replace('_', '-')}" if is_typed else instead
