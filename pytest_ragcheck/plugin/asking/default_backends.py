"""Makes the client and the judge that the settings name, once for all folders with the same settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.config.resolve import resolved
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.config.table import TABLE
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.checked_judgement import as_judge
from pytest_ragcheck.judging.judge_choice import choose_judge
from pytest_ragcheck.metrics.metric_choice import check_installed
from pytest_ragcheck.plugin.asking.schedule import Backends
from pytest_ragcheck.plugin.asking.session_loop import client_of_url, close_in_loop, is_client_of_url
from pytest_ragcheck.plugin.collecting.question_items import question_of
from pytest_ragcheck.plugin.collecting.selection import NO_ENDPOINT, NO_JUDGE
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.extensions import is_overridden, own_metrics
from pytest_ragcheck.plugin.question_files import calls_rag_check
from pytest_ragcheck.plugin.run_state import RUN, run_of
from pytest_ragcheck.plugin.workers import worker_info

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import GivenJudge, Judge
    from pytest_ragcheck.rag.answer import Asks

_JUDGES: pytest.StashKey[list[tuple[tuple[Any, ...], Judge | None]]] = pytest.StashKey()
"""The judges of the session, by the settings that choose them."""

_WHOLE_RUN = tuple(setting for setting in TABLE if setting.whole_run)

_of_whole_run: Callable[[Settings], tuple[Any, ...]] = attrgetter(*[setting.path for setting in _WHOLE_RUN])

_FOLDER = "ragcheck"
"""The verdict cache is in pytest's own cache, so that `--cache-clear` clears it."""


def backends_of(
    request: pytest.FixtureRequest, client: Any, judge: GivenJudge | None, settings: Settings, *, judged: bool = True
) -> Backends:
    """
    The backends of a question, by the values of its fixtures.

    pytest sets up the default ones once, with the settings of the first folder; a folder with others gets its own.
    """
    _check(settings)
    config = request.config
    _check_whole_run(settings, config)
    with usage_errors_as_failures():
        check_installed(settings)  # overridden settings may need a package that is not installed
    is_default = is_client_of_url(config, client) or (client is None and not is_overridden(config, "rag_client"))
    own_judge = judge if judged else None
    choices = [choice for choice, known in config.stash.get(_JUDGES, []) if known is judge]
    is_other = judged and choices and _choice(settings) not in choices
    if is_other and (judge is not None or not is_overridden(config, "rag_judge")):
        own_judge = default_judge(request, settings)
    with usage_errors_as_failures():
        used = None if own_judge is None else as_judge(own_judge)
    return Backends(
        client=default_client(request, settings) if is_default else client,
        judge=used,
        settings=settings,
        own=own_metrics(config, request.node.ihook),
        given=(client, judge, settings),
    )


def default_client(request: pytest.FixtureRequest, settings: Settings, *, for_all: bool = False) -> Asks | None:
    """
    The client of the endpoint or of the replay; without either, the test is skipped.

    None instead, *for_all* folders, if some may have an endpoint: a skip would hold for them, too.
    """
    _check(settings)
    with usage_errors_as_failures():
        if settings.run.replay is not None:
            from pytest_ragcheck.plugin.collecting.run_baseline import recording_of

            return recording_of(request.config, settings.run.replay)
        if settings.endpoint.url is not None:
            return client_of_url(request.session, settings)
    if for_all and is_overridden(request.config, "rag_settings"):
        return None
    if settings.run.require_endpoint:
        pytest.fail(NO_ENDPOINT, pytrace=False)
    pytest.skip(NO_ENDPOINT)


def default_judge(request: pytest.FixtureRequest, settings: Settings) -> Judge | None:
    """The judge of the settings behind the verdict cache, until the end of the session; None for `none`."""
    _check(settings)
    judges = request.config.stash.setdefault(_JUDGES, [])
    for choice, judge in judges:
        if choice == _choice(settings):
            return judge
    needs_judge = settings.needs_judge and _asks_for_answers(request.session)
    if settings.judge.name is None and needs_judge and settings.run.replay is None:
        pytest.fail(NO_JUDGE, pytrace=False)
    with usage_errors_as_failures():
        used = _chosen_judge(settings, request.config) if needs_judge else None
    if "cache" not in settings.run.disabled and getattr(used, "fingerprint", None):
        used = _cached(used, settings, request)
    request.session.addfinalizer(partial(close_in_loop, request.config, used))
    judges.append((_choice(settings), used))
    return used


def _choice(settings: Settings) -> tuple[Any, ...]:
    return settings.judge, settings.endpoint, settings.needs_judge, "cache" in settings.run.disabled


def _check(given: Any) -> None:
    if not isinstance(given, Settings):
        pytest.fail(
            f"the rag_settings fixture returned {given!r:.80}, not Settings. "
            "Return the settings that it changes, such as rag_settings.replace(threshold=0.9).",
            pytrace=False,
        )


def _check_whole_run(settings: Settings, config: pytest.Config) -> None:
    # Not in the fixtures of session scope, whose failure would hold for all folders.
    own, of_run = _of_whole_run(settings), _of_whole_run(settings_of(config))
    if own == of_run:
        return
    changed = [
        setting
        for setting, value, wanted in zip(_WHOLE_RUN, own, of_run, strict=True)
        if _is_changed(setting.whole_run, resolved(config.rootpath, value), wanted)
    ]
    if changed:
        keywords = " and ".join(setting.keyword for setting in changed)
        pytest.fail(
            f"rag_settings: an override changes {keywords}, which {'hold' if changed[1:] else 'holds'} for the whole "
            f"run; set {' and '.join(setting.name for setting in changed)} in the ini file or on the command line.",
            pytrace=False,
        )


def _is_changed(words: bool | tuple[str, ...], value: Any, of_run: Any) -> bool:
    if isinstance(words, tuple):
        return not {*value}.difference(of_run).isdisjoint(words)
    return bool(value != of_run)


def _asks_for_answers(session: pytest.Session) -> bool:
    # False if every question of the session is of the tier retrieval.
    if RUN not in session.config.stash or any(map(calls_rag_check, session.items)):
        return True
    questions = list(map(question_of, session.items))
    return any(question is not None and question.is_answered for question in questions)


def _chosen_judge(settings: Settings, config: pytest.Config) -> Judge | None:
    if settings.run.replay is None:
        return choose_judge(settings)
    from pytest_ragcheck.plugin.collecting.run_baseline import recording_of
    from pytest_ragcheck.replay.recorded_run import choose_replay_judge

    return choose_replay_judge(settings, recording_of(config, settings.run.replay))


def _cached(judge: Any, settings: Settings, request: pytest.FixtureRequest) -> Any:
    # The judge behind the verdict cache, or the judge itself if the run has no cache folder.
    folder = _cache_folder(request.config)
    if folder is None:
        return judge
    from pytest_ragcheck.engine.store.verdict_cache import CachingJudge, VerdictCache

    cache = VerdictCache(folder, run=worker_info(request.config).run_id, redactor=settings.redactor)

    def note_problem() -> None:
        if cache.problem:
            run_of(request.config).queue_note(cache.problem)

    note_problem()
    # Finalizers run in reverse order, so that this one follows the end of the judge.
    request.session.addfinalizer(note_problem)
    return CachingJudge(judge, cache)


def _cache_folder(config: pytest.Config) -> Path | None:
    cache: Any = getattr(config, "cache", None)  # None with -p no:cacheprovider
    if cache is None:
        return None
    try:
        return Path(cache.mkdir(_FOLDER))
    except OSError as error:
        run_of(config).queue_note(
            f"the verdict cache is off: {error}. The judge is asked about every answer. "
            "Allow writing there, or set rag_disable = cache."
        )
    return None


@contextmanager
def usage_errors_as_failures() -> Iterator[None]:
    """Fail the test with the text of a usage error, without a traceback through this package."""
    try:
        yield
    except UsageError as error:
        # `pytest.fail` has no `from None`, so that pytest would show the text twice.
        raise pytest.fail.Exception(str(error), pytrace=False) from None
