"""
Runs programs in forks of one process, because importing takes three quarters of the CPU of a short run.

    python forks.py FOLDER                     # serves until its stdin is closed
    python forks.py FOLDER pytest ARGUMENT ... # runs a program, with its own files, folder and environment

As a plugin of a run in the process of a test, it makes forks of the workers of pytest-xdist. PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
from select import select
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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


def python(_unbuffered: str, _c: str, code: str) -> int:
    """Runs code, as the command line of a worker does."""
    exec(code, {"__name__": "__main__"})
    return 0


def ask(folder: str, *command: str) -> int:
    """Has the server run a command; returns its status as a shell does."""
    wanted = json.dumps([command, dict(os.environ)]).encode()
    working = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(SOCKET)
        socket.send_fds(connection, [b"files"], [*FILES, working])
        connection.sendall(wanted)
        connection.shutdown(socket.SHUT_WR)
        status = int(connection.recv(16))
    return status if status >= 0 else 128 - status


def serve(folder: str) -> int:
    """Returns in a fork for each command, with its status."""
    os.chdir(folder)
    sys.path[0] = folder
    from pathlib import Path

    import pytest

    # The plugin `pytest_ragcheck.testing` imports the rest of the package, in the way that pytest imports plugins. The
    # metadata of an editable install is in the checkout, where the workers find it too.
    sys.path.append(str(Path(__file__).parents[1]))
    pytest.main(["-p", "pytest_ragcheck.testing", "-p", "no:cacheprovider", *OTHERS])
    sys.path.pop()
    from pytest_ragcheck.cli import main

    programs: dict[str, Callable[[], int]] = {
        "pytest": pytest.main,
        "ragcheck": main,
        "python": lambda: python(*sys.argv[1:]),
    }
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
        command, environment = json.load(sent)
    if running := os.fork():
        _, status = os.waitpid(running, 0)
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    connection.close()
    for file, own in zip(files, FILES, strict=True):
        os.dup2(file, own)
        os.close(file)
    os.fchdir(working)
    os.close(working)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = command
    return int(programs[command[0]]())


if __name__ == "__main__":
    sys.exit(ask(*sys.argv[1:]) if sys.argv[2:] else serve(sys.argv[1]))
