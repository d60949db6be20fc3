"""Uploaded files are taken into the index in the background, batch by batch."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.demo.index import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .documents import DocumentIndex
    from .faults import Faults


@dataclass(slots=True, kw_only=True)
class Task:
    """One file on its way into the index."""

    task_id: str
    file_name: str
    status: str = "pending"
    """`pending`, `processing`, `completed` or `failed`."""

    error: str | None = None
    """Why it failed."""


class Batches:
    """The files that were uploaded together, and how far they have come; forgotten when the server ends."""

    def __init__(self, index: DocumentIndex, faults: Faults) -> None:
        self._index = index
        self._faults = faults
        self._batches: dict[str, list[Task]] = {}
        self._workers = ThreadPoolExecutor(2, thread_name_prefix="upload")

    def begin(self, files: Sequence[tuple[str, bytes]]) -> str:
        """The id of a batch of the files, each a name and its content, which are being read from now on."""
        batch_id = str(uuid.uuid4())
        tasks = [Task(task_id=str(uuid.uuid4()), file_name=name) for name, _ in files]
        self._batches[batch_id] = tasks
        for task, (_, content) in zip(tasks, files, strict=True):
            self._workers.submit(self._run, task, content)
        return batch_id

    def status(self, batch_id: str) -> dict[str, Any] | None:
        """How far the batch has come; None where there is none of this id."""
        tasks = self._batches.get(batch_id)
        if tasks is None:
            return None
        return {
            "batch_id": batch_id,
            "total": len(tasks),
            "completed": sum(task.status == "completed" for task in tasks),
            "tasks": [asdict(task) for task in tasks],
        }

    def close(self) -> None:
        """Ends the work when the files that are being read are done."""
        self._workers.shutdown(cancel_futures=True)

    def _run(self, task: Task, content: bytes) -> None:
        task.status = "processing"
        try:
            self._take(task.file_name, content)
        except Exception as error:  # whatever it is, the task has failed, and the next one is to run
            task.error = str(error)
            task.status = "failed"
        else:
            task.status = "completed"

    def _take(self, file_name: str, content: bytes) -> None:
        if self._faults.failing_task is not None and self._faults.failing_task in file_name:
            raise ValueError("the file cannot be read, on purpose")
        if PurePath(file_name).suffix.lower() not in SUFFIXES:
            raise ValueError(f"only files that end in {' or '.join(sorted(SUFFIXES))} can be read")
        text = content.decode("utf-8-sig", errors="replace")
        self._index.add(str(uuid.uuid4()), text, file_name=file_name, uploaded=True)
