"""A model in this process, loaded when it is first needed, and asked one text at a time beside the event loop."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
M = TypeVar("M")


class LocalModel(Generic[M]):
    """
    Whatever `load` makes of the name; where it raises, that is said of every use, and it is not tried again.

    Args:
        name: A folder or a name on the hub.
        setting: That named it, for the error.
        load: Takes the name.
    """

    def __init__(self, name: str, *, setting: str, load: Callable[[str], M]) -> None:
        self._name = name
        self._setting = setting
        self._load = load
        self._turn = threading.Lock()
        self._loaded: M | None = None
        self._problem = ""

    async def use(self, function: Callable[[M], T]) -> T:
        """
        What the function makes of the model, in a thread, so that nothing waits for it.

        Raises:
            MeasurementError: The model cannot be loaded.
        """
        return await in_thread(partial(self._use, function))

    def _use(self, function: Callable[[M], T]) -> T:
        with self._turn:
            return function(self._itself())

    def _itself(self) -> M:
        if self._problem:
            # The hub may take minutes to fail.
            raise MeasurementError(self._problem)
        if self._loaded is None:
            try:
                self._loaded = self._load(self._name)
            except Exception as error:
                self._problem = (
                    f"the model {self._name!r} of {self._setting} cannot be loaded: "
                    f"{' '.join(str(error).split())[:300]}"
                )
                raise MeasurementError(self._problem) from error
        return self._loaded
