"""Ctrl-C in the middle of an import waits for its end: the interpreter's import lock would else stay taken."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.sigint import interrupt_anywhere, interrupt_between_imports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fifo to hold an import with")


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """The usual handler, whatever started this run and what it set."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def held_module(tmp_path: Path) -> Iterator[str]:
    """The name of a module that another thread is importing, which goes on once the fifo beside it is written to."""
    name = "held_by_a_fifo"
    os.mkfifo(fifo := tmp_path / "fifo")
    (tmp_path / f"{name}.py").write_text(f"with open({str(fifo)!r}) as fifo:\n    fifo.read()\n", encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    thread = threading.Thread(target=importlib.import_module, args=[name])
    thread.start()
    while name not in sys.modules:
        pass
    yield name
    thread.join()
    sys.path.remove(str(tmp_path))
    del sys.modules[name]


def interrupt_then_let_go(fifo: Path) -> None:
    """Sends the main thread a Ctrl-C as soon as it is in the middle of an import, and then lets that end."""
    main = threading.main_thread().ident
    assert main is not None
    while "importlib" not in sys._current_frames()[main].f_code.co_filename:
        pass
    signal.pthread_kill(main, signal.SIGINT)
    fifo.write_text("")


def test_ctrl_c_is_heard_after_the_import_that_it_comes_into(
    tmp_path: Path, held_module: str, pytestconfig: pytest.Config
) -> None:
    imported = False
    interrupt_between_imports(pytestconfig)
    sender = threading.Thread(target=interrupt_then_let_go, args=[tmp_path / "fifo"])
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - it comes from anywhere in here
        sender.start()
        importlib.import_module(held_module)
        imported = True
        sender.join()
        threading.Event().wait(30)
    assert imported
    interrupt_anywhere()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_somebody_elses_stays(pytestconfig: pytest.Config) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupt_between_imports(pytestconfig)
    interrupt_anywhere()
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
