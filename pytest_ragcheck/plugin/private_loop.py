"""The private event loop of a process, in which everything waits that waits for the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.library_logs import redact_logs
from pytest_ragcheck.loop import PrivateLoop
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import LOOP

if TYPE_CHECKING:
    import pytest


def loop_of(config: pytest.Config) -> PrivateLoop:
    """The process's private event loop; it ends with the process's pytest run."""
    if LOOP not in config.stash:
        config.stash[LOOP] = loop = PrivateLoop()
        # Ended in the opposite order: what is closed is logged too.
        config.add_cleanup(redact_logs(settings_of(config).redactor))
        config.add_cleanup(loop.close)
    return config.stash[LOOP]


def close_client(client: object, config: pytest.Config) -> None:
    """
    Closes a RagClient whose fixture ends, be it ours or an override's, in the loop that its connections belong to.

    Left to the garbage collector, they were closed too late in two of eight runs, with a ResourceWarning.
    """
    from pytest_ragcheck.rag.client import RagClient  # noqa: PLC0415 - only where a question was asked

    if isinstance(client, RagClient):
        loop_of(config).run(client.aclose)
