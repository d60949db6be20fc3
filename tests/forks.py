"""
Runs programs in forks of one process, because importing takes three quarters of the CPU of a short run.

    python forks.py FOLDER                     # serves until its stdin is closed
    python forks.py FOLDER pytest ARGUMENT ... # runs a program, with its own files, folder and environment

The process of the second command stands for the fork: it passes on SIGINT and SIGTERM, and ends by the same signal. The
fork does not outlive it. Its imports are the fastest ones, because they take longer than many a command.

As a plugin of a run in the process of a test, it makes forks of the workers of pytest-xdist. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys
from array import array

TYPE_CHECKING = False  # without the import of typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from typing import Any

POSSIBLE = hasattr(os, "fork")
"""False on Windows, where each program has a process of its own."""

COMMAND = "COMMAND_OF_FORKS"
"""The variable with the start of the second command above, up to the folder."""

SOCKET = "socket"
"""The name of the socket in the folder: whole paths may be too long for a socket."""

READY = "ready"
"""The last line of the server."""

FILES = (0, 1, 2)

OTHERS = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""As in `tests.harness`, whose import would take longer than a command."""


def pytest_xdist_setupnodes(specs: list[Any]) -> None:
    """Replaces the Python of the workers."""
    for spec in specs:
        spec.python = spec.python or f"{os.environ[COMMAND]} python"


def ask(folder: str, *command: str) -> int:
    """Has the server run a command; returns its status, or dies as it did."""
    running, early = b"", []

    def pass_on(number: int, _: object) -> None:
        if running:
            os.kill(int(running), number)
        else:
            early.append(number)  # the fork may run before this process has its number

    for passed_on in (_signal.SIGINT, _signal.SIGTERM):
        _signal.signal(passed_on, pass_on)
    working = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(SOCKET)
    files = array("i", [*FILES, working])
    connection.sendmsg([b"files"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
    connection.sendall(marshal.dumps((command, dict(os.environ))))
    running, _, rest = connection.recv(64).partition(b"\n")
    for number in early:
        os.kill(int(running), number)
    status = int(rest or connection.recv(64))
    if status < 0:
        if -status != _signal.SIGKILL:
            _signal.signal(-status, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def run_python(*arguments: str) -> None:
    """Runs code, a module or a script with the path for imports that Python would give it."""
    import runpy
    from pathlib import Path

    kind, *rest = arguments[1:] if arguments[0] == "-u" else arguments
    further = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    if kind == "-c":
        sys.path[:1] = ["", *further]
        sys.argv = ["-c", *rest[1:]]
        exec(rest[0], {"__name__": "__main__"})
    elif kind == "-m":
        sys.path[:1] = [str(Path.cwd()), *further]
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[:1] = [str(Path(kind).resolve().parent), *further]
        sys.argv = [kind, *rest]
        runpy.run_path(kind, run_name="__main__")


def stand_by(connection: socket, running: int) -> None:
    """Lets the other process signal the fork, and live as long as the fork does."""
    from contextlib import suppress
    from signal import SIGKILL
    from threading import Thread

    def end_together() -> None:
        with suppress(OSError):
            connection.recv(1)  # nothing comes but the end
        with suppress(ProcessLookupError):
            os.kill(running, SIGKILL)

    with suppress(OSError):
        connection.sendall(b"%d\n" % running)
    Thread(target=end_together, daemon=True).start()
    _, status = os.waitpid(running, 0)
    with suppress(OSError):
        connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))


PLUGINS = {"_hypothesis_pytestplugin", "_pytest", "anyio", "platformdirs", "pytest_rerunfailures", "xdist"}
"""The packages whose plugins no test changes."""


SERVERS = ("starlette.applications", "uvicorn", "uvicorn.lifespan.on", "uvicorn.protocols.http.h11_impl")
"""What the example server imports."""


def read_once(replace: Callable[[Any, str, Any], None]) -> None:
    """Keeps what each run of pytest would read anew: the metadata of packages, hooks and fixtures of its plugins."""
    import gettext
    import importlib.metadata as packages
    from functools import cache
    from types import ModuleType

    import pluggy._manager as hooks
    from _pytest import fixtures

    read, found = packages.distributions, packages.Distribution
    replace(packages, "distributions", cache(lambda: list(read())))
    for name in ("entry_points", "files", "metadata"):
        replace(found, name, property(cache(getattr(found, name).fget)))

    # Each parser of arguments looks for translations of its words.
    replace(gettext, "find", cache(gettext.find))

    # pytest takes no other name for a hook.
    replace(hooks, "dir", lambda plugin: [name for name in dir(plugin) if name.startswith("pytest_")])

    def is_known(owner: Any) -> bool:
        name = owner.__name__ if isinstance(owner, ModuleType) else f"{owner.__module__}.{owner.__qualname__}"
        # Each run has some classes of its own, which would keep the run in memory.
        return name.partition(".")[0] in PLUGINS and "<locals>" not in name

    @cache
    def fixtures_of(owner: Any) -> list[str]:
        kind = fixtures.FixtureFunctionDefinition
        return [name for name in dir(owner) if type(getattr(owner, name, None)) is kind]

    def names_of(plugin: Any) -> list[str]:
        owner = plugin if isinstance(plugin, (ModuleType, type)) else type(plugin)
        return fixtures_of(owner) if is_known(owner) else dir(plugin)

    replace(fixtures, "dir", names_of)

    if look_up := getattr(hooks, "_static_hook_attr", None):  # only newer versions of pluggy have it
        look_up_once = cache(look_up)

        def hook_of(plugin: Any, name: str) -> Any:
            return (look_up_once if isinstance(plugin, ModuleType) and is_known(plugin) else look_up)(plugin, name)

        replace(hooks, "_static_hook_attr", hook_of)


def keep(names: list[str]) -> None:
    """Keeps the modules at the end of a fork, where clearing them takes longer than a short run."""
    import ctypes

    names += sys.modules.keys() - {"builtins", "sys", "warnings"}
    # Nothing gives this reference back.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object([sys.modules[name] for name in names]))


def serve(folder: str) -> int:
    """Returns in a fork for each command, with its status."""
    import atexit
    import gc
    import signal
    import socket
    from contextlib import suppress
    from importlib import import_module
    from pathlib import Path
    from select import select

    import pytest

    kept: list[str] = []
    atexit.register(lambda: [sys.modules.pop(name, None) for name in kept])  # the first to be registered, so the last
    os.chdir(folder)
    sys.path[0] = folder
    # The plugin `pytest_ragcheck.testing` imports the rest of the package, in the way that pytest imports plugins. The
    # metadata of an editable install is in the checkout, where the workers find it too.
    sys.path.append(str(Path(__file__).parents[1]))
    read_once(setattr)
    pytest.main(["-p", "pytest_ragcheck.testing", "-p", "no:cacheprovider", *OTHERS])
    sys.path.pop()
    for name in SERVERS:
        with suppress(ImportError):
            import_module(name)
    from pytest_ragcheck.cli import main

    programs: dict[str, Callable[[], Any]] = {
        "pytest": pytest.main,
        "ragcheck": main,
        "python": lambda: run_python(*sys.argv[1:]),
    }
    keep(kept)
    gc.freeze()  # collecting what they share takes longer than a short run
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for the forks
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(SOCKET)
        server.listen()
        sys.stdout.write(f"{READY}\n")
        sys.stdout.flush()
        while server in select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            if not os.fork():
                break
            connection.close()
        else:
            return 0
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, (*files, working), *_ = socket.recv_fds(connection, len(b"files"), len(FILES) + 1)
    with connection.makefile("rb") as sent:
        command, environment = marshal.load(sent)
    if running := os.fork():
        stand_by(connection, running)
        os._exit(0)
    connection.close()
    os.setsid()  # Ctrl-C in a terminal reaches the fork once, through the other process
    for file, own in zip(files, FILES, strict=True):
        os.dup2(file, own)
        os.close(file)
    os.fchdir(working)
    os.close(working)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = list(command)
    return int(programs[command[0]]() or 0)


if __name__ == "__main__":
    sys.exit(ask(*sys.argv[1:]) if sys.argv[2:] else serve(sys.argv[1]))
