"""Runs the private event loop of a process for the fixtures of its items, and prints the progress lines."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.concurrency.frames import blocking_call
from pytest_ragcheck.concurrency.private_loop import PrivateLoop
from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.errors import EndpointError, UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.extensions import has_fixture, is_overridden
from pytest_ragcheck.plugin.run_state import begin_run, run_of
from pytest_ragcheck.plugin.workers import LINE, has_workers, send
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.redaction.redactor import redact_logs

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.rag.client import RagClient
    from pytest_ragcheck.rag.endpoint_settings import EndpointSettings

LOOP: pytest.StashKey[PrivateLoop] = pytest.StashKey()
CLIENTS: pytest.StashKey[list[tuple[EndpointSettings, RagClient]]] = pytest.StashKey()


def loop_of(config: pytest.Config) -> PrivateLoop:
    """The private event loop of the process, which ends with its pytest run."""
    if LOOP not in config.stash:
        config.stash[LOOP] = loop = PrivateLoop(partial(_report_blocked, config))
        # Cleanups run in reverse order, so that the logs of closing clients are redacted too.
        config.add_cleanup(redact_logs(settings_of(config).redactor))
        config.add_cleanup(loop.close)
    return config.stash[LOOP]


class LoopStart:
    """Starts the loop before the fixtures of a question, since one of them may forbid sockets."""

    def __init__(self, config: pytest.Config) -> None:
        self._is_overridden = is_overridden(config, "rag_client") or is_overridden(config, "rag_settings")

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # Not `tryfirst`, so that a question with the mark `skip` starts none. Nor does a run without an endpoint.
        if "rag_settings" in getattr(item, "fixturenames", ()) and self._has_client(item):
            # Before the fixtures, because starting a system may take long.
            begin_run(item.config)
            with suppress(UsageError):  # the item fails with it later
                loop_of(item.config).start()

    def _has_client(self, item: pytest.Item) -> bool:
        settings = settings_of(item.config)
        homes = (getattr(item, "module", None), getattr(item, "cls", None))
        is_given = self._is_overridden or settings.endpoint.url is not None or settings.run.replay is not None
        return is_given or any(has_fixture(home, "rag_client") for home in homes)


def client_of_url(session: pytest.Session, settings: Settings) -> RagClient:
    """The client of the endpoint, until the end of the session; a `UsageError` if the settings describe none."""
    from pytest_ragcheck.rag.client import RagClient

    clients = session.config.stash.setdefault(CLIENTS, [])
    for endpoint, client in clients:
        if endpoint == settings.endpoint:
            return client
    client = RagClient.from_settings(settings)
    clients.append((settings.endpoint, client))
    session.addfinalizer(partial(close_backend, client, session.config))
    return client


def is_client_of_url(config: pytest.Config, client: object) -> bool:
    """True for a client of `client_of_url`, which every process of the run can create again."""
    return any(client is each for _, each in config.stash.get(CLIENTS, []))


def _report_blocked(config: pytest.Config, thread_id: int) -> bool:
    # Report on the terminal that a user's code blocks the loop; return True if it does.
    called = blocking_call(thread_id)
    if not called:
        return False
    role, _, place = called.partition(": ")
    text = (
        f"your async {role} blocks the event loop in {place}: until it returns no other question is asked, and no time "
        "limit runs. Make it a plain function, which runs in a thread of its own, or await what takes long."
    )
    if hasattr(config, "workerinput"):
        send(config, LINE, text)
    else:
        show_line(config, text)
    return True


def show_line(config: pytest.Config, text: str) -> None:
    """Write a line to the terminal now, or at the end of a run without progress lines."""
    if seconds_between_lines(config):
        write_line(config, text)
    else:
        run_of(config).queue_note(text)


def close_backend(given: object, config: pytest.Config, *, lasting: bool = True) -> None:
    """
    Close the client or the judge of a fixture that ends, ours or an override's, in the loop of its connections.

    Without this, garbage collection closed the connections too late in two of eight runs, with a ResourceWarning.
    Later items may use what a fixture that is not *lasting* returns, except a RagClient, which connects again.
    """
    from pytest_ragcheck.rag.client import RagClient

    if isinstance(given, RagClient):
        config.stash[CLIENTS] = [each for each in config.stash.get(CLIENTS, []) if each[1] is not given]
    elif not lasting:
        return
    close_in_loop(config, given)


def close_in_loop(config: pytest.Config, *parts: object) -> None:
    """Close clients, judges and metrics in the loop, which has opened none if it cannot start; a failure is a note."""
    for part in parts:
        aclose = getattr(part, "aclose", None)
        if aclose is None:
            continue
        try:
            loop_of(config).run(closing(part).aclose)
        except UsageError:
            return
        except Exception as error:
            text = ". ".join(str(error).splitlines())
            if not isinstance(error, EndpointError):
                name = type(getattr(aclose, "__self__", part)).__qualname__
                text = f"{name}.aclose() failed: {type(error).__name__}: {text}"
            run_of(config).queue_note(settings_of(config).redactor.text(text))


def seconds_between_lines(config: pytest.Config) -> float:
    """The time between two progress lines; 0 for none, as in a quiet run or in a worker without a terminal."""
    return settings_of(config).endpoint.timeout_seconds / 2 if config.get_verbosity() >= 0 else 0.0


def write_line(config: pytest.Config, text: str) -> None:
    """Write a line to the terminal, bypassing the capture of test output."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
        reporter.ensure_newline()
        if has_workers(config):
            reporter.line("")  # pytest does not notice the dots of other processes
        reporter.write_line(printable(f"ragcheck: {text}"))


BACKEND_FIXTURES = ("rag_client", "rag_judge", "rag_settings")

_PLUGIN = "ragcheck-fixtures"


class LiveFixtures:
    """Tracks which fixtures of `BACKEND_FIXTURES` are set up, and whether the last item runs."""

    def __init__(self) -> None:
        self.values: dict[pytest.FixtureDef[Any], int] = {}
        """The fixtures that are set up, each with the id of its value."""

        self.in_last_item = False
        """True while the last item of this process runs."""

        self.before_item: Callable[[pytest.Item], None] | None = None
        """Called before each item, outside of the time of that item."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        self.in_last_item = nextitem is None
        if self.before_item is not None:
            self.before_item(item)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        __tracebackhide__ = True  # for users' own fixtures
        value = yield
        if fixturedef.argname in BACKEND_FIXTURES:
            self.values[fixturedef] = id(value)
        return value

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
        self.values.pop(fixturedef, None)
        if fixturedef.argname in BACKEND_FIXTURES and fixturedef.cached_result:
            close_backend(fixturedef.cached_result[0], request.config, lasting=fixturedef.scope == "session")


def live_fixtures(config: pytest.Config) -> LiveFixtures:
    plugins = config.pluginmanager
    found: LiveFixtures | None = plugins.get_plugin(_PLUGIN)
    if found is None:
        plugins.register(found := LiveFixtures(), _PLUGIN)
    return found
