"""The threads of torch in a worker of pytest-xdist; the libraries themselves are tested by `tox run -e local`."""

from __future__ import annotations

import os

import pytest

from pytest_ragcheck.judging.local_model import limit_threads

CPUS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Torch:
    """The part of torch that `limit_threads` uses."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def get_num_threads(self) -> int:
        return self.threads

    def set_num_threads(self, number: int) -> None:
        self.threads = number


@pytest.mark.parametrize(
    ("environment", "before", "after"),
    [
        ({"PYTEST_XDIST_WORKER_COUNT": "2"}, CPUS, max(1, CPUS // 2)),
        ({"PYTEST_XDIST_WORKER_COUNT": "1000"}, CPUS, 1),
        ({"PYTEST_XDIST_WORKER_COUNT": "1"}, CPUS, CPUS),
        ({}, CPUS, CPUS),
        # Chosen by the user.
        ({"PYTEST_XDIST_WORKER_COUNT": "1000"}, CPUS + 1, CPUS + 1),
        ({"PYTEST_XDIST_WORKER_COUNT": "1000", "OMP_NUM_THREADS": "4"}, CPUS, CPUS),
        ({"PYTEST_XDIST_WORKER_COUNT": "1000", "MKL_NUM_THREADS": "4"}, CPUS, CPUS),
    ],
)
def test_a_worker_takes_its_share_of_the_cpus_unless_the_user_chose_a_number(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], before: int, after: int
) -> None:
    for name in ("PYTEST_XDIST_WORKER_COUNT", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    torch = Torch(before)
    limit_threads(torch)
    assert torch.threads == after
