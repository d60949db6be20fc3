"""Delivers the record of each question to its item, and ends the questions of a process with its session."""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_ragcheck.engine.conversation import EARLIER_TURN, Conversation, conversation_of
from pytest_ragcheck.engine.fingerprint import store_key
from pytest_ragcheck.engine.prefetch import Prefetcher
from pytest_ragcheck.errors import EndpointUnreachable, IngestionError, UsageError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.plugin.asking.asker import Asker, Waiting, with_question
from pytest_ragcheck.plugin.asking.checker import Checker
from pytest_ragcheck.plugin.asking.preflight_step import Preflight
from pytest_ragcheck.plugin.asking.schedule import AGAIN, CALLED, SWITCHED_OFF, Backends, Schedule
from pytest_ragcheck.plugin.asking.session_loop import live_fixtures, loop_of, seconds_between_lines, write_line
from pytest_ragcheck.plugin.asking.shared_run import forget_limits, limits_of, opened_store
from pytest_ragcheck.plugin.collecting.question_items import question_of
from pytest_ragcheck.plugin.configuration import is_fork, settings_of
from pytest_ragcheck.plugin.guests.interruption import shorten
from pytest_ragcheck.plugin.run_state import Evaluated, begin_run
from pytest_ragcheck.plugin.workers import (
    NO_DOCUMENTS,
    NOT_STARTED,
    STOPPED,
    run_folder,
    worker_info,
)
from pytest_ragcheck.rag.client import RagClient

if TYPE_CHECKING:
    from pytest_ragcheck.check import PreparedQuestion
    from pytest_ragcheck.engine.store.last_run import RunStore
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.verdict.record import Record

T = TypeVar("T")

NOT_SHARED = "the workers share no disk"
NO_STORE = "the workers have no store to share"
FORKED = "the process is a fork of the one that prefetches"

_PLUGIN = "ragcheck-questions"
_LATER_MODULES = ("rag.cited_answer", "plugin.ending.item_report", "plugin.ending.session_end")
_LATER_FOR_A_MODEL = ("judging.model.judge_reply",)
"""Modules that are imported while pytest's thread waits for the first answers, in the order of their use."""

_FIRST_SENT_SECONDS = 0.03
"""Time for sending the first requests, which the imports would delay."""


class QuestionSession:
    """
    The questions of one process.

    The `Schedule` decides which questions are prefetched; every other item is evaluated when it runs. All workers of
    xdist do so, and the first process to claim a question asks it. A forked child asks on demand and without the store,
    because its database must not cross a fork.
    """

    def __init__(self, session: pytest.Session, *, forked: bool = False) -> None:
        config = session.config
        self.pid = os.getpid()
        self._session = session
        self._config = config
        self._worker = worker = worker_info(config)
        self._loop = loop_of(config)
        # The store comes first, because it makes the folder of the run.
        store = None if forked else opened_store(config)
        self._checker = checker = Checker(config, store)
        session.addfinalizer(checker.close)
        self._waiting = Waiting(session, checker.evaluator.progress)
        self._asker = self._new_asker(store)
        self._on_demand: tuple[Any, tuple[str, str] | None, Conversation] = (None, None, Conversation())
        """The client and the name of the conversation that was last asked on demand, and its state."""
        self._imports: threading.Timer | None = None
        self._ended_at: dict[str, Evaluated] = {}
        """The record of the question that ended the run, for its reruns."""

        begin_run(config)
        alone = SWITCHED_OFF if "prefetch" in settings_of(config).run.disabled else ""
        if forked:
            alone = FORKED
        elif not alone and store is None and worker.is_worker and not worker.runs_everything:
            # Other workers would ask the same questions.
            alone = NO_STORE if worker.shares_disk else NOT_SHARED
        fixtures = live_fixtures(config)
        self._schedule = Schedule(session, fixtures, switched_off=alone)
        self._fixtures = fixtures
        self._key_of_last_item = ""
        """The key of the last item of a worker, if its question was prefetched."""
        self._is_held = False
        """True while no question is prefetched, because a test of the project runs."""
        fixtures.before_item = self._before_item
        with_others = store is not None and worker.is_worker
        folder = run_folder(config) if with_others else None
        self._preflight = Preflight(session, limits_of(config).judging, checker.budget, folder)

    def record(self, item: pytest.Item, question: Question, backends: Backends) -> Evaluated:
        """
        The record of the question: the prefetched one if made with the same backends, else a new one.

        The run ends after it if the system rejects all documents, or is an app that does not start.
        """
        if item.nodeid in self._ended_at:
            return self._ended_at[item.nodeid]
        if self._session.shouldfail in {NO_DOCUMENTS, NOT_STARTED}:
            pytest.skip(STOPPED)  # xdist gives a worker further items
        self._preflight.check(backends)
        evaluated = self._evaluated(item, question, backends)
        if self._imports:
            # CPython 3.11 may raise SystemError if two threads parse at once.
            self._imports.cancel()
            self._imports.join()
        if evaluated.record.error_kind == EARLIER_TURN:
            pytest.skip(evaluated.record.reason)
        if evaluated.record.error_kind == IngestionError.kind and self._checker.lacks_documents(backends):
            self._end_run(NO_DOCUMENTS, item, evaluated)
        is_app = isinstance(backends.client, RagClient) and backends.client.is_app
        if evaluated.record.error_kind == EndpointUnreachable.kind and is_app:
            self._end_run(NOT_STARTED, item, evaluated)
        return evaluated

    def _end_run(self, reason: str, item: pytest.Item, evaluated: Evaluated) -> None:
        self._waiting.stop_others(reason)
        self._session.shouldfail = reason
        self._ended_at[item.nodeid] = evaluated

    def _evaluated(self, item: pytest.Item, question: Question, backends: Backends) -> Evaluated:
        step = self._schedule.step(item, question, backends)
        if step.begin:
            prepare = self._preparer(backends, lasting=True)
            self._loop.run(self._asker.begin, ((key, prepare(each)) for key, each in step.begin))
            # In a thread, because an import of the main thread can swallow Ctrl-C.
            self._imports = threading.Timer(_FIRST_SENT_SECONDS, _import_later, args=[backends.judge])
            self._imports.daemon = True
            self._imports.start()
        if step.on_demand:
            if step.key:
                self._loop.run(self._asker.prefetcher.drop, step.key)
            return self._asked_now(question, backends, step.on_demand)
        if self._worker.is_worker and self._fixtures.in_last_item:
            self._key_of_last_item = step.key
        taken = self._awaited(question, self._asker.take, step.key)
        if taken is None:
            return self._asked_now(question, backends, AGAIN)
        if taken.record.error_kind == EARLIER_TURN:
            return self._after_reruns(question, backends) or taken
        record = with_question(taken.record, question)
        return self._with_evidence(taken if record is taken.record else replace(taken, record=record), backends)

    def called(self, question: Question, backends: Backends) -> Evaluated:
        """The record of a question that no item runs."""
        self._preflight.check(backends)
        return self._asked_now(question, backends, CALLED)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        try:
            self._end_questions(interrupted=True)
        except KeyboardInterrupt:
            # A second Ctrl-C ends the wait for a client that ignores the first.
            self._abandon()
        shorten(excinfo, self._config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> None:
        # Before the teardown of session fixtures, which closes the client of the questions under way.
        if nextitem is None:
            if self._key_of_last_item:
                self._loop.run(self._asker.prefetcher.finish_unit, self._key_of_last_item, self._patience_seconds)
            self._end_questions(interrupted=self._waiting.is_stopped())
            self._end_documents()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        with suppress(UsageError):  # a loop that cannot start has no questions to end
            self._end_questions(interrupted=self._waiting.is_stopped())
            self._loop.run(self._asker.close)
        self._end_documents()

    def _new_asker(self, store: RunStore | None) -> Asker:
        limits, worker = limits_of(self._config), self._worker
        prefetcher = Prefetcher(
            store=store,
            room=partial(limits.room, processes=worker.share),
            ahead=2 * (limits.asking.most + limits.judging.most) if self._config.getoption("maxfail", 0) else None,
            # Only this process can stop a run without workers.
            stopped=self._waiting.is_stopped if worker.is_worker else None,
        )
        return Asker(self._checker.evaluator, prefetcher, store)

    def _asked_now(self, question: Question, backends: Backends, why: str) -> Evaluated:
        prepared = self._preparer(backends)(question)
        key = store_key(question, backends.digest)
        asked = self._awaited(question, self._asker.ask, key, prepared, why, self._conversation_of(question, backends))
        return self._with_evidence(asked, backends)

    def _after_reruns(self, question: Question, backends: Backends) -> Evaluated | None:
        # The record of a turn that an ERROR left out; None if the turns before it still have no answer.
        # A rerun may have answered them. Reruns in another process are unknown here, so the turns are asked again.
        client, name, conversation = self._on_demand
        if client is not backends.client or name != conversation_of(question):
            if not (self._worker.is_worker and self._config.getoption("reruns", 0)):
                return None
        elif conversation.stopped_by() is not None:
            return None
        asked = self._asked_now(question, backends, AGAIN)
        stopped_by = self._on_demand[2].stopped_by()
        return None if stopped_by is not None and stopped_by != question.turn else asked

    def _conversation_of(self, question: Question, backends: Backends) -> Conversation | None:
        own = conversation_of(question)
        if own is None:
            return None
        client, name, conversation = self._on_demand
        if client is not backends.client or name != own:
            conversation = Conversation()
        self._on_demand = (backends.client, own, conversation)
        return conversation

    def _preparer(self, backends: Backends, *, lasting: bool = False) -> Callable[[Question], PreparedQuestion]:
        prepare, complete = self._checker.preparer(backends, lasting=lasting), self._evidence(backends)
        keep_leak = partial(self._checker.keep_leak, backends)
        return lambda question: replace(prepare(question), complete=complete, keep_leak=keep_leak)

    def _evidence(self, backends: Backends) -> Callable[[Record], Awaitable[Record]] | None:
        # The function that adds the evidence of the gate; None without a baseline.
        checker = self._checker
        if checker.baseline is None:
            return None
        from pytest_ragcheck.plugin.asking.gate_evidence import with_evidence

        return partial(with_evidence, backends=backends, checker=checker, run=checker.baseline)

    def _with_evidence(self, evaluated: Evaluated, backends: Backends) -> Evaluated:
        # The record with the evidence that the gate needs, which a resumed record may lack.
        record, add = evaluated.record, self._evidence(backends)
        if not evaluated.resumed or add is None:
            return evaluated
        return replace(evaluated, record=self._awaited(record.question, add, record))

    def _awaited(self, question: Question, step: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        return self._waiting.run(step, *arguments, question=question, to_go=self._schedule.to_go)

    def _before_item(self, item: pytest.Item) -> None:
        prefetcher = self._asker.prefetcher
        if self._worker.is_worker and self._fixtures.in_last_item:
            # Wait for the questions that this worker asks for the items of others, and begin no further ones.
            # The wait has a limit of its own, because no item's limit applies, and a user's client may hang.
            self._loop.run(prefetcher.finish, self._patience_seconds)
        elif (question_of(item) is None) is not self._is_held:
            # A test may replace what the questions use, too: functions, sockets, the clock, the working directory.
            self._is_held = not self._is_held
            counts = self._checker.evaluator.progress.counts
            self._loop.run(
                prefetcher.hold if self._is_held else prefetcher.resume,
                every_seconds=seconds_between_lines(self._config),
                meanwhile=lambda: write_line(
                    self._config, f"the next test waits for the questions ({counts(self._schedule.to_go)})"
                ),
            )

    @property
    def _patience_seconds(self) -> float:
        return settings_of(self._config).endpoint.timeout_seconds / 2

    def _end_questions(self, *, interrupted: bool) -> None:
        # End all questions under way; after an interruption, abandon them if a user's code blocks the loop.
        if interrupted and not self._loop.answers():
            self._abandon()
        self._schedule.clear()
        self._loop.run(self._asker.prefetcher.close)

    def _abandon(self) -> None:
        self._loop.abandon()
        forget_limits(self._config)
        self._asker = self._new_asker(None)

    def _end_documents(self) -> None:
        self._checker.end_documents(failed=bool(self._session.testsfailed))


def question_session_of(session: pytest.Session) -> QuestionSession:
    plugins = session.config.pluginmanager
    found: QuestionSession | None = plugins.get_plugin(_PLUGIN)
    if found is not None and found.pid != os.getpid():
        plugins.unregister(name=_PLUGIN)
        found = None
    if found is None:
        plugins.register(found := QuestionSession(session, forked=is_fork(session.config)), _PLUGIN)
    return found


def _import_later(judge: Judge | None) -> None:
    for name in (*(_LATER_FOR_A_MODEL if getattr(judge, "chat", None) is not None else ()), *_LATER_MODULES):
        # The private loop may parse too; it imports the module again.
        with suppress(SystemError):
            import_module(f"pytest_ragcheck.{name}")
