"""Prefetches the questions of one process, and shares them with the other processes of the run."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_ragcheck.engine.fingerprint import means_digest, store_key
from pytest_ragcheck.engine.prefetch import Job, PrefetchEnded, Prefetcher
from pytest_ragcheck.engine.store.run_folder import is_stopped
from pytest_ragcheck.plugin.asking.checker import Checker
from pytest_ragcheck.plugin.asking.gate_evidence import with_evidence
from pytest_ragcheck.plugin.asking.live_fixtures import live_fixtures
from pytest_ragcheck.plugin.asking.plan import AGAIN, CALLED, NARROW, OTHER_BACKENDS, SWITCHED_OFF, Backends, plan
from pytest_ragcheck.plugin.asking.preflight_step import Preflight
from pytest_ragcheck.plugin.asking.preload import preload
from pytest_ragcheck.plugin.asking.session_loop import loop_of, say, seconds_between_lines
from pytest_ragcheck.plugin.asking.shared_run import forget_limits, opened_store
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.guests.interruption import shorten
from pytest_ragcheck.plugin.guests.sigterm import end_in_order_on_sigterm
from pytest_ragcheck.plugin.item_records import Evaluated
from pytest_ragcheck.plugin.run_state import begin_run
from pytest_ragcheck.plugin.workers.shared_folder import home_of
from pytest_ragcheck.plugin.workers.transport import end_worker
from pytest_ragcheck.plugin.workers.worker_info import Part, part_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pytest_ragcheck.engine.store.fallback_store import FallbackStore
    from pytest_ragcheck.plugin.asking.plan import FixtureHome, Prefetchable
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.verdict.record import Record

T = TypeVar("T")

_LOOK_SECONDS = 0.1
"""Pause of a waiting worker between two checks for a stopped run."""

NOT_SHARED = "the workers share no disk"
_PLUGIN = "ragcheck-questions"
NO_STORE = "the workers have no store to share"
FORKED = "the process is a fork of the one that asks ahead"


class QuestionSession:
    """
    The questions of one process, asked and judged ahead of their items if possible.

    The client of an item is known in advance if a session-scoped fixture returns it: the plugin's own, or that of a
    conftest.py for its folder. The first item with such a client starts the others of its folder. Every other item is
    evaluated when it runs. All workers of xdist do so, and the first process to claim a question asks it. A forked
    child asks on demand and without the store, because its database must not cross a fork.
    """

    def __init__(self, session: pytest.Session, *, forked: bool = False) -> None:
        config = session.config
        settings = settings_of(config)
        self._config = config
        self._session = session
        self._part = part = part_of(config)
        self._loop = loop_of(config)
        self._set_up = live_fixtures(config)
        self._reader: Prefetcher | None = None
        self._store: FallbackStore | None = None
        if not forked:
            self._store = self._loop.run(_awaited, partial(opened_store, config, part))
        # The store comes first, because it makes the folder of the run.
        self._checker = Checker(config, part)
        self.pid = os.getpid()
        self._folder = home_of(settings) / part.run_id
        self._parent = os.getppid()
        begin_run(config)
        if not part.is_worker:
            end_in_order_on_sigterm(config)
        switched_off = FORKED if forked else SWITCHED_OFF if "prefetch" in settings.run.disabled else ""
        self._plan = plan(session, switched_off=switched_off or _why_alone(part, self._store))
        self._begun: dict[FixtureHome, Backends] = {}
        self._digests: dict[FixtureHome, str] = {}
        with_others = not forked and part.is_worker and part.shares_disk and not part.runs_everything
        self._preflight = Preflight(
            session, self._checker.limits.judging, self._checker.budget, self._folder if with_others else None
        )

    def record(self, item: pytest.Item, question: Question, backends: Backends) -> Evaluated:
        """Return the record of the question: the prefetched one if made with the same backends, else a new one."""
        self._preflight.check(backends)
        evaluated = self._recorded(item, question, backends)
        return self._with_evidence(evaluated, question, backends)

    def _recorded(self, item: pytest.Item, question: Question, backends: Backends) -> Evaluated:
        planned = self._plan.ahead.pop(item.nodeid, None)
        if planned is None or planned.question != question:
            return self._on_demand(question, backends, self._plan.on_demand.get(item.nodeid, AGAIN))
        if planned.home not in self._begun and backends.are_lasting(self._set_up):
            self._begin(planned, backends)
        begun = self._begun.get(planned.home)
        if begun is None or self._reader is None:
            return self._on_demand(question, backends, NARROW)
        key = store_key(question, self._digests[planned.home])
        if not begun.are(backends):
            self._loop.run(self._reader.drop, key)
            return self._on_demand(question, backends, OTHER_BACKENDS)
        resumed_before = self._resumed
        record = self._waited(question, self._reader.take, key)
        if record is None:
            return self._on_demand(question, backends, AGAIN)
        # A stored record has no secrets, and the question may have moved in its file.
        return Evaluated(record=replace(record, question=question), resumed=self._resumed > resumed_before)

    def called(self, question: Question, backends: Backends) -> Evaluated:
        """Return the record of a question that no item runs."""
        self._preflight.check(backends)
        return self._with_evidence(self._on_demand(question, backends, CALLED), question, backends)

    def _with_evidence(self, evaluated: Evaluated, question: Question, backends: Backends) -> Evaluated:
        """Return the record with the evidence that the gate needs, which a resumed record may lack."""
        if not evaluated.resumed or self._checker.baseline is None:
            return evaluated
        return replace(evaluated, record=self._waited(question, self._examined, evaluated.record, backends))

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        # A second Ctrl-C ends the wait for a client that ignores the first.
        with suppress(KeyboardInterrupt):
            self._interrupt()
        shorten(excinfo, self._config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> None:
        # Before the teardown of session fixtures, which closes the client of the questions under way.
        if nextitem is None:
            self._finish()
            self._end_documents()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._close()
        self._end_documents()

    def _end_documents(self) -> None:
        self._checker.end_documents(failed=bool(self._session.testsfailed))

    def _finish(self) -> None:
        """Evaluate this process's claims for the items of other processes, then end all jobs."""
        if self._is_stopped():
            self._interrupt()
        elif self._reader is not None and self._store is not None and self._part.is_worker:
            self._loop.run(self._reader.finish)
        self._end_reading()

    def _close(self) -> None:
        """End all jobs, and close the store."""
        self._end_reading()
        store, self._store = self._store, None
        if store is not None:
            self._loop.run(_awaited, store.close)

    @property
    def _resumed(self) -> int:
        return self._store.resumed if self._store is not None else 0

    def _is_stopped(self) -> bool:
        # A worker whose controller was killed must not continue to ask.
        return is_stopped(self._folder) or os.getppid() != self._parent

    def _end_if_stopped(self) -> None:
        if self._is_stopped():
            end_worker(self._session)

    def _interrupt(self) -> None:
        """End all jobs; leave them with the loop if a user's code blocks it."""
        if self._loop.abandon_if_blocked():
            forget_limits(self._config)
            self._reader = self._store = None
        self._end_reading()

    def _end_reading(self) -> None:
        self._plan.ahead.clear()
        reader, self._reader = self._reader, None
        if reader is not None:
            self._loop.run(reader.close)

    def _begin(self, first: Prefetchable, backends: Backends) -> None:
        """Start all questions with these backends, before their items run."""
        self._begun[first.home] = backends
        digest = self._digests[first.home] = means_digest(backends.client, backends.judge, backends.settings)
        same = [first, *(planned for planned in self._plan.ahead.values() if planned.home == first.home)]
        self._loop.run(self._add, [planned.question for planned in same], backends, digest)
        preload(backends.judge)

    async def _add(self, questions: list[Question], backends: Backends, digest: str) -> None:
        if self._reader is None:
            limits, part = self._checker.limits, self._part
            most = limits.asking.most + limits.judging.most
            self._reader = Prefetcher(
                room=partial(limits.room, processes=part.share),
                ahead=2 * most if self._config.getoption("maxfail", 0) else None,
                store=self._store,
                stopped=self._is_stopped if part.is_worker else None,
            )
        await self._reader.add(
            Job(key=store_key(question, digest), evaluate=partial(self._evaluated, question, backends))
            for question in questions
        )

    async def _evaluated(self, question: Question, backends: Backends) -> Record:
        """Ask and judge the question, and make the requests of the gate."""
        return await self._examined(await self._checker.check(question, backends), backends)

    async def _examined(self, record: Record, backends: Backends) -> Record:
        baseline = self._checker.baseline
        return record if baseline is None else await with_evidence(record, backends, self._checker, baseline)

    def _on_demand(self, question: Question, backends: Backends, why: str) -> Evaluated:
        return self._waited(question, self._asked_now, question, backends, why)

    def _waited(self, question: Question, function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """Return the function's result; during a long wait, the terminal shows the progress of the question."""
        if self._part.is_worker:
            # A worker has no terminal, and after a stop xdist still lets it run all items that it was given.
            self._end_if_stopped()
            try:
                return self._loop.run(function, *arguments, every_seconds=_LOOK_SECONDS, meanwhile=self._end_if_stopped)
            except PrefetchEnded:
                # The prefetcher also checks for the stop, and may see it before this thread does.
                end_worker(self._session)
        return self._loop.run(
            function,
            *arguments,
            every_seconds=seconds_between_lines(self._config),
            meanwhile=partial(say, self._config, self._checker.courses, question, len(self._plan.ahead)),
        )

    async def _asked_now(self, question: Question, backends: Backends, why: str) -> Evaluated:
        if self._store is None:
            return Evaluated(record=await self._evaluated(question, backends), on_demand=why)
        key = store_key(question, means_digest(backends.client, backends.judge, backends.settings))
        earlier = self._store.take_resumed(key)
        if earlier is not None:
            return Evaluated(record=replace(earlier, question=question), on_demand=why, resumed=True)
        record = await self._evaluated(question, backends)
        self._store.keep(key, record)
        return Evaluated(record=record, on_demand=why)


def question_session_of(session: pytest.Session) -> QuestionSession:
    """Return the question session of the process, and start it at the first question."""
    plugins = session.config.pluginmanager
    ahead: QuestionSession | None = plugins.get_plugin(_PLUGIN)
    if ahead is not None and ahead.pid != os.getpid():
        plugins.unregister(name=_PLUGIN)
        plugins.register(ahead := QuestionSession(session, forked=True), _PLUGIN)
    elif ahead is None:
        plugins.register(ahead := QuestionSession(session), _PLUGIN)
    return ahead


def _why_alone(part: Part, store: FallbackStore | None) -> str:
    """Return why a worker must not prefetch, since others would ask the same questions; empty if it may."""
    if not part.is_worker or part.runs_everything or store is not None:
        return ""
    return NO_STORE if part.shares_disk else NOT_SHARED


async def _awaited(function: Any) -> Any:
    """Return the function's result, from the private loop's thread, which alone may use the database."""
    return function()
